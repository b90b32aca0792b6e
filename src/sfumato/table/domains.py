"""What the values of a column are: its kind, its domain, where top and bottom coding begin."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from math import ceil, floor
from pathlib import Path

import numpy as np
import pyarrow as pa

from sfumato.core.arrays import Bools, Ints
from sfumato.core.errors import InputError
from sfumato.schema import Event, EventKind, Kind, QuasiIdentifier
from sfumato.table import scalars, table
from sfumato.table.numbering import RawColumn
from sfumato.table.sources import from_numpy, is_moment, is_number, is_text, matching
from sfumato.table.spellings import readings

MOSTLY = 0.9
"""Share of numbers and dates from which a column of text is worth a warning."""
_NUMERIC = "numbers such as 12 or 3.5, or dates as YYYY-MM-DD"
_MISSING_ADVICE = "texts that stand for a missing value can be named in the schema's 'missing'"
_DATE_LIMITS = "dates from year 1 to 9999; with a time of day, from 1685 to 2254"
_NUMBER_LIMITS = "numbers between -2**53 and 2**53 (about 9 * 10**15)"
LARGEST = np.iinfo(np.int64).max
MICROSECONDS = 10**6
_NUMBER = re.compile(r"[+-]?[0-9]{1,400}(\.[0-9]{1,400})?")


@dataclass(frozen=True, eq=False)
class _Contents:
    """Which of a column's distinct values are numbers, dates, infinite; the rest is text."""

    numbers: Bools
    dates: Bools
    infinite: Bools

    @property
    def others(self) -> Bools:
        return ~(self.numbers | self.dates | self.infinite)

    @property
    def mixed(self) -> bool:
        return bool(self.numbers.any() and self.dates.any())


def encode_quasi_identifier(
    raw: RawColumn, quasi: QuasiIdentifier, missing: Sequence[str], warnings: list[str]
) -> table.CodedColumn:
    """Give a quasi-identifier, which is used up, its kind, its domain and its hierarchy."""
    raw = raw.without(scalars.mean_missing(raw.values, missing))
    _check_some(raw, "quasi-identifier")
    contents = _contents(raw.values)
    kind = quasi.kind or _kind_of(raw, contents, warnings)
    domain: table.Domain
    if kind is Kind.NUMERIC:
        raw, domain, lookup = _numeric(raw, contents, missing, warnings)
    else:
        labels = scalars.printed(raw.values)
        domain = table.LabelDomain(_in_order(raw, labels, quasi))
        lookup = _positions(labels, domain.labels)
    hierarchy = None
    if quasi.hierarchy is not None:
        names = [domain.label(code) for code in range(domain.size)]
        # Imported here: few schemas have a hierarchy, and others need not load its readers.
        from sfumato.hierarchies.builders import build_hierarchy

        hierarchy = build_hierarchy(quasi.hierarchy, names, raw.name)
    ends = coded_ends(quasi, kind, domain, raw.name)
    codes = raw.recoded_in_place(lookup)
    return table.CodedColumn(raw.name, codes, domain, kind, hierarchy, quasi.weight, ends)


def encode_sensitive(
    raw: RawColumn, missing: Sequence[str], warnings: list[str]
) -> table.CodedColumn:
    """Give a sensitive attribute its categories, in order of first appearance; uses it up.

    Values that a reader takes for one are one category: whatever counts categories counts what is
    said, not how it is spelled. The released texts stay as they are.
    """
    raw = raw.without(scalars.mean_missing(raw.values, missing))
    found, read = readings(raw.values), None
    if found is not None:
        said = np.array([each is None for each in found], dtype=np.bool_)
        if said.any():
            warnings.append(
                f"sensitive attribute '{raw.name}' has words for a missing value, which counts as "
                f"none, in {raw.at(said)}."
            )
        raw, read = raw.without(said), [each for each in found if each is not None]
    _check_some(raw, "sensitive attribute")
    if read is None or len(set(read)) == len(read):
        domain, lookup = _labelled(raw.values)
        return table.CodedColumn(raw.name, raw.recoded_in_place(lookup), domain)
    label: dict[str, str] = {}
    for key, text in zip(read, scalars.printed(raw.values), strict=True):
        # The least spelling, not the first one: it does not depend on the order of the records.
        label[key] = min(label.get(key, text), text)
    warnings.append(
        f"sensitive attribute '{raw.name}' has {len(read):,} spellings (values: {len(label):,}); "
        "spellings of one value count as one."
    )
    return table.CodedColumn(
        raw.name,
        raw.recoded(_positions(read, list(label))),
        table.LabelDomain(tuple(label.values())),
    )


