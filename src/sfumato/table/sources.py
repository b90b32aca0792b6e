"""Sources: what streams its columns as Arrow, and how Arrow's types and arrays are read."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Bools, Bytes, Codes, Floats, Integers, Ints
from sfumato.core.declaration import DATABASES
from sfumato.core.errors import InputError, unreadable_file
from sfumato.schema.recipe import StepCount

BATCH_ROWS = 1 << 17
"""Records of one batch, where the input leaves the choice."""
ACCEPTED = "text, whole or decimal numbers, true/false, dates, times of day, date-times"
"""What a column may hold, in an error."""
PRINTABLE = np.frombuffer(b"!~", dtype=np.uint8)
"""The first and the last letter of ASCII that one sees."""


def is_text(kind: pa.DataType) -> bool:
    """Whether the type is one of Arrow's texts."""
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def is_bytes(kind: pa.DataType) -> bool:
    """Whether the type is one of Arrow's bytes."""
    return bool(
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
        or pa.types.is_binary_view(kind)
    )


def is_moment(kind: pa.DataType) -> bool:
    """Whether the type is one of Arrow's dates or timestamps."""
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def is_number(kind: pa.DataType) -> bool:
    """Whether the type is one of Arrow's integers, floats or decimals."""
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


# Arrow imports pandas, where it is installed, at its first conversion from or to Python's or
# NumPy's values. The functions that follow read and make its buffers, which saves that time.


def as_numpy(values: pa.Array) -> npt.NDArray[Any]:
    """An array without nulls as NumPy; numbers are not copied."""
    kind = values.type
    if pa.types.is_boolean(kind):
        # An array may begin within a byte, so that all bits up to its end are unpacked.
        bits = np.frombuffer(values.buffers()[1], dtype=np.uint8)
        end = values.offset + len(values)
        return np.unpackbits(bits, count=end, bitorder="little")[values.offset :].view(np.bool_)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        numbers = np.frombuffer(values.buffers()[1], dtype=kind.to_pandas_dtype())
        return numbers[values.offset : values.offset + len(values)]
    array: npt.NDArray[Any] = values.to_numpy(zero_copy_only=False)
    return array


def from_numpy(values: npt.NDArray[Any], missing: Bools | None = None) -> pa.Array:
    """Booleans, integers or floats as an array, null where missing; numbers are not copied."""
    if values.dtype == np.bool_:
        kind, data = pa.bool_(), np.packbits(values, bitorder="little")
    else:
        kind, data = pa.from_numpy_dtype(values.dtype), np.ascontiguousarray(values)
    known = None if missing is None else pa.py_buffer(np.packbits(~missing, bitorder="little"))
    return pa.Array.from_buffers(kind, len(values), [known, pa.py_buffer(data)])


def from_texts(texts: Iterable[str]) -> pa.Array:
    """Texts as an array of large strings."""
    encoded = [text.encode() for text in texts]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.large_string(), len(encoded), buffers)


def texts_of(values: pa.Array) -> tuple[Integers, Bytes]:
    """Where each text, or string of bytes, starts, where the last one ends, and the bytes.

    Null ones mean nothing. Views are no such texts: cast them first.
    """
    _, ends, letters = values.buffers()
    # An empty array may come without buffers.
    if ends is None:
        return np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.uint8)
    large = pa.types.is_large_string(values.type) or pa.types.is_large_binary(values.type)
    width = pa.int64() if large else pa.int32()
    offsets = np.frombuffer(ends, dtype=width.to_pandas_dtype())
    data = np.empty(0, np.uint8) if letters is None else np.frombuffer(letters, dtype=np.uint8)
    return offsets[values.offset :][: len(values) + 1], data


def are_equal(texts: pa.Array, text: str) -> pa.Array:
    """Which texts are that one."""
    return pc.equal(texts, from_texts([text])[0])


def as_integers(values: pa.Array) -> Ints:
    """An array of integers without nulls as 64-bit integers."""
    return as_numpy(values).astype(np.int64, copy=False)


def flags(mask: pa.Array) -> Bools:
    """A boolean array without nulls as NumPy."""
    return as_numpy(mask).astype(np.bool_, copy=False)


