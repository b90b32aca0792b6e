"""The three constraints of Tables 7-12, and their thresholds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.release.constraints import Constraint, GBalance, KAnonymity, PidKAnonymity
from sfumato.release.splits import Split


@dataclass(frozen=True)
class Part:
    """One of the three constraints.

    Attributes
    ----------
    name
        Name of the constraint.
    symbol
        How the paper writes its threshold.
    caption
        What a table's part shows.
    constraint
        Makes the constraint of a threshold.
    split
        Which cut is tried first.
    persons
        The number of persons that a threshold stands for: k, K or 1/(1 - g) (Equation 3).
    of_persons
        The threshold that stands for a number of persons.
    digits
        Decimal places of the threshold.
    """

    name: str
    symbol: str
    caption: str
    constraint: Callable[[float], Constraint]
    split: Split
    persons: Callable[[float], float]
    of_persons: Callable[[float], float]
    digits: int


PARTS = (
    Part(
        "k",
        "k",
        "k-anonymity",
        lambda k: KAnonymity(int(k)),
        Split.VARIANCE,
        float,
        float,
        0,
    ),
    Part(
        "pid_k",
        "K",
        "PID-based K-anonymity",
        lambda k: PidKAnonymity(int(k)),
        Split.VARIANCE,
        float,
        float,
        0,
    ),
    Part(
        "g_balance",
        "g",
        "g-balance",
        GBalance,
        Split.BALANCE,
        lambda g: 1 / (1 - g),
        lambda persons: 1 - 1 / persons,
        4,
    ),
)


def geometric(least: float, most: float, steps: int) -> list[float]:
    """So many numbers from ``least`` to ``most``, each a fixed multiple of the one before."""
    if most <= least:
        return [least]
    return [float(each) for each in np.geomspace(least, most, steps)]


def counts(most: int, steps: int) -> list[int]:
    """Different whole numbers from 2 to ``most``, nearly geometric."""
    return sorted({round(each) for each in geometric(2, max(most, 2), steps)})


def close_in(
    tried: Sequence[tuple[float, float]],
    target: float,
    risk_at: Callable[[float], float | None],
    halvings: int,
    *,
    whole: bool,
) -> None:
    """Try thresholds between the first that meets a target and the one before it.

    Parameters
    ----------
    tried
        Thresholds and their risks, from loose to strict.
    target
        Largest risk allowed.
    risk_at
        Tries a threshold and gives its risk; ``None`` where nothing can keep it.
    halvings
        How often the step between the two is halved.
    whole
        Whether thresholds are whole numbers.
    """
    first = next((i for i, (_threshold, risk) in enumerate(tried) if risk <= target), 0)
    if not first:
        return
    loose, strict = tried[first - 1][0], tried[first][0]
    for _ in range(halvings):
        middle = float(round((loose * strict) ** 0.5) if whole else (loose * strict) ** 0.5)
        risk = None if middle in {loose, strict} else risk_at(middle)
        if risk is None:
            return
        if risk <= target:
            strict = middle
        else:
            loose = middle
