"""The class-count estimators against slow exact oracles, first principles and Adult."""

from __future__ import annotations

from fractions import Fraction
from math import exp, isclose, log

import numpy as np
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln
from studies.dankar_el_emam.class_count_estimators import (
    ALONE,
    CLASS_COUNTS,
    FORMULAS,
    LOWERED,
    RAISED,
    duj1,
    duj2,
    duj2a,
    pitman,
    shlosser,
)

from sfumato.risk.population.estimator_protocol import EstimationFailedError, SampleClasses
from sfumato.risk.population.uniqueness_models import (
    digamma_gap,
    fit_pitman,
    log_gamma_step,
    sh3,
)

RNG = np.random.default_rng(0)
SAMPLES = st.lists(st.integers(1, 30), min_size=1, max_size=40)


def counted(sizes):
    return SampleClasses(np.array(sizes, dtype=np.int64), int(sum(sizes))).counts_of_sizes


def exact_duj1(sizes, population):
    n, q = sum(sizes), Fraction(sum(sizes), population)
    return len(sizes) / (1 - (1 - q) * sizes.count(1) / Fraction(n))


def exact_duj2(sizes, population):
    n, d, q = sum(sizes), len(sizes), Fraction(sum(sizes), population)
    first = exact_duj1(sizes, population)
    pairs = sum(i * (i - 1) for i in sizes)
    skew = max(Fraction(0), first * pairs / n**2 + first / population - 1)
    miss = float((1 - q) / q) * log(1 - q) if q < 1 else 0.0
    return (d - sizes.count(1) * miss * skew) / float(1 - (1 - q) * sizes.count(1) / Fraction(n))


def exact_duj2a(sizes, population, limit):
    q = sum(sizes) / population
    kept = [size for size in sizes if size <= limit]
    rest = float(population)
    for size in sizes:
        if size > limit:
            low, high = 0.5, 10 * size / q
            for _ in range(200):
                middle = (low + high) / 2
                seen = q * middle / (1 - (1 - q) ** middle)
                low, high = (middle, high) if seen < size else (low, middle)
            rest -= low
    if not kept:
        return float(len(sizes))
    return len(sizes) - len(kept) + exact_duj2(kept, Fraction(max(float(sum(kept)), rest)))


def exact_shlosser(sizes, population):
    q = Fraction(sum(sizes), population)
    unseen = sum((1 - q) ** i for i in sizes)
    once = sum(i * q * (1 - q) ** (i - 1) for i in sizes)
    return len(sizes) + sizes.count(1) * unseen / once


def exact_sh3(sizes, population):
    q = Fraction(sum(sizes), population)
    once = sum(i * q**2 * (1 - q**2) ** (i - 1) for i in sizes)
    gained = sum((1 - q) ** i * ((1 + q) ** i - 1) for i in sizes)
    unseen = sum((1 - q) ** i for i in sizes)
    ones = sum(i * q * (1 - q) ** (i - 1) for i in sizes)
    return len(sizes) + sizes.count(1) * once / gained * (unseen / ones) ** 2


def _close(found, expected):
    return isclose(found, float(expected), rel_tol=1e-9)


@given(SAMPLES, st.integers(1, 500))
def test_formulas_equal_exact_fractions(sizes, further):
    counts, population = counted([*sizes, 1]), sum(sizes) + 1 + further
    sizes = [*sizes, 1]
    assert _close(duj1(*counts, population), exact_duj1(sizes, population))
    assert _close(duj2(*counts, population), exact_duj2(sizes, population))
    assert _close(duj2a(*counts, population, 5), exact_duj2a(sizes, population, 5))
    assert _close(shlosser(*counts, population), exact_shlosser(sizes, population))
    assert _close(sh3(*counts, population), exact_sh3(sizes, population))


def test_duj2a_leaves_out_classes_of_more_than_50():
    sizes = [1] * 30 + [2] * 10 + [40, 50, 51, 400]
    assert _close(duj2a(*counted(sizes), 5_000), exact_duj2a(sizes, 5_000, 50))
    assert not _close(duj2a(*counted(sizes), 5_000), duj2(*counted(sizes), 5_000))


@pytest.mark.parametrize("population", [10**7, 10**12])
def test_sh3_where_its_powers_overflow(population):
    sizes = [1] * 50 + [2] * 20 + [1_000_000]
    found = sh3(*counted(sizes), population)
    assert np.isfinite(found)
    # The class of a million adds nothing to any of the sums but one: Σ ((1−q²)^i − (1−q)^i).
    q = sum(sizes) / population
    parts = [(1, 50), (2, 20), (1_000_000, 1)]
    once = sum(f * i * q * q * exp((i - 1) * np.log1p(-q * q)) for i, f in parts)
    gained = sum(f * (exp(i * np.log1p(-q * q)) - exp(i * np.log1p(-q))) for i, f in parts)
    unseen = sum(f * exp(i * np.log1p(-q)) for i, f in parts)
    ones = sum(f * i * q * exp((i - 1) * np.log1p(-q)) for i, f in parts)
    assert found == pytest.approx(71 + 50 * once / gained * (unseen / ones) ** 2, rel=1e-6)


