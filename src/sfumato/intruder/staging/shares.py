"""Attacks on what persons of a class have in common: their records and their values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from sfumato.intruder.attacks.inference import most_shared_value
from sfumato.intruder.attacks.multi_record import any_person, most_records
from sfumato.intruder.referee.judge_inference import judge_inference
from sfumato.intruder.referee.judge_multi_record import judge_class_guesses
from sfumato.intruder.staging.scene import Scene, Staged

Of = Literal["all", "one_per_class", "surest"]
CLAIMED: tuple[tuple[str, Of, str], ...] = (
    ("", "one_per_class", "one of each class, drawn at random"),
    ("_surest", "surest", "only the classes of which the intruder expects most"),
)
"""What an attempt is about, against an average over classes and against a maximum."""


def multi_record(scene: Scene) -> Iterator[Staged]:
    """Name for every record of a class the person who owns most of them (paper 003).

    Against AvgGIDR with one record of each class, against MaxGIDR with the best classes.

    Parameters
    ----------
    scene
        What to work on.
    """
    rng = scene.rng("multi_record")
    found = [any_person(scene.file, scene.candidates, rng)]
    if scene.knowledge.counts is not None:
        found.append(most_records(scene.file, scene.candidates, scene.knowledge, rng))
    for guesses in found:
        name = "multi_record_counts" if guesses.counted else "multi_record"
        who = (
            "the person with most records among those who fit"
            if guesses.counted
            else "somebody who fits, without knowing how many records anybody has"
        )
        for (end, records, said), measure in zip(CLAIMED, ("avg_gidr", "max_gidr"), strict=True):
            outcome = judge_class_guesses(
                guesses,
                scene.truth,
                scene.file,
                rng,
                what=f"The intruder names for all records of a class {who}; {said}.",
                records=records,
                predicted=scene.claim(measure),
                threshold=scene.threshold,
                attack=f"{name}{end}",
            )
            yield Staged(outcome)


def inference(scene: Scene) -> Iterator[Staged]:
    """Guess of each register person the value that most persons of the fitting classes have.

    Against AvgGSAR with one person of each class, against MaxGSAR with the best classes.

    Parameters
    ----------
    scene
        What to work on.
    """
    for column in scene.file.sensitive:
        guesses = most_shared_value(scene.file, scene.candidates, column)
        rng = scene.rng(f"inference:{column.name}")
        for (end, targets, said), measure in zip(CLAIMED, ("avg_gsar", "max_gsar"), strict=True):
            outcome = judge_inference(
                guesses,
                scene.truth,
                scene.file,
                rng,
                what="The intruder guesses the value that most persons have in the classes that "
                f"the target fits; {said}.",
                targets=targets,
                predicted=scene.claim(measure, column.name),
                threshold=scene.threshold,
                attack=f"inference{end}:{column.name}",
            )
            yield Staged(outcome)
