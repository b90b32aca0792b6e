"""How an intruder reads a released file."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from sfumato.core.arrays import Ints
from sfumato.core.declaration import LayoutGiven
from sfumato.core.errors import InputError
from sfumato.intruder import knowledge, released_syntax
from sfumato.schema import IntervalHierarchy, Kind, PrefixHierarchy, QuasiIdentifier, Schema
from sfumato.table.sources import Source, from_texts
from sfumato.table.spellings import readings
from sfumato.table.table_files import open_source

EQUAL = 1e-9
"""Share by which two chances differ that are the same but for rounding."""


@dataclass(frozen=True, eq=False)
class ReadColumn:
    """A quasi-identifier of the release: its distinct cells, and which record shows which."""

    name: str
    cells: tuple[released_syntax.Cell, ...]
    codes: Ints


@dataclass(frozen=True, eq=False)
class TextColumn:
    """Any other column of the release: its distinct texts, and which record shows which."""

    name: str
    texts: tuple[str | None, ...]
    codes: Ints

    @property
    def told(self) -> Ints:
        """The same places, -1 where there is no text or ``*`` says nothing, shape (records,)."""
        empty = np.array([text in (None, "*") for text in self.texts], dtype=np.bool_)
        return np.where(empty[self.codes], -1, self.codes)

    def as_read(self) -> TextColumn:
        """The column with spellings of one value as one, which a promise counts as one, too."""
        said = [text for text in self.texts if text not in (None, "*")]
        read = readings(from_texts(said)) if said else None
        # With as many values as spellings there is nothing to be put together.
        if read is None or len({*read} - {None}) == len(said):
            return self
        key: dict[str | None, str | None] = dict(zip(said, read, strict=True))
        texts = tuple(dict.fromkeys([*(key.get(text) for text in self.texts), None]))
        place = {text: number for number, text in enumerate(texts)}
        lookup = np.array([place[key.get(text)] for text in self.texts], dtype=np.int64)
        return replace(self, texts=texts, codes=lookup[self.codes])


@dataclass(frozen=True, eq=False)
class ReleasedFile:
    """A released file as an outsider reads it.

    Attributes
    ----------
    person
        Number of each record's pseudonym, 0 to persons - 1 in order of appearance, shape
        (records,); ``None`` where the file has no person column.
    persons
        Number of pseudonyms; of records where the file has no person column.
    class_of
        Number of each record's combination of cells, in order of appearance, shape (records,).
    first_row
        A record of each, shape (classes,).
    names
        The person column again, which stays where a file is its own original; ``None`` without.
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
    names: TextColumn | None = None

    @property
    def unit(self) -> Ints:
        """Whom each record belongs to: its pseudonym, else itself, shape (records,)."""
        return np.arange(self.records, dtype=np.int64) if self.person is None else self.person

    def part(self, rows: Ints) -> ReleasedFile:
        """Some of the records, persons and classes numbered anew in order of appearance."""

        def of(columns: tuple[TextColumn, ...]) -> tuple[TextColumn, ...]:
            return tuple(replace(column, codes=column.codes[rows]) for column in columns)

        shown = tuple(
            replace(identifier, codes=identifier.codes[rows])
            for identifier in self.quasi_identifiers
        )
        class_of, first_row = combined([column.codes for column in shown], len(rows))
        person, persons = self.person, len(rows)
        if person is not None:
            person, first = combined([person[rows]], len(rows))
            persons = len(first)
        return ReleasedFile(
            len(rows),
            person,
            persons,
            shown,
            class_of,
            len(first_row),
            first_row,
            of(self.sensitive),
            of(self.others),
        )


_CLASSIFICATION = ["code", "label", "narrow_group", "narrow_label", "broad_group", "broad_label"]
_CODE = re.compile(r"([A-Za-z]*)([0-9]+)")

Above = dict[str, frozenset[str]]


