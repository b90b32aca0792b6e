"""The referee on one person named for every record of a class."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from sfumato.core.measure import Measure
from sfumato.intruder.attacks.multi_record import ClassGuesses
from sfumato.intruder.reading.released_file import ReleasedFile
from sfumato.intruder.referee import intervals
from sfumato.intruder.referee.attempts import one_per_class, surest
from sfumato.intruder.referee.baseline import random_persons
from sfumato.intruder.referee.control import pinned_outside
from sfumato.intruder.referee.distributions import MatchDistribution, binomial_hits, share_hits
from sfumato.intruder.referee.judge_identification import THRESHOLD
from sfumato.intruder.referee.outcome import Outcome
from sfumato.intruder.referee.truth import Truth
from sfumato.intruder.referee.units import owners
from sfumato.intruder.referee.verdict import claimed_rate, verdict

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Records = Literal["all", "one_per_class", "surest"]


def judge_class_guesses(
    guesses: ClassGuesses,
    truth: Truth,
    file: ReleasedFile,
    rng: np.random.Generator,
    *,
    what: str,
    records: Records = "all",
    predicted: Measure | None = None,
    threshold: float = THRESHOLD,
    attack: str | None = None,
) -> Outcome:
    """Score one name per class, record by record, and hold it against a claim.

    AvgGIDR is a mean over classes (paper 003, Section 7), so that one record is drawn of each
    (``one_per_class``): it is the named person's with at most the class's GIDR. MaxGIDR and 1 / k
    bound the share of any one person's records in a class, so that a name for all n records of a
    class is right at most floor(n share) times, whoever is named: no chance is left, and success
    has no interval. ``surest`` takes the classes of which the intruder expects most, ``all`` every
    class. O(records log).

    Parameters
    ----------
    guesses
        What the intruder guessed.
    truth
        Whose each record is.
    file
        The released file.
    rng
        Draws the records of ``one_per_class``.
    what
        One sentence: what the intruder held and did.
    records
        What the attempts are: against ``avg_gidr`` ``one_per_class``, against ``max_gidr`` or
        1 / k ``surest`` or ``all``.
    predicted
        What was claimed.
    threshold
        Above this chance of the intruder a right guess counts as exposed.
    attack
        Name of the attack; by default ``multi_record``, or ``multi_record_counts`` where the
        intruder knew the numbers of records.

    Raises
    ------
    InputError
        If the truth is about another number of records.
    """
    owner = owners(file, truth, by_record=True)
    chosen = guesses.person >= 0
    if records == "surest":
        chosen[chosen] = surest(guesses.chance[chosen])
    record = np.flatnonzero(chosen[file.class_of]).astype(np.int64)
    if records == "one_per_class":
        record = one_per_class(record, file.class_of[record], rng)
    person, chance = guesses.person[file.class_of[record]], guesses.chance[file.class_of[record]]
    right = owner.right(record, person)
    attempts, hits = len(record), int(right.sum())
    allowed, broken, p_value = None, False, None
    if predicted is not None and attempts:
        claimed = _claimed(predicted, records, file.class_of[record], file)
        allowed, broken, p_value = verdict(hits, attempts, claimed)
    measured = intervals.success if records == "one_per_class" else intervals.exact_success
    return Outcome(
        attack=attack or ("multi_record_counts" if guesses.counted else "multi_record"),
        what=what,
        attempts=attempts,
        right=hits,
        success=measured(hits, attempts),
        baseline=random_persons(owner, record),
        control=pinned_outside(person, truth),
        predicted=predicted,
        allowed=allowed,
        broken=broken,
        p_value=p_value,
        exposed=int(np.count_nonzero(right & (chance > threshold))),
    )


def _claimed(
    predicted: Measure, records: Records, class_of: Ints, file: ReleasedFile
) -> MatchDistribution:
    rate = claimed_rate(predicted)
    if records == "one_per_class":
        return binomial_hits(len(class_of), rate)
    drawn = np.bincount(class_of, minlength=file.classes)
    size = np.bincount(file.class_of, minlength=file.classes)
    return share_hits(size[drawn > 0], drawn[drawn > 0], rate)
