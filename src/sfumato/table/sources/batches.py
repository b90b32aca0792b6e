"""Columns given batch by batch, and what every kind of input has to keep to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.errors import InputError
from sfumato.table.encoding.arrow_types import is_bytes, is_moment, is_text

BATCH_ROWS = 1 << 17
"""Records of one batch, where the input leaves the choice."""

ACCEPTED = "text, whole or decimal numbers, true/false, dates, times of day, date-times"


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
    """

    subject: str
    names: tuple[str, ...]
    batches: Callable[[Sequence[str]], Iterator[pa.RecordBatch]]
    rows: int | None
    text: bool
    column: Callable[[str], Iterator[pa.Array]] | None = None


def positions(numbers: Sequence[int]) -> str:
    """Columns or rows by their 1-based numbers in words: ``"2 and 5"``; six at most."""
    shown = [str(number) for number in numbers[:6]]
    if len(numbers) > len(shown):
        return ", ".join(shown) + f" and {len(numbers) - len(shown)} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def check_names(names: Sequence[object], subject: str) -> tuple[str, ...]:
    """The column names as text, if each can name one column.

    Names are told by position: those of a file without a header are data.

    Parameters
    ----------
    names
        Names as found.
    subject
        How errors call the input.

    Raises
    ------
    InputError
        If there is no column, or a name is not text, empty, or there twice.
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
        )
    counts = Counter(texts)
    twice = [i for i, name in enumerate(texts, 1) if counts[name] > 1]
    if twice:
        raise InputError(
            subject,
            "must have column names that differ",
            found=f"the same name more than once among columns {positions(twice)}",
            advice="rename them, or add the header if the file has none",
        )
    return texts


def check_known(columns: Sequence[str], names: Sequence[str], subject: str) -> None:
    """Refuse columns that the input does not have.

    Raises
    ------
    InputError
        If one of ``columns`` is not in ``names``.
    """
    known = set(names)
    for column in columns:
        if column not in known:
            raise InputError(
                f"column '{column}'",
                f"must be a column of {subject}",
                found=f"no such name among its {len(names)} columns",
            )


def no_records(subject: str) -> InputError:
    """The error for an input without a record."""
    return InputError(subject, "must have at least one record", found="no records")


def with_records(batches: Iterable[pa.RecordBatch], subject: str) -> Iterator[pa.RecordBatch]:
    """Hand on the batches that have records.

    Raises
    ------
    InputError
        If none has.
    """
    empty = True
    for batch in batches:
        if batch.num_rows:
            empty = False
            yield batch
    if empty:
        raise no_records(subject)


def plain_batch(batch: pa.RecordBatch, columns: Sequence[str]) -> pa.RecordBatch:
    """The columns asked for, in that order, in types that the door knows; NaN as null.

    Parameters
    ----------
    batch
        A batch that has at least these columns.
    columns
        Names of the columns.

    Raises
    ------
    InputError
        If a column holds lists, nested records, durations or values of an extension type.
    """
    arrays = [plain_column(batch.column(name), name) for name in columns]
    schema = pa.schema([pa.field(n, a.type) for n, a in zip(columns, arrays, strict=True)])
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def plain_column(column: pa.Array, name: str) -> pa.Array:
    """One column in a type that the door knows, with NaN as null.

    Dictionaries of text stay dictionaries, others are decoded; UUIDs become text.

    Raises
    ------
    InputError
        If the column holds lists, nested records, durations or values of an extension type.
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
    raise InputError(
        f"column '{name}'", "must hold single values", found=_said(kind), accepted=ACCEPTED
    )


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


def _said(kind: pa.DataType) -> str:
    if pa.types.is_nested(kind):
        return "lists or nested records"
    return "durations" if pa.types.is_duration(kind) else "values of another type"
