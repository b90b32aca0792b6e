"""Two releases that the targets are known to be in: what both together give away."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.intruder.attacks.intersection.by_pseudonym import (
    are_the_same,
    odds_by_pseudonym,
    shared_units,
)
from sfumato.intruder.attacks.intersection.by_values import odds_by_values
from sfumato.intruder.attacks.intersection.side import Side
from sfumato.intruder.guesses import Identification, Inference
from sfumato.intruder.knowledge.knowledge import Knowledge
from sfumato.intruder.reading.released_file import ReleasedFile

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Intersection:
    """What the intersection of two releases ends with.

    Attributes
    ----------
    identification
        For each target a unit of the first release, -1 where none fits.
    inferences
        For each sensitive attribute of both releases a value of each target, as a code of the
        first release's texts.
    linked
        Whether the pseudonyms of the two releases were the same.
    """

    identification: Identification
    inferences: tuple[Inference, ...]
    linked: bool


def intersect(
    first: ReleasedFile,
    second: ReleasedFile,
    knowledge: Knowledge,
    rng: np.random.Generator,
    *,
    targets: npt.ArrayLike | None = None,
) -> Intersection:
    """Guess which unit of the first of two releases a target is, and the target's values.

    The composition attack (Ganta, Kasiviswanathan & Smith 2008, KDD): a target is among the units
    that fit in the first release, and among those that fit in the second. Where the pseudonyms of
    both are the same (half of those in both files fit a common register person, and some are no
    plain numbers), units are left that fit in both. Elsewhere sensitive values that do not
    change must agree. A target for whom that leaves nobody is guessed from the first release, as
    all are where the releases have neither pseudonyms nor a sensitive column in common.

    Works on kinds of units and groups of persons that fit; see `odds_by_pseudonym` and
    `odds_by_values` for the cost.

    Parameters
    ----------
    first, second
        The releases.
    knowledge
        What the intruder holds; the targets are persons of it.
    rng
        Draws one of the units that are as likely.
    targets
        Numbers of the register persons to look for; all if not given.

    Raises
    ------
    InputError
        If a release and the register have no quasi-identifier in common, or a target is no person
        of the register.
    """
    persons = np.arange(knowledge.persons, dtype=np.int64)
    chosen = persons if targets is None else np.asarray(targets, dtype=np.int64)
    if len(chosen) and not 0 <= int(chosen.min()) <= int(chosen.max()) < len(persons):
        raise InputError("parameter targets", "must be numbers of register persons")
    here, there = Side.of(first, knowledge), Side.of(second, knowledge)
    pairs = np.column_stack([here.group, there.group])
    joint, joint_of = np.unique(pairs, axis=0, return_inverse=True)
    of_person = joint_of.reshape(-1)[chosen]
    others = {column.name: column for column in second.sensitive}
    columns = [(one, others[one.name]) for one in first.sensitive if one.name in others]
    shared = shared_units(first, second)
    linked = are_the_same(here, there, shared, joint)
    if linked:
        odds = odds_by_pseudonym(here, there, shared, joint)
    else:
        odds = odds_by_values(here, there, joint, np.bincount(joint_of.reshape(-1)), columns)
    unit, chance = odds.draw(of_person, rng)
    inferences = []
    for one, _ in columns:
        value, sure = odds.values(first.unit, one.told, len(one.texts))
        inferences.append(Inference(one.name, chosen, value[of_person], sure[of_person]))
    return Intersection(Identification(unit, chosen, chance), tuple(inferences), linked)