def rows_of_hierarchy(path: Path, column: str) -> list[list[str]]:
    """The rows of a published hierarchy, each a value and what stands above it, level by level.

    A CSV has one row per value, the value first and then its ancestors, without a header; or a
    classification with the header ``code,label,narrow_group,...``.
    """
    subject = f"hierarchy of column '{column}' (file {path.name})"
    rows = _rows(_text(path, subject))
    if not rows or len({len(row) for row in rows}) != 1:
        raise InputError(
            subject,
            "must be a CSV with one row per value and its ancestors behind it",
            found="rows of different lengths" if rows else "no row",
            advice="give it under 'hierarchies' in that form",
        )
    if rows[0][: len(_CLASSIFICATION)] == _CLASSIFICATION:
        # What has no group above it stands for itself there: all rows need as many levels.
        rows = [[row[0], row[2] or row[0], row[4] or row[2] or row[0]] for row in rows[1:]]
    return rows


def above_from_file(path: Path, column: str) -> tuple[tuple[str, ...], Above]:
    """The values of a published hierarchy in the file's order, and those below each label."""
    rows = rows_of_hierarchy(path, column)
    values = tuple(dict.fromkeys(row[0] for row in rows))
    return values, _collected((row[0], row[1:]) for row in rows)


def above_from_prefixes(spec: PrefixHierarchy, values: Collection[str]) -> Above:
    """The values below each prefix, and below each group of the shortest prefixes.

    Groups are such as ``240-279``, both ends inside.
    """
    return _collected((value, prefixes_of(value, spec)) for value in values)


def _collected(pairs: Iterable[tuple[str, Sequence[str]]]) -> Above:
    below: dict[str, set[str]] = {}
    for value, labels in pairs:
        for label in labels:
            below.setdefault(label, set()).add(value)
    return {label: frozenset(values) for label, values in below.items()}


def prefixes_of(value: str, spec: PrefixHierarchy) -> list[str]:
    """The prefixes of a code, longest first, and the groups that the shortest one is in."""
    labels = []
    for length in spec.lengths:
        start = value[:length]
        # A prefix that ends at a separator is released without it.
        labels.append(start.rstrip(".-/_ ") or start)
    shortest = labels[-1] if labels else value
    labels += [group for group in spec.groups if _within(shortest, group)]
    return labels


def _within(prefix: str, group: str) -> bool:
    """Whether a code lies in a range of codes with the same letters and number of digits.

    A code with letters that was cut shorter than the ends lies in it if all its codes do.
    """
    low_text, _, high_text = group.partition("-")
    low, high = _CODE.fullmatch(low_text), _CODE.fullmatch(high_text or low_text)
    code = _CODE.fullmatch(prefix)
    if low is None or high is None or code is None or code[1] != low[1]:
        return False
    cut = len(low[2]) - len(code[2]) if code[1] else 0
    if cut > 0:
        first, last = code[2] + "0" * cut, code[2] + "9" * cut
        return int(low[2]) <= int(first) and int(last) <= int(high[2])
    if not len(low[2]) <= len(code[2]) <= len(high[2]):
        return False
    return int(low[2]) <= int(code[2]) <= int(high[2])


def _text(path: Path, subject: str) -> str:
    if path.suffix.lower() in (".ttl", ".turtle"):
        raise InputError(
            subject,
            "must be a CSV where a release is attacked",
            found="SKOS in Turtle",
            advice="give it under 'hierarchies', one row per value and its ancestors behind it",
        )
    try:
        # Spreadsheets begin a CSV with a byte order mark.
        return path.read_bytes().decode("utf-8-sig")
    except (OSError, ValueError):
        raise InputError(
            subject,
            "must be a file in UTF-8 that can be read",
            found="none, or another content",
            advice="name it under 'hierarchies', or leave it out of the schema",
        ) from None


def _rows(text: str) -> list[list[str]]:
    """The rows by the first delimiter that gives several cells in each and as many in all."""
    first: list[list[str]] = []
    # The comma last: labels hold it oftener than the others.
    for delimiter in (";", "\t", ","):
        try:
            rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
        except csv.Error:
            continue
        rows = [row for row in rows if row]
        lengths = {len(row) for row in rows}
        if len(lengths) == 1 and lengths != {1}:
            return rows
        if not first or max(lengths, default=0) > 1:
            first = rows
    return first


