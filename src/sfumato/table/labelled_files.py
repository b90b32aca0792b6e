"""Tables written as files of Excel, Stata and SPSS, with labels of columns and of their values.

The same table makes the same bytes: the times that these formats hold are those of 1980.
"""

from __future__ import annotations

import datetime as dt
import re
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.errors import InputError
from sfumato.core.optional_packages import needed
from sfumato.table.common_words import GIVEN_NAMES, SURNAME_ENDING, SURNAMES, folded
from sfumato.table.sources import NAMES, NO_LABELS, Labels, Source, is_number, is_text, listed

SHEET_ROWS, CELL_LETTERS = 1_048_576, 32_767
"""Rows of a sheet of Excel, and letters of a cell."""
# The earliest time that an entry of a zip archive can have.
_MADE = dt.datetime(1980, 1, 1, tzinfo=dt.UTC).replace(tzinfo=None)
_NAMES = {
    ".dta": (re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,31}"), "letters, digits and _, 32 at most"),
    ".sav": (re.compile(r"(?![\d.])[\w.@#$]{1,64}(?<!\.)"), "letters, digits, ._@#$; 64 at most"),
}
"""Names of columns that the format takes."""
_PACKAGES = {".xlsx": "openpyxl", ".dta": "pyreadstat", ".sav": "pyreadstat"}
_ILLEGAL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def check_writable(suffix: str, subject: str) -> None:
    """Refuse a format whose package is not installed."""
    needed(_PACKAGES[suffix], extra="formats", by=subject)


def write_labelled(
    table: pa.Table, path: Path, suffix: str, subject: str, labels: Labels = NO_LABELS
) -> None:
    """Write a table in the format of a suffix.

    Labels of values are written where the values occur: others would tell of records that are
    not in the table. Excel has a second sheet for them.

    Parameters
    ----------
    table
        Columns of single values, without dictionaries.
    path
        Where to write.
    suffix
        ``.xlsx``, ``.dta`` or ``.sav``.
    """
    kept = occurring(labels, table)
    if suffix == ".xlsx":
        _write_excel(table, path, subject, kept)
        return
    pattern, accepted = _NAMES[suffix]
    wrong = [name for name in table.column_names if pattern.fullmatch(name) is None]
    if wrong:
        raise InputError(
            subject,
            "must have names of columns that the format takes",
            found=f"others: {listed(wrong)}",
            accepted=accepted,
            advice="rename them, or write .csv, .parquet or .xlsx",
        )
    pyreadstat = needed("pyreadstat", extra="formats", by=subject)
    # pyreadstat writes a date by its Python type: a timestamp would get a time of day.
    frame = _plain(table).to_pandas(date_as_object=True)
    write = pyreadstat.write_dta if suffix == ".dta" else pyreadstat.write_sav
    try:
        write(
            frame,
            str(path),
            column_labels=dict(kept.columns),
            variable_value_labels=_of_format(kept, table, suffix),
        )
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError, OverflowError):
        raise InputError(
            subject,
            f"must be a table that {suffix} can hold",
            found="a text that is too long, or a number that is too large, for the format",
            advice="write .parquet or .csv",
        ) from None
    _without_time(path, suffix)


def occurring(labels: Labels, table: pa.Table) -> Labels:
    """The labels of a table's columns, and of those of its values that occur."""
    columns = {name: said for name in table.column_names if (said := labels.columns.get(name))}
    values = {}
    for name, known in labels.values.items():
        if name not in table.column_names:
            continue
        found = pc.unique(table[name]).drop_null()
        texts = {_as_label(value.as_py()) for value in found}
        own = {value: said for value, said in known.items() if _as_label(value) in texts}
        if own:
            values[name] = own
    return Labels(columns, values)


LONGEST = 12
"""Words of a label that are looked at together, as many as an address has."""
_WORD = re.compile(r"[^\W_]+")
_TITLE = re.compile(r"\b(?:Dr|Drs|Prof|Mrs?|Ms|Miss|Sir|Frau|Herr|Mme|Sra?)\b\.? +[^\W\d_]{2,}")
_PARTICLES = frozenset(
    ["van", "von", "de", "den", "der", "di", "da", "dos", "del", "la", "le", "el", "al", "bin"]
)
_NAME_LETTERS = 4
"""Letters from which on one word of somebody's name is looked for by itself; shorter ones are
initials and particles."""


