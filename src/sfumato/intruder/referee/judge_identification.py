"""The referee on guesses of persons."""

from __future__ import annotations

import numpy as np

from sfumato.core.measure import Measure
from sfumato.intruder.guesses import Identification
from sfumato.intruder.reading.released_file import ReleasedFile
from sfumato.intruder.referee import intervals
from sfumato.intruder.referee.attempts import surest as of_largest_chance
from sfumato.intruder.referee.baseline import random_persons, random_units
from sfumato.intruder.referee.control import pinned_outside
from sfumato.intruder.referee.outcome import Outcome
from sfumato.intruder.referee.truth import Truth
from sfumato.intruder.referee.units import owners
from sfumato.intruder.referee.verdict import claimed_hits, verdict
from sfumato.risk.population.match_distribution import MatchDistribution

THRESHOLD = 0.2
"""Above this chance a right guess counts as exposed."""


def judge_identification(
    guesses: Identification,
    truth: Truth,
    file: ReleasedFile,
    *,
    attack: str,
    what: str,
    one_to_one: bool,
    predicted: Measure | None = None,
    threshold: float = THRESHOLD,
    surest: bool = False,
    own: MatchDistribution | None = None,
    claimed: MatchDistribution | None = None,
    targeted: bool = False,
) -> Outcome:
    """Score guesses of persons, and hold them against a claim.

    A true claim comes out as broken with probability at most 2.5 %. O(records + guesses log).

    Parameters
    ----------
    guesses
        What the intruder guessed; guesses without a unit or a person are no attempts.
    truth
        Whose each record is.
    file
        The released file.
    attack
        Name of the attack.
    what
        One sentence: what the intruder held and did.
    one_to_one
        Whether no person was named twice.
    predicted
        What was claimed: the mean chance of an attempt, or, with ``surest``, its largest.
    threshold
        Above this chance of the intruder a right guess counts as exposed.
    surest
        Whether only the guesses count of which the intruder is surest, as he would act against
        a claim about a maximum (prosecutor, journalist, max_count_risk).
    own
        Distribution of the attack's own hits, for the interval of ``success``; by default that
        of independent guesses (Clopper-Pearson).
    claimed
        Distribution of the hits if the claim were true; by default from its mean alone.
    targeted
        Whether units were named for persons who are known to be in the file, rather than persons
        for units: random guessing then names any unit, and there is nobody outside to name.

    Raises
    ------
    InputError
        If the truth is about another number of records.
    """
    owner = owners(file, truth)
    made = (guesses.unit >= 0) & (guesses.person >= 0)
    if surest:
        made[made] = of_largest_chance(guesses.chance[made])
    unit, person, chance = guesses.unit[made], guesses.person[made], guesses.chance[made]
    right = owner.right(unit, person)
    attempts, hits = len(unit), int(right.sum())
    allowed, broken, p_value = None, False, None
    if predicted is not None and attempts:
        claim = claimed or claimed_hits(predicted, attempts, one_to_one=one_to_one)
        allowed, broken, p_value = verdict(hits, attempts, claim)
    return Outcome(
        attack=attack,
        what=what,
        attempts=attempts,
        right=hits,
        success=intervals.success(hits, attempts, own),
        baseline=(random_units(owner, person) if targeted else random_persons(owner, unit)),
        control=None if targeted else pinned_outside(person, truth),
        predicted=predicted,
        allowed=allowed,
        broken=broken,
        p_value=p_value,
        exposed=int(np.count_nonzero(right & (chance > threshold))),
    )
