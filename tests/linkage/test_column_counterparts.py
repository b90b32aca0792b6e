"""Columns that mean the same: found by what they hold, under headers that say nothing."""

import numpy as np
import pyarrow as pa
import pytest
from few_cases import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from linkage import census_files

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.linkage.column_counterparts import Column, Content, Form, counterparts, date_parts
from sfumato.linkage.column_meanings import take_sample
from sfumato.linkage.compared_columns import find_columns
from sfumato.linkage.link_spec import LinkSpec
from sfumato.table.table_files import open_source

OTHER = {
    "given_name": "Vorname", "surname": "apellidos", "birth": "fecha_nac", "postcode": "CAP",
    "street": "rue", "sex": "kön", "phone": "puhelin", "visit": "besuch",
}  # fmt: skip
SYLLABLES = [a + b for a in "bdfgklmnprst" for b in ("a", "e", "i", "o", "u", "an", "er", "is")]


def words(rng, count, syllables):
    chosen = rng.choice(SYLLABLES, (count, syllables))
    return np.array(["".join(each).title() for each in chosen])


def register(count, shared, seed):
    """Two tables of persons, a share of them in both: columns under one name, not in one order."""
    rng = np.random.default_rng(seed)
    firsts, lasts = words(rng, 150, 2), words(rng, 600, 3)
    streets = words(rng, 200, 4)
    postcodes = rng.choice(np.arange(1000, 9999), 300, replace=False).astype(str)
    persons = 2 * count - round(shared * count)
    zipf = 1 / np.arange(1, 151)
    of_sex = rng.integers(0, 2, persons)
    columns = {
        "given_name": firsts[rng.choice(150, persons, p=zipf / zipf.sum())],
        "surname": lasts[rng.integers(0, 600, persons)],
        "birth": (np.datetime64("1925-01-01") + rng.integers(0, 32_000, persons)).astype(str),
        "visit": (np.datetime64("2021-01-01") + rng.integers(0, 900, persons)).astype(str),
        "postcode": postcodes[rng.integers(0, 300, persons)],
        "street": np.array(
            [f"{s} {n}" for s, n in zip(rng.choice(streets, persons), rng.integers(1, 90, persons),
                                        strict=True)]
        ),
        "sex": np.array(["m", "f"])[of_sex],
        "phone": rng.integers(6 * 10**8, 8 * 10**8, persons).astype(str),
    }  # fmt: skip
    one = {name: values[:count].astype(object) for name, values in columns.items()}
    two = {name: values[persons - count :].astype(object) for name, values in columns.items()}
    return one, two


def renamed(table, headers):
    return pa.table({headers[name]: list(values) for name, values in table.items()})


def meanings(one, two):
    """What is found in two tables, and the headers of each column in both."""
    samples = {
        name: take_sample(open_source(table), table.column_names)
        for name, table in (("a", one), ("b", two))
    }
    made = find_columns(samples, None, sources_needed=2)
    return {(each.headers["a"], each.headers["b"]) for each in made.found}, made.questions


@settings(max_examples=examples(4), deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.1, 0.5, 1.0]), st.booleans())
def test_counterparts_are_found_under_any_headers(seed, shared, translated):
    one, two = register(1000, shared, seed)
    rng = np.random.default_rng(seed + 1)
    order = list(rng.permutation(list(two)))
    two = {name: two[name] for name in order}
    headers = OTHER if translated else {name: f"x{i}" for i, name in enumerate(order, 1)}
    found, questions = meanings(renamed(one, {n: n for n in one}), renamed(two, headers))
    assert found == {((name,), (headers[name],)) for name in one if name != "visit"}
    assert any("'visit' of a" in question for question in questions)
    left, right = (
        {n: f"{side}{i}" for i, n in enumerate(t)} for side, t in zip("lr", (one, two), strict=True)
    )
    found, _ = meanings(renamed(one, left), renamed(two, right))
    assert found == {((left[name],), (right[name],)) for name in one if name != "visit"}


def test_other_columns_are_no_counterparts():
    one, two = register(800, 0.3, 4)
    left = [Column((f"l_{n}",), None, Content(pa.chunked_array([list(v)]))) for n, v in one.items()]
    right = [
        Column((f"r_{n}",), None, Content(pa.chunked_array([list(v)]))) for n, v in two.items()
    ]
    names = list(one)
    for gone in names:
        mine = [each for each, name in zip(left, names, strict=True) if name != gone]
        found = counterparts(mine, right)
        for i, j in found.pairs + found.doubtful:
            assert mine[i].headers[0][2:] == right[j].headers[0][2:]
    ids = Column(
        ("id",), None, Content(pa.chunked_array([[str(10**8 + 7 * i) for i in range(800)]]))
    )
    assert counterparts([ids], right).pairs == ()


