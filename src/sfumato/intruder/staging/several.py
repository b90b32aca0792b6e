"""What other releases give away beside the attacked one, staged and judged."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sfumato.intruder.attacks.associations import by_associations
from sfumato.intruder.attacks.intersection import intersect
from sfumato.intruder.referee.judge_identification import judge_identification
from sfumato.intruder.referee.judge_inference import judge_inference
from sfumato.intruder.staging.scene import Scene, Staged


def intersection(scene: Scene) -> Iterator[Staged]:
    """Look for persons who are in two releases: only what fits in both is left.

    Parameters
    ----------
    scene
        What to work on.
    """
    targets = np.flatnonzero(scene.truth.released)
    for number, prior in enumerate(scene.priors, 1):
        name = "intersection" if len(scene.priors) == 1 else f"intersection_{number}"
        rng = scene.rng(name)
        found = intersect(scene.file, prior, scene.uncounted, rng, targets=targets)
        by = "the same pseudonyms" if found.linked else "sensitive values that agree"
        what = f"The intruder holds another release, joined by {by}, and looks for persons in both"
        for end, surest, measure, said in (
            ("", False, "marketer", "everybody counts"),
            ("_surest", True, "prosecutor", "only those of whom he is surest"),
        ):
            outcome = judge_identification(
                found.identification,
                scene.truth,
                scene.file,
                attack=f"{name}{end}",
                what=f"{what}; {said}.",
                one_to_one=False,
                predicted=scene.claim(measure),
                threshold=scene.threshold,
                surest=surest,
                targeted=True,
            )
            yield Staged(outcome, () if surest else scene.calibrated(found.identification))
        for guesses in found.inferences:
            outcome = judge_inference(
                guesses,
                scene.truth,
                scene.file,
                rng,
                what=f"{what}; of these the intruder guesses the value.",
                targets="one_per_class",
                predicted=scene.claim("avg_gsar", guesses.attribute),
                threshold=scene.threshold,
                attack=f"inference_{name}:{guesses.attribute}",
            )
            yield Staged(outcome)


def associations(scene: Scene) -> Iterator[Staged]:
    """Refine the released cells by associations that an earlier release shows (paper 002).

    Held against marketer risk; for a release on request that is the mean risk with accepted
    associations applied (SLA).

    Parameters
    ----------
    scene
        What to work on.
    """
    for number, prior in enumerate(scene.priors, 1):
        name = "associations" if len(scene.priors) == 1 else f"associations_{number}"
        found = by_associations(scene.file, prior, scene.uncounted, scene.rng(name))
        if not found.refined:
            continue
        outcome = judge_identification(
            found.guesses,
            scene.truth,
            scene.file,
            attack=name,
            what="The intruder infers values that were generalised from associations in another "
            f"release, which narrows {found.refined:,} of {scene.file.classes:,} classes, and "
            "matches again.",
            one_to_one=False,
            predicted=scene.claim("marketer"),
            threshold=scene.threshold,
        )
        yield Staged(outcome, scene.calibrated(found.guesses))
