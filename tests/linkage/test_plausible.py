"""A model that takes a household for a person is stopped; one that tells persons apart is not."""

import re
from itertools import combinations
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from few_cases import fast_first
from hypothesis import given
from hypothesis import strategies as st
from linkage.linked_tables import households, two_clinics

from sfumato.core.errors import InputError
from sfumato.linkage.comparison_levels import date_levels, given_name_levels
from sfumato.linkage.link import link
from sfumato.linkage.link_model import OTHER_PERSON, implied_and_allowed
from sfumato.linkage.link_sources import open_sources
from sfumato.linkage.link_spec import ColumnKind, LinkSpec
from sfumato.linkage.linkage_quality import quality_of_pairs
from sfumato.linkage.match_thresholds import MATCH, Pairs, Records
from sfumato.linkage.model_fit import fit_and_score

pytestmark = pytest.mark.usefixtures("few_random_pairs")


COLUMNS = {
    "given_name": "given name",
    "surname": "surname",
    "birth_date": "date",
    "street": "address",
    "house_number": "number",
    "postcode": "postcode",
    "phone": "phone",
}
BLOCKING = [
    "surname + postcode",
    "given_name + birth_date:year",
    "street + house_number",
    "birth_date",
    "phone",
]
OF_A_HOUSEHOLD = {"street", "house_number", "postcode", "phone"}


def spec_without(*names, **fields):
    """A specification that neither compares nor blocks on some columns."""
    return LinkSpec(
        columns={name: kind for name, kind in COLUMNS.items() if name not in names},
        blocking=[rule for rule in BLOCKING if not any(name in rule for name in names)],
        **fields,
    )


def blocked_on_address(columns, blocking):
    """What a household shares brings records together, and is not compared."""
    shared = OF_A_HOUSEHOLD & columns.keys()
    compared = columns | {name: {"kind": columns[name], "compare": False} for name in shared}
    return LinkSpec(columns=compared, blocking=blocking)


def precision_of(links, truth):
    """Share of true ones among the matches by score."""
    match = links.settled.by_score == MATCH
    return np.mean(truth[links.pairs.left[match]] == truth[links.pairs.right[match]])


def refused(tables, spec, **options):
    """What is said where the linkage is stopped."""
    with pytest.raises(InputError) as error:
        link(tables, spec, seed=1, **options)
    assert error.value.subject == "the linkage model"
    return error.value


@pytest.mark.parametrize("shared", fast_first(1, [1.0, 0.1]))
def test_a_household_is_no_person(shared):
    """What its members share is told from what a person's records do, and both are expected."""
    tables, truth = households(shared=shared)
    links = link(tables, spec_without(), seed=1)
    right = quality_of_pairs(links.settled.persons.person, truth).rates
    assert min(right.precision, right.recall) > 0.97
    said = links.to_json()
    assert said["one_per_source"] == {"declared": [], "found": ["census", "register"]}
    for name, width in (("precision", 0.015), ("recall", 0.03)):
        assert said["persons"][name]["value"] == pytest.approx(getattr(right, name), abs=width)


@pytest.mark.slow
def test_as_many_matches_as_the_records_can_have():
    """Neither first names nor dates of birth say anything: the numbers of matches do."""
    tables, _ = households(shared=0.1)
    said = str(refused(tables, spec_without("given_name", "birth_date")))
    implied, allowed = re.search(r"about ([\d,]+) matches, .* at most ([\d,]+) can", said).groups()
    smaller = min(table.num_rows for table in tables.values())
    assert 3 * int(allowed) < int(implied) < smaller
    assert "is different" not in said


@pytest.mark.parametrize(
    "declared", fast_first(1, [{"one_per_source": ["a"]}, {"mode": "link-and-dedupe"}])
)
def test_a_table_may_have_several_records_of_a_person(declared):
    """Where nobody says so, three visits of each patient are three times too many matches."""
    patients, again = two_clinics(200, 200)
    tables = {"a": patients, "b": pa.concat_tables([again] * 3).drop_columns("id")}
    fields = {"columns": {"surname": "surname", "phone": "phone"}, "blocking": ["phone", "surname"]}
    assert "--dedupe" in refused(tables, LinkSpec(**fields)).advice
    assert len(link(tables, LinkSpec(**fields, **declared), seed=1).pairs) >= 550


