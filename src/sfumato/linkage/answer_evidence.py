"""What answers are worth as evidence: how often each clerk errs, and what is true of each pair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.special import betaincinv, expit, logit

from sfumato.core.arrays import Bools, Floats, Ints, Levels
from sfumato.core.number_text import percentage
from sfumato.linkage.match_decisions import DIFFERENT, SAME, Verdicts

# In four linkages of patients two trained reviewers disagreed about 1.8 to 13.6 % of the pairs
# (Gupta, Xu, Li, Vest and Grannis 2024, doi 10.1055/a-2291-1391, abstract). Of two who err
# independently, 2e(1 − e) are disputed: e is .9 to 7.3 %. The distribution is the Beta whose 1/5
# and 4/5 quantiles, where the least and the greatest of four are expected, are those two.
PRIOR = (0.9, 19.2)
"""Parameters of the Beta distribution of the share of pairs that a clerk judges wrongly, before
anything is known of the clerk: 4.5 % on average, .1 to 17 % in 95 of 100."""
# As `person_inference.FEWEST`: a score that says less than one in a thousand is not true to that.
SUREST_SCORE = 7.0
"""Log odds beyond which no score counts against an answer."""
# A choice: fewer would leave the prior as it is, which weighs 20 answers.
_FEW = 8
"""Answers from which a kind of pair has error rates of its own."""
# A choice: the first half is left out, as it still depends on the prior's mean, where chains begin.
_ROUNDS = 60
# A choice: arrays of eight megabytes, whatever the number of answers.
_AT_ONCE = 2**20
"""Draws times worlds times components that are looked at together."""
# Scores of 0 and 1 have no log odds; floats tell 1 - 1e-12 from 1 with four digits left.
EDGE = 1e-12
"""The chance of a match that a score of 0 is taken for."""
# No score is as sure by far, and the exponential of it is a number still.
_FARTHEST = 300.0
"""Log odds beyond which answers count no more."""
_ENDS = (0.025, 0.975)
# Somebody who errs oftener than not would be taken at the contrary of what they say.
_WORST = 0.499


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """How often a clerk is wrong about pairs of one kind.

    Attributes
    ----------
    kind
        Names of the columns that such pairs differ in; ``None`` for all kinds with few answers.
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
        share, low, high = map(percentage, (self.value, self.low, self.high))
        said = f"{share} ({low} to {high}) of {self.answered:,} that differ in {differ}"
        return f"{self.worker}: {said}; {self.by}"

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

    def of(self, verdicts: Verdicts) -> Verdicts:
        """The verdicts, with what their answers say, and how surely, in the place of a vote."""
        # Rounded, so that answers that are worth the same are equally sure on every machine.
        sure = np.asarray(np.round(np.abs(self.evidence), 9), dtype=np.float64)
        return replace(verdicts, result=self.side, confidence=sure)

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
    # Pairs of an earlier linkage, of which nothing is compared now, have no code.
    names, code, there = list(levels), np.where(pair < 0, -1, 0), pair >= 0
    for number, name in enumerate(names):
        code[there] |= np.where(levels[name][pair[there]] == 0, 1 << number, 0)
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


