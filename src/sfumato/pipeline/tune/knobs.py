"""What the search turns: the limit of each constraint on one scale of strictness."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, expm1, log, log1p

DIGITS = 4
"""Significant digits of a limit that the search proposes, so that a command can be read."""


@dataclass(frozen=True, slots=True)
class Knob:
    """The limit of one constraint, or of the records per person.

    Attributes
    ----------
    name
        Name of the constraint or option, as in a manifest.
    whole
        Whether its limit is a whole number.
    position
        Strictness of a limit: larger is stricter, and equal steps change it by equal factors.
    value
        The limit at a position; the inverse.
    """

    name: str
    whole: bool
    position: Callable[[float], float]
    value: Callable[[float], float]


def _share(name: str) -> Knob:
    """A limit in (0, 1] that is stricter when it is smaller."""
    return Knob(name, False, lambda limit: -log(max(limit, 1e-12)), lambda at: rounded(exp(-at)))


def _count(name: str) -> Knob:
    """A least number."""
    return Knob(name, True, lambda limit: log(max(limit, 1)), lambda at: max(round(exp(at)), 1))


def rounded(value: float) -> float:
    """A number with few significant digits.

    Parameters
    ----------
    value
        The number.
    """
    return float(f"{value:.{DIGITS}g}")


KNOBS: dict[str, Knob] = {
    each.name: each
    for each in (
        Knob(
            "g_balance",
            False,
            lambda limit: -log1p(-min(limit, 1 - 1e-12)),
            lambda at: round(1 - rounded(1 + expm1(-at)), 10),
        ),
        _share("h_affiliation"),
        _count("k"),
        _count("pid_k"),
        _count("l"),
        _share("marketer"),
        _count("shared_counts"),
        _share("t_closeness"),
        _share("presence_high"),
        Knob(
            "cap_records",
            True,
            lambda limit: -log(max(limit, 1)),
            lambda at: max(round(exp(-at)), 1),
        ),
    )
}
"""By name, in the order of the options of ``sfumato anonymize``."""


def asks_nothing(name: str, value: float) -> bool:
    """Whether every release keeps a limit.

    Parameters
    ----------
    name
        Name of the knob.
    value
        The limit.
    """
    return name != "cap_records" and KNOBS[name].position(value) <= 0


def stricter(name: str, one: float, other: float) -> float:
    """The stricter one of two limits.

    Parameters
    ----------
    name
        Name of the knob.
    one, other
        The limits.
    """
    position = KNOBS[name].position
    return one if position(one) >= position(other) else other
