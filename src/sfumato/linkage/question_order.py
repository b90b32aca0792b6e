"""Which pairs to ask people about next: those that teach most of the persons for their cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.linkage.answer_evidence import EDGE, PRIOR, change_by_answer
from sfumato.linkage.match_thresholds import Pairs, joined
from sfumato.linkage.person_clusters import Settled
from sfumato.linkage.person_inference import ever_together
from sfumato.linkage.review_sample import EDGES, pair_key

# Persons are said to 0.1 % where they are nearly right: what is below does not show.
ENOUGH = 0.001
"""Share of the pairs of records within persons that answers may still change where they end."""
# A choice, as clusters of `link next`: more than this is too much for one look.
_MOST = 10
"""Pairs of a cluster that are asked one after the other before all are ranked again."""
# A choice: two answers weigh as much as the scores of pairs of about one score do.
_LIKE = 2.0


@dataclass(frozen=True, eq=False)
class Questions:
    """Pairs to ask people about, the worthiest first; arrays of shape (questions,).

    Attributes
    ----------
    pair
        Their numbers among the candidate pairs.
    worth
        By how much an answer lessens the doubt about pairs of records, given answers to those of
        its cluster before it; for each unit of cost.
    cluster
        A number, the same for pairs whose answers speak of each other.
    open
        Expected number of pairs of records that answers to all of them would change.
    within
        Number of pairs of records within persons.
    """

    pair: Ints
    worth: Floats
    cluster: Ints
    open: float
    within: int

    @property
    def enough(self) -> bool:
        """Whether further answers would change next to nothing."""
        return self.open <= ENOUGH * self.within


Cost = Callable[[Ints], Floats]
"""What it costs to show each of some pairs, by their numbers; 0 or more."""


def questions(
    settled: Settled, pairs: Pairs, may_ask: Bools, cost: Cost | None = None
) -> Questions:
    """Rank the pairs by what one more answer to each is expected to mend in all persons.

    An answer to a pair mends what the persons have wrong about it, and lessens the doubt P(1 − P)
    about others of its cluster as far as both go together in the partitions drawn. What is left of
    that after some answers is that of their best linear prediction. As scores may be off, the
    probability of a pair is the share of the draws that join it, shifted as answers to pairs of
    about its score have it.

    Parameters
    ----------
    settled
        The persons with the answers so far.
    may_ask
        Whether people may be asked about each pair; shape (pairs,).
    cost
        Asked of the pairs in doubt alone; all cost the same if not given.
    """
    error = PRIOR[0] / sum(PRIOR) if settled.weighed is None else settled.weighed.error
    person = settled.persons.person.astype(np.int64)
    size = np.bincount(person)
    within = int((size * (size - 1) // 2).sum())
    inferred = settled.persons.inferred
    if inferred is None:
        pair, gain, cluster, wrong = _by_scores(settled, pairs, person, may_ask, error)
        worth = gain / _prices(pair, cost)
    else:
        shift = _shift(settled, pairs)
        pair, worth, cluster, wrong = _by_draws(
            inferred.draws, pairs, (person, shift), may_ask, cost, error
        )
    # Stable: of equal ones the first, on every machine.
    order = np.argsort(-worth, kind="stable")
    return Questions(pair[order], worth[order], cluster[order], wrong, within)


def _prices(pair: Ints, cost: Cost | None) -> Floats:
    """The costs by which the worth of pairs is divided, above 0."""
    prices = np.ones(len(pair)) if cost is None else cost(pair)
    dear = prices > 0
    # What costs nothing is no more than the cheapest: a reader's time is never free.
    return np.where(dear, prices, prices[dear].min() if dear.any() else 1.0)


_Ranked = tuple[Ints, Floats, Ints, float]
"""Pairs, what each teaches, their clusters, and the number of pairs that may be wrong."""


def _by_scores(
    settled: Settled, pairs: Pairs, person: Ints, may_ask: Bools, error: float
) -> _Ranked:
    """Each pair by itself, where matches by score join records and nothing is drawn."""
    probability = settled.probability.copy()
    verdicts, weighed = settled.verdicts, settled.weighed
    if weighed is not None:
        placed = verdicts.pair >= 0
        probability[verdicts.pair[placed]] = weighed.probability[placed]
    pair = np.flatnonzero(may_ask & (probability > 0) & (probability < 1))
    left, right = person[pairs.left[pair]], person[pairs.right[pair]]
    size, likely = np.bincount(person), probability[pair]
    moved = np.where(left == right, size[left] - 1, size[left] * size[right])
    wrong = float(moved @ np.where(left == right, 1 - likely, likely))
    cluster = joined(pairs.left[pair], pairs.right[pair], len(person))[pairs.left[pair]]
    return pair, moved * change_by_answer(likely, error), cluster, wrong


def _by_draws(
    draws: np.ndarray,
    pairs: Pairs,
    known: tuple[Ints, Floats],
    may_ask: Bools,
    cost: Cost | None,
    error: float,
) -> _Ranked:
    """All record pairs that are together in some draws and apart in others, by cluster.

    What each teaches is told for each unit of its cost.
    """
    person, shift = known
    records = len(person)
    left, right, share = ever_together(draws, np.ones(records, dtype=np.int64))
    # Rounded: a share of all draws is 1 exactly, whatever the order of its sum.
    unsure = share < 1
    left, right, share = left[unsure], right[unsure], share[unsure]
    cluster = joined(left, right, records)[left]
    number = _numbers(pair_key(left, right, records), pair_key(pairs.left, pairs.right, records))
    candidate = np.flatnonzero(number >= 0)
    asking, likely = np.full(len(left), -1, dtype=np.int64), share.copy()
    likely[number[candidate]] = expit(logit(share[number[candidate]]) + shift[candidate])
    askable = candidate[may_ask[candidate]]
    asking[number[askable]] = askable
    price = np.ones(len(pairs))
    price[askable] = _prices(askable, cost)
    wrong = np.where(person[left] == person[right], 1 - likely, likely)
    # A wrong answer may mislead, so that it mends less than what is wrong.
    mended = np.maximum(wrong - _after(likely, error), 0.0)
    # What no question touches stays as it is.
    touched = np.isin(cluster, cluster[asking >= 0])
    ranked = [(np.empty(0, np.int64), np.empty(0), np.empty(0, np.int64))]
    alone = np.bincount(cluster, minlength=records)[cluster] == 1
    single = np.flatnonzero(alone & (asking >= 0))
    ranked.append((asking[single], mended[single] / price[asking[single]], cluster[single]))
    for members in _groups(cluster, touched & ~alone):
        together = (draws[:, left[members]] == draws[:, right[members]]).astype(np.float64)
        open_ = np.flatnonzero(asking[members] >= 0)
        pair = asking[members[open_]]
        order, gain = in_turn(
            covariance(together), (open_, mended[members[open_]]), error, price[pair]
        )
        worth = gain / price[pair[order]]
        ranked.append((pair[order], worth, np.full(len(order), cluster[members[0]])))
    question, worth, of = (np.concatenate(part) for part in zip(*ranked, strict=True))
    return question, worth, of, float(wrong[touched].sum())


def _after(likely: Floats, error: float) -> Floats:
    """What is expected to be wrong about a pair after an answer to it."""
    right, wrong = 1 - error, error
    same = np.minimum(likely * right, (1 - likely) * wrong)
    return np.asarray(same + np.minimum(likely * wrong, (1 - likely) * right))


def _shift(settled: Settled, pairs: Pairs) -> Floats:
    """By how much the log odds of pairs of about one score differ from it, as answers have it."""
    shift, weighed = np.zeros(len(pairs)), settled.weighed
    if weighed is None:
        return shift
    pair = settled.verdicts.pair
    placed = pair >= 0
    answered = pair[placed]
    stratum = np.searchsorted(EDGES, logit(np.clip(pairs.score, EDGE, 1 - EDGE)), side="right")
    number = np.bincount(stratum[answered], minlength=len(EDGES) + 1)
    score = np.bincount(stratum[answered], pairs.score[answered], len(number))
    true = np.bincount(stratum[answered], expit(weighed.evidence[placed]), len(number))
    mean = np.clip(score / np.maximum(number, 1), EDGE, 1 - EDGE)
    by = np.where(number > 0, logit((true + _LIKE * mean) / (number + _LIKE)) - logit(mean), 0.0)
    shift = by[stratum]
    shift[answered] = 0.0  # what they are is in the draws
    return np.asarray(shift)


def _numbers(keys: Ints, sought: Ints) -> Ints:
    """Place of each key sought among ascending ones, -1 where it is not there."""
    order = np.argsort(keys, kind="stable")
    place = np.minimum(np.searchsorted(keys[order], sought), max(len(keys) - 1, 0))
    if not len(keys):
        return np.full(len(sought), -1, dtype=np.int64)
    return np.where(keys[order[place]] == sought, order[place], -1).astype(np.int64)


def _groups(cluster: Ints, which: Bools) -> Iterator[Ints]:
    """The places of each cluster's members, of some of them."""
    members = np.flatnonzero(which)
    members = members[np.argsort(cluster[members], kind="stable")]
    if len(members):
        yield from np.split(members, np.flatnonzero(np.diff(cluster[members])) + 1)


