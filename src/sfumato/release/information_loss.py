"""What is lost when class means take the place of values: error, variance, penalty, correlation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.kernels.key_numbering import number_by_first_appearance
from sfumato.release.generalisation import class_spread, is_snapped, shown_spread, snapped_points
from sfumato.release.release_options import Form
from sfumato.schema import Kind
from sfumato.table.table import MISSING, CodedColumn, Codes, NumberDomain

Matrix = tuple[tuple[float, ...], ...]
RECORDS_AT_ONCE = 1 << 18
"""Records that are looked at together."""
WHOLE = 1 - 1e-9
"""Penalties above this are those of cells that may stand for any value."""
GRIDS = 1 << 13
"""Most combinations of levels that a bound is found for."""
GRID_RECORDS = 1 << 25
"""Records of all grids that are looked at before the last round for a bound."""
RAISED = (3.0, 1.5, 1.3, 1.2, 1.1)
"""By what each round for a bound raises the shares before it lowers them; the losses at first, as
too small shares stay as they are and too large ones do not."""
CERTAIN = 1e-12
"""Differences of losses below this are rounding."""
LARGEST_KEY = 1 << 62
NO_VARIANCE = 1e-12
"""Variances up to this share of the mean square are rounding errors of constant columns."""


def steps(column: CodedColumn) -> Floats:
    """Each code as a whole number: its distance from the lowest value, or its rank.

    Divided by the last one they are the unit scale of paper 003, Section 4; kept whole, the
    sums of equal values give exactly their mean.

    Parameters
    ----------
    column
        A numeric or ordered quasi-identifier, or one with two categories.

    Returns
    -------
    array
        Shape (domain size,), ascending from 0.
    """
    domain = column.domain
    if isinstance(domain, NumberDomain):
        return (domain.points - domain.points[:1]).astype(np.float64)
    return np.arange(domain.size, dtype=np.float64)


def full_range(values: Floats) -> float:
    """The last of the steps; 1 for a constant column, so that one can divide by it."""
    return float(values[-1]) if len(values) > 1 else 1.0


def class_means(
    column: CodedColumn, class_of: Codes, classes: int, weight: Floats | None = None
) -> Floats:
    """Mean of each class over its records, weighted or not, in steps; 0 where none has a value.

    Classes and weights have shape (records,).
    """
    has_value = column.codes != MISSING
    codes, of = column.codes[has_value], class_of[has_value]
    x, times = steps(column)[codes], None if weight is None else weight[has_value]
    total = np.bincount(of, weights=x if times is None else x * times, minlength=classes)
    return total / np.maximum(np.bincount(of, weights=times, minlength=classes), 1)


def category_shares(
    codes: Codes, class_of: Codes, size: int, classes: int, weight: Floats | None = None
) -> Floats:
    """Share of each record's category among the records of its class.

    O(records), by numbering the pairs of class and category.

    Parameters
    ----------
    codes
        Category of each record, none missing; shape (records,).
    class_of
        Class of each record; shape (records,).
    weight
        How many records each one stands for; shape (records,). One each without it.
    """
    pair, pairs = number_by_first_appearance(
        class_of.astype(np.int64) * size + codes, classes * size
    )
    together = np.bincount(pair, weights=weight, minlength=pairs)
    records = np.bincount(class_of, weights=weight, minlength=classes)
    shares: Floats = together[pair] / records[class_of]
    return shares


def discernibility(sizes: Ints, suppressed: int) -> int:
    """Discernibility Σ N_t² + suppressed · N (Bayardo & Agrawal 2005), as an exact integer.

    Each record costs the number of records that it cannot be told from, N_t; a suppressed one
    cannot be told from any of the file.
    """
    distinct, counts = np.unique(sizes, return_counts=True)
    return discernibility_of(dict(zip(distinct.tolist(), counts.tolist(), strict=True)), suppressed)


def discernibility_of(classes: Mapping[int, int], suppressed: int) -> int:
    """The same of how many classes have each number of records."""
    squares = sum(size * size * count for size, count in classes.items())
    kept = sum(size * count for size, count in classes.items())
    return squares + suppressed * (kept + suppressed)


def certainty_penalty(
    column: CodedColumn, class_of: Codes, classes: int, leaves: Ints, form: Form
) -> Floats:
    """NCP of each class's cell, from 0 for one value to 1 for any (Xu et al. 2006).

    A numeric cell that is not a set and not a hierarchy's label counts (highest - lowest) of
    the class, or of its ends on a grid, over that of the domain; every other one counts
    (leaves - 1)/(domain size - 1).
    A missing value costs nothing, as does a constant domain. Its mean over all columns and
    original records, each suppressed one with 1, is the global certainty penalty (GCP) of
    Ghinita et al. 2007.

    Parameters
    ----------
    column
        The quasi-identifier of the kept records; its domain is that of the whole file.
    class_of
        Class of each kept record; shape (records,).
    leaves
        Number of the domain's values that each class's cell may stand for; shape (classes,).

    Returns
    -------
    array
        Shape (classes,), in [0, 1].
    """
    size = column.domain.size
    if size <= 1:
        return np.zeros(classes)
    labelled = form is Form.HIERARCHY and column.hierarchy is not None
    if column.kind is not Kind.NUMERIC or labelled or (form is Form.SET and not is_snapped(column)):
        return np.maximum(leaves - 1, 0) / (size - 1)
    spread = shown_spread(column, class_of, classes)
    values = steps(column)
    width = (values[spread.highest] - values[spread.lowest]) / full_range(values)
    if is_snapped(column) and column.ends is None:
        assert isinstance(column.domain, NumberDomain)
        low, high = snapped_points(column.domain, class_spread(column.codes, class_of, classes))
        # Points of the grid lie outside of the values, so that the widest range would exceed 1.
        width = np.minimum((high - low) / np.ptp(column.domain.points), 1.0)
    return np.where(spread.mixed, 1.0, np.where(spread.present == 0, 0.0, width))


def least_penalty(
    columns: Sequence[CodedColumn], lost: Floats, least: int, form: Form
) -> float | None:
    """What classes of so many records lose at least when all columns are released as labels.

    Each label, one node of each column's hierarchy, is a facility that needs ``least`` records, and
    w is what a record loses in it. By duality of the linear programme, numbers λ of the records add
    up to no more than the loss of any release if for no label the ``least`` largest λ among the
    records that it covers exceed ``least`` times w. The losses of a release are raised, and lowered
    until that holds, label by label, the narrowest first; so are the λ that this leaves, and the
    largest sum is taken.
    O(grids of levels x records) for each round.

    Parameters
    ----------
    lost
        Weighted sum of the columns' penalties that each record has in a release; shape (records,).

    Returns
    -------
    float or None
        In the scale of the sum of ``lost``; ``None`` where a column is no label or the levels are
        too many.
    """
    levels = [_levels_of_labels(column, form) for column in columns]
    if least < 1 or not all(levels) or prod(map(len, levels)) > GRIDS:
        return None
    mean = [[float(width.mean()) for _, width in level] for level in levels]
    grids = sorted(
        product(*map(range, map(len, levels))),
        key=lambda grid: sum(each[at] for each, at in zip(mean, grid, strict=True)),
    )
    best, tried, work = np.zeros(len(lost)), lost, 0
    for raised in RAISED:
        if work > GRID_RECORDS:
            break
        tried, more = _shared_out(tried * raised, levels, grids, least)
        best, work = max(best, tried, key=np.sum), work + more
    return float(best.sum())


def _levels_of_labels(column: CodedColumn, form: Form) -> list[tuple[Ints, Floats]]:
    """Label and width of each record at each level; nothing where the cells are no labels."""
    labelled = column.hierarchy is not None and form is Form.HIERARCHY
    if column.ends is not None or form not in (Form.RANGE, Form.HIERARCHY):
        return []
    if column.kind is not Kind.CATEGORICAL and not labelled:
        return []
    size = column.domain.size
    known = [np.arange(size)] if column.hierarchy is None else [*column.hierarchy.ancestors]
    levels = [np.append(labels, labels.max(initial=-1) + 1) for labels in known]
    found: list[tuple[Ints, Floats]] = []
    for labels in [*levels, np.zeros(size + 1, dtype=np.int64)]:
        covered = np.bincount(labels[:-1], minlength=int(labels.max()) + 1)
        width = np.maximum(covered - 1, 0) / max(size - 1, 1) * column.weight
        cells = labels[column.codes]
        shown = np.where(column.codes == MISSING, 0.0, width[cells])
        # At the root a missing value is one of the values that * stands for, and loses all.
        if labels[-1] == 0:
            shown = np.full(len(cells), column.weight if size > 1 else 0.0)
        # Labels that cost the same cover the same, but for missing values.
        if found and np.array_equal(shown, found[-1][1]):
            found.pop()
        found.append((cells.astype(np.int64), shown))
    return found


def _shared_out(
    shares: Floats,
    levels: Sequence[list[tuple[Ints, Floats]]],
    grids: Sequence[tuple[int, ...]],
    least: int,
) -> tuple[Floats, int]:
    """Shares lowered until no label's largest ones exceed its loss; and the records looked at."""
    shares, work = shares.copy(), 0
    for grid in grids:
        chosen = [level[at] for level, at in zip(levels, grid, strict=True)]
        width = np.sum([width for _, width in chosen], axis=0)
        if not (shares > width + CERTAIN).any():
            continue
        key, space = np.zeros(len(shares), dtype=np.int64), 1
        for cells, _ in chosen:
            size = int(cells.max()) + 1
            if space > LARGEST_KEY // size:
                numbered, space = number_by_first_appearance(key, space)
                key = numbered.astype(np.int64)
            key, space = key * size + cells, space * size
        label, labels = number_by_first_appearance(key, space)
        above = np.zeros(labels, dtype=bool)
        above[label[shares > width + CERTAIN]] = True
        # A label that covers fewer records than a class needs can be the cell of no class.
        above &= np.bincount(label, minlength=labels) >= least
        members = np.flatnonzero(above[label])
        members = members[np.lexsort((-shares[members], label[members]))]
        of, over = label[members], shares[members] - width[members]
        first = np.flatnonzero(np.diff(of, prepend=-1))
        rank = np.arange(len(of)) - np.repeat(first, np.diff(np.append(first, len(of))))
        top = rank < least
        more, fewer = (
            np.bincount(of[top], np.maximum(each[top], 0), labels) for each in (over, -over)
        )
        # What lies above the loss is scaled to what lies below it, so that the order stays.
        lowered = (more > fewer)[of] & (over > 0)
        scale = (fewer / np.maximum(more, CERTAIN))[of]
        shares[members[lowered]] = (width[members] + over * scale)[lowered]
        work += len(shares)
    return shares, work


