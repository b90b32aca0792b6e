"""Which limits the search turns, and which of them keep a measure below its threshold.

All that the search knows of a single promise or measure by its name stands here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, exp, expm1, log, log1p

from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.release.population_register import PopulationRisk
from sfumato.release.promises import PROMISES
from sfumato.release.promises.delta_presence import DeltaPresence
from sfumato.release.promises.promise import Budget, Constraint
from sfumato.release.promises.t_closeness import Distance, TCloseness
from sfumato.release.release_result import Release
from sfumato.risk.disclosure_risk import SensitiveRisk
from sfumato.risk.risk_thresholds import AT_RISK, KINDS, Part, Threshold
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
_ROUNDING = 1e-9
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
    reached
        The limit that a release keeps by itself; ``None`` where that is not measured.
    """

    name: str
    whole: bool
    position: Callable[[float], float]
    value: Callable[[float], float]
    strictest: Callable[[Table], float]
    reached: Callable[[Release], float | None] = lambda _release: None


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


def _in_population(
    measure: Callable[[PopulationRisk], Measure], alone: Callable[[Release], float]
) -> Callable[[Release], float]:
    """Against the population where one is given, an estimate at its worse end; else in the file."""

    def reached(release: Release) -> float:
        if release.population is None:
            return alone(release)
        found = measure(release.population)
        end = found.low if found.name == "k_map" else found.high
        return found.value if end is None else end

    return reached


def _sensitive_reached(
    worst: Callable[..., float | None], measure: Callable[[SensitiveRisk], float]
) -> Callable[[Release], float | None]:
    """The worst of the sensitive attributes, of those that there are."""
    return lambda release: worst(map(measure, release.risk.sensitive.values()), default=None)


def _households_reached(release: Release) -> float | None:
    own = release.risk.household
    return None if own is None else own.household_k