def covariance(together: Floats) -> Floats:
    """Of the columns of draws, without what so few draws would have by chance."""
    draws = len(together)
    off = together - together.mean(axis=0)
    matrix = off.T @ off / draws
    spread = np.diag(matrix)
    # The variance of a covariance of independent columns, which is taken off its square.
    chance = np.outer(spread, spread) / draws
    weight = np.maximum(1 - chance / np.maximum(matrix**2, np.finfo(float).tiny), 0.0)
    np.fill_diagonal(weight, 1.0)
    return np.asarray(matrix * weight)


def in_turn(
    spread: Floats, asked: tuple[Ints, Floats], error: float, cost: Floats, most: int = _MOST
) -> tuple[Ints, Floats]:
    """Which of the open ones to ask one after the other, and what each mends or lessens.

    Parameters
    ----------
    spread
        Covariance of all members; shape (members, members).
    asked
        Places of those that may be asked, and what an answer mends of each itself.
    cost
        Of each open one.
    """
    (open_, mended), left, order, gains = asked, spread.copy(), [], []
    # An answer that is wrong with the chance e is y + noise: covariance (1 − 2e) C, noise e(1 − e).
    slope, noise = (1 - 2 * error) ** 2, max(error * (1 - error), 1e-12)
    free = np.ones(len(open_), dtype=np.bool_)
    for _ in range(min(most, len(open_))):
        strength = slope / (slope * np.diag(left)[open_] + noise)
        variance = np.square(left[open_, open_])
        gain = mended + strength * (np.square(left[open_]).sum(axis=1) - variance)
        best = int(np.argmax(np.where(free, gain / cost, -1.0)))
        free[best] = False
        order.append(best)
        gains.append(gain[best])
        row = left[open_[best]]
        left = left - strength[best] * np.outer(row, row)
    return np.array(order, dtype=np.int64), np.array(gains)