@dataclass(frozen=True, eq=False)
class _Block:
    """Some components, with their answers.

    Attributes
    ----------
    verdict
        Numbers of their verdicts, ascending.
    part
        Number of the component of each, from 0.
    world, times
        A world of each column, and how many worlds say the same of its component; shape (columns,).
    starts, owner
        First column of each component, and component of each column; shapes (components,) and
        (columns,).
    of_world
        Whether a verdict's two records are together in a column of its component; shape (verdicts,
        columns).
    cell, says, place
        Clerk and kind, side (1 or -1), and verdict of each answer; shape (answers,).
    told
        Answers to pairs with several, by cell; shape (answers, cells).
    """

    verdict: Ints
    together: Bools
    odds: Floats
    part: Ints
    world: Ints
    times: Ints
    starts: Ints
    owner: Ints
    of_world: csr_array
    cell: Ints
    says: Floats
    place: Ints
    told: csr_array

    @classmethod
    def of(
        cls, verdict: Ints, verdicts: Verdicts, worlds: Worlds, cell: Ints, cells: int
    ) -> _Block:
        """The block of some verdicts."""
        votes, together = verdicts.votes, worlds.together[:, verdict]
        part = np.unique(worlds.component[verdict], return_inverse=True)[1]
        own = np.flatnonzero(np.isin(votes.verdict, verdict))
        place, cell = np.searchsorted(verdict, votes.verdict[own]), cell[own]
        both = np.flatnonzero(verdicts.workers[votes.verdict[own]] > 1)
        told = csr_array((np.ones(len(both)), (both, cell[both])), (len(own), cells))
        odds = np.minimum(worlds.odds[verdict], SUREST_SCORE)
        says = np.where(votes.same[own], 1.0, -1.0)
        columns = _columns(together, part)
        return cls(verdict, together, odds, part, *columns, cell, says, place, told)

    def draw(self, error: Floats, rng: np.random.Generator) -> tuple[Floats, Floats, Bools]:
        """P(one person), the answers' log odds, and what is true; shape (draws, verdicts) each."""
        draws, odds = len(error), self.odds
        yes, no = expit(odds), expit(-odds)
        spoken = -logit(error).reshape(draws, -1)[:, self.cell] * self.says
        first = np.searchsorted(self.place, np.arange(len(odds)))
        evidence = np.add.reduceat(spoken, first, axis=1)
        # P(answers | together) and P(answers | apart) in a world, its own doubt summed over.
        said = np.exp(np.clip(evidence, -_FARTHEST, _FARTHEST))
        if_together, if_apart = yes * said + no, no * said + yes
        worth = np.log(if_together / if_apart) @ self.of_world + np.log(self.times)
        weight = np.exp(worth - np.maximum.reduceat(worth, self.starts, axis=1)[:, self.owner])
        whole, upto = np.add.reduceat(weight, self.starts, axis=1), np.cumsum(weight, axis=1)
        # One sum over all components: each is drawn in its own stretch of it.
        least = (upto - weight)[:, self.starts] + rng.random(whole.shape) * whole
        passed = np.add.reduceat(upto <= least[:, self.owner], self.starts, axis=1)
        last = np.append(self.starts[1:], len(self.owner)) - 1
        world = self.world[np.minimum(self.starts + passed, last)]
        together = self.together[world[:, self.part], np.arange(len(odds))]
        apart, joined = no * said / if_apart, yes * said / if_together
        same = rng.random(evidence.shape) < np.where(together, joined, apart)
        # Over all worlds instead of the one drawn, so that forty draws are enough.
        share = (weight @ self.of_world.T) / whole[:, self.part]
        return apart + share * (joined - apart), evidence, same

    def missed(self, same: Bools) -> Floats:
        """Wrong answers to pairs with several, by cell; shape (draws, cells)."""
        return np.asarray((same[:, self.place] != (self.says > 0)).astype(np.float64) @ self.told)


