"""Adversaries, assumptions and limits in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.reports.assumptions import Point
from sfumato.reports.numbers import listed
from sfumato.reports.project.discretion import Internal
from sfumato.reports.project.measures import told_measure
from sfumato.reports.project.results import LINK, RELEASE, ProjectResults
from sfumato.reports.project.risk import before_and_after
from sfumato.reports.project.variables import schema_of

_ACQUAINTANCE = (
    "an acquaintance (prosecutor)",
    "that a person is in the file, and {known} of that person exactly",
    "find the person’s records",
    ("prosecutor",),
)
_COLLECTOR = (
    "somebody with a register (journalist, marketer)",
    "{known} of everybody, exactly, but not who is in the file",
    "find anybody, or as many as possible",
    ("journalist", "marketer"),
)
_RECORDS = (
    "somebody who picks single records",
    "a person’s class, that is, what the file shows of {known}",
    "name the person whose record it is",
    ("max_gidr", "avg_gidr"),
)
_COUNTER = (
    "a colleague of the clinic or insurer",
    "{known}, and how many records the person has",
    "find the person’s records",
    ("max_count_risk", "exposed_persons"),
)
_CURIOUS = (
    "a curious analyst",
    "who a person’s class is",
    "learn {sensitive}, without naming a record",
    ("max_gsar",),
)
_HAS_PERSONS = Point(
    "Persons", "Records belong to one person where the linkage or the person column says so."
)
_HAS_NO_PERSONS = Point(
    "No person column",
    "Every record is taken as a person of its own. If persons have several records, the risks are "
    "higher than reported.",
)
_ASSUMED = (
    Point(
        "Roles",
        "Only the quasi-identifiers are known outside the file. A column that is sensitive or "
        "insensitive here and known to somebody all the same helps that person more than these "
        "numbers say.",
    ),
    Point(
        "Exact knowledge",
        "The adversary knows each quasi-identifier exactly as the original has it. Real knowledge "
        "is older and has mistakes, so that most would find less.",
    ),
    Point(
        "Missing values",
        "A missing quasi-identifier is a kind of its own: the adversary is taken to know that it "
        "is missing.",
    ),
    Point(
        "Sensitive values",
        "Two values are the same or different; that different ones may mean nearly the same is not "
        "measured.",
    ),
)
_SHUFFLED = Point("Order", "The records are shuffled, so that their order says nothing.")
_IN_ORDER = Point(
    "Order", "The records keep the order of the original: whoever knows it can match them."
)
_LIMITS = (
    Point(
        "Other knowledge",
        "Whoever knows more than the quasi-identifiers, such as a diagnosis or a date, can do more "
        "than these numbers say. Of such knowledge only the number of records is measured.",
    ),
    Point(
        "Other files",
        "Earlier and later releases of the same persons are considered as far as a ledger of "
        "releases says so, and not otherwise.",
    ),
    Point(
        "Attacks not tried",
        "That simulated attacks stay below a prediction proves nothing about attacks that were not "
        "tried, nor about intruders who hold more.",
    ),
    Point(
        "Averages",
        "An average says nothing about the person who is worst off; a limit on the worst class is "
        "not a limit on every person in it.",
    ),
)
_LINKAGE = Point(
    "Linkage",
    "Errors of the linkage pass into the release: joined strangers make persons look larger, "
    "records left apart make one person look like two. Expected rates are the linkage model’s; "
    "only checked ones rest on answers of people.",
)


def adversaries_of(results: ProjectResults, show: Internal) -> list[dict[str, Any]]:
    """Who might attack the release, with what, and how far each would get by the measures.

    Parameters
    ----------
    results
        What the project found.
    show
        How numbers are told.
    """
    schema = schema_of(results)
    words = {
        "known": listed(tuple(schema["quasi_identifiers"])) or "the quasi-identifiers",
        "sensitive": listed(tuple(schema["sensitive"])),
    }
    kinds = [_ACQUAINTANCE, _COLLECTOR, _RECORDS, _COUNTER]
    if schema["sensitive"]:
        kinds.append(_CURIOUS)
    before, after = before_and_after(results)
    return [
        {
            "who": who,
            "knows": knows.format(**words),
            "wants": wants.format(**words),
            "measures": [
                {
                    "name": name,
                    "before": _largest(name, before, show),
                    "after": _largest(name, after, show),
                }
                for name in measures
            ],
        }
        for who, knows, wants, measures in kinds
    ]


def _largest(name: str, measured: Mapping[str, Any], show: Internal) -> Any:
    """What is told of a measure; of several sensitive attributes the largest."""
    value = measured.get(name)
    if isinstance(value, dict) and "value" not in value:
        value = max((each for each in value.values() if each is not None), default=None)
    return told_measure(name, value, measured, show)


def assumptions_of(results: ProjectResults) -> list[Point]:
    """What the numbers take for granted.

    Parameters
    ----------
    results
        What the project found.
    """
    points = [_persons(results), *_ASSUMED]
    if not results.is_on_request:
        kept = results.settings(RELEASE).get("release", {}).get("keep_order")
        points.append(_IN_ORDER if kept else _SHUFFLED)
    return points


def _persons(results: ProjectResults) -> Point:
    return _HAS_PERSONS if schema_of(results)["person"] else _HAS_NO_PERSONS


def limits_of(results: ProjectResults) -> list[Point]:
    """What the numbers do not say.

    Parameters
    ----------
    results
        What the project found.
    """
    return [*_LIMITS, _LINKAGE] if results.measured(LINK) else [*_LIMITS]
