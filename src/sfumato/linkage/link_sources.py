"""The tables to link, opened: headers, columns, ids and cells as they are read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.parquet import ParquetWriter

from sfumato.core.declaration import Progress, silent
from sfumato.core.errors import InputError
from sfumato.core.workspace import Workspace
from sfumato.linkage import link_spec
from sfumato.linkage.match_thresholds import Records
from sfumato.schema import Schema
from sfumato.schema.recipe import StepCount
from sfumato.schema.roles import RECIPE_SOURCE
from sfumato.table.header_words import WORDS, named, words_of
from sfumato.table.preparation import prepared_in_part
from sfumato.table.sources import Source, check_utf8, is_bytes, positions
from sfumato.table.table_files import open_source

_GARBLED = (
    "[ÃÂÄÅ][\u0080-\u00bf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192\u02c6\u02dc"
    "\u2013-\u203a\u20ac\u2122]|â€|ï»¿|ï¿½|\ufffd"
)
"""Text in UTF-8 that was read as Latin-1 or Windows-1252, and what stands for lost letters."""


def as_text(values: pa.Array, column: str) -> pa.Array:
    """Values as text, missing where nothing but spaces is left.

    Dates come in ISO form, whole numbers without a decimal part.
    """
    if is_bytes(values.type):
        raise InputError(f"column '{column}'", "must hold text to be compared", found="bytes")
    check_utf8(values, column)
    # A date of birth with a time, as dataframes hold it, is compared as a day.
    if pa.types.is_timestamp(values.type):
        values = values.cast(pa.timestamp("us")).cast(pa.date32(), safe=False)
    # Whole numbers with missing ones among them come as floating ones from many readers.
    if pa.types.is_floating(values.type) and pc.all(pc.equal(pc.floor(values), values)).as_py():
        values = values.cast(pa.int64(), safe=False)
    text = pc.utf8_trim_whitespace(values.cast(pa.large_string()))
    return pc.if_else(pc.equal(text, ""), pa.scalar(None, text.type), text)


def joined(texts: Sequence[pa.Array], kind: link_spec.ColumnKind | None) -> pa.Array:
    """One text of several columns.

    A date with a part missing is missing, a name or address has the parts that there are.
    """
    if len(texts) == 1:
        return texts[0]
    if kind is not link_spec.ColumnKind.DATE:
        # Not null_handling="skip", which leaves out records whose parts are all missing.
        there = (pc.fill_null(text, "") for text in texts)
        text = pc.utf8_trim_whitespace(pc.binary_join_element_wise(*there, _sign(" ")))
        return pc.if_else(pc.equal(text, ""), pa.scalar(None, text.type), text)
    # ISO order, which cannot be misread; a month by name needs the order of words.
    year, *rest = texts
    month, day = (pc.utf8_lpad(each, 2, "0") for each in rest)
    by_name = pc.match_substring_regex(month, r"^\p{L}")
    return pc.if_else(
        by_name,
        pc.binary_join_element_wise(day, month, year, _sign(" ")),
        pc.binary_join_element_wise(year, month, day, _sign("-")),
    )


def _sign(text: str) -> pa.Scalar:
    return pa.scalar(text, pa.large_string())


def without(text: pa.Array, missing: Sequence[str]) -> pa.Array:
    """The texts, missing where they mean that."""
    if not missing:
        return text
    means_missing = pc.is_in(text, value_set=pa.array(missing, text.type))
    return pc.if_else(means_missing, pa.scalar(None, text.type), text)


def check_encoding(text: pa.Array, subject: str, first_row: int) -> None:
    """Refuse text that was written in one encoding and read in another; rows count from 1."""
    # As many bytes as characters: plain ASCII cannot be garbled, and most columns are.
    if not pc.any(pc.greater(pc.binary_length(text), pc.utf8_length(text))).as_py():
        return
    garbled = pc.match_substring_regex(text, _GARBLED)
    if pc.any(garbled).as_py():
        row = first_row + int(pc.index(garbled, True).as_py())
        raise InputError(
            subject,
            "must be in one encoding",
            found=f"letters of another encoding than they were read in, row {row}",
            advice="read the file in its own encoding and save it as UTF-8",
        )


@dataclass
class Seen:
    """What has been seen of a column; its first value is kept, to see whether others differ."""

    filled: int = 0
    value: pa.Scalar | None = None
    varies: bool = False

    def add(self, text: pa.Array) -> None:
        """See more values."""
        filled = len(text) - text.null_count
        self.filled += filled
        if not filled or self.varies:
            return
        if self.value is None:
            self.value = text[pc.index(pc.is_valid(text), True).as_py()]
        self.varies = bool(pc.any(pc.not_equal(text, self.value)).as_py())


def check_columns(
    mode: link_spec.Mode, columns: Sequence[str], sources: Sequence[tuple[str, dict[str, Seen]]]
) -> None:
    """Refuse columns of the sources that no two records to be compared can agree or differ on."""
    # Records of different sources can agree only on what two sources have.
    needed = 2 if mode is link_spec.Mode.LINK_ONLY else 1
    if not any(seen for _, seen in sources) or not columns:
        raise InputError("the sources", "must have columns to compare", found="none of them")
    for column in columns:
        having = [seen[column] for _, seen in sources if column in seen]
        filled = [seen for seen in having if seen.filled]
        if len(filled) < needed:
            lacking = [name for name, seen in sources if column not in seen]
            empty = [name for name, seen in sources if column in seen and not seen[column].filled]
            found = [f"no such column in source {name}" for name in lacking]
            found += [f"no value in source {name}" for name in empty]
            raise InputError(
                f"column '{column}'",
                "must have values in two sources at least" if needed > 1 else "must have values",
                found=", ".join(found),
                advice="leave it out of the specification, or give its header under 'rename'",
            )
        if not any(seen.varies for seen in filled) and _all_equal(filled):
            raise InputError(
                f"column '{column}'",
                "must tell records apart",
                found="one value throughout",
                advice="leave it out of the specification",
            )


def _all_equal(filled: Sequence[Seen]) -> bool:
    return all(seen.value == filled[0].value for seen in filled)


# A name of a place is that of many people, and is analysed.
_PLACES = "country county state region city town district province suburb"


@dataclass(frozen=True)
class Halves:
    """How the columns of a source are separated.

    Attributes
    ----------
    compared
        The specification's columns that the source has: name and headers.
    beside
        Other direct identifiers, for people who look at a pair: name in the identifying half,
        and header.
    """

    compared: Mapping[str, tuple[str, ...]]
    beside: Mapping[str, str]
    analytic: Mapping[str, str]


def separate(
    headers: Sequence[str],
    compared: Mapping[str, tuple[str, ...]],
    id_header: str | None,
    schema: Schema | None,
    renamed: Iterable[Mapping[str, link_spec.Headers]] = (),
) -> Halves:
    """Separate a source's columns: what identifies a person, and what is analysed.

    Direct identifiers are in the identifying half even if they are not compared: those of the
    schema, and without a schema columns whose name says so. The id of a record is in neither. What
    a schema declares has its name in the linked file, whatever a source calls it.

    Parameters
    ----------
    compared
        The specification's columns that it has: name and headers.
    schema
        What its columns are, where that is known.
    """
    sensitive = set() if schema is None else {link_spec.sql_name(name) for name in schema.sensitive}
    used = {header for headers in compared.values() for header in headers}
    for header in used:
        if link_spec.sql_name(header) in sensitive:
            raise InputError(
                f"column '{header}'",
                "must not be compared",
                found="a sensitive column of the schema",
                advice="leave it out of the specification's columns",
            )
    taken = {link_spec.sql_name(name) for name in compared}
    declared = {} if schema is None else {link_spec.sql_name(n): n for n in schema.columns()}
    parts = {} if schema is None else _declared_parts(compared, schema, renamed)
    beside: dict[str, str] = {}
    analytic: dict[str, str] = {}
    for header in headers:
        if header == id_header or (header in used and header not in parts):
            continue
        own = link_spec.sql_name(header)
        name = parts.get(header, declared.get(own, header))
        # Two columns of one name would be one in the linked file.
        if name != header and (name in headers or name in analytic.values()):
            name = header
        # A declared part of a date is analysed, though it is compared, too.
        if header in parts or not _identifies(header, schema):
            analytic[header] = name
        elif own and own not in taken:
            beside[own] = header
            taken.add(own)
    return Halves(compared, beside, analytic)


def _declared_parts(
    compared: Mapping[str, tuple[str, ...]],
    schema: Schema,
    renamed: Iterable[Mapping[str, link_spec.Headers]],
) -> dict[str, str]:
    """Compared headers that are analysed, too, with the quasi-identifiers that they are.

    Under another name than its own, as a part of a date, a quasi-identifier is compared and
    analysed. What stands in its place in another source is the same by another header.
    """
    declared = {link_spec.sql_name(name): name for name in schema.quasi_identifiers}
    for name in compared:
        declared.pop(link_spec.sql_name(name), None)
    given = [
        {name: link_spec.headers_of(headers) for name, headers in each.items()} for each in renamed
    ]
    parts: dict[str, str] = {}
    for column, own in compared.items():
        alike = [own, *(each[column] for each in given if len(each.get(column, ())) == len(own))]
        for header, *others in zip(own, *alike, strict=True):
            keys = [key for key in map(link_spec.sql_name, others) if key in declared]
            if keys:
                parts[header] = declared[keys[0]]
    return parts


def _identifies(header: str, schema: Schema | None) -> bool:
    own = link_spec.sql_name(header)
    if schema is not None and own in {link_spec.sql_name(name) for name in schema.columns()}:
        people = {schema.person, schema.household, *schema.direct_identifiers} - {None}
        people.update(schema.roles().get(RECIPE_SOURCE, ()))
        return own in {link_spec.sql_name(str(name)) for name in people}
    words = words_of(header)
    if numbers_a_person(header):
        return True
    return named(words, WORDS["direct"]) and not named(words, _PLACES)


def numbers_a_person(header: str) -> bool:
    """Whether a column is, by its name, the number of a person with the state."""
    words = set(words_of(header))
    return {"soc", "sec"} <= words or {"social", "security"} <= words


def match_headers(
    headers: Sequence[str],
    columns: Iterable[str],
    renamed: Mapping[str, link_spec.Headers],
    subject: str,
) -> dict[str, tuple[str, ...]]:
    """The headers of each column that a source has: one, or those that it is joined from.

    A column's headers are those given for it, else its own name, else the one header that differs
    from it in case, spaces and punctuation only.
    """
    found: dict[str, tuple[str, ...]] = {}
    taken: set[str] = set()
    for column in columns:
        own = _headers(headers, column, renamed.get(column), subject)
        for header in own:
            # If it were compared as two columns, one agreement would count twice.
            if header in taken:
                raise InputError(
                    f"column '{header}' of {subject}",
                    "must be one column of the specification",
                    found="two that are matched with it",
                )
        taken.update(own)
        if own:
            found[column] = own
    return found


def _headers(
    headers: Sequence[str], column: str, given: link_spec.Headers | None, subject: str
) -> tuple[str, ...]:
    if given is not None:
        for header in link_spec.headers_of(given):
            if header not in headers:
                raise InputError(
                    f"column '{header}'",
                    f"must be a column of {subject}",
                    found="no such name, though the specification gives it for "
                    f"'{column}' under 'rename'",
                )
        return link_spec.headers_of(given)
    if column in headers:
        return (column,)
    alike = [
        header for header in headers if link_spec.sql_name(header) == link_spec.sql_name(column)
    ]
    if len(alike) > 1:
        raise InputError(
            f"column '{column}'",
            f"must be one column of {subject}",
            found="several headers that differ in case, spaces and punctuation only",
            advice="say which under 'rename' in the specification",
        )
    return tuple(alike)


def check_ids(ids: pa.Array, column: str, subject: str) -> None:
    """Refuse ids that are missing or there twice."""
    if ids.null_count:
        rows = pc.indices_nonzero(pc.is_null(ids))[:6].to_pylist()
        raise InputError(
            f"column '{column}' of {subject}",
            "must name every record",
            found=f"{ids.null_count:,} without an id, such as row "
            f"{positions([row + 1 for row in rows])}",
            advice="leave the id out to have the records numbered",
        )
    if pc.count_distinct(ids).as_py() == len(ids):
        return
    counts = pc.value_counts(ids)
    # Rows and not ids are told: an id may be a person's.
    repeated = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
    rows = pc.indices_nonzero(pc.equal(ids, repeated[0]))[:6].to_pylist()
    raise InputError(
        f"column '{column}' of {subject}",
        "must name each record by another id",
        found=f"{len(repeated):,} that stand again, such as in row "
        f"{positions([row + 1 for row in rows])}",
        advice="choose the column that numbers the records, or leave the id out to have them "
        "numbered",
    )


RECORD = "record"
"""The column of both halves that holds the number of the record."""


@dataclass(frozen=True, eq=False)
class Opened:
    """Tables that are open and separated; leaving it as a context removes all its files.

    Attributes
    ----------
    identifying
        Per source, its identifying half: a Parquet file with ``record``, the specification's
        columns under their SQL names as text, and direct identifiers that are not compared.
    analytic
        Per source, its analytic half: a Parquet file with ``record`` and all other columns.
    """

    spec: link_spec.LinkSpec
    records: Records
    identifying: tuple[Path, ...]
    analytic: tuple[Path, ...]
    columns: tuple[str, ...]
    workspace: Workspace
    steps: tuple[tuple[StepCount, ...], ...] = ()

    def __enter__(self) -> Opened:
        """The tables, until the block ends."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Remove the files."""
        self.close()

    def close(self) -> None:
        """Remove the files."""
        self.workspace.close()


