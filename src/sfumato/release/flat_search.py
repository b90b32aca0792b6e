"""What the compiled search reads, from the persons, their loss and the promises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.kernels import cut_search
from sfumato.kernels.cut_search import Axes, Known, Limits
from sfumato.release.candidates import Candidates, Nodes
from sfumato.release.loss import LossSpace
from sfumato.release.persons import PersonTable, Values
from sfumato.release.promises.promise import Constraint, Counted, Thresholds

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
CERTAIN = 1e-6
"""By so much fewer persons than a promise implies are surely too few."""


def limits_of(constraints: Sequence[Constraint], persons: PersonTable) -> Limits | None:
    """All thresholds in one; ``None`` where a promise is more than thresholds.

    Parameters
    ----------
    constraints
        Promises about every class.
    persons
        Their sensitive attributes are spoken of.
    """
    counted = [each for each in constraints if isinstance(each, Counted)]
    if len(counted) < len(constraints):
        return None
    stated = [each.thresholds() for each in counted]
    squares = min((each.squares for each in stated), default=np.inf)
    implied = int(np.ceil(1 / squares - CERTAIN))
    names = list(persons.sensitive)
    sizes = [persons.sensitive[name].size for name in names]
    about = [[each for each in stated if each.attribute in (None, name)] for name in names]
    return Limits(
        records=max((each.records for each in stated), default=0),
        persons=max(1, implied, *(each.persons for each in stated)),
        squares=squares,
        attribute_of=np.repeat(np.arange(len(names)), sizes).astype(np.int32),
        affiliation=np.array([_least_shared(each) for each in about], dtype=np.float64),
        distinct=np.array([_most_distinct(each) for each in about], dtype=np.int64),
        sharing=max((each.sharing for each in stated), default=1),
    )


def _least_shared(stated: Sequence[Thresholds]) -> float:
    return min((each.affiliation for each in stated), default=np.inf)


def _most_distinct(stated: Sequence[Thresholds]) -> int:
    return max((each.distinct for each in stated), default=0)


def axes_of(persons: PersonTable, loss: LossSpace) -> Axes:
    """The axes, and what their values weigh."""
    ordered = persons.ordered
    return Axes(
        strict=np.array([axis.strict for axis in ordered], dtype=bool),
        missing=np.array([axis.missing_position for axis in ordered], dtype=np.int64),
        columns=np.array([axis.held.size for axis in persons.indicators], dtype=np.int64),
        complete=all(np.array_equal(axis.present, persons.records) for axis in ordered),
        attribute_weights=loss.attribute_weights.astype(np.float64),
        weights=loss.weights,
        axis_of=loss.axis_of,
        error_weights=loss.error_weights,
        width_weights=loss.width_weights,
        width_scales=loss.width_scales,
    )


def known_of(persons: PersonTable, loss: LossSpace, limits: Limits) -> Known:
    """What is known of the persons, as they are numbered now."""
    count = persons.persons
    none = np.empty((0, count), dtype=np.int32)
    asked = np.isfinite(limits.affiliation).any() or limits.distinct.any()
    offsets, values = _together(list(persons.sensitive.values()) if asked else [], count)
    return Known(
        records=persons.records,
        positions=np.vstack([none, *(axis.position for axis in persons.ordered)]),
        members=np.vstack([none, *(axis.member for axis in persons.indicators)]),
        totals=loss.totals,
        presents=loss.presents,
        lowest=loss.lowest,
        highest=loss.highest,
        squares=loss.squares,
        offsets=loss.offsets,
        values=loss.values,
        counts=loss.counts,
        sensitive_offsets=offsets,
        sensitive=values,
    )


def _together(attributes: Sequence[Values], persons: int) -> tuple[Ints, Codes]:
    """The sensitive values of each person (CSR), those of each attribute after the last one's."""
    if len(attributes) == 1:
        return attributes[0].offsets, attributes[0].values
    numbers = [np.diff(each.offsets) for each in attributes]
    offsets = np.zeros(persons + 1, dtype=np.int64)
    np.cumsum(sum(numbers, np.zeros(persons, dtype=np.int64)), out=offsets[1:])
    values, start, first = np.empty(offsets[-1], dtype=np.int32), offsets[:-1].copy(), 0
    for own, each in zip(numbers, attributes, strict=True):
        place = np.repeat(start - each.offsets[:-1], own) + np.arange(len(each.values))
        values[place] = each.values + first
        start += own
        first += each.size
    return offsets, values


@dataclass(frozen=True, eq=False)
class FlatSearch:
    """The search in compiled loops, over the persons as they are numbered now.

    Attributes
    ----------
    known, axes, limits
        What the loops read.
    """

    known: Known
    axes: Axes
    limits: Limits

    def best_cuts(self, orders: Sequence[Codes], nodes: Nodes, shares: Floats) -> Candidates:
        """The cut of each node that is cut, by ascending node.

        Parameters
        ----------
        orders
            One order of the persons per ordered axis, or one in any order.
        nodes
            The open nodes.
        shares
            The share α of each node.
        """
        found = cut_search.best_cuts(
            np.vstack(orders), nodes.low, nodes.high, shares, self.known, self.axes, self.limits
        )
        node = np.flatnonzero(found.axis >= 0)
        return Candidates(
            node=node,
            axis=found.axis[node],
            column=found.column[node],
            left=found.left[node],
            left_records=found.left_records[node],
            left_squares=found.left_squares[node],
            variance=found.lost[node],
            width=np.zeros(len(node)),
        )

    def losses(self, orders: Sequence[Codes], nodes: Nodes, shares: Floats) -> Floats:
        """Loss of the classes that each node is cut into at each share; (nodes, shares)."""
        return cut_search.subtree_losses(
            np.vstack(orders), nodes.low, nodes.high, shares, self.known, self.axes, self.limits
        )
