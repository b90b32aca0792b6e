"""Single values: numbers and dates as exact integers, how they print, compare and hash."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.kernels.key_numbering import EMPTY, extended, of_texts
from sfumato.table import sources
from sfumato.table.table import Codes, LabelDomain, NumberDomain, Unit

LIMIT = 2**53
"""Points stay below this size, so that they turn into floats without loss."""
MOST_DECIMALS = 9
"""Decimal places up to which numbers are taken exactly."""
# A float gives back every decimal number of 15 significant digits (IEEE 754, binary64).
DIGITS = 15
"""Significant digits that are kept of numbers with more decimal places than that."""

_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_INFINITE = r"^(?i)[+-]?inf(inity)?$"
_PLAIN = r"^(?P<sign>[+-]?)(?P<whole>\d*)\.?(?P<fraction>\d*)$"

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

_MIDNIGHT = r"[T ]00:00:00(\.0+)?Z?$"
_DIGITS = re.compile(r"([0-9]+)")

MISSING_TIE = 0
"""The tie of a missing value."""
WHOLE = 2.0**53
"""Floats below this that are whole numbers are integers exactly."""
_TIES_TOGETHER = 1 << 17
"""Records that are hashed together, so that they stay in the processor's cache."""


@dataclass(frozen=True, eq=False)
class Points:
    """Values as integers, one per value and in their order.

    Attributes
    ----------
    points
        Numbers times ``10**decimals``; days or microseconds since 1970.
    width
        Digits to pad with zeros on the left, 0 for none.
    """

    points: Ints
    decimals: int = 0
    unit: Unit = "number"
    width: int = 0
    rounded: bool = False


def are_numbers(texts: pa.Array) -> Bools:
    """Which texts are written as finite decimal numbers: ``12``, ``-3.50``, ``.5``, ``1e-3``."""
    return sources.matching(sources.trimmed(texts), _NUMBER)


def are_infinite(values: pa.Array) -> Bools:
    """Which floats, or texts, are infinite."""
    if sources.is_text(values.type):
        return sources.matching(sources.trimmed(values), _INFINITE)
    if pa.types.is_floating(values.type):
        return np.isinf(sources.as_numpy(values).astype(np.float64))
    return np.zeros(len(values), dtype=np.bool_)


def as_floats(values: pa.Array) -> Floats:
    """Numbers, typed or as texts that `are_numbers`, as the nearest floats.

    Numbers beyond the range of floats are infinite.
    """
    if pa.types.is_decimal(values.type):
        values = values.cast(pa.large_string())
    if sources.is_text(values.type):
        values = _float_of_text(_without_exponents(values))
    floats: Floats = sources.as_numpy(values).astype(np.float64)
    return floats


def are_too_large(values: pa.Array) -> Bools:
    """Which numbers cannot be points: size ``2**53`` or more."""
    if pa.types.is_integer(values.type):
        integers = sources.as_numpy(values)
        large: Bools = integers >= LIMIT
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
        return Points(sources.as_integers(values))
    if pa.types.is_decimal(values.type):
        return _points_of_texts(values.cast(pa.large_string()))
    if sources.is_text(values.type):
        return _points_of_texts(values)
    return _points_of_floats(sources.as_numpy(values))


def padded_width(texts: pa.Array) -> int:
    """The common length of codes that are padded with zeros, such as ZIPs; 0 when they are not.

    All texts must be digits of one length, and one of them must begin with 0.
    """
    texts = sources.trimmed(texts)
    lengths = pc.unique(pc.utf8_length(texts))
    if len(lengths) != 1 or lengths[0].as_py() < 2:
        return 0
    digits = sources.matching(texts, r"^\d+$").all()
    padded = sources.flags(pc.starts_with(texts, "0")).any()
    return int(lengths[0].as_py()) if digits and padded else 0


def loses_zeros(texts: pa.Array) -> Bools:
    """Which texts begin with a zero that printing the number would lose."""
    return sources.matching(sources.trimmed(texts), r"^[+-]?0\d")


def _without_exponents(texts: pa.Array) -> pa.Array:
    """Numbers without an exponent; those that have one are read as floats first."""
    texts = sources.trimmed(texts).cast(pa.large_string())
    scientific = sources.matching(texts, "[eE]")
    if not scientific.any():
        return texts
    # Larger than any float, so that it is read as infinite.
    beyond = "9" * 400
    plain = [
        np.format_float_positional(number, trim="-") if np.isfinite(number) else beyond
        for number in (
            float(text) for text in texts.filter(sources.from_numpy(scientific)).to_pylist()
        )
    ]
    return pc.replace_with_mask(texts, sources.from_numpy(scientific), sources.from_texts(plain))


