"""Classes that are known by their sizes only, each with the number of classes that have it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.risk.population.accumulation_estimator import Accumulation
from sfumato.risk.population.estimator_protocol import SampleClasses, counts_of, most_shown
from sfumato.risk.population.match_distribution import matches
from sfumato.risk.population.population_estimates import estimated_population
from sfumato.risk.population.population_risk import PopulationRisk
from sfumato.risk.population.sampling_weights import Weighted
from sfumato.risk.population.subsample_validation import check_on_subsamples


def sizes_of(seed: int, classes: int = 3_000) -> np.ndarray:
    """Sizes with many classes of one person and a few large ones."""
    rng = np.random.default_rng(seed)
    return np.ceil(rng.pareto(1.1, classes) + 1e-9).astype(np.int64)


def samples(sizes: np.ndarray, population: int) -> tuple[SampleClasses, SampleClasses]:
    """The same classes one by one, and by their numbers."""
    own, times = np.unique(sizes, return_counts=True)
    one = SampleClasses(sizes, population)
    return one, SampleClasses(own, population, times=times.astype(np.int64))


def measured(sample: SampleClasses, seed: int = 1) -> PopulationRisk:
    """The risks where every person has two records."""
    records = 2 * sample.sizes * sample.each
    return estimated_population(
        records, sample, sample.population, Weighted(0.0), 0.2, seed, auto=True
    )


@pytest.mark.slow
def test_strata_of_weights_are_those_of_the_classes_one_by_one() -> None:
    sizes = sizes_of(4)
    weights = np.random.default_rng(5).choice([2.0, 5.0, 40.0], len(sizes))
    pairs, times = np.unique(np.column_stack([sizes, weights]), axis=0, return_counts=True)
    own = pairs[:, 0].astype(np.int64)
    one = SampleClasses(sizes, 10**6, weighted=sizes * weights)
    many = SampleClasses(own, 10**6, weighted=own * pairs[:, 1], times=times)
    here, there = (Weighted(1.0).estimate(each, np.random.default_rng(0)) for each in (one, many))
    assert there.path == here.path == ("3 strata of sampling weights",)
    assert there.marketer == pytest.approx(here.marketer, rel=0.05)
    check = check_on_subsamples(Weighted(1.0), many, np.random.default_rng(0), 2)
    assert check is not None
    assert abs(check.error) < 0.2


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 50)), min_size=1, max_size=20))
def test_counts_are_those_of_the_classes_one_by_one(pairs: list[tuple[int, int]]) -> None:
    sizes = np.array([size for size, _ in pairs])
    times = np.array([number for _, number in pairs])
    one = SampleClasses(np.repeat(sizes, times), 10_000)
    many = SampleClasses(sizes, 10_000, times=times)
    assert (one.n, one.classes, one.alone) == (many.n, many.classes, many.alone)
    for here, there in zip(one.counts_of_sizes, many.counts_of_sizes, strict=True):
        assert here.tolist() == there.tolist()
    assert [each.tolist() for each in counts_of(sizes, times)] == [
        each.tolist() for each in one.counts_of_sizes
    ]


def test_all_risks_follow_from_counts() -> None:
    """Draws differ, so that what rests on them is only near."""
    one, many = samples(sizes_of(2), 60_000)
    here, there = measured(one), measured(many)
    for measure, other in zip(here.measures, there.measures, strict=True):
        exact = measure.name != "expected_uniques"
        assert other.value == pytest.approx(measure.value, rel=0.05 if exact else 0.15), (
            measure.name
        )
        assert other.low <= other.value <= other.high
    assert there.one_to_one.mean == pytest.approx(here.one_to_one.mean, rel=0.05)
    assert there.free.variance == pytest.approx(here.free.variance, rel=0.1)
    assert here.check is not None
    assert there.check is not None
    assert there.check.error == pytest.approx(here.check.error, abs=0.05)
    assert there.check.scatter == pytest.approx(here.check.scatter, abs=0.03)


def test_subsamples_by_counts_keep_the_share() -> None:
    _, many = samples(sizes_of(3), 40_000)
    shown: list[SampleClasses] = []

    class Spy(Accumulation):
        def estimate(self, sample: SampleClasses, rng: np.random.Generator):
            shown.append(sample)
            return super().estimate(sample, rng)

    check_on_subsamples(Spy(), many, np.random.default_rng(1), 5)
    expected = many.n * many.fraction
    deviation = np.sqrt(expected * (1 - many.fraction))
    for each in shown:
        assert each.population == many.n
        assert abs(each.n - expected) < 5 * deviation
        assert each.sizes.min() > 0
    assert len({each.n for each in shown}) > 1


def test_the_number_of_matches_of_repeated_classes() -> None:
    sizes, times = np.array([1, 2, 5]), np.array([40, 7, 2])
    whole = np.array([3.5, 2.0, 40.0])
    for one_to_one in (True, False):
        here = matches(np.repeat(sizes, times), np.repeat(whole, times), one_to_one)
        there = matches(sizes, whole, one_to_one, times=times)
        assert there.low == here.low
        assert there.mean == pytest.approx(here.mean)
        np.testing.assert_allclose(there.probabilities, here.probabilities, atol=1e-12)


@pytest.mark.slow
def test_a_billion_classes_are_no_more_work() -> None:
    sizes = np.arange(1, 20)
    times = (1e9 / sizes**2.5).astype(np.int64)
    sample = SampleClasses(sizes, int(sizes @ times) * 10, times=times)
    found = measured(sample)
    assert sample.classes > 10**9
    assert 0 < found.marketer.low <= found.marketer.value <= found.marketer.high < 1
    assert found.one_to_one.mean == pytest.approx(found.expected_matches.value, rel=1e-6)


def test_the_most_that_a_sample_shows_is_never_above_the_class() -> None:
    assert most_shown(5, 0.9) == 5
    assert 10_000 * 0.1 < most_shown(10_000, 0.1) < 2_000
