"""The population of a file of which only the number of persons is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sfumato.release.generalisation import ExtraValues
from sfumato.release.partitioning import Draft
from sfumato.release.population_register import Population
from sfumato.risk.population.accumulation import baseline_of, with_sizes
from sfumato.risk.population.cell_dispersion import (
    LEAST_DRAWN,
    Boxes,
    Dispersion,
    Keys,
    ModelPrices,
    dispersion_of,
    least_share,
    random_boxes,
    revised,
)
from sfumato.risk.population.cell_model import fit_cells
from sfumato.risk.population.estimation import SampleClasses
from sfumato.risk.population.value_shares import UNSEEN
from sfumato.table.table import MISSING, Codes, NumberDomain, Table

DRAWN = (15_000, 150_000)
"""Persons drawn from the model, at least and at most."""
DRAWN_EACH = 15
"""Persons of the model drawn for each of the file."""
LARGEST_HALF = 4_000
"""Persons of each part of the sample, at most, on which the model is tried."""
BOX_SIZES = (1, 4, 16)
"""Persons of the boxes on which it is tried first."""
FEWEST = 40
"""Persons of a file whose halves tell something."""
UNKNOWN = 0.7
"""Standard error of log λ where nothing was tried."""
SURE = 1.645
"""Standard deviations above the estimate that 95 % of normal errors are below."""


def modelled(
    table: Table,
    persons: int,
    rng: np.random.Generator,
    divided: Callable[[Table, Population], Draft | None],
) -> Population:
    """Fit a model of the cells, and see on parts of the file how far its classes can be trusted.

    Half of the file's persons choose classes, by the model of that half; in which of them the
    other half lies says how far the model is off in classes that were chosen. Where records of a
    person differ, and in small files, nothing is tried, and the allowance is that of `UNKNOWN`.

    Parameters
    ----------
    table
        The encoded file.
    persons
        N.
    rng
        Draws the parts and the persons of the model.
    divided
        Divides a part of the file with its population into classes; ``None`` where it cannot.
    """
    keys, ordered = _keys(table), _ordered(table)
    domains = [column.domain.size + 1 for column in table.quasi_identifiers]
    dispersion, error, boxes = Dispersion(persons), UNKNOWN, None
    if len(keys) >= FEWEST and not _varies(table):
        some = rng.permutation(len(keys))[: 2 * LARGEST_HALF]
        own, other = some[: len(some) // 2], some[len(some) // 2 :]
        half, drawn = _drawn(keys[own], domains, ordered, rng)
        parts = [
            random_boxes(keys[own], keys[other], half, ordered, size, rng) for size in BOX_SIZES
        ]
        dispersion = dispersion_of(parts, persons)
        part = table.take(np.flatnonzero(np.isin(table.person, own)))
        prices = ModelPrices(len(own), drawn, dispersion)
        draft = divided(part, Population(persons, None, _table(table, half), prices))
        if draft is not None:
            boxes = _boxes(draft, keys[other], ordered, (part.persons, len(other), drawn))
            dispersion, error = revised(dispersion, boxes)
    model, drawn = _drawn(keys, domains, ordered, rng)
    allowance = float(np.exp(np.hypot(SURE * error, _apart(keys, domains, persons, rng))))
    least = 1 / allowance if boxes is None else least_share(dispersion, boxes, allowance)
    prices = ModelPrices(len(keys), drawn, dispersion, allowance, least)
    return Population(persons, None, _table(table, model), prices)


def _keys(table: Table) -> Keys:
    """Codes of each person's first record, 0 for missing; shape (persons, columns)."""
    first = np.unique(table.person, return_index=True)[1]
    columns = [column.codes[first] + 1 for column in table.quasi_identifiers]
    return np.column_stack(columns).astype(np.int32)


def _varies(table: Table) -> bool:
    """Whether the records of a person differ: cells then reach no further than their values."""
    first = np.unique(table.person, return_index=True)[1]
    return any(
        (column.codes != column.codes[first][table.person]).any()
        for column in table.quasi_identifiers
    )


