"""Attack by what the screens of clerical review have shown."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.core.arrays import Bools, Ints
from sfumato.core.errors import InputError
from sfumato.intruder.candidates import Identification
from sfumato.intruder.knowledge import Knowledge, KnownColumn
from sfumato.intruder.reading import ReleasedFile

KINDS = ("text", "category", "year-month-day", "day/month/year", "month/day/year")
"""How an attribute is displayed: its characters, its whole value, or a date's digits in order."""


@dataclass(frozen=True, slots=True)
class ShownCell:
    """What a screen showed of one attribute of a record.

    Attributes
    ----------
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
    """What screens showed: distinct states of rows, and that of each, shape (rows,).

    A state has a cell for each attribute, ``None`` where nothing showed.
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
    """What screens showed, from the cells of each display row."""
    places: dict[tuple[ShownCell | None, ...], int] = {}
    state = [
        places.setdefault(tuple(cells.get(attribute.name) for attribute in attributes), len(places))
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


_DATE = re.compile(r"(\d{1,4})[-/. ](\d{1,2})[-/. ](\d{1,4})(?:[T ]\d{1,2}:\d{2}.*)?")
_YEAR_DIGITS = 4
_INVISIBLE = ("Cc", "Cf")
_JOINERS = "\u200c\u200d"


def characters_of(text: str | None, kind: str) -> tuple[str, ...] | None:
    """The characters of a value in the order of display; ``None`` for no value.

    A category is one character. A date is its digits in the order of the kind, as far as the
    text is one; of other texts each letter counts with the marks upon it.
    """
    plain = _cleaned(text or "")
    if not plain:
        return None
    if kind == "category":
        return (plain,)
    if kind != "text":
        return tuple(_digits(plain, kind) or plain)
    found: list[str] = []
    for each in plain:
        if found and (unicodedata.combining(each) or each in _JOINERS):
            found[-1] += each
        else:
            found.append(each)
    return tuple(found)


def folded(characters: tuple[str, ...], *, case: bool, accents: bool) -> tuple[str, ...]:
    """The characters as they are compared; case and accents left out where they do not count."""
    return tuple(_folded(character, case=case, accents=accents) for character in characters)


def _folded(character: str, *, case: bool, accents: bool) -> str:
    if not case:
        character = character.casefold()
    if accents:
        return unicodedata.normalize("NFC", character)
    parts = unicodedata.normalize("NFD", character)
    # Of a mark that stands alone nothing would be left.
    return "".join(part for part in parts if not unicodedata.combining(part)) or character


def _cleaned(text: str) -> str:
    seen = "".join(
        each
        for each in unicodedata.normalize("NFC", text)
        if each in _JOINERS or each.isspace() or unicodedata.category(each) not in _INVISIBLE
    )
    return " ".join(seen.split())


def _digits(text: str, order: str) -> str | None:
    """Day, month and year of a date in an order; ``None`` for what is none."""
    if re.fullmatch(r"\d{8}", text):
        text = f"{text[:4]}-{text[4:6]}-{text[6:]}"
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    one, two, three = match.groups()
    if len(one) == _YEAR_DIGITS:
        year, month, day = one, two, three
    elif len(three) == _YEAR_DIGITS:
        first, second = (one, two) if order != "month/day/year" else (two, one)
        year, month, day = three, second, first
        # A day that does not exist in the usual order was written in the other one.
        if not _exists(year, month, day) and _exists(year, first, second):
            month, day = first, second
    else:
        return None
    parts = {"year": year, "month": month.zfill(2), "day": day.zfill(2)}
    return "".join(parts[part] for part in re.split("[-/]", order))


def _exists(year: str, month: str, day: str) -> bool:
    try:
        date(int(year), int(month), int(day))
    except ValueError:
        return False
    return True


@dataclass(frozen=True, eq=False)
class FromScreen:
    """What the attack from the screen ends with.

    Attributes
    ----------
    guesses
        For each display row a person of the identified tables, -1 where nobody agrees.
    sizes
        K: records of the identified tables that agree with each row, shape (rows,).
    """

    guesses: Identification
    sizes: Ints = field(repr=False)


def from_screen(shown: ShownRows, knowledge: Knowledge, rng: np.random.Generator) -> FromScreen:
    """Guess whose record each display row is, from all that it showed.

    The intruder, a worker or somebody behind one, holds the identified tables and looks for the
    records that agree: the same character at each disclosed place, a value where one is missing
    or not, the same number of characters where masked ones show it, and a value that as many
    records have as identity and rarity marks showed. One of them is guessed: right with chance
    1/K, K being the anonymity set of KAPR (001, Definition 4.4), if the table that the marks are
    about is what the intruder holds.

    Each distinct cell is held against the distinct values of its attribute, and each distinct
    state of a row against the records that have the rarest of its values: O(cells x values +
    states x records of these).

    Parameters
    ----------
    knowledge
        The identified tables: a row for each record.
    """
    known = {column.name: column for column in (*knowledge.quasi_identifiers, *knowledge.others)}
    columns = []
    for attribute in shown.attributes:
        if attribute.name not in known:
            raise InputError(
                "the identified tables",
                f"must have the attribute '{attribute.name}' of the screen",
                found="no such column",
            )
        columns.append(_Column(attribute, known[attribute.name]))
    agreeing = [_agreeing(columns, state, len(knowledge.person)) for state in shown.states]
    sizes = np.array([len(found) for found in agreeing], dtype=np.int64)[shown.state]
    record = np.full(len(shown.rows), -1, dtype=np.int64)
    drawn = np.floor(rng.random(len(shown.rows)) * sizes).astype(np.int64)
    for row in np.flatnonzero(sizes > 0).tolist():
        record[row] = agreeing[shown.state[row]][drawn[row]]
    some = sizes > 0
    guesses = Identification(
        unit=np.arange(len(shown.rows), dtype=np.int64),
        person=np.where(some, knowledge.person[np.maximum(record, 0)], -1),
        chance=np.where(some, 1 / np.maximum(sizes, 1), 0.0),
    )
    return FromScreen(guesses, sizes)


class _Column:
    """An attribute of the identified tables, as it would be displayed."""

    def __init__(self, attribute: ShownAttribute, known: KnownColumn) -> None:
        self.codes = known.codes
        self._values = [characters_of(text, attribute.kind) for text in known.texts]
        self._rows = np.bincount(known.codes, minlength=len(known.texts))
        compared = [
            None if value is None else folded(value, case=attribute.case, accents=attribute.accents)
            for value in self._values
        ]
        often: Counter[tuple[str, ...] | None] = Counter()
        for value, rows in zip(compared, self._rows.tolist(), strict=True):
            often[value] += rows
        self._often = [often[value] for value in compared]
        order = np.argsort(known.codes, kind="stable")
        self._records, self._starts = order, np.concatenate([[0], np.cumsum(self._rows)])
        self._allowed: dict[ShownCell, Bools] = {}

    def allowed(self, cell: ShownCell) -> Bools:
        """Which distinct values agree with what a cell showed."""
        if cell not in self._allowed:
            self._allowed[cell] = np.array(
                [
                    _agrees(value, often, cell)
                    for value, often in zip(self._values, self._often, strict=True)
                ],
                dtype=np.bool_,
            )
        return self._allowed[cell]

    def count(self, allowed: Bools) -> int:
        """How many records have one of the values."""
        return int(self._rows[allowed].sum())

    def records(self, allowed: Bools) -> Ints:
        """The records that have one of the values, ascending."""
        parts = [
            self._records[self._starts[value] : self._starts[value + 1]]
            for value in np.flatnonzero(allowed).tolist()
        ]
        return np.sort(np.concatenate([np.empty(0, dtype=np.int64), *parts]))


def _agreeing(columns: Sequence[_Column], state: Sequence[ShownCell | None], records: int) -> Ints:
    """The records that agree with every cell of a row."""
    told = [
        (column, column.allowed(cell))
        for column, cell in zip(columns, state, strict=True)
        if cell is not None
    ]
    if not told:
        return np.arange(records, dtype=np.int64)
    told.sort(key=lambda each: each[0].count(each[1]))
    column, allowed = told[0]
    found = column.records(allowed)
    for column, allowed in told[1:]:
        found = found[allowed[column.codes[found]]]
    return found


def _agrees(value: tuple[str, ...] | None, often: int, cell: ShownCell) -> bool:
    if value is None or cell.missing:
        return value is None and cell.missing
    if cell.length is not None and len(value) != cell.length:
        return False
    if often < cell.least or (cell.most is not None and often > cell.most):
        return False
    return all(
        place < len(value) and value[place] == character for place, character in cell.characters
    )