def _float_of_text(plain: pa.Array) -> pa.Array:
    """Plain numbers as floats."""
    return pc.utf8_ltrim(plain, characters="+").cast(pa.float64())


def _points_of_texts(texts: pa.Array) -> Points:
    plain = _without_exponents(texts)
    parts = pc.extract_regex(plain, _PLAIN)
    whole = pc.utf8_ltrim(pc.struct_field(parts, "whole"), characters="0")
    fraction = pc.utf8_rtrim(pc.struct_field(parts, "fraction"), characters="0")
    decimals = pc.max(pc.utf8_length(fraction)).as_py() or 0
    longest = (pc.max(pc.utf8_length(whole)).as_py() or 0) + decimals
    # Any 18 digits fit into 64 bits.
    if decimals <= MOST_DECIMALS and longest <= 18:
        padded = pc.utf8_rpad(fraction, decimals, "0") if decimals else fraction
        zero, empty = sources.from_texts(["0", ""])
        joined = pc.binary_join_element_wise(zero, whole, padded, empty)
        digits = sources.as_integers(joined.cast(pa.int64()))
        negative = sources.flags(sources.are_equal(pc.struct_field(parts, "sign"), "-"))
        points = np.where(negative, -digits, digits)
        if (np.abs(points) < LIMIT).all():
            return Points(points, decimals)
    return _rounded(sources.as_numpy(_float_of_text(plain)).astype(np.float64))


def _points_of_floats(numbers: npt.NDArray[np.floating]) -> Points:
    wide = numbers.astype(np.float64)
    for decimals in range(MOST_DECIMALS + 1):
        scaled = np.rint(wide * 10.0**decimals)
        if (np.abs(scaled) >= LIMIT).any():
            break
        # Of two exact floats the quotient is rounded once: it is what the decimal reads as.
        if ((scaled / 10.0**decimals).astype(numbers.dtype) == numbers).all():
            return Points(scaled.astype(np.int64), decimals)
    return _rounded(wide)


def _rounded(numbers: Floats) -> Points:
    """Keep 15 significant digits of the largest number, and as many places of the others."""
    largest = float(np.abs(numbers).max(initial=0.0))
    ahead = int(np.floor(np.log10(largest))) + 1 if largest > 0 else 0
    # Powers of ten beyond 308 are no floats.
    decimals = min(max(DIGITS - ahead, 0), 300)
    points = np.rint(numbers * 10.0**decimals).astype(np.int64)
    rounded = bool((points / 10.0**decimals != numbers).any())
    while decimals and not (points % 10).any():
        points, decimals = points // 10, decimals - 1
    return Points(points, decimals, rounded=rounded)


def are_dates(texts: pa.Array) -> Bools:
    """Which texts are dates of the calendar as ``YYYY-MM-DD``, with or without a time."""
    likely = sources.matching(texts, r"^\s*\d{4}-\d{2}-\d{2}")
    return _moments_of(texts)[1] if likely.any() else likely


