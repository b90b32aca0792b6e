"""A release keeps what was asked, measured again by code that shares nothing with it."""

import weakref
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.released_cells import contains, parse_released
from oracles.remeasure import remeasure

import sfumato as sf
from sfumato.core.errors import ConstraintsNotMetError, InputError
from sfumato.examples import generate_clinics, worked_example
from sfumato.release.release_manifest import load_manifest
from sfumato.release.release_options import Options
from sfumato.schema import Kind

SECRET = b"s" * 32
TOLERANCE = Fraction(1, 10**6)
ORDER = ("low", "middle", "high", "top")


@st.composite
def files(draw):
    """A file of a few persons with several records, missing cells and all kinds."""
    persons = draw(st.integers(2, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    records = rng.integers(1, draw(st.integers(2, 6)), persons)
    person = np.repeat(np.arange(persons), records)
    total = len(person)

    def with_missing(values, share):
        kept = [None if rng.random() < share else value for value in values]
        return values if kept.count(None) == len(kept) else kept

    share = draw(st.sampled_from([0.0, 0.0, 0.2]))
    age = rng.integers(20, 90, persons)[person] + rng.integers(0, 3, total)
    table = pa.table(
        {
            "who": [f"person {each}" for each in person],
            "age": with_missing(age.tolist(), share),
            "level": with_missing(rng.choice(ORDER, total).tolist(), share),
            "city": with_missing(rng.choice(["a", "b", "c"], persons)[person].tolist(), share),
            "illness": with_missing(rng.choice(list("uvwxyz"), total).tolist(), share),
            "drug": rng.choice(list("pqrst"), total).tolist(),
            "note": rng.integers(0, 1000, total).tolist(),
        }
    )
    return table.take(pa.array(rng.permutation(total)))


SCHEMA = sf.Schema(
    person="who",
    quasi_identifiers={
        "age": "numeric",
        "level": {"kind": "ordered", "order": ORDER},
        "city": "categorical",
    },
    sensitive=["illness", "drug"],
    insensitive=["note"],
)
QUASI = ["age", "level", "city"]
PROMISES = st.lists(
    st.sampled_from(
        [
            sf.GBalance(0.5),
            sf.GBalance(k=3),
            sf.HAffiliation(0.6),
            sf.HAffiliation(l=2, attribute="drug"),
            sf.KAnonymity(4),
            sf.PidKAnonymity(2),
            sf.LDiversity(2),
            sf.LDiversity(3, attribute="illness"),
            sf.SharedCounts(2),
            sf.MarketerRisk(0.3),
        ]
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda each: each.name,
)


def cells(table):
    """Rows as an outsider reads them from a CSV: text, nothing for missing."""
    return [
        {name: "" if value is None else str(value) for name, value in row.items()}
        for row in table.to_pylist()
    ]


@given(
    files(),
    PROMISES,
    st.sampled_from([{}, {"cut": "median"}, {"split": "variance"}, {"split": "range"}]),
    st.sampled_from(["range", "set", "hierarchy"]),
    st.integers(0, 2**32),
)
def test_release_keeps_every_promise(table, promises, cuts, values, seed):
    try:
        release = sf.anonymize(table, SCHEMA, *promises, **cuts, values=values, seed=seed)
    except ConstraintsNotMetError:
        return
    found = remeasure(cells(release.data), QUASI, "who", ("illness", "drug"))
    assert found.records == table.num_rows
    assert found.split_persons == 0
    for promise in promises:
        stated = promise.parameters()
        columns = [stated["attribute"]] if "attribute" in stated else ["illness", "drug"]
        match promise.name:
            case "g_balance":
                assert found.g >= Fraction(stated["g"]) - TOLERANCE
            case "h_affiliation":
                assert max(found.h[name] for name in columns) <= Fraction(stated["h"]) + TOLERANCE
            case "k":
                assert found.k >= stated["k"]
            case "pid_k":
                assert found.pid_k >= stated["k"]
            case "l":
                assert min(found.l[name] for name in columns) >= stated["l"]
            case "shared_counts":
                assert found.count_k >= stated["m"]
            case "marketer":
                assert found.marketer <= Fraction(stated["tau"]) + TOLERANCE
    risk = release.risk
    assert (risk.records, risk.persons, risk.classes) == (
        found.records, found.persons, found.classes,
    )  # fmt: skip
    assert (risk.k, risk.pid_k) == (found.k, found.pid_k)
    assert risk.sample_uniques == found.sample_uniques
    assert risk.count_k == found.count_k
    for name in ("exposed_persons", "max_count_risk", "avg_count_risk"):
        assert float(getattr(risk, name)) == pytest.approx(float(getattr(found, name)))
    assert float(risk.g_balance) == pytest.approx(float(found.g))
    assert float(risk.max_gidr) == pytest.approx(float(found.max_gidr))
    assert float(risk.avg_gidr) == pytest.approx(float(found.avg_gidr))
    assert float(risk.marketer) == pytest.approx(float(found.marketer))
    for name in ("illness", "drug"):
        own = risk.sensitive[name]
        assert float(own.h_affiliation) == pytest.approx(float(found.h[name]))
        assert float(own.avg_gsar) == pytest.approx(float(found.avg_gsar[name]))
        assert own.l_distinct == found.l[name]


@pytest.mark.slow
@given(files(), st.sampled_from(["range", "set", "hierarchy"]))
def test_released_cells_contain_the_originals(table, values):
    release = sf.anonymize(table, SCHEMA, sf.KAnonymity(2), values=values, keep_order=True)
    for before, after in zip(table.to_pylist(), release.data.to_pylist(), strict=True):
        for name, kind in zip(QUASI, (Kind.NUMERIC, Kind.ORDERED, Kind.CATEGORICAL), strict=True):
            original = None if before[name] is None else str(before[name])
            labels = {"age": None, "level": set(ORDER), "city": set("abc")}[name]
            released = parse_released(after[name], kind, labels)
            assert contains(released, original, kind, order=ORDER)
        assert [before[name] for name in ("illness", "drug", "note")] == [
            after[name] for name in ("illness", "drug", "note")
        ]


@pytest.mark.slow
@pytest.mark.parametrize("cut", ["median", "search"])
@given(seed=st.integers(0, 2**32 - 1))
def test_row_order_and_names_of_persons_change_nothing_without_ties(cut, seed):
    """Ages are all different and nothing else can be cut, so no two persons tie."""
    rng = np.random.default_rng(seed)
    persons = int(rng.integers(4, 40))
    person = np.repeat(np.arange(persons), rng.integers(1, 5, persons))
    table = pa.table(
        {
            "who": person,
            "age": rng.permutation(10_000)[:persons][person],
            "level": ["low"] * len(person),
            "city": ["a"] * len(person),
            "illness": rng.choice(list("uvwxyz"), len(person)),
            "drug": rng.choice(list("pqrst"), len(person)),
            "note": np.arange(len(person)),
        }
    )
    other = table.take(pa.array(rng.permutation(len(person))))
    names = rng.permutation(persons)[other["who"].to_numpy()]
    other = other.set_column(0, "who", pa.array(names))
    cells = [
        {row["note"]: row["age"] for row in release.data.to_pylist()}
        for release in (
            sf.anonymize(each, SCHEMA, sf.PidKAnonymity(2), cut=cut) for each in (table, other)
        )
    ]
    assert cells[0] == cells[1]


def test_worked_example_is_table_6b():
    """Paper 003, Table 6b (page 12): the released groups, cell by cell."""
    table, schema = worked_example()
    release = sf.anonymize(
        table, schema, sf.GBalance(0.5), sf.HAffiliation(0.5), cut="median", ends="tight", seed=1
    )
    groups = {}
    for row in release.data.to_pylist():
        key = (row["age"], row["gender"], row["zip"])
        groups.setdefault(key, []).append(row["disease"])
    assert {key: sorted(group) for key, group in groups.items()} == {
        ("84-86", "Female", "20090-20375"): ["Asthma", "Gastritis", "Reflux", "Ulcer"],
        ("78-85", "Male", "20090-20420"): [
            "Gastritis", "Pneumonia", "Pneumonia", "Reflux", "Ulcer",
        ],
        ("69-76", "Male", "20048-20400"): [
            "Asthma", "Asthma", "Bronchitis", "Gastritis", "Gastritis",
            "Pneumonia", "Pneumonia", "Pneumonia", "Ulcer", "Ulcer",
        ],
    }  # fmt: skip
    assert "admission_no" not in release.data.column_names
    assert set(table["name"].to_pylist()).isdisjoint(release.data["name"].to_pylist())


def test_values_bounds_means_and_sets():
    table, schema = worked_example()
    promises = (sf.GBalance(0.5), sf.HAffiliation(0.5))
    made = partial(sf.anonymize, table, schema, *promises, cut="median")
    bounds = made(values="bounds", ends="tight").data
    assert set(zip(bounds["age_low"].to_pylist(), bounds["age_high"].to_pylist(), strict=True)) == {
        (84, 86), (78, 85), (69, 76),
    }  # fmt: skip
    means = made(values="mean").data
    assert set(means["age"].to_pylist()) == {85.0, 81.8, 72.7}
    sets = made(values="set", ends="tight").data
    assert set(sets["zip"].to_pylist()) == {
        "{20090, 20375}", "{20090, 20375, 20400, 20420}", "{20048, 20400}",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "cut"),
    [
        ({}, "search"),
        ({"split": "balance"}, "search"),
        ({"cut": "search"}, "search"),
        ({"cut": "median"}, "median"),
        ({"split": "variance"}, "median"),
        ({"split": "range"}, "median"),
        ({"recoding": "full-domain"}, None),
        ({"recoding": "full-domain", "split": "range"}, None),
        ({"recoding": "full-domain", "cut": "median"}, "median"),
    ],
)
def test_the_cut_when_nobody_says_it(asked, cut, tmp_path):
    options = Options(**asked)
    assert options.cut == cut
    assert options.to_dict().get("cut") == cut
    assert Options(**options.to_dict()) == options
    table, schema = worked_example()
    release = sf.anonymize(table, schema, sf.KAnonymity(3), **asked, seed=1)
    release.manifest.write(tmp_path / "release.toml")
    made = load_manifest(tmp_path / "release.toml").options
    assert made == replace(options, ends=made.ends)


def test_the_search_is_the_default_and_a_split_is_the_papers_tree():
    clinics = generate_clinics(120, rng=1)

    def release(**cuts):
        return sf.anonymize(
            clinics.visits, clinics.schema, sf.GBalance(0.8), **cuts, seed=1, secret=SECRET
        )

    usual, search, median = release(), release(cut="search"), release(cut="median")
    assert usual.data.equals(search.data)
    assert usual.utility.ane < median.utility.ane
    split, both = release(split="variance"), release(split="variance", cut="median")
    assert split.data.equals(both.data)
    assert not split.data.equals(usual.data)


def test_full_domain_recoding_cuts_nothing():
    table, schema = worked_example()
    made = {"recoding": "full-domain", "seed": 1, "keep_order": True, "pseudonym_key": SECRET}
    plain, with_cut = (
        sf.anonymize(table, schema, sf.KAnonymity(3), **made, **cut)
        for cut in ({}, {"cut": "median"})
    )
    assert plain.data.equals(with_cut.data)


def test_seed_and_secret_repeat_the_release_and_order_is_shuffled():
    table, schema = worked_example()
    one, two, other = (
        sf.anonymize(table, schema, sf.KAnonymity(2), seed=7, secret=secret).data
        for secret in (SECRET, SECRET, b"o" * 32)
    )
    assert one.equals(two)
    assert not one.equals(other)
    kept = sf.anonymize(table, schema, sf.KAnonymity(2), seed=7, keep_order=True).data
    assert kept["disease"].to_pylist() == table["disease"].to_pylist()
    assert one["disease"].to_pylist() != table["disease"].to_pylist()


def test_keyed_pseudonyms_stay_and_random_ones_do_not():
    table, schema = worked_example()
    key = b"0123456789abcdef0123456789abcdef"
    keyed = [
        sf.anonymize(table, schema, sf.KAnonymity(2), pseudonym_key=key, keep_order=True).data
        for _ in range(2)
    ]
    assert keyed[0]["name"].to_pylist() == keyed[1]["name"].to_pylist()
    free = [sf.anonymize(table, schema, sf.KAnonymity(2), keep_order=True).data for _ in range(2)]
    assert set(free[0]["name"].to_pylist()).isdisjoint(free[1]["name"].to_pylist())
    with pytest.raises(InputError, match="16 bytes"):
        sf.anonymize(table, schema, sf.KAnonymity(2), pseudonym_key=b"short")


def test_what_cannot_be_met_says_what_would_help():
    """Ashley to Harry reach g = 0.82; capped at 3 records each they reach 0.853."""
    table, schema = worked_example()
    with pytest.raises(ConstraintsNotMetError) as raised:
        sf.anonymize(table, schema, sf.GBalance(0.85))
    assert "0.8199" in str(raised.value)
    assert [option.split(":")[0] for option in raised.value.options] == [
        "cap the records of a person at 3 (cap_records=3)",
    ]
    capped = sf.anonymize(table, schema, sf.GBalance(0.85), cap_records=3)
    assert capped.risk.records == 15
    assert capped.utility.suppressed_records == 4
    with pytest.raises(ConstraintsNotMetError, match=r"'disease' has 0\.375"):
        sf.anonymize(table, schema, sf.HAffiliation(0.3))


def test_suppression_within_its_limit():
    people = ["heavy"] * 30 + [f"p{each}" for each in range(40)]
    table = pa.table({"id": people, "age": list(range(70)), "ill": ["a", "b"] * 35})
    schema = sf.Schema(person="id", quasi_identifiers={"age": "numeric"}, sensitive="ill")
    with pytest.raises(ConstraintsNotMetError) as raised:
        sf.anonymize(table, schema, sf.GBalance(0.9))
    assert any("suppress 1 person (suppress=0.0244)" in each for each in raised.value.options)
    release = sf.anonymize(table, schema, sf.GBalance(0.9), suppress=0.05)
    assert (release.risk.persons, release.risk.records) == (40, 40)
    assert release.utility.suppressed_persons == 1
    with pytest.raises(ConstraintsNotMetError):
        sf.anonymize(table, schema, sf.GBalance(0.9), suppress=0.01)


@pytest.mark.parametrize(
    "make",
    [
        lambda: sf.GBalance(1.0),
        lambda: sf.GBalance(-0.1),
        lambda: sf.GBalance("0.5"),
        sf.GBalance,
        lambda: sf.GBalance(0.5, k=2),
        lambda: sf.GBalance(k=0),
        lambda: sf.GBalance(float("nan")),
        lambda: sf.HAffiliation(0),
        lambda: sf.HAffiliation(1.5),
        lambda: sf.HAffiliation(l=0),
        lambda: sf.KAnonymity(0),
        lambda: sf.KAnonymity(2.5),
        lambda: sf.KAnonymity(True),
        lambda: sf.PidKAnonymity("2"),
        lambda: sf.LDiversity(-1),
        lambda: sf.MarketerRisk(0),
        lambda: sf.SharedCounts(0),
        lambda: sf.SharedCounts(1.5),
    ],
)
def test_parameters_out_of_range(make):
    with pytest.raises(InputError, match="parameter"):
        make()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split": "widest"}, "parameter split.*balance, variance, range"),
        ({"cut": "mode"}, "parameter cut.*median"),
        ({"values": "median"}, "parameter values"),
        ({"cap_records": 0}, "parameter cap_records"),
        ({"suppress": 1}, "parameter suppress"),
        ({"threshold": 0}, "parameter threshold"),
        ({"seed": -1}, "parameter seed"),
        ({"seed": 1.5}, "parameter seed"),
        ({"cut": "search", "split": "range"}, "parameter split.*search"),
        ({"cut": "search", "recoding": "full-domain"}, "parameter recoding.*search"),
    ],
)
def test_options_out_of_range(options, message):
    table, schema = worked_example()
    with pytest.raises(InputError, match=message):
        sf.anonymize(table, schema, sf.KAnonymity(2), **options)


