"""Releases against a population: its register, its size, and Adult as one."""

from __future__ import annotations

import csv

import numpy as np
import pyarrow as pa
import pytest
from few_cases import examples
from hypothesis import event, given, settings
from hypothesis import strategies as st
from oracles.population import count_population, marketer_risk
from oracles.remeasure import remeasure

import sfumato as sf
from sfumato.core.errors import ConstraintsNotMetError, InputError

ORDER = ["none", "low", "middle", "high", "top"]
KINDS = {"age": "number", "level": ORDER, "city": "category"}
PROMISES = {
    "marketer": [sf.MarketerRisk(0.3)],
    "marketer, k": [sf.MarketerRisk(0.4), sf.KAnonymity(3)],
    "marketer, g, h": [sf.MarketerRisk(0.5), sf.GBalance(0.5), sf.HAffiliation(0.8)],
    "presence": [sf.DeltaPresence(0.0, 0.7)],
    "k-map": [sf.KMap(3)],
    "k-map, uniques": [sf.KMap(1), sf.PopulationUniques(0.1)],
    "uniques, marketer": [sf.PopulationUniques(0.2), sf.MarketerRisk(0.6)],
    "low presence": [sf.DeltaPresence(0.2, 0.8)],
    "presence, l": [sf.DeltaPresence(0.0, 0.8), sf.LDiversity(2)],
    "both, t": [sf.DeltaPresence(0.0, 0.9), sf.MarketerRisk(0.5), sf.TCloseness(0.9)],
    "both, counts": [sf.DeltaPresence(0.0, 0.9), sf.MarketerRisk(0.5), sf.SharedCounts(2)],
}


def schema(person=None):
    return sf.Schema(
        person=person,
        quasi_identifiers={
            "age": "numeric",
            "level": {"kind": "ordered", "order": ORDER},
            "city": "categorical",
        },
        sensitive="illness",
        direct_identifiers="who" if person is None else (),
    )