def split(table):
    year, month, day = (np.array(each, dtype=object) for each in zip(
        *(text.split("-") for text in table["birth"]), strict=True))  # fmt: skip
    made = {"yy": year.astype(int), "mm": month.astype(int), "dd": day.astype(int)}
    return {n: v for n, v in table.items() if n != "birth"} | made


@pytest.mark.slow
def test_parts_of_a_date_and_of_a_name_are_one_column():
    one, two = register(800, 0.6, 8)
    one["who"] = one.pop("surname") + ", " + one.pop("given_name")
    two = split(two)
    two["given_name"][:9] = two["surname"][4:12] = None
    a = pa.table({f"p{i}": list(v) for i, v in enumerate(one.values())})
    b = pa.table({f"q{i}": list(v) for i, v in enumerate(two.values())})
    place = {name: f"q{i}" for i, name in enumerate(two)}
    made = sf.suggest_links({"a": a, "b": b})
    joined = {v for v in made.spec.rename["b"].values() if not isinstance(v, str)}
    assert joined == {
        (place["given_name"], place["surname"]),
        (place["yy"], place["mm"], place["dd"]),
    }
    persons = sf.link({"a": a, "b": b}, made, seed=1).persons["person"].to_pylist()
    assert sum(persons[320 + i] == persons[800 + i] for i in range(480)) > 470
    turned = sf.suggest_links({"b": b, "a": a})
    assert {v for v in turned.spec.rename["b"].values() if not isinstance(v, str)} == joined
    assert LinkSpec.model_validate(made.spec.model_dump()) == made.spec


def test_dates_in_parts_are_days_of_the_calendar():
    days = np.datetime64("1950-01-01") + np.arange(0, 20_000, 17)
    texts = [text.split("-") for text in days.astype(str)]
    year, month, day = (pa.chunked_array([list(each)]) for each in zip(*texts, strict=True))
    shuffled = pa.chunked_array([np.random.default_rng(1).permutation(day.to_pylist()).tolist()])
    assert date_parts([Content(day), Content(month), Content(year)]) == [(2, 1, 0)]
    assert date_parts([Content(month), Content(year)]) == []
    ends = pa.chunked_array([["31"] * 600 + shuffled.to_pylist()[600:]])
    assert date_parts([Content(ends), Content(month), Content(year)]) == []


@pytest.mark.parametrize(
    ("form", "texts"),
    [
        (Form.DATE, "1980-02-03|03.04.1981|4 Mar 1980|19800304"),
        (Form.NUMBER, "1|20|003|4.0"),
        (Form.MEASURE, "1.5|20,25|3"),
        (Form.LETTERS, "Anna|O'Neil|Müller-Lüdenscheidt"),
        (Form.MIXED, "12 High Street|AB1 2CD|1/2"),
        (Form.EMAIL, "a@b.org|c@d.net"),
        (Form.EMPTY, ""),
    ],
)
def test_forms(form, texts):
    values = [text or None for text in texts.split("|")]
    assert Content(pa.chunked_array([pa.array(values, pa.large_string())])).form is form


def test_a_column_without_a_counterpart_is_named_with_its_cure():
    one, two = register(500, 0.5, 3)
    two["sex"] = np.where(two["sex"] == "m", "1", "2").astype(object)
    made = sf.suggest_links({"a": renamed(one, {n: n for n in one}),
                             "b": renamed(two, {n: n for n in two})})  # fmt: skip
    assert "sex" not in made.spec.columns
    assert "'sex' of a" in made.notes[""]
    assert "[recipe]" in made.notes[""]
    assert "[rename.b]" in made.notes[""]
    assert not any(value in made.notes[""] for value in one["surname"])
    assert made.text.startswith("# ")


@pytest.mark.parametrize(
    ("rename", "said"),
    [
        ({"a": {"dob": ["y", "m"]}}, "year, month and day"),
        ({"a": {"name": ["n", "n"]}}, "several that differ"),
        ({"a": {"sex": ["s", "t"]}}, "one header"),
    ],
)
def test_several_headers_are_for_what_can_be_joined(rename, said):
    columns = {"dob": "date", "name": "full name", "sex": "category"}
    with pytest.raises(InputError, match=said):
        LinkSpec(columns=columns, blocking=["dob"], rename=rename)


def test_two_columns_that_say_the_same_do_not_make_each_other_doubtful():
    one, two = register(800, 0.5, 6)
    for table in (one, two):
        table["line"] = np.array([each.replace(" ", ", ").upper() for each in table["street"]])
    headers = {name: f"x{i}" for i, name in enumerate(two)}
    found, questions = meanings(renamed(one, {n: n for n in one}), renamed(two, headers))
    ours, theirs = zip(*((a[0], b[0]) for a, b in found), strict=True)
    assert {"street", "line"} & set(ours)
    assert {headers["street"], headers["line"]} & set(theirs)
    assert not any("as much alike" in each for each in questions)


