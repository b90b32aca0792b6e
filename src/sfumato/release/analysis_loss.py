"""What analysts lose by a release: counts, tables of two columns, models that are trained on it.

Each of them reads a release as an analyst can who knows nothing else: the records of a class are
spread evenly over what its cells may stand for. They are measured where ``loss`` asks for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.release.distributions import Attribute, make_bars, query_error, released_cells
from sfumato.release.generalisation import generalised
from sfumato.release.release_options import Form, Loss
from sfumato.table.table import MISSING, CodedColumn, Codes, Table

STREAM = 2
"""Number of the stream of the queries by which classes are chosen, which are not those of the
report: otherwise the report would praise what was chosen by itself."""
MOST_VALUES = 30
"""Values of a sensitive column that a model tells apart, the rarest of them as one."""
CHUNK = 1 << 22
"""Most entries of a matrix of records by values."""


@dataclass(frozen=True, eq=False)
class Axis:
    """A column as tables and models see it: in bars of at least ten persons.

    Attributes
    ----------
    bar
        Bar of each original record, one behind all others where it has no value; shape (records,).
    shares
        Share of each class's records that lies in each bar, by the release; shape (classes, bars).
    """

    bar: Ints
    shares: Floats

    @property
    def bars(self) -> int:
        """Number of bars."""
        return int(self.shares.shape[1])


def released_axis(attribute: Attribute, person: Codes) -> Axis:
    """A quasi-identifier in bars, before release and as its cells tell it."""
    column, cells = attribute.column, attribute.cells
    bars = make_bars(column, person)
    count = len(bars.labels)
    inside = np.zeros((column.domain.size, count + 1))
    inside[np.arange(column.domain.size), bars.of_code] = 1.0
    shares = cells.shares(inside)
    # A missing value stands for no value of the domain; its bar is the one behind all others.
    shares[cells.leaves == 0, count] = 1.0
    bar = np.append(bars.of_code, count)[column.codes]
    return Axis(bar, shares[cells.of_class, : bar.max() + 1])


def sensitive_axis(column: CodedColumn, kept: Bools, class_of: Codes) -> Axis:
    """A sensitive column, which is released as it is: its frequent values, and all others as one.

    Which records are released has shape (records,).
    """
    counts = np.bincount(column.codes[column.codes != MISSING], minlength=column.domain.size)
    frequent = np.argsort(-counts, kind="stable")[: MOST_VALUES - 1]
    of_code = np.full(column.domain.size + 1, len(frequent))
    of_code[frequent] = np.arange(len(frequent))
    bar = of_code[column.codes]
    size = int(bar.max()) + 1
    pairs = np.bincount(class_of * np.int64(size) + bar[kept], minlength=size)
    held = np.zeros(((int(class_of.max()) + 1), size))
    held.ravel()[: len(pairs)] = pairs
    return Axis(bar, held / np.maximum(held.sum(axis=1, keepdims=True), 1))


def table_distance(axes: Sequence[Axis], sizes: Ints) -> float:
    """Mean total variation between the tables of any two columns before and after, in [0, 1].

    A record that is not released counts as lost. Of one column alone, that of its distribution.
    O(d² · classes · bars²) for d columns.
    """
    if not axes:
        return 0.0
    records = len(axes[0].bar)
    if len(axes) == 1:
        everybody = Axis(np.zeros(records, dtype=np.int64), np.ones((len(sizes), 1)))
        axes = [*axes, everybody]
    apart = [
        np.abs(_table(one, other) - (one.shares * sizes[:, None]).T @ other.shares).sum()
        for one, other in combinations(axes, 2)
    ]
    # Total variation is half the L1 distance of shares.
    return float(np.mean(apart)) / 2 / records


def _table(one: Axis, other: Axis) -> Floats:
    """The original records by both columns."""
    pairs = np.bincount(one.bar * other.bars + other.bar, minlength=one.bars * other.bars)
    return pairs.reshape(one.bars, other.bars).astype(np.float64)


def bits_lost(axes: Sequence[Axis], targets: Sequence[Axis], sizes: Ints) -> float:
    """How much worse a model foretells that is trained on the release, not on the original.

    The model is naive Bayes with Laplace's correction: it tells a column by all quasi-identifiers
    but itself, and is asked about every original record. Its logarithmic loss, -log2 of the
    probability of the true value, trained on the release less the same trained on the original: the
    mean over records and columns, in bits. Unlike the share of right answers it sees any change.

    Parameters
    ----------
    targets
        The columns that are told: the sensitive ones, or the quasi-identifiers where there are
        none.
    sizes
        Number of released records of each class; shape (classes,).
    """
    lost = []
    for target in targets:
        by = [axis for axis in axes if axis is not target]
        # A column of one bar is foretold by anybody, and would only lower the mean.
        if not by or target.bars < 2:
            continue
        weighted = target.shares * sizes[:, None]
        released = [each.shares.T @ weighted for each in by]
        original = [_table(each, target) for each in by]
        lost.append(_log_loss(by, target, released) - _log_loss(by, target, original))
    return float(np.mean(lost)) if lost else 0.0


def _log_loss(by: Sequence[Axis], target: Axis, counts: Sequence[Floats]) -> float:
    """Mean bits that naive Bayes lacks of the original values, from counts of value by bar."""
    prior = counts[0].sum(axis=0) + 1
    evidence = [np.log((count + 1) / (count.sum(axis=0) + len(count))) for count in counts]
    bits, step = 0.0, max(CHUNK // target.bars, 1)
    for start in range(0, len(target.bar), step):
        some = slice(start, start + step)
        score = np.log(prior) + sum(
            log[axis.bar[some]] for log, axis in zip(evidence, by, strict=True)
        )
        told = np.take_along_axis(score, target.bar[some, None], axis=1)[:, 0]
        score -= told[:, None]
        # The largest is taken out of the sum, as exp of a large score would overflow.
        top = score.max(axis=1)
        bits += float((top + np.log(np.exp(score - top[:, None]).sum(axis=1))).sum()) / np.log(2)
    return bits / len(target.bar)


def lost_by_analysts(loss: Loss, table: Table, class_of: Codes, classes: int, form: Form) -> float:
    """What a release of these classes loses by ``queries``, ``tables`` or ``models``."""
    released, merged, classes = generalised(table, class_of, classes, form)
    class_of = merged[class_of]
    sizes = np.bincount(class_of, minlength=classes).astype(np.int64)
    attributes = [
        Attribute(
            identifier,
            released_cells(identifier, class_of, classes, form, released[identifier.name][0]),
        )
        for identifier in table.quasi_identifiers
    ]
    if loss is Loss.QUERIES:
        return query_error(attributes, sizes, np.random.default_rng(STREAM)).mean
    kept = np.ones(table.records, dtype=bool)
    return measured(loss, attributes, table, kept, class_of, sizes)


def measured(
    loss: Loss,
    attributes: Sequence[Attribute],
    table: Table,
    kept: Bools,
    class_of: Codes,
    sizes: Ints,
) -> float:
    """`table_distance` or `bits_lost` of a release."""
    axes = [released_axis(attribute, table.person) for attribute in attributes]
    if loss is Loss.TABLES:
        return table_distance(axes, sizes)
    targets = [sensitive_axis(attribute, kept, class_of) for attribute in table.sensitive]
    return bits_lost(axes, targets or axes, sizes)
