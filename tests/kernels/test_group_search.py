"""Groups after a search: their loss as counted naively, their limits, their neighbours."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.grouping_loss import group_loss

from sfumato.kernels.group_search import FIELDS, Space, Width, improved, nearest_points
from sfumato.release.generalisation import GRID_STEPS, WIDEST

FORMS = {"range": Width.RANGE, "distinct": Width.DISTINCT, "anything": Width.ANYTHING,
         "ancestor": Width.ANCESTOR}  # fmt: skip
# Three levels over six values: pairs, then all.
UP = {0: 6, 1: 6, 2: 7, 3: 7, 4: 8, 5: 8, 6: 9, 7: 9, 8: 9, 9: 9}
LEVEL = [0] * 6 + [1] * 3 + [2]
WIDTHS = [0.0] * 6 + [0.2] * 3 + [1.0]
VALUES = 6
ORIGIN = 3.0


def made(rows, forms, numeric, persons_least, records, sensitive=None, affiliation=np.inf, span=0):
    """What the search is told of records, one or more per person, and columns."""
    columns, persons = len(forms), len(rows)
    own = np.zeros((persons, columns * FIELDS))
    offsets = np.zeros((persons, columns + 1), dtype=np.int64)
    values = []
    for person, row in enumerate(rows):
        for at, value in enumerate(row):
            offsets[person, at] = len(values)
            here = own[person, at * FIELDS : (at + 1) * FIELDS]
            number = records[person]
            here[2:4] = np.inf, -np.inf
            here[6] = -1 if forms[at] == "ancestor" else 0
            if value is None:
                here[5] = number
                continue
            place = value / (VALUES - 1)
            here[0] = place * number if numeric[at] else number**2
            here[1] = place**2 * number
            here[2:4], here[4] = place, number
            here[6] = value if forms[at] == "ancestor" else 1
            values.append((at * VALUES + value, number))
        offsets[person, columns] = len(values)
    points = {}
    point_of = np.array(
        [points.setdefault((row, records[at]), len(points)) for at, row in enumerate(rows)]
    )
    of_point = np.argsort(point_of, kind="stable")
    held = np.zeros(persons, dtype=np.int64) if sensitive is None else np.array(sensitive)
    return Space(
        own=own,
        offsets=offsets,
        values=np.array([value for value, _ in values], dtype=np.int32),
        counts=np.array([count for _, count in values], dtype=np.int32),
        form=np.array([FORMS[each] for each in forms], dtype=np.int32),
        numeric=np.array(numeric),
        full=np.array([VALUES - 1.0 if each == "distinct" else 1.0 for each in forms]),
        origin=np.full(columns, ORIGIN),
        span=np.full(columns, float(span)),
        grids=GRID_STEPS.astype(float),
        widest=WIDEST,
        width_weight=np.full(columns, 1.0),
        error_weight=np.full(columns, 0.5),
        up=np.array([UP[node] for node in range(10)], dtype=np.int32),
        level=np.array(LEVEL, dtype=np.int32),
        width_of=np.array(WIDTHS),
        records=np.array(records, dtype=np.int64),
        sensitive_offsets=np.arange(persons + 1),
        sensitive=held.astype(np.int32),
        attribute_of=np.zeros(int(held.max(initial=0)) + 1, dtype=np.int32),
        least_records=0,
        least_persons=persons_least,
        squares=np.inf,
        affiliation=np.array([affiliation]),
        distinct=np.zeros(1, dtype=np.int64),
        sharing=1,
        neighbours=np.empty((0, 0), dtype=np.int32),
        point_of=point_of.astype(np.int32),
        first_of_point=np.concatenate([[0], np.cumsum(np.bincount(point_of))]).astype(np.int64),
        of_point=of_point.astype(np.int32),
    )


def naive(rows, records, group_of, forms, numeric, span=0):
    """Loss of all groups."""
    detail = {
        "place": {value: value / (VALUES - 1) for value in range(VALUES)},
        "value": {value: value / (VALUES - 1) for value in range(VALUES)},
        "paths": {value: (value, UP[value], 9) for value in range(VALUES)},
        "widths": dict(enumerate(WIDTHS)),
        "grid": (ORIGIN, span),
    }
    columns = [
        (form, is_number, 1.0, 0.5, detail | {"full": VALUES - 1.0 if form == "distinct" else 1.0})
        for form, is_number in zip(forms, numeric, strict=True)
    ]
    groups = defaultdict(list)
    for row, number, group in zip(rows, records, group_of, strict=True):
        groups[group] += [row] * number
    return sum(group_loss(members, columns) for members in groups.values())


cells = st.one_of(st.none(), st.integers(0, VALUES - 1))
cases = st.integers(1, 3).flatmap(
    lambda columns: st.tuples(
        st.lists(st.sampled_from(sorted(FORMS)), min_size=columns, max_size=columns),
        st.lists(st.booleans(), min_size=columns, max_size=columns),
        st.lists(st.tuples(*[cells] * columns), min_size=8, max_size=40),
    )
)


@given(
    cases,
    st.integers(1, 3),
    st.booleans(),
    st.booleans(),
    st.sampled_from([0, 5, 50, 7000]),
    st.integers(1, 2**63),
)
def test_the_loss_is_that_of_the_groups_and_every_group_keeps_the_limits(
    case, least, several, once, span, seed
):
    forms, numeric, rows = case
    records = [1 + (place % 3 if several else 0) for place in range(len(rows))]
    space = made(rows, forms, numeric, least, records, span=span)
    space = space._replace(neighbours=nearest_points(space, seed))
    group_of = (np.arange(len(rows)) * max(len(rows) // (2 * least), 1) // len(rows)).astype(
        np.int32
    )
    room, changed = 2 * (int(group_of.max()) + 1) + 8, None
    for _ in range(3):
        found = improved(space, group_of, room, seed, once=once, changed=changed)
        for own, counted in ((group_of, found.before), (found.group_of, found.after)):
            assert counted == pytest.approx(naive(rows, records, own, forms, numeric, span))
        assert found.after <= found.before + 1e-9
        sizes = np.bincount(found.group_of)
        assert sizes[sizes > 0].min() >= least
        moved, changed = found.group_of != group_of, found.changed
        assert changed[found.group_of[moved]].all()
        assert changed[group_of[moved]].all()
        if once:
            assert (
                found.change_of[found.group_of[moved]] == found.change_of[group_of[moved]]
            ).all()
        group_of = found.group_of.copy()


@settings(max_examples=30)
@given(cases, st.integers(1, 2**63))
def test_few_enough_persons_of_a_group_share_a_sensitive_value(case, seed):
    forms, numeric, rows = case
    sensitive = [place % 4 for place in range(len(rows))]
    space = made(rows, forms, numeric, 2, [1] * len(rows), sensitive, affiliation=0.5)
    space = space._replace(neighbours=nearest_points(space, seed))
    group_of = (np.arange(len(rows)) // 4).astype(np.int32)
    group_of = np.minimum(group_of, len(rows) // 4 - 1).astype(np.int32)
    for _ in range(3):
        before = [Counts(sensitive, group_of, each) for each in np.unique(group_of)]
        if any(each.share > 0.5 for each in before):
            return
        group_of = improved(space, group_of, 32, seed, once=False).group_of.copy()
        for each in np.unique(group_of):
            assert Counts(sensitive, group_of, each).share <= 0.5


class Counts:
    """How many of a group share a value at most."""

    def __init__(self, sensitive, group_of, group):
        own = [value for value, of in zip(sensitive, group_of, strict=True) if of == group]
        self.share = max(own.count(value) for value in own) / len(own)


def test_what_is_far_from_its_group_moves_to_where_it_belongs():
    rows = [(0,)] * 5 + [(5,)] * 5
    space = made(rows, ["range"], [True], 3, [1] * 10)
    space = space._replace(neighbours=nearest_points(space, 7))
    mixed = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 0], dtype=np.int32)
    found = improved(space, mixed, 8, 7, once=False)
    assert found.before > 10
    assert found.after == pytest.approx(0)
    assert len(set(found.group_of[:5])) == len(set(found.group_of[5:])) == 1


def test_who_is_near_no_changed_group_is_passed_over():
    rows = [(0,)] * 5 + [(5,)] * 5 + [(1,)] * 5 + [(4,)] * 5
    space = made(rows, ["range"], [True], 3, [1 + at % 5 for at in range(20)])
    space = space._replace(neighbours=nearest_points(space, 7))
    mixed = np.repeat([0, 1, 0, 1, 2, 2], [4, 5, 1, 5, 2, 3]).astype(np.int32)
    changed = np.zeros(14, dtype=bool)
    found = improved(space, mixed, 14, 7, once=False, changed=changed)
    assert (found.group_of == mixed).all()
    assert not found.changed.any()
    changed[0] = True
    assert improved(space, mixed, 14, 7, once=False, changed=changed).after < found.after


def test_nearly_all_of_the_nearest_points_are_found():
    rng = np.random.default_rng(3)
    rows = sorted({tuple(int(each) for each in row) for row in rng.integers(0, VALUES, (400, 5))})
    numeric = [True, True, False, False, True]
    space = made(rows, ["range", "range", "anything", "ancestor", "range"], numeric, 1,
                 [1] * len(rows))  # fmt: skip
    found = nearest_points(space, 11)
    scale = np.array(rows, dtype=float) / (VALUES - 1)
    # Losses of two records as one group: twice the width, and the distance from their mean.
    apart = np.zeros((len(rows), len(rows)))
    for at in (0, 1, 4):
        difference = np.abs(scale[:, None, at] - scale[None, :, at])
        apart += 2 * difference + 0.5 * difference
    for at in (2, 3):
        differs = scale[:, None, at] != scale[None, :, at]
        pairs = (np.arange(VALUES) // 2)[(scale[:, at] * (VALUES - 1)).round().astype(int)]
        width = 1.0 if at == 2 else np.where(pairs[:, None] == pairs[None, :], 0.2, 1.0)
        apart += differs * (2 * width + 0.5)
    np.fill_diagonal(apart, np.inf)
    wanted = np.sort(apart, axis=1)[:, 7]
    reached = [np.sort(apart[point, found[point]])[7] for point in range(len(rows))]
    assert np.mean(np.array(reached) <= wanted + 1e-9) > 0.9


def test_two_groups_are_cut_anew_where_no_single_change_gains():
    rows = [(0,), (0,), (5,), (5,)] * 2
    space = made(rows, ["range"], [True], 4, [1] * 8)
    space = space._replace(neighbours=nearest_points(space, 7), error_weight=np.zeros(1))
    found = improved(space, np.repeat([0, 1], 4).astype(np.int32), 8, 7, once=False)
    assert found.before == 8
    assert found.after == 0
    assert len(set(found.group_of[::4]) | set(found.group_of[1::4])) == 1
