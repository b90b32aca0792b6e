"""Read a released file as an outsider would, with none of the code that made it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.core.errors import InputError
from sfumato.intruder.knowledge.hold import is_measured
from sfumato.intruder.knowledge.knowledge import Knowledge, KnownColumn
from sfumato.intruder.knowledge.numbers import days_of
from sfumato.intruder.knowledge.texts import Texts, everybody, read_texts
from sfumato.intruder.reading.above import Above, above_from_file, above_from_prefixes
from sfumato.intruder.reading.cell import Anything, Cell, Members, Missing
from sfumato.intruder.reading.combine import combined
from sfumato.intruder.reading.parse import parse_bounds, parse_cell
from sfumato.intruder.reading.released_file import Ints, ReadColumn, ReleasedFile, TextColumn
from sfumato.intruder.reading.vocabulary import Vocabulary
from sfumato.schema import IntervalHierarchy, Kind, PrefixHierarchy, QuasiIdentifier, Schema
from sfumato.table.sources import Source
from sfumato.table.table_files import open_source

BOUNDS = ("_low", "_high")
"""How the two columns end that stand for one quasi-identifier."""


def read_release(
    data: Any,
    schema: Schema,
    *,
    delimiter: str | None = None,
    hierarchies: Mapping[str, str | Path] | None = None,
    known: Knowledge | None = None,
) -> ReleasedFile:
    """Read a released file, made by sfumato, ARX, anjana or others.

    Understood are numbers, dates and labels; ranges ``84-86``, ``-5 to 3``, ``20~40``,
    ``[20, 40)``, ``]20, 40[``, ``90 or more``, ``<18``, or two columns ``x_low`` and ``x_high``;
    sets ``{a, "b, c"}``; labels of a published hierarchy; hidden characters ``816**``; ``*``; and
    empty cells.

    Parameters
    ----------
    data
        A dataframe, or the path of a file.
    schema
        What each column is: names and kinds. A quasi-identifier that the file lacks was left
        out of it and says nothing.
    delimiter
        The separator of a CSV file; found by itself when not given.
    hierarchies
        The published hierarchies by quasi-identifier, each a CSV with one row per value; those
        that the schema names are taken where none is given.
    known
        What the intruder knows. The values that exist tell labels such as ``10-19`` from ranges,
        what ``816**`` can hide, and which labels lie between two others.

    Raises
    ------
    InputError
        If the file cannot be read, has none of the quasi-identifiers, a cell cannot be
        understood, or a hierarchy cannot be read.
    """
    source = open_source(data, delimiter=delimiter)
    _check_hierarchies(schema, hierarchies or {})
    columns = _columns_of(source.names, schema)
    if not columns:
        raise InputError(
            source.subject,
            "must have a quasi-identifier of the schema",
            found="none of them",
            accepted=", ".join(schema.quasi_identifiers),
        )
    texts = read_texts(source, list(source.names), schema.missing)
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
    return ReleasedFile(
        records=records,
        person=person,
        persons=persons,
        quasi_identifiers=tuple(quasi_identifiers),
        class_of=class_of,
        classes=len(first_row),
        first_row=first_row,
        sensitive=_texts_of([name for name in schema.sensitive if name in texts], texts),
        others=_texts_of([name for name in source.names if name not in taken], texts),
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
    found = {}
    for name in schema.quasi_identifiers:
        bounds = [name + end for end in BOUNDS]
        if name in names:
            found[name] = [name]
        elif all(bound in names for bound in bounds):
            found[name] = bounds
    return found


def _texts_of(names: Sequence[str], texts: Mapping[str, Texts]) -> tuple[TextColumn, ...]:
    return tuple(TextColumn(name, texts[name].texts, texts[name].codes) for name in names)


def _persons(
    texts: Mapping[str, Texts], schema: Schema, source: Source, records: int
) -> tuple[Ints | None, int]:
    if schema.person is None or schema.person not in texts:
        return None, records
    column = texts[schema.person]
    return everybody(column, schema.person, source.subject), len(column.texts)


def _vocabulary(
    name: str,
    quasi: QuasiIdentifier,
    parts: Sequence[str],
    texts: Mapping[str, Texts],
    known: KnownColumn | None,
    hierarchies: Mapping[str, str | Path],
) -> Vocabulary:
    seen = [text for part in parts for text in texts[part].texts if text is not None]
    values = () if known is None else tuple(text for text in known.texts if text is not None)
    order, above = _above(name, quasi, values, hierarchies)
    measured = _measured(quasi, seen, known)
    numbers = np.empty(0) if known is None else known.numbers[np.isfinite(known.numbers)]
    days = [days_of(text) for text in values]
    spec = quasi.hierarchy
    by_unit = isinstance(spec, IntervalHierarchy) and any(isinstance(w, str) for w in spec.widths)
    dates = by_unit or any(day is not None for day in days)
    return Vocabulary(
        measured=measured,
        dates=measured and dates,
        times=bool(dates and (numbers % 1 != 0).any()),
        ordered=quasi.kind is Kind.ORDERED,
        order=quasi.order if quasi.order is not None else order,
        values=frozenset(values),
        above=above,
    )


def _measured(quasi: QuasiIdentifier, seen: Sequence[str], known: KnownColumn | None) -> bool:
    """Whether a column holds numbers or dates; where nobody says so, by all that it shows."""
    if known is not None:
        return bool(np.isfinite(known.numbers).any()) or quasi.kind is Kind.NUMERIC
    if is_measured(quasi, ()):
        return True
    if quasi.kind is Kind.CATEGORICAL or quasi.order is not None or quasi.hierarchy is not None:
        return False
    numbers = Vocabulary(measured=True)
    cells = [parse_cell(text, numbers) for text in seen]
    return None not in cells and any(
        not isinstance(cell, (Anything, Missing, Members)) for cell in cells
    )


def _above(
    name: str,
    quasi: QuasiIdentifier,
    values: Sequence[str],
    hierarchies: Mapping[str, str | Path],
) -> tuple[tuple[str, ...] | None, Above]:
    if name in hierarchies:
        return above_from_file(Path(hierarchies[name]), name)
    if isinstance(quasi.hierarchy, Path):
        return above_from_file(quasi.hierarchy, name)
    if isinstance(quasi.hierarchy, PrefixHierarchy):
        return None, above_from_prefixes(quasi.hierarchy, values)
    return None, {}


def _read_column(name: str, parts: Sequence[Texts], words: Vocabulary) -> ReadColumn:
    codes, first = combined([part.codes for part in parts], len(parts[0].codes))
    places: dict[Cell, int] = {}
    place_of = np.empty(len(first), dtype=np.int64)
    for number, row in enumerate(first.tolist()):
        shown = [part.texts[part.codes[row]] for part in parts]
        if len(shown) == 1:
            cell = parse_cell(shown[0], words)
        else:
            cell = parse_bounds(shown[0], shown[1], words)
        if cell is None:
            raise _not_understood(name, row, words)
        place_of[number] = places.setdefault(cell, len(places))
    return ReadColumn(name, tuple(places), place_of[codes])


def _not_understood(name: str, row: int, words: Vocabulary) -> InputError:
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
