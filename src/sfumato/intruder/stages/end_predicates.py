"""Ends of ranges that hold of one person: how singling out by them is judged."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sfumato.core.measure import Measure
from sfumato.intruder.attacks.bounds_attack import by_ends, isolated
from sfumato.intruder.referee.attack_odds import Outcome, free_hits, success
from sfumato.intruder.referee.criteria import persons_isolated
from sfumato.intruder.stages.scene import SINGLED, Act, Scene, Staged, another

PREDICATES = 500
"""Classes of which both ends are tried, drawn where there are more."""


BEYOND = 0.001
"""Probability by chance below which ends are said to single out."""


def singling_out(scene: Scene) -> Iterator[Staged]:
    """Single out somebody by what a class shows and one end of one of its ranges.

    Held against the same predicates with other values of the same ranges. No release claims
    anything about it, so that nothing is broken by it; what it found is a warning.

    Parameters
    ----------
    scene
        What to work on.
    """
    predicates = by_ends(scene.file, scene.rng("singling_out"), PREDICATES)
    found = isolated(predicates, scene.file, scene.exact, scene.truth.released)
    judged = np.isfinite(found.chance)
    alone, chance = found.alone[judged], found.chance[judged]
    attempts, right = len(alone), int(alone.sum())
    by_chance = float(chance.mean()) if attempts else 0.0
    notes, warnings = [], []
    unjudged = predicates.without + len(np.unique(predicates.class_of[~judged]))
    if unjudged:
        notes.append(
            f"{unjudged:,} classes have no range with a value between two ends and were not tried."
        )
    if attempts and free_hits(chance).at_least(right) < BEYOND:
        warnings.append(
            "The ends of ranges single persons out: one end of a range, and what else its class "
            f"shows, holds of exactly one person for {100 * right / attempts:.3g} % of the ends "
            f"tried, where a value between the ends would for {100 * by_chance:.3g} %."
        )
    yield Staged(
        Outcome(
            "singling_out",
            "The intruder describes somebody by what a class shows and one end of its widest "
            "range, each end alone; right is what holds of exactly one person of the file.",
            attempts,
            right,
            success(right, attempts),
            Measure("baseline", by_chance, why="the same with a value between the ends"),
            notes=tuple(notes),
        ),
        warnings=tuple(warnings),
        findings=(persons_isolated("singling_out", found, scene.tolerance.person),),
    )


ACT = Act("singling_out", 170, singling_out, another, SINGLED, essential=True)
