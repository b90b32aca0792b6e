"""From a file to the risks of its population, and of each of its classes."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from few_cases import examples, fast_first
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.risk.population.cell_model import fit_cells
from sfumato.risk.population.estimator_protocol import (
    ESTIMATORS,
    Estimate,
    SampleClasses,
)
from sfumato.risk.population.population_estimates import (
    LARGEST_UNCERTAIN,
    ClassPosteriors,
    most_of_few,
)
from sfumato.risk.population.population_size import Given, read_population
from sfumato.risk.population.subsample_validation import (
    SubsampleCheck,
    check_on_subsamples,
    reason,
)

SCHEMA = sf.Schema(quasi_identifiers={"age": "numeric", "zip": "categorical"})
MEASURES = (
    "marketer",
    "journalist",
    "population_average_risk",
    "population_records_at_risk",
    "expected_uniques",
    "unique_matches",
    "expected_matches",
)


def people(count, seed=1):
    generator = np.random.default_rng(seed)
    age = generator.integers(20, 80, count)
    place = generator.choice(12, count, p=np.arange(1, 13) / 78)
    return pd.DataFrame({"age": age, "zip": [f"z{each}" for each in place]})


@pytest.fixture(scope="module")
def file():
    return people(4_000).iloc[:600]


@pytest.fixture(scope="module")
def small_file(file):
    """For what is true of a file of any size."""
    return file.iloc[:200]


def ordered(measure, most=1.0):
    return 0 <= measure.low <= measure.value <= measure.high <= most


# -------------------------------------------------------------------------- kinds of population


@pytest.mark.slow
def test_size_fraction_weights_and_given_say_the_same(small_file):
    weighed = small_file.assign(weight=10.0)
    by_size = sf.assess(small_file, SCHEMA, population=2_000, seed=1)
    by_fraction = sf.assess(small_file, SCHEMA, population=0.1, seed=1)
    by_weight = sf.assess(weighed, SCHEMA, population="weight", seed=1)
    by_float = sf.assess(small_file, SCHEMA, population=np.float64(2_000), seed=1)
    by_given = sf.assess(small_file, SCHEMA, population=Given(size=2_000), seed=1)
    for other in (by_fraction, by_weight, by_float, by_given):
        assert other.population.population == 2_000
        assert other.marketer.value == by_size.marketer.value
        assert other.marketer.low == by_size.marketer.low
    assert by_size.population.sampling_fraction == pytest.approx(0.1)
    assert by_size.marketer is by_size.population.marketer
    assert by_size.journalist is by_size.population.journalist


@pytest.mark.slow
def test_the_realised_risk_lies_in_the_interval():
    whole = people(6_000, 2)
    sample = whole.sample(900, random_state=3)
    found = sf.assess(sample, SCHEMA, population=6_000, seed=1)
    real = sf.assess(sample, SCHEMA, population=whole)
    assert found.marketer.low <= real.marketer.value <= found.marketer.high
    assert found.marketer.value == pytest.approx(real.marketer.value, rel=0.1)
    unique = real.population.unique_matches.value
    assert found.population.unique_matches.value == pytest.approx(unique, rel=0.3)
    assert real.marketer.estimator == "register"


def test_everything_is_ordered_and_says_how(file):
    found = sf.assess(file, SCHEMA, population=0.05, seed=1).population
    for name in ("marketer", "journalist", "population_average_risk", "population_records_at_risk"):
        assert ordered(getattr(found, name)), name
    for name in ("expected_uniques", "unique_matches", "expected_matches"):
        assert ordered(getattr(found, name), 600), name
    assert ordered(found.class_count, 12_000)
    for name in MEASURES:
        measure = getattr(found, name)
        assert measure.estimator == "accumulation"
        assert "realised" in measure.why
    assert found.expected_matches.value == pytest.approx(600 * found.marketer.value)
    assert found.one_to_one.mean == pytest.approx(found.expected_matches.value)
    assert found.free.mean == pytest.approx(found.expected_matches.value)
    assert found.expected_uniques.value <= found.unique_matches.value


def test_the_records_risks_are_those_of_their_classes(file):
    found = sf.assess(file, SCHEMA, population=0.05, seed=1).population
    risks = found.record_risks
    assert risks.shape == (600,)
    assert ((risks > 0) & (risks <= 1)).all()
    assert risks.mean() == pytest.approx(found.marketer.value)
    by_class = file.assign(risk=risks).groupby(["age", "zip"])["risk"]
    assert (by_class.nunique() == 1).all()
    assert (by_class.first() <= 1 / by_class.size() + 1e-12).all()


@pytest.mark.slow
def test_a_seed_gives_the_same_and_is_reported(small_file):
    one, two = (sf.assess(small_file, SCHEMA, population=0.1, seed=5).to_json() for _ in range(2))
    assert one == two
    assert one["seed"] == 5
    drawn = sf.assess(small_file, SCHEMA, population=0.1).population.seed
    again = sf.assess(small_file, SCHEMA, population=0.1, seed=drawn)
    assert again.population.seed == drawn


@pytest.mark.slow
def test_the_order_of_rows_hardly_matters(file):
    other = file.sample(frac=1, random_state=2)
    one, two = (
        sf.assess(each, SCHEMA, population=0.1, seed=5).population for each in (file, other)
    )
    assert one.marketer.value == pytest.approx(two.marketer.value, rel=0.02)
    for name in ("expected_uniques", "unique_matches", "population_records_at_risk"):
        assert getattr(one, name).value == pytest.approx(getattr(two, name).value, rel=0.06)
    risks = pd.Series(two.record_risks, index=other.index).loc[file.index].to_numpy()
    assert one.record_risks == pytest.approx(risks, rel=0.1)


# ------------------------------------------------------------------------------ all estimators


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_whole_population_is_exact_for_every_estimator(name):
    file = pd.DataFrame({"age": [1, 1, 2, 3, 3, 3], "zip": list("aabbbb")})
    found = sf.assess(file, SCHEMA, population=6, estimator=name, seed=1)
    sizes = {(1, "a"): 2, (2, "b"): 1, (3, "b"): 3}
    assert found.marketer.value == pytest.approx(3 / 6)
    assert (found.marketer.low, found.marketer.high) == (found.marketer.value,) * 2
    assert (found.journalist.value, found.population.expected_uniques.value) == (1, 1)
    inverse = [1 / sizes[row] for row in file.itertuples(index=False, name=None)]
    assert found.population.record_risks == pytest.approx(inverse)
    assert found.population.check is None
    assert sf.assess(file, SCHEMA, population=1.0, estimator=name).marketer.value == 0.5


@pytest.mark.parametrize("name", [each for each in ESTIMATORS if each != "auto"])
def test_every_estimator_has_an_interval_and_its_name(file, name):
    found = sf.assess(file, SCHEMA, population=0.3, estimator=name, seed=1)
    assert ordered(found.marketer)
    assert found.marketer.estimator == name
    assert "asked for" in found.marketer.why
    assert found.marketer.low < found.marketer.high
    for measure in found.population.measures:
        assert np.isfinite([measure.value, measure.low, measure.high]).all()
        assert measure.low <= measure.value <= measure.high
    assert found.population.record_risks.mean() == pytest.approx(found.marketer.value, rel=1e-6)


def test_a_published_estimator_is_a_peer_only():
    with pytest.raises(InputError, match="peers of the study"):
        sf.assess(people(50), SCHEMA, population=800, estimator="argus")


# --------------------------------------------------------------------------- degenerate files

FILES = {
    "one person": ([30], ["a"]),
    "two persons who look the same": ([30, 30], ["a", "a"]),
    "everybody alone": (list(range(70)), ["a", "b"] * 35),
    "one class": ([30] * 70, ["a"] * 70),
    "missing values": ([30, None, 40, None], [None, None, "a", "b"]),
}


@pytest.mark.parametrize("population", fast_first(3, [1.0, 0.5, 330_000_000, 0.999, 0.01, 10**12]))
@pytest.mark.parametrize("case", FILES)
def test_degenerate_files(case, population):
    age, place = FILES[case]
    frame = pd.DataFrame({"age": pd.array(age, dtype="Int64"), "zip": place})
    schema = SCHEMA if case != "one person" else sf.Schema(quasi_identifiers={"age": "numeric"})
    found = sf.assess(frame, schema, population=population, seed=1)
    for measure in found.population.measures:
        assert np.isfinite([measure.value, measure.low, measure.high]).all(), measure.name
        assert measure.low <= measure.value <= measure.high, measure.name
    for name in MEASURES[:4]:
        assert getattr(found.population, name).low >= 0, name
        assert getattr(found.population, name).high <= 1, name
    assert "population" in str(found)
    assert str(found.to_json())


def test_persons_with_several_records_count_once():
    frame = people(200, 4)
    long = pd.concat([frame.assign(id=frame.index)] * 3)
    schema = sf.Schema(person="id", quasi_identifiers={"age": "numeric", "zip": "categorical"})
    by_persons = sf.assess(long, schema, population=1_000, seed=1)
    single = sf.assess(frame, SCHEMA, population=1_000, seed=1)
    assert by_persons.population.population == 1_000
    assert by_persons.marketer.value == pytest.approx(single.marketer.value)
    assert by_persons.population.record_risks.shape == (600,)


def test_persons_in_several_classes_count_in_each():
    one, other = people(200, 5), people(200, 6)
    frame = pd.concat([one.assign(id=range(200)), other.assign(id=range(200))])
    schema = sf.Schema(person="id", quasi_identifiers={"age": "numeric", "zip": "categorical"})
    found = sf.assess(frame, schema, population=2_000, seed=1).population
    assert found.population == 2_000
    assert found.sampling_fraction == pytest.approx(0.1, rel=1e-3)


# ---------------------------------------------------------------------------------- registers


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ab")), min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ab")), max_size=12),
    st.sampled_from([0.2, 0.5]),
)
def test_a_register_is_the_naive_count(inside, others, threshold):
    register = inside + others
    schema = sf.Schema(quasi_identifiers={"age": "numeric", "zip": "categorical"})

    def table(rows):
        age, place = zip(*rows, strict=True)
        return pa.table({"age": list(age), "zip": list(place)})

    found = sf.assess(
        table(inside), schema, population=table(register), threshold=threshold
    ).population
    whole, own = Counter(register), Counter(inside)
    n = len(inside)
    expected = {
        "marketer": sum(1 / whole[row] for row in inside) / n,
        "journalist": max(1 / whole[row] for row in inside),
        "population_average_risk": sum(1 / whole[row] for row in inside) / n,
        "population_records_at_risk": sum(1 / whole[row] > threshold for row in inside) / n,
        "expected_uniques": sum(whole[row] == 1 for row in inside),
        "unique_matches": sum(1 / whole[row] for row in inside if own[row] == 1),
        "expected_matches": sum(1 / whole[row] for row in inside),
    }
    for name, value in expected.items():
        measure = getattr(found, name)
        assert measure.value == pytest.approx(value), name
        assert measure.low == measure.value == measure.high
        assert measure.estimator == "register"
    assert found.population == len(register)
    assert found.record_risks == pytest.approx([1 / whole[row] for row in inside])
    assert found.one_to_one.mean == pytest.approx(expected["expected_matches"])


def test_a_register_by_its_path_and_beside_a_population(tmp_path, file):
    whole = people(4_000)
    path = tmp_path / "register.csv"
    whole.to_csv(path, index=False)
    frame = sf.assess(file, SCHEMA, population=whole)
    for other in (
        sf.assess(file, SCHEMA, population=str(path)),
        sf.assess(file, SCHEMA, population=path),
        sf.assess(file, SCHEMA, register=path),
    ):
        assert other.marketer == frame.marketer
    with pytest.raises(InputError, match="only population"):
        sf.assess(file, SCHEMA, population=10_000, register=path)


# ---------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    "population",
    [0, -5, True, False, 0.0, -0.1, 1.5, float("nan"), float("inf"), 10**400, 1e300, 599, 1e-300],
)
def test_numbers_out_of_range_are_refused(file, population):
    with pytest.raises(InputError):
        sf.assess(file, SCHEMA, population=population)


def test_other_refusals(file, refused_values):
    refused_values(lambda: sf.assess(file, SCHEMA, population="no_such_column"))
    refused_values(lambda: sf.assess(file, SCHEMA, population=0.5, estimator="none"), "estimator")
    refused_values(lambda: sf.assess(file, SCHEMA, population=Decimal("0.5")))
    refused_values(lambda: sf.assess(file, SCHEMA, population=object()))
    huge = file.assign(weight=1e300)
    refused_values(lambda: sf.assess(huge, SCHEMA, population="weight"), "weight")


@pytest.fixture
def refused_values():
    def check(call, *said):
        with pytest.raises(InputError) as caught:
            call()
        for part in said:
            assert part in str(caught.value)

    return check


def test_what_is_given_is_told_apart(tmp_path):
    kinds = {
        "size": read_population(np.int64(500), ("a",)).size,
        "fraction": read_population(np.float32(0.5), ("a",)).fraction,
        "weights": read_population("a", ("a",)).weights,
        "register": read_population("a", ("b",)).register,
    }
    assert kinds["size"] == 500
    assert kinds["fraction"] == 0.5
    assert kinds["weights"] == "a"
    assert str(kinds["register"]) == "a"


# ------------------------------------------------------------------- subsamples and intervals


class _Fixed:
    """An estimator that is always off by a factor."""

    name = "fixed"

    def __init__(self, factor):
        self.factor = factor

    def estimate(self, sample, rng):
        whole = np.array([4] * 400)
        real = sample.n and float(sample.sizes.sum() / whole[0]) / sample.n
        return Estimate("fixed", marketer=real * self.factor)


def test_the_check_finds_a_constant_error():
    sample = SampleClasses(np.array([4] * 400), 3_200)
    check = check_on_subsamples(_Fixed(1.2), sample, np.random.default_rng(1), 7)
    assert check.subsamples == 7
    assert check.error == pytest.approx(np.log(1.2))
    assert check.scatter == pytest.approx(0, abs=1e-12)
    few = SampleClasses(np.array([1] * 60), 600)
    assert check_on_subsamples(_Fixed(1.0), few, np.random.default_rng(1), 3) is None


def test_words_say_when_it_is_not_sure():
    sample = SampleClasses(np.array([1, 1, 2]), 16)
    assert "not sure" in reason("x", sample, SubsampleCheck(5, -0.2, 0.1), auto=True)
    assert "not sure" not in reason("x", sample, SubsampleCheck(5, -0.05, 0.1), auto=True)
    assert "not checked" in reason("x", sample, None, auto=False)
    assert "up to 75 %" in reason("x", sample, None, auto=False)


# ------------------------------------------------------------------------------------- clusters


def in_areas(areas=120, seed=4):
    """Areas that differ in age, and in which origins are common."""
    rng = np.random.default_rng(seed)
    area = rng.integers(0, areas, 12_000)
    age = np.clip(rng.normal(rng.normal(45, 12, areas)[area], 10), 0, 99).astype(int)
    origin = np.where(rng.random(12_000) < 0.7, area % 30, rng.integers(0, 30, 12_000))
    return pd.DataFrame({"age": age, "zip": origin.astype(str), "area": area})


AREAS = sf.Schema(quasi_identifiers={"age": "numeric", "zip": "categorical"}, insensitive=["area"])


@pytest.mark.slow
@pytest.mark.parametrize("within", [1.0, 0.4])
def test_clusters_that_were_drawn_are_counted_in(within):
    """Persons of the same areas look alike: who forgets that makes λ too low."""
    everybody = in_areas()
    rng = np.random.default_rng(5)
    file = everybody[everybody.area.isin(rng.permutation(120)[:30])]
    file = file.sample(frac=within, random_state=1).reset_index(drop=True)
    true = sf.assess(file, AREAS, population=everybody).marketer.value
    alone = sf.assess(file, AREAS, population=12_000, seed=1).marketer
    clusters = {} if within == 1 else {"clusters": 120}
    found = sf.assess(file, AREAS, population=12_000, cluster="area", seed=1, **clusters)
    assert abs(np.log(found.marketer.value / true)) < abs(np.log(alone.value / true)) / 2
    assert found.marketer.low < true < found.marketer.high
    assert ("whole" if within == 1 else "two stages") in found.marketer.why
    assert found.population.check is None
    for measure in found.population.measures:
        assert measure.low <= measure.value <= measure.high


@pytest.mark.slow
def test_clusters_of_one_person_are_nearly_persons():
    file = in_areas().sample(1_200, random_state=2).reset_index(drop=True)
    file["area"] = np.arange(len(file))
    one = sf.assess(file, AREAS, population=12_000, seed=1).marketer
    other = sf.assess(file, AREAS, population=12_000, cluster="area", seed=1).marketer
    assert other.value == pytest.approx(one.value, rel=0.01)


@pytest.mark.slow
def test_clusters_and_weights_go_together():
    file = in_areas().sample(1_500, random_state=2).reset_index(drop=True)
    file["weight"] = np.where(file.age < 40, 4.0, 12.0)
    schema = AREAS.model_copy(update={"insensitive": ("area", "weight")})
    risks = sf.assess(file, schema, population="weight", cluster="area", seed=1).population
    for found in risks.marketer, risks.unique_matches:
        assert found.low < found.value < found.high


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"cluster": "area"}, "cluster"),
        ({"cluster": "no", "population": 12_000}, "must be there"),
        ({"clusters": 4, "population": 12_000}, "clusters"),
        ({"cluster": "area", "clusters": 3, "population": 12_000}, "fewer than the file has"),
        ({"cluster": "half", "population": 12_000}, "missing values"),
        ({"cluster": "one", "population": 12_000}, "3 or more"),
    ],
)
def test_clusters_that_say_nothing_are_refused(options, said):
    file = in_areas().head(400).assign(one="x", half=["a", None] * 200)
    schema = AREAS.model_copy(update={"insensitive": ("area", "one", "half")})
    with pytest.raises(InputError, match=said):
        sf.assess(file, schema, **options)


@pytest.mark.slow
def test_intervals_of_small_classes_hold_on_adult(shared_data: Path) -> None:
    """τ1 and the records at risk, of which λ fixes neither: 6 samples against the register."""
    adult = csv.read_csv(
        shared_data / "adult" / "adult.csv", parse_options=csv.ParseOptions(delimiter=";")
    ).select(["age", "education", "race", "sex"])
    schema = sf.Schema(quasi_identifiers=adult.column_names)
    held = {"expected_uniques": 0, "population_records_at_risk": 0}
    for seed in range(6):
        rows = np.random.default_rng(seed).choice(adult.num_rows, 3_016, replace=False)
        file = adult.take(pa.array(np.sort(rows)))
        found = sf.assess(file, schema, population=adult.num_rows, seed=seed).population
        true = sf.assess(file, schema, population=adult).population
        for name in held:
            measure = getattr(found, name)
            held[name] += measure.low <= getattr(true, name).value <= measure.high
    assert min(held.values()) >= 5


def sample_of(generator, persons=20_000, fraction=0.1):
    """A sample of two quasi-identifiers that go together, and its classes' sizes in truth."""
    first = generator.choice(30, persons, p=np.arange(1, 31) / 465)
    second = (first // 3 + generator.geometric(0.2, persons)) % 40
    codes = np.column_stack([first, second]).astype(np.int32)
    keys, class_of, whole = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    taken = generator.permutation(persons)[: round(fraction * persons)]
    sizes = np.bincount(class_of.ravel()[taken], minlength=len(whole))
    seen = sizes > 0
    return SampleClasses(sizes[seen], persons, keys[seen], (30, 40)), whole[seen]


@pytest.mark.parametrize("marketer", fast_first(1, [0.04, 0.15, 0.6]))
def test_the_classes_add_up_to_the_whole(marketer):
    sample, _ = sample_of(np.random.default_rng(1), fraction=0.03)
    classes = ClassPosteriors(sample)
    inverse = classes.inverse_sizes(classes.shift(marketer))
    aim = min(marketer * sample.n, sample.classes)
    assert float(sample.sizes @ inverse) == pytest.approx(aim, rel=1e-8)
    single = sample.sizes == 1
    alone = 0.8 * min(aim, sample.alone)
    apart = np.linspace(0.9, 0.0, len(np.unique(sample.sizes)))
    classes = ClassPosteriors(sample, Estimate("", marketer, followed=1.0, apart=apart))
    inverse = classes.inverse_sizes(classes.shift(marketer, alone))
    assert float(sample.sizes @ inverse) == pytest.approx(aim, rel=1e-8)
    rest = sample.sizes[~single].size
    assert float(inverse[single].sum()) == pytest.approx(max(alone, aim - rest), rel=1e-8)


@settings(deadline=None, max_examples=examples(30))
@given(
    st.lists(st.integers(1, 150), min_size=1, max_size=30),
    st.floats(1.01, 1e6),
    st.floats(0.0, 1.0),
    st.booleans(),
)
def test_bounds_and_order(sizes, times, share, keyed):
    n = sum(sizes)
    keys = np.array([[i, i % 3] for i in range(len(sizes))], dtype=np.int32) if keyed else None
    sample = SampleClasses(np.array(sizes), max(n + 1, round(n * times)), keys)
    classes = ClassPosteriors(sample)
    least = sample.classes / sample.population
    shift = classes.shift(least + share * (min(1.0, sample.classes / n) - least))
    inverse = classes.inverse_sizes(shift)
    assert (inverse > 0).all()
    assert (inverse <= 1 / sample.sizes + 1e-12).all()
    chances = [classes.at_most(size, shift) for size in (1, 2, 3, 10, 100, 300, 10**7)]
    for less, more in pairwise(chances):
        assert (less <= more + 1e-12).all()
        assert ((less >= 0) & (more <= 1)).all()
    for size, chance in zip((1, 2, 3, 10, 100), chances, strict=False):
        assert not chance[sample.sizes > size].any()


@pytest.mark.slow
def test_the_posterior_is_right_where_the_truth_is_known():
    generator = np.random.default_rng(2)
    small, large, few, real = [], [], [], []
    for _ in range(3):
        sample, whole = sample_of(generator)
        classes = ClassPosteriors(sample)
        shift = classes.shift(float((sample.sizes / whole).sum()) / sample.n)
        inverse = classes.inverse_sizes(shift)
        alone = sample.sizes == 1
        median = np.median(inverse[alone])
        small.append((inverse[alone & (inverse <= median)], 1 / whole[alone & (inverse <= median)]))
        large.append((inverse[alone & (inverse > median)], 1 / whole[alone & (inverse > median)]))
        few.append(classes.at_most(5, shift).sum())
        real.append((whole <= 5).sum())
    for parts in (small, large):
        mine = np.concatenate([part[0] for part in parts]).mean()
        true = np.concatenate([part[1] for part in parts]).mean()
        assert mine == pytest.approx(true, rel=0.2)
    assert np.mean(few) == pytest.approx(np.mean(real), rel=0.2)


def test_tenths_are_right_where_the_model_tells_less_of_rare_cells():
    generator = np.random.default_rng(3)
    expected = generator.uniform(-4.0, 2.0, 80_000)
    spread = 0.7 * np.exp(-0.3 * (expected + 1))
    rates = np.exp(expected + spread * generator.normal(size=len(expected)))
    sizes = generator.poisson(rates)
    whole = (sizes + generator.poisson(9 * rates))[sizes > 0]
    keys = np.arange(len(sizes), dtype=np.int32)[sizes > 0]
    sizes, expected = sizes[sizes > 0], expected[sizes > 0]
    sample = SampleClasses(sizes, 10 * int(sizes.sum()), np.column_stack([keys, keys]))
    estimate = Estimate("", 0.5, foretold=lambda: np.exp(expected) / sample.n)
    classes = ClassPosteriors(sample, estimate)
    found = classes.inverse_sizes(classes.shift(float((sizes / whole).sum()) / sample.n))
    alone = np.flatnonzero(sizes == 1)
    for tenth in np.array_split(alone[np.argsort(found[alone])], 10):
        assert found[tenth].mean() == pytest.approx((1 / whole[tenth]).mean(), abs=0.03)


def crowds_and_others(generator, persons=20_000):
    """Most persons live in few homes; who is alone in a sample mostly lives elsewhere."""
    inside, home = generator.random(persons) < 0.7, generator.integers(0, 50, persons)
    place = np.where(inside, home, generator.integers(0, 500, persons))
    age = np.where(inside, home + generator.integers(0, 3, persons), 0)
    age = np.where(inside, age, generator.integers(0, 90, persons))
    data = pd.DataFrame({"age": age, "zip": [f"z{each}" for each in place]})
    return data, data.groupby(["age", "zip"])["age"].transform("size")


@pytest.mark.slow
def test_who_stands_apart_from_crowds_is_unique_as_often_as_it_seems():
    generator = np.random.default_rng(6)
    data, whole = crowds_and_others(generator)
    drawn = generator.permutation(len(data))[:2_000]
    risks = sf.assess(data.iloc[drawn], SCHEMA, population=len(data), seed=1).population
    unique = risks.class_intervals["unique"][risks.class_of]
    assert unique.sum() == pytest.approx(float((whole.iloc[drawn] == 1).sum()), rel=0.1)
    assert (unique <= risks.record_risks + 1e-12).all()
    single = (data.iloc[drawn].groupby(["age", "zip"])["age"].transform("size") == 1).to_numpy()
    found = float(risks.record_risks[single].sum())
    assert found == pytest.approx(risks.unique_matches.value, rel=1e-6)
    assert found == pytest.approx(float((1 / whole.iloc[drawn])[single].sum()), rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("drawn", [1_000, 6_000])
def test_pairs_are_of_a_crowd_in_a_small_sample_and_met_by_chance_in_a_large_one(drawn):
    generator = np.random.default_rng(6)
    data, whole = crowds_and_others(generator)
    rows = generator.permutation(len(data))[:drawn]
    risks = sf.assess(data.iloc[rows], SCHEMA, population=len(data), seed=1).population
    pairs = (data.iloc[rows].groupby(["age", "zip"])["age"].transform("size") == 2).to_numpy()
    true = float((1 / whole.iloc[rows])[pairs].mean())
    assert float(risks.record_risks[pairs].mean()) == pytest.approx(true, abs=0.05)


def test_few_classes_hold_whole_ones():
    """A tenth of a class is none or one; of many classes the normal scatter says enough."""
    shares, each = np.full(50, 0.004), np.full(50, 2)
    assert most_of_few(np.full(50, 0.001), shares, each) == pytest.approx(0.002)
    assert most_of_few(np.full(50, 0.02), shares, each) == pytest.approx(0.01)
    assert most_of_few(np.zeros(50), shares, each) == 0
    assert most_of_few(np.full(50, 0.2), shares, each) == 0


@pytest.mark.slow
def test_pairs_who_met_by_chance_are_records_at_risk():
    """Half of persons of whom a fifth live in homes: λ is within 1 %, and so is this."""
    generator = np.random.default_rng(5)
    inside, home = generator.random(20_000) < 0.2, generator.integers(0, 60, 20_000)
    place = np.where(inside, home, generator.integers(0, 400, 20_000))
    age = np.where(inside, home + generator.integers(0, 3, 20_000), 0)
    age = np.where(inside, age, generator.integers(0, 90, 20_000))
    data = pd.DataFrame({"age": age, "zip": [f"z{each}" for each in place]})
    small = data.groupby(["age", "zip"])["age"].transform("size").to_numpy() < 5
    drawn = generator.permutation(20_000)[:10_000]
    risks = sf.assess(data.iloc[drawn], SCHEMA, population=20_000, seed=1).population
    found = risks.population_records_at_risk
    assert found.low <= small[drawn].mean() <= found.high
    assert found.value == pytest.approx(small[drawn].mean(), rel=0.006)


@pytest.mark.slow
def test_records_at_risk_allow_for_small_homes():
    """Half live in small homes, which are in no lognormal with the others, however sure λ is."""
    generator = np.random.default_rng(1)
    persons, chances = 6_000, 1 / np.sqrt(1 + np.arange(150))
    inside = generator.random(persons) < 0.5
    home = generator.choice(150, persons, p=chances / chances.sum())
    place = np.where(inside, home, generator.integers(0, 150, persons))
    age = np.where(inside, home % 60 + generator.integers(0, 3, persons), 0)
    age = np.where(inside, age, generator.integers(0, 90, persons))
    data = pd.DataFrame({"age": age, "zip": [f"z{each}" for each in place]})
    small = data.groupby(["age", "zip"])["age"].transform("size").to_numpy() < 5
    drawn = generator.permutation(persons)[: persons // 2]
    risks = sf.assess(data.iloc[drawn], SCHEMA, population=persons, seed=1).population
    found = risks.population_records_at_risk
    assert found.low <= small[drawn].mean() <= found.high
    assert found.high < 0.75


@pytest.mark.slow
def test_rarer_values_are_riskier():
    """Of two persons who are alone, the one whom the model expects less is the likelier unique."""
    generator = np.random.default_rng(3)
    sample, _ = sample_of(generator)
    classes = ClassPosteriors(sample)
    inverse = classes.inverse_sizes(0.0)
    alone = sample.sizes == 1
    model = fit_cells(sample.keys, sample.sizes, sample.domains, np.random.default_rng(0))
    order = np.argsort(model.of(sample.keys, sample.sizes)[alone])
    assert (np.diff(inverse[alone][order]) <= 1e-9).mean() > 0.99


def test_large_classes_are_as_the_sample_has_them():
    sizes = np.array([LARGEST_UNCERTAIN + 100, 1, 1, 2, 3, 1])
    sample = SampleClasses(sizes, 2_080)
    found = ClassPosteriors(sample)
    assert found.inverse_sizes(0.0)[0] == pytest.approx(1 / 2_000)
    assert found.at_most(1_999, 0.0)[0] == 0
    assert found.at_most(2_000, 0.0)[0] == 1


def test_risk_grows_with_the_estimate():
    sample, _ = sample_of(np.random.default_rng(4), fraction=0.05)
    classes = ClassPosteriors(sample)
    shifts = [classes.shift(marketer) for marketer in (0.05, 0.1, 0.2)]
    assert (np.diff(shifts, axis=0) > 0).all()
    sums = [classes.at_most(3, shift).sum() for shift in shifts]
    assert sums == sorted(sums)
