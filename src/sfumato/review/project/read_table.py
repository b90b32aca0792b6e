"""A table of any kind as columns of text."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.errors import InputError
from sfumato.table.sources import check_utf8, is_bytes
from sfumato.table.table_files import open_source


def read_text_table(data: object, subject: str) -> pa.Table:
    """All columns of a table as text, missing where nothing but spaces is left.

    Dates come in ISO form, whole numbers without a decimal part.

    Parameters
    ----------
    data
        A path or a dataframe.
    subject
        How errors call it.

    Raises
    ------
    InputError
        If it cannot be read, or a column is not of single values.
    """
    source = open_source(data)
    columns: dict[str, list[pa.Array]] = {name: [] for name in source.names}
    for batch in source.batches(source.names):
        for name in source.names:
            columns[name].append(_text(batch.column(name), name, subject))
    return pa.table(
        {name: pa.chunked_array(parts, pa.large_string()) for name, parts in columns.items()}
    )


def _text(values: pa.Array, name: str, subject: str) -> pa.Array:
    if is_bytes(values.type):
        raise InputError(f"column '{name}' of {subject}", "must hold text", found="bytes")
    check_utf8(values, name)
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    try:
        if pa.types.is_timestamp(values.type):
            values = values.cast(pa.timestamp("us")).cast(pa.date32(), safe=False)
        if pa.types.is_floating(values.type) and _whole(values):
            values = values.cast(pa.int64(), safe=False)
        text = pc.utf8_trim_whitespace(values.cast(pa.large_string()))
    except (pa.ArrowException, ValueError):
        raise InputError(
            f"column '{name}' of {subject}", "must hold single values", found="others"
        ) from None
    return pc.if_else(pc.equal(text, ""), pa.scalar(None, text.type), text)


def _whole(values: pa.Array) -> bool:
    return pc.all(pc.equal(pc.floor(values), values)).as_py() is True