@dataclass
class _Reading:
    """One source while it is read."""

    name: str
    source: Source
    halves: Halves
    id_header: str | None
    start: int
    seen: dict[str, Seen] = field(default_factory=dict)
    ids: list[pa.Array] = field(default_factory=list)
    rows: int = 0


def open_sources(
    tables: Mapping[str, object],
    spec: link_spec.LinkSpec,
    *,
    schema: Schema | None = None,
    folder: Path | None = None,
    varied: bool = True,
    progress: Progress = silent,
) -> Opened:
    """Open the tables, check them, and write each one's two halves to a private folder.

    Parameters
    ----------
    tables
        Name of each source and its table: anything that `open_source` takes.
    schema
        What the columns are; a sensitive one is never put into an identifying half. Without it
        the columns that are not compared are taken apart by their names.
    folder
        Where the private folder is made; the system's place for temporary files if not given.
    varied
        Whether columns are refused that are empty, or hold one value throughout.
    """
    _check_names(tables, spec)
    columns = (
        tuple(spec.columns) if spec.splink is None else link_spec.columns_of_settings(spec.splink)
    )
    with ExitStack() as on_error:
        workspace = on_error.enter_context(Workspace(folder))
        readings, start = [], 0
        for number, (name, data) in enumerate(tables.items()):
            reading = _opened(name, data, spec, columns, schema)
            reading.start = start
            _read(reading, number, spec, workspace.path)
            readings.append(reading)
            start += reading.rows
            progress("read", (number + 1) / len(tables))
        if varied:
            check_columns(
                spec.mode, columns, [(reading.name, reading.seen) for reading in readings]
            )
        # Nothing failed, so the files stay until `Opened` is closed.
        on_error.pop_all()
    numbers = range(len(readings))
    counted = [reading.source.counted for reading in readings]
    return Opened(
        spec=spec,
        records=Records(
            tuple(tables), tuple(pa.concat_arrays(reading.ids) for reading in readings)
        ),
        identifying=tuple(_path(workspace.path, "identifying", n) for n in numbers),
        analytic=tuple(_path(workspace.path, "analytic", n) for n in numbers),
        columns=columns,
        workspace=workspace,
        steps=tuple(() if each is None else each() for each in counted),
    )


