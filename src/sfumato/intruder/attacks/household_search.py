"""Households of which all members are known: how the search for them is judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sfumato.core.phrases import Phrase
from sfumato.intruder.attacks.scene import TARGETS, Act, Scene, Staged, another
from sfumato.intruder.guesses.household_attack import by_members, known_households
from sfumato.intruder.reading import TextColumn
from sfumato.intruder.referee import judgements


def household(scene: Scene) -> Iterator[Staged]:
    """Look for households by all of their members, in a file that shows who lives together.

    The mean over those that are looked for is held against the mean chance of a household, the
    surest against the largest.
    """
    column, name = _shown_household(scene), scene.schema.household
    if column is None or name is None:
        return
    rng, households = scene.rng("household"), known_households(scene.knowledge, name)
    inside = np.unique(households[scene.truth.released])
    targets = np.sort(rng.permutation(inside)[:TARGETS])
    members = by_members(scene.file, scene.candidates, households, column, targets, rng)
    # As if households were the persons: what is judged is which one was named for which.
    owner = scene.truth.owner
    homes = replace(
        scene,
        file=replace(scene.file, person=members.shown, persons=int(members.shown.max()) + 1),
        truth=judgements.owned(
            np.where(owner >= 0, households[owner], -1), int(households.max()) + 1
        ),
    )
    what = Phrase(
        "The intruder knows all members of a household that is in the file, and names one of the "
        "released households that they can be"
    )
    yield homes.judged(
        "household", Phrase("{what}.", what=what), members.guesses, "avg_composition_risk",
        targeted=True, calibrated=True, knows_more=True,
    )  # fmt: skip
    yield homes.judged(
        "household_surest",
        Phrase("{what}; only the households are counted for which fewest can be.", what=what),
        members.guesses,
        "max_composition_risk",
        surest=True,
        targeted=True,
        knows_more=True,
    )


def _shown_household(scene: Scene) -> TextColumn | None:
    """The released column by which records are of one household; ``None`` without one."""
    name = scene.schema.household
    return next((column for column in scene.file.others if column.name == name), None)


def _households(scene: Scene) -> str:
    name = scene.schema.household
    if name is None or _shown_household(scene) is None:
        return "the schema's household column in the released file"
    known = any(column.name == name for column in scene.knowledge.others)
    return another(scene) if known or scene.itself else "households in what the intruder holds"


ACT = Act("household", 60, "acquaintance", household, _households)
