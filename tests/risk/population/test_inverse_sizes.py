"""E[1/F | f] against sums, hypergeometric functions and quadrature of many digits."""

from __future__ import annotations

import time

import mpmath as mp
import numpy as np
import pytest
from few_cases import fast_first
from hypothesis import given
from hypothesis import strategies as st

from sfumato.risk.population.inverse_sizes import confluent, negative_binomial, poisson

DIGITS = 1e-13
P = [1e-6, 1e-4, 0.01, 0.1, 0.3, 0.49999, 0.5, 0.7, 0.999, 1 - 1e-9, 1.0]


def error(found: object, exact: mp.mpf) -> float:
    return float(abs(mp.mpf(float(found)) / exact - 1))


def summed(size: int, shape: float, success: float) -> mp.mpf:
    """Σ P(F) / F, term by term."""
    total, seen = mp.mpf(0), mp.mpf(0)
    term = mp.mpf(success) ** (mp.mpf(shape) + size)
    unseen = 0
    while 1 - seen > mp.mpf(10) ** -20:
        total += term / (size + unseen)
        seen += term
        term *= (mp.mpf(shape) + size + unseen) / (unseen + 1) * (1 - mp.mpf(success))
        unseen += 1
    return total


def summed_poisson(size: int, v: float) -> mp.mpf:
    last = int(v + 15 * np.sqrt(v) + 60)
    return mp.fsum(
        mp.exp(-mp.mpf(v) + i * mp.log(v) - mp.loggamma(i + 1)) / (size + i)
        for i in range(max(0, int(v - 15 * np.sqrt(v))), last)
    )


def quadrature(size: int, shape: float, success: float) -> mp.mpf:
    """∫ t^(f-1) (s / (1 - (1-s) t))^(α + f) dt over (0, 1), with t = exp(-c z)."""
    odds = (1 - mp.mpf(success)) / mp.mpf(success)
    total = mp.mpf(shape) + size
    scale = 1 / (size + total * odds)

    def integrand(z: mp.mpf) -> mp.mpf:
        below = 1 - odds * mp.expm1(-z * scale)
        return mp.exp(-size * z * scale) * below**-total * scale

    last = 120 / (scale * size)
    inner = [mp.mpf(10) ** k for k in range(-1, 9) if mp.mpf(10) ** k < last]
    return mp.quad(integrand, [0, *inner, last], maxdegree=8)


@pytest.fixture(autouse=True)
def thirty_digits():
    with mp.workdps(40):
        yield


@pytest.mark.parametrize("size", [1, 2, 5, 24, 25, 100])
@pytest.mark.parametrize("success", [0.05, 0.4, 0.6, 0.95])
@pytest.mark.parametrize("shape", [0.0, 0.3, 20.0])
def test_it_is_the_sum(size, success, shape):
    assert error(negative_binomial(size, shape, success), summed(size, shape, success)) < DIGITS


@pytest.mark.parametrize("size", [1, 2, 7, 23, 24, 25, 26, 40, 100])
def test_argus_is_a_hypergeometric_function(size):
    for p in P:
        exact = mp.mpf(p) ** size / size * mp.hyp2f1(size, size, size + 1, 1 - mp.mpf(p))
        assert error(negative_binomial(size, 0.0, p), exact) < DIGITS, p


@pytest.mark.parametrize("size", [1, 24, 60])
def test_the_negative_binomial_is_a_hypergeometric_function(size):
    for shape in (1e-9, 0.999999, 1.0, 1.000001, 37.5):
        for success in (1e-6, 0.2, 0.499, 0.5, 1 - 1e-9):
            s, a = mp.mpf(success), mp.mpf(shape)
            exact = mp.hyp2f1(1, a + size, size + 1, (s - 1) / s) / size
            assert error(negative_binomial(size, shape, success), exact) < DIGITS


@pytest.mark.parametrize(
    "size",
    fast_first(1, [1_000_000, 10, 1_000, 10_000]),
)
def test_large_classes_agree_with_quadrature(size):
    for shape in (0.0, 1e-9, 2.5, 1e6):
        for success in (1e-6, 1e-3, 0.5, 1 - 1e-9):
            exact = quadrature(size, shape, success)
            assert error(negative_binomial(size, shape, success), exact) < DIGITS


def test_the_paper_case_that_overflows_elsewhere():
    """NOTES 2: scipy's hyp2f1 is inf or nan at f = 100, p = 0.001."""
    assert error(negative_binomial(100, 0.0, 1e-3), quadrature(100, 0.0, 1e-3)) < DIGITS