def combined(columns: Sequence[Ints], rows: int) -> tuple[Ints, Ints]:
    """Number the combinations of codes in order of appearance; O(columns x rows log rows).

    Gives the number of each row's combination, shape (rows,), and the first row of each.
    """
    codes = np.zeros(rows, dtype=np.int64)
    for column in columns:
        width = int(column.max(initial=0)) + 1
        # Numbered anew after each column: the product of all widths would overflow.
        codes = np.unique(codes * width + column, return_inverse=True)[1].reshape(-1)
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(len(first), dtype=np.int64)
    number[order] = np.arange(len(first))
    return number[inverse.reshape(-1)], first[order].astype(np.int64)


BOUNDS = ("_low", "_high")
"""How the two columns end that stand for one quasi-identifier."""


def read_release(
    data: Any,
    schema: Schema,
    *,
    hierarchies: Mapping[str, str | Path] | None = None,
    known: knowledge.Knowledge | None = None,
    **layout: Unpack[LayoutGiven],
) -> ReleasedFile:
    """Read a released file, made by sfumato, ARX, anjana or others.

    Understood are numbers, dates and labels; ranges ``84-86``, ``-5 to 3``, ``20~40``,
    ``[20, 40)``, ``]20, 40[``, ``90 or more``, ``<18``, or two columns ``x_low`` and ``x_high``;
    sets ``{a, "b, c"}``; labels of a published hierarchy; hidden characters ``816**``; ``*``; and
    empty cells.

    Parameters
    ----------
    schema
        What each column is: names and kinds. A quasi-identifier that the file lacks was left
        out of it and says nothing.
    hierarchies
        The published hierarchies by quasi-identifier, each a CSV with one row per value; those
        that the schema names are taken where none is given.
    known
        What the intruder knows. The values that exist tell labels such as ``10-19`` from ranges,
        what ``816**`` can hide, and which labels lie between two others.
    """
    source = open_source(data, **layout)
    _check_hierarchies(schema, hierarchies or {})
    columns = _columns_of(source.names, schema)
    if not columns:
        raise InputError(
            source.subject,
            "must have a quasi-identifier of the schema",
            found="none of them",
            accepted=", ".join(schema.quasi_identifiers),
            advice="of several releases name those of all: what one of them lacks says nothing",
        )
    texts = knowledge.read_texts(source, list(source.names), schema.missing)
    records = len(texts[source.names[0]].codes)
    given = {} if known is None else {column.name: column for column in known.quasi_identifiers}
    quasi_identifiers = []
    for name, parts in columns.items():
        quasi = schema.quasi_identifiers[name]
        words = _vocabulary(name, quasi, parts, texts, given.get(name), hierarchies or {})
        quasi_identifiers.append(_read_column(name, [texts[part] for part in parts], words))
    class_of, first_row = combined([column.codes for column in quasi_identifiers], records)
    person, persons = _persons(texts, schema, source, records)
    taken = {*(part for parts in columns.values() for part in parts), *schema.sensitive}
    others = _texts_of([name for name in source.names if name not in taken], texts)
    return ReleasedFile(
        records=records,
        person=person,
        persons=persons,
        quasi_identifiers=tuple(quasi_identifiers),
        class_of=class_of,
        classes=len(first_row),
        first_row=first_row,
        sensitive=_texts_of([name for name in schema.sensitive if name in texts], texts),
        others=others,
        names=next(
            (text_column for text_column in others if text_column.name == schema.person), None
        ),
    )


def _check_hierarchies(schema: Schema, hierarchies: Mapping[str, str | Path]) -> None:
    for name in hierarchies:
        if name not in schema.quasi_identifiers:
            raise InputError(
                "parameter hierarchies",
                f"names column '{name}', which is no quasi-identifier of the schema",
                accepted=", ".join(schema.quasi_identifiers),
            )


def _columns_of(names: Sequence[str], schema: Schema) -> dict[str, list[str]]:
    """The one column, or the two bounds, of each quasi-identifier that the file has."""
    columns = {}
    for name in schema.quasi_identifiers:
        bounds = [name + end for end in BOUNDS]
        if name in names:
            columns[name] = [name]
        elif all(bound in names for bound in bounds):
            columns[name] = bounds
    return columns


def _texts_of(names: Sequence[str], texts: Mapping[str, knowledge.Texts]) -> tuple[TextColumn, ...]:
    return tuple(TextColumn(name, texts[name].texts, texts[name].codes) for name in names)


