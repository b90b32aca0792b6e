"""The referee on guesses by place, which win where a release kept the register's order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.core.measure import Measure
from sfumato.intruder.guesses import Identification
from sfumato.intruder.reading.released_file import ReleasedFile
from sfumato.intruder.referee import intervals
from sfumato.intruder.referee.baseline import random_persons
from sfumato.intruder.referee.control import pinned_outside
from sfumato.intruder.referee.distributions import (
    MatchDistribution,
    of_rounds,
    one_to_one_hits,
)
from sfumato.intruder.referee.judge_identification import THRESHOLD
from sfumato.intruder.referee.outcome import Outcome
from sfumato.intruder.referee.truth import Truth
from sfumato.intruder.referee.units import Owners, owners, unit_kinds
from sfumato.intruder.referee.verdict import verdict

Ints = npt.NDArray[np.int64]
ROUNDS, LEAST = 1000, 400
"""Shuffles of small files and of large ones, whose number falls with their size."""
WORK = 20_000_000
"""Units that are shuffled in all."""


def judge_row_order(
    guesses: Sequence[Identification],
    truth: Truth,
    file: ReleasedFile,
    rng: np.random.Generator,
    *,
    what: str,
    threshold: float = THRESHOLD,
) -> Outcome:
    """Score guesses by place, against what they would win if places told nothing.

    If the order within a class tells nothing, its units with the same number of records are
    their persons in any order, one as likely as another. (Who has many records appears early in
    the register and in the release, however both are shuffled: that is no order kept. Units that
    show several classes stand with those that show the same.) With f such units of which m are
    guessed to be somebody who is among their persons, the hits are the fixed points of m in a
    class of f: E (R)_i = (m)_i / (f)_i, exact where no person is named twice for them, and the
    heavier tail where one is. Where somebody owns several units of a class, the file is shuffled
    1,000 times instead (large files at least 400 times). Of several ways to guess by place the
    one that did best is shown, and 2.5 % divided by their number.

    Parameters
    ----------
    guesses
        What the intruder guessed, one entry for each way (`by_place`).
    truth
        Whose each record is.
    file
        The released file.
    rng
        Shuffles.
    what
        One sentence: what the intruder held and did.
    threshold
        Above this chance of the intruder a right guess counts as exposed.

    Raises
    ------
    InputError
        If the truth is about another number of records.
    """
    owner = owners(file, truth)
    kind = _alike(file)
    by_chance = _by_chance(guesses, owner, kind, rng)
    tried = [_Tried(each, owner, one) for each, one in zip(guesses, by_chance, strict=True)]
    best = max(tried, key=lambda each: each.above)
    attempts, hits = len(best.unit), int(best.right.sum())
    allowed, broken, p_value = None, False, None
    if attempts:
        allowed, broken, p_value = verdict(hits, attempts, best.by_chance, tries=len(tried))
    return Outcome(
        attack="row_order",
        what=what,
        attempts=attempts,
        right=hits,
        success=intervals.success(hits, attempts, best.by_chance),
        baseline=random_persons(owner, best.unit),
        control=pinned_outside(best.person, truth),
        predicted=Measure(
            "free_guessing",
            best.by_chance.mean / max(attempts, 1),
            why="what the same guesses win if the order of the rows tells nothing",
        ),
        allowed=allowed,
        broken=broken,
        p_value=p_value,
        exposed=int(np.count_nonzero(best.right & (best.chance > threshold))),
    )


def _alike(file: ReleasedFile) -> Ints:
    """Number of each unit's set of classes and number of records."""
    records = np.bincount(file.unit, minlength=file.persons)
    both = unit_kinds(file) * (records.max(initial=0) + 1) + records
    return np.unique(both, return_inverse=True)[1].reshape(-1).astype(np.int64)


class _Tried:
    """One way to guess by place: its attempts, hits, and what they would be by chance."""

    def __init__(
        self, guesses: Identification, owner: Owners, by_chance: MatchDistribution
    ) -> None:
        made = (guesses.unit >= 0) & (guesses.person >= 0)
        self.unit, self.person = guesses.unit[made], guesses.person[made]
        self.chance = guesses.chance[made]
        self.right = owner.right(self.unit, self.person)
        self.by_chance = by_chance
        spread = max(by_chance.variance, 1.0) ** 0.5
        self.above = (float(self.right.sum()) - by_chance.mean) / spread


def _by_chance(
    guesses: Sequence[Identification], owner: Owners, kind: Ints, rng: np.random.Generator
) -> list[MatchDistribution]:
    """The hits of each way if the units that are alike were their owners in any order."""
    persons = max(owner.persons, 1)
    known = owner.first >= 0
    held, count = np.unique(kind[known] * persons + owner.first[known], return_counts=True)
    if int(count.max(initial=0)) > 1:
        return _shuffled(guesses, owner.first, kind, rng)
    size = np.bincount(kind)
    found = []
    for each in guesses:
        named = each.person >= 0
        inside = np.isin(kind[each.unit] * persons + each.person, held) & named
        pairs = np.bincount(kind[each.unit][inside], minlength=len(size))
        found.append(one_to_one_hits(pairs, size))
    return found


def _shuffled(
    guesses: Sequence[Identification], first: Ints, kind: Ints, rng: np.random.Generator
) -> list[MatchDistribution]:
    rounds = int(np.clip(WORK // max(len(kind), 1), LEAST, ROUNDS))
    order = np.argsort(kind, kind="stable")
    hits = np.zeros((rounds, len(guesses)), dtype=np.int64)
    shuffled = np.empty(len(kind), dtype=np.int64)
    for place in range(rounds):
        shuffled[order] = first[np.argsort(kind + rng.random(len(kind)))]
        for way, each in enumerate(guesses):
            right = (shuffled[each.unit] == each.person) & (each.person >= 0)
            hits[place, way] = np.count_nonzero(right)
    return [of_rounds(hits[:, way]) for way in range(len(guesses))]
