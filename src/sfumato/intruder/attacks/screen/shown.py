"""What a worker's screen showed: a line for each display row and attribute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core.errors import InputError
from sfumato.intruder.reading.released_file import ReleasedFile

Ints = npt.NDArray[np.int64]

KINDS = ("text", "category", "year-month-day", "day/month/year", "month/day/year")
"""How an attribute is displayed: its characters, its whole value, or a date's digits in order."""


@dataclass(frozen=True, slots=True)
class ShownCell:
    """What a screen showed of one attribute of a record.

    Attributes
    ----------
    missing
        Whether it showed that there is no value.
    length
        Number of characters, where that showed.
    characters
        Disclosed characters, each with its place from 0.
    least, most
        How many records of the data have the value, as far as marks showed it.
    """

    missing: bool = False
    length: int | None = None
    characters: tuple[tuple[int, str], ...] = ()
    least: int = 0
    most: int | None = None


@dataclass(frozen=True, slots=True)
class ShownAttribute:
    """An attribute of the screen.

    Attributes
    ----------
    name
        Its name, as in the identified tables.
    kind
        How it is displayed, one of `KINDS`.
    case, accents
        Whether they count where values are compared.
    """

    name: str
    kind: str
    case: bool = False
    accents: bool = False


@dataclass(frozen=True, eq=False)
class ShownRows:
    """What screens showed.

    Attributes
    ----------
    rows
        Names of the display rows.
    attributes
        The attributes.
    states
        The distinct states of a row: a cell for each attribute, ``None`` where nothing showed.
    state
        The state of each row, shape (rows,).
    """

    rows: tuple[str, ...]
    attributes: tuple[ShownAttribute, ...]
    states: tuple[tuple[ShownCell | None, ...], ...] = field(repr=False)
    state: Ints = field(repr=False)

    def as_file(self) -> ReleasedFile:
        """The display rows as a released file of as many records, for the referee."""
        first = np.unique(self.state, return_index=True)[1]
        return ReleasedFile(
            records=len(self.rows),
            person=None,
            persons=len(self.rows),
            quasi_identifiers=(),
            class_of=self.state,
            classes=len(self.states),
            first_row=first.astype(np.int64),
            sensitive=(),
            others=(),
        )


def shown_rows(
    attributes: Sequence[ShownAttribute], rows: Mapping[str, Mapping[str, ShownCell]]
) -> ShownRows:
    """What screens showed, from the cells of each display row.

    Parameters
    ----------
    attributes
        The attributes.
    rows
        By display row and attribute, what showed.
    """
    places: dict[tuple[ShownCell | None, ...], int] = {}
    state = [
        places.setdefault(tuple(cells.get(each.name) for each in attributes), len(places))
        for cells in rows.values()
    ]
    return ShownRows(tuple(rows), tuple(attributes), tuple(places), np.array(state, dtype=np.int64))


def rows_of(table: pa.Table, subject: str) -> ShownRows:
    """Read what screens showed from a table with a line for each display row and attribute.

    ``row`` names a display row and nothing else; ``kind`` is one of `KINDS`; ``case`` and
    ``accents`` say whether they count where values are compared; ``missing`` that the screen showed
    that there is no value; ``length`` is the number of characters where masked ones show it, else
    null; ``places`` and ``characters`` are the disclosed characters, places from 0, separators of
    dates not counted; ``least`` and ``most`` bound how many records of the data have the value,
    where that showed: an identity mark says at least 2, a mark of rarity the numbers of its band.

    Parameters
    ----------
    table
        The table.
    subject
        What it is called in errors.

    Raises
    ------
    InputError
        If it says something else, or two things of one cell.
    """
    attributes: dict[str, ShownAttribute] = {}
    rows: dict[str, dict[str, ShownCell]] = {}
    for number, line in enumerate(table.to_pylist(), 1):
        attribute, cell = _parsed(line, subject, number)
        if attributes.setdefault(attribute.name, attribute) != attribute:
            raise _error(subject, number, "another kind than before")
        cells = rows.setdefault(line["row"], {})
        if attribute.name in cells:
            raise _error(subject, number, "a cell that was there before")
        cells[attribute.name] = cell
    return shown_rows(tuple(attributes.values()), rows)


def _parsed(line: Mapping[str, Any], subject: str, number: int) -> tuple[ShownAttribute, ShownCell]:
    places, characters = line["places"] or [], line["characters"] or []
    if line["row"] is None or line["attribute"] is None or line["kind"] not in KINDS:
        raise _error(subject, number, "no row, no attribute, or another kind")
    if len(places) != len(characters) or None in places or None in characters:
        raise _error(subject, number, "not a place for each character")
    length = line["length"]
    if places and (min(places) < 0 or (length is not None and max(places) >= length)):
        raise _error(subject, number, "a place outside the value")
    return (
        ShownAttribute(line["attribute"], line["kind"], bool(line["case"]), bool(line["accents"])),
        ShownCell(
            missing=bool(line["missing"]),
            length=length,
            characters=tuple(zip(places, characters, strict=True)),
            least=line["least"] or 0,
            most=line["most"],
        ),
    )


def _error(subject: str, number: int, found: str) -> InputError:
    return InputError(subject, "must say what screens showed", found=f"{found} in row {number}")