@st.composite
def populations(draw, several=False, missing=False):
    """A register, and the rows of it that are the file: whole persons."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    persons = draw(st.integers(8, 60))
    person = np.repeat(np.arange(persons), rng.integers(1, 4, persons) if several else 1)
    total = len(person)
    spread = draw(st.sampled_from([3, 12, 60]))
    age = rng.integers(20, 20 + spread, persons)[person] + several * rng.integers(0, 3, total)
    columns = {
        "age": age.tolist(),
        "level": rng.choice(ORDER, persons)[person].tolist(),
        "city": rng.choice(list("abcd"), persons, p=[0.5, 0.3, 0.15, 0.05])[person].tolist(),
    }
    if missing:
        for name, values in columns.items():
            gone = rng.random(total) < draw(st.sampled_from([0, 0.15]))
            kept = [None if lost else each for each, lost in zip(values, gone, strict=True)]
            columns[name] = values if kept.count(None) == total else kept
    columns |= {"who": [f"p{each}" for each in person], "illness": rng.choice(list("uvw"), total)}
    inside = rng.random(persons) < draw(st.sampled_from([0.2, 0.5, 0.9]))
    inside[rng.integers(persons)] = True
    rows = np.flatnonzero(inside[person])
    for name, value in {"age": 25, "level": "low", "city": "a"}.items():
        if all(columns[name][row] is None for row in rows):
            columns[name] = [value if each is None else each for each in columns[name]]
    register = pa.table({name: pa.array(values) for name, values in columns.items()})
    return register, register.take(pa.array(rows))


def texts(table):
    return [
        {name: "" if value is None else str(value) for name, value in row.items()}
        for row in table.to_pylist()
    ]


def released(file, register, promises, person=None, **options):
    try:
        return sf.anonymize(file, schema(person), *promises, register=register, seed=1, **options)
    except ConstraintsNotMetError:
        event("not met")
        return None


def check_cells(release, classes, promises, *, exact):
    """How many of the population look like each class, and who is alone there."""
    sizes = [max(each.persons, each.population) for each in classes]
    alone = sum(1 for each in classes if each.persons == each.population == 1)
    unique = alone / sum(each.persons for each in classes)
    assert release.population.k_map.value <= min(sizes)
    assert release.population.population_uniques.value >= unique - 1e-9
    if exact:
        assert release.population.k_map.value == min(sizes)
        assert release.population.population_uniques.value == pytest.approx(unique)
    for promise in promises:
        if promise.name == "k_map":
            assert min(sizes) >= promise.k
        if promise.name == "population_uniques":
            assert unique <= promise.share + 1e-9


def check(release, register, promises, person=None, *, exact):
    rows = texts(release.data)
    classes = count_population(rows, texts(register), KINDS, person)
    measured = marketer_risk(classes)
    assert float(measured) <= release.population.marketer.value + 1e-9
    if exact:
        assert float(measured) == pytest.approx(release.population.marketer.value)
        assert release.population.presence_low.value == pytest.approx(
            float(min(each.share for each in classes))
        )
    check_cells(release, classes, promises, exact=exact)
    assert release.population.strangers == 0
    for promise in promises:
        stated = promise.parameters()
        if promise.name == "marketer":
            assert float(measured) <= stated["tau"] + 1e-9
        if promise.name == "presence":
            assert max(each.share for each in classes) <= stated["high"] + 1e-9
            if exact:
                assert min(each.share for each in classes) >= stated["low"] - 1e-9
    found = remeasure(rows, list(KINDS), person, ("illness",))
    for promise in promises:
        if promise.name == "k":
            assert found.k >= promise.k
        if promise.name == "g_balance":
            assert found.g >= promise.g - 1e-9
        if promise.name == "h_affiliation":
            assert found.h["illness"] <= promise.h + 1e-9
        if promise.name == "l":
            assert found.l["illness"] >= promise.l
        if promise.name == "shared_counts":
            assert found.count_k >= promise.m


@pytest.mark.slow
@given(
    populations(),
    st.sampled_from(sorted(PROMISES)),
    st.sampled_from(["median", "search"]),
    st.sampled_from(["range", "set", "hierarchy"]),
    st.sampled_from([0.0, 0.3]),
)
def test_one_record_each(population, name, cut, values, suppress):
    """Every person of the register lies in the cells of one class: measures agree exactly."""
    register, file = population
    promises = PROMISES[name]
    if values == "hierarchy" and name == "low presence":
        values = "range"
    options = {"cut": cut, "values": values, "suppress": suppress}
    release = released(file, register, promises, **options)
    if release is not None:
        exact = values != "hierarchy"
        check(release, register, promises, exact=exact)


@pytest.mark.slow
@given(
    populations(several=True, missing=True),
    st.sampled_from(sorted(set(PROMISES) - {"low presence"})),
    st.sampled_from(["median", "search"]),
    st.sampled_from(["range", "set"]),
    st.sampled_from([None, "drop"]),
)
def test_several_records_and_missing_values(population, name, cut, values, coarsen):
    """Cells may overlap: the risk that is promised is then no less than the true one."""
    register, file = population
    promises = PROMISES[name]
    options = {"cut": cut, "values": values}
    if coarsen and name.endswith("counts"):
        options["coarsen_counts"] = coarsen
    release = released(file, register, promises, "who", **options)
    if release is not None:
        check(release, register, promises, "who", exact=False)


@settings(max_examples=examples(25))
@given(populations(), st.sampled_from(["median", "search"]))
def test_more_is_asked_of_a_smaller_register(population, cut):
    """Against the file alone as register, it is the file's own marketer risk."""
    _, file = population
    try:
        release = sf.anonymize(file, schema(), sf.MarketerRisk(0.3), register=file, cut=cut, seed=1)
    except ConstraintsNotMetError:
        return
    assert release.population.marketer.value == pytest.approx(float(release.risk.marketer))
    assert release.population.presence_low.value == 1


def test_a_value_between_two_of_the_file_and_beyond_them():
    file = pa.table({"age": [10, 10, 20, 20]})
    register = pa.table({"age": [10, 10, 10.5, 14, 20, 20, 25, 5]})
    plain = sf.Schema(quasi_identifiers={"age": "numeric"})
    release = sf.anonymize(file, plain, sf.MarketerRisk(0.27), register=register, cut="median")
    cells = set(release.data.column("age").to_pylist())
    assert cells == {"5.0-10.0", "10.5-25.0"}
    assert release.population.marketer.value == pytest.approx((2 / 3 + 2 / 5) / 4)