def _persons(
    texts: Mapping[str, knowledge.Texts], schema: Schema, source: Source, records: int
) -> tuple[Ints | None, int]:
    if schema.person is None or schema.person not in texts:
        return None, records
    column = texts[schema.person]
    return knowledge.everybody(column, schema.person, source.subject), len(column.texts)


def _vocabulary(
    name: str,
    quasi: QuasiIdentifier,
    parts: Sequence[str],
    texts: Mapping[str, knowledge.Texts],
    known: knowledge.KnownColumn | None,
    hierarchies: Mapping[str, str | Path],
) -> released_syntax.Vocabulary:
    seen = [text for part in parts for text in texts[part].texts if text is not None]
    values = () if known is None else tuple(text for text in known.texts if text is not None)
    order, above = _above(name, quasi, values, hierarchies)
    measured = _measured(quasi, seen, known)
    numbers = np.empty(0) if known is None else known.numbers[np.isfinite(known.numbers)]
    days = [knowledge.days_of(text) for text in values]
    spec = quasi.hierarchy
    by_unit = isinstance(spec, IntervalHierarchy) and any(isinstance(w, str) for w in spec.widths)
    dates = by_unit or any(day is not None for day in days)
    return released_syntax.Vocabulary(
        measured=measured,
        dates=measured and dates,
        times=bool(dates and (numbers % 1 != 0).any()),
        ordered=quasi.kind is Kind.ORDERED,
        order=quasi.order if quasi.order is not None else order,
        values=frozenset(values),
        above=above,
    )


def _measured(
    quasi: QuasiIdentifier, seen: Sequence[str], known: knowledge.KnownColumn | None
) -> bool:
    """Whether a column holds numbers or dates; where nobody says so, by all that it shows."""
    if known is not None:
        return bool(np.isfinite(known.numbers).any()) or quasi.kind is Kind.NUMERIC
    if knowledge.is_measured(quasi, ()):
        return True
    if quasi.kind is Kind.CATEGORICAL or quasi.order is not None or quasi.hierarchy is not None:
        return False
    numbers = released_syntax.Vocabulary(measured=True)
    cells = [released_syntax.parse_cell(text, numbers) for text in seen]
    return None not in cells and any(
        not isinstance(
            cell, (released_syntax.Anything, released_syntax.Missing, released_syntax.Members)
        )
        for cell in cells
    )


def _above(
    name: str, quasi: QuasiIdentifier, values: Sequence[str], hierarchies: Mapping[str, str | Path]
) -> tuple[tuple[str, ...] | None, Above]:
    if name in hierarchies:
        return above_from_file(Path(hierarchies[name]), name)
    if isinstance(quasi.hierarchy, Path):
        return above_from_file(quasi.hierarchy, name)
    if isinstance(quasi.hierarchy, PrefixHierarchy):
        return None, above_from_prefixes(quasi.hierarchy, values)
    return None, {}


def _read_column(
    name: str, parts: Sequence[knowledge.Texts], words: released_syntax.Vocabulary
) -> ReadColumn:
    codes, first = combined([part.codes for part in parts], len(parts[0].codes))
    places: dict[released_syntax.Cell, int] = {}
    place_of = np.empty(len(first), dtype=np.int64)
    for number, row in enumerate(first.tolist()):
        shown = [part.texts[part.codes[row]] for part in parts]
        if len(shown) == 1:
            cell = released_syntax.parse_cell(shown[0], words)
        else:
            cell = released_syntax.parse_bounds(shown[0], shown[1], words)
        if cell is None:
            raise _not_understood(name, row, words)
        place_of[number] = places.setdefault(cell, len(places))
    return ReadColumn(name, tuple(places), place_of[codes])


def _not_understood(name: str, row: int, words: released_syntax.Vocabulary) -> InputError:
    if words.measured:
        return InputError(
            f"column '{name}'",
            "must show numbers, dates or ranges of them",
            found=f"another text in row {row + 1}",
            accepted="84-86, a to b, [a, b), 90 or more, <18, {a, b}, *",
            advice="where it is a label of a hierarchy, give that under 'hierarchies'",
        )
    return InputError(
        f"column '{name}'",
        "must show labels or ranges of labels that have a place in its order",
        found=f"another text in row {row + 1}",
        advice="give the order in the schema, or a hierarchy under 'hierarchies'",
    )
