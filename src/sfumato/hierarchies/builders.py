"""The hierarchy that a schema asks for, over the values of a column."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

from sfumato.core.errors import InputError
from sfumato.hierarchies.code_lists import is_classification, read_classification, read_leaves_csv
from sfumato.hierarchies.hierarchy import ROOT, Hierarchy
from sfumato.hierarchies.skos import read_skos
from sfumato.schema import IntervalHierarchy, PrefixHierarchy
from sfumato.schema.roles import HierarchySpec

TURTLE = (".ttl", ".turtle")
"""How the names of files in Turtle end."""


def build_hierarchy(spec: HierarchySpec, labels: Sequence[str], column: str) -> Hierarchy:
    """Make the hierarchy over exactly these values, in this order.

    Parameters
    ----------
    spec
        A file (see `read_hierarchy`), prefixes of codes, or intervals.
    labels
        The distinct values of the column, in the order of its domain.
    """
    if isinstance(spec, PrefixHierarchy):
        return prefix_hierarchy(spec, labels, column)
    if isinstance(spec, IntervalHierarchy):
        return interval_hierarchy(spec, labels, column)
    subject = f"hierarchy of column '{column}' (file {Path(spec).name})"
    return read_hierarchy(spec).restricted(labels, subject)


def read_hierarchy(path: str | os.PathLike[str]) -> Hierarchy:
    """Read a hierarchy's file by what it is.

    Parameters
    ----------
    path
        SKOS in Turtle (``.ttl``, ``.turtle``), a classification (a CSV with its header), or a
        one-row-per-leaf CSV.
    """
    file = Path(path)
    # Turtle is known by its name, CSV by its header: a list of leaves has none.
    if file.suffix.lower() in TURTLE:
        return read_skos(file).hierarchy
    if is_classification(_first_line(file)):
        return read_classification(file).hierarchy
    return read_leaves_csv(file)


def _first_line(path: Path) -> str:
    """The first line; empty where the file cannot be read, which its reader will say."""
    try:
        with path.open("rb") as stream:
            # A limit, as a file without line ends would be read whole to look at its header.
            return stream.readline(1000).decode("utf-8-sig", errors="replace")
    except (OSError, ValueError):
        return ""


def leaf_order(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """The leaves of a hierarchy's file in the file's order, lowest first."""
    return read_hierarchy(path).leaves


_SEPARATORS = ".-/_ "
_CODE = re.compile(r"([A-Za-z]*)([0-9]+)")


@dataclass(frozen=True, slots=True)
class _Group:
    """An inclusive range of codes with the same leading letters."""

    label: str
    letters: str
    low: int
    high: int
    shortest: int
    longest: int

    def overlaps(self, other: _Group) -> bool:
        return (
            self.letters == other.letters
            and self.low <= other.high
            and other.low <= self.high
            and self.shortest <= other.longest
            and other.shortest <= self.longest
        )

    def holds(self, letters: str, digits: str) -> bool:
        """Whether a code lies in the range; a lettered code that is cut short, as a whole."""
        if letters != self.letters:
            return False
        # `E81` stands for `E810` to `E819`; plain digits
        # cut short are another code, as 25 is none of 250.
        cut = self.shortest - len(digits) if letters else 0
        if cut > 0:
            return self.low <= int(digits + "0" * cut) and int(digits + "9" * cut) <= self.high
        return self.shortest <= len(digits) <= self.longest and self.low <= int(digits) <= self.high


def prefix_hierarchy(spec: PrefixHierarchy, labels: Sequence[str], column: str) -> Hierarchy:
    """Generalise codes to their prefixes, then to the group that the shortest prefix is in.

    ICD-9 ``250.1`` becomes ``250`` with ``lengths=[3]``, then ``240-279`` with that range in
    ``groups``, then ``*``. A separator at the end of a prefix is left out. Codes compare with
    the ends of a group by number, within the same leading letters and the same number of
    digits (``E81``, cut from ``E812``, is in ``E800-E999`` because all its codes are). A code
    in no group stays at its prefix for one level more.

    Parameters
    ----------
    labels
        The codes, in the order of the column's domain.
    """
    subject = f"hierarchy of column '{column}'"
    lengths = spec.lengths
    if any(length < 1 for length in lengths) or any(
        above >= below for below, above in pairwise(lengths)
    ):
        raise InputError(
            subject,
            "must have prefix lengths of at least one character, longest first, each once",
            accepted="lengths = [5, 3]",
        )
    groups = _parse_groups(spec.groups, subject)
    columns: list[Sequence[str]] = [labels]
    columns += [[_prefix(label, length) for label in labels] for length in lengths]
    if groups:
        of_prefix = {prefix: _group_of(prefix, groups) for prefix in set(columns[-1])}
        columns.append([of_prefix[prefix] for prefix in columns[-1]])
    columns.append([ROOT] * len(labels))
    return Hierarchy.from_columns(columns, subject)


def _prefix(label: str, length: int) -> str:
    # `250.` of `250.1` is `250`. A prefix of separators alone stays, or it would be empty.
    return label[:length].rstrip(_SEPARATORS) or label[:length]


def _group_of(prefix: str, groups: Sequence[_Group]) -> str:
    code = _CODE.fullmatch(prefix)
    if code is None:
        return prefix
    letters, digits = code.groups()
    return next((group.label for group in groups if group.holds(letters, digits)), prefix)


def _parse_groups(texts: Sequence[str], subject: str) -> list[_Group]:
    groups: list[_Group] = []
    for number, text in enumerate(texts, start=1):
        group = _parse_group(text)
        if group is None:
            raise InputError(
                subject,
                "must have groups that are ranges of codes",
                found=f"something else in group {number}",
                accepted='"240-279", "V01-V91", "042"',
            )
        for earlier, other in enumerate(groups, start=1):
            if group.overlaps(other):
                raise InputError(
                    subject,
                    "must have groups that do not overlap",
                    found=f"codes that are in group {earlier} and in group {number}",
                )
        groups.append(group)
    return groups


def _parse_group(text: str) -> _Group | None:
    low_text, dash, high_text = text.partition("-")
    low, high = _CODE.fullmatch(low_text), _CODE.fullmatch(high_text if dash else low_text)
    if low is None or high is None or high[1] not in ("", low[1]) or int(low[2]) > int(high[2]):
        return None
    # Codes count by their digits: a range from three digits down to two has no codes.
    if len(low[2]) > len(high[2]):
        return None
    return _Group(text, low[1], int(low[2]), int(high[2]), len(low[2]), len(high[2]))


# 400 digits hold any floating number written out; longer texts would cost Python quadratic time.
_NUMBER = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?")


def _month(day: date) -> str:
    return f"{day.year:04d}-{day.month:02d}"


def _quarter(day: date) -> str:
    return f"{day.year:04d}-Q{(day.month + 2) // 3}"


def _year(day: date) -> str:
    return f"{day.year:04d}"


def _decade(day: date) -> str:
    start = day.year // 10 * 10
    return f"{start:04d}-{start + 9:04d}"


DATE_UNITS: dict[str, Callable[[date], str]] = {
    "month": _month,
    "quarter": _quarter,
    "year": _year,
    "decade": _decade,
}
"""The intervals of dates, narrowest first, and how each one prints the interval of a day."""


def interval_hierarchy(spec: IntervalHierarchy, labels: Sequence[str], column: str) -> Hierarchy:
    """Generalise numbers or dates to intervals of growing width, up to the root ``*``.

    Intervals of whole numbers print with both ends inside (``20-29``, ``-10 to -1``); where
    the values, a width or the start have decimals, intervals print without their upper end
    (``[2.5, 5)``). Dates give ``2005-03``, ``2005-Q1``, ``2005`` and ``2000-2009``.

    Parameters
    ----------
    spec
        The widths, narrowest first, and the start.
    labels
        The column's distinct values: printed numbers, or dates or datetimes in ISO form.
    """
    subject = f"hierarchy of column '{column}'"
    if not spec.widths:
        raise InputError(subject, "must have at least one width", accepted="widths = [5, 10]")
    units = [width for width in spec.widths if isinstance(width, str)]
    numbers = [width for width in spec.widths if not isinstance(width, str)]
    if not units:
        above = _number_columns(numbers, spec.start, labels, subject)
    elif not numbers:
        above = _date_columns(units, labels, subject)
    else:
        raise InputError(
            subject,
            "must have widths of one kind",
            found="numbers and words",
            accepted='widths = [5, 10] or widths = ["month", "year"]',
        )
    return Hierarchy.from_columns([labels, *above, [ROOT] * len(labels)], subject)


def _date_columns(units: Sequence[str], labels: Sequence[str], subject: str) -> list[Sequence[str]]:
    ranks = [list(DATE_UNITS).index(unit) if unit in DATE_UNITS else -1 for unit in units]
    ascending = all(below < above for below, above in pairwise(ranks))
    if -1 in ranks or not ascending:
        raise InputError(
            subject,
            "must have widths of dates narrowest first, each once",
            accepted=", ".join(f'"{unit}"' for unit in DATE_UNITS),
        )
    days = [_day(label) for label in labels]
    known = [day for day in days if day is not None]
    if len(known) < len(days):
        raise InputError(
            subject,
            "with widths of dates must be over a column of dates",
            found=f"{len(days) - len(known)} of {len(days)} distinct values that are no dates",
            accepted="dates in ISO form (YYYY-MM-DD), with or without a time",
        )
    return [[DATE_UNITS[unit](day) for day in known] for unit in units]


def _day(label: str) -> date | None:
    try:
        # Since Python 3.11 `fromisoformat` takes 20050301 too, which may be a number.
        return datetime.fromisoformat(label).date() if label[4:5] == "-" else None
    except ValueError:
        return None


def _number_columns(
    widths: Sequence[float], start: float, labels: Sequence[str], subject: str
) -> list[Sequence[str]]:
    if not all(math.isfinite(number) for number in (*widths, start)):
        raise InputError(subject, "must have finite widths and start")
    # By its text 0.1 is a tenth: intervals are then
    # exact in integers, and no value falls between two.
    steps, origin = [Decimal(str(width)) for width in widths], Decimal(str(start))
    odd = sum(_NUMBER.fullmatch(label) is None for label in labels)
    if odd:
        raise InputError(
            subject,
            "with widths of numbers must be over a column of numbers",
            found=f"{odd} of {len(labels)} distinct values that are no numbers",
            advice='for dates give widths such as "month" and "year"',
        )
    places = max(map(_places, (*steps, origin)), default=0)
    decimals = max([places, *(len(label.partition(".")[2]) for label in labels)])
    scaled = [_scaled(step, decimals) for step in steps]
    # A width that is no multiple of the one before would
    # cut an interval in two: levels would not nest.
    if scaled[0] <= 0 or any(above <= below or above % below for below, above in pairwise(scaled)):
        raise InputError(
            subject,
            "must have widths above zero, narrowest first, each a multiple of the one before",
            accepted="widths = [5, 10, 50]",
        )
    points = [_point(label, decimals) for label in labels]
    digits = _padding(labels)
    first = _scaled(origin, decimals)
    return [
        [
            # Floor division rounds down below the start as well,
            # where truncation would widen the interval at it.
            _print_interval(first + (point - first) // step * step, step, decimals, digits)
            for point in points
        ]
        for step in scaled
    ]


def _places(number: Decimal) -> int:
    """Decimal places that a number needs."""
    exponent = number.normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _scaled(number: Decimal, decimals: int) -> int:
    """The number times ``10**decimals``, exactly."""
    numerator, denominator = number.as_integer_ratio()
    return int(numerator * 10**decimals // denominator)


def _point(label: str, decimals: int) -> int:
    whole, _, fraction = label.partition(".")
    return int(whole + fraction.ljust(decimals, "0"))


def _padding(labels: Sequence[str]) -> int:
    """Digits of codes that are padded with zeros (ZIPs) to one length; 0 for plain numbers."""
    lengths = {len(label) for label in labels}
    padded = any(len(label) > 1 and label[0] == "0" and label.isdigit() for label in labels)
    return lengths.pop() if padded and len(lengths) == 1 else 0


def _print_interval(low: int, step: int, decimals: int, digits: int) -> str:
    if decimals:
        return f"[{_print_point(low, decimals)}, {_print_point(low + step, decimals)})"
    high = low + step - 1
    if low == high:
        return f"{low:0{digits}d}"
    # With a minus sign, a dash between the ends could not be told from it.
    return f"{low:0{digits}d}-{high:0{digits}d}" if low >= 0 else f"{low} to {high}"


def _print_point(point: int, decimals: int) -> str:
    """A scaled number without zeros at the end of its decimals."""
    whole, fraction = divmod(abs(point), 10**decimals)
    text = f"{whole}.{fraction:0{decimals}d}".rstrip("0").rstrip(".")
    return f"-{text}" if point < 0 else text