def encode_event(
    raw: RawColumn, event: Event, missing: Sequence[str], warnings: list[str]
) -> table.EventColumn:
    """Give a column that says something of an event its domain and its hierarchy."""
    raw = raw.without(scalars.mean_missing(raw.values, missing))
    _check_some(raw, "column of events")
    domain: table.Domain
    if event.kind in (EventKind.DATE, EventKind.AMOUNT):
        contents = _contents(raw.values)
        _check_event(raw, event, contents)
        raw, domain, lookup = _numeric(raw, contents, missing, warnings)
    else:
        domain, lookup = _labelled(raw.values)
    hierarchy = None
    if event.hierarchy is not None:
        from sfumato.hierarchies.builders import build_hierarchy

        names = [domain.label(code) for code in range(domain.size)]
        hierarchy = build_hierarchy(event.hierarchy, names, raw.name)
        if event.level > hierarchy.height:
            raise InputError(
                f"event '{raw.name}'",
                "must be known at a level that its hierarchy has",
                found=f"level {event.level} of {hierarchy.height}",
                accepted=f"level 1 to level {hierarchy.height}",
            )
    # Not in place: a sensitive column is encoded from the same codes once more.
    return table.EventColumn(raw.name, raw.recoded(lookup), domain.size, event, domain, hierarchy)


def _check_event(raw: RawColumn, event: Event, contents: _Contents) -> None:
    """Refuse a column of dates that holds no dates, one of amounts that holds no numbers."""
    dates = event.kind is EventKind.DATE
    wrong = ~(contents.dates if dates else contents.numbers)
    if wrong.any():
        raise InputError(
            f"column '{raw.name}'",
            f'must hold {"dates" if dates else "numbers"}, as an event of kind = "{event.kind}"',
            found=f"others in {raw.at(wrong)}",
            accepted="dates as YYYY-MM-DD" if dates else "numbers such as 12 or 3.5",
            advice=_MISSING_ADVICE,
        )


def _check_some(raw: RawColumn, role: str) -> None:
    if not len(raw.values):
        raise InputError(
            f"column '{raw.name}'",
            f"must hold values, as a {role}",
            found="missing values only",
            advice="remove it from the schema, or check which texts the schema calls missing",
        )


def _kind_of(raw: RawColumn, contents: _Contents, warnings: list[str]) -> Kind:
    """Numeric for numbers or dates throughout, else categorical."""
    subject = f"column '{raw.name}'"
    if contents.others.any():
        known, strange = raw.records - raw.missing, raw.count(contents.others)
        if not pa.types.is_boolean(raw.values.type) and strange <= (1 - MOSTLY) * known:
            warnings.append(
                f"{subject} is taken as categorical: it holds numbers or dates but for text in "
                f'{raw.at(contents.others)}. Declare kind = "numeric" and name that text in '
                "'missing' if it stands for a missing value."
            )
        return Kind.CATEGORICAL
    if contents.mixed:
        warnings.append(
            f"{subject} is taken as categorical: it holds numbers and dates "
            f"(dates in {raw.at(contents.dates)})."
        )
        return Kind.CATEGORICAL
    return Kind.NUMERIC


def _contents(values: pa.Array) -> _Contents:
    kind, none = values.type, np.zeros(len(values), dtype=np.bool_)
    if is_text(kind):
        return _Contents(
            scalars.are_numbers(values), scalars.are_dates(values), scalars.are_infinite(values)
        )
    if pa.types.is_floating(kind):
        infinite = scalars.are_infinite(values)
        return _Contents(~infinite, none, infinite)
    if is_number(kind):
        return _Contents(~none, none, none)
    return _Contents(none, ~none, none) if is_moment(kind) else _Contents(none, none, none)


def _numeric(
    raw: RawColumn, contents: _Contents, missing: Sequence[str], warnings: list[str]
) -> tuple[RawColumn, table.NumberDomain, Ints]:
    """The domain of a numeric column, and the code of each distinct value in it."""
    _check_numeric(raw, contents)
    if contents.dates.any():
        _check_points(
            raw, scalars.are_outside(raw.values), "dates from year 1 to 9999", _DATE_LIMITS
        )
        points = scalars.date_points(raw.values)
    else:
        text = is_text(raw.values.type)
        width = scalars.padded_width(raw.values) if text else 0
        # Codes of one width mean missing as they are written, other numbers by value: -9.0 is -9.
        if text and not width:
            raw = raw.without(scalars.mean_missing_by_number(raw.values, missing))
            _check_some(raw, "quasi-identifier")
            _warn_of_zeros(raw, warnings)
        _check_points(raw, scalars.are_too_large(raw.values), "numbers below 2**53", _NUMBER_LIMITS)
        points = scalars.number_points(raw.values)
        points = replace(points, width=width)
    if points.rounded:
        warnings.append(
            f"column '{raw.name}' holds numbers with more than {scalars.DIGITS} significant "
            f"digits: they are rounded to {points.decimals} decimal places."
        )
    distinct, lookup = np.unique(points.points, return_inverse=True)
    domain = table.NumberDomain(distinct, points.decimals, points.unit, points.width)
    return raw, domain, lookup


