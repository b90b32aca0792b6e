"""What the values of a column look like, without keeping any of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.table.encoding.arrow_types import is_moment, is_number, is_text
from sfumato.table.guessing.words import MISSING_TEXTS, scale_of

Look = Literal["numbers", "dates", "text", "yes/no", "bytes"]

_NUMBER = r"^\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*$"
_DATE = r"^\s*\d{4}-\d{2}-\d{2}([T ].*)?\s*$"
_TYPING = 0.999
FREE_TEXT_LENGTH = 40
FREE_TEXT_SPACES = 4
SCALE_SIZE = 30


@dataclass(frozen=True)
class Profile:
    """Counts over the first records of one column.

    Attributes
    ----------
    look
        What the values are.
    records, filled, distinct
        Records looked at, those with a value, and different values.
    whole
        Whether all numbers are whole.
    free_text
        Whether the values are sentences rather than names of categories.
    order
        The categories in their order, where they are words of a known scale.
    missing_texts
        Texts that seem to mean a missing value.
    """

    look: Look
    records: int
    filled: int
    distinct: int
    whole: bool = False
    free_text: bool = False
    order: tuple[str, ...] | None = None
    missing_texts: tuple[str, ...] = ()

    @property
    def unique(self) -> bool:
        """Whether every value is there once only."""
        return self.filled > 1 and self.distinct == self.filled

    @property
    def repeats(self) -> float:
        """Records per different value."""
        return self.filled / self.distinct if self.distinct else 0.0

    @property
    def distinct_share(self) -> float:
        """Different values per record with a value."""
        return self.distinct / self.filled if self.filled else 0.0


def profile_column(column: pa.ChunkedArray) -> Profile:
    """Look at the values of a column.

    Parameters
    ----------
    column
        The values of the records looked at.
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    missing_texts: tuple[str, ...] = ()
    if is_text(kind):
        column = column.cast(pa.large_string())
        column, missing_texts = _without_missing(column)
    filled = len(column) - column.null_count
    values = pc.drop_null(pc.unique(column))
    if is_text(kind):
        return _profile_text(values, len(column), filled, missing_texts)
    look: Look = "bytes"
    if is_number(kind):
        look = "numbers"
    elif is_moment(kind):
        look = "dates"
    elif pa.types.is_boolean(kind):
        look = "yes/no"
    elif pa.types.is_time(kind):
        look = "text"
    whole = pa.types.is_integer(kind) or (pa.types.is_floating(kind) and _all_whole(values))
    return Profile(look, len(column), filled, len(values), whole=whole)


def _without_missing(column: pa.ChunkedArray) -> tuple[pa.ChunkedArray, tuple[str, ...]]:
    """The texts without spaces around them; those that mean missing as null, and which."""
    column = pc.utf8_trim_whitespace(column)
    known = pa.array([*MISSING_TEXTS, ""], column.type)
    marks = pc.is_in(column, value_set=known)
    found = set(pc.unique(column.filter(marks)).to_pylist())
    empty = pa.scalar(None, column.type)
    return pc.if_else(marks, empty, column), tuple(t for t in MISSING_TEXTS if t in found)


def _all_whole(values: pa.Array) -> bool:
    return bool(pc.all(pc.equal(pc.floor(values), values)).as_py())


def _profile_text(
    values: pa.Array, records: int, filled: int, missing_texts: tuple[str, ...]
) -> Profile:
    distinct = len(values)
    if distinct and _share(values, _NUMBER) > _TYPING:
        whole = _share(values, r"^\s*[+-]?\d+\s*$") == 1.0
        return Profile("numbers", records, filled, distinct, whole, missing_texts=missing_texts)
    if distinct and _share(values, _DATE) > _TYPING:
        return Profile("dates", records, filled, distinct, missing_texts=missing_texts)
    return Profile(
        "text",
        records,
        filled,
        distinct,
        free_text=distinct > 1 and _is_free_text(values),
        order=scale_of(values.to_pylist()) if 1 < distinct <= SCALE_SIZE else None,
        missing_texts=missing_texts,
    )


def _share(values: pa.Array, pattern: str) -> float:
    return float(pc.mean(pc.match_substring_regex(values, pattern)).as_py())


def _is_free_text(values: pa.Array) -> bool:
    length = pc.mean(pc.utf8_length(values)).as_py()
    spaces = pc.mean(pc.count_substring(values, " ")).as_py()
    return bool(length >= FREE_TEXT_LENGTH and spaces >= FREE_TEXT_SPACES)
