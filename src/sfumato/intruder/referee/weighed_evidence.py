"""What the attacks of a run are evidence for: all their tests, judged together.

An attack is tested against what was predicted of it, and against what its row of the verdict shows
where it knows no more than the intruder of that row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato.core.measure import Measure
from sfumato.intruder.referee.attack_odds import TOLERANCE, Outcome, claimed_hits, clopper_pearson
from sfumato.risk.evidence import Evidence
from sfumato.risk.learned_values import Share
from sfumato.risk.verdict import Verdict

LEVEL = 0.01
"""Probability at most that a run finds more anywhere than was predicted or measured, by chance."""


@dataclass(frozen=True)
class Speaks:
    """Which number of its row an attack speaks about.

    Attributes
    ----------
    number
        ``found``, ``person``, or ``learned``.
    column
        Of the insider the columns that are known, of a learned value its column.
    knows_more
        Whether it knows more than the intruder of the row: then its prediction alone is held
        against it.
    people
        Number of people, where those of whom nothing is guessed count as not found.
    tries
        Of how many ways to guess it is the one that came out best.
    """

    number: str
    column: str = ""
    knows_more: bool = False
    people: int | None = None
    one_to_one: bool = False
    tries: int = 1

    def share(self, outcome: Outcome) -> Share:
        """What its success is for the row."""
        if self.people in (None, outcome.attempts) or not self.people:
            return Share.estimated(outcome.success)
        most = max(self.people, outcome.right)
        return Share(outcome.right / most, *clopper_pearson(outcome.right, most))


@dataclass(frozen=True)
class Trial:
    """An outcome, the row that it is evidence for, and of which number; of none a note."""

    outcome: Outcome
    intruder: str
    speaks: Speaks | None = None


def weighed(
    run: Sequence[Trial], verdict: Verdict | None, *, own: bool
) -> tuple[tuple[Outcome, ...], tuple[Evidence, ...]]:
    """The outcomes of a run and what each is evidence for, given how many tests were made.

    If all that was predicted and measured is true, one or more count as beyond it with probability
    at most 1 %, however the attacks depend on each other: Holm's step-down procedure (Holm 1979,
    Scandinavian Journal of Statistics 6:65-70) over all p-values of the run.

    Parameters
    ----------
    run
        The attacks, each judged alone.
    verdict
        What the rows show without them; ``None`` where a review alone is attacked.
    """
    rows = [_of_row(trial, verdict) for trial in run]
    lucks = [trial.outcome.p_value for trial in run] + [luck for _, luck in rows]
    beyond = beyond_chance(lucks)
    tests = sum(each is not None for each in lucks)
    outcomes, evidence = [], []
    for place, (each, (measured, luck)) in enumerate(zip(run, rows, strict=True)):
        beaten, above = beyond[place], beyond[len(run) + place]
        outcome = replace(each.outcome, broken=beaten, intruder=each.intruder)
        outcomes.append(outcome)
        if not outcome.attempts:
            continue
        speaks = each.speaks or Speaks("")
        p_value = outcome.p_value if beaten else luck
        people = speaks.share(outcome)
        more = measured is None or people.value > measured
        evidence.append(
            Evidence(
                outcome.attack,
                each.intruder,
                Share.estimated(outcome.success),
                people,
                speaks.number,
                speaks.column,
                None if outcome.predicted is None else outcome.predicted.value,
                measured,
                p_value,
                tests,
                beaten,
                raised=bool(speaks.number) and more and (beaten or above),
                # What two releases tell together is predicted by neither of them.
                own=own and each.intruder != "recipient",
            )
        )
    return tuple(outcomes), tuple(evidence)


def beyond_chance(p_values: Sequence[float | None]) -> list[bool]:
    """Which tests of a run are beyond chance, by Holm's procedure; ``None`` is no test."""
    tested = sorted((value, place) for place, value in enumerate(p_values) if value is not None)
    found = [False] * len(p_values)
    for rank, (p_value, place) in enumerate(tested):
        if p_value > LEVEL / (len(tested) - rank) + TOLERANCE:
            break
        found[place] = True
    return found


def _of_row(each: Trial, verdict: Verdict | None) -> tuple[float | None, float | None]:
    """What the row shows of the number, and the probability of such a success at that."""
    speaks, outcome = each.speaks, each.outcome
    if verdict is None or speaks is None or speaks.number == "learned":
        return None, None
    if each.intruder == "insider":
        findings = verdict.insiders.get(speaks.column)
    else:
        findings = verdict.row(each.intruder).findings
        if findings is None and each.intruder == "recipient":
            # Who holds earlier releases is an acquaintance, too.
            findings = verdict.row("acquaintance").findings
    if findings is None:
        return None, None
    share: Share = getattr(findings, speaks.number)
    if speaks.knows_more or not outcome.attempts:
        return share.value, None
    rate = Measure(speaks.number, min(share.high, 1.0))
    guesses = max(speaks.people or 0, outcome.attempts)
    claimed = claimed_hits(rate, guesses, one_to_one=speaks.one_to_one)
    luck = float(claimed.at_least(outcome.right)) * speaks.tries
    return share.value, float(np.clip(luck, 0.0, 1.0))
