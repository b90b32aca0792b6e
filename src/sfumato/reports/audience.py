"""What an audience may be told: exact numbers inside, and outside none that is of a few persons."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import ceil, floor
from typing import Any

from sfumato.core.phrases import Phrase
from sfumato.release.promises import PROMISES, restored
from sfumato.release.promises.promise import Promise
from sfumato.reports.printed_numbers import COUNT, NUMBER, SHARE

# A choice, near the cell size of 11 that US public files keep (preset cell-size-11).
FEWEST = 10
"""Counts below this are told as fewer than this, zero included."""
_STEPS = (0.1, 0.25, 0.5)
"""Ends of what a largest chance is told by, above which it would name a small class."""
_EXACT, _HALF = 1e-9, 0.5
MAXIMUM, AVERAGE, WHOLE = Phrase("maximum"), Phrase("average"), Phrase("whole file")


class Audience(StrEnum):
    """Who may read a report."""

    INTERNAL = "internal"
    """Whoever signs it: exact numbers, hashes, seeds."""
    PUBLIC = "public"
    """Anybody: coarse numbers, nothing that helps to find a person or to undo the release."""


@dataclass(frozen=True)
class Discretion:
    """How exactly numbers are told: as they are inside, coarsely where anybody may read them.

    Every method takes a number, an estimate as an object with its interval, or ``None``.

    Attributes
    ----------
    people
        How many people a mean over people is of; ``None`` where that is not known.
    """

    audience: Audience
    people: int | None = None

    @property
    def is_public(self) -> bool:
        """Whether anybody may read the report."""
        return self.audience is Audience.PUBLIC

    def count(self, value: Any) -> Any:
        """A number of records, persons or pairs."""
        return self._each(value, _coarse_count)

    def share(self, value: Any, of: float | None) -> Any:
        """A share of a number of records, persons or pairs; outside nothing of a few of them.

        Parameters
        ----------
        value
            In [0, 1].
        of
            What it is a share of; ``None`` where that is not known.
        """
        return self._each(value, lambda one: _coarse_share(one, of))

    def chance(self, value: Any, most: float = 1.0) -> Any:
        """A largest chance: that of the class where it is largest.

        Parameters
        ----------
        most
            What it is at most by promises that are told.
        """
        return self._each(value, lambda one: _coarse_chance(one, most))

    def mean(self, value: Any) -> Any:
        """A share that is an average over people: its product with their number is a count."""
        return self.share(value, self.people)

    def degree(self, value: Any) -> Any:
        """A share that is one of no people, as that of a cell's detail."""
        return self.share(value, None)

    def number(self, value: Any) -> Any:
        """Any other number."""
        return self._each(value, _coarse_number)

    def _each(self, value: Any, coarse: Callable[[float], Any]) -> Any:
        def tell(one: float) -> Any:
            return coarse(one) if self.is_public else one

        if not isinstance(value, dict):
            return None if value is None else tell(value)
        ends = {key: value.get(key) for key in ("value", "low", "high")}
        told = {key: tell(end) for key, end in ends.items() if isinstance(end, (int, float))}
        kept = ("estimator",) if self.is_public else ("estimator", "why")
        return told | {key: value[key] for key in kept if value.get(key)}


def _coarse_count(value: float) -> Any:
    return {"fewer_than": FEWEST} if value < FEWEST else round(value)


def _coarse_share(value: float, of: float | None) -> Any:
    # Steps so wide that ten of those that it is a share of lie within one.
    least = 0.01 if not of else max(0.01, min(1.0, ceil(100 * FEWEST / of) / 100))
    # Steps of a half and more would tell nothing.
    if least >= _HALF:
        return None
    if value < least:
        return {"below": least}
    if value > 1 - least:
        return {"above": round(1 - least, 2)}
    return {"about": round(min(least * round(value / least), 1 - least), 2)}


def _coarse_chance(value: float, most: float) -> Any:
    # 1 / chance is the size of the smallest class: below ten persons only steps are told of it,
    # or what the promises tell everybody anyway.
    if value <= _STEPS[0]:
        return {"at_most": max(1, ceil(100 * value - _EXACT)) / 100}
    for step in _STEPS:
        if value <= step + _EXACT:
            closer = most if value <= most + _EXACT else 1.0
            return {"at_most": min(step, ceil(100 * closer - _EXACT) / 100)}
    return {"more_than": _STEPS[-1]}


