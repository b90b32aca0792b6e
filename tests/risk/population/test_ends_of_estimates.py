"""Where the rules of an estimate begin and end: each is shown on both of its sides."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import poisson

from sfumato.core.errors import InputError
from sfumato.risk.population import (
    accumulation_estimator,
    cell_tree,
    match_distribution,
    population_estimates,
    subsample_validation,
)
from sfumato.risk.population.cell_dispersion import ModelPrices
from sfumato.risk.population.cell_model import _some
from sfumato.risk.population.class_accumulation import mixtures_of
from sfumato.risk.population.estimator_protocol import SampleClasses
from sfumato.risk.population.local_independence import factor_loads
from sfumato.risk.population.sampled_clusters import SampledClusters, clusters_of
from sfumato.risk.population.sampling_weights import _equal, _strata
from sfumato.risk.population.uniqueness_models import population_uniques
from sfumato.risk.population.value_shares import Margin, fit_mixture


def rng():
    return np.random.default_rng(1)


def singles(persons, population):
    return SampleClasses(np.ones(persons, dtype=np.int64), population)


def test_classes_of_up_to_600_persons_keep_their_size():
    members = np.arange(1, 901)
    rounded = accumulation_estimator._rounded(members)
    assert (rounded[:600] == members[:600]).all()
    assert len(np.unique(rounded[600:])) < 12


def test_a_growth_of_a_half_is_taken_for_as_unsure_as_from_43_to_57_percent():
    keys = np.zeros((1, 1), dtype=np.int32)
    many = SampleClasses(np.array([10**9]), 10**10, keys)
    spread = accumulation_estimator._spread(many, keys)
    assert expit([-spread, spread]) == pytest.approx([0.4256, 0.5744], abs=1e-3)


def test_a_sample_without_pairs_may_hide_three_as_the_rule_of_three_has_it():
    missed = accumulation_estimator.PAIRS_MISSED
    assert poisson(missed).pmf(0) == pytest.approx(0.05, abs=0.002)


def test_two_different_sizes_are_enough_for_a_mixture():
    two = SampleClasses(np.repeat([1, 2], [50, 30]), 1_100)
    assert len(accumulation_estimator._population(two, rng())[0]) > 2
    one = SampleClasses(np.full(30, 2), 600)
    sizes, counts = accumulation_estimator._population(one, rng())
    assert (sizes.tolist(), counts.tolist()) == ([20], [30])


def test_three_clusters_are_the_fewest():
    number = np.arange(3)
    assert len(clusters_of(number, number, 0.1, None).cluster_of) == 3
    with pytest.raises(InputError):
        clusters_of(number[:2], number[:2], 0.1, None)


@pytest.mark.parametrize(("clusters", "groups"), [(7, 7), (100, 25)])
def test_clusters_are_left_out_in_25_groups_at_most(clusters, groups):
    number = np.arange(clusters)
    sampled = SampledClusters(number, number, np.ones(clusters, dtype=np.int64), 1.0)
    kept = [int(each.sum()) for each in sampled.left_out(rng())]
    assert len(kept) == groups
    assert sum(clusters - each for each in kept) == clusters


@pytest.mark.parametrize(("ratio", "equal"), [(1.019, True), (1.025, False)])
def test_weights_within_two_percent_are_equal(ratio, equal):
    assert _equal(SampleClasses(np.ones(2, int), 10, weighted=np.array([3.0, 3 * ratio]))) is equal


@pytest.mark.parametrize(("persons", "strata"), [(399, 1), (999, 4), (4_000, 8)])
def test_strata_have_200_persons_and_are_eight_at_most(persons, strata):
    weighted = np.linspace(1, 9, persons)
    sample = SampleClasses(np.ones(persons, int), 10 * persons, weighted=weighted)
    assert np.bincount(_strata(sample)).min() >= 200
    assert _strata(sample).max() + 1 == strata


@pytest.mark.parametrize(("persons", "checked"), [(490, False), (500, True)])
def test_fifty_persons_are_enough_to_check_an_estimator_on(persons, checked):
    estimator = SimpleNamespace(estimate=lambda sample, _: SimpleNamespace(marketer=1.0))
    keys = np.zeros((persons, 1), dtype=np.int32)
    sample = SampleClasses(np.ones(persons, int), 10 * persons, keys, (1,))
    found = subsample_validation.check_on_subsamples(estimator, sample, rng(), 1)
    assert (found is not None) is checked


@pytest.mark.parametrize(("error", "sure"), [(0.14, True), (-0.16, False)])
def test_an_estimate_that_is_off_by_15_percent_on_subsamples_is_unsure(error, sure):
    check = subsample_validation.SubsampleCheck(5, error, 0.0)
    assert subsample_validation._check_in_words(check).endswith("not sure") is not sure


@pytest.mark.parametrize(("population", "by"), [(4_000, ["pitman"]), (3_000, ["zayatz", "snb"])])
def test_up_to_a_tenth_of_the_population_dankars_rule_takes_pitmans_model(population, by):
    sample = SampleClasses(np.repeat([1, 2, 3, 5], [200, 50, 20, 8]), population)
    expected = min(population_uniques(name, sample) for name in by)
    assert population_uniques("dankar", sample) == expected


@pytest.mark.parametrize(
    ("sizes", "unseen"), [([9_999, 1], True), ([14_999, 1], False), ([3, 1], False), ([4, 1], True)]
)
def test_one_of_ten_thousand_alone_with_a_value_and_five_persons_tell_of_unseen_values(
    sizes, unseen
):
    assert (Margin(np.arange(2), np.array(sizes)).shares[-1] > 0) is np.bool_(unseen)


def test_a_mixture_is_fitted_to_classes_of_up_to_200_persons():
    counts = np.array([90.0, 30, 8, 4])
    fitted = fit_mixture(np.array([1, 2, 5, 201]), counts)
    without = fit_mixture(np.array([1, 2, 5]), counts[:3])
    assert fitted.log_rates.tolist() == without.log_rates.tolist()
    up_to = fit_mixture(np.array([1, 2, 5, 200]), counts)
    assert up_to.log_rates[-1] > without.log_rates[-1]


@pytest.mark.parametrize(("classes", "bounded"), [(9, True), (11, False)])
def test_fewer_than_ten_classes_scatter_otherwise_than_a_normal_variable(classes, bounded):
    shares = np.full(1_000, 0.001)
    chances = np.full(1_000, classes / 1_000)
    ones = np.ones(1_000, dtype=np.int64)
    end = population_estimates.most_of_few(chances, shares, ones)
    assert (end > classes / 1_000) is bounded


def measures(**known):
    """An estimate of so many classes that their number does not scatter, each small by a half."""
    classes = SimpleNamespace(at_most=lambda size, shift: expit(np.array([shift])))
    found = SimpleNamespace(
        classes=classes,
        sample=SimpleNamespace(each=np.array([10**14])),
        shifts=(0.0, -0.1, 0.1),
        records=np.ones(1, dtype=np.int64),
        threshold=0.2,
        estimate=SimpleNamespace(followed=0.0),
        _measure=lambda name, ends: ends,
    )
    vars(found).update(known)
    of = population_estimates._EstimateMeasures
    found._at_most = lambda *given: of._at_most(found, *given)
    found._realised = lambda *given: of._realised(found, *given)
    return found


def test_small_classes_are_three_times_as_unsure_as_the_marketer_risk():
    middle, low, high = measures()._realised(1, np.ones(1))
    by_risk = expit(0.1) - 0.5
    assert [(middle - low) / by_risk, (high - middle) / by_risk] == pytest.approx([3, 3], rel=1e-4)


@pytest.mark.parametrize(("followed", "end"), [(0.0, 0.5987), (1.0, 0.8320)])
def test_records_at_risk_reach_further_where_persons_follow_others(followed, end):
    """Odds of 1 to 1 may be e^0.4 to 1, and e^1.6 to 1 where everybody follows."""
    sure = measures(shifts=(0.0, 0.0, 0.0), estimate=SimpleNamespace(followed=followed))
    _, low, high = population_estimates._EstimateMeasures._records_at_risk(sure)
    assert [low, high] == pytest.approx([1 - end, end], abs=1e-3)


@pytest.mark.parametrize(("alone", "told"), [(14, True), (16, False)])
def test_a_pair_tells_nothing_where_a_sixth_is_alone_with_it(alone, told):
    """All others have one of two pairs, so that each value tells the other."""
    codes = np.append([0, 1], np.arange(2, 2 + alone)).astype(np.int32)
    sizes = np.append([50 - alone // 2] * 2, np.ones(alone, dtype=np.int64))
    margins = (Margin(codes, sizes), Margin(codes, sizes))
    assert (cell_tree._gain(codes, codes, margins, sizes) > 0) is told


@pytest.mark.parametrize(("values", "ranges"), [(32, 32), (33, 16)])
def test_more_than_32_values_are_put_in_16_ranges(values, ranges):
    codes = np.arange(values, dtype=np.int32)
    margin = Margin(codes, np.full(values, 10))
    found = cell_tree.in_ranges(codes[:, None], [margin])
    assert len(np.unique(found)) == ranges


@pytest.mark.parametrize(("gain", "parent"), [(1.1e-4, 0), (0.9e-4, None)])
def test_a_gain_of_a_ten_thousandth_joins_two_columns(gain, parent):
    assert cell_tree.tree_of_pairs({frozenset((0, 1)): gain}, 2)[1] == (parent, 1)


def test_columns_that_say_the_same_have_loads_below_one():
    codes = np.repeat(np.arange(4), 100).astype(np.int32)
    loads = factor_loads(np.column_stack([codes, codes]), np.ones(400, dtype=np.int64))
    assert loads == pytest.approx([0.965, 0.965], abs=0.01)


def test_one_class_of_a_thousand_is_left_for_the_mixture():
    found, _ = mixtures_of(np.array([1, 2]), np.array([99_990.0, 10]))
    assert max(each.apart for each in found) == pytest.approx(99_900)


def test_models_are_fitted_to_8000_classes_at_most():
    assert len(_some(8_000, rng())) == 8_000
    assert len(_some(80_000, rng())) == 8_000


@pytest.mark.parametrize(("population", "persons"), [(1_000, 0.25), (10, 0.05)])
def test_a_box_that_nobody_drew_has_a_quarter_of_a_person_or_half_a_drawn_one(population, persons):
    prices = SimpleNamespace(drawn=100, dispersion=SimpleNamespace(population=population))
    shares = ModelPrices._shares(prices, np.array([0, 7]))
    assert (shares * population).tolist() == pytest.approx([persons, 0.07 * population])


def test_what_is_left_out_of_a_distribution_is_less_than_a_float_tells_of_one():
    left_out = np.exp(-match_distribution._TAIL)
    assert 1e-19 < left_out < 1e-18
    assert 1 + left_out == 1
