"""What is declared once is the same wherever it is taken from."""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ValidationError, create_model

import sfumato as sf
from sfumato.core.declaration import (
    Above,
    Between,
    Count,
    Parameter,
    Share,
    ShareOrShares,
    check_fields,
    declared,
    naming,
    taken,
)
from sfumato.core.errors import InputError
from sfumato.intruder import attack_options
from sfumato.linkage import link_options
from sfumato.pipeline import tune_options
from sfumato.pipeline.project_model import declared_fields
from sfumato.release import release_options
from sfumato.risk import assess_options

VERBS = {
    "anonymize": (
        release_options.AnonymizeOptions,
        release_options.Options,
        release_options.Circumstances,
    ),
    "assess": (
        assess_options.AssessOptions,
        assess_options.Measuring,
        assess_options.Circumstances,
    ),
    "attack": (
        attack_options.AttackOptions,
        attack_options.Holding,
        attack_options.Referee,
        attack_options.Judging,
        attack_options.Circumstances,
    ),
    "link": (
        link_options.LinkOptions,
        link_options.Comparing,
        link_options.ForPeople,
        link_options.LinkedFile,
    ),
    "tune": (
        tune_options.TuneOptions,
        tune_options.Searching,
        tune_options.Circumstances,
    ),
}


def types_of(options: Any) -> dict[str, str]:
    """The keywords of a typed dictionary with their types, as they are written."""
    found: dict[str, str] = {}
    for base in reversed(options.__mro__ if hasattr(options, "__mro__") else [options]):
        found |= getattr(base, "__annotations__", {})
    return {name: getattr(hint, "__forward_arg__", str(hint)) for name, hint in found.items()}


@pytest.mark.parametrize("verb", VERBS)
def test_a_typed_dictionary_has_what_is_declared(verb: str) -> None:
    options, *declarations = VERBS[verb]
    written = types_of(options)
    assert set(written) == {each.name for each in declared(*declarations)}
    known = vars(sys.modules[options.__module__])
    for each in declared(*declarations):
        if each.type is Any or each.said.parse is not None or each.name in _WIDER:
            continue
        assert eval(written[each.name], dict(known)) == each.annotation, each.name


_WIDER = {"ordered_distance", "recursive_l", "presets", "quasi_identifiers", "knows", "attacks"}
_WIDER |= {"previous", "review", "priors", "withhold", "known_columns", "limits"}
"""Sequences that become tuples, and paths as text."""


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_shows_what_is_declared(verb: str) -> None:
    function = getattr(sf, verb)
    shown = inspect.signature(function).parameters
    for each in declared(*VERBS[verb][1:]):
        assert shown[each.name].default == each.usual
        assert f"\n{each.name}\n    {each.said.help[:30]}" in function.__doc__
    with pytest.raises(TypeError, match=f"unexpected keyword argument 'thresold'|'{verb}'"):
        taken({"thresold": 1}, *VERBS[verb][1:])


def test_no_declaration_is_lost_in_a_command_line_of_the_same_keys() -> None:
    for _, *declarations in VERBS.values():
        keys = [each.key for each in declared(*declarations)]
        assert len(keys) == len(set(keys))


class Depth(IntEnum):
    SHALLOW = 1
    DEEP = 2


class Colour(StrEnum):
    RED = "red"
    DARK_RED = "dark-red"


@dataclass(frozen=True)
class Dive:
    """Every kind of field."""

    share: Annotated[float, Parameter("A share.", range=Share(zero=True, one=False))] = 0.5
    width: Annotated[float | None, Parameter("A width.", range=Between(0, 0.5))] = None
    seconds: Annotated[float | None, Parameter("A time.", range=Above(0, "a time"))] = None
    shares: Annotated[float | dict[str, float], Parameter("Shares.", range=ShareOrShares())] = 0.0
    several: Annotated[tuple[int, ...], Parameter("Numbers.", range=Count(2))] = ()
    depth: Annotated[Depth, Parameter("How deep.")] = Depth.SHALLOW
    colour: Annotated[Colour | None, Parameter("Which.", flag="hue")] = None

    def __post_init__(self) -> None:
        check_fields(self)


WRONG: dict[str, tuple[Any, ...]] = {
    "share": (1, -0.1, float("nan"), "x", True),
    "width": (0, 0.5, "x"),
    "seconds": (0, float("inf"), "x"),
    "shares": (2, {"a": 2.0}, "x"),
    "several": ((1,), (2, "x")),
    "depth": ("deeper",),
    "colour": ("RED", 3),
}


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, every in WRONG.items() for v in every])
def test_what_is_out_of_range_is_named(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"^parameter {name} must be"):
        Dive(**{name: value})


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, every in WRONG.items() for v in every])
def test_a_file_keeps_the_same_ranges_and_names_its_key(name: str, value: Any) -> None:
    model: Any = create_model("Section", **declared_fields(Dive))
    key = {"colour": "hue"}.get(name, name)
    with pytest.raises(ValidationError) as error:
        model(**{key: list(value) if isinstance(value, tuple) else value})
    assert error.value.errors()[0]["loc"][0] == key


def test_words_become_what_they_mean() -> None:
    made = Dive(depth="deep", colour="dark-red", share=0, shares={"a": 1})  # type: ignore[arg-type]
    assert made.depth is Depth.DEEP
    assert made.colour is Colour.DARK_RED
    assert (made.share, made.shares) == (0.0, {"a": 1.0})
    model: Any = create_model("Section", **declared_fields(Dive))
    read = model(depth="deep", hue="dark-red", several=[2])
    assert (read.depth, read.hue, read.several) == (Depth.DEEP, Colour.DARK_RED, (2,))
    assert model(**read.model_dump(mode="json")) == read
    assert read.model_dump(mode="json")["depth"] == "deep"


def test_a_model_keeps_the_ranges_that_its_fields_declare() -> None:
    class Limits(BaseModel):
        most: Annotated[int | None, Parameter("At most.", range=Count(1, 9))] = None

    assert Limits(most=None).most is None
    [most, _] = Limits.model_json_schema()["properties"]["most"]["anyOf"]
    assert most == {"type": "integer", "minimum": 1, "maximum": 9}
    with pytest.raises(ValidationError, match="must be a whole number, accepted: 1 to 9"):
        Limits(most=10)


def test_an_error_names_what_was_given() -> None:
    names = {"colour": "option --hue"}
    refused = r"^option --hue must be one of the known words; acc"
    with pytest.raises(InputError, match=refused), naming(names):
        Dive(colour="blue")  # type: ignore[arg-type]
    for subject in ("parameter other", "column 'colour'"):
        with pytest.raises(InputError, match=f"^{subject} breaks"), naming(names):
            raise InputError(subject, "breaks a rule")