def _coarse_number(value: float) -> Any:
    return floor(100 * value) / 100 if value < 100 else round(value)


def fewest_persons(measured: Mapping[str, Any]) -> int:
    """Persons that every class has at least, by the promises or by what is told of the smallest.

    Parameters
    ----------
    measured
        What was measured of a file; of a release with its ``constraints``.
    """
    known = [1, *(each.fewest_persons for each in _promised(measured))]
    # From there on the size of the smallest class is told anyway.
    if measured.get("pid_k", 0) >= FEWEST:
        known.append(measured["pid_k"])
    return int(max(known))


def largest_chance(name: str, measured: Mapping[str, Any]) -> float:
    """What a largest chance or share of a class is at most, by the promises alone.

    Parameters
    ----------
    measured
        What was measured of a file; of a release with its ``constraints``.
    """
    if name == "prosecutor":
        # By what was promised alone: what was measured would be told by it.
        return 1 / fewest_persons({"constraints": measured.get("constraints", ())})
    return min((each.largest(name) for each in _promised(measured)), default=1.0)


def _promised(measured: Mapping[str, Any]) -> Iterator[Promise]:
    """The promises about all classes and attributes that were kept."""
    for each in measured.get("constraints", ()):
        # Some promises are the custodian's own, of which nothing is known, or of one attribute.
        if each["name"] in PROMISES and "attribute" not in each:
            yield restored(each)


@dataclass(frozen=True)
class MeasureKind:
    """How a measure is told.

    Attributes
    ----------
    over
        The class that is worst off, everybody on average, or the whole file.
    scale
        ``count``, ``share`` or ``number``.
    of
        What a share of a whole file is a share of, by its name among the measures.
    """

    over: str = MAXIMUM
    scale: str = NUMBER
    of: str = ""


_LARGEST_SHARES = (
    "prosecutor", "journalist", "max_gidr", "max_count_risk", "max_household_risk",
    "h_affiliation", "max_gsar", "presence_low", "presence_high",
)  # fmt: skip
_MEAN_SHARES = (
    "marketer", "average_risk", "avg_gidr", "avg_count_risk", "avg_household_risk", "avg_gsar",
    "population_average_risk", "known_events",
)  # fmt: skip
MEASURES = {
    **dict.fromkeys(_LARGEST_SHARES, MeasureKind(MAXIMUM, SHARE)),
    **dict.fromkeys(_MEAN_SHARES, MeasureKind(AVERAGE, SHARE)),
    **dict.fromkeys(("k", "pid_k", "count_k", "k_map", "l_distinct"), MeasureKind(MAXIMUM, COUNT)),
    **dict.fromkeys(
        ("sample_uniques", "expected_uniques", "unique_matches", "expected_matches"),
        MeasureKind(WHOLE, COUNT),
    ),
    **dict.fromkeys(
        ("records_at_risk", "population_records_at_risk"), MeasureKind(WHOLE, SHARE, "records")
    ),
    "population_uniques": MeasureKind(WHOLE, SHARE, "persons"),
    "exposed_persons": MeasureKind(WHOLE, SHARE, "persons"),
    "households_at_risk": MeasureKind(WHOLE, SHARE, "households"),
}
"""All measures but plain numbers of the worst class."""


def measure_kind(name: str) -> MeasureKind:
    """How a measure is told, by its name."""
    return MEASURES.get(name, MeasureKind())


def disclosed_measure(name: str, value: Any, measured: Mapping[str, Any], show: Discretion) -> Any:
    """A measure as an audience is told it."""
    kind = measure_kind(name)
    if kind.of:
        return show.share(value, measured.get(kind.of))
    if kind.scale == COUNT:
        # That nobody is alone is no secret where the promises say so.
        # A number that the promises tell is no secret.
        none = name == "sample_uniques" and value == 0 and fewest_persons(measured) > 1
        return 0 if none else show.count(value)
    if kind.scale == NUMBER:
        # Of the worst class, which may be a small one.
        return None if show.is_public else value
    if kind.over == MAXIMUM:
        return show.chance(value, largest_chance(name, measured))
    return show.mean(value)
