"""What the screens of a review showed: how the attack on it is judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sfumato.core.declaration import Progress
from sfumato.core.measure import Measure
from sfumato.core.phrases import Figure, Phrase
from sfumato.intruder.attacks.scene import Act, Scene, Staged
from sfumato.intruder.guesses.screen_attack import from_screen
from sfumato.intruder.referee import judgements
from sfumato.intruder.referee.attack_odds import calibration, free_hits
from sfumato.review.review_extra import needs_review
from sfumato.risk.evidence import REVIEW

if TYPE_CHECKING:
    from sfumato.intruder.review_screens import Screen

WHAT = Phrase(
    "An intruder who holds the identified tables looks for the records that agree with all that a "
    "worker’s screen showed of one, and takes one of them."
)


def screen(scene: Scene) -> Iterator[Staged]:
    """Guess whose record each one on a worker's screen was (paper 001)."""
    if scene.review is None:
        return
    screens = named_screens(scene.review, scene.rng("names of rows"), scene.progress)
    for name, each in screens.items():
        yield judged_screen(each, name, scene.rng(name))


def named_screens(folder: Path, rng: np.random.Generator, progress: Progress) -> dict[str, Screen]:
    """What each worker of a review was shown, by the name of the attack."""
    needs_review()
    from sfumato.intruder.review_screens import screens_of

    screens = screens_of(folder, rng, progress)
    if len(screens) == 1:
        return {"screen": screens[0]}
    return {f"screen_{number}": each for number, each in enumerate(screens, 1)}


def judged_screen(each: Screen, name: str, rng: np.random.Generator) -> Staged:
    """Attack what one screen showed.

    Held against the mean of 1/K over the rows, K being their anonymity sets as the review counts
    them: KAPR is made of the same 1/K, each with the share of the characters that are disclosed.
    """
    found = from_screen(each.shown, each.knowledge, rng)
    chances, made = 1 / each.sizes, found.guesses.person >= 0
    outcome = judgements.judge_identification(
        found.guesses,
        each.truth,
        each.shown.as_file(),
        attack=name,
        what=WHAT,
        one_to_one=False,
        predicted=Measure("screen_risk", float(chances.mean())),
        # Each row has a chance of its own, 1/K: the hits are a sum of these and not binomial.
        claimed=free_hits(chances[made]),
    )
    note = Phrase(
        "KAPR of what worker {worker} was shown: {kapr}.",
        worker=each.worker,
        kapr=Figure(f"{each.kapr:.5f}"),
    )
    outcome = replace(outcome, notes=(note,))
    right = each.truth.owner[found.guesses.unit[made]] == found.guesses.person[made]
    return Staged(outcome, calibration(found.guesses.chance[made], right))


def _review(scene: Scene) -> str:
    return "" if scene.review is not None else "the folder of a review (review)"


ACT = Act("screen", 120, REVIEW, screen, _review)