def check_utf8(values: pa.Array, name: str) -> None:
    """Refuse texts whose bytes are not UTF-8; Parquet and Arrow may hold such."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary
    if not is_text(values.type):
        return
    try:
        values.validate(full=True)
    except pa.ArrowInvalid:
        raise not_utf8(name) from None


def not_utf8(name: str) -> InputError:
    """The error for a column whose texts are other bytes."""
    return InputError(
        f"column '{name}'", "must hold text in UTF-8", found="other bytes in its texts"
    )


def one_zero(values: pa.Array) -> pa.Array:
    """The values, -0.0 as 0.0: they are equal, and Arrow looks them up by their bits."""
    if pa.types.is_float32(values.type) or pa.types.is_float64(values.type):
        kind = np.float32 if pa.types.is_float32(values.type) else np.float64
        zero = from_numpy(np.zeros(1, dtype=kind))[0]  # pa.scalar() would import pandas
        return pc.add(values, zero)
    return values


def trimmed(texts: pa.Array) -> pa.Array:
    """The texts without spaces around them; the same array where surely none has any."""
    return texts if _have_plain_ends(texts) else pc.utf8_trim_whitespace(texts)


def _have_plain_ends(texts: pa.Array) -> bool:
    """Whether every text starts and ends with a printable letter of ASCII, not a space."""
    if not len(texts) or texts.null_count:
        return False
    offsets, data = texts_of(texts)
    if (offsets[1:] == offsets[:-1]).any():
        return False
    return all(
        # Bytes have no sign: one below the first wraps round to a large one, and is none, too.
        bool((data.take(places) - PRINTABLE[0] <= PRINTABLE[1] - PRINTABLE[0]).all())
        for places in (offsets[:-1], offsets[1:] - 1)
    )


def matching(texts: pa.Array, pattern: str) -> Bools:
    """Which texts match a regular expression (RE2)."""
    return flags(pc.match_substring_regex(texts, pattern))


NAMES = ""
"""Stands among the columns of `Labels.quoted` for the name of somebody; no column is called so."""


@dataclass(frozen=True)
class Labels:
    """What a file of a statistics package says about its columns.

    Attributes
    ----------
    values
        What values mean, by the column and the value as it is stored.
    quoted
        By label the columns whose values stand in it; `NAMES` where people are named. ``None``
        where nobody has looked.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[Any, str]] = field(default_factory=dict, repr=False)
    quoted: Mapping[str, Collection[str]] | None = field(default=None, repr=False)


NO_LABELS = Labels()


@dataclass(frozen=True)
class Source:
    """Something that gives its columns batch by batch.

    Attributes
    ----------
    subject
        How errors call it: ``"file visits.csv"``, ``"dataframe"``.
    names
        Names of all columns: unique, non-empty text.
    batches
        Streams these columns only, in the order asked for; can be called again. Missing values
        are null (NaN included); a type stays the same over all batches.
    rows
        Number of records, when known without reading.
    text
        Whether every column is text and an empty cell is missing, as in CSV.
    column
        Streams one column as ``batches`` does, where the columns can be read side by side; its
        texts may come as dictionaries. ``None`` where they cannot.
    counted
        What a schema's recipe did to the columns that were read; ``None`` without a recipe.
    read_by
        The reader of another package, in words; empty where the reader is ours.
    """

    subject: str
    names: tuple[str, ...]
    batches: Callable[[Sequence[str]], Iterator[pa.RecordBatch]]
    rows: int | None
    text: bool
    column: Callable[[str], Iterator[pa.Array]] | None = None
    labels: Labels = NO_LABELS
    counted: Callable[[], tuple[StepCount, ...]] | None = None
    read_by: str = ""

    @classmethod
    def of_batches(
        cls,
        subject: str,
        names: tuple[str, ...],
        read: Callable[[Sequence[str]], Iterable[pa.RecordBatch]],
        rows: int | None = None,
        *,
        text: bool = False,
    ) -> Source:
        """A source whose reader is asked for columns that it has, and must give records."""

        def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
            check_known(columns, names, subject)
            return with_records(read(columns), subject)

        return cls(subject, names, batches, rows, text)


def positions(numbers: Sequence[int]) -> str:
    """Columns or rows by their 1-based numbers in words: ``"2 and 5"``; six at most."""
    shown = [str(number) for number in numbers[:6]]
    if len(numbers) > len(shown):
        return ", ".join(shown) + f" and {len(numbers) - len(shown)} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def listed(names: Iterable[str]) -> str:
    """Names of columns, in quotes."""
    return ", ".join(f"'{name}'" for name in names)


