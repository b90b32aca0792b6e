"""From a threshold to the constraints that can keep it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil

from sfumato.core.errors import InputError
from sfumato.pipeline.tune.knobs import stricter
from sfumato.risk.risk_thresholds import AT_RISK, KINDS, Part, Threshold

Limits = Mapping[str, float]
PRESENCE = "presence_high"
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Rule:
    """What keeps a limit on a measure.

    Attributes
    ----------
    needed
        Limits of constraints that every release has to keep which meets the threshold.
    enough
        Limits under which every release meets it; ``None`` where nothing is known to.
    movers
        Constraints that can move the measure, where what is needed is not enough.
    """

    needed: Callable[[float], Limits]
    enough: Callable[[float], Limits] | None
    movers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Target:
    """A threshold with what keeps it.

    Attributes
    ----------
    threshold
        The threshold.
    needed, enough, movers
        As in `Rule`, for this limit.
    """

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
    return lambda risk: {name: ceil(1 / risk - ROUNDING)}


def _number(name: str) -> Callable[[float], Limits]:
    return lambda limit: {name: ceil(limit - ROUNDING)}


def _same(name: str) -> Callable[[float], Limits]:
    return lambda limit: {name: limit}


def _balanced(limit: float) -> Limits:
    """The largest share of a class's records is at most the root of 1 - g."""
    return {"g_balance": 1 - limit**2}


_BY_SIZE = ("pid_k", "marketer", "g_balance", "k")
_BY_COUNTS = ("shared_counts", "pid_k", "marketer", "cap_records")
RULES: dict[str, Rule] = {
    "k": _exactly(_number("k")),
    "pid_k": _exactly(_number("pid_k")),
    "prosecutor": _exactly(_one_in("pid_k")),
    "journalist": _exactly(_one_in("pid_k")),
    "marketer": _exactly(_same("marketer")),
    "g_balance": _exactly(_same("g_balance")),
    "h_affiliation": _exactly(_same("h_affiliation")),
    "max_gsar": _exactly(_same("h_affiliation")),
    "l_distinct": _exactly(_number("l")),
    "t_closeness": _exactly(_same("t_closeness")),
    "t_closeness_ordered": _exactly(_same("t_closeness")),
    "count_k": _exactly(_number("shared_counts")),
    "max_count_risk": _exactly(_one_in("shared_counts")),
    PRESENCE: _exactly(_same(PRESENCE)),
    # Where no share is above t, the sum of their squares is at most t.
    "max_gidr": Rule(
        lambda limit: {"g_balance": 1 - limit},
        _balanced,
        ("g_balance", "pid_k", "k", "marketer", "cap_records"),
    ),
    "avg_gidr": _found_by(_balanced, "g_balance", "marketer", "pid_k", "k"),
    "average_risk": _found_by(_one_in("pid_k"), *_BY_SIZE),
    AT_RISK: _found_by(_one_in("pid_k"), *_BY_SIZE),
    "sample_uniques": _found_by(lambda _limit: {"pid_k": 2}, *_BY_SIZE),
    "avg_gsar": _found_by(_same("h_affiliation"), "h_affiliation", "l", "marketer", "pid_k"),
    "l_entropy": _found_by(None, "h_affiliation", "l", "t_closeness", "pid_k"),
    "exposed_persons": _found_by(lambda _limit: {"shared_counts": 2}, *_BY_COUNTS),
    "avg_count_risk": _found_by(_one_in("shared_counts"), *_BY_COUNTS),
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
    threshold
        The threshold.
    high_risk
        Risk above which a record is at risk, where the threshold does not say.

    Raises
    ------
    InputError
        If a release has no such measure, or no release could meet the limit.
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
    if measure == AT_RISK:
        aimed = high_risk if threshold.above is None else threshold.above
    else:
        aimed = limit
    try:
        enough = None if rule.enough is None else rule.enough(aimed)
        needed = rule.needed(limit)
    except ZeroDivisionError:
        enough = needed = {"pid_k": float("inf")}
    if any(not _possible(name, value) for name, value in needed.items()):
        raise InputError(
            f"the limit of {measure}",
            "must be one that a release can meet",
            accepted="a share above 0" if KINDS[measure].bound == "at most" else "less than 1",
        )
    if enough is not None and not all(_possible(*pair) for pair in enough.items()):
        enough = None
    return Target(threshold, needed, enough, rule.movers)


def _possible(name: str, value: float) -> bool:
    if name == "g_balance":
        return 0 <= value < 1
    if name in ("k", "pid_k", "l", "shared_counts"):
        return value != float("inf")
    return value > 0


def together(several: Sequence[Limits]) -> dict[str, float]:
    """The strictest limit of each constraint.

    Parameters
    ----------
    several
        Limits by name.
    """
    found: dict[str, float] = {}
    for limits in several:
        for name, value in limits.items():
            found[name] = stricter(name, found[name], value) if name in found else value
    return found


def check_parts(
    thresholds: Sequence[Threshold], *, sensitive: bool, household: bool, register: bool
) -> None:
    """Refuse thresholds about what the file does not have.

    Parameters
    ----------
    thresholds
        What is asked.
    sensitive, household, register
        Whether there are sensitive attributes, households, a register of the population.

    Raises
    ------
    InputError
        If there is nothing that one of them speaks about, or two need different distances.
    """
    lacking = {
        Part.SENSITIVE: (sensitive, "sensitive attributes", "name them in the schema"),
        Part.HOUSEHOLD: (household, "households", "name the household column in the schema"),
        Part.PRESENCE: (register, "a population register", "give one (register, --register)"),
    }
    for each in thresholds:
        there, what, advice = lacking.get(each.kind.part, (True, "", ""))
        if not there:
            raise InputError(
                f"a threshold of {each.measure}", f"needs {what}", found="none", advice=advice
            )
    measures = {each.measure for each in thresholds}
    if {"t_closeness", "t_closeness_ordered"} <= measures:
        raise InputError(
            "thresholds of t_closeness and t_closeness_ordered",
            "must not be asked together",
            advice="a command states one distance; leave one of them out",
        )
