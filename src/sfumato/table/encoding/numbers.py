"""Exact integers from numbers: as they are typed, or as they are written."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.table.columns import Unit
from sfumato.table.encoding.arrow_types import (
    Flags,
    Floats,
    Ints,
    are_equal,
    as_integers,
    as_numpy,
    flags,
    from_numpy,
    from_texts,
    is_text,
    matching,
    trimmed,
)

LIMIT = 2**53
"""Points stay below this size, so that they turn into floats without loss."""
MOST_DECIMALS = 9
"""Decimal places up to which numbers are taken exactly."""
DIGITS = 15
"""Significant digits that are kept of numbers with more decimal places than that."""

_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_INFINITE = r"^(?i)[+-]?inf(inity)?$"
_PLAIN = r"^(?P<sign>[+-]?)(?P<whole>\d*)\.?(?P<fraction>\d*)$"


@dataclass(frozen=True, eq=False)
class Points:
    """Values as integers, one per value and in their order.

    Attributes
    ----------
    points
        Numbers times ``10**decimals``; days or microseconds since 1970.
    decimals
        Decimal places of the printed numbers.
    unit
        Whether the points are numbers, dates or datetimes.
    width
        Digits to pad with zeros on the left, 0 for none.
    rounded
        Whether a value had more significant digits than are kept.
    """

    points: Ints
    decimals: int = 0
    unit: Unit = "number"
    width: int = 0
    rounded: bool = False


def are_numbers(texts: pa.Array) -> Flags:
    """Which texts are written as finite decimal numbers: ``12``, ``-3.50``, ``.5``, ``1e-3``."""
    return matching(trimmed(texts), _NUMBER)


def are_infinite(values: pa.Array) -> Flags:
    """Which floats, or texts, are infinite."""
    if is_text(values.type):
        return matching(trimmed(values), _INFINITE)
    if pa.types.is_floating(values.type):
        return np.isinf(as_numpy(values).astype(np.float64))
    return np.zeros(len(values), dtype=np.bool_)


def as_floats(values: pa.Array) -> Floats:
    """Numbers, typed or as texts that `are_numbers`, as the nearest floats.

    Numbers beyond the range of floats are infinite.
    """
    if pa.types.is_decimal(values.type):
        values = values.cast(pa.large_string())
    if is_text(values.type):
        values = _float_of_text(_plain(values))
    floats: Floats = as_numpy(values).astype(np.float64)
    return floats


def are_too_large(values: pa.Array) -> Flags:
    """Which numbers cannot be points: size ``2**53`` or more."""
    if pa.types.is_integer(values.type):
        integers = as_numpy(values)
        large: Flags = integers >= LIMIT
        if pa.types.is_signed_integer(values.type):
            large = large | (integers <= -LIMIT)
        return large
    return np.abs(as_floats(values)) >= LIMIT


def number_points(values: pa.Array) -> Points:
    """Turn numbers into integers by the smallest number of decimal places that is exact.

    Integers stay as they are. Decimals, floats and texts take the smallest number of decimal
    places, up to 9, that gives back every one of them (floats as the shortest decimal that reads
    as the same float). Where there is none, or where the integers would reach ``2**53``, all are
    rounded to the decimal place that leaves the largest of them 15 significant digits: values
    that lie closer together than ``10**-15`` of the next power of ten above the largest may
    become one, and are printed so.

    Parameters
    ----------
    values
        Finite numbers below `LIMIT`, typed or as texts, without null.
    """
    if pa.types.is_integer(values.type):
        return Points(as_integers(values))
    if pa.types.is_decimal(values.type):
        return _points_of_texts(values.cast(pa.large_string()))
    if is_text(values.type):
        return _points_of_texts(values)
    return _points_of_floats(as_numpy(values))


def padded_width(texts: pa.Array) -> int:
    """The common length of codes that are padded with zeros, such as ZIPs; 0 when they are not.

    All texts must be digits of one length, and one of them must begin with 0.
    """
    texts = trimmed(texts)
    lengths = pc.unique(pc.utf8_length(texts))
    if len(lengths) != 1 or lengths[0].as_py() < 2:
        return 0
    digits = matching(texts, r"^\d+$").all()
    padded = flags(pc.starts_with(texts, "0")).any()
    return int(lengths[0].as_py()) if digits and padded else 0


def loses_zeros(texts: pa.Array) -> Flags:
    """Which texts begin with a zero that printing the number would lose."""
    return matching(trimmed(texts), r"^[+-]?0\d")


def _plain(texts: pa.Array) -> pa.Array:
    """Numbers without an exponent; those that have one are read as floats first."""
    texts = trimmed(texts).cast(pa.large_string())
    scientific = matching(texts, "[eE]")
    if not scientific.any():
        return texts
    beyond = "9" * 400
    plain = [
        np.format_float_positional(number, trim="-") if np.isfinite(number) else beyond
        for number in (float(text) for text in texts.filter(from_numpy(scientific)).to_pylist())
    ]
    return pc.replace_with_mask(texts, from_numpy(scientific), from_texts(plain))


def _float_of_text(plain: pa.Array) -> pa.Array:
    """Plain numbers as floats."""
    return pc.utf8_ltrim(plain, characters="+").cast(pa.float64())


def _points_of_texts(texts: pa.Array) -> Points:
    plain = _plain(texts)
    parts = pc.extract_regex(plain, _PLAIN)
    whole = pc.utf8_ltrim(pc.struct_field(parts, "whole"), characters="0")
    fraction = pc.utf8_rtrim(pc.struct_field(parts, "fraction"), characters="0")
    decimals = pc.max(pc.utf8_length(fraction)).as_py() or 0
    longest = (pc.max(pc.utf8_length(whole)).as_py() or 0) + decimals
    if decimals <= MOST_DECIMALS and longest <= 18:
        padded = pc.utf8_rpad(fraction, decimals, "0") if decimals else fraction
        zero, empty = from_texts(["0", ""])
        joined = pc.binary_join_element_wise(zero, whole, padded, empty)
        digits = as_integers(joined.cast(pa.int64()))
        negative = flags(are_equal(pc.struct_field(parts, "sign"), "-"))
        points = np.where(negative, -digits, digits)
        if (np.abs(points) < LIMIT).all():
            return Points(points, decimals)
    return _rounded(as_numpy(_float_of_text(plain)).astype(np.float64))


def _points_of_floats(numbers: npt.NDArray[np.floating]) -> Points:
    wide = numbers.astype(np.float64)
    for decimals in range(MOST_DECIMALS + 1):
        scaled = np.rint(wide * 10.0**decimals)
        if (np.abs(scaled) >= LIMIT).any():
            break
        if ((scaled / 10.0**decimals).astype(numbers.dtype) == numbers).all():
            return Points(scaled.astype(np.int64), decimals)
    return _rounded(wide)


def _rounded(numbers: Floats) -> Points:
    """Keep 15 significant digits of the largest number, and as many places of the others."""
    largest = float(np.abs(numbers).max(initial=0.0))
    ahead = int(np.floor(np.log10(largest))) + 1 if largest > 0 else 0
    decimals = min(max(DIGITS - ahead, 0), 300)
    points = np.rint(numbers * 10.0**decimals).astype(np.int64)
    rounded = bool((points / 10.0**decimals != numbers).any())
    while decimals and not (points % 10).any():
        points, decimals = points // 10, decimals - 1
    return Points(points, decimals, rounded=rounded)
