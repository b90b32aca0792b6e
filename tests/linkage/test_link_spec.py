"""Specifications: what they refuse, TOML both ways, the language of blocking rules."""

import json
import string
import tomllib

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import InputError
from sfumato.linkage.link_spec import (
    ColumnKind,
    LinkSpec,
    Mode,
    columns_in,
    columns_of_settings,
    dump_link_spec,
    load_link_spec,
    parse_part,
    part_sql,
    spec_of_settings,
    sql_name,
)

COLUMNS = {"surname": "surname", "dob": "date"}

names = st.text(string.ascii_letters + " -é", min_size=1, max_size=8).filter(sql_name)
columns = st.dictionaries(
    names.map(lambda name: f"x{name}"), st.sampled_from(list(ColumnKind)), min_size=1, max_size=5
)


def test_names_of_other_scripts_differ():
    assert sql_name("年龄_2") == "u5e74u9f84_2"
    assert len({sql_name(each) for each in ("姓", "名", "имя", "όνομα", "이름")}) == 5
    assert sql_name(" Größe (cm) ") == "groe_cm"
    assert not sql_name("§ - §")


@st.composite
def specs(draw):
    kinds = draw(columns)
    distinct = {sql_name(name): name for name in kinds}
    kinds = {name: kinds[name] for name in distinct.values() if "_given" not in name}
    rules = draw(st.lists(st.lists(st.sampled_from(list(kinds)), min_size=1), min_size=1))
    return {
        "mode": draw(st.sampled_from(list(Mode))),
        "columns": {name: {"kind": kind} for name, kind in kinds.items()},
        "blocking": rules,
        "missing": draw(st.lists(st.text(max_size=5), max_size=3)),
        "seed": draw(st.integers(0, 2**31 - 1)),
        "rates": draw(st.none() | st.just({"false_match_rate": 0.01, "missed_match_rate": 0.1})),
        "rename": draw(st.just({}) | st.just({"a b": {next(iter(kinds)): "Other 'name'"}})),
    }


@given(specs())
def test_a_specification_survives_toml(fields):
    spec = LinkSpec(**fields)
    text = dump_link_spec(spec, {"blocking 0": "some pairs", next(iter(spec.columns)): "why"})
    assert LinkSpec(**tomllib.loads(text)) == spec


def test_settings_of_splink_survive_toml(tmp_path):
    settings = {"link_type": "link_only", "comparisons": [{"sql": "a'''\"\"\"\\n\n"}]}
    spec = LinkSpec(splink=settings)
    assert LinkSpec(**tomllib.loads(dump_link_spec(spec))) == spec
    (tmp_path / "settings.json").write_text(json.dumps(settings))
    (tmp_path / "spec.toml").write_text('splink = "settings.json"')
    assert load_link_spec(tmp_path / "spec.toml") == spec
    assert load_link_spec(tmp_path / "settings.json").splink == spec.splink
    assert spec_of_settings({"link_type": "dedupe_only"}).mode is Mode.DEDUPE_ONLY