class SquaredError(NamedTuple):
    """Sums of squares over the records that have a value, on the unit scale."""

    sse: float
    sst: float

    @property
    def ratio(self) -> float:
        """SSE/SST in [0, 1]; 0 when the column does not vary."""
        return self.sse / self.sst if self.sst > 0 else 0.0


def squared_error(column: CodedColumn, class_of: Codes, classes: int) -> SquaredError:
    """SSE and SST of one quasi-identifier (Domingo-Ferrer & Mateo-Sanz 2002).

    A categorical attribute is one 0/1 column per category. Over a class of n records with the
    shares p_c their squared distances add up to n(1 - Σ p_c²), the sum of 1 - p over its records, p
    being the share of the record's category. Half of it is taken, so that two categories weigh as
    much as their single 0/1 column.
    """
    counts = np.bincount(column.codes[column.codes != MISSING], minlength=column.domain.size)
    return SquaredError(sse(column, class_of, classes), sst(column, counts))


def sse(column: CodedColumn, class_of: Codes, classes: int, weight: Floats | None = None) -> float:
    """Sum of squared distances from the class mean; those of groups of whole classes add up.

    Classes and weights, if any, have shape (records,).
    """
    has_value = column.codes != MISSING
    codes, of = column.codes[has_value], class_of[has_value]
    times = None if weight is None else weight[has_value]
    if not len(codes):
        return 0.0
    if column.kind is Kind.CATEGORICAL:
        within = 1 - category_shares(codes, of, column.domain.size, classes, times)
        return float(within.sum() if times is None else within @ times) / 2
    values = steps(column)
    squares = np.square(values[codes] - class_means(column, class_of, classes, weight)[of])
    return float(squares.sum() if times is None else squares @ times) / full_range(values) ** 2