def _columns(together: Bools, part: Ints) -> tuple[Ints, Ints, Ints, Ints, csr_array]:
    """A column for each different world of each component, so that sums over worlds are products.

    Most components have one verdict, of which all worlds say one of two things.
    """
    order = np.argsort(part, kind="stable")
    begins = np.flatnonzero(np.diff(part[order], prepend=-1))
    equal = (together[:, np.newaxis] == together)[:, :, order]
    # Worlds by worlds by components.
    alike = np.logical_and.reduceat(equal, begins, axis=2)
    is_first = alike.argmax(axis=1) == np.arange(len(together))[:, np.newaxis]
    owner, world = np.nonzero(is_first.T)
    times = np.count_nonzero(alike, axis=1)[world, owner]
    column = np.zeros(is_first.shape, dtype=np.int64)
    column[world, owner] = np.arange(len(owner))
    number, place = np.nonzero(together & is_first[:, part])
    of_world = csr_array(
        (np.ones(len(place)), (place, column[number, part[place]])), (len(part), len(owner))
    )
    return world, times, np.flatnonzero(np.diff(owner, prepend=-1)), owner, of_world


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
    clerk and kind of pair has `PRIOR`, and is learned from pairs that others answered, too: one
    answer against a score does not tell which of both is wrong. What the clerk did with other kinds
    counts with it, as at most as many pairs as the prior weighs.

    Parameters
    ----------
    kinds
        As `kinds_of_pairs` gives them.
    """
    votes, (kind, names) = verdicts.votes, kinds
    shape, twice = (len(votes.workers), len(names)), verdicts.workers > 1
    cells, cell = shape[0] * shape[1], votes.worker * shape[1] + kind[votes.verdict]
    told = np.bincount(cell[twice[votes.verdict]], minlength=cells).reshape(shape)
    most = max(_AT_ONCE // (draws * len(worlds.together)), 1)
    taught = np.isin(worlds.component, worlds.component[twice])
    teach, others = (
        [_Block.of(block, verdicts, worlds, cell, cells) for block in _blocks(which, worlds, most)]
        for which in (taught, ~taught)
    )
    probability, evidence = np.zeros((2, len(verdicts)))
    same = np.empty((draws, len(verdicts)), dtype=np.bool_)

    def turn(blocks: list[_Block], share: float) -> Floats:
        missed = np.zeros((draws, cells))
        for block in blocks:
            likely, spoken, drawn = block.draw(error, rng)
            probability[block.verdict] += share * likely.mean(axis=0)
            evidence[block.verdict] += share * spoken.mean(axis=0)
            same[:, block.verdict] = drawn
            missed += block.missed(drawn)
        return missed.reshape(draws, *shape)

    # As many draws in each part of the prior, so that its mean is that of the draws.
    parts = np.broadcast_to((np.arange(draws) + 0.5)[:, None, None] / draws, (draws, *shape))
    unknown = np.clip(betaincinv(*PRIOR, rng.permuted(parts, axis=0)), EDGE, _WORST)
    error = np.where(told > 0, PRIOR[0] / sum(PRIOR), unknown)
    kept: list[Floats] = []
    # A chain for each draw: nothing is thinned, and draws do not depend on each other.
    for number in range(_ROUNDS if teach else 0):
        counts = 2 * number >= _ROUNDS
        missed = turn(teach, 2 / _ROUNDS * counts)
        error = np.where(told > 0, _errors(missed, told, rng), unknown)
        kept += [error] * counts
    # Nothing is learned from these, so that once is enough.
    turn(others, 1.0)
    rates = _rates(verdicts, names, kind, np.concatenate(kept or [error]))
    mean = sum(rate.value * rate.answered for rate in rates) / len(votes.verdict)
    return Weighed(probability, evidence, same, mean, rates)


def _blocks(which: Bools, worlds: Worlds, most: int) -> list[Ints]:
    """Verdicts of some components, at most so many components in each list."""
    own = np.flatnonzero(which)
    if not len(own):
        return []
    place = np.unique(worlds.component[own], return_inverse=True)[1] // most
    order = np.argsort(place, kind="stable")
    return np.split(own[order], np.flatnonzero(np.diff(place[order])) + 1)


def _errors(missed: Floats, whole: Ints, rng: np.random.Generator) -> Floats:
    """Shares of wrong answers, drawn; all of shape (draws, clerks, kinds)."""
    wrong, right = PRIOR
    others, all_others = (e.sum(axis=-1, keepdims=True) - e for e in (missed, whole))
    share = np.minimum(1.0, (wrong + right) / np.maximum(all_others, 1))
    of_others = share * others
    wrong = wrong + of_others + missed
    drawn = rng.beta(wrong, right + share * all_others - of_others + whole - missed)
    return np.asarray(np.clip(drawn, EDGE, _WORST))


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
            answered, both = int(np.count_nonzero(own)), int(np.count_nonzero(own & twice))
            drawn = error[:, worker, number]
            value, ends = float(drawn.mean()), np.quantile(drawn, _ENDS)
            if not both:
                value, ends = PRIOR[0] / sum(PRIOR), betaincinv(*PRIOR, _ENDS)
            found.append(ErrorRate(name, columns, answered, both, value, *ends.tolist()))
    return tuple(sorted(found, key=lambda rate: -rate.value))


def change_by_answer(probability: npt.NDArray[Any], error: npt.NDArray[Any] | float) -> Floats:
    """By how much one more answer is expected to lessen the doubt P(1 − P) about each pair.

    A right answer takes all of it. One that is wrong with the chance e leaves the share
    e(1 − e)/(q(1 − q)), where q is the chance that it says "same".
    """
    said = probability * (1 - error) + (1 - probability) * error
    left = error * (1 - error) / np.maximum(said * (1 - said), EDGE)
    return np.asarray(probability * (1 - probability) * (1 - np.minimum(left, 1.0)))