@pytest.mark.parametrize("size", [1, 2, 30, 1_000])
@pytest.mark.parametrize("v", [1e-3, 0.7, 12.0, 300.0])
def test_poisson_is_the_sum(size, v):
    assert error(poisson(size, v), summed_poisson(size, v)) < DIGITS


@pytest.mark.parametrize("a", [1, 2, 3])
@pytest.mark.parametrize("size", [1, 2, 7, 50, 1_000, 10**5, 10**6])
def test_confluent_is_kummers_function(a, size):
    for v in (0.0, 1e-9, 1e-3, 0.5, 3.0, 11.3, 40.0, 300.0, 1e4, 1e6, 1e9):
        exact = mp.hyp1f1(a, size + a, -mp.mpf(v))
        assert error(confluent(a, size, v), exact) < DIGITS


@pytest.mark.parametrize("size", [1, 2, 9, 200])
def test_higher_orders_are_derivatives(size):
    v = np.linspace(0.5, 50, 7)
    step = 1e-4
    slope = (confluent(1, size, v + step) - confluent(1, size, v - step)) / (2 * step)
    np.testing.assert_allclose(slope, -confluent(2, size, v) / (size + 1), rtol=1e-6)
    slope = (confluent(2, size, v + step) - confluent(2, size, v - step)) / (2 * step)
    np.testing.assert_allclose(slope, -2 * confluent(3, size, v) / (size + 2), rtol=1e-6)


@given(
    size=st.integers(1, 10**6),
    shape=st.one_of(st.just(0.0), st.floats(1e-9, 1e6)),
    success=st.floats(1e-6, 1 - 1e-9),
)
def test_bounds_of_jensen(size, shape, success):
    """1 / E[F] ≤ E[1/F] ≤ 1/f, and equal within rounding where nobody is unseen."""
    mean = size + (shape + size) * (1 - success) / success
    found = float(negative_binomial(size, shape, success))
    assert (1 - 1e-12) / mean <= found <= (1 + 1e-14) / size


@given(size=st.integers(1, 10**6), v=st.floats(0, 1e9))
def test_bounds_of_jensen_for_poisson(size, v):
    found = float(poisson(size, v))
    assert (1 - 1e-12) / (size + v) <= found <= (1 + 1e-14) / size


def test_a_large_shape_is_poisson():
    v, shape = 3.0, 1e9
    sizes = np.array([1, 2, 40])
    near = negative_binomial(sizes, shape, 1 - v / shape)
    np.testing.assert_allclose(near, poisson(sizes, v), rtol=1e-6)


def test_closed_forms_of_a_single_person():
    p = np.array([1e-6, 0.1, 0.5, 0.9])
    np.testing.assert_allclose(negative_binomial(1, 0.0, p), -p * np.log(p) / (1 - p), rtol=1e-14)
    v = np.array([1e-3, 1.0, 50.0])
    np.testing.assert_allclose(poisson(1, v), -np.expm1(-v) / v, rtol=1e-14)


def test_everybody_in_the_sample():
    sizes = np.array([1, 2, 30, 10**6])
    for found in (
        negative_binomial(sizes, 0.0, 1.0),
        negative_binomial(sizes, 0.5, 1.0),
        poisson(sizes, 0.0),
    ):
        np.testing.assert_allclose(found, 1 / sizes, rtol=1e-15)


def test_shapes_broadcast_and_blocks_change_nothing():
    generator = np.random.default_rng(3)
    sizes = generator.integers(1, 200, 20_000)
    success = generator.uniform(1e-3, 1, 20_000)
    found = negative_binomial(sizes, 0.4, success)
    some = generator.integers(0, 20_000, 50)
    alone = [float(negative_binomial(sizes[i], 0.4, success[i])) for i in some]
    np.testing.assert_allclose(found[some], alone, rtol=1e-13)
    assert poisson(np.array([[1], [2], [3]]), np.arange(4.0)).shape == (3, 4)
    assert poisson(np.array([], dtype=np.int64), 1.0).shape == (0,)


def test_a_million_classes_take_a_second_or_two():
    generator = np.random.default_rng(4)
    sizes = generator.geometric(0.3, 10**6)
    begin = time.process_time()
    poisson(sizes, generator.uniform(0, 100, 10**6))
    negative_binomial(sizes, 0.0, generator.uniform(1e-3, 1, 10**6))
    assert time.process_time() - begin < 5
