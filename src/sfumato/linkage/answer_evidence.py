"""What answers are worth as evidence: how often each clerk errs, and what is true of each pair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.special import expit, logit

from sfumato.core.arrays import Bools, Floats, Ints, Levels
from sfumato.linkage.match_decisions import DIFFERENT, SAME, Verdicts

# In four linkages of patients two trained reviewers disagreed about 1.8 to 13.6 % of the pairs
# (Gupta, Xu, Li, Vest and Grannis 2024, Appl Clin Inform 15:620-628). Of two who err
# independently, 2e(1 − e) are disputed: e is .9 to 7.3 %. The distribution is the Beta whose 1/5
# and 4/5 quantiles, where the least and the greatest of four are expected, are those two.
PRIOR = (0.9, 19.2)
"""Parameters of the Beta distribution of the share of pairs that a clerk judges wrongly, before
anything is known of the clerk: 4.5 % on average, .1 to 17 % in 95 of 100."""
# As `person_inference.FEWEST`: a score that says less than one in a thousand is not true to that.
SUREST_SCORE = 7.0
"""Log odds beyond which no score counts against an answer."""
_FEW = 8
"""Answers from which a kind of pair has error rates of its own."""
_ROUNDS = 60
_EDGE = 1e-12
# Somebody who errs oftener than not would be taken at the contrary of what they say.
_WORST = 0.499


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """How often a clerk is wrong about pairs of one kind.

    Attributes
    ----------
    kind
        Names of the columns that such pairs differ in; ``None`` for all kinds with few answers.
    twice
        Number of the answered pairs that another clerk answered, too.
    value, low, high
        Share of wrong answers, with its 95 % interval.
    """

    worker: str
    kind: tuple[str, ...] | None
    answered: int
    twice: int
    value: float
    low: float
    high: float

    @property
    def by(self) -> str:
        """What tells it."""
        return f"{self.twice:,} answered twice" if self.twice else "unknown: prior assumed"

    def __str__(self) -> str:
        """The rate in a line."""
        differ = ", ".join(self.kind or ()) or ("several" if self.kind is None else "nothing")
        share = f"{100 * self.value:.1f} % ({100 * self.low:.1f} to {100 * self.high:.1f} %)"
        return f"{self.worker}: {share} of {self.answered:,} that differ in {differ}; {self.by}"

    def to_json(self) -> dict[str, Any]:
        """The rate as plain values."""
        return {
            "worker": self.worker,
            "differ_in": None if self.kind is None else list(self.kind),
            "answered": self.answered,
            "answered_twice": self.twice,
            "wrong": self.value,
            "low": self.low,
            "high": self.high,
            "by": self.by,
        }


@dataclass(frozen=True, eq=False)
class Weighed:
    """The answered pairs, as scores and answers have them together.

    Attributes
    ----------
    probability
        That the two records of each verdict are one person's; shape (verdicts,).
    evidence
        Log odds that the answers alone speak with, positive for one person; shape (verdicts,).
    same
        What was true in each draw; shape (draws, verdicts).
    error
        Mean share of wrong answers, over all of them.
    """

    probability: Floats
    evidence: Floats
    same: Bools
    error: float
    rates: tuple[ErrorRate, ...]

    @property
    def side(self) -> Levels:
        """What the answers say: `SAME`, `DIFFERENT`, or 0 where they outweigh each other."""
        return np.sign(np.round(self.evidence, 9)).astype(np.int8)

    @property
    def believed(self) -> Bools:
        """Whether what the answers say is likelier than not."""
        likely = np.where(self.probability >= 0.5, SAME, DIFFERENT)
        return np.asarray(self.side == likely)

    @property
    def wrong(self) -> Bools:
        """Whether the answers are wrong in each draw; shape (draws, verdicts)."""
        return np.asarray(self.same != (self.side == SAME))


def kinds_of_pairs(
    pair: Ints, levels: Mapping[str, Levels]
) -> tuple[Ints, tuple[tuple[str, ...] | None, ...]]:
    """The kind of each pair by the columns that it differs in outright, and what kinds there are.

    Twins differ in the given name alone, a namesake in the date of birth: who takes one such pair
    for a person's does so again. Kinds of few pairs are one, the first.
    """
    names, code = list(levels), np.zeros(len(pair), dtype=np.int64)
    for number, name in enumerate(names):
        code |= np.where(levels[name][pair] == 0, 1 << number, 0)
    # Pairs of an earlier linkage, of which nothing is compared now.
    code[pair < 0] = -1
    codes, kind, count = np.unique(code, return_inverse=True, return_counts=True)
    usual = (count >= _FEW) & (codes >= 0)
    of_code = np.where(usual, np.cumsum(usual), 0)
    of = (tuple(n for i, n in enumerate(names) if each >> i & 1) for each in codes[usual].tolist())
    return of_code[kind], (None, *of)


@dataclass(frozen=True, eq=False)
class Worlds:
    """Which answered pairs are one person's in each world that is likely by the scores.

    Attributes
    ----------
    together
        Shape (worlds, verdicts).
    odds
        Log odds of what a world says of a pair, 0 or above: shape (verdicts,).
    component
        A number of each verdict, the same where worlds speak of several verdicts together; shape
        (verdicts,).
    """

    together: Bools
    odds: Floats
    component: Ints

    @property
    def of_part(self) -> tuple[Ints, csr_array]:
        """Number of each verdict's component, and verdicts by worlds of each component."""
        part, (worlds, verdicts) = (
            np.unique(self.component, return_inverse=True)[1],
            (self.together.shape),
        )
        place = part[:, None] * worlds + np.arange(worlds)
        shape = verdicts, (int(part.max()) + 1) * worlds
        starts = np.arange(verdicts + 1) * worlds
        values = self.together.T.astype(np.float64).ravel()
        return part, csr_array((values, place.ravel(), starts), shape)


