"""Cells of two releases as sets of the register's values, so that they can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sfumato.intruder.candidates.fitting import ValuesOf
from sfumato.intruder.knowledge.knowledge import KnownColumn
from sfumato.intruder.reading.cell import Cell
from sfumato.intruder.reading.released_file import ReadColumn

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Meaning:
    """A quasi-identifier of an earlier and of the attacked release.

    Attributes
    ----------
    name
        The quasi-identifier.
    texts
        The register's distinct values, ``None`` left out.
    earlier, now
        Which of them each cell of the earlier and of the attacked release holds, shapes
        (cells, values). An empty set says nothing that the register could tell.
    """

    name: str
    texts: tuple[str, ...]
    earlier: Bools = field(repr=False)
    now: Bools = field(repr=False)


def meaning_of(known: KnownColumn, earlier: ReadColumn | None, now: ReadColumn | None) -> Meaning:
    """The cells of a quasi-identifier as sets of the values that the register has.

    Takes O(cells x values).

    Parameters
    ----------
    known
        The register's column.
    earlier, now
        The columns of the releases; ``None`` where one does not have it.
    """
    told = np.array([text is not None for text in known.texts], dtype=np.bool_)
    values = ValuesOf(known)
    return Meaning(
        name=known.name,
        texts=tuple(text for text in known.texts if text is not None),
        earlier=_sets(values, () if earlier is None else earlier.cells, told),
        now=_sets(values, () if now is None else now.cells, told),
    )


def within(narrow: Bools, wide: Bools) -> Bools:
    """Whether each set lies in each other one, and is not empty; shape (narrow, wide).

    Parameters
    ----------
    narrow, wide
        Sets, shapes (sets, values).
    """
    common = narrow.astype(np.float32) @ wide.T.astype(np.float32)
    sizes = narrow.sum(axis=1).astype(np.float32)[:, np.newaxis]
    inside: Bools = (common == sizes) & (sizes > 0)
    return inside


def _sets(values: ValuesOf, cells: Sequence[Cell], told: Bools) -> Bools:
    found = np.zeros((len(cells), int(told.sum())), dtype=np.bool_)
    for number, cell in enumerate(cells):
        found[number] = values.allowed(cell)[told]
    return found
