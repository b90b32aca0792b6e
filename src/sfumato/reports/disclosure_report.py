"""The disclosure report of a review: what people were shown of the records, and for what."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from sfumato.core.measure import Measure
from sfumato.reports.printed_numbers import fill_template

if TYPE_CHECKING:
    from sfumato.reports.pictures import Figure


_DIGITS = 9
"""Decimals of numbers in JSON: those of a unit of KAPR."""


@dataclass(frozen=True, slots=True)
class Person:
    """What a person was shown.

    Attributes
    ----------
    role
        ``"worker"`` or ``"manager"``.
    kapr
        KAPR spent.
    budget
        KAPR that was allowed, ``None`` for no limit.
    elsewhere
        KAPR that the person spent in other projects of the same source.
    characters
        Share of the characters of the task that were opened.
    seconds
        Median time per pair.
    below_k
        How often a row was left with fewer records than k.
    accuracy
        Share of right answers about gold pairs.
    """

    pseudonym: str
    role: str
    dealt: int
    shown: int
    decided: int
    kapr: float
    budget: float | None
    elsewhere: float
    characters: float | None
    seconds: float | None
    refusals: dict[str, int]
    below_k: int
    accuracy: Measure | None


@dataclass(frozen=True, slots=True)
class Opened:
    """How far an attribute was opened, in numbers of pairs.

    Attributes
    ----------
    anybody
        Pairs of which somebody opened it, each counted once.
    """

    attribute: str
    kind: str
    shown: int
    partial: int
    full: int
    anybody: int


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far people agree.

    Attributes
    ----------
    sides, points
        Of same against different, and of the six points in their order.
    """

    who: str
    pairs: int
    sides: Measure | None
    points: Measure | None


@dataclass(frozen=True, slots=True)
class Disclosure:
    """All numbers of the report.

    Attributes
    ----------
    made
        The day of the report.
    created, closed
        The days of the project.
    records, pairs, gold
        Numbers of records in the database, of pairs, and of those with known truth.
    combined
        KAPR of all workers' combined state.
    project_budget
        KAPR that was allowed for it.
    conflicts, resolved
        Numbers of pairs with answers of both sides, and of those that were resolved.
    changed
        Number of the manager's answers that were changed after the workers' were shown.
    grants
        What the custodian allowed beyond the rules: when, what.
    audit
        The head of the audit log when the report was made.
    """

    title: str
    project: str
    made: date
    created: date
    closed: date | None
    custodian: str
    manager: str
    records: int
    pairs: int
    gold: int
    settings: tuple[tuple[str, str], ...]
    k: int
    people: tuple[Person, ...]
    combined: float
    project_budget: float | None
    opened: tuple[Opened, ...]
    agreement: tuple[Agreement, ...]
    conflicts: int
    resolved: int
    changed: int
    answers: dict[str, int]
    grants: tuple[tuple[str, str], ...]
    audit: str
    figures: tuple[Figure, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        """The numbers as plain values; the pictures are left out."""
        plain: dict[str, Any] = _plain(self)
        return plain


def _plain(value: Any) -> Any:
    if isinstance(value, Measure):
        return _plain(value.to_json())
    if isinstance(value, float):
        return round(value, _DIGITS)
    if isinstance(value, date):
        return value.isoformat()
    if is_dataclass(value):
        # Pictures are drawn of the same numbers.
        names = [each.name for each in fields(value) if each.name != "figures"]
        return {name: _plain(getattr(value, name)) for name in names}
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value


def draw_disclosure(disclosure: Disclosure) -> str:
    """The report as one HTML page, self-contained and printable."""
    return fill_template(
        "review.html",
        {"kapr": _kapr, "measure": _measure},
        title=disclosure.title,
        made=disclosure.made,
        d=disclosure,
        refusals=sum(sum(person.refusals.values()) for person in disclosure.people),
        below_k=sum(person.below_k for person in disclosure.people),
        most=max((person.kapr for person in disclosure.people), default=0.0),
    )


def _kapr(value: float | None) -> str:
    return "no limit" if value is None else f"{value:.5f}"


def _measure(measure: Measure | None) -> str:
    if measure is None:
        return "not defined"
    if measure.low is None or measure.high is None:
        return f"{measure.value:.2f}"
    return f"{measure.value:.2f} ({measure.low:.2f} to {measure.high:.2f})"