_KNOBS = (
    Knob("g_balance", *_BALANCE, _half_of_persons, lambda release: release.risk.g_balance.value),
    Knob(
        "h_affiliation",
        *_SHARE,
        _sensitive_values,
        _sensitive_reached(max, lambda each: each.h_affiliation.value),
    ),
    Knob("k", *_COUNT, _half_of_records, lambda release: release.risk.k),
    Knob("pid_k", *_COUNT, _half_of_persons, lambda release: release.risk.pid_k),
    Knob("l", *_COUNT, _sensitive_values, _sensitive_reached(min, lambda each: each.l_distinct)),
    Knob(
        "marketer",
        *_SHARE,
        lambda table: log(max(table.persons, 2)),
        _in_population(lambda own: own.marketer, lambda release: release.risk.marketer.value),
    ),
    Knob(
        "population_uniques",
        *_SHARE,
        lambda table: log(max(table.persons, 2)),
        _in_population(
            lambda own: own.population_uniques,
            lambda release: release.risk.sample_uniques / release.risk.persons,
        ),
    ),
    Knob(
        "k_map",
        *_COUNT,
        _half_of_persons,
        _in_population(lambda own: own.k_map, lambda release: release.risk.pid_k),
    ),
    Knob(
        COUNTS,
        *_COUNT,
        lambda table: log(max(min(table.persons / 2, _MOST_SHARED), 2)),
        lambda release: release.risk.count_k,
    ),
    Knob(
        _T_EQUAL,
        *_SHARE,
        lambda _table: -log(_LEAST_SHARE),
        _sensitive_reached(max, lambda each: each.t_closeness.value),
    ),
    Knob(HOUSEHOLDS, *_COUNT, _half_of_persons, _households_reached),
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
    """What a release keeps by itself, by the name of the knob that would ask for it."""
    found = {name: knob.reached(release) for name, knob in KNOBS.items()}
    return tuple((name, value) for name, value in found.items() if value is not None)


def promise_words(promise: Promise) -> str:
    """A promise and its limit, for a reader; presence is searched from above only."""
    shown = (
        f"{value:.6g}" if isinstance(value, float) else str(value)
        for name, value in promise.parameters().items()
        if not (promise.name == "presence" and name == "low")
    )
    return f"{promise.name} {' '.join(shown)}"


def promise_options(promise: Promise) -> dict[str, object]:
    """The options of ``sfumato anonymize`` that ask for a promise, with underscores."""
    parameters = dict(promise.parameters())
    if promise.name == "presence":
        return {PRESENCE: parameters["high"]}
    options = {promise.name: next(iter(parameters.values()))}
    if "distance" in parameters:
        options["distance"] = parameters["distance"]
    return options


@dataclass(frozen=True, slots=True)
class Rule:
    """What keeps a limit on a measure.

    Attributes
    ----------
    needed
        Limits that every release has to keep which meets the threshold.
    enough
        Limits under which every release meets it; ``None`` where nothing is known to.
    movers
        Knobs that can move the measure, where what is needed is not enough.
    """

    needed: Callable[[float], Limits]
    enough: Callable[[float], Limits] | None
    movers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Target:
    """A threshold with what keeps it: a `Rule` at its limit."""

    threshold: Threshold
    needed: Limits = field(default_factory=dict)
    enough: Limits | None = None
    movers: tuple[str, ...] = ()


def _exactly(make: Callable[[float], Limits]) -> Rule:
    return Rule(make, make)


def _found_by(enough: Callable[[float], Limits] | None, *movers: str) -> Rule:
    return Rule(lambda _limit: {}, enough, movers)


def _one_in(name: str) -> Callable[[float], Limits]:
    """So many alike that nobody is found with a higher chance."""
    return lambda risk: {name: ceil(1 / risk - _ROUNDING)}


def _number(name: str) -> Callable[[float], Limits]:
    return lambda limit: {name: ceil(limit - _ROUNDING)}


def _same(name: str) -> Callable[[float], Limits]:
    return lambda limit: {name: limit}


def _balanced(limit: float) -> Limits:
    """The largest share of a class's records is at most the root of 1 - g."""
    return {"g_balance": 1 - limit**2}


_BY_SIZE = ("pid_k", "marketer", "g_balance", "k")
_BY_COUNTS = (COUNTS, "pid_k", "marketer", CAP)
RULES: dict[str, Rule] = {
    "k": _exactly(_number("k")),
    "pid_k": _exactly(_number("pid_k")),
    "prosecutor": _exactly(_one_in("pid_k")),
    "journalist": _exactly(_one_in("pid_k")),
    "marketer": _exactly(_same("marketer")),
    "population_uniques": _exactly(_same("population_uniques")),
    "k_map": _exactly(_number("k_map")),
    "g_balance": _exactly(_same("g_balance")),
    "h_affiliation": _exactly(_same("h_affiliation")),
    "max_gsar": _exactly(_same("h_affiliation")),
    "l_distinct": _exactly(_number("l")),
    _T_EQUAL: _exactly(_same("t_closeness")),
    _T_ORDERED: _exactly(_same("t_closeness")),
    "count_k": _exactly(_number(COUNTS)),
    "max_count_risk": _exactly(_one_in(COUNTS)),
    HOUSEHOLDS: _exactly(_number(HOUSEHOLDS)),
    "max_composition_risk": _exactly(_one_in(HOUSEHOLDS)),
    "avg_composition_risk": _found_by(_one_in(HOUSEHOLDS), HOUSEHOLDS),
    PRESENCE: _exactly(_same(PRESENCE)),
    # Where no share is above t, the sum of their squares is at most t.
    "max_gidr": Rule(
        lambda limit: {"g_balance": 1 - limit},
        _balanced,
        ("g_balance", "pid_k", "k", "marketer", CAP),
    ),
    "avg_gidr": _found_by(_balanced, "g_balance", "marketer", "pid_k", "k"),
    "average_risk": _found_by(_one_in("pid_k"), *_BY_SIZE),
    AT_RISK: _found_by(_one_in("pid_k"), *_BY_SIZE),
    "sample_uniques": _found_by(lambda _limit: {"pid_k": 2}, *_BY_SIZE),
    "avg_gsar": _found_by(_same("h_affiliation"), "h_affiliation", "l", "marketer", "pid_k"),
    "l_entropy": _found_by(None, "h_affiliation", "l", "t_closeness", "pid_k"),
    "exposed_persons": _found_by(lambda _limit: {COUNTS: 2}, *_BY_COUNTS),
    "avg_count_risk": _found_by(_one_in(COUNTS), *_BY_COUNTS),
    **dict.fromkeys(
        ("max_household_risk", "avg_household_risk", "households_at_risk"),
        _found_by(None, "pid_k", "marketer", "g_balance"),
    ),
}
"""By measure."""


def target_of(threshold: Threshold, high_risk: float) -> Target:
    """A threshold with what keeps it.

    Parameters
    ----------
    high_risk
        Risk above which a record is at risk, where the threshold does not say.
    """
    measure = threshold.measure
    if measure not in RULES:
        raise InputError(
            f"a threshold of {measure}",
            "must be about what a release can be tuned to",
            accepted=", ".join(RULES),
            advice="assess the release against it",
        )
    rule, limit = RULES[measure], threshold.limit
    aimed = limit
    if measure == AT_RISK:  # its limit is a number of records, not the risk that each may have
        aimed = high_risk if threshold.above is None else threshold.above
    try:
        enough = None if rule.enough is None else rule.enough(aimed)
        needed = rule.needed(limit)
    except ZeroDivisionError:
        enough = needed = {"pid_k": float("inf")}
    if not all(_possible(*each) for each in needed.items()):
        raise InputError(
            f"the limit of {measure}",
            "must be one that a release can meet",
            accepted="a share above 0" if KINDS[measure].bound == "at most" else "less than 1",
        )
    if enough is not None and not all(_possible(*each) for each in enough.items()):
        enough = None
    return Target(threshold, needed, enough, rule.movers)


def _possible(name: str, value: float) -> bool:
    if name == "g_balance":
        return 0 <= value < 1
    return value != float("inf") if KNOBS[name].whole else value > 0


def distance_of(targets: Sequence[Target]) -> str:
    """The distance of t-closeness that thresholds speak of; `check_measurable` allows one only."""
    ordered = any(each.threshold.measure == _T_ORDERED for each in targets)
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
            "give its register, or the number of its persons (population, --population)",
        ),
    }
    for each in thresholds:
        there, what, advice = lacking.get(each.kind.part, (True, "", ""))
        if not there:
            raise InputError(
                f"a threshold of {each.measure}", f"needs {what}", found="none", advice=advice
            )
    if {_T_EQUAL, _T_ORDERED} <= {each.measure for each in thresholds}:
        raise InputError(
            f"thresholds of {_T_EQUAL} and {_T_ORDERED}",
            "must not be asked together",
            advice="a command states one distance; leave one of them out",
        )