def quoting(source: Source, people: Collection[str]) -> Labels:
    """The labels of a source with the columns whose values stand in each, all records read.

    Words count whatever their case, accents and order, and whatever stands between them.
    """
    labels = source.labels
    several = {name: [*value.values()] for name, value in labels.values.items()}
    places: dict[str, set[str]] = {}
    quoted: dict[str, set[str]] = {}
    for text in {*labels.columns.values(), *(said for own in several.values() for said in own)}:
        quoted[text] = {NAMES} if _names_somebody(text) else set()
        for key in _windows(_words(text)):
            places.setdefault(key, set()).add(text)
    for own in several.values():
        # Where most labels of a column are names, the others are, too: rare names are in no list.
        if 2 * sum(_is_name(_words(said)) for said in own) > len(own):
            quoted.update((said, {NAMES}) for said in own)
    for batch in source.batches(source.names) if quoted else ():
        for name, column in zip(source.names, batch.columns, strict=True):
            for value in pc.unique(column).drop_null().to_pylist():
                for key in _keys(value, parts=name in people):
                    for text in places.get(key, ()):
                        quoted[text].add(name)
    return replace(labels, quoted={text: frozenset(own) for text, own in quoted.items()})


def shown(labels: Labels, table: pa.Table, untouched: Collection[str]) -> Labels:
    """The labels that may go out with a table: those of columns that are released as they are.

    A label in which a person, or a value of a column that is not so released, stands is none of
    them, nor is one into which nobody has looked.
    """
    return occurring(
        Labels(
            {
                name: column
                for name, column in labels.columns.items()
                if name in untouched and not _quotes(column, labels, untouched)
            },
            {
                name: {v: said for v, said in value.items() if not _quotes(said, labels, untouched)}
                for name, value in labels.values.items()
                if name in untouched
            },
        ),
        table,
    )


def left_out(labels: Labels, untouched: Collection[str]) -> tuple[str, ...]:
    """A warning of columns that go out as they are, but for labels that quote what is hidden."""
    texts = {name: [*value.values()] for name, value in labels.values.items()}
    for name, column in labels.columns.items():
        texts.setdefault(name, []).append(column)
    columns = [
        name
        for name, several in texts.items()
        if name in untouched and any(_quotes(text, labels, untouched) for text in several)
    ]
    if not columns:
        return ()
    what = "labels in which people, or values that the release hides, are named"
    return (f"{what}, are left out of {listed(columns)}",)


def _quotes(label: str, labels: Labels, untouched: Collection[str]) -> bool:
    return labels.quoted is None or not set(labels.quoted[label]) <= {*untouched}


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold() if text.isascii() else folded(text))


def _windows(words: Sequence[str]) -> Iterator[str]:
    """Words that stand together, joined as they stand, and in the order of the alphabet."""
    for first in range(len(words)):
        for last in range(first + 1, min(first + LONGEST, len(words)) + 1):
            yield "".join(words[first:last])
            yield " ".join(sorted(words[first:last]))


def _keys(value: object, *, parts: bool) -> Iterator[str]:
    """How a value may stand in a label, as `_windows` joins its words."""
    if isinstance(value, dt.date):
        # Labels write dates in any order, with zeros or without; the signs between fall away.
        for form in ("%Y%m%d", "%d%m%Y", "%m%d%Y"):
            yield value.strftime(form)
        yield f"{value.day}{value.month}{value.year}"
        yield f"{value.month}{value.day}{value.year}"
        return
    words = _words(_as_label(value))
    if words:
        yield "".join(words)
        yield " ".join(sorted(words))
    if parts:
        yield from (word for word in words if len(word) >= _NAME_LETTERS)


def _names_somebody(label: str) -> bool:
    """Whether a label has a title before a name, or a common given name beside a surname."""
    if _TITLE.search(label):
        return True
    words = [word for word in _words(label) if word not in _PARTICLES]
    return any(_is_name(words[at : at + 2]) for at in range(len(words) - 1))


def _is_name(words: Sequence[str]) -> bool:
    """Whether one word is a common name, or of two one is a given name and the other a surname."""
    if len(words) == 1:
        return words[0] in GIVEN_NAMES or words[0] in SURNAMES
    return len(words) == 2 and any(
        one in GIVEN_NAMES and (other in SURNAMES or re.match(SURNAME_ENDING, other))
        for one, other in (words, words[::-1])
    )


def _as_label(value: object) -> str:
    """A value as it stands in a cell of text."""
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if whole else str(value)  # type: ignore[call-overload]


def _of_format(labels: Labels, table: pa.Table, suffix: str) -> dict[str, dict[Any, str]]:
    """Labels of values by values of the column's type; Stata has none for texts."""
    found: dict[str, dict[Any, str]] = {}
    for name, known in labels.values.items():
        kind = table.schema.field(name).type
        if is_number(kind):
            numbers = {value: said for value, said in known.items() if not isinstance(value, str)}
            whole = all(float(value).is_integer() for value in numbers)
            if numbers and (suffix == ".sav" or whole):
                found[name] = {
                    int(value) if suffix == ".dta" else value: number
                    for value, number in numbers.items()
                }
        elif is_text(kind) and suffix == ".sav":
            found[name] = {_as_label(value): said for value, said in known.items()}
    return found