def _check_names(tables: Mapping[str, object], spec: link_spec.LinkSpec) -> None:
    one = spec.mode is link_spec.Mode.DEDUPE_ONLY
    if (len(tables) != 1) if one else (len(tables) < 2):
        raise InputError(
            f"mode {spec.mode.value}",
            "must have one table" if one else "must have two tables at least",
            found=f"{len(tables)}",
        )
    for option, names in (("one_per_source", spec.one_per_source), ("rename", spec.rename)):
        if not set(names) <= set(tables):
            raise InputError(
                option,
                "must name sources",
                found="a name that no table has",
                accepted=", ".join(tables),
            )


def _opened(
    name: str, data: object, spec: link_spec.LinkSpec, columns: Sequence[str], schema: Schema | None
) -> _Reading:
    source = prepared_in_part(data if isinstance(data, Source) else open_source(data), schema)
    wanted = [*columns, *([] if spec.id is None else [spec.id])]
    headers = match_headers(source.names, wanted, spec.rename.get(name, {}), f"source {name}")
    id_header = None
    if spec.id is not None:
        if spec.id not in headers:
            raise InputError(f"column '{spec.id}'", f"must be a column of source {name}")
        (id_header,) = headers.pop(spec.id)
    halves = separate(source.names, headers, id_header, schema, spec.rename.values())
    return _Reading(name, source, halves, id_header, 0)


