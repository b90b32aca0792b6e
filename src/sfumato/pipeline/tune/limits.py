"""Which limits the search turns, and which of them keep a measure below its threshold.

All that the search knows of a single promise or measure by its name stands here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, expm1, log, log1p
from typing import Any

from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.core.number_text import named
from sfumato.release.promises import PROMISES
from sfumato.release.promises.delta_presence import DeltaPresence
from sfumato.release.promises.promise import AboutAttribute, Budget, Constraint
from sfumato.release.promises.t_closeness import Distance, TCloseness
from sfumato.release.release_result import Release
from sfumato.risk.risk_thresholds import AT_RISK, KINDS, Bound, Part, Threshold
from sfumato.table.table import Table

Limits = Mapping[str, float]
"""Limits by the name of their knob."""
Promise = Constraint | Budget
CAP, COUNTS, PRESENCE = "cap_records", "shared_counts", "presence_high"
AGAINST = (PRESENCE, "population_uniques", "k_map")
"""Measures of a release that are counted, or estimated, in the population alone."""
HOUSEHOLDS = "household_k"
EQUAL, ORDERED = "equal", "ordered"
"""Distances of t-closeness."""
_T_EQUAL, _T_ORDERED = "t_closeness", "t_closeness_ordered"
DIGITS = 4
"""Significant digits of a limit that the search proposes, so that a command can be read."""
_MOST_SHARED, _LEAST_SHARE = 64, 1e-3
"""Where the search stops: so many persons per count, and a t or a chance of presence so small."""


@dataclass(frozen=True, slots=True)
class Knob:
    """The limit of one promise, or of the records per person, on a scale of strictness.

    Attributes
    ----------
    name
        The name of its option in ``sfumato anonymize``, with underscores.
    position
        Strictness of a limit: larger is stricter, and equal steps change it by equal factors.
    value
        The limit at a position; the inverse.
    strictest
        The strictest position that is of use in a file.
    """

    name: str
    whole: bool
    position: Callable[[float], float]
    value: Callable[[float], float]
    strictest: Callable[[Table], float]


def rounded(value: float) -> float:
    """A number with as many digits as a proposed limit has."""
    return float(f"{value:.{DIGITS}g}")


_Scale = tuple[bool, Callable[[float], float], Callable[[float], float]]
_SHARE: _Scale = (False, lambda limit: -log(max(limit, 1e-12)), lambda at: rounded(exp(-at)))
"""The scale of a limit in (0, 1] that is stricter when it is smaller."""
_COUNT: _Scale = (True, lambda limit: log(max(limit, 1)), lambda at: max(round(exp(at)), 1))
"""The scale of a least number."""
_MOST: _Scale = (True, lambda limit: -log(max(limit, 1)), lambda at: max(round(exp(-at)), 1))
"""The scale of a largest number."""
_BALANCE: _Scale = (
    False,
    lambda limit: -log1p(-min(limit, 1 - 1e-12)),
    lambda at: round(1 - rounded(1 + expm1(-at)), 10),
)
"""The scale of a limit in [0, 1) that is stricter when it is larger."""


def _half_of_persons(table: Table) -> float:
    return log(max(table.persons / 2, 2))


def _half_of_records(table: Table) -> float:
    return log(max(table.records / 2, 2))


def _sensitive_values(table: Table) -> float:
    return log(max(max((each.domain.size for each in table.sensitive), default=1), 2))


def _persons(table: Table) -> float:
    return log(max(table.persons, 2))


_KNOBS = (
    Knob("g_balance", *_BALANCE, _half_of_persons),
    Knob("h_affiliation", *_SHARE, _sensitive_values),
    Knob("k", *_COUNT, _half_of_records),
    Knob("pid_k", *_COUNT, _half_of_persons),
    Knob("l", *_COUNT, _sensitive_values),
    Knob("marketer", *_SHARE, _persons),
    Knob("population_uniques", *_SHARE, _persons),
    Knob("k_map", *_COUNT, _half_of_persons),
    Knob(COUNTS, *_COUNT, lambda table: log(max(min(table.persons / 2, _MOST_SHARED), 2))),
    Knob(_T_EQUAL, *_SHARE, lambda _table: -log(_LEAST_SHARE)),
    Knob(HOUSEHOLDS, *_COUNT, _half_of_persons),
    Knob(PRESENCE, *_SHARE, lambda _table: -log(_LEAST_SHARE)),
    Knob(CAP, *_MOST, lambda _table: 0.0),
)
KNOBS: dict[str, Knob] = {each.name: each for each in _KNOBS}
"""By name, in the order of the options of ``sfumato anonymize``."""


def promise_of(name: str, limit: float, distance: str) -> Promise | None:
    """The promise of a knob's limit; ``None`` for that of an option of the release."""
    if name == CAP:
        return None
    if name == _T_EQUAL:
        return TCloseness(limit, distance=Distance(distance))
    if name == PRESENCE:
        return DeltaPresence(0.0, limit)
    made: Promise = PROMISES[name](limit)
    return made


