"""The criteria of Skinner and Shlomo against their formulas, derivatives and full sums."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import mpmath
import numpy as np
import pytest
from oracles.close import close
from studies.dankar_el_emam.contingency_table import observed_cells
from studies.dankar_el_emam.log_linear_fit import Fitter
from studies.dankar_el_emam.log_linear_search import (
    MISSED,
    AllCells,
    Coefficients,
    Criteria,
    DrawnCells,
    of_direction,
    of_size,
)


class Misfit(NamedTuple):
    """B of Skinner and Shlomo (2008, JASA 103:989-1001, Section 4), and its variance.

    A large |B| / √variance shows lack of fit; the sign of B is not the direction of the error.

    Attributes
    ----------
    bias
        B.
    variance
        Of B where the model holds.
    """

    bias: float
    variance: float


def misfit(coefficients, sizes, means, weights=1.0):
    """B, and its variance where the model holds, by sums over all cells."""
    a, b = coefficients
    apart = sizes - means
    bias = weights * (a * apart + b * (apart * apart - sizes))
    variance = weights * (a * a * means + 2 * b * b * means * means)
    return Misfit(float(np.sum(bias)), float(np.sum(variance)))


def of_population_uniques(means, fraction):
    """The coefficients for τ1, the sample uniques that are population uniques."""
    population = means / fraction
    at_one = (1 - fraction) * population * np.exp(-population)
    return Coefficients(at_one, at_one * (1 - fraction) / (2 * fraction))


def random_table(seed):
    rng = np.random.default_rng(seed)
    means = rng.gamma(0.5, 2.0, 300) + 1e-6
    return rng.poisson(means), means, rng.uniform(0.02, 0.9)


@pytest.mark.parametrize("seed", range(5))
def test_uniques_criterion_is_that_of_skinner_and_shlomo(seed):
    """NOTES, section 2: the B2 of their article for τ2, its variance, and the one for τ1."""
    sizes, mu, pi = random_table(seed)
    lam = mu / pi
    v = (1 - pi) * lam
    r = (1 - np.exp(-v)) / v
    a = np.exp(-mu) * r - np.exp(-lam)
    b = (np.exp(-mu) * r - np.exp(-lam) * (1 + v / 2)) / mu
    found = misfit(of_size(1, mu, pi), sizes, mu)
    assert found.bias == close(*bias(a, b, sizes, mu), digits=1e-10)
    assert found.variance == pytest.approx(np.sum(a**2 * mu + 2 * b**2 * mu**2), rel=1e-10)
    a = (1 - pi) * lam * np.exp(-lam)
    b = (1 - pi) ** 2 * lam * np.exp(-lam) / (2 * pi)
    found = misfit(of_population_uniques(mu, pi), sizes, mu)
    assert found.bias == close(*bias(a, b, sizes, mu), digits=1e-10)


def bias(a, b, sizes, mu):
    """The sum of what exceeds what is expected, and what it is the difference of."""
    squares = (sizes - mu) ** 2
    parts = np.sum(np.abs(a) * (sizes + mu) + np.abs(b) * (squares + sizes))
    return np.sum(a * (sizes - mu) + b * (squares - sizes)), parts


def risk(k, mu, pi):
    """R_k: k E[1/F | f = k], or P(F > 0 | f = 0)."""
    v = (1 - pi) / pi * mu
    return mpmath.hyp1f1(1, k + 1, -v) if k else 1 - mpmath.exp(-v)


@pytest.mark.parametrize("k", [0, 1, 2, 7, 60])
@pytest.mark.parametrize("mu", [1e-3, 0.4, 3.0, 55.0])
def test_coefficients_are_derivatives(k, mu):
    pi = 0.1
    present = mpmath.exp(-mu) * mpmath.mpf(mu) ** k / mpmath.factorial(k)
    first = mpmath.diff(lambda x: risk(k, x, pi), mu)
    second = mpmath.diff(lambda x: risk(k, x, pi), mu, 2)
    a, b = of_size(k, np.array([mu]), pi)
    assert a[0] == pytest.approx(float(-present * first), rel=1e-9)
    assert b[0] == pytest.approx(float(present * second / 2), rel=1e-9)


@pytest.mark.parametrize("k", [0, 1, 3])
def test_direction_is_that_of_the_error_under_lack_of_fit(k):
    """Σ of the expected B is Σ P_k(true) [R_k(fitted) - R_k(true)] to second order."""
    rng = np.random.default_rng(k)
    fitted, pi = rng.uniform(0.2, 3.0, 50), 0.4
    true = fitted * (1 + 0.01 * rng.normal(size=50))
    a, b = of_direction(k, fitted, pi)
    expected = np.sum(a * (true - fitted) + b * (true - fitted) ** 2)
    error = mpmath.mpf(0)
    for was, now in zip(true, fitted, strict=True):
        present = mpmath.exp(-was) * was**k / mpmath.factorial(k)
        error += present * (risk(k, now, pi) - risk(k, was, pi))
    assert expected == pytest.approx(float(error), rel=2e-3)


def small_sample(seed=0, variables=4):
    rng = np.random.default_rng(seed)
    people = rng.geometric(0.25, size=(2_500, variables)).clip(max=11)
    people[:, 1] = (people[:, 1] + people[:, 0] * rng.integers(0, 2, len(people))) % 9
    keys, sizes = np.unique(people, axis=0, return_counts=True)
    return observed_cells(keys.astype(np.int32), sizes)


@pytest.mark.parametrize("pi", [0.01, 0.3, 0.9])
def test_tabulated_criteria_are_the_exact_sums(pi):
    cells = small_sample()
    bands = [(1,), (2,), (5,), (7, 8, 9)]
    criteria = Criteria([*bands, MISSED], pi)
    for terms in ([], [(0, 1)], list(combinations(range(4), 2))):
        sizes, means, weights = AllCells(cells).judge(Fitter(cells, 10**6).fit(terms))
        found = criteria.of(sizes, means, weights)
        sizes, means = sizes[means > 0], means[means > 0]
        for band, z in zip(bands, found, strict=False):
            parts = [of_size(size, means, pi) for size in band]
            total = type(parts[0])(*(sum(each) for each in zip(*parts, strict=True)))
            exact = misfit(total, sizes, means)
            assert z == pytest.approx(exact.bias / np.sqrt(exact.variance), rel=1e-4, abs=1e-5)
        exact = misfit(of_direction(0, means, pi), sizes, means)
        assert found[-1] == pytest.approx(exact.bias / np.sqrt(exact.variance), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("terms", [[], [(0, 1)], [(0, 1), (1, 2), (0, 2), (2, 3)]])
def test_draws_give_the_sums_over_all_cells(terms):
    cells = small_sample()
    model = Fitter(cells, 10**6).fit(terms)
    criteria = Criteria([(1,), (2,), (4,), MISSED], 0.2)
    exact = criteria.of(*AllCells(cells).judge(model))
    found = np.array(
        [
            criteria.of(*DrawnCells(cells, np.random.default_rng(seed)).judge(model))
            for seed in range(20)
        ]
    )
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - exact) < 4.5 * error + 1e-6).all()
    assert (found.std(axis=0) < 0.5).all()


def test_a_part_of_the_observed_cells_stands_for_all(monkeypatch):
    cells = small_sample(variables=5)
    monkeypatch.setattr("studies.dankar_el_emam.log_linear_search._PER_SIZE", 60)
    picked = DrawnCells(cells, np.random.default_rng(0)).judge(Fitter(cells, 10).fit([]))
    for size in (1, 2, 3):
        assert picked.weights[picked.sizes == size].sum() == pytest.approx(
            (cells.sizes == size).sum()
        )
    assert (picked.sizes == 1).sum() == 60


def test_a_size_that_no_fitted_mean_is_near_has_a_criterion():
    sizes, means = np.array([90.0, 0.0, 2.0]), np.array([12.0, 0.5, 1.0])
    exact = misfit(of_size(90, means, 0.3), sizes, means)
    found = Criteria([(90,)], 0.3).of(sizes, means, np.ones(3))[0]
    assert found == pytest.approx(exact.bias / np.sqrt(exact.variance), rel=0.1)
