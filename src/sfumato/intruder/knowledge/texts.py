"""Columns of any file or dataframe as distinct texts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.errors import InputError
from sfumato.intruder.knowledge.numbers import number_of
from sfumato.table.sources import Source

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Texts:
    """A column as its distinct texts, in order of appearance.

    Attributes
    ----------
    texts
        The distinct texts; ``None`` for a missing value.
    codes
        The place of each row's text in ``texts``, shape (rows,).
    """

    texts: tuple[str | None, ...]
    codes: Ints


def read_texts(source: Source, names: Sequence[str], missing: Collection[str]) -> dict[str, Texts]:
    """Read columns as texts.

    Texts stay as they are; whole and decimal numbers print without zeros at their end, booleans
    as ``true`` and ``false``, dates and date-times in ISO form.

    Parameters
    ----------
    source
        Where the columns are.
    names
        The columns to read.
    missing
        Texts that mean a missing value, beside empty cells and spaces; numbers compare by value.
    """
    if not names:
        return {}
    table = pa.Table.from_batches(list(source.batches(names)))
    absent = _Missing(missing)
    return {name: _distinct(table.column(name), absent) for name in names}


def everybody(column: Texts, name: str, subject: str) -> Ints:
    """The person of each row, numbered in order of appearance, shape (rows,).

    Parameters
    ----------
    column
        The person column.
    name, subject
        Its name, and that of its file, for errors.

    Raises
    ------
    InputError
        If a row has no person.
    """
    if None in column.texts:
        row = int(np.argmax(column.codes == column.texts.index(None))) + 1
        raise InputError(
            f"column '{name}' of {subject}",
            "must name the person of every row",
            found=f"no person id in row {row}",
        )
    return column.codes


class _Missing:
    """Tells which texts mean that there is no value."""

    def __init__(self, texts: Collection[str]) -> None:
        self._texts = frozenset(texts)
        numbers = {number_of(text) for text in texts}
        self._numbers = {number for number in numbers if number is not None}

    def __call__(self, text: str, *, typed: bool) -> bool:
        if not text.strip() or text in self._texts:
            return True
        return typed and bool(self._numbers) and number_of(text) in self._numbers


def _distinct(column: pa.ChunkedArray, absent: _Missing) -> Texts:
    whole = column.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks)
    if not pa.types.is_dictionary(whole.type):
        whole = whole.dictionary_encode()
    typed = not _is_text(whole.dictionary.type)
    values = [_printed(value) for value in whole.dictionary.to_pylist()]
    found = np.asarray(pc.fill_null(whole.indices.cast(pa.int64()), -1))
    used, first, inverse = np.unique(found, return_index=True, return_inverse=True)
    places: dict[str | None, int] = {}
    place_of = np.empty(len(used), dtype=np.int64)
    for each in np.argsort(first).tolist():
        text = values[used[each]] if used[each] >= 0 else None
        if text is not None and absent(text, typed=typed):
            text = None
        place_of[each] = places.setdefault(text, len(places))
    return Texts(tuple(places), place_of[inverse.reshape(-1)])


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _printed(value: Any) -> str | None:
    match value:
        case None:
            return None
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case float():
            return None if np.isnan(value) else np.format_float_positional(value + 0.0, trim="-")
        case Decimal():
            text = f"{value:f}"
            return text.rstrip("0").rstrip(".") if "." in text else text
        case bytes():
            return value.hex()
    if hasattr(value, "hour") and hasattr(value, "year"):
        return _printed_moment(value)
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)


def _printed_moment(moment: Any) -> str:
    """A date-time without its zone; at midnight the date alone."""
    text = str(moment.replace(tzinfo=None).isoformat())
    return text.removesuffix("T00:00:00")
