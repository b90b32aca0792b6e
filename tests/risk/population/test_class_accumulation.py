"""The curve of the number of classes: its parts against naive sums, and models that are true."""

from __future__ import annotations

from itertools import combinations
from math import exp, factorial

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit

from sfumato.risk.population import class_accumulation
from sfumato.risk.population.class_accumulation import (
    EDGE,
    Extrapolation,
    Growth,
    Rarefaction,
    believed,
    by_chance,
    by_sizes,
)


def rng(seed=1):
    return np.random.default_rng(seed)


# ------------------------------------------------------------------------------ rarefaction


def test_rarefaction_is_the_sum_over_all_subsamples():
    classes, share = [1, 2, 2, 4], 0.3
    persons = [(number, member) for number, size in enumerate(classes) for member in range(size)]
    seen = alone = 0.0
    for count in range(len(persons) + 1):
        chance = share**count * (1 - share) ** (len(persons) - count)
        for subset in combinations(persons, count):
            shown = [number for number, _ in subset]
            seen += chance * len(set(shown))
            alone += chance * sum(shown.count(number) == 1 for number in set(shown))
    curve = Rarefaction(np.array([1, 2, 4]), np.array([1.0, share]))
    counts = np.array([1.0, 2.0, 1.0])
    assert curve.classes(counts) == pytest.approx([4, seen])
    assert curve.growth(counts) == pytest.approx([1 / 4, alone / seen])


def test_growth_is_the_slope_of_the_classes():
    step, sizes, counts = 1e-6, np.array([1, 3, 50]), np.array([20.0, 9.0, 2.0])
    curve = Rarefaction(sizes, 0.4 * np.exp([-step, 0.0, step]))
    logs = np.log(curve.classes(counts))
    assert curve.growth(counts)[1] == pytest.approx((logs[2] - logs[0]) / (2 * step), rel=1e-6)


# ----------------------------------------------------------------------------- extrapolation


def test_the_curve_of_a_true_model_is_the_integral(monkeypatch):
    """With the model's own counts there is nothing to correct: D(N) is the model's."""
    probabilities = np.repeat(1 / 3_000, 10)
    n, population = 2_000, 20_000
    sizes = np.arange(1, 25)
    counts = np.array(
        [3_000 * exp(-n / 3_000) * (n / 3_000) ** i / factorial(i) for i in sizes.tolist()]
    )
    monkeypatch.setattr(class_accumulation, "CURVE_POINTS", 2_001)
    reach = Extrapolation(sizes, n, population, Growth.of(probabilities)).reach(counts[:, None])
    expected = 3_000 * (1 - exp(-population / 3_000))
    assert reach.classes[0] == pytest.approx(expected, rel=1e-4)
    assert reach.trend[0] == pytest.approx(0, abs=1e-6)
    alone = population * exp(-population / 3_000)
    assert reach.growth[0] == pytest.approx(alone / expected, rel=1e-6)


def test_the_leverage_is_the_derivative():
    probabilities = np.exp(rng(6).normal(-8, 1, 500))
    sizes, counts = np.array([1, 2, 3, 9]), np.array([[400.0], [90.0], [30.0], [4.0]])
    whole = Extrapolation(sizes, int((sizes @ counts)[0]), 9_000, Growth.of(probabilities))
    base, step = whole.reach(counts), 1e-4
    whole._baseline = whole._baseline + step
    moved = whole.reach(counts)
    slope = float(np.log(moved.classes / base.classes)[0]) / step
    assert base.leverage[0] == pytest.approx(slope, rel=1e-3)


@pytest.mark.parametrize(("alone", "more"), [(0, 40), (3, 3), (9, 400), (700, 300), (50, 0)])
@pytest.mark.parametrize("expected", [-3.0, -0.5, 2.0])
def test_the_believed_share_is_the_mode_of_the_posterior(alone, more, expected):
    classes = alone + more
    share = min(max(alone / classes, EDGE), 1 - EDGE)
    apart = logit(share) - expected

    def loss(offset):
        growth = expit(expected + offset)
        likelihood = alone * np.log(growth) + more * np.log1p(-growth)
        return offset * offset / (2 * 0.3**2) - likelihood

    mode = minimize_scalar(loss, (0.0, apart / 10)).x
    found = believed(np.array([apart]), expected, np.array([float(classes)]), 0.3)
    assert found[0] * apart == pytest.approx(mode, abs=1e-5)
    assert 0 < found[0] < 1


def test_few_classes_follow_the_model_and_many_the_sample():
    """A tenth fewer are alone than the model has it: chance among 60 classes, not among 60,000."""
    probabilities = np.repeat(1 / 3_000, 10)
    sizes = np.array([1, 2, 3])
    few = np.array([[36.0], [19.0], [5.0]])
    for counts, least, most in (few, 0.2, 0.7), (1_000 * few, 0.99, 1.0):
        n = int((sizes @ counts)[0])
        model, sample, both = (
            np.log(Extrapolation(sizes, n, 20 * n, growth).reach(counts).classes[0])
            for growth in (
                Growth.of(probabilities, spread=1e-6),
                Growth.of(probabilities),
                Growth.of(probabilities, spread=0.3),
            )
        )
        assert least < (both - model) / (sample - model) < most


# ------------------------------------------------------------------------- persons who gather


def test_how_many_stand_apart_follows_from_those_alone():
    """Of 200 persons in 500 equal cells 200 exp(-0.4) are alone."""
    sizes = np.arange(1, 9)
    total, classes, shares = by_chance(200 * exp(-0.4), sizes, np.full(10, 1 / 500))
    assert total == pytest.approx(200, rel=1e-3)
    assert classes == pytest.approx(500 * (1 - exp(-0.4)), rel=1e-3)
    expected = [exp(-0.4) * 0.4**i / factorial(i) / (1 - exp(-0.4)) for i in sizes.tolist()]
    assert shares == pytest.approx(expected, rel=0.01)


@pytest.mark.slow
def test_pairs_of_those_who_stand_apart_are_not_taken_for_homes():
    """16,000 persons in 24,000 equal cells and 8,000 in homes; every second one is sampled."""
    generator, errors = rng(1), []
    for _ in range(8):
        apart = np.bincount(generator.integers(0, 24_000, 16_000), minlength=24_000)
        homes = np.bincount(generator.integers(0, 160, 8_000), minlength=160)
        whole = np.concatenate([apart, homes])
        sizes, counts = np.unique(generator.binomial(whole, 0.5), return_counts=True)
        some = sizes > 0
        anew = np.full(100, 1 / 24_000)
        found, _, _ = by_sizes(sizes[some], counts[some].astype(float), 24_000, anew)
        errors.append(float(found.classes[0]) / int((whole > 0).sum()) - 1)
    assert abs(np.mean(errors)) < 0.005
