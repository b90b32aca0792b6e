"""Attack what the screens of a clerical review showed, without any release beside it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.core.shared_options import Progress
from sfumato.intruder.claims import Claims
from sfumato.intruder.referee.judge_run import judge_run
from sfumato.intruder.result import Attack
from sfumato.intruder.staging.screen import judged_screen, named_screens

SCREEN = "screen"
"""The one attack that needs no release."""


def check_alone(
    review: str | os.PathLike[str] | None,
    attacks: Sequence[str] | None,
    others: Mapping[str, object],
) -> Path:
    """The folder of a review that is attacked alone; refuse what is about a release.

    Parameters
    ----------
    review
        The folder of the review, or ``None``.
    attacks
        The attacks that are asked for.
    others
        What else was given, by the name of its parameter.

    Raises
    ------
    InputError
        If something is.
    """
    if review is None:
        raise InputError(
            "parameter release",
            "must be given, or the folder of a review (review)",
            found="neither",
        )
    if attacks is not None and set([attacks] if isinstance(attacks, str) else attacks) != {SCREEN}:
        raise InputError(
            "parameter attacks", "must be about a review where no release is given", accepted=SCREEN
        )
    for name, value in others.items():
        if value is not None:
            raise InputError(
                f"parameter {name}", "goes with a release", found="the folder of a review alone"
            )
    return Path(review)


def attack_review(folder: Path, *, threshold: float, seed: int, progress: Progress) -> Attack:
    """Attack what workers' screens showed, beside the tables that were linked.

    Parameters
    ----------
    folder
        What ``sfumato link`` wrote, or a project, with the journals of a review in it.
    threshold
        Chance above which a right guess counts as exposed.
    seed
        Seed of every random choice.
    progress
        Told how far the work is.

    Raises
    ------
    InputError
        If nobody has reviewed in the folder, a file of it is damaged, or the extra ``review`` is
        not installed.
    """
    screens = named_screens(folder, np.random.default_rng([seed, *b"names of rows"]), progress)
    outcomes, calibrations = [], {}
    measures: dict[str, Measure] = {}
    for name, each in screens.items():
        rng = np.random.default_rng([seed, *name.encode()])
        staged = judged_screen(each, name, rng, threshold)
        outcomes.append(staged.outcome)
        if staged.calibration:
            calibrations[name] = staged.calibration
        if staged.outcome.predicted is not None:
            which = "" if len(screens) == 1 else f":{name}"
            measures[f"screen_risk{which}"] = staged.outcome.predicted
    progress("attack", 1.0)
    register = next(iter(screens.values())).knowledge.persons
    rows = sum(len(each.sizes) for each in screens.values())
    records = np.concatenate([np.flatnonzero(each.truth.released) for each in screens.values()])
    return Attack(
        outcomes=judge_run(outcomes),
        records=rows,
        persons=len(np.unique(records)),
        register_persons=register,
        held=(
            "What the screens of a clerical review showed, each worker's on its own.",
            f"The tables that were linked, {register:,} records.",
        ),
        claims=Claims(measures, own=True),
        threshold=threshold,
        seed=seed,
        warnings=_warnings(rows - sum(outcome.attempts for outcome in outcomes)),
        calibration=calibrations,
        about="review",
    )


def _warnings(without: int) -> tuple[str, ...]:
    return (f"With {without:,} rows no record of the tables seems to agree.",) if without else ()
