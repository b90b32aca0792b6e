"""Two releases about the same persons: how attacks on both are judged."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sfumato.core.number_text import count
from sfumato.core.phrases import Listed, Phrase
from sfumato.intruder.attacks.scene import Act, Scene, Staged, several_releases
from sfumato.intruder.guesses.association_attack import by_associations
from sfumato.intruder.guesses.intersection_attack import intersect
from sfumato.intruder.guesses.trajectory_attack import follow
from sfumato.intruder.referee import judgements


def intersection(scene: Scene) -> Iterator[Staged]:
    """Look for persons who are in two releases: only what fits in both is left."""
    targets = np.flatnonzero(scene.truth.released)
    for number, prior in enumerate(scene.priors, 1):
        name = "intersection" if len(scene.priors) == 1 else f"intersection_{number}"
        rng = scene.rng(name)
        found = intersect(scene.file, prior, scene.uncounted, rng, targets=targets)
        what = (
            Phrase(
                "The intruder holds another release, joined by the same pseudonyms, and looks for "
                "people in both"
            )
            if found.linked
            else Phrase(
                "The intruder holds another release, joined by sensitive values that agree, and "
                "looks for people in both"
            )
        )
        for end, surest, measure, said in (
            ("", False, "marketer", Phrase("everybody counts")),
            ("_surest", True, "prosecutor", Phrase("only the surest guesses")),
        ):
            yield scene.judged(
                f"{name}{end}",
                Phrase("{what}; {counted}.", what=what, counted=said),
                found.identification,
                measure,
                surest=surest,
                targeted=True,
                calibrated=not surest,
            )
        for guesses in found.inferences:
            outcome = judgements.judge_inference(
                guesses,
                scene.truth,
                scene.file,
                rng,
                what=Phrase("{what}; of these the intruder guesses the value.", what=what),
                targets="one_per_class",
                predicted=scene.claim("avg_gsar", guesses.attribute),
                attack=f"inference_{name}:{guesses.attribute}",
            )
            yield Staged(outcome)


def trajectory(scene: Scene) -> Iterator[Staged]:
    """Join two releases by the histories that pseudonyms show, and look for persons in both."""
    targets = np.flatnonzero(scene.truth.released)
    for number, prior in enumerate(scene.priors, 1):
        name = "trajectory" if len(scene.priors) == 1 else f"trajectory_{number}"
        found = follow(scene.file, prior, scene.uncounted, scene.rng(name), targets)
        # Where nobody is joined no attack was made: it must not be counted as one that failed.
        if not len(found.joined):
            continue
        yield scene.judged(
            name,
            Phrase(
                "The intruder holds another release, takes {some} of {all} people for the same in "
                "both by what their records keep ({columns}), and looks for people in both.",
                some=count(len(found.joined)),
                all=count(scene.file.persons),
                columns=Listed(found.columns),
            ),
            found.identification,
            "marketer",
            targeted=True,
            calibrated=True,
        )


def associations(scene: Scene) -> Iterator[Staged]:
    """Refine the released cells by associations that an earlier release shows (paper 002).

    Held against marketer risk; for a release on request that is the mean risk with accepted
    associations applied (SLA).
    """
    for number, prior in enumerate(scene.priors, 1):
        name = "associations" if len(scene.priors) == 1 else f"associations_{number}"
        found = by_associations(scene.file, prior, scene.uncounted, scene.rng(name))
        if not found.refined:
            continue
        yield scene.judged(
            name,
            Phrase(
                "The intruder infers values that were generalised from associations in another "
                "release, which narrows {some} of {all} classes, and matches again.",
                some=count(found.refined),
                all=count(scene.file.classes),
            ),
            found.guesses,
            "marketer",
            calibrated=True,
        )


def _histories(scene: Scene) -> str:
    if any(prior.person is None for prior in (scene.file, *scene.priors)):
        return "a person column in both releases"
    return several_releases(scene)


INTERSECTION = Act("intersection", 90, "recipient", intersection, several_releases)
TRAJECTORY = Act("trajectory", 100, "recipient", trajectory, _histories)
ASSOCIATIONS = Act("associations", 110, "recipient", associations, several_releases)