def with_every_name(names: Sequence[str]) -> tuple[str, ...]:
    """The names of a file, one that is empty by its place: pandas leaves the row's number unnamed.

    Where several are empty, the line is none of names.
    """
    if sum(not name.strip() for name in names) != 1 or len(names) < 2:
        return tuple(names)
    place = next(place for place, name in enumerate(names) if not name.strip())
    own = f"unnamed_{place + 1}"
    while own in names:
        own += "_"
    return (*names[:place], own, *names[place + 1 :])


def check_names(names: Sequence[object], subject: str) -> tuple[str, ...]:
    """The column names as text, if each can name one column.

    Names are told by position: those of a file without a header are data.
    """
    if not names:
        raise InputError(subject, "must have at least one column")
    other = [i for i, name in enumerate(names, 1) if not isinstance(name, str)]
    if other:
        raise InputError(
            subject,
            "must have column names that are text",
            found=f"another kind of name at column {positions(other)}",
            advice="rename these columns",
        )
    texts = tuple(str(name) for name in names)
    empty = [i for i, name in enumerate(texts, 1) if not name.strip()]
    if empty:
        raise InputError(
            subject,
            "must name every column in its header",
            found=f"no name at column {positions(empty)}",
            advice="name them; where the table begins further below, say how many lines stand "
            "before it (--skip-lines)",
        )
    counts = Counter(texts)
    twice = [i for i, name in enumerate(texts, 1) if counts[name] > 1]
    if twice:
        raise InputError(
            subject,
            "must have column names that differ",
            found=f"the same name more than once among columns {positions(twice)}",
            advice="rename them; if the file has no header, say so (--no-header, with --names)",
        )
    return texts


def check_known(columns: Sequence[str], names: Sequence[str], subject: str) -> None:
    """Refuse columns that the input does not have."""
    known = set(names)
    for column in columns:
        if column not in known:
            raise InputError(
                f"column '{column}'",
                f"must be a column of {subject}",
                found=f"no such name among its {len(names)} columns",
            )


class NoRecordsError(InputError):
    """A table has no record."""

    def __init__(self, subject: str, names: Iterable[str] = ()) -> None:
        super().__init__(subject, "must have at least one record", found="no records")
        self.names = frozenset(names)


def with_records(batches: Iterable[pa.RecordBatch], subject: str) -> Iterator[pa.RecordBatch]:
    """Hand on the batches that have records."""
    empty = True
    for batch in batches:
        if batch.num_rows:
            empty = False
            yield batch
    if empty:
        raise NoRecordsError(subject)


def plain_batch(batch: pa.RecordBatch, columns: Sequence[str]) -> pa.RecordBatch:
    """The columns asked for, in that order, in types that the door knows; NaN as null."""
    arrays = [plain_column(batch.column(name), name) for name in columns]
    schema = pa.schema([pa.field(n, a.type) for n, a in zip(columns, arrays, strict=True)])
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def plain_column(column: pa.Array, name: str) -> pa.Array:
    """One column in a type that the door knows, with NaN as null; NoSingleValuesError for lists.

    Dictionaries of text stay dictionaries, others are decoded; UUIDs become text. Nested records,
    durations and values of an extension type are no single values, either.
    """
    if pa.types.is_run_end_encoded(column.type):
        column = pc.run_end_decode(column)
    if pa.types.is_dictionary(column.type):
        if is_text(column.type.value_type):
            return column
        column = column.dictionary_decode()
    kind = column.type
    if any(test(kind) for test in _LEFT_ALONE):
        return column
    if pa.types.is_floating(kind):
        return _without_nan(column)
    if pa.types.is_null(kind):
        return pa.nulls(len(column), pa.string())
    if isinstance(kind, pa.UuidType):
        return pa.array([None if u is None else str(u) for u in column.to_pylist()], pa.string())
    raise NoSingleValuesError(name, _kind_found(kind))


class NoSingleValuesError(InputError):
    """A column holds lists and the like; says the way to do without it."""

    def __init__(self, column: str, found: str) -> None:
        super().__init__(
            f"column '{column}'",
            "must hold single values",
            found=found,
            accepted=ACCEPTED,
            advice="if it is not needed, name it under direct_identifiers of the schema: it is not "
            "read, and not released",
        )
        self.column = column