@pytest.mark.slow
def test_within_one_table_dates_tell():
    """No number of records of one person is too many there."""
    tables, _ = households()
    both = {"people": pa.concat_tables(tables.values())}
    said = refused(both, spec_without("given_name", mode="dedupe-only"))
    assert said.found.startswith("'birth_date' ")


@pytest.mark.slow
def test_within_one_table_first_names_are_enough():
    tables, truth = households()
    both = {"people": pa.concat_tables(tables.values())}
    links = link(both, spec_without("birth_date", mode="dedupe-only"), seed=1)
    right = quality_of_pairs(links.settled.persons.person, truth).rates
    assert right.precision > 0.98
    assert right.recall > 0.8


@pytest.mark.slow
def test_the_advice_mends_it():
    tables, truth = households()
    links = link(tables, blocked_on_address(COLUMNS, BLOCKING), seed=1)
    assert precision_of(links, truth) > 0.99
    assert links.settled.persons.count == pytest.approx(len(np.unique(truth)), rel=0.03)


@pytest.mark.slow
def test_a_saved_model_is_checked_too(monkeypatch, tmp_path):
    tables, _ = households()
    with monkeypatch.context() as unchecked:
        unchecked.setattr("sfumato.linkage.link_model.check_plausible", lambda *_: None)
        link(tables, spec_without("given_name"), seed=1).write(tmp_path / "before")
    model = tmp_path / "before" / "model.json"
    spec = spec_without("given_name")
    for said in (
        refused(tables, spec, model=model),
        refused(tables, None, previous=tmp_path / "before"),
    ):
        assert "'birth_date' " in said.found


@pytest.mark.slow
def test_splinks_own_settings_are_held_to_the_number_of_matches(monkeypatch, tmp_path):
    tables, _ = households()
    with monkeypatch.context() as unchecked:
        unchecked.setattr("sfumato.linkage.link_model.check_plausible", lambda *_: None)
        with open_sources(tables, spec_without("given_name")) as opened:
            settings = fit_and_score(opened)[1].settings
    implied, allowed = re.findall(r"\d[\d,]*", refused(tables, LinkSpec(splink=settings)).found)[:2]
    assert int(implied.replace(",", "")) > int(allowed.replace(",", ""))


@pytest.mark.slow
def test_missing_first_names_do_not_differ():
    """Only values that both records have are counted."""
    one, other = two_clinics(400, 400)
    names = np.array(other["given_name"].to_pylist(), dtype=object)
    names[np.arange(400) % 10 < 8] = None
    other = other.set_column(other.column_names.index("given_name"), "given_name", pa.array(names))
    spec = LinkSpec(
        id="id",
        columns={"given_name": "given name", "surname": "surname", "dob": "date", "phone": "phone"},
        blocking=["phone", "dob"],
    )
    links = link({"a": one, "b": other}, spec, seed=1)
    match = links.settled.by_score == MATCH
    assert np.mean(links.pairs.left[match] == links.pairs.right[match] - 400) > 0.99


def test_levels_of_another_person_are_the_lowest():
    """Above them are what errors make of a date: swapped parts, one part of three, some days."""
    labels = [level.label for level in date_levels("dob")]
    assert set(labels[5:]) == OTHER_PERSON[ColumnKind.DATE]
    assert "one year" in labels[4]
    assert {given_name_levels("a", "b", formal=True)[-1].label} == (
        OTHER_PERSON[ColumnKind.GIVEN_NAME]
    )


@st.composite
def scored(draw):
    sizes = draw(st.lists(st.integers(0, 4), min_size=1, max_size=3))
    names = tuple("abc"[: len(sizes)])
    records = Records(names, tuple(pa.array(map(str, range(size)), pa.string()) for size in sizes))
    every = list(combinations(range(records.count), 2))
    pairs = draw(st.lists(st.sampled_from(every), unique=True) if every else st.just([]))
    score = draw(st.lists(st.floats(0, 1), min_size=len(pairs), max_size=len(pairs)))
    left, right = (np.array([pair[end] for pair in pairs], dtype=np.int64) for end in (0, 1))
    block = np.zeros(len(pairs), dtype=np.int16)
    limited = draw(st.sets(st.sampled_from(names)))
    return records, Pairs(left, right, np.array(score, dtype=float), {}, block), limited


