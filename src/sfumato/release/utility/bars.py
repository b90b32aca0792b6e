"""The bars of a distribution's plot, none of which shows a rare value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies import Range, format_released
from sfumato.kernels.grouping import number_by_first_appearance
from sfumato.schema import Kind
from sfumato.table.columns import MISSING, CodedColumn, Codes, NumberDomain

Ints = npt.NDArray[np.int64]
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
    10 persons, a person counting in one bar. An ordered or categorical column has a bar for
    each category of at least 10 persons, at most 30 in all; the others share one.

    Parameters
    ----------
    column
        The quasi-identifier before release.
    person
        Person of each record; shape (records,).
    """
    if column.kind is Kind.NUMERIC and isinstance(column.domain, NumberDomain):
        return _bins(column, column.domain, person)
    return _categories(column, person)


def _bins(column: CodedColumn, domain: NumberDomain, person: Codes) -> Bars:
    known = column.codes != MISSING
    codes = column.codes[known]
    below = np.cumsum(np.bincount(codes, minlength=domain.size))
    share = np.asarray(PERCENTILES) * len(codes)
    low, high = domain.points[np.minimum(np.searchsorted(below, share), domain.size - 1)].tolist()
    step = max(int(np.gcd.reduce(np.diff(domain.points))) if domain.size > 1 else 1, 1)
    values = (high - low) // step + 1
    width = step * -(-values // BINS)
    edges = low + width * np.arange(-(-values * step // width) + 1)
    of_code = np.searchsorted(edges, domain.points, side="right")
    one_bar = np.full(int(person.max()) + 1, -1)
    one_bar[person[known]] = of_code[codes]
    persons = np.bincount(one_bar[one_bar >= 0], minlength=len(edges) + 1)
    edges = edges[_large_enough(persons)]
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


def _categories(column: CodedColumn, person: Codes) -> Bars:
    size = column.domain.size
    known = column.codes != MISSING
    pair, pairs = number_by_first_appearance(
        person[known].astype(np.int64) * size + column.codes[known],
        (int(person.max()) + 1) * size,
    )
    category = np.empty(pairs, dtype=np.int64)
    category[pair] = column.codes[known]
    persons = np.bincount(category, minlength=size)
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
