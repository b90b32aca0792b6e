"""Cells of the attacked release, narrowed by associations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sfumato.intruder.attacks.associations.meaning import Meaning, within
from sfumato.intruder.attacks.associations.mine import Association
from sfumato.intruder.reading.cell import Anything, Cell, Members
from sfumato.intruder.reading.released_file import ReadColumn, ReleasedFile

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


def refined_sets(
    file: ReleasedFile, meanings: Sequence[Meaning], associations: Sequence[Association]
) -> list[Bools]:
    """What the cells of each class hold once every association is applied, per column.

    An association refines Y of a class that shows X, all its cells lying in X's, to what Y's cell
    and the associated one have in common; not where that is nothing. The surest come first, and
    what one refines may let another one do so, until nothing changes. A round takes
    O(associations x classes), and each refined cell O(cells x values).

    Parameters
    ----------
    file
        The attacked release.
    meanings
        What the cells hold, by column.
    associations
        The associations, surest first.

    Returns
    -------
    list
        For each column, which values each class holds, shape (classes, values).
    """
    by_name = {column.name: column for column in file.quasi_identifiers}
    held = [
        meaning.now[by_name[meaning.name].codes[file.first_row]]
        if meaning.name in by_name
        else np.ones((file.classes, len(meaning.texts)), dtype=np.bool_)
        for meaning in meanings
    ]
    inside = [within(sets, meaning.earlier) for sets, meaning in zip(held, meanings, strict=True)]
    changed = True
    while changed:
        changed = False
        for one in associations:
            shows = np.ones(file.classes, dtype=np.bool_)
            for column, cell in one.antecedent:
                shows &= inside[column][:, cell]
            column, cell = one.consequent
            those = np.flatnonzero(shows & ~inside[column][:, cell])
            left = held[column][those] & meanings[column].earlier[cell]
            some = left.any(axis=1)
            if some.any():
                held[column][those[some]] = left[some]
                inside[column][those[some]] = within(left[some], meanings[column].earlier)
                changed = True
    return held


def with_sets(
    file: ReleasedFile, meanings: Sequence[Meaning], held: Sequence[Bools], classes: Bools
) -> ReleasedFile:
    """The release with narrower cells in some classes; the other cells as they are.

    A column that only the earlier release had is added where associations tell something of it.

    Parameters
    ----------
    file
        The attacked release.
    meanings
        What the cells hold, by column.
    held
        What the cells of each class hold now, per column.
    classes
        The classes to narrow, shape (classes,).
    """
    columns = {column.name: column for column in file.quasi_identifiers}
    unsaid = np.zeros(file.records, dtype=np.int64)
    for meaning, sets in zip(meanings, held, strict=True):
        own = columns.get(meaning.name)
        if own is not None:
            columns[meaning.name] = _narrowed(file, own, meaning, sets, classes, meaning.now)
        elif not sets.all():
            everything = np.ones((1, len(meaning.texts)), dtype=np.bool_)
            own = ReadColumn(meaning.name, (Anything(),), unsaid)
            columns[meaning.name] = _narrowed(file, own, meaning, sets, classes, everything)
    return replace(file, quasi_identifiers=tuple(columns.values()))


def _narrowed(
    file: ReleasedFile,
    column: ReadColumn,
    meaning: Meaning,
    held: Bools,
    classes: Bools,
    before: Bools,
) -> ReadColumn:
    own = column.codes[file.first_row]
    narrowed = classes & (held != before[own]).any(axis=1)
    cells: list[Cell] = list(column.cells)
    numbers: dict[bytes, int] = {}
    codes = own.copy()
    for number in np.flatnonzero(narrowed).tolist():
        key = held[number].tobytes()
        if key not in numbers:
            numbers[key] = len(cells)
            texts = np.flatnonzero(held[number]).tolist()
            cells.append(Members(frozenset(meaning.texts[text] for text in texts)))
        codes[number] = numbers[key]
    return ReadColumn(column.name, tuple(cells), codes[file.class_of])
