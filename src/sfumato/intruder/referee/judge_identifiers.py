"""The referee on joins of further columns of the release with the register."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sfumato.core.measure import Measure
from sfumato.intruder.attacks.identifiers import Join
from sfumato.intruder.guesses import Identification
from sfumato.intruder.reading.released_file import ReleasedFile
from sfumato.intruder.referee.distributions import binomial_hits, free_hits
from sfumato.intruder.referee.intervals import UPPER
from sfumato.intruder.referee.judge_identification import THRESHOLD, judge_identification
from sfumato.intruder.referee.outcome import Outcome
from sfumato.intruder.referee.truth import Truth
from sfumato.intruder.referee.units import Owners, owners
from sfumato.intruder.referee.verdict import claimed_rate, verdict

_TINY = 1e-9
"""Probabilities below are alike: they are exact to 1e-10."""


def judge_identifiers(
    joins: Sequence[Join],
    truth: Truth,
    file: ReleasedFile,
    *,
    what: str,
    predicted: Measure | None = None,
    threshold: float = THRESHOLD,
) -> Outcome | None:
    """Score joins on further columns; the most telling one is shown.

    Of each join all guesses are held against what free guessing in the released classes wins on
    the same units, or against what was claimed where that is more; and so are the guesses for
    units that text and class leave a single person for, lest a column that names a few is lost
    among many. 2.5 % is divided by the number of these tests. ``None`` where no column could be
    joined.

    Parameters
    ----------
    joins
        What the intruder joined.
    truth
        Whose each record is.
    file
        The released file.
    what
        One sentence: what the intruder held and did.
    predicted
        The claimed mean chance of a guess (marketer risk).
    threshold
        Above this chance of the intruder a right guess counts as exposed.

    Raises
    ------
    InputError
        If the truth is about another number of records.
    """
    owner = owners(file, truth)
    tests = [_Test(join, owner, predicted, pinned=only) for join in joins for only in (False, True)]
    tests = [test for test in tests if test.attempts]
    if not tests:
        return None
    best = min(tests, key=lambda test: (test.luck, -test.right))
    outcome = judge_identification(
        best.guesses,
        truth,
        file,
        attack="identifiers",
        what=what,
        one_to_one=False,
        threshold=threshold,
    )
    allowed, broken, p_value = verdict(best.right, best.attempts, best.claimed, tries=len(tests))
    return replace(
        outcome,
        predicted=best.claim,
        allowed=allowed,
        broken=broken,
        p_value=p_value,
        notes=_named(tests),
    )


class _Test:
    """Some guesses of a join, and what they win if the column tells nothing."""

    def __init__(
        self, join: Join, owner: Owners, predicted: Measure | None, *, pinned: bool
    ) -> None:
        made = join.guesses.person >= 0
        if pinned:
            made = made & join.fits & (join.guesses.chance == 1)
        every, self.join = join.guesses, join
        self.guesses = Identification(every.unit[made], every.person[made], every.chance[made])
        self.attempts = len(self.guesses.unit)
        self.right = int(owner.right(self.guesses.unit, self.guesses.person).sum())
        mean = float(join.alone[made].mean()) if self.attempts else 0.0
        self.claim = Measure("free_guessing", mean, why="by the released classes alone")
        self.claimed = free_hits(join.alone[made])
        if predicted is not None and claimed_rate(predicted) > mean:
            self.claim = predicted
            self.claimed = binomial_hits(self.attempts, claimed_rate(predicted))
        self.luck = max(self.claimed.at_least(self.right), _TINY)


def _named(tests: Sequence[_Test]) -> tuple[str, ...]:
    """One sentence for each column that tells more than the classes."""
    notes: dict[str, None] = {}
    for test in tests:
        if test.luck <= (1 - UPPER) / len(tests):
            join = test.join
            other = "" if join.by_name else f" (the register's column '{join.register_column}')"
            units = int(np.count_nonzero(join.guesses.person >= 0))
            pinned = f"leaves one person for {join.pinned:,} of {units:,}"
            notes[f"column '{join.column}'{other} {pinned}"] = None
    return tuple(notes)
