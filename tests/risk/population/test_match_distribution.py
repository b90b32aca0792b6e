"""The number of correct matches against all mappings of small classes, and simulation."""

from __future__ import annotations

import time
from itertools import permutations, product
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betaln, xlog1py, xlogy

from sfumato.risk.population.match_distribution import matches

SMALL = [(f, F) for F in range(1, 7) for f in range(1, F + 1)]
TERMS = 30
"""Terms of an alternating sum; 1 / 30! < 1e-32 is left out."""


def class_matches(size, population_size, one_to_one=True):
    """P(R = r) for r = 0, ..., f: an intruder maps the f records of a class to its F persons.

    A free mapping takes each record to any of the F persons: R is binomial(f, 1/F). A one-to-one
    mapping is a random injection: R is its number of fixed points. Given i records, an injection
    fixes all of them with probability (F - i)! / F!, so that E[R(R-1)...(R-i+1)] =
    (f)_i / (F)_i with falling factorials, and by inclusion and exclusion

        P(R = r) = Σ_{i=0}^{f-r} (-1)^i C(r + i, r) (f)_{r+i} / ((F)_{r+i} (r + i)!).

    For f = F the ratio of the factorials is 1: the distribution of paper 004, Section 2.3,
    P(R = r) = (1 / r!) Σ_{i=0}^{F-r} (-1)^i / i!. The mean is f/F under both mappings
    (Theorem 1).
    """
    if not one_to_one:
        return binomial(size, 1 / population_size)
    before = np.arange(size + TERMS, dtype=float)
    left = np.maximum(size - before, 0.0)
    ratios = left / np.where(left > 0, population_size - before, 1.0) / (before + 1)
    moments = np.concatenate([[1.0], np.cumprod(ratios)])
    result = np.zeros(size + 1)
    choose = np.ones(size + 1)
    counts = np.arange(size + 1)
    for i in range(TERMS):
        result += (-1) ** i * choose * moments[counts + i]
        choose *= (counts + i + 1) / (i + 1)
    return np.maximum(result, 0.0)


def binomial(trials, success):
    """P(0), ..., P(trials)."""
    counts = np.arange(trials + 1)
    logarithms = (
        xlogy(counts, success)
        + xlog1py(trials - counts, -success)
        - np.log(trials + 1)
        - betaln(trials - counts + 1, counts + 1)
    )
    return np.exp(logarithms)


def every_mapping(size, population_size, one_to_one):
    people = range(population_size)
    every = permutations(people, size) if one_to_one else product(people, repeat=size)
    right = [sum(i == person for i, person in enumerate(mapping)) for mapping in every]
    return np.bincount(right, minlength=size + 1) / len(right)


def spread(found, length):
    """The probabilities of the counts 0, ..., length - 1."""
    full = np.zeros(length)
    full[found.low : found.high + 1] = found.probabilities
    return full


@pytest.mark.parametrize("one_to_one", [True, False])
@pytest.mark.parametrize(("size", "population_size"), SMALL)
def test_one_class_is_the_share_of_all_mappings(size, population_size, one_to_one):
    exact = every_mapping(size, population_size, one_to_one)
    found = class_matches(size, population_size, one_to_one)
    np.testing.assert_allclose(found, exact, atol=1e-15)
    total = matches(np.array([size]), np.array([population_size]), one_to_one)
    np.testing.assert_allclose(spread(total, size + 1), exact, atol=1e-14)
    counts = np.arange(size + 1)
    assert total.mean == pytest.approx(size / population_size, rel=1e-14)
    variance = exact @ counts**2 - (exact @ counts) ** 2
    assert total.variance == pytest.approx(variance, abs=1e-13)


@pytest.mark.parametrize("size", [1, 2, 5, 12])
def test_the_formula_of_section_2_3(size):
    """Paper 004, Section 2.3: (1 / R!) Σ_{v ≤ F - R} (-1)^v / v! where f = F; mean 1."""
    exact = [
        sum((-1) ** v / factorial(v) for v in range(size - r + 1)) / factorial(r)
        for r in range(size + 1)
    ]
    np.testing.assert_allclose(class_matches(size, size), exact, atol=1e-15)