def _check_numeric(raw: RawColumn, contents: _Contents) -> None:
    subject, kind = f"column '{raw.name}'", raw.values.type
    if contents.others.any():
        if contents.others.all() and not is_text(kind):
            found = "true and false" if pa.types.is_boolean(kind) else "times of day"
            advice = 'declare kind = "categorical"'
        else:
            found = f"{_nature(raw.values, contents.others)} in {raw.at(contents.others)}"
            advice = _MISSING_ADVICE
        raise InputError(
            subject,
            "must hold numbers or dates, as a numeric quasi-identifier",
            found=found,
            accepted=_NUMERIC,
            advice=advice,
        )
    if contents.infinite.any():
        raise InputError(
            subject,
            "must hold finite numbers",
            found=f"an infinite number in {raw.at(contents.infinite)}",
            accepted=_NUMERIC,
        )
    if contents.mixed:
        # What is rarer is likelier the mistake, and its first row is named.
        fewer = min((contents.dates, contents.numbers), key=raw.count)
        name = "dates" if fewer is contents.dates else "numbers"
        raise InputError(
            subject,
            "must hold either numbers or dates",
            found=f"both ({name} in {raw.at(fewer)})",
            advice=_MISSING_ADVICE,
        )


def _nature(values: pa.Array, marked: Bools) -> str:
    """What kind of text the marked values are, where they are all of one kind."""
    texts = values.filter(from_numpy(marked))
    # A message may show no value: it says what kind of text stands there.
    for nature, pattern in (
        ("dates in another form", r"^\s*(\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{4}-\d{2})([ T].*)?$"),
        (
            "numbers with a decimal comma or separators of thousands",
            r"^\s*[+-]?\d+([ ,.']\d+)+\s*$",
        ),
        (
            "numbers with a unit or sign",
            r"^\s*(\p{Sc}\s*[+-]?[\d.,]+|[<>~=]+\s*[\d.,]+|[\d.,]+\s*\D+)$",
        ),
    ):
        if matching(texts, pattern).all():
            return nature
    return "text"


def _check_points(raw: RawColumn, refused: Bools, what: str, accepted: str) -> None:
    if refused.any():
        raise InputError(
            f"column '{raw.name}'",
            f"must hold {what}, as a numeric quasi-identifier",
            found=f"others in {raw.at(refused)}",
            accepted=accepted,
            advice='declare identifiers and codes as kind = "categorical"; values that stand '
            "for a missing value can be named in the schema's 'missing'",
        )


def _warn_of_zeros(raw: RawColumn, warnings: list[str]) -> None:
    lost = scalars.loses_zeros(raw.values)
    if lost.any():
        warnings.append(
            f"column '{raw.name}' is numeric and holds numbers of several lengths with leading "
            f"zeros ({raw.at(lost)}): the zeros are not kept; declare codes as categorical."
        )


def _in_order(raw: RawColumn, labels: list[str], quasi: QuasiIdentifier) -> tuple[str, ...]:
    """The categories that occur, in the order that the schema gives, the file, or nature."""
    occurring = set(labels)
    if quasi.order is not None:
        named = set(quasi.order)
        strange = np.fromiter((label not in named for label in labels), np.bool_, len(labels))
        if strange.any():
            raise InputError(
                f"column '{raw.name}'",
                "must hold only the categories of its 'order'",
                found=f"others in {raw.at(strange)}",
                advice="add them to 'order' in the spelling of the data, or to 'missing'",
            )
        return tuple(label for label in quasi.order if label in occurring)
    natural = scalars.natural_order(occurring)
    if quasi.kind is Kind.ORDERED and isinstance(quasi.hierarchy, Path):
        from sfumato.hierarchies.builders import leaf_order

        leaves = leaf_order(quasi.hierarchy)
        rank = {leaf: place for place, leaf in enumerate(leaves)}
        natural.sort(key=lambda label: rank.get(label, len(rank)))
    return tuple(natural)