def _plain(table: pa.Table) -> pa.Table:
    """The table in the few types that both formats have."""
    arrays = []
    for column in table.columns:
        kind = column.type
        if pa.types.is_decimal(kind) or pa.types.is_unsigned_integer(kind):
            arrays.append(column.cast(pa.float64()))
        elif pa.types.is_boolean(kind):
            arrays.append(column.cast(pa.int8()))
        elif pa.types.is_timestamp(kind):
            arrays.append(column.cast(pa.timestamp("us")))
        elif pa.types.is_time(kind):
            arrays.append(column.cast(pa.string()))
        elif is_text(kind):
            # In both formats a text that is missing is an empty one.
            arrays.append(column.cast(pa.string()).fill_null(""))
        else:
            arrays.append(column)
    return pa.Table.from_arrays(arrays, names=table.column_names)


def _without_time(path: Path, suffix: str) -> None:
    """Write the time of 1980 over that of the writing."""
    with path.open("r+b") as file:
        head = file.read(4096)
        if suffix == ".sav":  # record of the file's header: 9 letters of the date, 8 of the time
            file.seek(92)
            file.write(b"01 Jan 8000:00:00")
            return
        begin = head.index(b"<timestamp>") + len(b"<timestamp>")
        # Stata writes the length of the time into the byte before it.
        length = head[begin]
        file.seek(begin + 1)
        file.write(b"01 Jan 1980 00:00".ljust(length)[:length])


def _write_excel(table: pa.Table, path: Path, subject: str, labels: Labels) -> None:
    """One sheet with the records, and one with the labels where there are any."""
    openpyxl = needed("openpyxl", extra="formats", by=subject)
    if table.num_rows >= SHEET_ROWS:
        raise InputError(
            subject,
            f"must have fewer than {SHEET_ROWS:,} records, as a sheet of Excel",
            found=f"{table.num_rows:,}",
            advice="write .parquet or .csv",
        )
    for name, column in zip(table.column_names, table.columns, strict=True):
        if is_text(column.type):
            strange = pc.match_substring_regex(column, _ILLEGAL.pattern)
            long = pc.greater(pc.utf8_length(column), CELL_LETTERS)
            if pc.any(pc.or_(strange, long)).as_py():
                raise InputError(
                    f"column '{name}' of {subject}",
                    "must hold texts that a cell of Excel can hold",
                    found="control characters, or a text that is too long",
                    advice="write .parquet or .csv",
                )
    book = openpyxl.Workbook(write_only=True)
    book.properties.created = book.properties.modified = _MADE
    sheet = book.create_sheet("Records")
    for row in _rows(table):
        sheet.append([_cell(openpyxl, sheet, value) for value in row])
    if labels != NO_LABELS:
        sheet = book.create_sheet("Labels")
        for row in _label_rows(labels):
            sheet.append([_cell(openpyxl, sheet, value) for value in row])
    book.save(path)
    _repack(path)


def _rows(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    yield tuple(table.column_names)
    for batch in table.to_batches(max_chunksize=1 << 14):
        columns = []
        for column in batch.columns:
            zoned = pa.types.is_timestamp(column.type) and column.type.tz is not None
            columns.append((pc.local_timestamp(column) if zoned else column).to_pylist())
        yield from zip(*columns, strict=True)


def _cell(openpyxl: Any, sheet: Any, value: Any) -> Any:
    """A cell; a text stays one, even where Excel would take it for a formula or an error."""
    if not isinstance(value, str) or value[:1] not in ("=", "#"):
        return value
    cell = openpyxl.cell.WriteOnlyCell(sheet, value)
    cell.data_type = "s"
    return cell


def _label_rows(labels: Labels) -> Iterator[tuple[Any, ...]]:
    yield "column", "label", "value", "label of the value"
    for name in dict.fromkeys((*labels.columns, *labels.values)):
        if name in labels.columns:
            yield name, labels.columns[name], None, None
        known: Mapping[Any, str] = labels.values.get(name, {})
        for value, said in known.items():
            yield name, None, value, said


def _repack(path: Path) -> None:
    """Write a workbook's parts anew, with one time for all of them."""
    with zipfile.ZipFile(path) as book:
        parts = {member.filename: book.read(member) for member in book.infolist()}
    stamp = f"{_MADE.isoformat()}Z".encode()
    core = "docProps/core.xml"
    if core in parts:  # openpyxl writes the time of saving
        parts[core] = re.sub(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", stamp, parts[core])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        for name, content in parts.items():
            made = zipfile.ZipInfo(name, _MADE.timetuple()[:6])
            made.compress_type = zipfile.ZIP_DEFLATED
            book.writestr(made, content)