def sst(column: CodedColumn, counts: Ints) -> float:
    """Sum of squared distances from the mean of all records; counts have shape (domain size,)."""
    records = int(counts.sum())
    if not records:
        return 0.0
    if column.kind is Kind.CATEGORICAL:
        return float((counts * (1 - counts / records)).sum()) / 2
    values = steps(column)
    squares = np.square(values - float(counts @ values) / records)
    return float(counts @ squares) / full_range(values) ** 2


@dataclass(frozen=True, eq=False)
class Alike:
    """How many records and persons each one stands for.

    Attributes
    ----------
    times
        Records of its person that each record stands for; shape (records,).
    persons
        Persons of the same records that each person stands for; shape (persons,).
    """

    times: Floats
    persons: Floats

    def records(self, person: Codes) -> Floats:
        """How many records of the file each record stands for; shape (records,)."""
        stood_for: Floats = self.times * self.persons[person]
        return stood_for


class ErrorSums(NamedTuple):
    """Errors of records and of persons, summed in steps.

    Attributes
    ----------
    over_records, records
        Sum over the records that have a value, and how many these are.
    """

    over_records: float
    records: float
    over_persons: float
    persons: float
    span: float = 1.0

    @property
    def averages(self) -> tuple[float, float]:
        """Mean over the records, and over the persons, that have a value; 0 when none has."""
        if not self.records:
            return 0.0, 0.0
        over_records, over_persons = (
            self.over_records / self.records,
            self.over_persons / self.persons,
        )
        return over_records / self.span, over_persons / self.span


