"""Pruning to a budget against all pruned trees."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.release.prune import Grown


@st.composite
def trees(draw):
    """A tree of a few levels whose cuts lower the loss and raise the cost, as fractions."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    grown = Grown()
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
