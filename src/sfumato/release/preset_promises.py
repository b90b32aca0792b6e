"""From presets of thresholds to promises that a release keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from sfumato.core.errors import InputError
from sfumato.release.promises import PROMISES
from sfumato.release.promises.promise import Budget, Constraint, strictest
from sfumato.release.release_result import Release
from sfumato.release.utility_measures import Later
from sfumato.risk.disclosure_risk import Risk
from sfumato.risk.risk_thresholds import AT_RISK, Preset, Threshold, thresholds
from sfumato.risk.threshold_checks import check_numbers, hold

HIGH_RISK = 0.2
"""Risk above which a record is at risk, where neither the preset nor the release says."""


def promises(
    *presets: str | Preset, threshold: float = HIGH_RISK
) -> tuple[Constraint | Budget, ...]:
    """The promises and budgets under which a release meets the thresholds of presets.

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


def held_against(release: Release, presets: Sequence[Preset]) -> Release:
    """The same release, its measures before and after held against presets.

    Where something is known of the population, the marketer risk of the release is that against
    the population.
    """
    known = release.population
    risk = release.risk if known is None else replace(release.risk, marketer=known.marketer)
    return replace(
        release,
        risk=replace(release.risk, held=hold(risk, *presets).held),
        assessed=Later(partial(_before, release, presets)),
    )


def _before(release: Release, presets: Sequence[Preset]) -> Risk:
    return hold(release.risk_before, *presets)


_KEPT_BY = {
    measure: make
    for promise in PROMISES.values()
    for measure, make in {**promise.measures, **promise.suffices}.items()
}
"""What keeps a limit on each measure, for every file."""


def _promise(preset: Preset, threshold: Threshold, high_risk: float) -> Constraint | Budget:
    make, limit = _KEPT_BY.get(threshold.measure), threshold.limit
    if threshold.measure == AT_RISK:
        limit = high_risk if threshold.above is None else threshold.above
    if make is None:
        raise InputError(
            f"preset {preset.name}",
            "must be about what a release can promise",
            found=f"a threshold of {threshold.measure}",
            accepted=", ".join(_KEPT_BY),
            advice="assess the release against it",
        )
    try:
        made: Constraint | Budget = make(limit)
    # A risk of 0 asks for 1/0 persons.
    except (InputError, ZeroDivisionError):
        raise InputError(
            f"preset {preset.name}",
            f"must state a limit of {threshold.measure} that a release can promise",
            found="one that is out of range",
        ) from None
    return made
