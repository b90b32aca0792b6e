"""From presets of thresholds to promises that a release keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import ceil

from sfumato.core.errors import InputError
from sfumato.release.constraints import (
    Budget,
    Constraint,
    GBalance,
    HAffiliation,
    KAnonymity,
    LDiversity,
    MarketerRisk,
    PidKAnonymity,
    SharedCounts,
    TCloseness,
)
from sfumato.release.result import Release
from sfumato.risk.risk_thresholds import Preset, Threshold, thresholds
from sfumato.risk.threshold_checks import check_numbers, hold

ROUNDING = 1e-9
HIGH_RISK = 0.2
"""Risk above which a record is at risk, where neither the preset nor the release says."""
Promise = Constraint | Budget


def promises(*presets: str | Preset, threshold: float = HIGH_RISK) -> tuple[Promise, ...]:
    """The constraints and budgets under which a release meets the thresholds of presets.

    A cell size k becomes k persons in every class, and so does a highest or average risk r, as
    ceil(1/r) persons; marketer risk becomes a budget over the whole release. A limit on the share
    of records at risk is kept by having none. Of several promises of one kind the strictest is
    left.

    Parameters
    ----------
    presets
        Names of built-in presets, or presets.
    threshold
        Risk above which a record is at risk, where a preset does not say it.

    Raises
    ------
    InputError
        If there is no such preset, it states no number, or no promise stands for it.

    Examples
    --------
    >>> promises("cms", "arx")
    (PidKAnonymity(k=11), MarketerRisk(tau=0.05))
    """
    chosen = thresholds(*presets) if presets else ()
    check_numbers(chosen)
    made = [_promise(preset, each, threshold) for preset in chosen for each in preset.thresholds]
    return strictest(made)


def strictest(several: Iterable[Promise]) -> tuple[Promise, ...]:
    """Of the promises of one kind and attribute the strictest, in the order of first mention.

    Parameters
    ----------
    several
        Promises; those that presets do not make stay as they are.
    """
    kept: dict[object, Promise] = {}
    for each in several:
        parameters = dict(each.parameters())
        strict = _STRICTER.get(each.name)
        if strict is None:
            kept[object()] = each
            continue
        name, largest = strict
        limit = parameters.pop(name)
        key = (each.name, tuple(sorted(parameters.items(), key=str)))
        other = kept.get(key)
        if other is None or (limit > other.parameters()[name]) == largest:
            kept[key] = each
    return tuple(kept.values())


def held_against(release: Release, presets: Sequence[Preset]) -> Release:
    """The same release, its measures before and after held against presets.

    Where something is known of the population, the marketer risk of the release is that against
    the population.

    Parameters
    ----------
    release
        A release.
    presets
        What it is held against.

    Raises
    ------
    InputError
        If the release lacks what a preset speaks about.
    """
    known = release.population
    risk = release.risk if known is None else replace(release.risk, marketer=known.marketer)
    return replace(
        release,
        risk=replace(release.risk, held=hold(risk, *presets).held),
        risk_before=hold(release.risk_before, *presets),
    )


_STRICTER = {
    "k": ("k", True),
    "pid_k": ("k", True),
    "l": ("l", True),
    "shared_counts": ("m", True),
    "g_balance": ("g", True),
    "h_affiliation": ("h", False),
    "t_closeness": ("t", False),
    "marketer": ("tau", False),
}
"""The parameter of each promise that is its limit, and whether a larger one is stricter."""


def _persons(risk: float) -> PidKAnonymity:
    """So many persons in every class that nobody is found with a higher chance."""
    return PidKAnonymity(ceil(1 / risk - ROUNDING))


_PROMISES: dict[str, Callable[[float], Promise]] = {
    "k": lambda limit: KAnonymity(ceil(limit)),
    "pid_k": lambda limit: PidKAnonymity(ceil(limit)),
    "prosecutor": _persons,
    "journalist": _persons,
    "average_risk": _persons,
    "marketer": MarketerRisk,
    "g_balance": GBalance,
    # The largest share of a class's records is at most the root of 1 - g.
    "max_gidr": lambda limit: GBalance(1 - limit**2),
    "h_affiliation": HAffiliation,
    "max_gsar": HAffiliation,
    "l_distinct": lambda limit: LDiversity(ceil(limit)),
    "t_closeness": TCloseness,
    "t_closeness_ordered": lambda limit: TCloseness(limit, distance="ordered"),
    "count_k": lambda limit: SharedCounts(ceil(limit)),
}
"""What keeps a limit on each measure, for every file."""


def _promise(preset: Preset, asked: Threshold, high_risk: float) -> Promise:
    make, limit = _PROMISES.get(asked.measure), asked.limit
    if asked.measure == "records_at_risk":
        make, limit = _persons, high_risk if asked.above is None else asked.above
    if make is None:
        raise InputError(
            f"preset {preset.name}",
            "must be about what a release can promise",
            found=f"a threshold of {asked.measure}",
            accepted=", ".join([*_PROMISES, "records_at_risk"]),
            advice="assess the release against it",
        )
    try:
        return make(limit)
    except (InputError, ZeroDivisionError):
        raise InputError(
            f"preset {preset.name}",
            f"must state a limit of {asked.measure} that a release can promise",
            found="one that is out of range",
        ) from None