def normalized_error(
    column: CodedColumn, class_of: Codes, classes: int, person: Codes
) -> tuple[float, float]:
    """ANE of one quasi-identifier, averaged over records and averaged over persons.

    Paper 003, Section 7: the mean of |x - x*|, with x normalised to [0, 1] once over the whole
    file and x* the mean of x over the records of the class, whatever form is released. The
    tables of the paper print ANE on another scale, which it does not give: only the order of
    two releases can be compared with them.

    A numeric x is the normalised value, an ordered one the normalised rank. A categorical
    attribute is one 0/1 column per category (as in LeFevre et al. 2006). With p_c the share of
    category c in the class, a record of category a differs from the class mean by 1 - p_a in
    column a and by p_c in every other column c, which add up to 2(1 - p_a). Half of that sum is
    the error of the attribute: 1 - p_a lies in [0, 1], and for two categories it is the error
    of their single 0/1 column.

    For a person, x is the mean over the person's records; of a categorical attribute the error
    is half the L1 distance between the shares of the categories in the person's records and in
    the class. With one record per person both averages are equal.

    Parameters
    ----------
    class_of
        Class of each kept record; shape (records,).
    person
        Person of each kept record; shape (records,). A person is in one class.

    Returns
    -------
    tuple
        Mean over the records, and over the persons, that have a value; 0 when none has.
    """
    return error_sums(column, class_of, classes, person).averages


