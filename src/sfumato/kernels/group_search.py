"""Local search over groups of persons, whose loss and promises are counted as persons come and go.

A group is any set of persons. Of each column it knows how wide its released cell is and how far
its values lie from their mean; a change is kept if it makes the sum of both, over all groups,
smaller and every group still keeps the limits. The persons whose groups one may join are found by
an index of neighbours that is made once.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

import sfumato.kernels._groups as _groups
from sfumato.kernels.loop_calls import Bools, Codes, Floats, Ints

FIELDS = 8
"""Numbers per person and column: see `Space`."""
NEIGHBOURS = 16
"""Neighbours of a point that the index holds."""
LEAF = 64
"""Points that the index compares pair by pair."""


class Width(IntEnum):
    """How the width of a column's cell is counted."""

    RANGE = 0
    """Highest place less the lowest."""
    DISTINCT = 1
    """Number of distinct values less one."""
    ANCESTOR = 2
    """The width of the lowest common ancestor."""
    ANYTHING = 3
    """Nothing for one value, all for several."""


class Space(NamedTuple):
    """What is known of persons and columns.

    Attributes
    ----------
    own
        Per person and column `FIELDS` numbers: sum of normalised values (of categories, of squared
        counts), sum of their squares, lowest and highest place (infinite without a value), records
        with and without a value, lowest common ancestor (-1 for none) or number of distinct values,
        and one that is not read; shape (persons, columns x `FIELDS`).
    offsets
        Where the values of each person in each column begin and end; shape (persons, columns + 1).
    values, counts
        Values, numbered over all columns and ascending, and the person's records with each.
    form
        `Width` of each column.
    numeric
        Whether its values have a mean; else they are categories.
    full
        The width of a column's cell that holds missing values and others.
    origin, span
        Lowest value of a column whose ranges end on a public grid, and how many units lie between
        its places 0 and 1; a span of 0 for other columns.
    grids, widest
        Steps of such grids, ascending, and how many units a range is at most wide for each.
    width_weight, error_weight
        What a record loses by a width of 1, and by a distance of 1 from the mean.
    up, level, width_of
        Parent, level and width of each node of all hierarchies; a root is its own parent.
    sensitive_offsets, sensitive, attribute_of
        Distinct sensitive values of each person, and the attribute of each value.
    least_records, least_persons, squares, affiliation, distinct, sharing
        Limits, as in `tree_loops.Limits`.
    neighbours
        Points near each point, nearest first, -1 beyond the last; shape (points, neighbours).
    point_of, first_of_point, of_point
        The point of each person, persons of a point having the same values; and the persons of each
        point (CSR).
    """

    own: Floats
    offsets: Ints
    values: Codes
    counts: Codes
    form: Codes
    numeric: Bools
    full: Floats
    origin: Floats
    span: Floats
    grids: Floats
    widest: Floats
    width_weight: Floats
    error_weight: Floats
    up: Codes
    level: Codes
    width_of: Floats
    records: Ints
    sensitive_offsets: Ints
    sensitive: Codes
    attribute_of: Codes
    least_records: int
    least_persons: int
    squares: float
    affiliation: Floats
    distinct: Ints
    sharing: int
    neighbours: Codes
    point_of: Codes
    first_of_point: Ints
    of_point: Codes


class Pass(NamedTuple):
    """What a pass of the search made of the groups.

    Attributes
    ----------
    change_of
        Of each group the change that it took part in, -1 for none; where each takes part in one.
    changed
        Which groups took part in a change; shape (room,).
    """

    group_of: Codes
    change_of: Codes
    changed: Bools
    before: float
    after: float


def nearest_points(space: Space, seed: int, leaf: int = LEAF) -> Codes:
    """Points near each point: those that would lose little as one group with it.

    A few random divisions of all points, each by the nearer of two of them (random projection
    trees without coordinates), whose leaves are compared pair by pair; then neighbours of
    neighbours (NN-descent, Dong, Moses & Li 2011). O(P log P) for P points; some are missed.

    Parameters
    ----------
    space
        Its ``neighbours`` are not read.
    seed
        Seed of the divisions, not 0.
    leaf
        Points that are compared pair by pair; none is missed where it is no less than their number.
    """
    points: Codes = _groups.nearest_points(
        space, space.of_point[space.first_of_point[:-1]], NEIGHBOURS, seed, leaf
    )
    return points


def improved(
    space: Space,
    group_of: Codes,
    room: int,
    seed: int,
    *,
    once: bool,
    heat: float = 0.0,
    changed: Bools | None = None,
) -> Pass:
    """One pass: every person may move or be exchanged, every group be dissolved, others opened.

    Costs in proportion to the persons, their neighbours and the columns; a limit on the members of
    groups that are looked at bounds what large groups cost.

    Parameters
    ----------
    group_of
        Group of each person, below ``room``; every group keeps the limits.
    seed
        Seed of the order in which persons are looked at, not 0.
    once
        Whether a group takes part in one change only, so that each can be taken back alone.
    heat
        What a change may lose: a share of it that is drawn for each one.
    changed
        Groups that took part in a change since all were looked at; persons near none of them are
        passed over. All of them without it.
    """
    # A file without categories has no values: -1 makes it none.
    values = int(space.values.max(initial=-1)) + 1
    if changed is None:
        # At first nobody knows which groups could be better, so that all are looked at.
        changed = np.ones(room, dtype=bool)
    return Pass(*_groups.improved(space, group_of, room, values, seed, once, heat, changed))