def _path(folder: Path, half: str, number: int) -> Path:
    return folder / f"{half}_{number:03}.parquet"


def _read(reading: _Reading, number: int, spec: link_spec.LinkSpec, folder: Path) -> None:
    """Stream a source into its two files."""
    writers: dict[str, ParquetWriter] = {}
    with ExitStack() as stack:
        for batch in reading.source.batches(reading.source.names):
            first = reading.start + reading.rows
            record = pa.array(np.arange(first, first + batch.num_rows, dtype=np.int64))
            halves = {
                "identifying": _identifying(reading, batch, record, spec),
                "analytic": _analytic(reading, batch, record),
            }
            for half, rows in halves.items():
                if half not in writers:
                    path = _path(folder, half, number)
                    writers[half] = stack.enter_context(
                        ParquetWriter(path, rows.schema, compression="zstd")
                    )
                _write(writers[half], rows, f"source {reading.name}")
            reading.ids.append(_ids(reading, batch))
            reading.rows += batch.num_rows
    if reading.id_header is not None:
        check_ids(pa.concat_arrays(reading.ids), reading.id_header, f"source {reading.name}")


def _write(writer: ParquetWriter, rows: pa.RecordBatch, subject: str) -> None:
    try:
        writer.write_batch(rows)
    except (pa.ArrowException, ValueError):
        # Files without types are read in parts, whose types may differ.
        raise InputError(
            subject, "must have one type per column throughout", found="several"
        ) from None