def test_strict_cuts():
    """Without a register equal values may fall on both sides of a cut; with one they do not."""
    file = pa.table({"age": [10, 10, 10, 20], "illness": list("uvuv")})
    plain = sf.Schema(quasi_identifiers={"age": "numeric"}, sensitive="illness")
    kept = {"keep_order": True, "cut": "median"}
    loose = sf.anonymize(file, plain, sf.KAnonymity(1), **kept)
    strict = sf.anonymize(file, plain, sf.KAnonymity(1), register=file, **kept)
    sized = sf.anonymize(file, plain, sf.KAnonymity(1), population=9, **kept)
    assert loose.tree.classes == 3
    assert strict.tree.classes == sized.tree.classes == 2
    assert strict.data.column("age").to_pylist() == ["10", "10", "10", "20"]
    assert sized.data.column("age").to_pylist() == ["10-15", "10-15", "10-15", "16-20"]


def test_strangers_count_as_persons_of_the_population():
    file = pa.table({"age": [10, 10, 10, 30]})
    register = pa.table({"age": [10, 10, 20]})
    plain = sf.Schema(quasi_identifiers={"age": "numeric"})
    release = sf.anonymize(file, plain, sf.MarketerRisk(1), register=register, cut="median")
    assert release.population.strangers == 1
    assert any("counterpart" in each for each in release.warnings)
    assert release.population.presence_high.value == 1


@pytest.mark.slow
def test_the_size_of_a_population_promises_nothing():
    """A column of many categories, of which the file shows 400 of 1,000: kept, but an estimate."""
    rng = np.random.default_rng(3)
    register = pa.table(
        {"age": rng.integers(18, 90, 5000), "city": rng.integers(0, 1000, 5000).astype(str)}
    )
    plain = sf.Schema(quasi_identifiers={"age": "numeric", "city": "categorical"})
    tau, file = 0.05, register.slice(0, 500)
    promises = (sf.MarketerRisk(tau), sf.KAnonymity(1))
    release = sf.anonymize(file, plain, *promises, population=5000, cut="median", seed=1)
    kinds = {"age": "number", "city": "category"}
    classes = count_population(texts(release.table), texts(register), kinds)
    assert release.population.marketer.high <= tau + 1e-9
    assert tau / 4 < float(marketer_risk(classes)) < tau
    assert [each["promised"] for each in release.to_json()["constraints"]] == [False, True]
    assert [each.get("promised") for each in release.manifest.to_dict()["constraints"]] == [
        False,
        None,
    ]
    for counted in ({"register": file}, {}):
        release = sf.anonymize(file, plain, *promises, **counted, cut="median", seed=1)
        assert [each["promised"] for each in release.to_json()["constraints"]] == [True, True]


