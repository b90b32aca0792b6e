"""Values of identifying columns as text, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.errors import InputError
from sfumato.table.sources import check_utf8, is_bytes

_GARBLED = (
    "[ÃÂÄÅ][\u0080-\u00bf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192\u02c6\u02dc"
    "\u2013-\u203a\u20ac\u2122]|â€|ï»¿|ï¿½|\ufffd"
)
"""Text in UTF-8 that was read as Latin-1 or Windows-1252, and what stands for lost letters."""


def as_text(values: pa.Array, column: str) -> pa.Array:
    """Values as text, missing where nothing but spaces is left.

    Dates come in ISO form, whole numbers without a decimal part.

    Parameters
    ----------
    values
        Values of any type that the door gives.
    column
        How errors call the column.

    Raises
    ------
    InputError
        If they are bytes, or texts and not UTF-8.
    """
    if is_bytes(values.type):
        raise InputError(f"column '{column}'", "must hold text to be compared", found="bytes")
    check_utf8(values, column)
    if pa.types.is_timestamp(values.type):
        values = values.cast(pa.timestamp("us")).cast(pa.date32(), safe=False)
    if pa.types.is_floating(values.type) and pc.all(pc.equal(pc.floor(values), values)).as_py():
        values = values.cast(pa.int64(), safe=False)
    text = pc.utf8_trim_whitespace(values.cast(pa.large_string()))
    return pc.if_else(pc.equal(text, ""), pa.scalar(None, text.type), text)


def without(text: pa.Array, missing: Sequence[str]) -> pa.Array:
    """The texts, missing where they mean that."""
    if not missing:
        return text
    means_missing = pc.is_in(text, value_set=pa.array(missing, text.type))
    return pc.if_else(means_missing, pa.scalar(None, text.type), text)


def check_encoding(text: pa.Array, subject: str, first_row: int) -> None:
    """Refuse text that was written in one encoding and read in another, before it got here.

    Parameters
    ----------
    text
        The texts.
    subject
        How errors call the column.
    first_row
        Number of the first text's record, from 1.

    Raises
    ------
    InputError
        If a text holds letters as they come out of such a mistake.
    """
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
