"""The distributions of hits, against enumeration."""

from __future__ import annotations

from itertools import combinations, permutations, product

import numpy as np
import pytest
from scipy.stats import binom

from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.intruder.referee.attack_odds import (
    binomial_hits,
    by_distribution,
    claimed_hits,
    clopper_pearson,
    free_hits,
    one_to_one_hits,
    poisson_hits,
    share_hits,
    simulated_hits,
    verdict,
)
from sfumato.risk.population.match_distribution import MatchDistribution


def dense(hits: MatchDistribution, length: int) -> np.ndarray:
    """P(0), ..., P(length - 1)."""
    found = np.zeros(length)
    for place, chance in enumerate(hits.probabilities):
        if hits.low + place < length:
            found[hits.low + place] = chance
    return found


def test_free_guesses_by_enumeration() -> None:
    chances = [0.0, 1.0, 0.5, 0.2, 0.2, 1 / 3]
    expected = np.zeros(len(chances) + 1)
    for way in product((0, 1), repeat=len(chances)):
        weight = [p if hit else 1 - p for p, hit in zip(chances, way, strict=True)]
        expected[sum(way)] += np.prod(weight)
    assert dense(free_hits(np.array(chances)), 7) == pytest.approx(expected, abs=1e-10)


def test_free_guesses_without_hope_and_without_chance() -> None:
    assert dense(free_hits(np.zeros(5)), 2) == pytest.approx([1, 0])
    assert dense(free_hits(np.ones(3)), 4) == pytest.approx([0, 0, 0, 1])
    with pytest.raises(InputError, match="between 0 and 1"):
        free_hits(np.array([1.5]))


@pytest.mark.parametrize("rate", [0.01, 0.3, 0.97])
def test_binomial(rate: float) -> None:
    assert dense(binomial_hits(50, rate), 51) == pytest.approx(
        binom.pmf(np.arange(51), 50, rate), abs=1e-10
    )


def injections(units: int, persons: int, pairs: int) -> np.ndarray:
    """Right pairs of all one-to-one mappings; unit i belongs to person i for i < pairs."""
    found = np.zeros(pairs + 1)
    if units <= persons:
        ways = [dict(enumerate(way)) for way in permutations(range(persons), units)]
    else:
        ways = [
            {unit: person for person, unit in enumerate(way)}
            for way in permutations(range(units), persons)
        ]
    for way in ways:
        found[sum(way.get(i) == i for i in range(pairs))] += 1
    return found / len(ways)


@pytest.mark.parametrize(
    ("units", "persons", "pairs"), [(3, 3, 3), (2, 5, 2), (3, 5, 2), (5, 3, 3), (4, 3, 2)]
)
def test_one_to_one_guesses_by_enumeration(units: int, persons: int, pairs: int) -> None:
    hits = one_to_one_hits(np.array([pairs, 0]), np.array([max(units, persons), 7]))
    assert dense(hits, pairs + 1) == pytest.approx(injections(units, persons, pairs), abs=1e-10)


def test_one_to_one_over_classes_is_the_convolution() -> None:
    hits = one_to_one_hits(np.array([3, 2]), np.array([3, 5]))
    expected = np.convolve(injections(3, 3, 3), injections(2, 5, 2))
    assert dense(hits, 6) == pytest.approx(expected, abs=1e-10)


def test_what_a_mean_allows_one_to_one_is_not_too_little() -> None:
    for persons in range(1, 7):
        for units in range(1, persons + 1):
            for classes in (1, 2, 3, 4, 6, 10, 25, 100):
                true = one_to_one_hits(np.full(classes, units), np.full(classes, persons))
                attempts = classes * units
                claim = Measure("marketer", 1 / persons)
                most = claimed_hits(claim, attempts, one_to_one=True).quantile(0.975)
                above = true.at_least(most + 1) if most < true.high else 0.0
                assert above <= 0.025 + 1e-9, (units, persons, classes)


def test_poisson_adds_up() -> None:
    for mean in (0.0, 0.3, 40.0, 5000.0):
        hits = poisson_hits(mean)
        counts = hits.low + np.arange(len(hits.probabilities))
        assert hits.probabilities.sum() == pytest.approx(1)
        assert hits.probabilities @ counts == pytest.approx(mean)
    with pytest.raises(InputError):
        poisson_hits(-1.0)