def error_sums(
    column: CodedColumn,
    class_of: Codes,
    classes: int,
    person: Codes,
    alike: Alike | None = None,
) -> ErrorSums:
    """The sums behind `normalized_error`; those of several groups of whole classes add up.

    Parameters
    ----------
    class_of
        Class of each kept record; shape (records,).
    person
        Person of each kept record; shape (records,). A person is in one class.
    alike
        How many each record and person stands for; one each without it.
    """
    has_value = column.codes != MISSING
    if not has_value.any():
        return ErrorSums(0.0, 0, 0.0, 0)
    persons = None if alike is None else alike.persons
    times = None if alike is None else alike.times[has_value]
    weight = None if alike is None else alike.records(person)
    if column.kind is Kind.CATEGORICAL:
        return _of_categories(
            column.codes[has_value],
            class_of[has_value],
            (column.domain.size, classes),
            person[has_value],
            None if persons is None or times is None else Alike(times, persons),
        )
    values = steps(column)
    means = class_means(column, class_of, classes, weight)
    owner, x, mean = person[has_value], values[column.codes[has_value]], means[class_of[has_value]]
    # Divided by the range at the end, so that whole steps of equal values cancel exactly.
    off, span = np.abs(x - mean), full_range(values)
    if times is not None and weight is not None:
        off, x, mean = off * weight[has_value], x * times, mean * times
    records = np.bincount(owner, weights=times)
    present = records > 0
    apart = np.bincount(owner, weights=x) - np.bincount(owner, weights=mean)
    each = np.abs(apart[present]) / records[present]
    return ErrorSums(
        float(off.sum()),
        len(x) if weight is None else float(weight[has_value].sum()),
        float(each.sum() if persons is None else each @ persons[: len(present)][present]),
        len(each) if persons is None else float(persons[: len(present)][present].sum()),
        span,
    )


def _of_categories(
    codes: Codes,
    class_of: Codes,
    shape: tuple[int, int],
    person: Codes,
    alike: Alike | None,
) -> ErrorSums:
    """Half the L1 distance is the sum of what the person has more of than the class."""
    size, classes = shape
    weight = None if alike is None else alike.records(person)
    times = None if alike is None else alike.times
    share = category_shares(codes, class_of, size, classes, weight)
    records = np.bincount(person, weights=times)
    pair, pairs = number_by_first_appearance(
        person.astype(np.int64) * size + codes, len(records) * size
    )
    owner, in_class = np.empty(pairs, dtype=np.int64), np.empty(pairs)
    owner[pair], in_class[pair] = person, share
    own = np.bincount(pair, weights=times, minlength=pairs) / records[owner]
    more, off = np.maximum(own - in_class, 0.0), 1 - share
    if alike is None or weight is None:
        persons = int(np.count_nonzero(records))
        return ErrorSums(float(off.sum()), len(codes), float(more.sum()), persons)
    present = alike.persons[: len(records)][records > 0]
    return ErrorSums(
        float(off @ weight),
        float(weight.sum()),
        float(more @ alike.persons[owner]),
        float(present.sum()),
    )


@dataclass(frozen=True)
class CorrelationChange:
    """Pearson correlations before and after release.

    Attributes
    ----------
    columns
        Names of the columns: numeric, ordered, and categorical with two categories.
    after
        Correlations of the same records' class means; 0 where a column has become constant.
    mean_change, max_change
        Mean and maximum of |after - before| over pairs of columns; 0 without a pair.
    """

    columns: tuple[str, ...]
    before: Matrix
    after: Matrix
    mean_change: float
    max_change: float

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "columns": list(self.columns),
            "before": [list(row) for row in self.before],
            "after": [list(row) for row in self.after],
            "mean_change": self.mean_change,
            "max_change": self.max_change,
        }


def correlation_change(
    columns: Sequence[CodedColumn], class_of: Codes, classes: int
) -> CorrelationChange:
    """Compare the correlation matrices of values and of class means.

    A pair of columns is compared over the records that have a value in both. The correlation with a
    constant column is 0.
    """
    chosen = [column for column in columns if has_scale(column)]
    before, after = moments(chosen, class_of, classes)
    return change_of(chosen, before, after)


