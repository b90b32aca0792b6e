"""The bars of a distribution's plot, none of which shows a rare value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies import Range, format_released
from sfumato.kernels.key_numbering import number_by_first_appearance
from sfumato.schema import Kind
from sfumato.table.table import MISSING, CodedColumn, Codes, NumberDomain

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
BINS = 20
"""Most bins between the two percentiles of a numeric column."""
PERCENTILES = (0.01, 0.99)
"""Shares of the records below the first and up to the last bin that is not an open end."""
MOST_CATEGORIES = 30
"""Most bars of an ordered or categorical column."""
FEWEST_PERSONS = 10
"""A bar with fewer persons is merged: numeric with its neighbour, others into one bar."""


@dataclass(frozen=True, eq=False)
class Bars:
    """How the values of a column are gathered into bars.

    Attributes
    ----------
    of_code
        Bar of each code; shape (domain size,).
    labels
        What each bar is called.
    edges
        Numeric columns: where one bar ends and the next begins, in the column's own unit
        (numbers; days, or microseconds for datetimes, since 1970); one less than bars, as the
        first and last are open.
    edge_labels
        The edges as printed values.
    """

    of_code: Ints
    labels: tuple[str, ...]
    edges: tuple[float, ...] = ()
    edge_labels: tuple[str, ...] = ()


def make_bars(column: CodedColumn, person: Codes) -> Bars:
    """Choose the bars of a column.

    A numeric column has up to 20 bins of equal width between the 1st and 99th percentile and
    two open ends. Their width is a multiple of the step in which the values come, so that
    every bin has room for as many of them. Neighbours are merged until each bar has at least
    10 persons, a person counting in the bar of the highest value. An ordered or categorical
    column has a bar for each category of at least 10 persons, at most 30 in all; the others
    share one.

    Parameters
    ----------
    column
        The quasi-identifier before release.
    person
        Person of each record; shape (records,).
    """
    known = column.codes != MISSING
    codes, owner, size = column.codes[known], person[known], column.domain.size
    records = np.bincount(codes, minlength=size)
    return bars_of(column, records, persons_of_codes(column, codes, owner))


def persons_of_codes(
    column: CodedColumn, codes: Codes, person: Codes, weight: Floats | None = None
) -> Ints:
    """The persons of each code: those who have it; of numbers, those whose highest it is.

    Parameters
    ----------
    column
        The quasi-identifier.
    codes
        Code of each record that has one; shape (records,).
    person
        Person of each of them; shape (records,).
    weight
        How many persons each one stands for; shape (persons,). One each without it.

    Returns
    -------
    array
        Shape (domain size,).
    """
    size, persons = column.domain.size, int(person.max()) + 1 if len(person) else 0
    if column.kind is Kind.NUMERIC:
        highest = np.full(persons, MISSING, dtype=np.int32)
        np.maximum.at(highest, person, codes)
        owner = np.flatnonzero(highest != MISSING)
        found = highest[owner]
    else:
        pair, pairs = number_by_first_appearance(
            person.astype(np.int64) * size + codes, persons * size
        )
        owner, found = np.empty(pairs, dtype=np.int64), np.empty(pairs, dtype=np.int32)
        owner[pair], found[pair] = person, codes
    counts = np.bincount(found, None if weight is None else weight[owner], size)
    return counts.astype(np.int64)


def bars_of(column: CodedColumn, records: Ints, persons: Ints) -> Bars:
    """The bars of a column, from counts alone; see `make_bars`.

    Parameters
    ----------
    column
        The quasi-identifier; its codes are not looked at.
    records
        Records with each code; shape (domain size,).
    persons
        Persons of each code, as `persons_of_codes` counts them; shape (domain size,).
    """
    if column.kind is Kind.NUMERIC and isinstance(column.domain, NumberDomain):
        return _bins(column.domain, records, persons)
    return _categories(column, persons)


def _bins(domain: NumberDomain, records: Ints, persons: Ints) -> Bars:
    below = np.cumsum(records)
    share = np.asarray(PERCENTILES) * records.sum()
    low, high = domain.points[np.minimum(np.searchsorted(below, share), domain.size - 1)].tolist()
    step = max(int(np.gcd.reduce(np.diff(domain.points))) if domain.size > 1 else 1, 1)
    values = (high - low) // step + 1
    width = step * -(-values // BINS)
    edges = low + width * np.arange(-(-values * step // width) + 1)
    of_code = np.searchsorted(edges, domain.points, side="right")
    of_bar = np.bincount(of_code, weights=persons, minlength=len(edges) + 1)
    edges = edges[_large_enough(of_bar.astype(np.int64))]
    texts = [domain.format(edge, domain.decimals) for edge in edges.tolist()]
    lasts = [domain.format(edge - step, domain.decimals) for edge in edges.tolist()]
    inner = [
        format_released(Range(start, end), Kind.NUMERIC) or ""
        for start, end in zip(texts[:-1], lasts[1:], strict=True)
    ]
    ends = (f"below {texts[0]}", f"{texts[-1]} and above") if texts else ("any value",)
    unit = 10**domain.decimals if domain.unit == "number" else 1
    return Bars(
        np.searchsorted(edges, domain.points, side="right").astype(np.int64),
        (ends[0], *inner, *ends[1:]),
        tuple((edges / unit).tolist()),
        tuple(texts),
    )


def _large_enough(persons: Ints) -> list[int]:
    """The edges that stay when bars are merged from the left until all are large enough."""
    edges: list[int] = []
    gathered = 0
    for bar, count in enumerate(persons.tolist()):
        gathered += count
        if gathered >= FEWEST_PERSONS:
            edges.append(bar)
            gathered = 0
    return edges[:-1]


def _categories(column: CodedColumn, persons: Ints) -> Bars:
    size = column.domain.size
    by_persons = np.argsort(-persons, kind="stable")
    shown = by_persons[persons[by_persons] >= FEWEST_PERSONS]
    if len(shown) < size or size > MOST_CATEGORIES:
        shown = shown[: MOST_CATEGORIES - 1]
    shown = np.sort(shown)
    of_code = np.full(size, len(shown))
    of_code[shown] = np.arange(len(shown))
    labels = [column.domain.label(code) for code in shown.tolist()]
    if others := size - len(shown):
        labels.append(f"other ({others} {'category' if others == 1 else 'categories'})")
    return Bars(of_code, tuple(labels))
