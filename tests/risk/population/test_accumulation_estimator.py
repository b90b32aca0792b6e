"""The accumulation of classes: its parts against naive sums, and samples of known populations."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import comb, exp

import numpy as np
import pytest
from few_cases import fast_first
from population_samples import adult_classes

from sfumato.risk.population import accumulation_estimator
from sfumato.risk.population.accumulation_estimator import (
    Accumulation,
    baseline_of,
    between_models,
    resampled,
)
from sfumato.risk.population.class_accumulation import classes_and_growth
from sfumato.risk.population.estimator_protocol import SampleClasses


def rng(seed=1):
    return np.random.default_rng(seed)


def sampled(columns, fraction, generator):
    """A sample of persons with these codes: its classes, and λ as it really is."""
    codes = np.column_stack(columns).astype(np.int32)
    domains = tuple((codes.max(axis=0) + 1).tolist())
    keys, class_of, whole = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    taken = generator.permutation(len(codes))[: round(fraction * len(codes))]
    sizes = np.bincount(class_of.ravel()[taken], minlength=len(whole))
    seen = sizes > 0
    sample = SampleClasses(sizes[seen], len(codes), keys[seen], domains)
    return sample, float((sizes[seen] / whole[seen]).sum() / sample.n)


# --------------------------------------------------------------------------------- baseline


def product_of(first, second, persons=4_000):
    """Classes of exactly independent quasi-identifiers, each with the sizes that it should."""
    keys, sizes = [], []
    for a, p in enumerate(first):
        for b, q in enumerate(second):
            keys.append((a, b))
            sizes.append(round(persons * p * q))
    domains = (len(first), len(second))
    return np.array(keys, dtype=np.int32), np.array(sizes), domains


def test_the_sums_over_all_cells_are_those_of_the_product_model():
    first, second = [0.5, 0.25, 0.125, 0.125], [0.4, 0.3, 0.2, 0.1]
    keys, sizes, domains = product_of(first, second)
    sample = SampleClasses(sizes, 40_000, keys, domains)
    probabilities = baseline_of(sample, rng()).probabilities
    points = np.array([3.0, 30.0, 300.0])
    classes, growth = classes_and_growth(probabilities, points)
    for m, found, slope in zip(points, classes, growth, strict=True):
        cells = [p * q for p in first for q in second]
        expected = sum(1 - exp(-m * p) for p in cells)
        alone = sum(m * p * exp(-m * p) for p in cells)
        assert found == pytest.approx(expected, rel=0.01)
        assert slope == pytest.approx(alone / expected, rel=0.03, abs=1e-4)


def of_schools(persons=8_000):
    """Schools have some ages each, and streets about them: no model finds all of it."""
    generator = rng(1)
    school, away = generator.integers(0, 60, persons), generator.random(persons) < 0.1
    age = 6 + school % 5 * 3 + generator.integers(0, 3, persons)
    street = np.where(away, generator.integers(0, 240, persons), 4 * school + age % 4)
    return sampled([age, street, generator.integers(0, 2, persons)], 0.1, generator)[0]


@pytest.mark.slow
def test_where_each_model_leads_is_told_by_the_draws_of_all():
    sample, points = of_schools(), np.array([800.0, 8_000.0])
    baseline = baseline_of(sample, rng())
    model = baseline.model
    for each in np.flatnonzero(model.weights > 0.1).tolist():
        alone = replace(model, weights=np.eye(len(model.weights))[each])
        own = alone.again(alone.draw(40_000, rng())[0])[:, each]
        by_all = classes_and_growth(baseline.by_model[:, each], points, baseline.probabilities)
        assert np.allclose(by_all, classes_and_growth(own, points), rtol=0.03)


@pytest.mark.slow
def test_models_that_lead_apart_widen_the_interval(monkeypatch):
    sample = of_schools(3_000)
    assert between_models(sample, baseline_of(sample, rng())) > 0.01
    found = Accumulation().estimate(sample, rng())
    monkeypatch.setattr(accumulation_estimator, "between_models", lambda *_: 0.0)
    agreeing = Accumulation().estimate(sample, rng())
    assert found.marketer == agreeing.marketer
    assert found.low < agreeing.low < agreeing.high < found.high


def test_the_sums_over_all_cells_are_those_of_a_tree():
    # b goes with a, c with b, and the chain is no product of margins
    a = np.repeat([0, 1, 2, 3], [8, 4, 2, 2])
    cells = {}
    for x in a.tolist():
        for y, q in (((x) % 3, 0.75), ((x + 1) % 3, 0.25)):
            for z, r in ((y, 0.5), (y + 1, 0.5)):
                cells[x, y, z] = cells.get((x, y, z), 0) + q * r / len(a)
    keys = np.array(list(cells), dtype=np.int32)
    sizes = np.array([round(12_800 * p) for p in cells.values()])
    sample = SampleClasses(sizes, 100_000, keys, (4, 3, 4))
    classes, growth = classes_and_growth(
        baseline_of(sample, rng()).probabilities, np.array([5.0, 50.0])
    )
    for m, found, slope in zip((5.0, 50.0), classes, growth, strict=True):
        expected = sum(1 - exp(-m * p) for p in cells.values())
        alone = sum(m * p * exp(-m * p) for p in cells.values())
        assert found == pytest.approx(expected, rel=0.03)
        assert slope == pytest.approx(alone / expected, rel=0.05)


@pytest.mark.parametrize("pairs", [5, 20])
@pytest.mark.parametrize("keyed", [False, True])
def test_singles_and_pairs_tell_the_number_of_equal_classes(pairs, keyed):
    """n² / 2J pairs are met among n persons of J classes."""
    n, population = 6_000, 120_000
    sizes = np.array([1] * (n - 2 * pairs) + [2] * pairs)
    keys = np.arange(len(sizes), dtype=np.int32)[:, None] if keyed else None
    found = Accumulation().estimate(SampleClasses(sizes, population, keys), rng())
    classes = n * n / (2 * pairs)
    expected = classes * (1 - exp(-population / classes)) / population
    assert found.marketer == pytest.approx(expected, rel=0.005)
    assert found.low < expected < found.high


def test_unseen_classes_and_matches_of_uniques_differ_by_the_odds():
    """τ2 = π (J - E d) / (1 - π), over all samples drawn person by person."""
    population, share = [1, 1, 2, 3, 5], Fraction(2, 7)
    classes = matches = Fraction(0)
    for size in population:
        for shown in range(size + 1):
            chance = comb(size, shown) * share**shown * (1 - share) ** (size - shown)
            classes += chance * (shown > 0)
            matches += chance * Fraction(shown == 1, size)
    assert matches == share * (len(population) - classes) / (1 - share)


def test_the_measures_agree_with_one_another():
    generator = rng(7)
    sample, _ = sampled([generator.integers(0, 900, 4_000)], 0.2, generator)
    found = Accumulation().estimate(sample, rng())
    assert found.marketer == pytest.approx(found.class_count / 4_000)
    expected = 0.2 * (found.class_count - sample.classes) / 0.8
    assert found.unique_matches == pytest.approx(expected)
    assert 0 <= found.expected_uniques <= found.unique_matches


@pytest.mark.slow
def test_classes_of_independent_quasi_identifiers_are_found():
    generator = rng(8)
    columns = [generator.choice(60, 30_000, p=np.arange(1, 61) / 1_830) for _ in range(3)]
    errors = []
    for _ in range(3):
        sample, real = sampled(columns, 0.1, generator)
        errors.append(Accumulation().estimate(sample, generator).marketer / real - 1)
    assert abs(np.mean(errors)) < 0.02


# -------------------------------------------------------------------------------- resampling


def test_samples_of_the_bootstrap_look_like_the_sample():
    generator = rng(9)
    sample, real = sampled([generator.integers(0, 4_000, 20_000)], 0.1, generator)
    found = resampled(sample, rng())
    persons = found.sizes @ found.counts
    assert persons.mean() == pytest.approx(sample.n, rel=0.02)
    assert found.counts.sum(axis=0).mean() == pytest.approx(sample.classes, rel=0.02)
    assert found.marketer.mean() == pytest.approx(real, rel=0.15)


@pytest.mark.parametrize("population", [2_000, 10**7, 10**12])
def test_the_bootstrap_of_a_huge_population_needs_no_memory_for_it(population):
    sizes = np.array([1] * 900 + [2] * 80 + [3] * 10 + [250])
    found = resampled(SampleClasses(sizes, population), rng())
    assert found.counts.shape[1] == 200
    assert len(found.sizes) < 2_000
    n = sizes.sum()
    assert (found.sizes @ found.counts).mean() == pytest.approx(n, rel=0.1)


def test_large_classes_stay_in_every_sample():
    found = resampled(SampleClasses(np.array([300, 500, 500]), 5_000), rng())
    rows = {300: 1, 500: 2}
    for size, number in rows.items():
        assert (found.counts[found.sizes == size] == number).all()
    assert found.marketer == pytest.approx(3 * 0.26 / 1_300)


# ---------------------------------------------------------------------------------- the whole

DEGENERATE = {
    "one person": ([1], 1_000),
    "one person of two": ([1], 2),
    "two persons": ([1, 1], 50),
    "everybody alone": ([1] * 300, 5_000),
    "everybody alone, N barely above n": ([1] * 300, 301),
    "one class": ([400], 1_000),
    "one class of 150": ([150], 100_000),
    "pairs only": ([2] * 100, 1_000),
    "large classes only": ([900, 1_200], 10_000),
    "N barely above n": ([1, 1, 2, 3, 5, 8], 21),
    "a billion": ([1, 1, 1, 2, 4, 300], 10**9),
    "all of them": ([1, 2, 3], 6),
}


@pytest.mark.parametrize("case", DEGENERATE)
@pytest.mark.parametrize("keyed", fast_first(1, [False, True]))
def test_degenerate_samples_have_ordered_numbers(case, keyed):
    sizes, population = DEGENERATE[case]
    keys = np.column_stack([np.arange(len(sizes)), np.arange(len(sizes)) % 2]).astype(np.int32)
    sample = SampleClasses(
        np.array(sizes), population, keys if keyed else None, (len(sizes), 2) if keyed else ()
    )
    found = Accumulation().estimate(sample, rng())
    least, n = sample.classes / population, sample.n
    assert least <= found.marketer <= min(1.0, least + 1 - n / population) + 1e-12
    if found.low is not None:
        assert least <= found.low <= found.marketer <= found.high <= 1
    alone = sizes.count(1)
    assert 0 <= found.expected_uniques <= found.unique_matches <= alone
    assert sample.classes <= found.class_count <= population


def test_few_persons_who_are_all_alone_leave_everything_open():
    found = Accumulation().estimate(SampleClasses(np.array([1, 1, 1]), 10_000), rng())
    assert found.low < 0.01
    assert found.high > 0.99


def test_few_pairs_leave_more_room_below_a_risk_near_1():
    sizes = np.array([1] * 5_990 + [2] * 5)
    keys = np.column_stack([np.arange(5_995), np.arange(5_995) % 7]).astype(np.int32)
    found = Accumulation().estimate(SampleClasses(sizes, 120_000, keys), rng())
    assert found.marketer > 0.97
    below = np.log((1 - found.low) / (1 - found.marketer))
    assert below > 0.95 * 1.96 / np.sqrt(5)  # nearly the scatter of a count of five
    assert found.marketer - found.low > found.high - found.marketer


def test_a_whole_population_is_counted():
    found = Accumulation().estimate(SampleClasses(np.array([1, 1, 3]), 5), rng())
    assert (found.marketer, found.class_count) == (3 / 5, 3)
    assert (found.expected_uniques, found.unique_matches) == (2, 2)
    assert found.inverse_sizes == pytest.approx([1, 1, 1 / 3])


@pytest.mark.slow
def test_the_same_seed_gives_the_same():
    generator = rng(10)
    sample, _ = sampled([generator.integers(0, 45, 1_000)] * 2, 0.2, generator)
    one, two = (Accumulation().estimate(sample, rng(3)) for _ in range(2))
    assert (one.marketer, one.low, one.high) == (two.marketer, two.low, two.high)


@pytest.mark.slow
def test_the_order_of_classes_and_quasi_identifiers_hardly_matters():
    generator = rng(11)
    columns = [generator.integers(0, 40, 20_000), generator.integers(0, 30, 20_000) ** 2 // 30]
    sample, _ = sampled(columns, 0.2, generator)
    order = generator.permutation(sample.classes)
    other = SampleClasses(
        sample.sizes[order], 20_000, sample.keys[order][:, ::-1], sample.domains[::-1]
    )
    one, two = (Accumulation().estimate(each, rng(3)).marketer for each in (sample, other))
    assert one == pytest.approx(two, rel=0.01)


# --------------------------------------------------------------------------------- real data


@pytest.mark.slow
@pytest.mark.parametrize("columns", [4, 8])
@pytest.mark.parametrize(("fraction", "limit"), [(0.1, 0.05), (0.3, 0.02), (0.5, 0.02)])
def test_adult_is_estimated_as_asked(shared_data, columns, fraction, limit):
    class_of = adult_classes(shared_data, columns)
    keys, whole = keys_of(shared_data, columns), np.bincount(class_of)
    generator = rng(2010)
    errors, covered = [], 0
    for _ in range(12):
        taken = generator.permutation(len(class_of))[: round(fraction * len(class_of))]
        sizes = np.bincount(class_of[taken], minlength=len(whole))
        seen = sizes > 0
        sample = SampleClasses(sizes[seen], len(class_of), keys[seen])
        real = float((sizes[seen] / whole[seen]).sum() / sample.n)
        found = Accumulation().estimate(sample, generator)
        errors.append(found.marketer / real - 1)
        covered += found.low <= real <= found.high
    assert abs(np.mean(errors)) < limit
    assert covered >= 11


def keys_of(folder, columns):
    """The values of every class of Adult."""
    import pandas as pd

    frame = pd.read_csv(folder / "adult" / "adult.csv", sep=";")
    names = ["age", "education", "race", "sex"]
    if columns == 8:
        names = [name for name in frame.columns if name != "occupation"]
    codes = np.column_stack([frame[name].astype("category").cat.codes for name in names])
    class_of = adult_classes(folder, columns)
    keys = np.zeros((class_of.max() + 1, len(names)), dtype=np.int32)
    keys[class_of] = codes
    return keys


@pytest.mark.parametrize("share", fast_first(1, [0.5, 0.2, 0.8]))
def test_an_interval_allows_for_homes_where_everybody_is_alike(share):
    generator = rng(round(100 * share))
    home, alike = generator.integers(0, 240, 24_000), generator.random(24_000) < share
    columns = [
        np.where(alike, home % size, generator.integers(0, size, 24_000)) for size in (100, 500, 2)
    ]
    sample, real = sampled(columns, 0.05, generator)
    found = Accumulation().estimate(sample, generator)
    assert found.low <= real <= found.high
    assert found.marketer == pytest.approx(real, rel=0.2)
    assert found.high / found.low < 3


@pytest.mark.slow
def test_all_who_are_alone_may_stand_apart_from_barracks():
    """Everybody is in one of ten barracks of persons who are alike, or alone in a cell."""
    generator, persons = rng(8), 20_000
    inside = generator.random(persons) < 0.6
    home = generator.integers(0, 10, persons)
    drawn = zip((60, 400, 2), (home, home, home % 2), strict=True)
    columns = [np.where(inside, own, generator.integers(0, size, persons)) for size, own in drawn]
    keys, of = np.unique(np.column_stack(columns).astype(np.int32), axis=0, return_inverse=True)
    of, population = of.ravel(), np.bincount(of.ravel())
    sizes = np.bincount(of[: persons // 20], minlength=len(keys))
    seen = sizes > 0
    sample = SampleClasses(sizes[seen], persons, keys[seen], (60, 400, 10))
    found = Accumulation().estimate(sample, rng())
    true = float(sizes[seen] @ (1 / population[seen])) / int(sizes.sum())
    assert found.marketer == pytest.approx(true, rel=0.06)
    assert found.low < true < found.high
