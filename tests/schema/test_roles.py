"""What a schema is made of is refused as the schema is: by field and rule, without the value."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf

CANARY = "kanarienvogel"
RULE = "breaks a rule; found"

WRONG: dict[str, tuple[Callable[..., Any], dict[str, Any], str]] = {
    "kind": (sf.QuasiIdentifier, {"kind": CANARY}, "kind: Input should be 'numeric'"),
    "weight": (sf.QuasiIdentifier, {"weight": CANARY}, "weight: Input should be a valid number"),
    "field": (sf.QuasiIdentifier, {"wieght": CANARY}, "wieght: is no known field"),
    "order": (
        sf.QuasiIdentifier, {"kind": "ordered", "order": [CANARY] * 2}, "'order' must name each"
    ),
    "hierarchy": (sf.QuasiIdentifier, {"hierarchy": 3}, "hierarchy: must be a file's path"),
    "in it": (sf.QuasiIdentifier, {"hierarchy": {"lengths": CANARY}}, "lengths: must be a list"),
    "prefixes": (sf.PrefixHierarchy, {"lengths": CANARY}, "lengths: must be a list"),
    "event": (sf.Event, {"kind": CANARY}, "kind: Input should be 'code'"),
    "known": (sf.Event, {"known": CANARY}, "'known' must be \"exact\""),
    "known days": (sf.Event, {"known": "3 days"}, "is for kind = \"date\" only"),
    "no days": (sf.Event, {"kind": "date", "known": "0 days"}, "'known' must be"),
    "known %": (sf.Event, {"kind": "date", "known": "5 %"}, "is for kind = \"amount\" only"),
    "known level": (sf.Event, {"known": "level 1"}, "as a level needs a 'hierarchy'"),
    "no such level": (
        sf.Event, {"known": "level 3", "hierarchy": {"lengths": [2]}}, "which has 2 above"
    ),
    "intervals": (sf.IntervalHierarchy, {}, "widths: is missing"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_a_part_is_refused(what: str) -> None:
    part, fields, said = WRONG[what]
    with pytest.raises(sf.InputError) as found:
        part(**fields)
    assert str(found.value).startswith(f"{part.__name__} {RULE} ")
    assert said in str(found.value)
    assert CANARY not in str(found.value)
    assert found.value.__cause__ is None
    assert found.value.__suppress_context__


def test_in_a_schema_each_part_is_named_by_its_place() -> None:
    with pytest.raises(sf.InputError) as found:
        sf.Schema(
            quasi_identifiers={
                "age": {"kind": CANARY},
                "zip": {"hierarchy": {"lengths": CANARY}},
                "day": {"hierarchy": {"widths": [1], "start": CANARY}},
            }
        )
    for place in ("age.kind", "zip.hierarchy.prefixes.lengths", "day.hierarchy.intervals.start"):
        assert f"quasi_identifiers.{place}: " in str(found.value)
    assert str(found.value).startswith(f"schema {RULE} ")


def test_the_fields_are_the_signature() -> None:
    assert list(inspect.signature(sf.QuasiIdentifier).parameters) == list(
        sf.QuasiIdentifier.model_fields
    )


AGE = {"age": "numeric"}


def test_events_take_the_same_forms_as_quasi_identifiers() -> None:
    fields = sf.Schema(
        quasi_identifiers=AGE, events={"icd9": {"kind": "code"}, "day": {"kind": "date"}}
    )
    assert fields == sf.Schema(quasi_identifiers=AGE, events={"icd9": "code", "day": "date"})
    assert sf.Schema(quasi_identifiers=AGE, events="icd9").events == {"icd9": sf.Event()}
    assert sf.Schema(quasi_identifiers=AGE, events=["icd9"]).events == {"icd9": sf.Event()}


def test_what_is_known_is_read() -> None:
    assert sf.Event(known="level 2", hierarchy={"lengths": [3, 2]}).level == 2
    assert sf.Event(kind="date", known="3 days").days == 3
    assert sf.Event(kind="date", known="1 day").days == 1
    assert sf.Event(kind="amount", known="2.5 %").share == 0.025
    assert not sf.Event().is_near


@pytest.mark.parametrize(
    ("role", "said"),
    [
        ({"quasi_identifiers": {"icd9": "categorical"}}, "quasi-identifier"),
        ({"direct_identifiers": ["icd9"]}, "direct identifier"),
        ({"person": "icd9"}, "person"),
        ({"household": "icd9"}, "household"),
    ],
)
def test_a_column_that_says_who_somebody_is_is_no_event(role: dict[str, Any], said: str) -> None:
    with pytest.raises(
        sf.InputError, match=f"column 'icd9' is named as {said}, which says nothing"
    ):
        sf.Schema(**{"quasi_identifiers": AGE, "events": ["icd9"], **role})


def test_an_event_may_be_sensitive_and_is_no_role() -> None:
    schema = sf.Schema(quasi_identifiers=AGE, sensitive=["icd9"], events=["icd9", "day"])
    assert "day" not in schema.columns()


def test_one_column_is_known_nearly() -> None:
    with pytest.raises(
        sf.InputError, match="one of the 'events' may be known in %, or dates in days"
    ):
        sf.Schema(
            quasi_identifiers=AGE,
            events={
                "day": {"kind": "date", "known": "3 days"},
                "cost": {"kind": "amount", "known": "5 %"},
            },
        )


def test_events_make_the_round_trip(tmp_path: Path) -> None:
    schema = sf.Schema(
        quasi_identifiers=AGE,
        sensitive=["icd9"],
        accepted={"icd9": "because"},
        events={
            "icd9": {"known": "level 1", "hierarchy": {"lengths": [2]}},
            "day": {"kind": "date", "known": "3 days"},
            "ward": {"kind": "place", "known": "level 1", "hierarchy": tmp_path / "wards.csv"},
        },
    )
    file = tmp_path / "schema.toml"
    file.write_text(sf.dump_schema(schema), encoding="utf-8")
    assert sf.load_schema(file) == schema
    moved = schema.with_files(lambda path: Path(path.name))
    file.write_text(sf.dump_schema(moved), encoding="utf-8")
    assert sf.load_schema(file) == schema
    assert sf.dump_schema(sf.Schema(quasi_identifiers=AGE)).count("events") == 0
