"""What may stand in any column, or in its header, and files with next to nothing."""

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from few_cases import fast_first
from linkage.census_files import across, recorded, table, town

from sfumato.core.errors import NothingToLinkError
from sfumato.linkage.link import link
from sfumato.linkage.link_spec import LinkSpec, sql_name
from sfumato.linkage.spec_suggestion import suggest_links
from sfumato.linkage.standardisation import _without_defaults

pytestmark = pytest.mark.usefixtures("few_random_pairs")

COLUMNS = [
    "first_name", "date_of_birth", "sex", "street_number", "last_name", "street_name",
    "middle_initial",
]  # fmt: skip
FAST = 2


@pytest.fixture(scope="module")
def files():
    """Two files of 250 people, most of them in both, and whose each record is."""
    rng = np.random.default_rng(21)
    person, rows, made = town(250, rng), [], []
    for _ in range(2):
        rows.append(rng.permutation(np.flatnonzero(rng.random(250) < 0.85)))
        made.append(recorded(person, rows[-1], rng))
    return made, rows


def changed(columns, name, values):
    """The columns with another one in the place of one of them."""
    return {n: values if n == name else own for n, own in columns.items()}


def linked(made, rows):
    """Links of two tables, with precision and recall across them."""
    tables = {name: each if isinstance(each, pa.Table) else table(each) for name, each in
              zip("ab", made, strict=True)}  # fmt: skip
    links = link(tables, seed=1)
    return links, across(links.settled.persons.person, np.concatenate(rows), len(rows[0]))


@pytest.mark.parametrize("name", fast_first(FAST, COLUMNS))
def test_a_header_may_begin_with_a_digit(files, name):
    made, rows = files
    again = [{f"1st {n}" if n == name else n: own for n, own in each.items()} for each in made]
    links, found = linked(again, rows)
    assert min(found) > 0.97
    assert sql_name(f"1st {name}") in map(sql_name, links.spec.columns)


@pytest.mark.parametrize("word", ["NA", "?", "unknown"])
@pytest.mark.parametrize("name", COLUMNS)
def test_a_third_without_a_value_leaves_a_column_what_it_is(files, name, word):
    made, _ = files
    rng, tables = np.random.default_rng(3), {}
    for source, each in zip("ab", made, strict=True):
        gaps = rng.random(len(each[name])) < 0.35
        tables[source] = table(changed(each, name, np.where(gaps, word, each[name])))
    spec = suggest_links(tables).spec
    whole = suggest_links({"a": table(made[0]), "b": table(made[1])}).spec
    assert spec.columns[name].kind == whole.columns[name].kind
    assert spec.missing == (word,)


@pytest.mark.parametrize("share", fast_first(1, [0.5, 1.0]))
def test_dates_that_stand_for_unknown_ones_are_missing(files, share):
    """Three of them; where there are no others the column says nothing and is left out."""
    made, rows = files
    rng, worse = np.random.default_rng(4), []
    for each in made:
        dates = each["date_of_birth"].copy()
        hit = np.flatnonzero(rng.random(len(dates)) < share)
        dates[hit] = rng.choice(["1900-01-01", "1970-01-01", "1980-01-01"], len(hit))
        worse.append(changed(each, "date_of_birth", dates))
    links, found = linked(worse, rows)
    assert min(found) > 0.97
    compared = share < 1
    assert ("date_of_birth" in links.spec.columns) is compared
    assert any("date_of_birth" in each for each in links.model.notes) is compared


@pytest.mark.parametrize(
    "days",
    [
        [f"2026-03-{day:02d}" for day in range(1, 15)],
        [f"{year}-01-01" for year in range(1950, 1962)],
    ],
    ids=["a fortnight", "years alone"],
)
def test_dates_that_many_people_have_are_no_defaults(days):
    """Children of a fortnight, and people of whom the year is known: no day stands out."""
    rng = np.random.default_rng(6)
    columns = {
        "surname": [f"name {each}" for each in range(2_000)],
        "date_of_birth": rng.choice(days, 2_000),
    }
    spec = LinkSpec.model_validate(
        {
            "blocking": [["surname"]],
            "columns": {"surname": {"kind": "surname"}, "date_of_birth": {"kind": "date"}},
        }
    )
    with duckdb.connect() as connection:
        connection.register("people", pa.table(columns))
        connection.execute("CREATE TABLE t AS SELECT * FROM people")
        assert _without_defaults(connection, ["t"], spec, "date_of_birth") == 0
        connection.execute("UPDATE t SET date_of_birth = '1900-01-01' WHERE random() < 0.3")
        more = "UPDATE t SET date_of_birth = CAST(DATE '1950-01-01' + CAST(rowid AS INT) AS TEXT) "
        connection.execute(f"{more} WHERE date_of_birth <> '1900-01-01'")
        assert _without_defaults(connection, ["t"], spec, "date_of_birth") > 500


@pytest.mark.parametrize("first", [True, False])
def test_one_record_is_looked_up_in_a_register(files, first):
    """The commonest live case, whichever of the tables comes first."""
    made, rows = files
    both = np.flatnonzero(np.isin(rows[0], rows[1]))
    full = [i for i in both if all(own[i] is not None for own in made[0].values())][:3]
    for row in full:
        one = {name: own[[row]] for name, own in made[0].items()}
        sides = [one, made[1]], [rows[0][[row]], rows[1]]
        given, of = sides if first else (each[::-1] for each in sides)
        _, found = linked(given, of)
        assert found == (1.0, 1.0)


@pytest.mark.parametrize("common", [["temperature", "station"], ["colour", "country"]])
def test_files_that_say_nothing_about_people_are_not_linked(common):
    rng = np.random.default_rng(5)
    columns = {
        "temperature": rng.normal(20, 5, 300).round(1).astype(str),
        "station": rng.choice(["A", "B", "C"], 300),
        "colour": rng.choice(["red", "blue"], 300),
        "country": rng.choice(["FR", "DE"], 300),
    }
    one = pa.table({name: columns[name] for name in common})
    with pytest.raises(NothingToLinkError, match="who people are") as error:
        link({"a": one, "b": one}, seed=1)
    assert "rename" in error.value.advice


def test_nobody_in_common_has_no_precision(files):
    made, rows = files
    alone = np.flatnonzero(~np.isin(rows[1], rows[0]))
    other = {name: own[alone] for name, own in made[1].items()}
    links = link({"a": table(made[0]), "b": table(other)}, seed=1)
    assert not links.found_any
    said = links.to_json()["persons"]["precision"]
    assert (said["value"], said["low"], said["high"]) == (None, 0.0, 1.0)
    assert "No two records" in links.warnings[0]
    assert "unknown" in str(links)
