"""Trees of pairs and their conditionals against naive sums, and against what was drawn."""

from __future__ import annotations

import numpy as np
import pytest
from population_samples import classes_of, dependent

from sfumato.risk.population.cell_tree import (
    Conditional,
    Discount,
    Tree,
    gains_of_pairs,
    tree_of_pairs,
)
from sfumato.risk.population.value_shares import UNSEEN, Margin


def rng(seed=1):
    return np.random.default_rng(seed)


def test_the_tree_joins_what_goes_together():
    keys, sizes, margins = classes_of(dependent())
    (root, one), (parent, two), _ = tree_of_pairs(gains_of_pairs(keys, sizes, margins), 3)
    assert (root, one, parent, two) == (None, 0, 0, 1)


def test_persons_who_are_alone_with_their_pair_tell_nothing():
    keys, sizes, margins = classes_of([np.arange(500), rng().permutation(500)])
    assert tree_of_pairs(gains_of_pairs(keys, sizes, margins), 2) == [(None, 0), (None, 1)]


def test_a_conditional_is_the_predictive_of_pitman_and_yor():
    first, second = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 2])
    sizes = np.array([5, 2, 4, 1])
    margins = (Margin(first, sizes), Margin(second, sizes))
    one = Conditional([first], second, margins, sizes)
    d, s = one.discount.discount, one.discount.strength
    for a, b, without in ((0, 0, 0), (0, 2, 0), (1, 1, 1), (1, 2, 1)):
        counts = {(0, 0): 5, (0, 1): 2, (1, 1): 4, (1, 2): 1}
        counts[a, b] = counts.get((a, b), 0) - without
        here = {pair: n for pair, n in counts.items() if pair[0] == a and n > 0}
        n, own = sum(here.values()), here.get((a, b), 0)
        whole = margins[1].shares_without(np.array([b]), np.array([without]))[0]
        expected = ((own - d if own else 0) + (s + d * len(here)) * whole) / (n + s)
        found = one.of([np.array([a])], np.array([b]), np.array([without]))
        assert found[0] == pytest.approx(float(expected))


def told_by_neighbours(persons=1_500, seed=4):
    """Two columns of 600 values: the second is near the first, and no pair comes twice."""
    generator = rng(seed)
    first = generator.integers(0, 600, persons)
    return [first, np.clip(first + generator.integers(-30, 31, persons), 0, 599)]


def test_the_tree_joins_what_goes_together_in_ranges_of_values():
    keys, sizes, margins = classes_of(told_by_neighbours())
    assert (sizes == 1).mean() > 0.9
    assert tree_of_pairs(gains_of_pairs(keys, sizes, margins), 2) == [(None, 0), (0, 1)]


def test_a_value_that_was_not_seen_tells_as_its_neighbours_do():
    first, second = told_by_neighbours()
    keys, sizes = np.unique(
        np.column_stack([first[first != 300], second[first != 300] // 100]),
        axis=0,
        return_counts=True,
    )
    margins = [Margin(keys[:, 0], sizes, values=600), Margin(keys[:, 1], sizes)]
    every = np.column_stack([np.full(6, 300), np.arange(6)]).astype(np.int32)
    chances = Tree(keys.astype(np.int32), sizes, margins).of(every, np.zeros(6, np.int64))
    given = chances / chances.sum()
    assert given[[2, 3]].sum() > 0.9
    drawn = Tree(keys.astype(np.int32), sizes, margins).draw(20_000, rng())
    near = (np.abs(drawn[:, 1] * 100 + 50 - drawn[:, 0]) < 120).mean()
    assert near > 0.9


def test_a_conditional_falls_back_on_the_range_of_its_value():
    first, second = told_by_neighbours()
    keys, sizes, margins = classes_of([first, second // 100])
    given, codes = [keys[:, 0]], keys[:, 1]
    rough = Conditional(given, codes, margins, sizes, ranges=margins[0].ranges(16))
    fine = Conditional(given, codes, margins, sizes, rough)
    d, s = fine.discount.discount, fine.discount.strength
    a = int(keys[7, 0])
    here = {int(b): int(n) for (c, b), n in zip(keys, sizes, strict=True) if c == a}
    for b in range(6):
        one, value, nobody = [np.array([a])], np.array([b]), np.zeros(1, np.int64)
        whole = rough.of(one, value, nobody)[0]
        n, own = sum(here.values()), here.get(b, 0)
        expected = ((own - d if own else 0) + (s + d * len(here)) * whole) / (n + s)
        assert fine.of(one, value, nobody)[0] == pytest.approx(float(expected))


def told_by_two(persons=4_000, seed=9):
    """The third column is told by the first two together, and by neither alone."""
    generator = rng(seed)
    first, second = generator.integers(0, 6, persons), generator.integers(0, 6, persons)
    third = np.where(generator.random(persons) < 0.8, (first + second) % 6, first)
    return [first, second, third]


def test_given_two_a_value_is_foretold_by_both():
    keys, sizes, margins = classes_of(told_by_two())
    one = Conditional([keys[:, 0]], keys[:, 2], [margins[0], margins[2]], sizes)
    given = [keys[:, 0], keys[:, 1]]
    both = Conditional(given, keys[:, 2], margins, sizes, one)
    assert both.gained(given, keys[:, 2], sizes) > 0.8
    true = 0.8 * (keys[:, 2] == (keys[:, 0] + keys[:, 1]) % 6) + 0.2 * (keys[:, 2] == keys[:, 0])
    found = both.of(given, keys[:, 2], np.zeros_like(sizes))
    assert np.abs(found - true).max() < 0.12
    unseen = [np.array([0]), np.array([UNSEEN])]
    nobody = np.zeros(1, dtype=np.int64)
    assert both.of(unseen, np.array([0]), nobody) == one.of(unseen[:1], np.array([0]), nobody)


def test_the_tree_gives_two_where_they_tell_more():
    together, alone = classes_of(told_by_two()), classes_of(dependent())
    every = np.stack(np.meshgrid(*[range(6)] * 3), -1).reshape(-1, 3).astype(np.int32)
    chances = Tree(*together).of(every, np.zeros(len(every), np.int64))
    assert chances.sum() == pytest.approx(1, abs=1e-3)
    met = (every[:, 0] + every[:, 1]) % 6 == every[:, 2]
    assert chances[met].sum() == pytest.approx(0.8 + 0.2 / 6, abs=0.03)
    nobody = np.zeros(len(alone[0]), np.int64)
    pairs = Tree(*alone).of(alone[0], nobody)
    by_hand = alone[1] / alone[1].sum()
    assert np.corrcoef(np.log(pairs), np.log(by_hand))[0, 1] > 0.9


def test_a_discount_is_found_again():
    generator = rng(7)
    true, tables = Discount(0.5, 20.0), np.zeros(0)
    for n in range(6_000):
        new = true.strength + true.discount * len(tables)
        chances = np.append(tables - true.discount, new) / (n + true.strength)
        at = int(generator.choice(len(chances), p=chances / chances.sum()))
        tables = np.append(tables, 0.0) if at == len(tables) else tables
        tables[at] += 1
    base = np.full(len(tables), 1e-9)
    others = len(tables) - (tables == 1).astype(float)
    found = Discount.fitted(tables - 1, tables.sum() - 1, others, base, tables)
    assert found.discount == pytest.approx(0.5, abs=0.1)
