"""The probabilistic attack: who fits a released class nearly, where what is known has errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.core.shared_options import Progress, silent
from sfumato.intruder.attacks.probabilistic.alike import Alike, alike, runs
from sfumato.intruder.attacks.probabilistic.estimate import Compared, estimate_m
from sfumato.intruder.attacks.probabilistic.first_sight import FIRST, likely_pairs
from sfumato.intruder.attacks.probabilistic.levels import Levels, Near, levels_of
from sfumato.intruder.attacks.probabilistic.posterior import posterior
from sfumato.intruder.attacks.probabilistic.scorer import Scorer, database
from sfumato.intruder.attacks.probabilistic.shared import Shared, outside_odds
from sfumato.intruder.candidates.find import persons_are_whole
from sfumato.intruder.guesses import Identification
from sfumato.intruder.knowledge.knowledge import Knowledge
from sfumato.intruder.reading.released_file import ReleasedFile

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Probabilistic:
    """What the probabilistic attack ends with.

    Attributes
    ----------
    free
        For each released unit the likeliest register person.
    one_to_one
        The same with no register person named twice.
    agreement
        By quasi-identifier m, the share of released persons whose known value is inside the
        released cell, just outside it, and far from it, as it was estimated.
    pairs
        Number of pairs of a class and a distinct register row that were compared.
    """

    free: Identification
    one_to_one: Identification
    agreement: Mapping[str, Mapping[str, float]] = field(repr=False)
    pairs: int


def probabilistic(
    file: ReleasedFile,
    knowledge: Knowledge,
    rng: np.random.Generator,
    *,
    coverage: float = 1.0,
    progress: Progress = silent,
) -> Probabilistic:
    """Match released persons with register persons by match weights (Fellegi & Sunter 1969).

    Exact matching loses a person of whom one known value is wrong (004, Section 4.5). Here each
    known value is inside the released cell, just outside it (a slip of typing, a neighbouring
    number), or far from it; m of these levels is estimated from the data, u is each cell's share
    of the register, and Splink adds up log2(m / u). A value that is not known counts neither way.

    Classes are compared, not persons: O(classes x distinct register rows) for the candidate
    pairs, and at most some 200 pairs for a class after that, unless more fit as well.

    Parameters
    ----------
    file
        The released file.
    knowledge
        What the intruder holds.
    rng
        For ties.
    coverage
        Share of the released persons who are in the register, as the intruder believes.
    progress
        Told how far it is.

    Raises
    ------
    InputError
        If Splink is not installed, the intruder knows no quasi-identifier of the file, or the
        coverage is none.
    """
    if not 0 < coverage <= 1:
        raise InputError("parameter coverage", "must be a share", accepted="above 0, to 1")
    columns, cells, rows, row_of = _compared(file, knowledge)
    units = alike(file.unit, file.class_of, file.persons)
    persons = alike(knowledge.person, row_of, knowledge.persons)
    of_class, of_row = likely_pairs(columns, cells, rows, progress=progress)
    progress("estimate", 0.0)
    shared = Shared(
        of_class,
        of_row,
        units=_holders(units, file.classes),
        persons=_holders(persons, len(rows)),
        outside=outside_odds(coverage, knowledge.persons),
    )
    levels, by_chance = _compare(columns, cells, rows, (of_class, of_row))
    m = estimate_m(Compared(shared, levels, by_chance), np.tile(FIRST, (len(columns), 1)))
    progress("match", 0.0)
    with database() as connection:
        weight = Scorer(connection, columns, cells, rows).weights(of_class, of_row, m)
    found = posterior(
        units,
        persons,
        (of_class, of_row, weight),
        classes=file.classes,
        rows=len(rows),
        whole=persons_are_whole(file),
        coverage=coverage,
    )
    progress("match", 1.0)
    return Probabilistic(
        free=found.best(rng),
        one_to_one=found.one_to_one(rng),
        agreement={
            column.name: {level.name.lower(): float(m[number, level]) for level in Near}
            for number, column in enumerate(columns)
        },
        pairs=len(of_class),
    )


def _compared(file: ReleasedFile, knowledge: Knowledge) -> tuple[list[Levels], Ints, Ints, Ints]:
    """The columns that are both released and known; each class's cells, and the distinct rows."""
    known = {column.name: column for column in knowledge.quasi_identifiers}
    shared = [column for column in file.quasi_identifiers if column.name in known]
    if not shared:
        raise InputError(
            "the register", "must have a quasi-identifier of the release", found="none"
        )
    columns = [levels_of(column, known[column.name]) for column in shared]
    cells = np.column_stack([column.codes[file.first_row] for column in shared])
    places = np.column_stack([column.places for column in columns])
    rows, row_of = np.unique(places, axis=0, return_inverse=True)
    return columns, cells, rows, row_of.reshape(-1)


def _compare(
    columns: list[Levels], cells: Ints, rows: Ints, pairs: tuple[Ints, Ints]
) -> tuple[npt.NDArray[np.int8], Floats]:
    """The levels of each pair, and -log2 of their u added up."""
    of_class, of_row = pairs
    levels = np.full((len(of_class), len(columns)), -1, dtype=np.int8)
    by_chance = np.zeros(len(of_class))
    starts, sizes = runs(of_class)
    for number, column in enumerate(columns):
        chance = -np.log2(column.by_chance)
        for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
            cell = int(cells[of_class[start], number])
            of_value = column.of_cell(cell)
            if of_value is None:
                continue
            here = slice(start, start + size)
            place = rows[of_row[here], number]
            levels[here, number] = np.append(of_value, np.int8(-1))[place]
            by_chance[here] += np.append(chance[cell][of_value], 0.0)[place]
    return levels, by_chance


def _holders(groups: Alike, items: int) -> Floats:
    """Number of owners that have each item."""
    owners = np.repeat(groups.sizes, groups.counts)
    held: Floats = np.bincount(groups.items, weights=owners, minlength=items).astype(np.float64)
    return held