def asks_nothing(name: str, value: float) -> bool:
    """Whether every release keeps a limit."""
    return name != CAP and KNOBS[name].position(value) <= 0


def stricter(name: str, one: float, other: float) -> float:
    """The stricter one of two limits of a knob."""
    position = KNOBS[name].position
    return one if position(one) >= position(other) else other


def strictest_of(several: Sequence[Limits]) -> dict[str, float]:
    """The strictest limit of each knob."""
    found: dict[str, float] = {}
    for limits in several:
        for name, value in limits.items():
            found[name] = stricter(name, found[name], value) if name in found else value
    return found


def limits_reached(release: Release) -> tuple[tuple[str, float], ...]:
    """What a release keeps by itself, by the name of the knob that would ask for it.

    Against the population where one is given, an estimate at its worse end; else in the file.
    """
    found = {}
    for name, knob in KNOBS.items():
        if name in (CAP, PRESENCE):
            continue
        promise: Any = promise_of(name, 2 if knob.whole else 0.5, EQUAL)  # any limit tells it
        at_least = promise.bound is Bound.AT_LEAST
        outside: Measure | None = getattr(release.population, promise.measure, None)
        if outside is not None:
            end = outside.low if at_least else outside.high
            found[name] = outside.value if end is None else end
            continue
        about = release.risk.sensitive if isinstance(promise, AboutAttribute) else ("",)
        values = [promise.reached(release.risk, each)[0] for each in about]
        if values and None not in values:
            found[name] = (min if at_least else max)(values)
    return tuple(found.items())


def promise_words(promise: Promise) -> str:
    """A promise and its limit, for a reader; presence is searched from above only."""
    said = (
        shown(value)
        for name, value in promise.parameters().items()
        if value is not None and not (promise.name == "presence" and name == "low")
    )
    return f"{promise.name} {' '.join(said)}"