def test_what_a_recipe_makes_of_columns_is_compared_in_their_place():
    one, two = register(800, 0.5, 8)
    table = renamed(one, {n: n for n in one})
    year, month, day = zip(*(each.split("-") for each in one["birth"]), strict=True)
    parts = {"y": year, "m": month, "d": day}
    table = table.drop_columns(["birth"])
    for name, values in parts.items():
        table = table.append_column(name, pa.array([str(int(each)) for each in values]))
    schema = sf.Schema(
        quasi_identifiers=["geboren", "birth"],
        sensitive=["性别"],
        recipe={"geboren": {"parts": ["y", "m", "d"]}},
    )
    chinese = {"given_name": "名", "surname": "姓", "sex": "性别"}
    other = renamed(two, {name: chinese.get(name, name) for name in two})
    spec = sf.suggest_links({"a": table, "b": other}, schema).spec
    assert spec.rename["b"]["geboren"] == "birth"
    assert {spec.rename["b"][each] for each in ("given_name", "surname")} == {"名", "姓"}
    assert "性别" not in spec.rename["b"].values()
    assert not set(parts) & set(spec.columns)


def test_a_column_that_is_no_date_leaves_no_header_behind():
    one, two = register(800, 0.5, 9)
    one["birthday"], two["bday"] = one["street"], two["street"]
    tables = [renamed({n: v for n, v in t.items() if n != "street"}, {n: n for n in t})
              for t in (one, two)]  # fmt: skip
    spec = sf.suggest_links(dict(zip("ab", tables, strict=True))).spec
    assert "birthday" not in spec.columns
    assert "bday" not in spec.rename.get("b", {}).values()


def paired(one, two):
    """The columns that are compared, each with its headers in both tables."""
    named = {"a": pa.table(one), "b": pa.table(two)}
    samples = {n: take_sample(open_source(t), t.column_names) for n, t in named.items()}
    meanings = find_columns(samples, None, sources_needed=2)
    return [each.headers for each in meanings.found], meanings.questions


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [("gender", "occupation"), ("state", "ethnicity"), ("town", "road"), ("house_no", "unit_no")],
)
def test_leftovers_of_one_kind_are_no_counterparts(mine, theirs):
    """Headers of one kind, and nothing in common: that no others are left is no reason."""
    rng = np.random.default_rng(2)
    one, two = register(200, 0.5, 3)
    one = {"given_name": one["given_name"], "surname": one["surname"], mine: words(rng, 200, 2)}
    two = {"given_name": two["given_name"], "surname": two["surname"], theirs: words(rng, 200, 3)}
    found, questions = paired(one, two)
    assert len(found) == 2
    assert all(any(header in each for each in questions) for header in (mine, theirs))


def test_leftovers_whose_headers_share_a_word_are_counterparts():
    rng = np.random.default_rng(2)
    one, two = register(60, 0.5, 3)
    one = {"surname": one["surname"], "street_name": words(rng, 60, 4)}
    two = {"surname": two["surname"], "mailing_street": words(rng, 60, 4)}
    found, _ = paired(one, two)
    assert {"a": ("street_name",), "b": ("mailing_street",)} in found


def test_one_column_under_two_headers_in_three_sources():
    """The third source calls two columns otherwise than the other two."""
    rng = np.random.default_rng(41)
    person, tables = census_files.town(600, rng), {}
    for name in "abc":
        made = census_files.recorded(person, np.flatnonzero(rng.random(600) < 0.7), rng)
        if name == "c":
            made["family_name"], made["born"] = made.pop("last_name"), made.pop("date_of_birth")
        tables[name] = census_files.table(made)
    spec = sf.suggest_links(tables).spec
    assert set(spec.columns) == set(person)
    renamed = {source: dict(names) for source, names in spec.rename.items()}
    assert renamed == {"c": {"last_name": "family_name", "date_of_birth": "born"}}


def test_a_birth_year_beside_codes_is_no_date():
    """Codes of relation and region lie from 1 to 12 and from 1 to 31, too; some are frequent."""
    rng = np.random.default_rng(6)
    skewed = 1 / np.arange(1, 32)
    year = Content(numbers(rng.integers(1930, 2010, 400)))
    relation = Content(numbers(1 + rng.choice(12, 400, p=skewed[:12] / skewed[:12].sum())))
    region = Content(numbers(1 + rng.choice(28, 400, p=skewed[:28] / skewed[:28].sum())))
    month, day = (Content(numbers(rng.integers(1, n, 400))) for n in (13, 29))
    headers = ("birth_year", "relation", "region")
    assert date_parts([year, relation, region], headers) == []
    assert date_parts([year, month, day], headers) == [(0, 1, 2)]
    # A file in which unknown days are the first of January: its headers say what they are.
    assert date_parts([year, relation, region], ("birth_year", "birth_month", "birth_day")) == [
        (0, 1, 2)
    ]


def numbers(values):
    return pa.chunked_array([pa.array(map(str, values.tolist()))])
