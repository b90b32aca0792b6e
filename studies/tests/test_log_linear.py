"""The log-linear estimators: Adult against NOTES' table, huge tables, what they refuse."""

from __future__ import annotations

import csv
import tracemalloc
from itertools import combinations

import numpy as np
import pytest
from studies.dankar_el_emam import log_linear, log_linear_search
from studies.dankar_el_emam.contingency_table import cells_of
from studies.dankar_el_emam.log_linear import LogLinear, LogLinearCount
from studies.dankar_el_emam.log_linear_fit import Fitter
from studies.dankar_el_emam.log_linear_search import AllCells, Criteria, bands_of

from sfumato.risk.population.estimator_protocol import EstimationFailedError, SampleClasses

FOUR = ("age", "education", "race", "sex")
EIGHT = (*FOUR, "marital-status", "native-country", "workclass", "salary-class")
MODES = ("per-size", "uniques", "independence", "all-two-way")


@pytest.fixture(scope="session")
def adult(shared_data):
    with (shared_data / "adult" / "adult.csv").open() as file:
        return list(csv.DictReader(file, delimiter=";"))


def population(rows, columns):
    codes = [np.unique([row[name] for row in rows], return_inverse=True)[1] for name in columns]
    return np.stack(codes, axis=1).astype(np.int32)


def draw(people, fraction, seed):
    """A sample without replacement, and its true λ."""
    keys, of = np.unique(people, axis=0, return_inverse=True)
    n = round(len(people) * fraction)
    picked = np.random.default_rng(seed).choice(len(people), n, replace=False)
    sizes = np.bincount(of[picked], minlength=len(keys))
    seen = sizes > 0
    lam = (sizes / np.bincount(of)).sum() / n
    domains = tuple(int(top) + 1 for top in people.max(axis=0))
    return SampleClasses(sizes[seen], len(people), keys[seen], domains), lam


def made_up(seed=0, persons=4_000):
    rng = np.random.default_rng(seed)
    people = rng.geometric(0.2, size=(persons, 4)).clip(max=12).astype(np.int32)
    people[:, 1] = (people[:, 1] + people[:, 0]) % 7
    return people


def errors(people, fraction, estimators, samples):
    found = []
    for seed in range(samples):
        sample, lam = draw(people, fraction, seed)
        rng = np.random.default_rng(seed)
        found.append(
            [estimator.estimate(sample, rng).marketer / lam - 1 for estimator in estimators]
        )
    return 100 * np.mean(found, axis=0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fraction", "published", "within"),
    [
        (0.1, [-14.2, -16.1, 4.1, -25.8], 4),
        pytest.param(0.3, [-3.0, -3.5, 1.2, -6.1], 2, marks=pytest.mark.slow),
        (0.5, [-0.9, -1.2, -0.2, -2.0], 2),
        pytest.param(0.7, [0.0, -0.3, -0.8, -0.5], 2, marks=pytest.mark.slow),
    ],
)
def test_errors_on_adult_with_four_quasi_identifiers(adult, fraction, published, within):
    """NOTES, section 2, the table of what is attainable."""
    found = errors(population(adult, FOUR), fraction, [LogLinear(mode) for mode in MODES], 6)
    assert (np.abs(found - published) < within).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fraction", "published", "within"), [(0.1, [-0.1, 16.0], 4), (0.3, [1.7, 9.0], 2)]
)
def test_errors_on_adult_with_eight_quasi_identifiers(adult, fraction, published, within):
    """NOTES, section 2, the table of what is attainable."""
    modes = [LogLinear("uniques"), LogLinear("independence")]
    found = errors(population(adult, EIGHT), fraction, [*modes, LogLinearCount()], 1)
    assert (np.abs(found[:2] - published) < within).all()
    assert abs(found[2]) < 5