@pytest.mark.parametrize("schema", ["schema.toml", {"person": "p"}, None])
def test_what_is_no_schema(schema):
    table, _ = worked_example()
    for call in (sf.assess, lambda *data: sf.anonymize(*data, sf.KAnonymity(2))):
        with pytest.raises(InputError, match=r"schema must be a Schema; found .*load_schema"):
            call(table, schema)


def test_promises_that_do_not_fit_the_schema():
    table, schema = worked_example()
    with pytest.raises(InputError, match="at least one promise"):
        sf.anonymize(table, schema)
    with pytest.raises(InputError, match="protocol of promises"):
        sf.anonymize(table, schema, 0.5)
    with pytest.raises(InputError, match="protocol of promises; found the class GBalance"):
        sf.anonymize(table, schema, sf.GBalance)
    with pytest.raises(InputError, match="must name a sensitive attribute"):
        sf.anonymize(table, schema, sf.HAffiliation(0.5, attribute="zip"))
    plain = schema.model_copy(update={"sensitive": ()})
    with pytest.raises(InputError, match="needs a sensitive attribute"):
        sf.anonymize(table, plain, sf.LDiversity(2))


def test_nobody_holds_the_persons_while_they_are_divided(monkeypatch):
    def divided(table, owned, *_):
        persons = weakref.ref(owned.pop())
        assert persons() is None
        raise InterruptedError

    monkeypatch.setattr("sfumato.release.partitioning._partition", divided)
    with pytest.raises(InterruptedError):
        sf.anonymize(*worked_example(), sf.PidKAnonymity(2))


def test_withheld_columns_leave_classes_and_promises_as_they_are() -> None:
    visits = generate_clinics(150, rng=3).visits.select(["patient", "age", "sex", "icd9"])
    schema = sf.Schema(
        person="patient",
        quasi_identifiers={"age": "numeric", "sex": "categorical"},
        sensitive=["icd9"],
    )
    asked = (sf.GBalance(0.9), sf.HAffiliation(0.7))
    whole = sf.anonymize(visits, schema, *asked, seed=1, keep_order=True)
    kept = {"keep_order": True, "withhold": ("patient", "icd9")}
    less = sf.anonymize(visits, schema, *asked, seed=1, **kept)
    assert less.table.equals(whole.table.drop_columns(["patient", "icd9"]))
    assert less.risk.classes == whole.risk.classes
    assert less.records_per_person() is None
    with pytest.raises(InputError, match="sensitive or insensitive columns, or that of people"):
        sf.anonymize(visits, schema, *asked, withhold=("age",))
