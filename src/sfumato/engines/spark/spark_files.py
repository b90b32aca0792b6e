"""Files by a path that Spark reads, with the values that the embedded engine reads."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Unpack, cast

import pyarrow as pa

from sfumato.core.declaration import Layout, LayoutGiven, is_spark_frame, layout_of
from sfumato.core.errors import InputError, unreadable_file
from sfumato.core.number_text import counted
from sfumato.core.optional_packages import needed
from sfumato.engines.spark import spark_session
from sfumato.table import file_layout, person_candidates, sources, table_files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from sfumato.table.preparation import Preparation

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")
BROKEN = "sfumato_broken"
"""The column that marks records whose number of cells is not that of the header."""
_TEXT = "sfumato_text"
_NOT_FOUND = "PATH_NOT_FOUND"
# What Spark's reader trims: every character up to the
# space, which is more than what Python calls a space.
_BLANK = r"\A[\x01-\x20]+\z"


@dataclass(frozen=True, eq=False)
class SparkSource:
    """Records on Spark, before they are encoded.

    Attributes
    ----------
    frame
        The records; its columns are called ``c0``, ``c1``, ... in the order of ``names``.
    cells
        Cells that a record must have, where it may have others: those records are marked in
        the column `BROKEN`.
    preparation
        The recipe by which its columns were cleaned, and the records before that; ``None``
        without a recipe.
    """

    subject: str
    names: tuple[str, ...]
    frame: DataFrame = field(repr=False)
    cells: int | None = None
    preparation: tuple[Preparation, DataFrame] | None = None

    def check_cells(self, broken: int) -> None:
        """Refuse records of another number of cells."""
        if broken:
            raise InputError(
                self.subject,
                "must have as many cells in every row as it has columns",
                found=f"another number of cells in {counted(broken, 'record')}",
                accepted=counted(self.cells or 0, "cell"),
                advice="quote cells that hold the delimiter, or name the right delimiter",
            )


_CSV_SUFFIXES = {text + packed for text in table_files.PLAIN_TEXT for packed in ("", ".gz")}
"""Files of text that Spark unpacks by itself."""


def plain(place: int) -> str:
    """What a column is called on Spark, by its place in the file."""
    return f"c{place}"


def open_on_cluster(data: object, **layout: Unpack[LayoutGiven]) -> SparkSource:
    """Open a DataFrame of PySpark, or a file or folder by a path that Spark reads.

    Parameters
    ----------
    data
        A DataFrame, or a path or URI (``s3a://``, ``abfss://``, ``dbfs:/``, ``hdfs://``, ...)
        of CSV (`.csv`, `.tsv`, `.txt`, each also with `.gz`) or Parquet.
    """
    given = Layout(**cast(dict[str, Any], layout))
    for name in layout_of(replace(given, delimiter=None, header=given.header or None)):
        raise InputError(
            f"parameter {name}",
            "must be left out on Spark, which reads plain tables with a header",
            advice="take --engine embedded, or write the file again as Parquet",
        )
    if isinstance(data, (str, os.PathLike)):
        return _open_path(os.fsdecode(data), given)
    table_files.check_layout(given, (), "data that is not a path")
    if not is_spark_frame(data):
        raise InputError(
            "data",
            "must be a Spark DataFrame or the path of a file, for the engine spark",
            found=f"an object of type {type(data).__name__}",
        )
    spark_session.check_classic(data)
    spark_session.use_this_python(data.sparkSession)
    names = spark_session.column_names(data)
    with spark_session.said_plainly("take the dataframe"):
        frame = data.toDF(*(plain(place) for place in range(len(names))))
    return SparkSource(spark_session.SUBJECT, names, frame)


def _open_path(path: str, given: Layout) -> SparkSource:
    sources.check_no_url(path)
    is_uri = _URI.match(path) is not None
    subject = sources.subject_of(Path(PurePosixPath(path).name if is_uri else path))
    suffix = _suffix(path)
    is_csv = suffix in _CSV_SUFFIXES
    kind = f"a file {suffix}" if suffix else "a file without suffix"
    table_files.check_layout(given, ("delimiter", "header") if is_csv else (), kind)
    if given.delimiter is not None:
        sources.check_delimiter(given.delimiter)
    if (
        not is_csv
        and suffix not in table_files.PARQUET_SUFFIXES
        and not _may_be_folder(path, is_uri)
    ):
        raise InputError(
            subject,
            "must have a suffix that says its format, for the engine spark",
            found=f"the suffix {suffix}" if suffix else "no suffix",
            accepted=".csv, .tsv, .txt (each also with .gz), .parquet, .pq, a folder of Parquet",
        )
    if not is_uri and not Path(path).is_dir():
        sources.check_file(Path(path))
    session = spark_session.own_session(spark_session.session_to_the_end())
    # Columns `Age` and `age` of a file are two, as on one machine.
    session.conf.set("spark.sql.caseSensitive", "true")
    # Times without a zone must not move with that of the machine.
    session.conf.set("spark.sql.session.timeZone", "UTC")
    place = _absolute(path) if not is_uri else path
    if is_csv:
        return _open_csv(session, place, None if is_uri else Path(path), subject, given)
    with spark_session.said_plainly("open the file", {_NOT_FOUND: _unreadable(subject)}):
        read = session.read.parquet(place)
        names = sources.check_names(read.columns, subject)
        return SparkSource(subject, names, read.toDF(*map(plain, range(len(names)))))


def _may_be_folder(path: str, is_uri: bool) -> bool:
    return (is_uri and not _suffix(path)) or (not is_uri and Path(path).is_dir())


def _suffix(path: str) -> str:
    name = PurePosixPath(path)
    suffix = name.suffix.lower()
    return PurePosixPath(name.stem).suffix.lower() + suffix if suffix == ".gz" else suffix


def _absolute(path: str) -> str:
    """A path of this machine as Spark takes it, which sees patterns in some characters."""
    if re.search(r"[*?\[\]{}\\]", path):
        raise InputError(
            sources.subject_of(Path(path)),
            "must have a path without the characters * ? [ ] { } \\, for the engine spark",
            found="such a character",
        )
    # Without a scheme Spark would look on the cluster's own file system.
    return f"file://{Path(path).resolve()}"


def _unreadable(subject: str) -> InputError:
    return unreadable_file(subject, FileNotFoundError())


def _open_csv(
    session: SparkSession, place: str, local: Path | None, subject: str, given: Layout
) -> SparkSource:
    with spark_session.said_plainly("open the file", {_NOT_FOUND: _unreadable(subject)}):
        if local is not None and local.is_file():
            with table_files.open_text(local, subject, encoding="utf-8") as text:
                head = text.read(table_files.HEAD_BYTES)
        else:
            head = _first_lines(session, place)
        delimiter = _delimiter(head, given, subject)
        records = file_layout.first_records(head.decode("utf-8", errors="ignore"), delimiter)
        header = _header(head, delimiter, subject)
        if given.header is None and records:
            # The last of the first records may be cut off.
            file_layout.check_header(header, records[1:-1] or records[1:], subject)
        names = sources.check_names(sources.with_every_name(header), subject)
        reader = session.read.options(
            header=True,
            sep=delimiter,
            quote='"',
            escape='"',
            mode="PERMISSIVE",
            columnNameOfCorruptRecord=_TEXT,
            # With pruning Spark does not parse columns that
            # are not asked for, and misses broken records.
            columnPruning=False,
        )
        if _check_lines(session, place, subject, columns=len(names)):
            reader = reader.options(multiLine=True, lineSep=_line_end(head))
        texts = [*names, _TEXT]  # of other names than the header's, Spark would log the header
        read = reader.schema(_of_texts(texts)).csv(place)
        own = [plain(index) for index in range(len(names))]
        frame = read.toDF(*own, _TEXT)
        frame = frame.select(*own, frame[_TEXT].isNotNull().alias(BROKEN))
    return SparkSource(subject, names, frame, len(names))


def _delimiter(head: bytes, given: Layout, subject: str) -> str:
    """The separator of a file whose first line is that of the table."""
    beginning = file_layout.beginning_of(head, given.delimiter)
    if beginning.lines:
        raise InputError(
            subject,
            "must begin with its header on Spark",
            found="other lines before the table",
            advice="leave them out, take --engine embedded, or write the file again as Parquet",
        )
    return beginning.delimiter


def _first_lines(session: SparkSession, place: str) -> bytes:
    """The first lines of a file, or of one file of a folder."""
    lines = session.read.text(place).limit(file_layout.RECORDS + 1).toArrow().column(0).to_pylist()
    return "\n".join([*lines, ""]).removeprefix("\ufeff").lstrip("\r\n").encode()


def _of_texts(names: Sequence[str]) -> StructType:
    types: Any = needed("pyspark.sql.types", extra="spark", by="engine spark")
    fields = [types.StructField(name, types.StringType()) for name in names]
    schema: StructType = types.StructType(fields)
    return schema


def _line_end(head: bytes) -> str:
    """What ends the first line; Spark would take the first line break within quotes for it."""
    # Every second part lies outside of quotes.
    outside = b"".join(head.split(b'"')[::2])
    place = min((at for at in (outside.find(b"\r"), outside.find(b"\n")) if at >= 0), default=0)
    end = outside[place : place + 2]
    return "\r\n" if end == b"\r\n" else end[:1].decode() or "\n"


def _header(head: bytes, delimiter: str, subject: str) -> list[str]:
    text = io.StringIO(head.decode("utf-8", errors="ignore"), newline="")
    try:
        return next(record for record in csv.reader(text, delimiter=delimiter) if record)
    except (StopIteration, csv.Error):
        raise InputError(
            subject,
            "must have a header and records",
            found="neither, or an open quote in the header",
        ) from None


def _check_lines(session: SparkSession, place: str, subject: str, *, columns: int) -> bool:
    """Look at all lines once; whether Spark must not take each for a record of its own.

    It must not if a quoted cell runs over several, and it would leave out lines of spaces or of
    tabs alone, which in a file with tabs between the cells are records.
    """
    counts = _counted_lines(session, place)
    if counts["headers"] > 1:
        raise InputError(
            subject,
            "must have the same header in all its files",
            found=f"{counts['headers']:,} different first lines",
            advice="put the columns of all files in one order, and the header first in each",
        )
    if counts["strange"]:
        raise InputError(
            subject,
            "must be text in UTF-8",
            found=f"other bytes in {counted(counts['strange'], 'line')}",
            advice="save it as CSV in UTF-8, or give it the suffix of its format",
        )
    if counts["odd"]:
        raise InputError(
            subject,
            "must close every quote that it opens",
            found="an odd number of quotes",
            advice="close the quote, or double it where it is part of the text",
        )
    if columns == 1 and counts["empty"]:
        raise InputError(
            subject,
            "must have no empty line, as a file of one column on the engine spark",
            found=f"{counted(counts['empty'], 'empty line')}",
            advice="write a missing value as \"\" or as a text that the schema names in 'missing'",
        )
    return bool(counts["open"] or counts["blank"])


def _counted_lines(session: SparkSession, place: str) -> Any:
    """Sums over all files: what their lines hold, and how many first lines they have."""
    functions: Any = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    line = functions.col("value")
    quotes = functions.length(line) - functions.length(
        functions.replace(line, functions.lit('"'), functions.lit(""))
    )
    # Text has no zero bytes: they are of UTF-16, or of a file that is no text.
    zero = functions.instr(line, "\0") > 0
    strange = zero | ~functions.is_valid_utf8(line)
    of_file = (
        session.read.text(place)
        .select(
            "value",
            functions.col("_metadata.file_path").alias("file"),
            functions.struct(
                "_metadata.file_block_start", functions.monotonically_increasing_id()
            ).alias("at"),
        )
        .groupBy("file")
        .agg(
            (functions.sum(quotes) % 2).alias("odd"),
            functions.sum((quotes % 2).cast("long")).alias("open"),
            functions.count_if(strange).alias("strange"),
            functions.count_if(functions.length(line) == 0).alias("empty"),
            functions.count_if(line.rlike(_BLANK)).alias("blank"),
            functions.min_by(
                line,
                # The first line that is not empty, by its place: rows of a group come in any order.
                functions.when(functions.length(functions.trim(line)) > 0, functions.col("at")),
            ).alias("first"),
        )
    )
    names = ("odd", "open", "strange", "empty", "blank")
    return of_file.agg(
        *(functions.sum(name).alias(name) for name in names),
        functions.count_distinct("first").alias("headers"),
    ).head()


def person_candidates_on_spark(
    source: SparkSource, among: Iterable[str]
) -> list[person_candidates.PersonCandidate]:
    """As `person_candidates`, from records on a cluster: two jobs for each likely column."""
    functions: Any = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    found = []
    for name in among:
        column = functions.col(plain(source.names.index(name)))
        counted = source.frame.agg(functions.count(column), functions.count_distinct(column))
        records, values = counted.collect()[0]
        # By a hash of the value, so that whole groups of
        # equal values come and not single records of many.
        parts = -(-records // person_candidates.LOOKED_AT)
        # Values that differ in every record number the records,
        # few values are categories: neither are persons.
        if not values < records <= person_candidates.MOST_RECORDS * values:
            continue
        chosen = functions.pmod(functions.xxhash64(column), functions.lit(parts)) == 0
        looked_at = source.frame.where(chosen & column.isNotNull()).toArrow()
        renamed = looked_at.select([plain(place) for place in range(len(source.names))])
        candidates = person_candidates.person_candidates(
            renamed.rename_columns(list(source.names)), [name]
        )
        found += [replace(candidate, values=values, records=records) for candidate in candidates]
    return person_candidates.likeliest_first(found)


def records_of_some(source: SparkSource, person: str | None, most: int) -> pa.Table:
    """About so many records of persons chosen by a hash, or single ones, as a table here.

    It takes two jobs.
    """
    functions: Any = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    columns = [plain(place) for place in range(len(source.names))]
    chosen_by = columns if person is None else [plain(source.names.index(person))]
    parts = -(-source.frame.count() // most)
    digest = functions.xxhash64(*(functions.col(each) for each in chosen_by))
    some = source.frame.where(functions.pmod(digest, functions.lit(parts)) == 0)
    return some.select(columns).toArrow().rename_columns(list(source.names))
