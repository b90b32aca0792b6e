"""The shares of values, seen and unseen, against quadrature, Bayes' rule and drawn populations."""

from __future__ import annotations

from math import exp, factorial, pi, sqrt

import numpy as np
import pytest
from scipy.integrate import quad

from sfumato.risk.population.value_shares import (
    NODES,
    UNSEEN,
    Margin,
    Mixture,
    fit_mixture,
    shares_of_sizes,
)


def rng(seed=1):
    return np.random.default_rng(seed)


@pytest.mark.parametrize(("mean", "spread"), [(0.3, 0.8), (2.0, 0.2), (-1.0, 1.5)])
def test_the_mixture_has_the_likelihood_of_quadrature_and_finds_the_parameters(mean, spread):
    generator = rng(3)
    sizes = generator.poisson(np.exp(mean + spread * generator.normal(size=40_000)))
    shown, counts = np.unique(sizes[(sizes > 0) & (sizes <= 200)], return_counts=True)
    mixture = fit_mixture(shown, counts.astype(float))
    found = float(np.exp(mixture.log_rates) @ mixture.weights)
    assert found == pytest.approx(exp(mean + spread**2 / 2), rel=0.12)
    assert mixture.classes == pytest.approx(40_000, rel=0.12)
    middle = float(mixture.log_rates[len(NODES) // 2])
    width = float(mixture.log_rates[-1] - middle) / float(NODES[-1])
    log_rates, weights = mixture.log_rates, mixture.weights
    unseen = poisson_lognormal(0, middle, width)
    assert float(np.exp(-np.exp(log_rates)) @ weights) == pytest.approx(unseen, rel=2e-4)
    expected = [poisson_lognormal(size, middle, width) / (1 - unseen) for size in (1, 2, 7)]
    mine = shares_of_sizes(np.array([1, 2, 7]), log_rates, weights)
    assert mine == pytest.approx(expected, rel=2e-4, abs=1e-12)


def poisson_lognormal(size, middle, width):
    """The probability of a size, by adaptive quadrature."""

    def integrand(z):
        log = middle + width * z
        return exp(size * log - exp(log) - z * z / 2) / sqrt(2 * pi) / factorial(size)

    return quad(integrand, -8, 8, epsabs=1e-13, limit=200)[0]


def test_the_posterior_is_bayes_rule():
    mixture = Mixture(np.log([0.5, 2.0, 6.0]), np.array([0.5, 0.3, 0.2]), 100.0, 0.0)
    found = mixture.posterior(np.array([0, 3]))
    for row, size in zip(found, (0, 3), strict=True):
        joint = [w * exp(-r) * r**size for w, r in zip((0.5, 0.3, 0.2), (0.5, 2, 6), strict=True)]
        assert row == pytest.approx([each / sum(joint) for each in joint])


def test_a_margin_without_rare_values_is_the_samples():
    margin = Margin(np.array([0, 2, 2]), np.array([600, 300, 100]))
    assert margin.log_probability(np.array([0, 2]), rng()) == pytest.approx(np.log([0.6, 0.4]))
    drawn_codes = margin.draw(20_000, rng())
    assert set(drawn_codes.tolist()) == {0, 2}
    assert (drawn_codes == 0).mean() == pytest.approx(0.6, abs=0.015)


def test_a_margin_of_many_rare_values_has_unseen_ones():
    generator = rng(4)
    whole = generator.choice(5_000, 6_000)
    persons = np.bincount(whole)
    persons = persons[persons > 0]
    margin = Margin(np.arange(len(persons)), persons)
    codes = margin.draw(40_000, rng())
    unseen = float((codes == UNSEEN).mean())
    assert unseen == pytest.approx(exp(-6_000 / 5_000), rel=0.15)
    chances = np.exp(margin.log_probability(codes, rng()))
    assert (1 / chances).mean() == pytest.approx(5_000, rel=0.15)  # the number of values


@pytest.mark.parametrize("large", [[], [900]])
def test_a_margin_of_values_that_are_all_different_has_unseen_ones(large):
    persons = np.array([1] * 100 + large)
    margin = Margin(np.arange(len(persons)), persons)
    codes = margin.draw(4_000, rng())
    unseen = codes == UNSEEN
    assert unseen.mean() > 0.9 * 100 / persons.sum()
    chances = np.exp(margin.log_probability(codes, rng()))
    assert 1e-6 < chances[unseen].max() < 1e-3


def test_shares_sum_to_one_with_the_unseen_ones():
    persons = np.bincount(rng(4).choice(5_000, 6_000))
    persons = persons[persons > 0]
    margin = Margin(np.arange(len(persons)), persons)
    shares = margin.shares
    assert len(shares) == len(persons) + 1
    unseen = (margin.draw(40_000, rng()) == UNSEEN).mean()
    assert shares[:-1].sum() + unseen == pytest.approx(1, abs=0.01)


def test_a_value_without_its_persons_is_an_unseen_one():
    margin = Margin(np.arange(4), np.array([1, 1, 2, 40]))
    left = margin.shares_without(np.array([0, 2, 3]), np.array([1, 1, 10]))
    assert left[0] == margin.shares[-1]
    assert left[1:] == pytest.approx(margin.shares[[2, 3]] * [1 / 2, 30 / 40])


def test_ranges_are_of_neighbours_and_of_about_as_many_persons():
    codes = np.random.default_rng(3).integers(0, 400, 20_000)
    margin = Margin(*np.unique(codes, return_counts=True), values=400)
    ranges = margin.ranges(16)
    assert ranges[-1] == UNSEEN
    assert (np.diff(ranges[:-1]) >= 0).all()
    persons = np.bincount(ranges[codes])
    assert len(persons) == 16
    assert persons == pytest.approx(np.full(16, 1_250), rel=0.1)