_LEFT_ALONE: tuple[Callable[[pa.DataType], bool], ...] = (
    is_text,
    is_bytes,
    is_moment,
    pa.types.is_boolean,
    pa.types.is_integer,
    pa.types.is_decimal,
    pa.types.is_time,
)


def _without_nan(column: pa.Array) -> pa.Array:
    if pa.types.is_float16(column.type):
        column = column.cast(pa.float32())
    nan = pc.is_nan(column)
    if not pc.any(nan).as_py():
        return column
    return pc.if_else(nan, pa.scalar(None, column.type), column)


def _kind_found(kind: pa.DataType) -> str:
    if pa.types.is_nested(kind):
        return "lists or nested records"
    return "durations" if pa.types.is_duration(kind) else "values of another type"


def subject_of(path: Path) -> str:
    """How errors call a file: by its name, without its folder."""
    return f"file {path.name or path}"


def check_no_url(path: str | os.PathLike[str]) -> None:
    """Refuse a database's URL in the place of a path; a message with its end could hold more."""
    # A `Path` has made one slash of two, so that only what stands before the first is compared.
    begins = os.fsdecode(path).partition("/")[0] + "//"
    if any(scheme.startswith(begins) for scheme in DATABASES):
        raise InputError(
            "the URL of a database",
            "must stand where one is taken",
            found="the place of a file's path",
            accepted="wherever a table is read, and as the output of a release by promises; in "
            "Python as text",
        )


def check_file(path: Path) -> None:
    """Refuse a path that is not a file with content."""
    subject = subject_of(path)
    try:
        if path.is_dir():
            raise InputError(subject, "must be one file", found="a folder")
        # A pipe gives its bytes once, and a file is read more than once.
        if path.exists() and not path.is_file():
            raise InputError(subject, "must be one file", found="a pipe or a device")
        with path.open("rb") as file:
            if not file.read(1):
                raise InputError(subject, "must have content", found="an empty file (0 bytes)")
    except (OSError, ValueError) as error:
        raise unreadable_file(subject, error) from None


def check_delimiter(delimiter: str) -> None:
    """Refuse what cannot stand between cells."""
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
        raise InputError(
            "parameter delimiter",
            "must be one ASCII character other than a quote or a line end",
            found=f"{len(delimiter)} characters" if len(delimiter) != 1 else "such a character",
            accepted="for example , ; | or a tab",
        )


def read_weights(source: Source, column: str) -> Floats:
    """Read the column that says how many persons of the population each record stands for."""
    check_weight_column(column, source.names, source.subject)
    batches = source.batches([column])
    parts = [weights_of(batch.column(0), column, source.subject) for batch in batches]
    return np.concatenate(parts) if parts else np.empty(0)


def read_clusters(source: Source, column: str) -> Codes:
    """Read the column that says in which cluster each record's person was drawn."""
    check_weight_column(column, source.names, source.subject)
    values = pa.chunked_array([batch.column(0) for batch in source.batches([column])])
    if values.null_count:
        raise InputError(
            f"column '{column}' of {source.subject}",
            "must say in which cluster each person was drawn",
            found=f"missing values: {values.null_count:,}",
            advice="give those people a cluster, or leave their records out",
        )
    codes = values.combine_chunks().dictionary_encode().indices
    return np.asarray(codes.to_numpy(zero_copy_only=False), dtype=np.int32)


def check_weight_column(column: str, names: Sequence[str], subject: str) -> None:
    """Refuse the name of a column of weights that is not there."""
    if column not in names:
        raise InputError(f"column '{column}' of {subject}", "must be there", found="no such column")


def weights_of(values: pa.Array, column: str, subject: str) -> Floats:
    """Sampling weights as numbers; shape (records,)."""
    if pa.types.is_boolean(values.type):
        raise no_weights(column, subject)
    try:
        numbers = pc.cast(values, pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise no_weights(column, subject) from None
    weights: Floats = numbers.to_numpy(zero_copy_only=False)
    if not (np.isfinite(weights) & (weights > 0)).all():
        raise no_weights(column, subject)
    return weights


def no_weights(column: str, subject: str) -> InputError:
    """The error for a column of weights that holds something else."""
    return InputError(
        f"column '{column}' of {subject}",
        "must hold the sampling weight of every record",
        found="something else in some of them",
        accepted="numbers above 0",
    )