REFUSED = {
    "presence without register": (
        [sf.DeltaPresence(0, 0.5)],
        {},
        "needs a population register",
    ),
    "presence with a number": (
        [sf.DeltaPresence(0, 0.5)],
        {"population": 100},
        "only the number",
    ),
    "both": ([sf.KAnonymity(2)], {"population": 9, "register": True}, "say the same thing"),
    "too few": ([sf.MarketerRisk(0.5)], {"population": 3}, "4 or more"),
    "no number": ([sf.MarketerRisk(0.5)], {"population": 0}, "whole number"),
    "mean": ([sf.MarketerRisk(0.5)], {"values": "mean", "register": True}, "a mean says nothing"),
    "labels": (
        [sf.DeltaPresence(0.1, 0.9)],
        {"values": "hierarchy", "register": True},
        "a label may stand",
    ),
    "full domain": (
        [sf.MarketerRisk(0.9)],
        {"recoding": "full-domain", "register": True},
        "counted by the tree",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    promises, options, said = REFUSED[name]
    file = pa.table({"age": [10, 20, 30, 40]})
    if options.get("register"):
        options = {**options, "register": file}
    with pytest.raises(InputError, match=said):
        sf.anonymize(file, sf.Schema(quasi_identifiers={"age": "numeric"}), *promises, **options)


@pytest.mark.parametrize(
    ("register", "said"),
    [
        ({"age": [10.25, 20]}, "compared exactly"),
        ({"age": ["2020-01-01", "2020-01-02"]}, "dates"),
        ({"height": [1, 2]}, "age"),
    ],
)
def test_registers_that_do_not_fit(register, said):
    file = pa.table({"age": [10, 2**52]})
    plain = sf.Schema(quasi_identifiers={"age": "numeric"})
    with pytest.raises(InputError, match=said):
        sf.anonymize(file, plain, sf.MarketerRisk(0.9), register=pa.table(register))


def test_unknown_categories_of_an_order_are_refused():
    file, register = pa.table({"level": ["low", "high"]}), pa.table({"level": ["low", "huge"]})
    plain = sf.Schema(quasi_identifiers={"level": {"kind": "ordered", "order": ["low", "high"]}})
    with pytest.raises(InputError, match="1 others") as caught:
        sf.anonymize(file, plain, sf.MarketerRisk(0.9), register=register)
    assert "huge" not in str(caught.value)


def test_not_met_says_the_share_and_what_helps():
    file = pa.table({"age": [10, 20, 30, 40]})
    register = pa.table({"age": [10, 20, 30, 40, 50]})
    plain = sf.Schema(quasi_identifiers={"age": "numeric"})
    with pytest.raises(ConstraintsNotMetError, match="4 of 5 people"):
        sf.anonymize(file, plain, sf.DeltaPresence(0, 0.5), register=register)
    release = sf.anonymize(
        file, plain, sf.DeltaPresence(0, 0.5), register=register, suppress=0.5, cut="median"
    )
    assert release.utility.suppressed_persons == 2


def test_coded_ends_hold_for_the_register():
    file = pa.table({"age": [20, 40, 60, 91]})
    register = pa.table({"age": [20, 40, 60, 80, 91, 95, 99]})
    ends = sf.Schema(quasi_identifiers={"age": {"kind": "numeric", "top": 90}})
    release = sf.anonymize(file, ends, sf.MarketerRisk(0.9), register=register, cut="median")
    cells = release.data.column("age").to_pylist()
    assert not any("91" in cell or "95" in cell or "99" in cell for cell in cells)
    assert "80 or more" in cells
    assert release.population.marketer.value == pytest.approx((3 + 1 / 4) / 4)


@pytest.mark.slow
@settings(max_examples=25)
@given(
    populations(missing=True),
    st.sampled_from(["median", "search"]),
    st.sampled_from(["range", "set", "bounds"]),
    st.sampled_from([0.0, 0.3]),
)
def test_whole_cells_where_only_the_number_is_known(population, cut, values, suppress):
    """Whoever has the file's categories and a number between its ends lies in one class's cells."""
    _, file = population
    options = {"cut": cut, "values": values, "suppress": suppress, "seed": 1}
    try:
        release = sf.anonymize(file, schema(), sf.MarketerRisk(0.5), population=99, **options)
    except ConstraintsNotMetError:
        return
    assert release.population.marketer.value <= 0.5 + 1e-9
    rows = texts(release.data)
    if values == "bounds":
        rows = [joined_bounds(row) for row in rows]
    own = {name: [each for each in file[name].to_pylist() if each is not None] for name in KINDS}
    if any(None in file[name].to_pylist() for name in KINDS) or release.utility.suppressed_persons:
        assert all(each.population for each in count_population(rows, texts(file), KINDS))
        return
    ages = range(min(own["age"]), max(own["age"]) + 1)
    everybody = [
        {"age": str(age), "level": level, "city": city}
        for age in ages
        for level in set(own["level"])
        for city in set(own["city"])
    ]
    classes = count_population(rows, everybody, KINDS)
    assert sum(each.population for each in classes) == len(everybody)


def joined_bounds(row):
    """Two bounds as the range that they mean."""
    joined = dict(row)
    for name in ("age", "level"):
        low, high = row[f"{name}_low"], row[f"{name}_high"]
        joined[name] = (
            low if low == high else f"{low}-{high}" if name == "age" else f"{low} to {high}"
        )
    return joined


ADULT_KINDS = {"age": "number", "education": "category", "race": "category", "sex": "category"}
SCHEMA = sf.Schema(quasi_identifiers=list(ADULT_KINDS))


@pytest.fixture(scope="module")
def adult(shared_data):
    with (shared_data / "adult" / "adult.csv").open(newline="", encoding="utf-8") as stream:
        rows = [row for row in csv.DictReader(stream, delimiter=";") if "?" not in row.values()]
    assert len(rows) == 30_162
    columns = {name: [row[name] for row in rows] for name in ADULT_KINDS}
    return pa.table(columns | {"age": [int(age) for age in columns["age"]]})


def sample(adult, fraction):
    rng = np.random.default_rng(4)
    rows = rng.choice(adult.num_rows, round(fraction * adult.num_rows), replace=False)
    return adult.take(pa.array(np.sort(rows)))


def adult_texts(table):
    columns = table.select(list(ADULT_KINDS)).to_pydict()
    return [
        dict(zip(columns, map(str, cells), strict=True))
        for cells in zip(*columns.values(), strict=True)
    ]


def certainty_penalty(release, file):
    """NCP from the released cells alone: (leaves - 1)/(domain - 1), ranges by their width."""
    losses = []
    for name, kind in ADULT_KINDS.items():
        values = set(file.column(name).to_pylist())
        for cell in map(str, release.table.column(name).to_pylist()):
            if kind == "number":
                low, _, high = cell.partition("-")
                width = int(high or low) - int(low)
                losses.append(width / (max(values) - min(values)))
            else:
                losses.append(cell.count(", ") / (len(values) - 1))
    return float(np.mean(losses))


def test_the_loss_is_that_of_the_released_cells(adult):
    """Cells hold the register's persons too, and the loss says so."""
    file = sample(adult, 0.1)
    promise = sf.MarketerRisk(0.05)
    release = sf.anonymize(file, SCHEMA, promise, register=adult, seed=1, cut="median")
    assert release.utility.ncp == pytest.approx(certainty_penalty(release, file), rel=0.02)


def true_risk(release, adult):
    return float(
        marketer_risk(count_population(adult_texts(release.table), adult_texts(adult), ADULT_KINDS))
    )


@pytest.mark.slow
@pytest.mark.parametrize("fraction", [0.1, 0.3, 0.5])
def test_below_the_threshold_at_less_loss_than_k(adult, fraction):
    """A file released under MarketerRisk(0.05) stays below it against the true register."""
    options = {"register": adult, "seed": 1, "cut": "median"}
    file = sample(adult, fraction)
    release = sf.anonymize(file, SCHEMA, sf.MarketerRisk(0.05), **options)
    measured = true_risk(release, adult)
    assert measured == pytest.approx(release.population.marketer.value)
    assert 0.0499 < measured <= 0.05
    for promise in (sf.KAnonymity(20), sf.KMap(20)):
        other = sf.anonymize(file, SCHEMA, promise, **options)
        assert other.population.marketer.value < 0.05
        assert release.utility.ane < other.utility.ane / 3
        assert release.utility.ncp < other.utility.ncp / 2


@pytest.mark.slow
def test_the_search_keeps_it_too(adult):
    file = sample(adult, 0.3)
    release = sf.anonymize(file, SCHEMA, sf.MarketerRisk(0.05), register=adult, cut="search")
    median = sf.anonymize(file, SCHEMA, sf.MarketerRisk(0.05), register=adult, cut="median")
    assert true_risk(release, adult) <= 0.05
    assert release.utility.ane <= median.utility.ane


@pytest.mark.slow
@pytest.mark.parametrize("fraction", [0.1, 0.3, 0.5])
def test_the_interval_where_only_the_number_is_known(adult, fraction):
    """Counted against Adult as the register."""
    file = sample(adult, fraction)
    release = sf.anonymize(
        file, SCHEMA, sf.MarketerRisk(0.05), population=adult.num_rows, seed=1, cut="median"
    )
    estimate = release.population.marketer
    assert estimate.estimator == "cell model"
    assert "It is no promise" in estimate.why
    assert estimate.high <= 0.05 + 1e-9
    assert estimate.low < true_risk(release, adult) < estimate.high


def test_five_twenty_and_twenty_three():
    """Section 4.3: unique samples of F = 5, 20, 23; k-anonymity's bound is twice the risk."""
    population = pa.table({"city": ["a"] * 5 + ["b"] * 20 + ["c"] * 23})
    file = pa.table({"city": ["a", "b", "c"]})
    schema = sf.Schema(quasi_identifiers={"city": "categorical"})
    risk = (1 / 5 + 1 / 20 + 1 / 23) / 3
    assert risk == pytest.approx(0.5 * 1 / 5, rel=0.03)
    release = sf.anonymize(file, schema, sf.MarketerRisk(0.1), register=population)
    assert sorted(release.data.column("city").to_pylist()) == ["a", "b", "c"]
    assert release.population.marketer.value == pytest.approx(risk)
    bound = sf.anonymize(file, schema, sf.KMap(10), register=population)
    assert bound.risk.classes == 2
