"""How values print, and the order that their texts have by nature."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.table.columns import NumberDomain
from sfumato.table.encoding.arrow_types import (
    Flags,
    are_equal,
    as_numpy,
    flags,
    from_numpy,
    from_texts,
    is_bytes,
    is_moment,
    is_number,
    is_text,
    trimmed,
)
from sfumato.table.encoding.dates import are_outside, date_points
from sfumato.table.encoding.numbers import are_numbers, as_floats

_MIDNIGHT = r"[T ]00:00:00(\.0+)?Z?$"
_DIGITS = re.compile(r"([0-9]+)")


def printed(values: pa.Array) -> list[str]:
    """The text of each value.

    Texts stay as they are; integers print as ``5``, floats and decimals by the shortest digits
    that read back the same and without a trailing ``.0``, booleans as ``true`` and ``false``,
    dates as ``2024-01-31``, datetimes as ``2024-01-31T12:00:00`` (as dates when all are at
    midnight).

    Parameters
    ----------
    values
        Values of one type, without null.
    """
    kind = values.type
    if is_text(kind):
        texts: list[str] = values.to_pylist()
        return texts
    if pa.types.is_floating(kind):
        numbers = as_numpy(values) + 0.0
        return [np.format_float_positional(number, trim="-") for number in numbers]
    if pa.types.is_decimal(kind):
        return [_without_zeros(f"{number:f}") for number in values.to_pylist()]
    if is_moment(kind) and not are_outside(values).any():
        points = date_points(values)
        domain = NumberDomain(points.points, unit=points.unit)
        return [domain.label(code) for code in range(domain.size)]
    return [str(text) for text in values.cast(pa.large_string()).to_pylist()]


def mean_missing(values: pa.Array, texts: Sequence[str]) -> Flags:
    """Which values mean that there is none.

    Parameters
    ----------
    values
        Values of one type, without null.
    texts
        Texts that mean missing, beside the empty text, spaces alone and NaN. Numbers are
        compared by value, everything else as it prints.
    """
    kind = values.type
    if is_text(kind):
        return flags(are_equal(trimmed(values), "")) | _among(values, texts)
    if is_number(kind):
        floats = as_floats(values)
        return np.isnan(floats) | np.isin(floats, _numbers_among(texts))
    if not texts or not len(values) or is_bytes(kind):
        return np.zeros(len(values), dtype=np.bool_)
    if is_moment(kind):
        days = pc.replace_substring_regex(values.cast(pa.large_string()), _MIDNIGHT, "")
        return _among(days, [re.sub(_MIDNIGHT, "", text).replace("T", " ") for text in texts])
    return _among(from_texts(printed(values)), texts)


def mean_missing_by_number(values: pa.Array, texts: Sequence[str]) -> Flags:
    """Which texts of numbers have the value of a text that means missing: ``-9.0`` of ``-9``."""
    numbers = _numbers_among(texts)
    return np.isin(as_floats(values), numbers) if numbers else np.zeros(len(values), np.bool_)


def natural_order(labels: Iterable[str]) -> list[str]:
    """Sort texts: all numbers by value, else alphabetically with embedded numbers by value."""
    labels = list(labels)
    texts = from_texts(labels)
    if labels and are_numbers(texts).all():
        values = as_floats(texts).tolist()
        return [label for _, label in sorted(zip(values, labels, strict=True))]
    return sorted(labels, key=_natural_key)


def _natural_key(label: str) -> tuple[list[tuple[str, int, str]], str]:
    """Text parts fold case; digits compare by length and then by digit, without leading zeros."""
    parts = _DIGITS.split(label)
    key = [
        (text.casefold(), len(digits.lstrip("0")), digits.lstrip("0"))
        for text, digits in zip(parts[::2], [*parts[1::2], ""], strict=True)
    ]
    return key, label


def _without_zeros(number: str) -> str:
    return number.rstrip("0").rstrip(".") if "." in number else number


def _among(values: pa.Array, texts: Sequence[str]) -> Flags:
    if not texts:
        return np.zeros(len(values), dtype=np.bool_)
    return flags(pc.is_in(values, value_set=from_texts(texts).cast(values.type)))


def _numbers_among(texts: Sequence[str]) -> list[float]:
    array = from_texts(texts)
    numbers: list[float] = as_floats(array.filter(from_numpy(are_numbers(array)))).tolist()
    return numbers
