"""A released file in the form that every attack works on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.intruder.reading.cell import Cell

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ReadColumn:
    """A quasi-identifier of the release: its distinct cells, and which record shows which.

    Attributes
    ----------
    name
        The quasi-identifier.
    cells
        The distinct cells.
    codes
        The place of each record's cell in ``cells``, shape (records,).
    """

    name: str
    cells: tuple[Cell, ...]
    codes: Ints


@dataclass(frozen=True, eq=False)
class TextColumn:
    """Any other column of the release: its distinct texts, and which record shows which.

    Attributes
    ----------
    name
        The column.
    texts
        The distinct texts; ``None`` where there is none.
    codes
        The place of each record's text in ``texts``, shape (records,).
    """

    name: str
    texts: tuple[str | None, ...]
    codes: Ints

    @property
    def told(self) -> Ints:
        """The same places, -1 where there is no text, shape (records,)."""
        empty = np.array([text is None for text in self.texts], dtype=np.bool_)
        return np.where(empty[self.codes], -1, self.codes)


@dataclass(frozen=True, eq=False)
class ReleasedFile:
    """A released file as an outsider reads it.

    Attributes
    ----------
    records
        Number of records.
    person
        Number of each record's pseudonym, 0 to persons - 1 in order of appearance, shape
        (records,); ``None`` where the file has no person column.
    persons
        Number of pseudonyms; of records where the file has no person column.
    quasi_identifiers
        What each record shows of each quasi-identifier of the schema.
    class_of
        Number of each record's combination of cells, in order of appearance, shape (records,).
    classes
        Number of such combinations.
    first_row
        A record of each, shape (classes,).
    sensitive
        The sensitive columns that the file has.
    others
        Every other column, the person column included.
    """

    records: int
    person: Ints | None
    persons: int
    quasi_identifiers: tuple[ReadColumn, ...]
    class_of: Ints
    classes: int
    first_row: Ints
    sensitive: tuple[TextColumn, ...]
    others: tuple[TextColumn, ...]

    @property
    def unit(self) -> Ints:
        """Whom each record belongs to: its pseudonym, else itself, shape (records,)."""
        return np.arange(self.records, dtype=np.int64) if self.person is None else self.person