def weigh(
    verdicts: Verdicts,
    worlds: Worlds,
    kinds: tuple[Ints, tuple[tuple[str, ...] | None, ...]],
    draws: int,
    rng: np.random.Generator,
) -> Weighed:
    """What is true of the answered pairs and how often clerks err, drawn in turn.

    The model is that of Dawid and Skene (1979, Applied Statistics 28:20-28) with what the scores
    say as prior: log odds of a pair are those of its world, plus or minus log((1 − e)/e) for each
    clerk's answer, and the world of a component is likely by all answers in it. The share e of a
    clerk and kind of pair has `PRIOR`; what the clerk did with other kinds counts with it, as at
    most as many pairs as the prior weighs.

    Parameters
    ----------
    kinds
        As `kinds_of_pairs` gives them.
    """
    votes, (kind, names) = verdicts.votes, kinds
    clerks, several = len(votes.workers), len(names)
    odds, (part, of_world) = np.minimum(worlds.odds, SUREST_SCORE), worlds.of_part
    yes, no = -np.logaddexp(0, -odds), -np.logaddexp(0, odds)
    cell = votes.worker * several + kind[votes.verdict]
    # A row for each vote: sums over cells are products, chain by chain.
    of_cell = csr_array(
        (np.ones(len(cell)), cell, np.arange(len(cell) + 1)), (len(cell), clerks * several)
    )
    whole = np.bincount(cell, minlength=clerks * several).reshape(clerks, several)
    starts = np.searchsorted(votes.verdict, np.arange(len(verdicts)))
    says = np.where(votes.same, 1.0, -1.0)
    error = np.full((draws, clerks, several), PRIOR[0] / sum(PRIOR))
    kept: list[tuple[Floats, Floats, Floats]] = []
    # A chain for each draw: nothing is thinned, and draws do not depend on each other.
    for turn in range(_ROUNDS):
        spoken = -logit(error).reshape(draws, -1)[:, cell] * says
        evidence = np.add.reduceat(spoken, starts, axis=1)
        # log P(answers | together) − log P(answers | apart) in a world, its own doubt summed over.
        ratio = np.logaddexp(yes + evidence, no) - np.logaddexp(no + evidence, yes)
        worth = (ratio @ of_world).reshape(draws, -1, len(worlds.together))
        # The greatest after Gumbel's noise is a draw by the exponentials.
        world = np.argmax(worth + rng.gumbel(size=worth.shape), axis=2)
        together = worlds.together[world[:, part], np.arange(len(verdicts))]
        likely = expit(np.where(together, odds, -odds) + evidence)
        same = rng.random(likely.shape) < likely
        missed = (same[:, votes.verdict] != votes.same).astype(np.float64) @ of_cell
        error = _errors(missed.reshape(error.shape), whole, rng)
        if 2 * turn >= _ROUNDS:
            kept.append((likely.mean(axis=0), evidence.mean(axis=0), error))
    probability, spoken = (np.mean([each[k] for each in kept], axis=0) for k in range(2))
    error = np.concatenate([each[2] for each in kept])
    mean = float((error.mean(axis=0) * whole).sum() / whole.sum())
    return Weighed(probability, spoken, same, mean, _rates(verdicts, names, kind, error))


def _errors(missed: Floats, whole: Ints, rng: np.random.Generator) -> Floats:
    """Shares of wrong answers, drawn; all of shape (draws, clerks, kinds)."""
    wrong, right = PRIOR
    others, all_others = (e.sum(axis=-1, keepdims=True) - e for e in (missed, whole))
    share = np.minimum(1.0, (wrong + right) / np.maximum(all_others, 1))
    of_others = share * others
    wrong = wrong + of_others + missed
    drawn = rng.beta(wrong, right + share * all_others - of_others + whole - missed)
    return np.asarray(np.clip(drawn, _EDGE, _WORST))


def _rates(
    verdicts: Verdicts, names: tuple[tuple[str, ...] | None, ...], kind: Ints, error: Floats
) -> tuple[ErrorRate, ...]:
    """The rates of clerks and kinds of pairs that have answers, the worst first."""
    votes, found = verdicts.votes, []
    twice = verdicts.workers[votes.verdict] > 1
    for worker, name in enumerate(votes.workers):
        for number, columns in enumerate(names):
            own = (votes.worker == worker) & (kind[votes.verdict] == number)
            if not np.any(own):
                continue
            drawn = error[:, worker, number]
            low, high = np.quantile(drawn, [0.025, 0.975]).tolist()
            answered, both = int(np.count_nonzero(own)), int(np.count_nonzero(own & twice))
            rate = ErrorRate(name, columns, answered, both, float(drawn.mean()), low, high)
            found.append(rate)
    return tuple(sorted(found, key=lambda rate: -rate.value))


def change_by_answer(probability: npt.NDArray[Any], error: npt.NDArray[Any] | float) -> Floats:
    """By how much one more answer is expected to lessen the doubt P(1 − P) about each pair.

    A right answer takes all of it. One that is wrong with the chance e leaves the share
    e(1 − e)/(q(1 − q)), where q is the chance that it says "same".
    """
    said = probability * (1 - error) + (1 - probability) * error
    left = error * (1 - error) / np.maximum(said * (1 - said), _EDGE)
    return np.asarray(probability * (1 - probability) * (1 - np.minimum(left, 1.0)))
