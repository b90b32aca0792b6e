"""Types of columns that come from several sources, or from text."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.errors import InputError
from sfumato.linkage.spec.kinds import ColumnKind

_WHOLE = r"^-?(0|[1-9]\d{0,17})$"
_DECIMAL = r"^-?(0|[1-9]\d{0,14})(\.\d+)?$"
_DAY = r"^\d{4}-(0[1-9]|1[0-2])-([0-2]\d|3[01])$"


def as_found(text: pa.ChunkedArray, kind: ColumnKind) -> pa.ChunkedArray:
    """Numbers and days that a linkage has as text, as such again where all of them are.

    Parameters
    ----------
    text
        The column.
    kind
        What it holds.
    """
    patterns = {
        ColumnKind.NUMBER: ((_WHOLE, pa.int64()), (_DECIMAL, pa.float64())),
        ColumnKind.DATE: ((_DAY, pa.date32()),),
    }
    for pattern, kind_of_value in patterns.get(kind, ()):
        if pc.all(pc.match_substring_regex(text, pattern), min_count=0).as_py():
            try:
                return text.cast(kind_of_value)
            except pa.ArrowException:
                return text
    return text


def in_one_type(parts: Sequence[pa.ChunkedArray], name: str) -> pa.ChunkedArray:
    """Columns under each other: numbers as the wider type, what else differs as text.

    Parameters
    ----------
    parts
        The columns.
    name
        Their name.

    Raises
    ------
    InputError
        If they cannot be put under each other.
    """
    kind = _common(list(dict.fromkeys(part.type for part in parts if part.type != pa.null())))
    try:
        return pa.chunked_array([chunk for part in parts for chunk in part.cast(kind).chunks], kind)
    except pa.ArrowException:
        raise InputError(
            f"column '{name}'",
            "must hold what can stand in one column",
            found="kinds of values that cannot",
            advice="rename it in one of the sources",
        ) from None


def _common(kinds: list[pa.DataType]) -> pa.DataType:
    if not kinds:
        return pa.string()
    if len(kinds) == 1:
        return kinds[0]
    if all(pa.types.is_integer(kind) for kind in kinds):
        return pa.int64()
    if all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in kinds):
        return pa.float64()
    return pa.large_string()