# ------------------------------------------------------------------------------------ Pitman


def log_likelihood(sizes, theta, sigma):
    sizes = np.asarray(sizes)
    n, d = sizes.sum(), len(sizes)
    born = np.log(theta + sigma * np.arange(1, d)).sum()
    joined = (gammaln(sizes - sigma) - gammaln(1 - sigma)).sum()
    return born - gammaln(theta + n) + gammaln(theta + 1) + joined


@pytest.mark.parametrize(
    "sizes",
    [
        [1, 1, 1, 2, 2, 3, 10],
        [1, 1, 50],
        [500_000, 1, 1],
        RNG.zipf(1.7, 300).clip(max=10**5),
        RNG.zipf(2.5, 2_000).clip(max=10**5),
        RNG.negative_binomial(0.3, 0.02, 300) + 1,
        [2] * 50,
        [1] * 98 + [2],
        [1, 100_000],
    ],
)
def test_pitman_is_the_highest_likelihood(sizes):
    theta, sigma = fit_pitman(*counted(list(sizes)))
    best = log_likelihood(sizes, theta, sigma)
    grid = [
        log_likelihood(sizes, distance - other, other)
        for other in (1e-6, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95)
        for distance in np.exp(np.linspace(-8, 16, 49))
    ]
    near = [
        log_likelihood(sizes, theta + step * (theta + sigma), max(0.0, sigma + turn))
        for step in (-1e-3, 0, 1e-3)
        for turn in (-1e-4, 0, 1e-4)
        if theta + step * (theta + sigma) > -sigma - turn
    ]
    assert best >= max(*grid, *near) - 1e-6


@pytest.mark.parametrize("sizes", [[1, 1, 1, 2, 2, 3, 10], [1, 1, 50], [2, 2, 2, 1], [3, 1, 1]])
def test_pitman_count_is_the_sequential_expectation(sizes):
    """E[K_(m+1)] = E[K_m] + (θ + σ E[K_m]) / (θ + m), person by person."""
    n = sum(sizes)
    theta, sigma = map(Fraction, fit_pitman(*counted(sizes)))
    expected = Fraction(len(sizes))
    for m in range(n, 60):
        # Rounded on the way: exact fractions grow without bound.
        expected = (expected + (theta + sigma * expected) / (theta + m)).limit_denominator(10**30)
    assert _close(pitman(*counted(sizes), 60), expected)


@pytest.mark.parametrize("start", [0.3, 5.5, 299.0, 301.0, 1e6])
def test_differences_of_gamma_functions(start):
    """Against products and sums over whole steps."""
    total = sum(1 / (start + k) for k in range(1_000))
    assert digamma_gap(start, 1_000) == pytest.approx(total, rel=1e-11)
    quarter = sum(log_gamma_step(start + part / 4, 0.25) for part in range(4))
    assert quarter == pytest.approx(log(start), rel=1e-10)


def pitman_population(rng, theta, sigma, persons):
    sizes = np.zeros(persons)
    used = 0
    for m in range(persons):
        if rng.random() * (theta + m) < theta + sigma * used:
            sizes[used], used = 1, used + 1
        else:
            weights = sizes[:used] - sigma
            sizes[np.searchsorted(np.cumsum(weights), rng.random() * weights.sum())] += 1
    return sizes[:used].astype(np.int64)


def drawn(rng, population, n):
    return SampleClasses(
        (found := rng.multivariate_hypergeometric(population, n))[found > 0], population.sum()
    )


def test_pitman_recovers_a_population_of_its_own():
    rng = np.random.default_rng(7)
    population = pitman_population(rng, 40.0, 0.5, 6_000)
    errors = [
        CLASS_COUNTS["pitman"].estimate(drawn(rng, population, 1_500), rng).class_count
        / len(population)
        - 1
        for _ in range(10)
    ]
    assert abs(np.mean(errors)) < 0.05


# ----------------------------------------------------------------------------- all estimators


@given(SAMPLES, st.integers(0, 2_000), st.sampled_from(sorted(CLASS_COUNTS)))
def test_estimates_are_possible(sizes, further, name):
    sample = SampleClasses(np.array(sizes, dtype=np.int64), sum(sizes) + further)
    if sample.n == 1 and further and name == "pitman":
        with pytest.raises(EstimationFailedError, match="two persons"):
            CLASS_COUNTS[name].estimate(sample, np.random.default_rng(0))
        return
    found = CLASS_COUNTS[name].estimate(sample, np.random.default_rng(0))
    assert len(sizes) <= found.class_count <= len(sizes) + further
    assert found.marketer == found.class_count / sample.population
    assert found.estimator == name
    assert found.inverse_sizes is None
    if not further:
        assert found.class_count == len(sizes)