def moments(
    chosen: Sequence[CodedColumn],
    class_of: Codes,
    classes: int,
    weight: Floats | None = None,
    centre: Floats | None = None,
) -> tuple[Moments, Moments]:
    """Sums over the records' values, and over their class means.

    Those of several groups of whole classes add up where they have one centre.

    Parameters
    ----------
    class_of
        Class of each kept record; shape (records,).
    weight
        How many records each one stands for; shape (records,). One each without it.
    centre
        What values are taken from, about their means; shape (columns,).
    """
    scales = [steps(coded_column) / full_range(steps(coded_column)) for coded_column in chosen]
    means = [
        class_means(column, class_of, classes, weight) / full_range(steps(column))
        for column in chosen
    ]
    before = Moments([np.append(scale, 0.0) for scale in scales], centre)
    after = Moments(means, centre)
    # A matrix of all records and columns would need more memory than the file.
    for start in range(0, len(class_of), RECORDS_AT_ONCE):
        part = slice(start, start + RECORDS_AT_ONCE)
        has_value = [coded_column.codes[part] != MISSING for coded_column in chosen]
        times = None if weight is None else weight[part]
        before.add([column.codes[part] for column in chosen], has_value, times)
        after.add([class_of[part]] * len(chosen), has_value, times)
    return before, after


def change_of(chosen: Sequence[CodedColumn], before: Moments, after: Moments) -> CorrelationChange:
    """The correlations and how they changed."""
    correlations, other = before.correlations(), after.correlations()
    change = np.abs(other - correlations)[np.triu_indices(len(chosen), 1)]
    return CorrelationChange(
        tuple(coded_column.name for coded_column in chosen),
        tuple(map(tuple, correlations.tolist())),
        tuple(map(tuple, other.tolist())),
        float(change.mean()) if len(change) else 0.0,
        float(change.max()) if len(change) else 0.0,
    )


def has_scale(column: CodedColumn) -> bool:
    """Whether a column has values that can be correlated: numbers, ranks or two categories."""
    return column.domain.size == 2 or (
        column.kind is not Kind.CATEGORICAL and column.domain.size > 1
    )


class Moments:
    """Sums over records of values, squares and products, for each pair of columns.

    Values are taken from the mean of the first records, so that little is lost by subtraction.

    Parameters
    ----------
    centre
        What values are taken from; that of the first records without it.

    Attributes
    ----------
    sums
        Count, total, squares and products; shape (4, columns, columns).
    """

    def __init__(self, values: list[Floats], centre: Floats | None = None) -> None:
        self.values = values
        self.centre = centre
        self.sums = np.zeros((4, len(values), len(values)))

    def add(
        self,
        indices: list[Codes],
        has_value: list[Bools],
        weight: Floats | None = None,
    ) -> None:
        """Add records, given the index of each one's value per column."""
        if not self.values:
            return
        present = np.column_stack(has_value).astype(np.float64)
        x = np.column_stack(
            [values[index] for values, index in zip(self.values, indices, strict=True)]
        )
        if self.centre is None:
            self.centre = (x * present).sum(axis=0) / np.maximum(present.sum(axis=0), 1)
        x = (x - self.centre) * present
        times = present if weight is None else present * weight[:, None]
        weighed = x if weight is None else x * weight[:, None]
        self.sums += (
            times.T @ present,
            weighed.T @ present,
            (x * weighed).T @ present,
            weighed.T @ x,
        )

    def correlations(self) -> Floats:
        """Pearson correlations; 1 on the diagonal."""
        count, total, square, product = self.sums
        count = np.maximum(count, 1)
        mean = total / count
        variance = square / count - mean**2
        # Relative to the mean square, because a difference of two large sums is never exactly 0.
        varies = variance > NO_VARIANCE * square / count
        covariance = product / count - mean * mean.T
        varies &= varies.T
        scale = np.sqrt(np.where(varies, variance * variance.T, 1.0))
        # Rounding may lead a little beyond ±1.
        matrix = np.clip(np.where(varies, covariance / scale, 0.0), -1.0, 1.0)
        np.fill_diagonal(matrix, 1.0)
        return matrix
