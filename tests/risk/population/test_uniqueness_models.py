"""The models of population uniqueness against slow oracles and simulated populations."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, hypergeom, nbinom

from sfumato.risk.population.estimator_protocol import EstimationFailedError, SampleClasses
from sfumato.risk.population.uniqueness_models import (
    UNIQUES_MODELS,
    chance_of_one,
    expected_uniques,
    fit_pitman,
    fit_snb,
    pitman_classes,
    population_uniques,
    sh3,
)

SAMPLES = st.lists(st.integers(1, 12), min_size=1, max_size=30)
MODELS = sorted(UNIQUES_MODELS)


def drawn(rng, population, n):
    found = rng.multivariate_hypergeometric(population, n)
    return SampleClasses(found[found > 0], int(population.sum()))


@given(SAMPLES, st.integers(0, 2_000), st.sampled_from(MODELS))
def test_estimates_are_possible_or_fail(sizes, further, name):
    sample = SampleClasses(np.array(sizes, dtype=np.int64), sum(sizes) + further)
    try:
        found = population_uniques(name, sample)
    except EstimationFailedError:
        assert name == "snb" or (name == "pitman" and sizes == [1])
        return
    most = sizes.count(1) / sample.fraction
    assert 0 <= found <= most * (1 + 1e-12)
    assert (found > 0) == (1 in sizes)
    if not further:
        assert found == sizes.count(1)


# ------------------------------------------------------------------------------------ Pitman


@pytest.mark.parametrize(
    ("theta", "sigma"), [(3.0, 0.5), (-0.3, 0.7), (0.01, 0.999), (40.0, 0.0), (5e4, 0.001)]
)
def test_pitman_expectation_person_by_person(theta, sigma):
    """N times the chance that each other person stays out of one person's class."""
    alone = Fraction(1)
    for i in range(1, 500):
        alone *= (Fraction(theta) + i - 1 + Fraction(sigma)) / (Fraction(theta) + i)
    assert expected_uniques(theta, sigma, 500) == pytest.approx(float(500 * alone), rel=1e-10)


def test_pitman_recovers_a_population_of_its_own():
    rng = np.random.default_rng(5)
    theta, sigma, persons = 60.0, 0.6, 8_000
    sizes = np.zeros(persons)
    used = 0
    for m in range(persons):
        if rng.random() * (theta + m) < theta + sigma * used:
            sizes[used], used = 1, used + 1
        else:
            shares = np.cumsum(sizes[:used] - sigma)
            sizes[np.searchsorted(shares, rng.random() * shares[-1])] += 1
    population = sizes[:used].astype(np.int64)
    uniques = (population == 1).sum()
    found = [population_uniques("pitman", drawn(rng, population, 800)) for _ in range(10)]
    assert np.mean(found) == pytest.approx(uniques, rel=0.06)
    dankar = population_uniques("dankar", drawn(rng, population, 800))
    assert dankar == pytest.approx(uniques, rel=0.2)


def test_pitman_where_nobody_shares_a_class():
    found = population_uniques("pitman", SampleClasses(np.ones(20, dtype=np.int64), 500))
    assert found == 500
    with pytest.raises(EstimationFailedError, match="two people"):
        population_uniques("pitman", SampleClasses(np.array([1]), 500))


# ------------------------------------------------------------------------------------ Zayatz


@given(st.integers(1, 80), st.integers(0, 200))
def test_chance_of_one_is_hypergeometric(n, further):
    population = n + further
    sizes = np.arange(1, population + 1)
    expected = hypergeom.pmf(1, population, sizes, n)
    np.testing.assert_allclose(chance_of_one(sizes, n, population), expected, rtol=1e-9)


def test_chance_of_one_for_large_numbers():
    sizes = np.array([1, 2, 1_000, 10**6])
    found = chance_of_one(sizes, 10**6, 10**9)
    q = 10**-3
    np.testing.assert_allclose(found[:2], [q, 2 * q * (1 - q)], rtol=1e-6)
    np.testing.assert_allclose(found[2], hypergeom.pmf(1, 10**9, 1_000, 10**6), rtol=1e-4)
    assert found[3] == 0


def test_zayatz_by_bayes_rule():
    sizes = [1] * 7 + [2] * 4 + [5, 6, 9]
    sample = SampleClasses(np.array(sizes), 120)
    share = sum(hypergeom.pmf(1, 120, size, sample.n) for size in sizes)
    chance = 7 * hypergeom.pmf(1, 120, 1, sample.n) / share
    found = population_uniques("zayatz", sample)
    assert found == pytest.approx(7 * chance * 120 / sample.n)


# --------------------------------------------------------------------------------------- SNB


