"""Models of cells against naive sums, and against populations that they were drawn from."""

from __future__ import annotations

import numpy as np
import pytest
from population_samples import classes_of, dependent
from scipy.special import ndtri
from scipy.stats import multivariate_normal

from sfumato.risk.population import cell_model
from sfumato.risk.population.cell_model import fit_cells, founders, stacked
from sfumato.risk.population.cell_tree import Tree
from sfumato.risk.population.local_independence import (
    NODE_WEIGHTS,
    Copula,
    LatentClasses,
    factor_loads,
    given_factor,
)
from sfumato.risk.population.value_shares import UNSEEN


def rng(seed=1):
    return np.random.default_rng(seed)


MODELS = {
    "tree": Tree,
    "copula": Copula,
    "latent classes": lambda *classes: LatentClasses(*classes, 8, 5.0, rng()),
}


@pytest.mark.parametrize("model", MODELS)
def test_the_cells_of_a_model_sum_to_one_and_are_drawn_as_often(model):
    whole = MODELS[model](*classes_of(dependent()))
    every = np.stack(np.meshgrid(range(6), range(6), range(9)), -1).reshape(-1, 3).astype(np.int32)
    chances = whole.of(every, np.zeros(len(every), np.int64))
    assert chances.sum() == pytest.approx(1, abs=1e-3)
    drawn = whole.draw(60_000, rng())
    number = np.ravel_multi_index(tuple(drawn.T), (6, 6, 9))
    often = np.bincount(number, minlength=6 * 6 * 9) / len(drawn)
    where = np.ravel_multi_index(tuple(every.T), (6, 6, 9))
    assert np.abs(often[where] - chances).max() < 0.003


def schools(persons, seed=4):
    """Month of birth and school; each has a third of the years."""
    generator = rng(seed)
    school = generator.integers(0, 40, persons)
    return [school % 3 * 40 + generator.integers(0, 40, persons), school]


def test_latent_classes_tell_values_by_their_neighbours():
    """Few persons show which months a school has, and all of them its years."""
    keys, sizes, margins = classes_of(schools(400))
    every = np.stack(np.meshgrid(range(120), range(40)), -1).reshape(-1, 2).astype(np.int32)
    possible = every[:, 0] // 40 == every[:, 1] % 3
    nobody = np.zeros(len(every), dtype=np.int64)
    shares = {}
    for neighbours in (False, True):
        tried = [
            LatentClasses(keys, sizes, margins, 4, 10.0, rng(seed), neighbours=neighbours)
            for seed in range(3)
        ]
        chances = max(tried, key=lambda each: each.likelihood).of(every, nobody)
        assert chances.sum() == pytest.approx(1, abs=0.01)
        shares[neighbours] = chances[possible].sum()
    assert shares[True] > 0.85 > shares[False]


def test_latent_classes_leave_room_for_values_that_the_sample_does_not_show():
    """Everybody has a number of their own: whoever comes has another, in each latent class."""
    keys, sizes, margins = classes_of([np.arange(2_000), np.arange(2_000) % 7])
    drawn = [
        LatentClasses(keys, sizes, margins, 4, 10.0, rng(), neighbours=neighbours).draw(
            9_000, rng()
        )
        for neighbours in (False, True)
    ]
    without, by_neighbours = ((each[:, 0] == UNSEEN).mean() for each in drawn)
    assert by_neighbours == pytest.approx(without, abs=0.01)


def test_latent_classes_count_nobody_who_is_left_out():
    """One class is the whole: what is left has the shares of the others, mixed with the whole."""
    keys, sizes, margins = classes_of(schools(700))
    model = LatentClasses(keys, sizes, margins, 1, 10.0, rng())
    n = sizes.sum()
    by_hand = np.ones(len(keys))
    for codes, margin, ranges in zip(
        keys.T, margins, (each.ranges(16) for each in margins), strict=True
    ):
        persons = np.bincount(codes, sizes)[codes] - sizes
        near = np.bincount(ranges[codes], sizes)[ranges[codes]] - sizes
        whole = np.bincount(ranges[:-1], margin.shares[:-1])[ranges[codes]]
        base = margin.shares[codes] / whole * (near + 10 * whole) / (n - sizes + 10)
        by_hand *= (persons + 10 * base) / (n - sizes + 10)
    assert model.of(keys, sizes) * (n + 1) / (n - sizes + 1) == pytest.approx(by_hand, rel=1e-9)


def test_who_is_left_out_makes_a_cell_no_likelier():
    keys, sizes, _ = classes_of(dependent())
    model = fit_cells(keys, sizes, [6, 6, 9], rng())
    without = model.of(keys, sizes)
    assert (without <= model.of(keys, np.zeros_like(sizes)) * 1.001).all()


