"""The released file on a cluster: put together, in what order, written whole or not at all."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sfumato.core.atomic import not_whole, take_place, write_text, written_at
from sfumato.core.declaration import is_uri
from sfumato.core.errors import InputError
from sfumato.core.optional_packages import needed, silenced, spark_errors
from sfumato.core.secret_keys import Secrets
from sfumato.engines.spark.spark_files import plain
from sfumato.engines.spark.spark_persons import SparkTable
from sfumato.engines.spark.spark_session import (
    OWN,
    PERSON,
    WithoutValues,
    column,
    cut_lineage,
    quasi_identifier,
    said_plainly,
)
from sfumato.release.assembly import ORDER_OF_ROWS, PERSONS, pseudonyms_of
from sfumato.release.generalisation import outermost_codes
from sfumato.table.door import carried_columns as handed_on
from sfumato.table.sources import NO_LABELS, Labels, from_numpy
from sfumato.table.table import MISSING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


def with_coded_ends_on_spark(table: SparkTable) -> SparkTable:
    """The table whose records have every value beyond a coded end set to that end.

    Only the codes of the records change, not the numbers of records with each; lazy.
    """
    f = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    clipped = {}
    for place, identifier in enumerate(table.quasi_identifiers):
        if identifier.ends is not None:
            low, high = map(f.lit, outermost_codes(identifier))
            code = f.col(quasi_identifier(place))
            inside = f.least(f.greatest(code, low), high)
            # A missing value has code -1, and would be set to the lower end.
            clipped[quasi_identifier(place)] = f.when(code == MISSING, code).otherwise(inside)
    return replace(table, frame=table.frame.withColumns(clipped)) if clipped else table


NUMBER, PSEUDONYM = f"{OWN}number", f"{OWN}pseudonym"
NUMBER_BYTES = 8


@dataclass(frozen=True)
class SparkKeys:
    """What pseudonyms and the order are made with on the executors; who has it can undo them."""

    persons: bytes = field(repr=False)
    order: bytes = field(repr=False)


def keys_of(table: SparkTable, identity: bytes, secrets: Secrets) -> SparkKeys:
    """The keys of a release, which follow from its secrets, its manifest and every record.

    So the same secret and file give the same records, in whatever partitions they were (their order
    is new where those are others).
    """
    own = secrets.own.bound(identity, _fingerprint(table))
    persons = own.bound(PERSONS.encode()) if secrets.key is None else secrets.key
    return SparkKeys(bytes(persons), bytes(own.bound(ORDER_OF_ROWS.encode())))


def _fingerprint(table: SparkTable) -> bytes:
    """A text that depends on every record of the file and not on their order."""
    f = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    frame, own = table.frame, table.schema.person is not None
    # Without a person column Spark numbers the records by their partitions, which are not the
    # file's.
    named = [column(name) for name in frame.columns if own or name != PERSON]
    sums = [
        # Sums, as they do not depend on the order; as decimals, because 64 bits would overflow.
        f.sum(f.xxhash64(f.lit(place), *named).cast("decimal(38,0)")).cast("string")
        for place in range(4)
    ]
    with said_plainly("read the encoded file"):
        (row,) = frame.agg(*sums).collect()
    return "\n".join(row).encode()


def with_secrets(frame: DataFrame, keys: SparkKeys, person: str | None) -> DataFrame:
    """Records with the pseudonym of their person and a secret number, the person left out.

    A pseudonym is that of the embedded engine with the same key: 120 bits of an HMAC-SHA-256 of
    the person's id, equal for no two persons but for a chance of 1 in 10**18 for a billion of
    them. The number is 64 bits of a keyed BLAKE2b of the place of the record.

    Parameters
    ----------
    frame
        The records with the ids of their persons, as in the file; its lineage cut.
    keys
        What `keys_of` gave.
    person
        The column of the ids; ``None`` where the records have no persons who are shown.
    """
    f = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    types = needed("pyspark.sql.types", extra="spark", by="engine spark")
    names = frame.columns
    own = frame.toDF(*map(plain, range(len(names))))  # whatever letters the names have
    placed = own.withColumn(NUMBER, f.monotonically_increasing_id())
    ids = None if person is None else plain(names.index(person))
    fields = [encoding for encoding in own.schema.fields if encoding.name != ids]
    fields.append(types.StructField(NUMBER, types.LongType()))
    made = [NUMBER]
    if ids is not None:
        fields.append(types.StructField(PSEUDONYM, types.StringType()))
        made.append(PSEUDONYM)
    replaced = WithoutValues(_Replaced(keys, ids))
    with said_plainly("replace the ids"):
        found = placed.mapInArrow(replaced, types.StructType(fields))
        return found.toDF(*(name for name in names if name != person), *made)


@dataclass(frozen=True)
class _Replaced:
    """Puts pseudonyms and numbers in the place of persons, batch by batch, on the executors."""

    keys: SparkKeys
    person: str | None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            names = [name for name in batch.schema.names if name not in (self.person, NUMBER)]
            columns = [batch.column(name) for name in names]
            columns.append(_numbers(batch.column(NUMBER), self.keys.order))
            names.append(NUMBER)
            if self.person is not None:
                columns.append(_pseudonyms(batch.column(self.person), self.keys.persons))
                names.append(PSEUDONYM)
            yield pa.RecordBatch.from_arrays(columns, names=names)


def _numbers(places: pa.Array, key: bytes) -> pa.Array:
    drawn = b"".join(
        hashlib.blake2b(place.to_bytes(8), digest_size=NUMBER_BYTES, key=key).digest()
        for place in places.to_pylist()
    )
    return from_numpy(np.frombuffer(drawn, dtype=np.int64))


def _pseudonyms(persons: pa.Array, key: bytes) -> pa.Array:
    # One HMAC for each person of a batch and not for each record.
    coded = persons.dictionary_encode()
    return pseudonyms_of(coded.dictionary, key).take(coded.indices)


WHOLE = r"^-?\d+$"
"""A whole number, as it is printed."""


@dataclass(frozen=True)
class CellColumn:
    """One released column of a quasi-identifier on the cluster."""

    name: str
    cells: str
    is_number: bool


def cell_columns(
    names: Sequence[Sequence[str]], numbers: Sequence[bool]
) -> tuple[tuple[CellColumn, ...], ...]:
    """The released columns of each quasi-identifier."""
    left = iter(numbers)
    return tuple(
        tuple(CellColumn(name, f"{OWN}c{place}_{end}", next(left)) for end, name in enumerate(each))
        for place, each in enumerate(names)
    )


def with_cells(
    table: SparkTable, classes: DataFrame, cells: Sequence[Sequence[CellColumn]]
) -> DataFrame:
    """The records with the cells of their persons, the lineage cut."""
    chosen = classes.select(PERSON, *(each.cells for cell in cells for each in cell))
    return cut_lineage(table.frame.join(chosen, PERSON))


def assembled(
    table: SparkTable, records: DataFrame, cells: Sequence[Sequence[CellColumn]], keys: SparkKeys
) -> DataFrame:
    """The released file, in the file's column order, its records in a secret order.

    It is computed, and its lineage cut.
    """
    schema = table.schema
    typed = _types(records, [each for cell in cells for each in cell])
    of = dict(zip(schema.quasi_identifiers, cells, strict=True))
    kept = handed_on(table.columns, schema)
    needed_here = [*(each.cells for cell in cells for each in cell), *kept]
    some = records.select(*(column(name) for name in needed_here))
    named = with_secrets(some, keys, schema.person)
    order = column(NUMBER)
    # A hash of secret numbers puts records into random partitions, so that no sort of the whole
    # file is needed.
    shuffled = named.repartition(order).sortWithinPartitions(order)
    columns: list[Column] = []
    for name in table.columns:
        if name in of:
            columns += [
                column(each.cells).cast(typed[each.cells]).alias(each.name) for each in of[name]
            ]
        elif name == schema.person:
            columns.append(column(PSEUDONYM).alias(name))
        elif name in kept:
            columns.append(column(name))
    return cut_lineage(shuffled.select(*columns))


def _types(records: DataFrame, cells: Sequence[CellColumn]) -> dict[str, str]:
    """The type of each column of cells: of numbers whole or not, of others text."""
    types = {cell.cells: "string" for cell in cells}
    numbers = [cell.cells for cell in cells if cell.is_number]
    if not numbers:
        return types
    f = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    whole = [f.min(f.col(name).rlike(WHOLE)) for name in numbers]
    with said_plainly("read the released cells"):
        (row,) = records.select(*whole).collect()
    for name, every in zip(numbers, row, strict=True):
        # Null, where all cells are empty, is no sign of a fraction.
        types[name] = "double" if every is False else "bigint"
    return types


SUFFIXES = (".csv", ".tsv", ".parquet")
CHUNK = 1 << 20
_OURS = re.compile(r"_SUCCESS|_(started|committed)_\d+|part-\d{5}.*|\..*\.crc")
"""What a folder holds that Spark wrote; Databricks marks what was started and committed."""
_TIME = "yyyy-MM-dd'T'HH:mm:ss[.SSSSSS]"
"""How a time is written to a CSV file: to the microsecond, as Spark holds it."""


def check_folder(path: str | os.PathLike[str]) -> None:
    """Refuse a path that no folder of files can be written to, before work starts."""
    name = Path(path).name
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(
            f"output {name}",
            "must have a suffix that says its format",
            found=f"the suffix {suffix}" if suffix else "no suffix",
            accepted=", ".join(SUFFIXES),
        )
    if is_uri(path):
        return
    target = Path(path)
    if target.exists() and not (target.is_dir() and _all_ours(target)):
        raise InputError(
            f"output {name}",
            "must be a new folder, or one that Spark wrote",
            found="other files of that name",
            advice="choose another name",
        )
    if not target.parent.is_dir() or not os.access(target.parent, os.W_OK | os.X_OK):
        raise InputError(
            f"output {name}",
            "must be in a folder that exists and can be written",
            advice="create the folder, or choose another one",
        )


def _all_ours(folder: Path) -> bool:
    return all(_OURS.fullmatch(path.name) for path in folder.iterdir())


def write_frame(frame: DataFrame, path: str | os.PathLike[str]) -> str:
    """Write a DataFrame by the suffix of the path, a file per partition, whole or not at all.

    The files are written beside the path and take their place together, by a rename: of this
    machine for a path, else of Hadoop's file systems (an object store copies them instead).

    Parameters
    ----------
    path
        A folder with the suffix ``.csv``, ``.tsv`` or ``.parquet``, or its URI.

    Returns
    -------
    str
        On this machine the SHA-256 of the files, one behind the other in the order of their
        names; elsewhere nothing, as that would read them all again.

    Raises
    ------
    SfumatoError
        If Spark fails.
    """
    check_folder(path)
    session, suffix = frame.sparkSession, Path(path).suffix.lower()
    if not is_uri(path):
        _check_here(session, path)
        with _folder(Path(path)) as making, said_plainly("write the release"):
            _written(frame, making.as_uri(), suffix)
        return folder_sha256(written_at(Path(path).resolve()))
    with (
        _on_hadoop(session, os.fspath(path), folder=True) as making_there,
        said_plainly("write the release"),
    ):
        _written(frame, making_there, suffix)
    return ""


def _check_here(session: SparkSession, path: str | os.PathLike[str]) -> None:
    """Refuse a path of this machine where executors run on others."""
    if not str(session.sparkContext.master).startswith("local"):
        raise InputError(
            f"output {Path(path).name}",
            "must be a URI, which says where all executors write",
            found="a path of this machine",
            advice="name the storage, for example hdfs://, s3a:// or abfss://, or file:// for a "
            "folder that all machines share",
        )


def _written(frame: DataFrame, to: str, suffix: str) -> None:
    if suffix == ".parquet":
        frame.write.parquet(to)
        return
    nothing = "" if len(frame.columns) > 1 else '""'  # a line without a letter is left out
    frame.write.option("timestampNTZFormat", _TIME).csv(
        to,
        sep="\t" if suffix == ".tsv" else ",",
        header=True,
        # Quotes are doubled as in RFC 4180. Spark's own way, a backslash, is read wrongly by
        # others.
        escape='"',
        nullValue=nothing,
        emptyValue=nothing,
        timestampFormat=f"{_TIME}[XXX]",
        # Spark trims cells unless it is told not to, which would change values.
        ignoreLeadingWhiteSpace=False,
        ignoreTrailingWhiteSpace=False,
    )


def write_beside(session: SparkSession, path: str | os.PathLike[str], name: str, text: str) -> None:
    """Write a text to the folder around a path, whole or not at all, readable by its owner only.

    An object store has no such permissions: there the rules of its bucket hold.
    """
    if not is_uri(path):
        write_text(Path(path).with_name(name), text)
        return
    target = f"{os.fspath(path).rstrip('/').rpartition('/')[0]}/{name}"
    with (
        _on_hadoop(session, target, folder=False) as making,
        said_plainly("write the manifest"),
    ):
        system, place = _hadoop(session, making)
        stream = system.create(place, True)
        system.setPermission(place, _owner_only(session))
        stream.write(bytearray(text.encode("utf-8")))
        stream.close()


def folder_sha256(path: str | os.PathLike[str]) -> str:
    """Hash of the files that Spark wrote to a folder, one behind the other by their names."""
    digest = hashlib.sha256()
    for part in sorted(Path(path).glob("part-*")):
        with part.open("rb") as stream:
            while chunk := stream.read(CHUNK):
                digest.update(chunk)
    return digest.hexdigest()


@contextmanager
def _folder(path: Path) -> Iterator[Path]:
    """A path in a private folder that takes the place of a path when the block succeeds.

    What was written can be entered by its owner only, while it is written and after.
    """
    whole = path.resolve()
    mark = f".{whole.name}.{secrets.token_hex(4)}"
    private, part = whole.with_name(f"{mark}.private"), whole.with_name(f"{mark}.part")
    making = private / whole.name
    try:
        # Spark gives its files permissions of its own. A folder that others cannot enter hides
        # them.
        private.mkdir(mode=0o700)
        yield making
        making.chmod(0o700)
        making.rename(part)
        take_place(part, whole)
    except OSError as error:
        raise not_whole(path, error) from None
    finally:
        shutil.rmtree(private, ignore_errors=True)
        if written_at(whole) != part:
            shutil.rmtree(part, ignore_errors=True)


@contextmanager
def _on_hadoop(session: SparkSession, target: str, *, folder: bool) -> Iterator[str]:
    """A path beside a target that takes its place when the block succeeds, else is removed."""
    around, _, name = target.rstrip("/").rpartition("/")
    mark = f"{around}/.{name}.{secrets.token_hex(4)}"
    making, old = f"{mark}.part", mark
    with said_plainly("reach the place of the release"):
        system, whole = _hadoop(session, target)
        replaced = _replaceable(system, whole, name, folder=folder)
    try:
        yield making
        with said_plainly("put the release into its place"):
            if replaced:
                # Hadoop renames over no folder. The old one steps aside, and comes back if this
                # fails.
                system.rename(whole, _hadoop(session, old)[1])
            if not system.rename(_hadoop(session, making)[1], whole):
                raise InputError(f"output {name}", "must be written whole", found="no rename")
    finally:
        # A failure to clean up must not hide the error that led here.
        with suppress(*spark_errors()), silenced():
            before, new = _hadoop(session, old)[1], _hadoop(session, making)[1]
            if replaced and system.exists(before) and not system.exists(whole):
                system.rename(before, whole)
            system.delete(new, True)
            system.delete(before, True)


def _replaceable(system: Any, whole: Any, name: str, *, folder: bool) -> bool:
    """Whether there is something to replace."""
    if not system.exists(whole):
        return False
    is_folder = system.getFileStatus(whole).isDirectory()
    found = [status.getPath().getName() for status in system.listStatus(whole)] if is_folder else []
    if is_folder != folder or not all(_OURS.fullmatch(each) for each in found):
        raise InputError(
            f"output {name}",
            "must be a new folder, or one that Spark wrote" if folder else "must be a file",
            found="other files of that name" if folder else "a folder of that name",
            advice="choose another name",
        )
    return True


def _hadoop(session: SparkSession, path: str) -> tuple[Any, Any]:
    """The file system of a path, and the path as it takes it."""
    context: Any = session.sparkContext
    place = context._jvm.org.apache.hadoop.fs.Path(path)  # noqa: SLF001
    return place.getFileSystem(context._jsc.hadoopConfiguration()), place  # noqa: SLF001


def _owner_only(session: SparkSession) -> Any:
    """The permission to read and write for the owner of a file alone."""
    context: Any = session.sparkContext
    return context._jvm.org.apache.hadoop.fs.permission.FsPermission("600")  # noqa: SLF001


COUNT = "count"


@dataclass(frozen=True, eq=False)
class ReleasedFrame:
    """A released file as a DataFrame of Spark, beside its original; ``None`` for a path."""

    frame: DataFrame = field(repr=False)
    original: Any = field(default=None, repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its columns, in their order."""
        return tuple(self.frame.columns)

    @property
    def types(self) -> Mapping[str, pa.DataType | None]:
        """Its columns in their order."""
        types = needed("pyspark.sql.pandas.types", extra="spark", by="engine spark")
        return {each.name: each.type for each in types.to_arrow_schema(self.frame.schema)}

    @property
    def shown_labels(self) -> Labels:
        """None: files that Spark reads have no labels."""
        return NO_LABELS

    @property
    def data(self) -> DataFrame:
        """It as a DataFrame of Spark, whatever it was made from."""
        return self.frame

    def arrow(self) -> pa.Table:
        """Nothing: the records stay where they are."""
        raise InputError(
            "a release on Spark",
            "has no table in this process",
            found="one on the cluster",
            advice="take release.data, a DataFrame of Spark, or anonymize with engine='embedded'",
        )

    def records_per_person(self, person: str) -> Mapping[int, int]:
        """How many persons have each number of records."""
        functions = needed("pyspark.sql.functions", extra="spark", by="engine spark")
        with said_plainly("count the records of people"):
            counted = self.frame.select(column(person).alias("person")).groupBy("person").count()
            sizes = counted.groupBy(COUNT).agg(functions.count(functions.lit(1)).alias("persons"))
            found = sizes.orderBy(COUNT).collect()
        return {row[0]: row[1] for row in found}

    def write(self, path: str | os.PathLike[str]) -> str:
        """Write it as a folder, whole or not at all; see `write_frame`.

        The path, or URI, has the suffix ``.csv``, ``.tsv`` or ``.parquet``.
        """
        return write_frame(self.frame, path)

    def digests(self, path: str | os.PathLike[str]) -> Mapping[str, str]:
        """It is one table."""
        return {}

    def write_beside(self, path: str | os.PathLike[str], name: str, text: str) -> None:
        """Write a text to the folder around ``path``, whole or not at all."""
        write_beside(self.frame.sparkSession, path, name, text)