@pytest.mark.parametrize("fraction", [0.001, 0.1, 0.5, 0.95])
@pytest.mark.parametrize(("shape", "beta"), [(0.3, 0.05), (2.0, 0.4), (15.0, 0.9), (1.0, 1e-3)])
def test_snb_finds_the_parameters_behind_its_expectations(fraction, shape, beta):
    """E[f_1] and E[f_2] by summing over the population's class sizes."""
    further = np.arange(200_000)
    chances = nbinom.pmf(further, shape, beta)
    ones, twos = (
        1_000 * float(chances @ binom.pmf(seen, 1 + further, fraction)) for seen in (1, 2)
    )
    fit = fit_snb(ones, twos, 1_000, fraction)
    assert fit is not None
    assert fit[0] == pytest.approx(shape, rel=1e-5)
    assert 1 / (1 + np.exp(-fit[1])) == pytest.approx(beta, rel=1e-5)


def test_snb_on_a_population_of_its_own():
    rng = np.random.default_rng(2)
    population = 1 + rng.negative_binomial(0.4, 0.05, 4_000)
    found = [
        population_uniques("snb", drawn(rng, population, population.sum() // 2)) for _ in range(5)
    ]
    uniques = (population == 1).sum()
    assert np.mean(found) == pytest.approx(uniques, rel=0.05)


def test_snb_failures_are_failures():
    with pytest.raises(EstimationFailedError, match="class of two"):
        population_uniques("snb", SampleClasses(np.array([1, 1, 3]), 50))
    # More classes of two than any shifted negative binomial with Sh3's few classes expects.
    sample = SampleClasses(np.array([1] * 2 + [2] * 40), 400)
    count = sh3(*sample.counts_of_sizes, 400)
    assert fit_snb(2, 40, count, sample.fraction) is None
    with pytest.raises(EstimationFailedError, match="no SNB model"):
        population_uniques("snb", sample)


# ----------------------------------------------------------------------------- decision rule


def test_rule_by_the_sampling_fraction():
    sizes = np.array([1] * 60 + [2] * 20 + [3] * 10 + [4, 5, 6, 9])
    n = int(sizes.sum())
    at_limit = SampleClasses(sizes, 10 * n)
    assert population_uniques("dankar", at_limit) == population_uniques("pitman", at_limit)
    for sample in (SampleClasses(sizes, 9 * n), SampleClasses(sizes, 2 * n)):
        lower = min(population_uniques(name, sample) for name in ("zayatz", "snb"))
        assert population_uniques("dankar", sample) == lower


@pytest.mark.parametrize("sizes", [[1] * 5 + [3] * 5, [1]], ids=["no SNB", "no Pitman"])
def test_rule_takes_zayatz_where_the_other_fails(sizes):
    sample = SampleClasses(np.array(sizes), 60)
    assert population_uniques("dankar", sample) == population_uniques("zayatz", sample)


# -------------------------------------------------------------------------------------- Adult


@pytest.mark.parametrize(("number", "uniques"), [(4, 1_206), (8, 8_841)])
def test_adult(shared_data, number, uniques):
    """Nobody is right everywhere; each model is near at its own fractions."""
    parse = pyarrow.csv.ParseOptions(delimiter=";")
    table = pyarrow.csv.read_csv(shared_data / "adult" / "adult.csv", parse_options=parse)
    names = ["age", "education", "race", "sex"]
    if number == 8:
        names = [name for name in table.column_names if name != "occupation"]
    coded = [table[name].combine_chunks().dictionary_encode().indices for name in names]
    rows = np.stack([column.to_numpy() for column in coded], axis=1)
    population = np.unique(rows, axis=0, return_counts=True)[1]
    assert (population == 1).sum() == uniques
    rng = np.random.default_rng(4)
    errors = {}
    for fraction in (0.1, 0.3, 0.5):
        samples = [drawn(rng, population, round(fraction * 30_162)) for _ in range(8)]
        for name in MODELS:
            found = [population_uniques(name, sample) / uniques - 1 for sample in samples]
            errors[name, fraction] = float(np.mean(found))
    assert abs(errors["pitman", 0.1]) < 0.2
    assert abs(errors["dankar", 0.1]) < 0.2
    assert errors["zayatz", 0.1] > 0.25
    for name in MODELS:
        assert abs(errors[name, 0.3]) < 0.25
        assert abs(errors[name, 0.5]) < 0.12


def test_no_more_than_the_sample_uniques_can_stand_for(monkeypatch):
    monkeypatch.setitem(UNIQUES_MODELS, "wild", lambda _: 59.0)
    assert population_uniques("wild", SampleClasses(np.array([1, 1, 4]), 60)) == 20


def test_classes_of_pitmans_model_grow_person_by_person():
    sizes, classes = np.array([1, 2, 3, 7]), np.array([900, 120, 30, 4])
    theta, sigma = fit_pitman(sizes, classes)
    found, n = float(classes.sum()), int(sizes @ classes)
    for person in range(n, 20_000):
        found += (theta + sigma * found) / (theta + person)
    assert pitman_classes(sizes, classes, 20_000) == pytest.approx(found, rel=1e-3)