def _labelled(values: pa.Array) -> tuple[table.LabelDomain, Ints]:
    """Texts in the order of their first record, and the place of each value among them."""
    labels = scalars.printed(values)
    domain = table.LabelDomain(tuple(dict.fromkeys(labels)))
    return domain, _positions(labels, domain.labels)


def _positions(labels: Sequence[str], order: Sequence[str]) -> Ints:
    place = {label: code for code, label in enumerate(order)}
    return np.fromiter((place[label] for label in labels), np.int64, len(labels))


def coded_ends(
    quasi: QuasiIdentifier, kind: Kind, domain: table.Domain, column: str
) -> table.CodedEnds | None:
    """Find the codes that are bottom- and top-coded; ``None`` where none is."""
    if quasi.bottom is None and quasi.top is None:
        return None
    if kind is Kind.CATEGORICAL:
        raise InputError(
            f"column '{column}'",
            "must be numeric or ordered to be top- or bottom-coded",
            found="a categorical one",
            advice="declare it as kind = \"ordered\", or leave out 'top' and 'bottom'",
        )
    bottom, top = -1, domain.size
    bottom_label = top_label = ""
    if quasi.bottom is not None:
        bound = _Bound(quasi.bottom, "bottom", column)
        _, bottom, bottom_label = bound.codes(domain, quasi.order)
    if quasi.top is not None:
        top, _, top_label = _Bound(quasi.top, "top", column).codes(domain, quasi.order)
    if bottom >= top:
        raise InputError(
            f"column '{column}'",
            "must have a 'bottom' below its 'top'",
            found="values that are bottom-coded and top-coded",
        )
    if bottom < 0 and top == domain.size:
        return None
    return table.CodedEnds(bottom, top, bottom_label, top_label)


@dataclass(frozen=True)
class _Bound:
    """Where the top or bottom coding of a column begins, as the schema says it."""

    value: float | str
    field: str
    column: str

    def codes(self, domain: table.Domain, order: Sequence[str] | None) -> tuple[int, int, str]:
        """The first code at or above it, the last one at or below it, and how it prints."""
        if isinstance(domain, table.NumberDomain):
            point = self._point(domain)
            # A bound may lie beyond what an array of integers can be searched for.
            low, high = (min(max(end, -LARGEST), LARGEST) for end in (ceil(point), floor(point)))
            first = np.searchsorted(domain.points, low, "left")
            last = np.searchsorted(domain.points, high, "right")
            whole = point == floor(point)
            # A bound between two points has more decimals than the column, and prints as given.
            text = domain.format(floor(point), domain.decimals) if whole else str(self.value)
            return int(first), int(last) - 1, text
        # A bound may be a category that no record has: its place is in the declared order.
        order, text = order or domain.labels, str(self.value)
        if text not in order:
            raise InputError(
                f"column '{self.column}'",
                f"must have a category as its '{self.field}'",
                found="another text",
                accepted="a category of its 'order', or one that occurs",
            )
        place = order.index(text)
        ranks = [order.index(label) for label in domain.labels]
        first = np.searchsorted(ranks, place, "left")
        return int(first), int(np.searchsorted(ranks, place, "right")) - 1, text

    def _point(self, domain: table.NumberDomain) -> Decimal:
        """It on the integer scale of the domain's points, perhaps between two of them."""
        numbers = domain.unit == "number"
        point = self._scaled(domain.decimals) if numbers else self._since_epoch(domain)
        if point is None:
            raise InputError(
                f"column '{self.column}'",
                f"must have a '{self.field}' of its own kind",
                found="something else",
                accepted="a number" if numbers else "a date in ISO form",
            )
        return point

    def _scaled(self, decimals: int) -> Decimal | None:
        if isinstance(self.value, str) and _NUMBER.fullmatch(self.value) is None:
            return None
        # By its decimal digits, as the points are scaled: the float 0.1 is not a tenth exactly.
        return Decimal(str(self.value)).scaleb(decimals)

    def _since_epoch(self, domain: table.NumberDomain) -> Decimal | None:
        """Days, or microseconds for a column of datetimes, since 1970."""
        try:
            if domain.unit == "date":
                return Decimal((date.fromisoformat(str(self.value)) - table.EPOCH).days)
            moment = datetime.fromisoformat(str(self.value)).replace(tzinfo=UTC) - table.EPOCH_TIME
        except ValueError:
            return None
        seconds = moment.days * 86_400 + moment.seconds
        return Decimal(seconds * MICROSECONDS + moment.microseconds)
