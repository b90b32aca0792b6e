"""What a model foretells of a person that is trained on the release (deFinetti; Kifer 2009).

A class shows its values without saying whose each is. Who learns from the whole release which
values go with which people no longer takes them for alike: of a man and a woman in a class, with
two diseases, he knows whose is whose. What the same model foretells from the release without the
person's own record is knowledge about people like them; only what it foretells beyond that was
given away by being in the release.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.intruder.candidates import Candidates, ValuesOf
from sfumato.intruder.knowledge import Knowledge, KnownColumn, number_of
from sfumato.intruder.reading import ReadColumn, ReleasedFile, TextColumn

NEAR = 20
"""Groups of about as many records into which sensitive numbers are put; near ones count as one."""
PARTS = 12
"""Parts of about as many persons into which a known number is cut for the model."""
POINTS = 1_000
"""Values that stand for a known number that has more."""
MOST_VALUES = 2_000
"""Sensitive values that may be foretold, the commonest ones."""
BESIDE = 1.0
"""Persons as whom the whole file counts beside the classes that a target fits."""
DOUBT = 5.0
"""Persons of every kind whom each value is taken to have beside its own."""


def near_as_one(column: TextColumn) -> TextColumn:
    """A sensitive column with near numbers as one value, named apart; any other as it is."""
    numbers = [None if text is None else number_of(text) for text in column.texts]
    told = [number for number, text in zip(numbers, column.texts, strict=True) if text is not None]
    # Of few distinct numbers most groups would hold one: exact values are guessed anyway.
    if len(told) <= 2 * NEAR or None in told:
        return column
    values = np.array([np.nan if number is None else number for number in numbers])
    of_record = values[column.codes]
    # Heaped numbers make equal quantiles, whose groups become one.
    ends = np.unique(np.nanquantile(of_record, np.arange(1, NEAR) / NEAR))
    part = np.where(np.isnan(of_record), len(ends) + 1, np.searchsorted(ends, of_record, "right"))
    texts = (*(f"{place}" for place in range(len(ends) + 1)), None)
    return TextColumn(f"{column.name} (near)", texts, part.astype(np.int64))


@dataclass(frozen=True, eq=False)
class Sight:
    """How a model sees a quasi-identifier: in parts, as likely as they are among all persons.

    Attributes
    ----------
    part
        Part of each known person, -1 where it is not known, shape (persons,).
    share
        Share of the persons in each part, shape (parts,).
    of_class
        How likely each class's cell is each part, shape (classes, parts).
    """

    part: Ints
    share: Floats
    of_class: Floats


def sights(file: ReleasedFile, knowledge: Knowledge) -> tuple[Sight, ...]:
    """The quasi-identifiers that are both released and known, as a model sees them."""
    known = {column.name: column for column in knowledge.quasi_identifiers}
    first = np.unique(knowledge.person, return_index=True)[1]
    return tuple(
        _sight(column, known[column.name], file.first_row, first)
        for column in file.quasi_identifiers
        if column.name in known
    )


def _sight(shown: ReadColumn, known: KnownColumn, class_rows: Ints, rows: Ints) -> Sight:
    """One of them; few values stand for many, so that a cell costs as much as it has of these."""
    codes = known.codes[rows]
    told = np.array([text is not None for text in known.texts], dtype=np.bool_)[codes]
    numbers = known.numbers[codes]
    places, often = np.unique(codes[told], return_counts=True)
    part_of = np.arange(len(places), dtype=np.int64)
    part = np.where(told, np.searchsorted(places, codes), -1)
    if len(places) > PARTS and np.isfinite(numbers[told]).all():
        ends = np.unique(np.quantile(numbers[told], np.arange(1, PARTS) / PARTS))
        part_of = np.searchsorted(ends, known.numbers[places], side="right")
        part = np.where(told, np.searchsorted(ends, numbers, side="right"), -1)
        ranked = np.argsort(known.numbers[places], kind="stable")
        keep = ranked[np.unique(np.linspace(0, len(ranked) - 1, POINTS).astype(np.int64))]
        # Each stands for those up to the next one.
        upto = np.searchsorted(known.numbers[places][keep], known.numbers[places], side="right")
        often = np.bincount(np.maximum(upto - 1, 0), often, minlength=len(keep)).astype(np.int64)
        places, part_of = places[keep], part_of[keep]
    parts = int(part_of.max(initial=0)) + 1
    share = np.bincount(part[told], minlength=parts) / max(told.sum(), 1)
    values = ValuesOf(known)
    of_cell = np.zeros((len(shown.cells), parts))
    for place, cell in enumerate(shown.cells):
        inside = values.allowed(cell, places)
        of_cell[place] = np.bincount(part_of[inside], often[inside], minlength=parts)
    total = of_cell.sum(axis=1, keepdims=True)
    of_cell /= np.where(total > 0, total, 1.0)
    return Sight(part, share, of_cell[shown.codes[class_rows]])


@dataclass(frozen=True, eq=False)
class ShownValues:
    """Who shows which value in which class, each once; shape (entries,) each."""

    unit: Ints
    class_of: Ints
    value: Ints
    values: int

    def has(self, unit: Ints, value: Ints) -> Bools:
        """Whether each released person shows the value beside."""
        keys = np.unique(self.unit * self.values + self.value)
        return np.isin(unit * self.values + value, keys)


def shown_values(file: ReleasedFile, column: TextColumn) -> ShownValues:
    """What the release shows of its commonest values."""
    told = np.flatnonzero(column.told >= 0)
    unit, class_of, value = file.unit[told], file.class_of[told], column.codes[told]
    often = np.bincount(value, minlength=len(column.texts))
    common = np.argsort(-often, kind="stable")[:MOST_VALUES]
    entries = np.column_stack([unit, class_of, value])[np.isin(value, common)]
    entries = np.unique(entries, axis=0)
    return ShownValues(entries[:, 0], entries[:, 1], entries[:, 2], len(column.texts))


@dataclass(frozen=True, eq=False)
class Foretold:
    """What is foretold of some persons.

    Attributes
    ----------
    value
        The value of each, shape (targets,).
    beside, alike
        What is foretold from the release without the person's own record: from the others of the
        classes, and from all people like the person, wherever they are; shape (targets,).
    """

    value: Ints
    beside: Ints
    alike: Ints


def foretold(
    seen: tuple[Sight, ...], candidates: Candidates, shown: ShownValues, person: Ints, unit: Ints
) -> Foretold:
    """The likeliest value of each target, with and without the target's own record.

    A naive Bayes model of the classes: how many persons of the classes that the target fits have a
    value, times how much likelier the target's quasi-identifiers are among all persons with that
    value than among all. Cells count as their parts, as these are common among the persons who are
    known. O(entries + targets x values x columns).

    Parameters
    ----------
    person, unit
        The targets: the known persons, and the released ones that they are, for the referee alone,
        who leaves them out.
    """
    classes = candidates.fits.shape[0]
    having = sparse.coo_array(
        (np.ones(len(shown.value)), (shown.class_of, shown.value)), shape=(classes, shown.values)
    ).tocsr()
    present = np.zeros(classes)
    pairs = np.unique(np.column_stack([shown.class_of, shown.unit]), axis=0)
    present += np.bincount(pairs[:, 0], minlength=classes)
    weight = present / np.maximum(candidates.of_class, np.maximum(present, 1))
    fitting = sparse.csr_array(candidates.fits.T.tocsr()[candidates.group[person]])
    fitting = fitting.astype(np.float64)
    beside = (fitting @ having.multiply(weight[:, None])).toarray()
    often = np.asarray(having.sum(axis=0)).ravel()
    everybody = max(often.sum(), 1.0)

    # The entries of the targets' own, and of whom each is.
    place = np.full(int(max(shown.unit.max(initial=0), unit.max(initial=0))) + 1, -1)
    place[unit] = np.arange(len(unit))
    mine = place[shown.unit] >= 0
    target, value, of_class = place[shown.unit][mine], shown.value[mine], shown.class_of[mine]
    own = np.zeros_like(beside)
    np.add.at(own, (target, value), 1.0)
    fits = np.asarray(fitting[target, of_class]).reshape(-1)
    less = beside.copy()
    np.add.at(less, (target, value), -fits * weight[of_class])

    # 1e-300 keeps the logarithm finite where nobody has a value.
    scores = [np.log(np.maximum(beside, 0) + BESIDE * often / everybody + 1e-300)]
    left = np.maximum(often - own, 0)
    scores.append(np.log(np.maximum(less, 0) + BESIDE * left / everybody + 1e-300))
    scores.append(np.log(left / everybody + 1e-300))
    for sight in seen:
        counted = (having.T @ sight.of_class).T
        part = sight.part[person]
        known = part >= 0
        share = np.where(known, np.maximum(sight.share[part], 1e-12), 1.0)[:, None]
        alike = counted[part]
        # The own record leaves the counts as it would leave the file.
        minus = np.zeros_like(beside)
        np.add.at(minus, (target, value), sight.of_class[of_class, part[target]])
        for number, (many, of) in enumerate(((alike, often), *2 * ((alike - minus, left),))):
            ratio = (np.maximum(many, 0) + DOUBT * share) / ((of + DOUBT) * share)
            scores[number] += np.where(known[:, None], np.log(ratio), 0.0)
    return Foretold(*(score.argmax(axis=1) for score in scores))
