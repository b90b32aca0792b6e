"""The attack by associations: what an earlier release teaches about the cells of this one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.core.errors import InputError
from sfumato.intruder.attacks.associations.meaning import meaning_of
from sfumato.intruder.attacks.associations.mine import LONGEST, Association, mine
from sfumato.intruder.attacks.associations.refine import refined_sets, with_sets
from sfumato.intruder.attacks.exact import exact_free
from sfumato.intruder.candidates.candidates import Candidates
from sfumato.intruder.candidates.find import find_candidates
from sfumato.intruder.guesses import Identification
from sfumato.intruder.knowledge.knowledge import Knowledge
from sfumato.intruder.reading.released_file import ReleasedFile


@dataclass(frozen=True, eq=False)
class Refined:
    """What the attack by associations ends with.

    Attributes
    ----------
    guesses
        For each released unit a register person who fits its refined cells.
    candidates
        Who fits them; a class that the refinement leaves nobody counts unrefined.
    file
        The release with refined cells.
    associations
        The associations, surest first; cells are those of the earlier release.
    columns
        The quasi-identifier that each column number of the associations stands for.
    refined
        Number of classes that an association narrowed.
    """

    guesses: Identification
    candidates: Candidates
    file: ReleasedFile
    associations: tuple[Association, ...]
    columns: tuple[str, ...]
    refined: int


def by_associations(
    file: ReleasedFile,
    earlier: ReleasedFile,
    knowledge: Knowledge,
    rng: np.random.Generator,
    *,
    support: float = 0.02,
    confidence: float = 0.8,
    longest: int = LONGEST,
) -> Refined:
    """Mine an earlier release, refine the cells of this one, and match again (002, Section 2).

    The reader takes associations for certain, as paper 002 has it: a person for whom one does not
    hold is lost to the intruder, and a class that nobody fits any more is guessed as it was. The
    chance of a guess is 1 / |class| of Eq. 2; the mean of those of the persons who are not lost
    is Eq. 3.

    Parameters
    ----------
    file
        The attacked release.
    earlier
        A release of before, about the same or other persons.
    knowledge
        What the intruder holds.
    rng
        For guesses among those who fit.
    support
        S of Eq. 1: least share of the earlier release's units that show X, in [0, 1].
    confidence
        C of Eq. 1: least share of these that show Y too, in [0, 1].
    longest
        Cells in X, at most.

    Raises
    ------
    InputError
        If a share is none, or the releases and the register have too little in common.
    """
    old = {column.name: column for column in earlier.quasi_identifiers}
    new = {column.name: column for column in file.quasi_identifiers}
    meanings = [
        meaning_of(known, old.get(known.name), new.get(known.name))
        for known in knowledge.quasi_identifiers
        if known.name in old or known.name in new
    ]
    if sum(meaning.name in old for meaning in meanings) < 2:
        raise InputError(
            "the earlier release",
            "must show two quasi-identifiers of the register",
            found="fewer",
        )
    found = mine(earlier, meanings, support=support, confidence=confidence, longest=longest)
    held = refined_sets(file, meanings, found)
    everywhere = np.ones(file.classes, dtype=np.bool_)
    narrowed = with_sets(file, meanings, held, everywhere)
    nobody = find_candidates(narrowed, knowledge).of_class == 0
    if nobody.any():
        narrowed = with_sets(file, meanings, held, ~nobody)
    candidates = find_candidates(narrowed, knowledge)
    changed = [
        column.codes[file.first_row] != new[column.name].codes[file.first_row]
        if column.name in new
        else column.codes[file.first_row] > 0
        for column in narrowed.quasi_identifiers
    ]
    return Refined(
        guesses=exact_free(narrowed, knowledge, candidates, rng),
        candidates=candidates,
        file=narrowed,
        associations=found,
        columns=tuple(meaning.name for meaning in meanings),
        refined=int(np.any(changed, axis=0).sum()),
    )