def are_outside(values: pa.Array) -> Bools:
    """Which dates cannot be points: beyond the years 1 to 9999, or times beyond 1685 to 2254."""
    days, rest = days_and_rest(values)
    outside: Bools = (days < FIRST_DAY) | (days > LAST_DAY)
    if rest.any():
        outside = outside | (np.abs(days) >= LIMIT // DAY - 1)
    return outside


def date_points(values: pa.Array) -> Points:
    """Turn dates into days when all are at midnight, else into microseconds since 1970.

    Dates, timestamps, or texts that `are_dates`, without null; none `are_outside`. The time that is
    written counts: offsets and time zones are not subtracted. Fractions of a microsecond are cut
    off.
    """
    days, rest = days_and_rest(values)
    if rest.any():
        return Points(days * DAY + rest, unit="datetime")
    return Points(days, unit="date")


def days_and_rest(values: pa.Array) -> tuple[Ints, Ints]:
    """The day of each value, and the microseconds since its midnight."""
    if sources.is_text(values.type):
        moments, _ = _moments_of(values)
        return moments // DAY, moments % DAY
    if pa.types.is_date32(values.type):
        days = sources.as_integers(values.cast(pa.int32()))
        return days, np.zeros_like(days)
    if pa.types.is_date64(values.type):
        return _split_at_midnight(sources.as_integers(values.cast(pa.int64())), "ms")
    if values.type.tz is not None:
        values = pc.local_timestamp(values)
    return _split_at_midnight(sources.as_integers(values.cast(pa.int64())), values.type.unit)


def _split_at_midnight(counts: Ints, unit: str) -> tuple[Ints, Ints]:
    if unit == "ns":
        counts, unit = counts // 1000, "us"
    factor = _FACTORS[unit]
    return counts // (DAY // factor), counts % (DAY // factor) * factor


def _moments_of(texts: pa.Array) -> tuple[Ints, Bools]:
    """Microseconds since 1970 of each text, and which texts are dates at all (the rest are 0)."""
    parts = pc.extract_regex(sources.trimmed(texts), _MOMENT)
    valid = sources.flags(pc.is_valid(parts))

    def part(name: str) -> Ints:
        field = pc.fill_null(pc.struct_field(parts, name), "")
        return sources.as_integers(pc.if_else(pc.equal(field, ""), "0", field).cast(pa.int64()))

    month, day = part("month"), part("day")
    months = (part("year") - 1970) * 12 + month - 1
    starts = first_days(months)
    days = starts + day - 1
    valid &= (month >= 1) & (month <= 12) & (day >= 1) & (days < first_days(months + 1))
    # The year 0 has four digits, but neither Python nor the door has it.
    valid &= days >= FIRST_DAY
    seconds = (part("hour") * 60 + part("minute")) * 60 + part("second")
    fraction = pc.fill_null(pc.struct_field(parts, "fraction"), "")
    six = pc.utf8_slice_codeunits(pc.utf8_rpad(fraction, 6, "0"), 0, 6)
    micro = sources.as_integers(six.cast(pa.int64()))
    return np.where(valid, days * DAY + seconds * 1_000_000 + micro, 0), valid


def first_days(months: Ints) -> Ints:
    """The first day of each month, months and days counted from 1970-01."""
    days: npt.NDArray[np.datetime64] = months.astype("datetime64[M]").astype("datetime64[D]")
    return days.astype(np.int64)


def printed(values: pa.Array) -> list[str]:
    """The text of each value, all of one type, without null.

    Texts stay as they are; integers print as ``5``, floats and decimals by the shortest digits that
    read back the same and without a trailing ``.0``, booleans as ``true`` and ``false``, dates as
    ``2024-01-31``, datetimes as ``2024-01-31T12:00:00`` (as dates when all are at midnight).
    """
    kind = values.type
    if sources.is_text(kind):
        texts: list[str] = values.to_pylist()
        return texts
    if pa.types.is_floating(kind):
        # -0.0 equals 0.0 and has to print alike.
        numbers = sources.as_numpy(values) + 0.0
        return [np.format_float_positional(number, trim="-") for number in numbers]
    if pa.types.is_decimal(kind):
        return [_without_zeros(f"{number:f}") for number in values.to_pylist()]
    if sources.is_moment(kind) and not are_outside(values).any():
        points = date_points(values)
        domain = NumberDomain(points.points, unit=points.unit)
        return [domain.label(code) for code in range(domain.size)]
    return [str(text) for text in values.cast(pa.large_string()).to_pylist()]


def mean_missing(values: pa.Array, texts: Sequence[str]) -> Bools:
    """Which values, of one type and without null, mean that there is none.

    Texts mean missing beside the empty text, spaces alone and NaN. Numbers are compared by value,
    everything else as it prints.
    """
    kind = values.type
    if sources.is_text(kind):
        return sources.flags(sources.are_equal(sources.trimmed(values), "")) | _among(values, texts)
    if sources.is_number(kind):
        floats = as_floats(values)
        return np.isnan(floats) | np.isin(floats, _numbers_among(texts))
    if not texts or not len(values) or sources.is_bytes(kind):
        return np.zeros(len(values), dtype=np.bool_)
    if sources.is_moment(kind):
        days = pc.replace_substring_regex(values.cast(pa.large_string()), _MIDNIGHT, "")
        return _among(days, [re.sub(_MIDNIGHT, "", text).replace("T", " ") for text in texts])
    return _among(sources.from_texts(printed(values)), texts)


def mean_missing_by_number(values: pa.Array, texts: Sequence[str]) -> Bools:
    """Which texts of numbers have the value of a text that means missing: ``-9.0`` of ``-9``."""
    numbers = _numbers_among(texts)
    return np.isin(as_floats(values), numbers) if numbers else np.zeros(len(values), np.bool_)


def have_spaces(values: pa.Array) -> Bools:
    """Which values, without null, are texts with spaces around them, not spaces alone."""
    if not sources.is_text(values.type):
        return np.zeros(len(values), dtype=np.bool_)
    inner = sources.trimmed(values)
    if inner is values:
        return np.zeros(len(values), dtype=np.bool_)
    return sources.flags(
        pc.and_(pc.not_equal(inner, values), pc.invert(sources.are_equal(inner, "")))
    )


def natural_order(labels: Iterable[str]) -> list[str]:
    """Sort texts: all numbers by value, else alphabetically with embedded numbers by value."""
    labels = list(labels)
    texts = sources.from_texts(labels)
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


def _among(values: pa.Array, texts: Sequence[str]) -> Bools:
    if not texts:
        return np.zeros(len(values), dtype=np.bool_)
    return sources.flags(pc.is_in(values, value_set=sources.from_texts(texts).cast(values.type)))


def _numbers_among(texts: Sequence[str]) -> list[float]:
    array = sources.from_texts(texts)
    numbers: list[float] = as_floats(array.filter(sources.from_numpy(are_numbers(array)))).tolist()
    return numbers


_RANKS: WeakKeyDictionary[LabelDomain, Codes | None] = WeakKeyDictionary()
"""What was found of the domains that are in use: each class of a release asks for it again."""


def number_ranks(domain: LabelDomain) -> Codes | None:
    """Rank of each label as a number, from 0 without a gap; ``None`` if one is none below 2**53.

    Equal numbers rank alike.
    """
    if domain not in _RANKS:
        texts = sources.from_texts(domain.labels)
        are_ranked = are_numbers(texts).all() and not are_too_large(texts).any()
        points = number_points(texts).points if are_ranked else None
        _RANKS[domain] = (
            None if points is None else np.unique(points, return_inverse=True)[1].astype(np.int32)
        )
    return _RANKS[domain]


def ties_of_values(values: pa.Array | pa.ChunkedArray) -> Ints:
    """The hash of the text that each value prints as.

    The same for 7, 7.0 and "7". A date or a time that is a midnight prints as the date. O(bytes)
    for texts, bytes and integers; floats with a fraction, decimals, dates and times print one by
    one.

    Parameters
    ----------
    values
        Values of any type that a person column may have; shape (values,).

    Returns
    -------
    numpy.ndarray
        Shape (values,); `MISSING_TIE` where a value is null.
    """
    if isinstance(values, pa.ChunkedArray):
        none = np.empty(0, dtype=np.int64)
        return np.concatenate([none, *(ties_of_values(chunk) for chunk in values.chunks)])
    if isinstance(values.type, pa.BaseExtensionType):
        values = values.storage
    if pa.types.is_run_end_encoded(values.type):
        values = pc.run_end_decode(values)
    if pa.types.is_dictionary(values.type):
        known = ties_of_values(values.dictionary)
        places = sources.as_numpy(pc.fill_null(values.indices, 0))
        ties = known[places] if len(known) else np.zeros(len(values), dtype=np.int64)
    elif values.null_count:
        valid = sources.flags(values.is_valid())
        ties = np.zeros(len(values), dtype=np.int64)
        ties[valid] = ties_of_values(values.drop_null())
    else:
        return of_texts(*sources.texts_of(_printed_texts(values)))
    if values.null_count:
        ties = np.where(sources.flags(values.is_valid()), ties, MISSING_TIE)
    return ties


def ties_of_codes(
    quasi_identifiers: Sequence[Codes], sensitive: Sequence[tuple[Codes, Sequence[str]]]
) -> Ints:
    """A hash of each record's content.

    It does not depend on the order of the sensitive attributes' domains, of which the hash of
    the label is taken in. Costs a pass over the records per column.

    Parameters
    ----------
    quasi_identifiers
        Codes of each quasi-identifier, -1 for missing; shape (records,).
    sensitive
        Codes of each sensitive attribute, -1 for missing, and the label of each code.
    """
    known = [
        np.append(of_texts(*sources.texts_of(sources.from_texts(labels))), MISSING_TIE)
        for _, labels in sensitive
    ]
    ties = np.full(len([*quasi_identifiers, *(codes for codes, _ in sensitive)][0]), EMPTY)
    for start in range(0, len(ties), _TIES_TOGETHER):
        some = slice(start, start + _TIES_TOGETHER)
        block = ties[some]
        for codes in quasi_identifiers:
            block = extended(block, codes[some].astype(np.int64))
        for (codes, _), of_label in zip(sensitive, known, strict=True):
            block = extended(block, of_label[codes[some]])
        ties[some] = block
    return ties


def _printed_texts(values: pa.Array) -> pa.Array:
    """The texts that values without null print as."""
    kind = values.type
    if sources.is_text(kind) and not pa.types.is_string_view(kind):
        return values
    if sources.is_bytes(kind):
        return values.cast(pa.large_binary())
    if pa.types.is_floating(kind):
        numbers = sources.as_numpy(values)
        if np.all(np.abs(numbers) < WHOLE) and np.all(numbers == np.floor(numbers)):
            return sources.from_numpy(numbers.astype(np.int64)).cast(pa.large_string())
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return sources.from_texts(printed(values))
    if sources.is_moment(kind):
        # One by one: a midnight prints as a date, whatever times stand beside it.
        alone = [values.slice(place, 1) for place in range(len(values))]
        return sources.from_texts(text for value in alone for text in printed(value))
    return values.cast(pa.large_string())
