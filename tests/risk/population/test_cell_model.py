"""Models of cells against naive sums, and against populations that they were drawn from."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.risk.population import cell_model
from sfumato.risk.population.cell_model import (
    Conditional,
    Discount,
    LatentClasses,
    Tree,
    fit_cells,
    founders,
    gains_of_pairs,
    stacked,
    tree_of_pairs,
)
from sfumato.risk.population.value_shares import UNSEEN, Margin


def rng(seed=1):
    return np.random.default_rng(seed)


def classes_of(columns):
    keys, sizes = np.unique(np.column_stack(columns).astype(np.int32), axis=0, return_counts=True)
    return keys, sizes, [Margin(codes, sizes) for codes in keys.T]


def dependent(persons=3_000, seed=5):
    """The second goes with the first, the third with nothing."""
    generator = rng(seed)
    first = generator.integers(0, 6, persons)
    second = np.where(generator.random(persons) < 0.7, first, generator.integers(0, 6, persons))
    return [first, second, generator.integers(0, 9, persons)]


def test_the_tree_joins_what_goes_together():
    keys, sizes, margins = classes_of(dependent())
    (root, one), (parent, two), _ = tree_of_pairs(gains_of_pairs(keys, sizes, margins), 3)
    assert (root, one, parent, two) == (None, 0, 0, 1)


def test_persons_who_are_alone_with_their_pair_tell_nothing():
    keys, sizes, margins = classes_of([np.arange(500), np.arange(500)])
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


@pytest.mark.parametrize("model", ["tree", "latent classes"])
def test_the_cells_of_a_model_sum_to_one_and_are_drawn_as_often(model):
    keys, sizes, margins = classes_of(dependent())
    whole = (
        Tree(keys, sizes, margins)
        if model == "tree"
        else LatentClasses(keys, sizes, margins, 8, 5.0, rng())
    )
    every = np.stack(np.meshgrid(range(6), range(6), range(9)), -1).reshape(-1, 3).astype(np.int32)
    chances = whole.of(every, np.zeros(len(every), np.int64))
    assert chances.sum() == pytest.approx(1, abs=1e-3)
    drawn = whole.draw(60_000, rng())
    number = np.ravel_multi_index(tuple(drawn.T), (6, 6, 9))
    often = np.bincount(number, minlength=6 * 6 * 9) / len(drawn)
    where = np.ravel_multi_index(tuple(every.T), (6, 6, 9))
    assert np.abs(often[where] - chances).max() < 0.003


def test_who_is_left_out_makes_a_cell_no_likelier():
    keys, sizes, _ = classes_of(dependent())
    model = fit_cells(keys, sizes, [6, 6, 9], rng())
    without = model.of(keys, sizes)
    assert (without <= model.of(keys, np.zeros_like(sizes)) * 1.001).all()


def test_what_has_unseen_values_is_drawn_with_them():
    generator = rng(2)
    places = np.unique(generator.integers(0, 3_000, 1_500), return_inverse=True)[1]
    keys, sizes, _ = classes_of([places, generator.integers(0, 4, 1_500)])
    drawn = fit_cells(keys, sizes, [int(places.max()) + 1, 4], rng()).draw(20_000, rng())[0]
    assert (drawn[:, 0] == UNSEEN).mean() == pytest.approx(np.exp(-0.5), abs=0.1)


def test_cells_that_come_again_are_told_from_cells_that_do_not():
    """In homes everybody is alike in three columns: no tree of pairs knows which go together."""
    generator = rng(3)
    alike = generator.integers(0, 30, (60, 3))[generator.integers(0, 60, 1_500)].T
    keys, sizes, _ = classes_of(list(alike))
    model = fit_cells(keys, sizes, [30] * 3, rng())
    at_home = (model.again(keys) @ model.weights).sum()
    keys, sizes, _ = classes_of([generator.integers(0, 30, 1_500) for _ in range(3)])
    model = fit_cells(keys, sizes, [30] * 3, rng())
    apart = (model.again(keys) @ model.weights).sum()
    assert at_home > 0.9
    assert apart == pytest.approx(len(keys) / 30**3, abs=0.03)


def homes_and_others(persons=1_200, seed=3):
    """Half live in 80 homes where everybody is alike, the others anywhere."""
    generator = rng(seed)
    home = generator.integers(0, 80, persons)
    others = [generator.integers(0, size, persons) for size in (80, 500, 2)]
    alike = generator.random(persons) < 0.5
    return [np.where(alike, home, each) for each in others]


def test_founders_are_one_where_others_followed_and_all_where_nobody_did():
    sizes = np.array([1, 7, 7, 40])
    found = founders(sizes, np.array([0.1, 1e-9, 1e9, 2.0]))
    by_hand = 1 + sum(2 / (2 + others) for others in range(1, 40))
    assert found.tolist() == [1, 1, 7, round(by_hand)]


def test_cells_are_followed_in_homes_and_not_where_columns_tell_all():
    keys, sizes, _ = classes_of(homes_and_others())
    homes = fit_cells(keys, sizes, [80, 500, 80], rng())
    assert homes.followed > 0.8
    assert homes.founders.sum() < 0.7 * sizes.sum()
    generator = rng(3)
    keys, sizes, _ = classes_of([generator.integers(0, 30, 1_500) for _ in range(3)])
    apart = fit_cells(keys, sizes, [30] * 3, rng())
    assert apart.followed < 0.1
    assert (apart.founders == sizes).all()


def test_many_cells_of_columns_that_tell_all_are_not_followed(monkeypatch):
    """A part of the cells that has all their persons would look as if these came together."""
    monkeypatch.setattr(cell_model, "FITTED", 600)
    generator = rng(3)
    keys, sizes, _ = classes_of([generator.integers(0, 40, 6_000) for _ in range(3)])
    model = fit_cells(keys, sizes, [40] * 3, rng())
    assert model.followed < 0.4
    assert model.again(keys).sum(axis=0) @ model.weights == pytest.approx(
        len(keys) / 40**3, abs=0.02
    )


def test_the_weights_are_those_of_the_mixture_that_was_drawn():
    first, second = np.array([0.7, 0.2, 0.1]), np.array([0.1, 0.2, 0.7])
    drawn = rng(6).multinomial(50_000, 0.3 * first + 0.7 * second)
    weights = stacked(np.column_stack([first, second]), drawn)
    assert weights == pytest.approx([0.3, 0.7], abs=0.03)


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