def test_a_rule_may_be_written_with_plus():
    spec = LinkSpec(columns=COLUMNS, blocking=["surname:4 + dob:year", ["dob"]])
    assert spec.blocking == (("surname:4", "dob:year"), ("dob",))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "at least one column"),
        ({"columns": COLUMNS}, "at least one blocking rule"),
        ({"columns": {"surname": "canary"}, "blocking": ["surname"]}, "surname.kind"),
        ({"columns": COLUMNS, "blocking": ["phone"]}, "'phone' is none of the columns"),
        ({"columns": COLUMNS, "blocking": ["surname:year"]}, "cannot be taken of a surname"),
        ({"columns": COLUMNS, "blocking": ["surname:0"]}, "number of characters"),
        ({"columns": COLUMNS, "blocking": ["surname:"]}, "column:what"),
        ({"columns": {"a b": "date", "A-B": "date"}, "blocking": ["a b"]}, "the same as"),
        ({"columns": {"§": "surname"}, "blocking": ["§"]}, "under 'rename'"),
        ({"columns": {"record": "surname"}, "blocking": ["record"]}, "the linkage itself"),
        ({"columns": {"n": "full name", "n_given": "given name"}, "blocking": ["n"]}, "same as"),
        ({"columns": COLUMNS, "blocking": ["dob"], "splink": "{}"}, "takes the place"),
        ({"splink": "canary"}, "settings as JSON"),
        ({"splink": '{"link_type": "dedupe_only"}'}, "'mode' must be the link_type"),
        ({"columns": COLUMNS, "blocking": ["dob"], "id": "dob"}, "named as id"),
        (
            {"columns": COLUMNS, "blocking": ["dob"], "thresholds": {"lower": 1, "upper": 0}},
            "above",
        ),
        ({"columns": {"a": {"kind": "phone", "day_first": True}}, "blocking": ["a"]}, "date"),
    ],
)
def test_what_a_specification_refuses(fields, said):
    with pytest.raises(InputError, match="linkage specification") as caught:
        LinkSpec(**fields)
    assert said in str(caught.value)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("text", ["x = canary", "splink = 'none.json'", b"\xff\xfecanary"])
def test_files_that_cannot_be_read(tmp_path, text):
    path = tmp_path / "spec.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match="specification file") as caught:
        load_link_spec(path)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    ("part", "kind", "value", "expected"),
    [
        ("x:4", ColumnKind.SURNAME, "smithson", "smit"),
        ("x:4", ColumnKind.SURNAME, "li", "li"),
        ("x:-4", ColumnKind.PHONE, "123456789", "6789"),
        ("x:sound", ColumnKind.SURNAME, "robertson", "rbrt"),
        ("x:sound", ColumnKind.SURNAME, "aia", "a"),
        ("x:year", ColumnKind.DATE, "1980-03-04", "1980"),
        ("x:month", ColumnKind.DATE, "1980-03-04", "03"),
        ("x:day", ColumnKind.DATE, "1980-03-04", "04"),
        ("x:area", ColumnKind.POSTCODE, "SW1A1AA", "SW1A"),
        ("x:area", ColumnKind.POSTCODE, "K1A0B1", "K1A"),
        ("x:area", ColumnKind.POSTCODE, "2139", "21"),
        ("x:first", ColumnKind.ADDRESS, "high st", "high"),
        ("x:user", ColumnKind.EMAIL, "bob@x.org", "bob"),
        ("x:domain", ColumnKind.EMAIL, "bob@x.org", "x.org"),
        ("x:last", ColumnKind.SURNAME, None, None),
    ],
)
def test_what_a_part_takes(part, kind, value, expected):
    sql = part_sql(parse_part(part), kind)
    assert duckdb.execute(f"SELECT {sql} FROM (SELECT $1 AS x)", [value]).fetchall() == [
        (expected,)
    ]


def test_columns_of_conditions():
    assert columns_in('l."a" = r."a" AND substr(l.b, 1, 2) = r.c', sided=False) == {"a", "b", "c"}
    assert columns_in('"a_l" = "a_r" OR left(b_L, 1) = c_r', sided=True) == {"a", "b", "c"}
    with pytest.raises(InputError, match="SQL that can be read"):
        columns_in("a = (", sided=False)
    level = {"sql_condition": '"a_l" = "a_r"', "tf_adjustment_column": "t"}
    comparison = {"comparison_levels": [level, {"sql_condition": "ELSE"}]}
    settings = {
        "link_type": "link_only",
        "unique_id_column_name": "id",
        "comparisons": [comparison],
        "blocking_rules_to_generate_predictions": ["l.b = r.b AND l.id < r.id"],
    }
    assert columns_of_settings(json.dumps(settings)) == ("a", "b", "t")
    with pytest.raises(InputError, match="blocking rules"):
        columns_of_settings('{"link_type": "link_only", "comparisons": []}')
    with pytest.raises(InputError, match="comparison_levels"):
        columns_of_settings('{"link_type": "link_only"}')
