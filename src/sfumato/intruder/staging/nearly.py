"""Probabilistic matching with Splink, for what an intruder knows with errors."""

from __future__ import annotations

from collections.abc import Iterator

from sfumato.intruder.referee.judge_identification import judge_identification
from sfumato.intruder.staging.scene import Scene, Staged


def nearly(scene: Scene) -> Iterator[Staged]:
    """Match by weights of agreement, each record on its own and nobody named twice.

    Parameters
    ----------
    scene
        What to work on.
    """
    from sfumato.intruder.attacks.probabilistic.probabilistic import probabilistic

    found = probabilistic(
        scene.file,
        scene.uncounted,
        scene.rng("probabilistic"),
        progress=scene.progress,
    )
    for name, guesses, one_to_one, said in (
        ("probabilistic", found.free, False, "names the likeliest for each record"),
        ("probabilistic_one_to_one", found.one_to_one, True, "names nobody twice"),
    ):
        outcome = judge_identification(
            guesses,
            scene.truth,
            scene.file,
            attack=name,
            what="The intruder weighs how well each register person agrees with the cells, near "
            f"misses included (Splink), and {said}.",
            one_to_one=one_to_one,
            predicted=scene.claim("marketer"),
            threshold=scene.threshold,
        )
        yield Staged(outcome, scene.calibrated(guesses))