def greedy(sample, size):
    """The model that a search over all models with exact fits ends with."""
    cells = cells_of(sample)
    criteria = Criteria([(size,)], sample.fraction)

    def misfit(terms):
        model = Fitter(cells, 10**6, 1e-6).fit(terms)
        return abs(criteria.of(*AllCells(cells).judge(model))[0])

    model = frozenset()
    while True:
        pairs = [pair for pair in combinations(range(4), 2) if pair not in model]
        best = min((misfit(model | {pair}), model | {pair}) for pair in pairs)
        if best[0] >= misfit(model):
            return Fitter(cells, 10**6, 1e-6).fit(model).means(cells.codes)
        model = best[1]


def test_every_class_has_the_model_that_the_search_for_its_size_found():
    sample, _ = draw(made_up(), 0.3, 1)
    found = LogLinear().estimate(sample, np.random.default_rng(0)).inverse_sizes
    odds = (1 - sample.fraction) / sample.fraction
    for size in (1, 2, 3):
        of_size = sample.sizes == size
        v = odds * greedy(sample, size)[of_size]
        t, weights = np.polynomial.legendre.leggauss(200)
        t, weights = (t + 1) / 2, weights / 2
        expected = np.exp(-np.outer(v, 1 - t)) @ (weights * t ** (size - 1))
        np.testing.assert_allclose(found[of_size], expected, rtol=1e-3)


@pytest.mark.parametrize("mode", MODES)
def test_estimates_are_consistent(mode):
    sample, lam = draw(made_up(), 0.2, 2)
    found = LogLinear(mode).estimate(sample, np.random.default_rng(0))
    assert (found.inverse_sizes > 0).all()
    assert (found.inverse_sizes <= 1 / sample.sizes).all()
    assert found.marketer == pytest.approx((sample.sizes * found.inverse_sizes).sum() / sample.n)
    unique = sample.sizes == 1
    assert found.unique_matches == pytest.approx(found.inverse_sizes[unique].sum())
    assert 0 < found.expected_uniques < found.unique_matches
    assert found.marketer == pytest.approx(lam, rel=0.4)


@pytest.mark.parametrize("make", [LogLinear, LogLinearCount])
def test_the_order_of_classes_and_columns_changes_nothing(make):
    sample, _ = draw(made_up(), 0.2, 3)
    rng = np.random.default_rng(0)
    order, turned = rng.permutation(sample.classes), [2, 0, 3, 1]
    other = SampleClasses(
        sample.sizes[order], sample.population, sample.keys[order][:, turned], sample.domains
    )
    one = make().estimate(sample, rng).marketer
    assert make().estimate(other, rng).marketer == pytest.approx(one, rel=1e-4)


def test_drawn_and_enumerated_counts_agree(monkeypatch):
    sample, _ = draw(made_up(), 0.2, 4)
    exact = LogLinearCount("independence").estimate(sample, np.random.default_rng(0))
    monkeypatch.setattr(log_linear_search, "ENUMERATED", 0)
    drawn = LogLinearCount("independence").estimate(sample, np.random.default_rng(0))
    error = float(drawn.path[-1].rsplit(" ", 1)[1].replace(",", ""))
    assert 0 < error < 0.02 * exact.class_count
    assert abs(drawn.class_count - exact.class_count) < 4 * error
    assert drawn.marketer == pytest.approx(drawn.class_count / sample.population)


def test_drawn_and_enumerated_searches_agree(monkeypatch):
    sample, _ = draw(made_up(persons=20_000), 0.2, 4)
    exact = LogLinear("uniques").estimate(sample, np.random.default_rng(0))
    monkeypatch.setattr(log_linear_search, "ENUMERATED", 0)
    drawn = LogLinear("uniques").estimate(sample, np.random.default_rng(0))
    assert drawn.marketer == pytest.approx(exact.marketer, rel=0.03)


def test_the_path_is_in_words():
    sample, _ = draw(made_up(), 0.2, 6)
    found = LogLinear("uniques").estimate(sample, np.random.default_rng(0))
    assert found.path[0].startswith("classes of 1, B/√v: independence ")
    assert "+ quasi-identifier 1 × quasi-identifier 2" in found.path[0]


