"""Dates and datetimes as integers: days or microseconds since 1970."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.table.encoding.arrow_types import (
    Flags,
    Ints,
    as_integers,
    flags,
    is_text,
    matching,
    trimmed,
)
from sfumato.table.encoding.numbers import LIMIT, Points

DAY = 86_400_000_000
"""Microseconds of a day."""
FIRST_DAY, LAST_DAY = -719_162, 2_932_896
"""The days of 0001-01-01 and 9999-12-31, counted from 1970-01-01."""
_FACTORS = {"s": 1_000_000, "ms": 1_000, "us": 1}

_MOMENT = (
    r"^(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})"
    r"(?:[T ](?P<hour>[01]\d|2[0-3]):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d)"
    r"(?:\.(?P<fraction>\d{1,9}))?)?"
    r" ?(?:Z|[+-]\d{2}(?::?\d{2})?)?)?$"
)


def are_dates(texts: pa.Array) -> Flags:
    """Which texts are dates of the calendar as ``YYYY-MM-DD``, with or without a time."""
    likely = matching(texts, r"^\s*\d{4}-\d{2}-\d{2}")
    return _read(texts)[1] if likely.any() else likely


def are_outside(values: pa.Array) -> Flags:
    """Which dates cannot be points: beyond the years 1 to 9999, or times beyond 1685 to 2254."""
    days, rest = _days(values)
    outside: Flags = (days < FIRST_DAY) | (days > LAST_DAY)
    if rest.any():
        outside = outside | (np.abs(days) >= LIMIT // DAY - 1)
    return outside


def date_points(values: pa.Array) -> Points:
    """Turn dates into days when all are at midnight, else into microseconds since 1970.

    The time that is written counts: offsets and time zones are not subtracted. Fractions of a
    microsecond are cut off.

    Parameters
    ----------
    values
        Dates or timestamps, or texts that `are_dates`, without null; none `are_outside`.
    """
    days, rest = _days(values)
    if rest.any():
        return Points(days * DAY + rest, unit="datetime")
    return Points(days, unit="date")


def _days(values: pa.Array) -> tuple[Ints, Ints]:
    """The day of each value, and the microseconds since its midnight."""
    if is_text(values.type):
        moments, _ = _read(values)
        return moments // DAY, moments % DAY
    if pa.types.is_date32(values.type):
        days = as_integers(values.cast(pa.int32()))
        return days, np.zeros_like(days)
    if pa.types.is_date64(values.type):
        return _split(as_integers(values.cast(pa.int64())), "ms")
    if values.type.tz is not None:
        values = pc.local_timestamp(values)
    return _split(as_integers(values.cast(pa.int64())), values.type.unit)


def _split(counts: Ints, unit: str) -> tuple[Ints, Ints]:
    if unit == "ns":
        counts, unit = counts // 1000, "us"
    factor = _FACTORS[unit]
    return counts // (DAY // factor), counts % (DAY // factor) * factor


def _read(texts: pa.Array) -> tuple[Ints, Flags]:
    """Microseconds since 1970 of each text, and which texts are dates at all (the rest are 0)."""
    parts = pc.extract_regex(trimmed(texts), _MOMENT)
    valid = flags(pc.is_valid(parts))

    def part(name: str) -> Ints:
        field = pc.fill_null(pc.struct_field(parts, name), "")
        return as_integers(pc.if_else(pc.equal(field, ""), "0", field).cast(pa.int64()))

    month, day = part("month"), part("day")
    months = (part("year") - 1970) * 12 + month - 1
    starts = _first_days(months)
    days = starts + day - 1
    valid &= (month >= 1) & (month <= 12) & (day >= 1) & (days < _first_days(months + 1))
    valid &= days >= FIRST_DAY
    seconds = (part("hour") * 60 + part("minute")) * 60 + part("second")
    fraction = pc.fill_null(pc.struct_field(parts, "fraction"), "")
    six = pc.utf8_slice_codeunits(pc.utf8_rpad(fraction, 6, "0"), 0, 6)
    micro = as_integers(six.cast(pa.int64()))
    return np.where(valid, days * DAY + seconds * 1_000_000 + micro, 0), valid


def _first_days(months: Ints) -> Ints:
    """The first day of each month, months and days counted from 1970-01."""
    days: npt.NDArray[np.datetime64] = months.astype("datetime64[M]").astype("datetime64[D]")
    return days.astype(np.int64)
