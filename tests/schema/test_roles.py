"""What a schema is made of is refused as the schema is: by field and rule, without the value."""

from __future__ import annotations

import inspect
from collections.abc import Callable
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
