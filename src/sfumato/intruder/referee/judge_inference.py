"""The referee on guesses of sensitive values."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.intruder.guesses import Inference
from sfumato.intruder.reading.released_file import ReleasedFile, TextColumn
from sfumato.intruder.referee import intervals
from sfumato.intruder.referee.attempts import one_per_class, surest
from sfumato.intruder.referee.baseline import most_frequent_value
from sfumato.intruder.referee.control import right_outside
from sfumato.intruder.referee.distributions import binomial_hits, share_hits
from sfumato.intruder.referee.has_value import holdings
from sfumato.intruder.referee.judge_identification import THRESHOLD
from sfumato.intruder.referee.outcome import Outcome
from sfumato.intruder.referee.truth import Truth
from sfumato.intruder.referee.verdict import claimed_rate, verdict

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Targets = Literal["all", "one_per_class", "surest"]


def judge_inference(
    guesses: Inference,
    truth: Truth,
    file: ReleasedFile,
    rng: np.random.Generator,
    *,
    what: str,
    targets: Targets = "all",
    predicted: Measure | None = None,
    threshold: float = THRESHOLD,
    attack: str | None = None,
) -> Outcome:
    """Score guesses of a sensitive value, and hold them against a claim.

    The attempts are register persons who are in the release and of whom a value was guessed.
    AvgGSAR is a mean over classes, so that one target is drawn of each class
    (``one_per_class``): each guess is then right with at most the class's GSAR. MaxGSAR says
    that no value is had by a larger share of a class, so that the intruder goes for the targets
    of whom he is surest, and what the claim allows among a of a class's n persons is
    hypergeometric (`share_hits`). The control is the same guess for the register persons outside
    the release; for ``surest`` those of the same chance. O(records log + persons log).

    Parameters
    ----------
    guesses
        What the intruder guessed.
    truth
        Whose each record is, and what the register's persons have.
    file
        The released file.
    rng
        Draws the targets of ``one_per_class``.
    what
        One sentence: what the intruder held and did.
    targets
        Whom the attempts are about: against ``avg_gsar`` ``one_per_class``, against
        ``max_gsar`` ``surest``.
    predicted
        What was claimed.
    threshold
        Above this chance of the intruder a right guess counts as exposed.
    attack
        Name of the attack; ``inference:<column>`` by default.

    Raises
    ------
    InputError
        If the released file has no such sensitive column.
    """
    column = _column(file, guesses.attribute)
    held = holdings(column, truth)
    guessed = guesses.value >= 0
    inside, outside = (
        np.flatnonzero(guessed & truth.released[guesses.person]),
        np.flatnonzero(guessed & ~truth.released[guesses.person] & held.known[guesses.person]),
    )
    home = _classes(file, truth)
    if targets == "one_per_class":
        inside = one_per_class(inside, home[guesses.person[inside]], rng)
    elif targets == "surest" and len(inside):
        best = guesses.chance[inside]
        least = best[surest(best)].min()
        inside = inside[surest(best)]
        outside = outside[guesses.chance[outside] >= least]
    person, value = guesses.person[inside], guesses.value[inside]
    right = held.has(person, value)
    attempts, hits = len(person), int(right.sum())
    drawn, size = _drawn(home[person] * held.texts + value, held.texts, file, truth)
    allowed, broken, p_value = None, False, None
    if predicted is not None and attempts:
        rate = claimed_rate(predicted)
        bounded = targets == "surest"
        claimed = share_hits(size, drawn, rate) if bounded else binomial_hits(attempts, rate)
        allowed, broken, p_value = verdict(hits, attempts, claimed)
    whole = targets == "surest" and bool(np.all(drawn == size))
    return Outcome(
        attack=attack or f"inference:{column.name}",
        what=what,
        attempts=attempts,
        right=hits,
        success=(intervals.exact_success if whole else intervals.success)(hits, attempts),
        baseline=most_frequent_value(held.has(person, _commonest(file, column, attempts))),
        control=right_outside(held.has(guesses.person[outside], guesses.value[outside])),
        predicted=predicted,
        allowed=allowed,
        broken=broken,
        p_value=p_value,
        exposed=int(np.count_nonzero(right & (guesses.chance[inside] > threshold))),
    )


def _column(file: ReleasedFile, name: str) -> TextColumn:
    for column in file.sensitive:
        if column.name == name:
            return column
    raise InputError(f"column '{name}'", "must be a sensitive column of the released file")


def _classes(file: ReleasedFile, truth: Truth) -> Ints:
    """The class of each register person's first released record, -1 for those outside."""
    home = np.full(len(truth.released), -1, dtype=np.int64)
    known = truth.owner >= 0
    home[truth.owner[known][::-1]] = file.class_of[known][::-1]
    return home


def _drawn(alike: Ints, texts: int, file: ReleasedFile, truth: Truth) -> tuple[Ints, Ints]:
    """Targets with the same class and guess (class * texts + value), and persons of their class.

    Persons by the truth; a unit whose owner is unknown is one.
    """
    who = np.where(truth.owner >= 0, truth.owner, len(truth.released) + file.unit)
    pairs = np.unique(np.column_stack([file.class_of, who]), axis=0)
    persons = np.bincount(pairs[:, 0], minlength=file.classes)
    kinds, drawn = np.unique(alike, return_counts=True)
    size = np.maximum(persons[kinds // texts], drawn)
    return drawn.astype(np.int64), size.astype(np.int64)


def _commonest(file: ReleasedFile, column: TextColumn, attempts: int) -> Ints:
    """The value that most released persons have, once per attempt."""
    some = column.told >= 0
    pairs = np.unique(np.column_stack([column.codes[some], file.unit[some]]), axis=0)
    count = np.bincount(pairs[:, 0], minlength=len(column.texts))
    value = int(count.argmax()) if count.size and count.max() else -1
    return np.full(attempts, value, dtype=np.int64)