@given(scored())
def test_what_sources_allow_agrees_with_counting(drawn):
    """Of each two sources: no record has more matches than one in a source without duplicates."""
    records, pairs, limited = drawn
    source = np.repeat(np.arange(len(records.sources)), [len(each) for each in records.ids])
    implied = allowed = most = 0.0
    for one, other in combinations(range(len(records.sources)), 2):
        between = {
            (i, j): p
            for i, j, p in zip(pairs.left, pairs.right, pairs.score, strict=True)
            if (source[i], source[j]) == (one, other)
        }
        bounds = []
        for counted, held in ((one, other), (other, one)):
            if records.sources[held] in limited:
                of = np.flatnonzero(source == counted)
                sums = [sum(p for pair, p in between.items() if i in pair) for i in of]
                bounds.append((sum(min(each, 1.0) for each in sums), len(of)))
        if bounds:
            implied += sum(between.values())
            allowed += min(bound for bound, _ in bounds)
            most += min(size for _, size in bounds)
    found = implied_and_allowed(pairs, records, limited)
    assert found == pytest.approx((implied, allowed, most))


RENAMED = {
    "first_name": "first_name",
    "last_name": "surname",
    "PERNAME1": "first_name",
    "PERNAME2": "surname",
    "SEX": "sex",
    "DOB_DAY": "birth_day",
    "DOB_MON": "birth_month",
    "DOB_YEAR": "birth_year",
    "hse_num": "house_number",
    "ENUMPC": "postcode",
    "str_nam": "street",
}
EURO = {
    "first_name": "given name",
    "surname": "surname",
    "sex": "category",
    "house_number": "number",
    "postcode": "postcode",
    "street": "address",
}
IN_PARTS = {"birth_day": "number", "birth_month": "number", "birth_year": "number"}


@pytest.fixture(scope="module")
def euro(shared_data):
    """Census and register of a quarter of 25,343 persons, in whole households, and who is who."""
    tables, persons = {}, []
    for name in ("census", "population"):
        table = pq.read_table(shared_data / "euro" / f"euro_{name}.parquet")
        homes = (person[:-3].encode() for person in table["PERSON_ID"].to_pylist())
        table = table.filter(pa.array([crc32(home) % 4 == 0 for home in homes]))
        persons += table["PERSON_ID"].to_pylist()
        columns = {new: table[old] for old, new in RENAMED.items() if old in table.column_names}
        parts = (columns[name].to_pylist() for name in ("birth_year", "birth_month", "birth_day"))
        columns["birth_date"] = pa.array(
            "-".join(each) if all(each) else None for each in zip(*parts, strict=True)
        )
        tables[name] = pa.table(columns)
    return tables, np.unique(persons, return_inverse=True)[1]


def of_euro(tables, names):
    return {source: table.select(list(names)) for source, table in tables.items()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("birth", "rule"),
    [
        ({"birth_date": "date"}, "birth_date"),
        (IN_PARTS, None),
    ],
)
def test_european_households_are_told_apart(euro, birth, rule):
    """With all of the address, and by the specification that is proposed."""
    columns = EURO | birth
    blocking = ["surname + postcode", "street + house_number", "first_name + surname:1", rule]
    spec = None if rule is None else LinkSpec(columns=columns, blocking=blocking)
    links = link(of_euro(euro[0], columns), spec, seed=1)
    right = quality_of_pairs(links.settled.persons.person, euro[1]).rates
    assert min(right.precision, right.recall) > 0.98
    told = links.to_json()["persons"]
    assert told["precision"]["value"] == pytest.approx(right.precision, abs=0.015)


@pytest.mark.slow
def test_european_households_are_linked_by_what_tells_persons_apart(euro):
    tables, truth = euro
    columns = EURO | {"birth_date": "date"}
    spec = blocked_on_address(
        columns, ["surname + postcode", "street + house_number", "birth_date"]
    )
    assert precision_of(link(of_euro(tables, columns), spec, seed=1), truth) > 0.99