def scores(loads, persons, seed=8):
    """Scores that share one factor, and are as far from it as their loads leave them."""
    generator = rng(seed)
    noise = generator.normal(size=(persons, len(loads)))
    return loads * generator.normal(size=(persons, 1)) + np.sqrt(1 - loads**2) * noise


def test_the_loads_of_a_factor_are_found_again():
    loads = np.array([0.8, -0.6, 0.4, 0.0])
    cuts = np.linspace(-2, 2, 12)
    keys, sizes, _ = classes_of(list(np.searchsorted(cuts, scores(loads, 6_000)).T))
    found = factor_loads(keys, sizes)
    assert found * np.sign(found[0]) == pytest.approx(loads, abs=0.06)


def test_pairs_of_a_copula_are_rectangles_of_correlated_normals():
    first, second = np.array([0.2, 0.5, 0.3]), np.array([0.05, 0.15, 0.6, 0.2])
    pairs = (given_factor(first, 0.8) * NODE_WEIGHTS) @ given_factor(second, -0.7).T
    ends = [ndtri(np.append(0, shares.cumsum()).clip(1e-9, 1 - 1e-9)) for shares in (first, second)]
    normal = multivariate_normal(cov=[[1, -0.56], [-0.56, 1]])
    below = normal.cdf(np.stack(np.meshgrid(*ends, indexing="ij"), axis=-1))
    assert pairs == pytest.approx(np.diff(np.diff(below, axis=0), axis=1), abs=2e-3)
    assert pairs.sum(axis=1) == pytest.approx(first, abs=1e-3)


def test_a_copula_foretells_cells_that_nobody_showed():
    """Of five ordered columns, most cells of the population are not in the sample."""
    cuts = np.linspace(-2, 2, 10)
    codes = np.searchsorted(cuts, scores(np.full(5, 0.8), 30_000))
    sample = classes_of(list(codes[:1_000].T))
    keys, sizes, _ = classes_of(list(codes.T))
    seen = {tuple(key) for key in sample[0].tolist()}
    unseen = np.array([tuple(key) not in seen for key in keys.tolist()])
    nobody = np.zeros(int(unseen.sum()), dtype=np.int64)

    def foretold(model):
        return sizes[unseen] @ np.log(model.of(keys[unseen], nobody)) / sizes[unseen].sum()

    assert foretold(Copula(*sample)) > foretold(Tree(*sample)) + 0.3


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


@pytest.mark.slow
def test_cells_are_followed_in_homes_and_not_where_columns_tell_all():
    keys, sizes, _ = classes_of(homes_and_others())
    homes = fit_cells(keys, sizes, [80, 500, 80], rng())
    assert homes.followed > 0.8
    assert homes.founders.sum() < 0.7 * sizes.sum()
    generator = rng(3)
    keys, sizes, _ = classes_of([generator.integers(0, 30, 1_500) for _ in range(3)])
    apart = fit_cells(keys, sizes, [30] * 3, rng())
    assert apart.followed < 0.25
    assert (apart.founders == sizes).all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_who_follows_is_no_founder_where_homes_are_neighbours(seed):
    """A barracks' range of ages tells its place, as if the models drew its persons."""
    generator = rng(7)
    home = generator.integers(0, 12, 400)
    inside = generator.random(400) < 0.6
    place = np.where(inside, home, generator.integers(0, 800, 400))
    age = np.where(
        inside, 20 + home + generator.integers(0, 3, 400), generator.integers(0, 100, 400)
    )
    sex = np.where(inside, home % 2, generator.integers(0, 2, 400))
    keys, sizes, _ = classes_of([age, np.unique(place, return_inverse=True)[1], sex])
    model = fit_cells(keys, sizes, [], rng(seed))
    assert model.founders.sum() < 1.1 * len(sizes)
    assert model.followed > 0.8


def test_many_cells_of_columns_that_tell_all_are_not_followed(monkeypatch):
    """A part of the cells that has all their persons would look as if these came together."""
    monkeypatch.setattr(cell_model, "FITTED", 600)
    generator = rng(3)
    keys, sizes, _ = classes_of([generator.integers(0, 40, 6_000) for _ in range(3)])
    model = fit_cells(keys, sizes, [40] * 3, rng())
    assert model.followed < 0.4
    assert model.again(keys).sum(axis=0) @ model.weights == pytest.approx(
        len(keys) / 40**3, abs=0.03
    )


def test_the_weights_are_those_of_the_mixture_that_was_drawn():
    first, second = np.array([0.7, 0.2, 0.1]), np.array([0.1, 0.2, 0.7])
    drawn = rng(6).multinomial(50_000, 0.3 * first + 0.7 * second)
    weights = stacked(np.column_stack([first, second]), drawn)
    assert weights == pytest.approx([0.3, 0.7], abs=0.03)