def test_shares_by_enumeration() -> None:
    size, drawn, right = 6, 4, 2
    expected = np.zeros(5)
    for way in combinations(range(size), drawn):
        expected[sum(i < right for i in way)] += 1
    expected /= expected.sum()
    hits = share_hits(np.array([size]), np.array([drawn]), 0.34)
    assert dense(hits, 5) == pytest.approx(expected, abs=1e-10)
    both = share_hits(np.array([size, 3, size]), np.array([drawn, 3, drawn]), 0.34)
    twice = np.concatenate([[0], np.convolve(expected, expected)])
    assert dense(both, 10) == pytest.approx(twice, abs=1e-10)
    with pytest.raises(InputError):
        share_hits(np.array([2]), np.array([3]), 0.5)


def test_a_share_of_whole_classes_leaves_nothing_to_chance() -> None:
    hits = share_hits(np.array([5, 7]), np.array([5, 7]), 0.4)
    assert (hits.low, hits.high) == (4, 4)
    assert verdict(4, 12, hits) == (pytest.approx(1 / 3), False, 1)
    assert verdict(5, 12, hits) == (pytest.approx(1 / 3), True, 0)


def test_the_best_of_several_attacks_is_allowed_more() -> None:
    hits = binomial_hits(100, 0.1)
    for tries in (1, 2, 5, 40):
        most = int(binom.ppf(1 - 0.025 / tries, 100, 0.1))
        assert verdict(most, 100, hits, tries=tries)[:2] == (most / 100, False)
        _, broken, p_value = verdict(most + 1, 100, hits, tries=tries)
        assert broken
        assert p_value == pytest.approx(tries * binom.sf(most, 100, 0.1))


def test_shares_claimed_as_decimals_are_not_rounded_down() -> None:
    hits = share_hits(np.array([10] * 3), np.array([10] * 3), 0.3)
    assert hits.low == 9


def test_simulated() -> None:
    hits = simulated_hits(lambda r: int(r.binomial(100, 0.3)), np.random.default_rng(1), 2000)
    assert hits.mean == pytest.approx(30, abs=0.5)
    assert hits.quantile(0.975) in range(37, 42)
    with pytest.raises(InputError):
        simulated_hits(lambda r: 1, np.random.default_rng(1), 0)


def test_clopper_pearson_by_its_definition() -> None:
    low, high = clopper_pearson(7, 20)
    assert binom.sf(6, 20, low) == pytest.approx(0.025)
    assert binom.cdf(7, 20, high) == pytest.approx(0.025)
    assert clopper_pearson(0, 0) == (0.0, 1.0)
    assert clopper_pearson(0, 5)[0] == 0
    assert clopper_pearson(5, 5)[1] == 1
    with pytest.raises(InputError):
        clopper_pearson(3, 2)


@pytest.mark.parametrize(("units", "persons"), [(1, 1), (2, 2), (5, 5), (3, 20)])
def test_the_interval_of_one_to_one_guesses_covers(units: int, persons: int) -> None:
    classes = 60
    hits = one_to_one_hits(np.full(classes, units), np.full(classes, persons))
    attempts, covered = classes * units, 0.0
    for place, chance in enumerate(hits.probabilities):
        low, high = by_distribution(hits.low + place, attempts, hits)
        covered += chance * (low - 1e-12 <= 1 / persons <= high + 1e-12)
    assert covered >= 0.95
    if persons == 1:
        assert by_distribution(60, 60, hits) == (1.0, 1.0)


def test_a_verdict_uses_the_upper_end_of_an_estimate() -> None:
    claim = Measure("marketer", 0.1, low=0.05, high=0.3, estimator="poisson")
    assert claimed_hits(claim, 100, one_to_one=False).mean == pytest.approx(30)


def test_the_best_of_several_needs_more() -> None:
    hits = binomial_hits(1000, 0.1)
    assert verdict(130, 1000, hits, tries=20)[0] > verdict(130, 1000, hits)[0]