def shown(value: object) -> str:
    """A value of a parameter or an option, for a reader."""
    if isinstance(value, (list, tuple)):
        return str(named(value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def promise_options(promise: Promise) -> dict[str, Any]:
    """The options of ``sfumato anonymize`` that ask for a promise, with underscores."""
    parameters = dict(promise.parameters())
    if promise.name == "presence":
        return {PRESENCE: parameters["high"]}
    options: dict[str, Any] = {promise.name: next(iter(parameters.values()))}
    if "distance" in parameters:
        options["distance"] = parameters["distance"]
    return options


@dataclass(frozen=True)
class Target:
    """What keeps a threshold.

    Attributes
    ----------
    needed
        Limits that every release has to keep which meets the threshold.
    enough
        Limits under which every release meets it; ``None`` where nothing is known to.
    movers
        Knobs that can move the measure, where what is needed is not enough.
    """

    threshold: Threshold
    needed: Limits = field(default_factory=dict)
    enough: Limits | None = None
    movers: tuple[str, ...] = ()


_STATED, _SURE = (
    {name: make for each in PROMISES.values() for name, make in getattr(each, kind).items()}
    for kind in ("measures", "suffices")
)
"""By measure, the promise that states a limit on it, or one that is more than enough."""
# A person of n alike is found with a chance of 1 / n, and nobody is alone among two.
_SURE |= {
    "avg_gidr": _SURE["max_gidr"],
    "avg_gsar": _STATED["max_gsar"],
    "avg_count_risk": _STATED["max_count_risk"],
    "exposed_persons": lambda _limit: PROMISES[COUNTS](2),
    "sample_uniques": lambda _limit: PROMISES["pid_k"](2),
}
# The largest share is at least the sum of their squares.
_NEEDED: Mapping[str, Callable[[float], Promise]] = {
    "max_gidr": lambda limit: PROMISES["g_balance"](1 - limit)
}
_BY_SIZE = ("pid_k", "marketer", "g_balance", "k")
_BY_COUNTS = (COUNTS, "pid_k", "marketer", CAP)
MOVERS: Mapping[str, tuple[str, ...]] = {
    "max_gidr": ("g_balance", "pid_k", "k", "marketer", CAP),
    "avg_gidr": ("g_balance", "marketer", "pid_k", "k"),
    "average_risk": _BY_SIZE,
    AT_RISK: _BY_SIZE,
    "sample_uniques": _BY_SIZE,
    "avg_gsar": ("h_affiliation", "l", "marketer", "pid_k"),
    "l_entropy": ("h_affiliation", "l", "t_closeness", "pid_k"),
    "exposed_persons": _BY_COUNTS,
    "avg_count_risk": _BY_COUNTS,
    "avg_composition_risk": (HOUSEHOLDS,),
    **dict.fromkeys(
        ("max_household_risk", "avg_household_risk", "households_at_risk"),
        ("pid_k", "marketer", "g_balance"),
    ),
}
"""By measure that no promise states, the knobs that can move it."""
TUNED = (*_STATED, *MOVERS)
"""The measures that a release can be tuned to."""


def target_of(threshold: Threshold, high_risk: float) -> Target:
    """A threshold with what keeps it.

    Parameters
    ----------
    high_risk
        Risk above which a record is at risk, where the threshold does not say.
    """
    measure, limit = threshold.measure, threshold.limit
    if measure not in TUNED:
        raise InputError(
            f"a threshold of {measure}",
            "must be about what a release can be tuned to",
            accepted=", ".join(TUNED),
            advice="assess the release against it",
        )
    aimed = limit
    if measure == AT_RISK:  # its limit is a number of records, not the risk that each may have
        aimed = high_risk if threshold.above is None else threshold.above
    stated = _STATED.get(measure)
    needed = _limits(stated or _NEEDED.get(measure), limit)
    if needed is None and (stated or measure in _NEEDED):
        raise InputError(
            f"the limit of {measure}",
            "must be one that a release can meet",
            accepted="a share above 0" if KINDS[measure].bound == "at most" else "less than 1",
        )
    enough = needed if stated else _limits(_SURE.get(measure), aimed)
    return Target(threshold, needed or {}, enough, MOVERS.get(measure, ()))


def _limits(make: Callable[[float], Promise] | None, limit: float) -> Limits | None:
    """The limit of a knob at which a promise keeps one of a measure; ``None`` where none can."""
    if make is None:
        return None
    try:
        options = promise_options(make(limit))
    # A risk of 0 asks for 1/0 persons.
    except (InputError, ZeroDivisionError):
        return None
    options.pop("distance", None)
    return {name: float(value) for name, value in options.items()}


def distance_of(targets: Sequence[Target]) -> str:
    """The distance of t-closeness that thresholds speak of; `check_measurable` allows one only."""
    ordered = any(target.threshold.measure == _T_ORDERED for target in targets)
    return ORDERED if ordered else EQUAL


def check_measurable(
    thresholds: Sequence[Threshold],
    *,
    sensitive: bool,
    household: bool,
    register: bool,
    population: bool,
) -> None:
    """Refuse thresholds about what the file does not have.

    Parameters
    ----------
    sensitive, household, register, population
        Whether there are sensitive attributes, households, a register of the population, or a
        population at all.
    """
    lacking = {
        Part.SENSITIVE: (sensitive, "sensitive attributes", "name them in the schema"),
        Part.HOUSEHOLD: (household, "households", "name the household column in the schema"),
        Part.PRESENCE: (register, "a population register", "give one (register, --register)"),
        Part.POPULATION: (
            population,
            "a population",
            "give its register, or the number of its people (population, --population)",
        ),
    }
    for threshold in thresholds:
        there, what, advice = lacking.get(threshold.kind.part, (True, "", ""))
        if not there:
            raise InputError(
                f"a threshold of {threshold.measure}", f"needs {what}", found="none", advice=advice
            )
    if {_T_EQUAL, _T_ORDERED} <= {threshold.measure for threshold in thresholds}:
        raise InputError(
            f"thresholds of {_T_EQUAL} and {_T_ORDERED}",
            "must not be asked together",
            advice="a command states one distance; leave one of them out",
        )
