"""Values that are guessed or foretold: how guesses are judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sfumato.core.measure import Measure
from sfumato.core.phrases import Phrase
from sfumato.intruder.attacks.scene import (
    CLAIMED,
    TARGETS,
    Act,
    Scene,
    Staged,
    sensitive_and_true,
    sensitive_shown,
)
from sfumato.intruder.guesses import inference_attacks, model_attack
from sfumato.intruder.reading import TextColumn
from sfumato.intruder.referee import judgements
from sfumato.intruder.referee.attack_odds import Outcome, one_per_class, success
from sfumato.intruder.referee.weighed_evidence import Speaks
from sfumato.table.spellings import reading


def inference(scene: Scene) -> Iterator[Staged]:
    """Guess of each register person the value that most persons of the fitting classes have.

    Against AvgGSAR with one person of each class, against MaxGSAR with the best classes. Near
    numbers are tried as one value, too, about which nothing is predicted.
    """
    own = [column.as_read() for column in scene.file.sensitive]
    near = map(model_attack.near_as_one, own)
    # A column without near numbers comes back as it is, and is tried once.
    file = replace(scene.file, sensitive=tuple(dict.fromkeys([*own, *near])))
    for column in file.sensitive:
        guesses = inference_attacks.most_shared_value(file, scene.candidates, column)
        rng = scene.rng(f"inference:{column.name}")
        labelled = column.name in scene.schema.events and _shows_labels(column, scene.truth)
        for (end, targets, said), measure in zip(CLAIMED, ("avg_gsar", "max_gsar"), strict=True):
            # Nothing is claimed about near numbers as one: there is no maximum to be held against.
            if end and column not in own:
                continue
            outcome = judgements.judge_inference(
                guesses,
                scene.truth,
                file,
                rng,
                what=Phrase(
                    "The intruder guesses the value that most people have in the classes that the "
                    "target fits; {counted}.",
                    counted=said,
                ),
                targets=targets,
                predicted=None if labelled else scene.claim(measure, column.name),
                attack=f"inference{end}:{column.name}",
            )
            # What is most said of a class is no share of people.
            told = Speaks("learned", column.name) if not end and column in own else None
            yield Staged(outcome, speaks=told)


def _shows_labels(column: TextColumn, truth: judgements.Truth) -> bool:
    """Whether cells are no values, such as a label above several, of which nothing is claimed."""
    held = truth.values.get(column.name)
    if held is None:
        return False
    return not set(column.texts) <= {*held.texts, *map(reading, held.texts), None, "*"}


def model(scene: Scene) -> Iterator[Staged]:
    """Foretell values by a model of the release, beside the same without the person's own record.

    One person of each class is asked about. Nothing is predicted about it.
    """
    file, owner = scene.file, judgements.owners(scene.file, scene.truth).first
    sights = model_attack.sights(file, scene.knowledge)
    home = file.class_of[np.unique(file.unit, return_index=True)[1]]
    known = np.flatnonzero(owner >= 0)
    for column in (attribute.as_read() for attribute in file.sensitive):
        rng, name = scene.rng(f"model:{column.name}"), f"inference_model:{column.name}"
        unit = rng.permutation(one_per_class(known, home[known], rng))[:TARGETS]
        shown = model_attack.shown_values(file, model_attack.near_as_one(column))
        found = model_attack.foretold(
            sights, scene.candidates, person=owner[unit], unit=unit, shown=shown
        )
        right = shown.has(unit, found.value)
        # The others of a class are no help where these have other values.
        tried = shown.has(unit, found.beside), shown.has(unit, found.alike)
        without = max(tried, key=np.count_nonzero)
        hits, attempts = int(right.sum()), len(unit)
        yield Staged(
            Outcome(
                name,
                Phrase(
                    "The intruder trains a model on the release and foretells the value of one "
                    "person of each class from the quasi-identifiers and the class; near numbers "
                    "are one."
                ),
                attempts,
                hits,
                success(hits, attempts),
                Measure(
                    "baseline",
                    float(without.mean()) if attempts else 0.0,
                    why="the same from the release without the person's own record",
                ),
            )
        )


INFERENCE = Act("inference", 70, "stranger", inference, sensitive_shown)
MODEL = Act("model", 80, "stranger", model, sensitive_and_true)