def test_all_of_the_population_is_disclosed():
    """With n = N the expected number is the number of classes (Theorem 1)."""
    sizes = np.repeat([1, 2, 3, 50], [7, 5, 3, 2])
    found = matches(sizes, sizes)
    assert found.mean == pytest.approx(17)
    assert found.variance == pytest.approx(10)
    assert found.low >= 7
    assert found.probabilities.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("one_to_one", [True, False])
def test_the_total_is_the_convolution(one_to_one):
    generator = np.random.default_rng(5)
    sizes = generator.integers(1, 9, 200)
    population_sizes = sizes + generator.integers(0, 5, 200)
    exact = np.ones(1)
    for size, population_size in zip(sizes, population_sizes, strict=True):
        exact = np.convolve(exact, class_matches(size, population_size, one_to_one))
    found = matches(sizes, population_sizes, one_to_one)
    np.testing.assert_allclose(spread(found, len(exact)), exact, atol=1e-14)
    below = np.cumsum(exact)
    assert found.quantiles() == (np.searchsorted(below, 0.025), np.searchsorted(below, 0.975))
    assert found.at_least(140) == pytest.approx(exact[140:].sum(), abs=1e-12)


def test_it_is_what_an_intruder_gets():
    generator = np.random.default_rng(6)
    sizes = np.repeat([1, 2, 4, 30], 5)
    population_sizes = np.repeat([3, 2, 9, 41], 5)
    runs = 4_000
    counts = np.zeros(runs, dtype=int)
    for size, population_size in zip(sizes, population_sizes, strict=True):
        taken = generator.permuted(np.tile(np.arange(population_size), (runs, 1)), axis=1)
        counts += (taken[:, :size] == np.arange(size)).sum(axis=1)
    found = matches(sizes, population_sizes)
    assert counts.mean() == pytest.approx(found.mean, abs=5 * np.sqrt(found.variance / runs))
    assert counts.var() == pytest.approx(found.variance, rel=0.12)
    low, high = found.quantiles(0.05, 0.95)
    assert 0.86 < ((low <= counts) & (counts <= high)).mean() < 0.98


def test_pairs_of_two_match_both_or_none():
    found = matches(np.full(50, 2), np.full(50, 2))
    full = spread(found, 101)
    assert np.all(full[1::2] < 1e-15)
    assert full[50] == pytest.approx(0.112275172659217, rel=1e-10)  # C(50, 25) / 2^50


def test_where_every_match_is_certain():
    found = matches(np.ones(12, dtype=int), np.ones(12, dtype=int))
    assert (found.mean, found.variance, found.low, found.high) == (12, 0, 12, 12)
    assert found.quantiles() == (12, 12)


@given(
    size=st.integers(1, 40),
    more=st.floats(0, 1e6),
    one_to_one=st.booleans(),
)
def test_estimated_sizes_need_not_be_whole(size, more, one_to_one):
    probabilities = class_matches(size, size + more, one_to_one)
    counts = np.arange(size + 1)
    assert probabilities.sum() == pytest.approx(1, abs=1e-12)
    assert probabilities @ counts == pytest.approx(size / (size + more), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("one_to_one", [True, False])
def test_a_million_classes_take_seconds(one_to_one):
    generator = np.random.default_rng(7)
    sizes = generator.geometric(0.3, 10**6)
    population_sizes = sizes * generator.uniform(1, 10, 10**6)
    begin = time.process_time()
    found = matches(sizes, population_sizes, one_to_one)
    assert time.process_time() - begin < 10
    counts = np.arange(found.low, found.high + 1)
    assert found.probabilities.sum() == pytest.approx(1, abs=1e-10)
    assert found.probabilities @ counts == pytest.approx(found.mean, rel=1e-10)
    assert found.probabilities @ (counts - found.mean) ** 2 == pytest.approx(
        found.variance, rel=1e-8
    )