@pytest.mark.parametrize("name", sorted(CLASS_COUNTS))
def test_nobody_shares_a_class(name):
    found = CLASS_COUNTS[name].estimate(
        SampleClasses(np.ones(50, dtype=np.int64), 900), np.random.default_rng(0)
    )
    assert found.class_count == pytest.approx(900, rel=1e-9)
    assert ALONE in found.path


def test_says_that_it_clipped(monkeypatch):
    rng = np.random.default_rng(0)
    # Duj2 overshoots where class sizes vary a lot.
    skewed = SampleClasses(np.array([1] * 100 + [900]), 1_200)
    found = CLASS_COUNTS["duj2"].estimate(skewed, rng)
    assert (found.class_count, found.path) == (301, (LOWERED,))
    assert duj2(*skewed.counts_of_sizes, 1_200) > 301

    monkeypatch.setitem(FORMULAS, "duj1", lambda *_: 0.0)
    found = CLASS_COUNTS["duj1"].estimate(skewed, rng)
    assert (found.class_count, found.path) == (101, (RAISED,))

    monkeypatch.setitem(FORMULAS, "duj1", lambda *_: float("nan"))
    with pytest.raises(EstimationFailedError, match="duj1 has no finite value"):
        CLASS_COUNTS["duj1"].estimate(skewed, rng)


def test_hybrids_choose_by_the_variation_of_sizes():
    rng = np.random.default_rng(3)
    equal = drawn(rng, np.full(300, 10), 600)
    taken = {name: CLASS_COUNTS[name].estimate(equal, rng) for name in CLASS_COUNTS}
    assert taken["hybrid"].path == ("took duj2",)
    assert taken["hybrid"].class_count == taken["duj2"].class_count
    assert all(abs(taken[name].class_count - 300) < 15 for name in ("duj1", "duj2", "duj2a"))
    skewed = drawn(rng, np.array([1] * 300 + [8_000, 1_700]), 2_000)
    taken = {name: CLASS_COUNTS[name].estimate(skewed, rng) for name in CLASS_COUNTS}
    assert taken["hybrid"].path[0] == "took sh3"
    assert taken["hybrid"].class_count == taken["sh3"].class_count
    between = SampleClasses(np.array([1] * 200 + [2] * 100 + [20] * 10), 3_000)
    found = CLASS_COUNTS["hybrid"].estimate(between, rng)
    assert found.path[0] == "took duj2a"


# -------------------------------------------------------------------------------------- Adult

NOTES = {
    (4, 0.1): {"shlosser": 20.2, "sh3": -12.3, "pitman": 3.2},
    (4, 0.3): {"shlosser": 2.4, "sh3": -0.5, "pitman": 2.1},
    (4, 0.5): {"shlosser": 0.6, "sh3": 0.1, "pitman": 1.3},
    (8, 0.1): {"shlosser": 14.9, "sh3": -2.6, "pitman": 1.1},
    (8, 0.3): {"shlosser": 3.0, "sh3": 0.8, "pitman": 1.9},
    (8, 0.5): {"shlosser": 0.5, "sh3": 0.0, "pitman": 0.8},
}
"""Mean relative errors of λ in % of 30 samples, by quasi-identifiers and fraction."""


@pytest.fixture(scope="module")
def adult(shared_data):
    parse = pyarrow.csv.ParseOptions(delimiter=";")
    table = pyarrow.csv.read_csv(shared_data / "adult" / "adult.csv", parse_options=parse)
    names = {4: ["age", "education", "race", "sex"]}
    names[8] = [name for name in table.column_names if name != "occupation"]
    classes = {}
    for number, columns in names.items():
        coded = [table[name].combine_chunks().dictionary_encode().indices for name in columns]
        rows = np.stack([column.to_numpy() for column in coded], axis=1)
        classes[number] = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
    return classes


@pytest.mark.parametrize(("number", "fraction"), sorted(NOTES))
def test_errors_on_adult(adult, number, fraction):
    rng = np.random.default_rng(11)
    class_of = adult[number]
    population = np.bincount(class_of)
    n = round(fraction * len(class_of))
    errors = {name: [] for name in NOTES[number, fraction]}
    for _ in range(30):
        drawn_from = rng.choice(class_of, n, replace=False, shuffle=False)
        sizes = np.bincount(drawn_from, minlength=len(population))
        risk = (sizes / population).sum() / n
        sample = SampleClasses(sizes[sizes > 0], len(class_of))
        for name, found in errors.items():
            estimate = CLASS_COUNTS[name].estimate(sample, rng)
            found.append(100 * (estimate.marketer / risk - 1))
    within = 2 if fraction >= 0.3 else 4
    for name, expected in NOTES[number, fraction].items():
        assert np.mean(errors[name]) == pytest.approx(expected, abs=within), name