def test_terms_that_need_too_many_cells_are_named_in_the_path(monkeypatch):
    monkeypatch.setattr(log_linear, "SEARCHED_CELLS", 1)
    sample, _ = draw(made_up(), 0.2, 5)
    found = LogLinear("per-size").estimate(sample, np.random.default_rng(0))
    assert any("; not tried, too many cells: " in path for path in found.path)


@pytest.mark.slow
def test_a_table_of_a_quadrillion_cells_takes_memory_of_the_order_of_the_file():
    rng = np.random.default_rng(0)
    domains = (4_000, 100, 100, 80, 60, 50, 40)
    people = np.stack([(rng.random(20_000) ** 6 * top).astype(np.int32) for top in domains], 1)
    sample, lam = draw(people, 0.5, 0)
    assert np.prod(np.array(domains, dtype=float)) > 10**14
    tracemalloc.start()
    found = LogLinear("uniques").estimate(sample, rng)
    count = LogLinearCount().estimate(sample, rng)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.marketer == pytest.approx(lam, rel=0.03)
    assert count.marketer == pytest.approx(lam, rel=0.03)
    assert peak < 60_000_000


@pytest.mark.parametrize("make", [LogLinear, LogLinearCount])
def test_a_sample_of_everybody_is_measured(make):
    people = made_up()
    keys, sizes = np.unique(people, axis=0, return_counts=True)
    sample = SampleClasses(sizes, len(people), keys, (13,) * 4)
    found = make().estimate(sample, np.random.default_rng(0))
    assert found.marketer == pytest.approx(len(sizes) / len(people), rel=1e-12)


@pytest.mark.parametrize("make", [LogLinear, LogLinearCount])
def test_one_quasi_identifier_is_enough(make):
    people = (np.random.default_rng(0).random((3_000, 1)) ** 3 * 900).astype(np.int32)
    sample, lam = draw(people, 0.3, 0)
    found = make().estimate(sample, np.random.default_rng(0))
    assert found.marketer == pytest.approx(lam, rel=0.6)


@pytest.mark.parametrize("make", [LogLinear, LogLinearCount])
def test_what_cannot_be_estimated_is_refused(make):
    sample, _ = draw(made_up(), 0.2, 6)
    rng = np.random.default_rng(0)
    with pytest.raises(EstimationFailedError, match="needs the quasi-identifiers"):
        make().estimate(SampleClasses(sample.sizes, sample.population), rng)
    for weights, same in ((np.full(sample.classes, 5.0), True), (1.0 + sample.keys[:, 0], False)):
        weighted = SampleClasses(
            sample.sizes, sample.population, sample.keys, sample.domains, weights * sample.sizes
        )
        if same:
            one = make().estimate(weighted, np.random.default_rng(1)).marketer
            assert one == make().estimate(sample, np.random.default_rng(1)).marketer
        else:
            with pytest.raises(EstimationFailedError, match="the weights differ"):
                make().estimate(weighted, rng)


def test_all_two_way_terms_of_a_large_table_are_refused():
    rng = np.random.default_rng(0)
    sample, _ = draw(rng.integers(0, 60, size=(5_000, 4)).astype(np.int32), 0.5, 0)
    with pytest.raises(EstimationFailedError, match="needs more than 2,000,000 cells"):
        LogLinear("all-two-way").estimate(sample, rng)


def test_sizes_share_a_search_only_where_few_classes_have_them():
    sizes = np.array([1, 2, 3, 9, 10, 11, 12, 13, 14, 20, 24, 25, 31])
    assert bands_of(sizes, np.full(len(sizes), 5)) == [
        (1,), (2,), (3,), (9,), (10,), (11, 12, 13), (14,), (20, 24), (25, 31),
    ]  # fmt: skip
    assert bands_of(np.array([1, 2, 3, 4]), np.array([9_000, 5, 3, 2])) == [(1,), (2, 3, 4)]
