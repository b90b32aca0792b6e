"""Sampling weights: equal ones change nothing, those of strata are taken into account."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from few_cases import fast_first

import sfumato as sf
from sfumato.risk.population.accumulation_estimator import Accumulation
from sfumato.risk.population.estimator_protocol import SampleClasses
from sfumato.risk.population.sampling_weights import Weighted, _strata, share_between, share_of_sums


def rng(seed=1):
    return np.random.default_rng(seed)


def stratified(generator, rates, persons=12_000):
    """A population in strata of which each is drawn at a rate of its own; λ as it really is."""
    stratum = generator.integers(0, len(rates), persons)
    other = generator.choice(900, persons, p=np.arange(1, 901) / 405_450)
    codes = np.column_stack([stratum, other]).astype(np.int32)
    keys, class_of, whole = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    taken = generator.random(persons) < np.array(rates)[stratum]
    sizes = np.bincount(class_of.ravel()[taken], minlength=len(whole))
    seen = sizes > 0
    weights = 1 / np.array(rates)[keys[seen, 0]]
    sample = SampleClasses(
        sizes[seen], persons, keys[seen], (len(rates), 900), sizes[seen] * weights
    )
    return sample, float((sizes[seen] / whole[seen]).sum() / sizes.sum())


@pytest.mark.slow
@pytest.mark.parametrize("noise", fast_first(1, [1e-13, 0.0]))
def test_constant_weights_are_equal_probabilities(noise):
    generator = rng(2)
    sample, _ = stratified(generator, [0.2])
    jitter = 1 + noise * generator.random(sample.classes)
    weighed = SampleClasses(
        sample.sizes, sample.population, sample.keys, sample.domains, 5.0 * sample.sizes * jitter
    )
    plain = SampleClasses(sample.sizes, sample.population, sample.keys, sample.domains)
    one, two = (
        Weighted().estimate(weighed, rng()),
        Accumulation().estimate(plain, rng()),
    )
    assert (one.marketer, one.low, one.high) == (two.marketer, two.low, two.high)


@pytest.mark.slow
def test_strata_are_better_than_one_probability():
    with_weights, without, covered = [], [], 0
    generator = rng(3)
    for _ in range(6):
        sample, real = stratified(generator, [0.05, 0.5])
        found = Weighted().estimate(sample, generator)
        with_weights.append(found.marketer / real - 1)
        covered += found.low <= real <= found.high
        plain = SampleClasses(sample.sizes, sample.population, sample.keys, sample.domains)
        without.append(Accumulation().estimate(plain, generator).marketer / real - 1)
    assert abs(np.mean(with_weights)) < 0.04
    assert abs(np.mean(without)) > 0.08
    assert covered >= 5


@pytest.mark.slow
def test_weights_within_classes_are_no_strata():
    sample, _ = stratified(rng(4), [0.1, 0.4])
    none = Weighted(between=0.0).estimate(sample, rng())
    whole = Weighted(between=1.0).estimate(sample, rng())
    half = Weighted(between=0.5).estimate(sample, rng())
    assert half.marketer == pytest.approx(np.sqrt(none.marketer * whole.marketer), rel=0.01)
    assert half.high / half.low > whole.high / whole.low
    for found in (none, whole, half):
        assert found.low <= found.marketer <= found.high


def test_the_share_between_classes_is_the_analysis_of_variance():
    class_of = np.repeat(np.arange(200), 5)
    generator = rng(5)
    of_class, own = generator.normal(size=200), generator.normal(size=1_000)
    for among in (0.0, 0.5, 2.0):
        found = share_between(class_of, np.exp(among * of_class[class_of] + own))
        assert found == pytest.approx(among**2 / (among**2 + 1), abs=0.12)
    assert share_between(class_of, np.exp(of_class[class_of])) == pytest.approx(1)
    assert share_between(class_of, np.full(1_000, 3.0)) == 0
    assert share_between(np.arange(9), generator.random(9) + 1) == 1
    assert share_between(np.zeros(9, dtype=int), generator.random(9) + 1) == 0


def test_the_share_between_classes_follows_from_sums():
    """Of classes one by one, or of several of one size together; what is left by rounding is 0."""
    generator = rng(6)
    sizes = generator.integers(2, 5, 300)
    class_of = np.repeat(np.arange(300), sizes)
    logs = np.round(generator.normal(size=300)[class_of] + generator.normal(size=len(class_of)), 9)
    means = np.bincount(class_of, logs) / sizes
    inside = float(((logs - means[class_of]) ** 2).sum())
    expected = share_between(class_of, np.exp(logs))
    assert 0.3 < expected < 0.7
    ones = np.ones(300, dtype=int)
    assert share_of_sums(sizes, ones, means, inside) == pytest.approx(expected, rel=1e-9)
    own, entry, times = np.unique(sizes, return_inverse=True, return_counts=True)
    centres = np.bincount(entry, means) / times
    scatter = float(sizes @ (means - centres[entry]) ** 2)
    found = share_of_sums(own, times, centres, inside, scatter)
    assert found == pytest.approx(expected, rel=1e-9)
    noise = 1e-15 * generator.random(300)
    assert share_of_sums(sizes, ones, 3 + noise, 1e-26) == 0
    assert share_of_sums(sizes[:1], ones[:1], noise[:1], 1e-26) == 1
    assert share_of_sums(sizes[:0], ones[:0], noise[:0], 0.0) == 1


def test_same_weights_are_in_one_stratum_whatever_the_size_of_the_class():
    sizes = np.tile([1, 2, 3, 7], 500)
    weights = np.repeat([0.1, 1 / 3, 2.9], [600, 700, 700]) + 1
    sample = SampleClasses(sizes, 10_000_000, weighted=sum_of(sizes, weights))
    strata = _strata(sample)
    for weight in np.unique(weights):
        assert len(set(strata[weights == weight].tolist())) == 1


def sum_of(sizes, weights):
    """The weights of a class's persons, added one after the other."""
    return np.array([sum([w] * int(s)) for s, w in zip(sizes, weights, strict=True)])


@pytest.mark.parametrize(
    "weights", [[1.0] * 6, [1, 1, 1, 1, 1, 1e9], [1e-3] * 6, [1, 2, 3, 4, 5, 6]]
)
def test_degenerate_weights(weights):
    frame = pd.DataFrame({"age": [1, 1, 2, 3, 4, 5], "weight": weights})
    schema = sf.Schema(quasi_identifiers={"age": "numeric"})
    found = sf.assess(frame, schema, population="weight", seed=1)
    for measure in found.population.measures:
        assert measure.low <= measure.value <= measure.high
        assert np.isfinite([measure.low, measure.value, measure.high]).all()
    assert found.population.population >= 6


@pytest.mark.slow
def test_weights_of_a_stratum_that_is_there_in_full():
    sample, real = stratified(rng(6), [1.0, 0.1])
    found = Weighted().estimate(sample, rng())
    assert found.marketer == pytest.approx(real, rel=0.05)


def test_a_person_weighs_the_mean_of_their_records():
    frame = pd.DataFrame(
        {"id": [1, 1, 2, 3, 4], "age": [5, 5, 6, 6, 7], "weight": [1.0, 3.0, 4.0, 4.0, 4.0]}
    )
    schema = sf.Schema(person="id", quasi_identifiers={"age": "numeric"})
    found = sf.assess(frame, schema, population="weight", seed=1)
    assert found.population.population == 2 + 4 + 4 + 4
