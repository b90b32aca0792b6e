"""The tree: budgets spent by pruning, and persons numbered anew by node."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from sfumato.examples import generate_clinics
from sfumato.kernels import tree_loops
from sfumato.release import tree
from sfumato.release.person_table import person_table, take_persons
from sfumato.release.promises.g_balance import GBalance
from sfumato.release.promises.h_affiliation import HAffiliation
from sfumato.release.promises.k_anonymity import PidKAnonymity
from sfumato.release.promises.l_diversity import LDiversity
from sfumato.release.tree import GrownTree, grow
from sfumato.table.door import open_table


@st.composite
def trees(draw):
    """A tree of a few levels whose cuts lower the loss and raise the cost, as fractions."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    grown = GrownTree()
    losses, costs = np.array([rng.integers(50, 100) / 1.0]), np.array([0.05])
    parents = np.zeros(1, dtype=np.int64)
    for _ in range(draw(st.integers(1, 4))):
        grown.add(parents, losses, costs)
        cut = np.flatnonzero(rng.random(len(losses)) < 0.7)
        if not len(cut):
            break
        parents = np.repeat(cut, 2)
        share = rng.random(len(cut))
        left = rng.random(len(cut)) * losses[cut]
        losses = np.column_stack([left * share, left * (1 - share)]).ravel()
        costs = costs[parents] * rng.uniform(0.5, 1, len(parents))
    else:
        grown.add(parents, losses, costs)
    return grown


def ways(grown, level=0, node=0):
    """Loss and cost of every pruned subtree below a node."""
    found = [(grown.losses[level][node], grown.costs[level][node])]
    if level + 1 < len(grown.losses):
        children = np.flatnonzero(grown.parents[level + 1] == node)
        if len(children):
            below = [ways(grown, level + 1, child) for child in children]
            found += [(a + c, b + d) for (a, b), (c, d) in product(*below)]
    return found


@given(trees(), st.floats(0, 1000))
def test_best_at_a_price(grown, price):
    best = grown.pruned(price)
    value = best.losses[0][0] + price * best.costs[0][0]
    assert np.isclose(value, min(loss + price * cost for loss, cost in ways(grown)))


@given(trees(), st.floats(1, 20))
def test_within_budget(grown, scale):
    grown.costs = [cost * scale for cost in grown.costs]
    if grown.costs[0][0] > 1:
        return
    leaves, price = grown.within_budget()
    losses = [loss[some].sum() for loss, some in zip(grown.losses, leaves, strict=True)]
    costs = [cost[some].sum() for cost, some in zip(grown.costs, leaves, strict=True)]
    assert sum(costs) <= 1 + 1e-8
    everything = ways(grown)
    assert any(np.allclose((sum(losses), sum(costs)), each) for each in everything)
    paid = [(loss, cost) for loss, cost in everything if cost <= 1 + 1e-8]
    # No tree that costs no more loses less: exactly so on the convex hull, where a price finds it.
    assert (
        sum(losses) + price * sum(costs)
        <= min(loss + price * cost for loss, cost in everything) * (1 + 1e-6)
        + price * (1 - sum(costs))
        + 1e-9
    )
    if price == 0:
        assert np.isclose(sum(losses), min(loss for loss, _ in paid))


PROMISES = (
    (GBalance(0.8),),
    (GBalance(0.6), HAffiliation(0.5)),
    (PidKAnonymity(3), HAffiliation(0.34), LDiversity(2)),
)


@pytest.fixture(scope="module", params=[1, 2, 3])
def persons(request):
    clinics = generate_clinics(300, rng=request.param)
    table = clinics.visits.slice(0, 900)
    if request.param == 3:  # some values are missing
        gone = np.random.default_rng(0).random(len(table)) < 0.05
        ages = [
            None if lost else age for lost, age in zip(gone, table["age"].to_pylist(), strict=True)
        ]
        table = table.set_column(table.column_names.index("age"), "age", [ages])
    return person_table(open_table(table, clinics.schema))


@pytest.mark.parametrize("promises", PROMISES)
def test_same_classes(persons, promises, monkeypatch):
    plain = grow(persons, promises)
    monkeypatch.setattr(tree, "WORTH_MOVING", 0)
    monkeypatch.setattr(tree_loops, "WORTH_A_THREAD", 0)
    monkeypatch.setattr(tree, "SHRUNK", 2)
    monkeypatch.setattr(tree, "NEAR", 0)
    compiled = grow(persons, promises)
    assert_array_equal(compiled.class_of_person, plain.class_of_person)


def test_persons_in_another_order(persons):
    order = np.random.default_rng(0).permutation(persons.persons).astype(np.int32)
    taken = take_persons([persons], order)
    assert_array_equal(taken.records, persons.records[order])
    for one, other in zip(taken.ordered, persons.ordered, strict=True):
        for name in ("position", "total", "square", "present", "lowest", "highest"):
            assert_array_equal(getattr(one, name), getattr(other, name)[order])
    for name, values in persons.sensitive.items():
        for new, old in enumerate(order):
            here = slice(*taken.sensitive[name].offsets[new : new + 2])
            there = slice(*values.offsets[old : old + 2])
            assert_array_equal(taken.sensitive[name].values[here], values.values[there])