def _ordered(table: Table) -> list[bool]:
    return [isinstance(column.domain, NumberDomain) for column in table.quasi_identifiers]


def _drawn(
    keys: Keys, domains: Sequence[int], ordered: Sequence[bool], rng: np.random.Generator
) -> tuple[Keys, int]:
    """Persons of a model of these, and how many were drawn.

    Who has an unseen category lies in no class, and is left out. An unseen number lies between
    others: it is taken for one of them.
    """
    cells, sizes = np.unique(keys, axis=0, return_counts=True)
    count = int(np.clip(DRAWN_EACH * len(keys), *DRAWN))
    drawn = fit_cells(cells, sizes, domains, rng).draw(count, rng)
    for place in np.flatnonzero(ordered):
        lost = np.flatnonzero(drawn[:, place] == UNSEEN)
        drawn[lost, place] = rng.choice(keys[:, place], len(lost))
    return drawn[(drawn != UNSEEN).all(axis=1)], count


def _apart(keys: Keys, domains: Sequence[int], persons: int, rng: np.random.Generator) -> float:
    """How far the model and the sizes of classes are apart on the population's classes."""
    cells, sizes = np.unique(keys, axis=0, return_counts=True)
    sample = SampleClasses(sizes, persons, cells, tuple(domains))
    return with_sizes(sample, baseline_of(sample, rng))[1] if sample.n < persons else 0.0


def _table(table: Table, keys: Keys) -> Table:
    """Persons with one record each, encoded as the file is."""
    nothing = np.full(len(keys), MISSING, dtype=np.int32)
    return replace(
        table,
        person=np.arange(len(keys), dtype=np.int32),
        quasi_identifiers=tuple(
            replace(column, codes=(codes - 1).astype(np.int32))
            for column, codes in zip(table.quasi_identifiers, keys.T, strict=True)
        ),
        sensitive=tuple(replace(column, codes=nothing) for column in table.sensitive),
        household=None,
        ties=None,
        events=(),
    )


def _boxes(
    draft: Draft, others: Keys, ordered: Sequence[bool], persons: tuple[int, int, int]
) -> Boxes:
    """The classes of a part: its persons, those of the other part and of the model in each."""
    assert draft.class_of_register is not None
    first = np.unique(draft.table.person, return_index=True)[1]
    chosen = np.bincount(draft.class_of[first], minlength=draft.classes)
    inside = np.ones((draft.classes, len(others)), dtype=bool)
    own = draft.table.quasi_identifiers
    for column, (quasi, numbers) in enumerate(zip(own, ordered, strict=True)):
        held = _held(draft, column, quasi.codes, quasi.domain.size, whole=numbers)
        if not numbers:
            held &= np.isin(np.arange(held.shape[1]), quasi.codes + 1)
        inside &= held[:, others[:, column]]
    model = np.bincount(draft.class_of_register[draft.class_of_register >= 0],
                        minlength=draft.classes)  # fmt: skip
    shares = np.maximum(model, LEAST_DRAWN) / persons[2]
    return Boxes(chosen, inside.sum(axis=1), shares, persons[:2])


def _held(
    draft: Draft, column: int, codes: Codes, size: int, *, whole: bool
) -> npt.NDArray[np.bool_]:
    """Whether each class's cell holds each code, 0 being missing; shape (classes, codes)."""
    extra: ExtraValues | None = draft.extra
    assert extra is not None
    held = np.zeros((draft.classes, size + 1), dtype=bool)
    held[draft.class_of, codes + 1] = True
    held[extra.class_of[column], extra.codes[column] + 1] = True
    if whole:
        some = held[:, 1:]
        up = np.maximum.accumulate(some, axis=1)
        down = np.maximum.accumulate(some[:, ::-1], axis=1)[:, ::-1]
        held[:, 1:] = up & down
    # Where all miss the value the cell holds every one, and whoever has one lies elsewhere.
    known = np.zeros(draft.classes, dtype=bool)
    known[draft.class_of[codes != MISSING]] = True
    held[~known, 1:] = False
    return held