def _identifying(
    reading: _Reading, batch: pa.RecordBatch, record: pa.Array, spec: link_spec.LinkSpec
) -> pa.RecordBatch:
    arrays = {RECORD: record}
    for name, headers in reading.halves.compared.items():
        texts = []
        for header in headers:
            texts.append(without(as_text(batch.column(header), header), spec.missing))
            where = f"column '{header}' of source {reading.name}"
            check_encoding(texts[-1], where, reading.rows + 1)
        text = joined(texts, spec.columns[name].kind if name in spec.columns else None)
        reading.seen.setdefault(name, Seen()).add(text)
        as_given = spec.splink is not None
        arrays[name if as_given else link_spec.sql_name(name)] = (
            batch.column(headers[0]) if as_given else text
        )
    for name, header in reading.halves.beside.items():
        arrays[name] = as_text(batch.column(header), header)
    return pa.RecordBatch.from_pydict(arrays)


def _analytic(reading: _Reading, batch: pa.RecordBatch, record: pa.Array) -> pa.RecordBatch:
    columns = [_stored(batch.column(header)) for header in reading.halves.analytic]
    names = [*reading.halves.analytic.values()]
    return pa.RecordBatch.from_arrays([record, *columns], names=[free_name(RECORD, names), *names])


def free_name(name: str, taken: Collection[str]) -> str:
    """The name, with underscores behind it until no other column has it."""
    while name in taken:
        name += "_"
    return name


def _stored(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _ids(reading: _Reading, batch: pa.RecordBatch) -> pa.Array:
    if reading.id_header is None:
        first = reading.rows + 1
        return pc.cast(
            pa.array(np.arange(first, first + batch.num_rows, dtype=np.int64)), pa.large_string()
        )
    return as_text(batch.column(reading.id_header), reading.id_header)
