"""Households of which all members are known: how the search for them is judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sfumato.core.arrays import Floats
from sfumato.intruder.attacks.scene import PROMISED, SINGLED, TARGETS, Act, Scene, Staged, another
from sfumato.intruder.guesses.household_attack import Neighbours, by_members, known_households
from sfumato.intruder.reading import TextColumn
from sfumato.intruder.referee import judgements
from sfumato.intruder.referee.criteria import Criterion, persons_at_risk


def household(scene: Scene) -> Iterator[Staged]:
    """Look for households by all of their members, in a file that shows who lives together.

    The mean over those that are looked for is held against the mean chance of a household, the
    surest against the largest.
    """
    column, name = _shown_household(scene), scene.schema.household
    if column is None or name is None:
        return
    rng, known = scene.rng("household"), known_households(scene.knowledge, name)
    inside = np.unique(known[scene.truth.released])
    targets = np.sort(rng.permutation(inside)[:TARGETS])
    found = by_members(scene.file, scene.candidates, known, column, targets, rng)
    # As if households were the persons: what is judged is which one was named for which.
    owner = scene.truth.owner
    homes = replace(
        scene,
        file=replace(scene.file, person=found.shown, persons=int(found.shown.max()) + 1),
        truth=judgements.owned(np.where(owner >= 0, known[owner], -1), int(known.max()) + 1),
    )
    what = (
        "The intruder knows all members of a household that is in the file, and names one of the "
        "released households whose people they can be"
    )
    staged = homes.judged(
        "household", f"{what}.", found.guesses, "avg_composition_risk",
        targeted=True, calibrated=True,
    )  # fmt: skip
    # Who holds a register of his own is not taken to know who of it is in the file.
    if not scene.against_register:
        chance = _household_chances(found, homes)
        risk = persons_at_risk(Criterion.SINGLING_OUT, "household", chance, scene.threshold)
        staged = replace(staged, findings=(risk,))
    yield staged
    yield homes.judged(
        "household_surest",
        f"{what}; only the households are counted for which fewest can be.",
        found.guesses,
        "max_composition_risk",
        surest=True,
        targeted=True,
    )


def _household_chances(found: Neighbours, homes: Scene) -> Floats:
    """The chance that each household is found which was looked for, without drawing."""
    shown, known = found.shown, homes.truth.owner
    pairs = np.unique(np.stack([known[known >= 0], shown[known >= 0]], axis=1), axis=0)
    targets = found.guesses.person
    place = np.full(len(homes.truth.released), -1, dtype=np.int64)
    place[targets] = np.arange(len(targets))
    pairs = pairs[place[pairs[:, 0]] >= 0]
    fits = found.can_be[place[pairs[:, 0]], found.composition[pairs[:, 1]]]
    own = np.bincount(place[pairs[:, 0]], np.asarray(fits).reshape(-1), minlength=len(targets))
    # A household that was split has several numbers, but is found once at most.
    return np.asarray(np.minimum(own * found.guesses.chance, 1.0), dtype=np.float64)


def _shown_household(scene: Scene) -> TextColumn | None:
    """The released column by which records are of one household; ``None`` without one."""
    name = scene.schema.household
    return next((each for each in scene.file.others if each.name == name), None)


def _households(scene: Scene) -> str:
    name = scene.schema.household
    if name is None or _shown_household(scene) is None:
        return "the schema's household column in the released file"
    known = any(each.name == name for each in scene.knowledge.others)
    return another(scene) if known or scene.itself else "households in what the intruder holds"


ACT = Act("household", 60, household, _households, PROMISED | SINGLED)
