"""A recipe is declared as a schema is: refused by step and rule, and turned to TOML and back."""

from __future__ import annotations

import tomllib
from datetime import date
from typing import Any

import jsonschema
import pytest

import sfumato as sf
from sfumato.pipeline.project_text import project_json_schema
from sfumato.schema.recipe import Resolution

CANARY = "kanarienvogel"
LINES: dict[str, dict[str, Any]] = {
    "visit": {"date": "%d.%m.%Y", "unreadable": "missing"},
    "seen": {"date": ["%d.%m.%Y", "%d/%m/%y", "%Y-%m"], "pivot": 1930, "resolution": "month"},
    "weight": {"decimal": ",", "thousands": ".", "unit": "kg", "missing": ["-9", "99"]},
    "sex": {"strip": True, "case": "lower", "rename": {"w": "f", "Herr Ä": "m"}},
    "zip": {"first": 3},
    "entry": {"date": ["days since 1899-12-30", "%d.%m.%Y"]},
    "code": {"type": "text"},
    "dob": {"parts": ["dob_year", "dob_mon", "dob_day"]},
    "age": {"from": "dob", "at": "2025-12-31", "unit": "years"},
}
"""A line of each step."""
SCHEMA = sf.Schema(quasi_identifiers=["age", "sex", "zip"], recipe=LINES)


def test_it_turns_to_toml_and_back() -> None:
    text = sf.dump_schema(SCHEMA)
    again = tomllib.loads(text)
    assert again["recipe"] == LINES
    assert sf.Schema(**again) == SCHEMA
    assert sf.Schema(**again).recipe["age"].at_day == date(2025, 12, 31)


def test_a_date_of_toml_and_one_text_alone_are_taken() -> None:
    line = sf.Schema(
        quasi_identifiers=["age"], recipe=tomllib.loads('age = {from = "dob", at = 2025-12-31}')
    ).recipe["age"]
    assert (line.at_day, line.age_unit, line.sources) == (date(2025, 12, 31), "years", ("dob",))
    assert sf.Cleaning(missing="-9").missing == ("-9",)


def test_the_json_schema_of_a_project_takes_every_step_and_no_other() -> None:
    whole = project_json_schema()
    lines = {"$ref": "#/$defs/Cleaning", "$defs": whole["$defs"]}
    check = jsonschema.validators.validator_for(lines)(lines)
    for line in LINES.values():
        check.validate(line)
    for wrong in ({"dates": "%Y"}, {"case": "Lower"}, {"first": 0}):
        with pytest.raises(jsonschema.ValidationError):
            check.validate(wrong)


WRONG = {
    "{ dat = '%Y' }": "'dat' is no known step; did you mean 'date'?",
    "{ wipe = true }": "'wipe' is no known step; known: strip,",
    "{}": "must name at least one step",
    "{ unreadable = 'missing' }": "must name at least one step",
    "{ date = '%d.%m.' }": "format '%d.%m.' has no year",
    "{ date = '%d %Y' }": "has a day but no month",
    "{ date = 'excel' }": "has no year; that of Excel's numbers is 'days since 1899-12-30'",
    "{ date = 'days since 1900' }": "needs a date such as 1899-12-30 (Excel) behind it",
    "{ date = ['days since 1899-12-30', '%Y'] }": "need a 'resolution' in common",
    "{ date = '%Y %H' }": "has a hour but no day",
    "{ date = '%Y-%m-%q' }": "an unknown directive; accepted: %Y",
    "{ date = '%Y %' }": "an unknown directive",
    "{ date = '%Y %y' }": "names the year twice",
    "{ date = '%d.%m.%y' }": "needs 'pivot'",
    "{ date = ['%Y', '%Y-%m'] }": "need a 'resolution' in common",
    "{ date = '%Y', resolution = 'month' }": "less exact than the 'resolution'",
    "{ date = '%Y', decimal = ',' }": "is read as one thing, not as number and as date",
    "{ pivot = 1930 }": "'pivot' and 'resolution' go with 'date'",
    "{ case = 'lower', unreadable = 'missing' }": "'unreadable' goes with what reads",
    "{ decimal = ',', thousands = ',' }": "must be different signs",
    "{ thousands = '.' }": "must be different signs",
    "{ decimal = '5' }": "must be signs, not letters or digits",
    "{ decimal = ',,' }": "at most 1 character",
    "{ first = 0 }": "first: ",
    "{ first = '3' }": "first: ",
    "{ type = 'int' }": "type: Input should be 'number', 'text' or 'date'",
    "{ missing = [''] }": "none of them empty or twice",
    "{ rename = {} }": "must be a table of new values by old ones",
    "{ rename = { kanarienvogel = 3 } }": "must have a text for a text",
    "{ rename = { kanarienvogel = ' ' } }": "must have a new value for each",
    "{ rename = 'kanarienvogel' }": "must be a table of new values by old ones",
    "{ parts = ['y'] }": "'parts' are the columns of year and month",
    "{ parts = ['y', 'y'] }": "must name each column once",
    "{ parts = ['y', 'm'], case = 'lower' }": "'parts' goes with 'pivot' and 'unreadable' only",
    "{ parts = ['y', 'm'], from = 'y' }": "'parts' goes with 'pivot' and 'unreadable' only",
    "{ from = 'dob' }": "'from' goes with 'at'",
    "{ at = 2020-01-01 }": "'at' goes with 'from'",
    "{ from = 'dob', at = 2020-01-01T00:00:00 }": "must be a date without a time",
    "{ from = 'dob', at = 2020-01-01, unit = 'weeks' }": "one of years, months, days",
    "{ from = 'x', at = 2020-01-01 }": "made of each other in a circle",
}


@pytest.mark.parametrize("line", WRONG)
def test_what_breaks_a_rule_is_named_without_values(line: str) -> None:
    fields = tomllib.loads(f"x = {line}".replace("'", '"'))
    with pytest.raises(sf.InputError) as found:
        sf.Schema(quasi_identifiers=["age"], recipe=fields)
    assert WRONG[line] in str(found.value)
    assert CANARY not in str(found.value)
    assert found.value.__suppress_context__
    if "circle" not in WRONG[line]:
        assert "recipe.x" in str(found.value)


def test_columns_that_serve_as_sources_only_are_never_released() -> None:
    assert SCHEMA.roles()["source of the recipe"] == ("dob_year", "dob_mon", "dob_day", "dob")
    assert {"dob", "dob_mon"} <= SCHEMA.withheld()
    given = sf.Schema(quasi_identifiers=["age", "dob_year"], insensitive="dob", recipe=LINES)
    assert given.withheld() == {"dob_mon", "dob_day"}
    assert given.derived() == ("dob", "age")


def test_steps_are_told_without_values() -> None:
    said = {name: line.steps() for name, line in SCHEMA.recipe.items()}
    assert said["sex"]["rename"] == "2 values renamed"
    assert said["weight"]["number"].endswith("decimal sign ,, thousands sign ., without kg")
    assert said["seen"]["date"].endswith("years 1930 to 2029, kept to the month")
    assert said["age"] == {"from": "completed years from 'dob' to 2025-12-31"}
    assert "Herr" not in str(said)


def test_the_resolution_is_that_of_the_formats_where_it_is_not_said() -> None:
    assert sf.Cleaning(date="%Y").kept_resolution is Resolution.YEAR
    assert sf.Cleaning(date="%m/%Y").kept_resolution is Resolution.MONTH
    assert sf.Cleaning(type="date").kept_resolution is Resolution.DAY
    assert sf.Cleaning(date=["%Y-%m-%d %H:%M", "%Y-%m-%d"]).kept_resolution is None
