"""Persons by inference: partitions of the records drawn, the best one, and how good it will be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit

from sfumato.core.arrays import Bools, Codes, Floats, Integers, Ints, Levels, Words
from sfumato.core.errors import InputError
from sfumato.core.measure import NORMAL, Measure
from sfumato.kernels.key_numbering import number_by_first_appearance
from sfumato.kernels.loop_calls import floats, in_threads, ints
from sfumato.kernels.record_pairs import merge
from sfumato.kernels.record_partitions import Graph
from sfumato.linkage.answer_evidence import EDGE, Weighed, Worlds, kinds_of_pairs, weigh
from sfumato.linkage.match_decisions import Verdicts
from sfumato.linkage.match_thresholds import joined

VARIANTS, DRAWS = 10, 4
"""Ways in which the log odds of the pairs may be wrong, and partitions that are drawn by each."""
# A choice; the scores alone would make the draws agree more than they are right.
DOUBT = 1.0
"""Standard error of the log odds, in nats, of a pair that differs somewhere: errors of columns go
together in ways that no model without labels knows."""
CUT = 0.5
"""Probability from which two records are better in one person than in two, where nobody asked for
another one: then errors of both kinds count the same."""
APART = -1.5
"""Log odds of two records of one person that no blocking rule brought together, or that agreed in
next to nothing: rare among its pairs, but not very."""
# Far below what all agreements of a person can add up to, and finite so that sums stay numbers.
IMPOSSIBLE = -1e4
"""Log odds of two records that somebody called different."""
# A choice: e^−7 is odds of one in a thousand. `review_sample.EDGES` begins with it, too.
FEWEST = -7.0
"""Log odds below which a pair joins no two records, though it counts as missed."""
_FAINT, _TOGETHER = (-6.0, -5.0, -4.0), 2000
"""The same where pairs above would join more than so many records, one after the other."""
# A bit of a 64-bit word for each source, so that two clusters are compared in one step.
MOST_LIMITED = 64
_UNLIKELY = 0.05
"""Share of the draws up to which a pair is not looked at for the best persons."""
_BINS, _ROUNDS, _STEP = 12, 5, 0.9
_MANY, _FEW, _ENOUGH = 16, 4, 15_000
"""Partitions drawn to find the shifts; few are enough from so many doubtful pairs on."""
_SURE = 4.0
"""Log odds from which a pair is not doubtful."""
_LEAST_SHIFT, _MOST_SHIFT = -4.0, 10.0
_ANSWERS = 1
"""The stream of the seed that the truth of answered pairs is drawn from."""
_BY_DRAWS = (
    "partitions drawn by the probabilities of the pairs; their odds are true to about a factor of "
    "three"
)


Quality = tuple[Measure, Measure]
"""Precision and recall: expected share of the pairs of records within a person that are one
person's, and of those of one person that are within a person."""


class Beyond(NamedTuple):
    """Expected number of pairs of one person that no draw can join; shape (draws,) each."""

    across: Floats
    within: Floats


@dataclass(frozen=True, eq=False)
class Inferred:
    """Persons, and what is not sure about them.

    Attributes
    ----------
    label
        A number of the person of each record; shape (records,).
    draws
        The same in partitions drawn; shape (draws, records).
    source
        The source of each record; shape (records,).
    across, within
        Over the pairs of two sources, and of one; ``None`` where only one source is there, or
        where no person is expected to have two records of one.
    weighed
        The answers that the draws take into account; ``None`` where nobody answered.
    """

    label: Codes
    draws: Codes
    source: Ints
    beyond: Beyond
    quality: Quality
    across: Quality | None
    within: Quality | None
    weighed: Weighed | None

    @property
    def stated(self) -> Quality:
        """What is said of the persons: what links them across sources, where there are several."""
        return self.quality if self.across is None else self.across

    def of(self, label: Integers) -> Inferred:
        """Other persons, by a number for each record's, held against the same draws."""
        own = np.unique(label, return_inverse=True)[1].astype(np.int32)
        qualities = _expected(own, self.draws, _records_of(self.source), self.beyond)
        return Inferred(own, self.draws, self.source, self.beyond, *qualities, self.weighed)


def infer_persons(
    left: Ints,
    right: Ints,
    score: Floats,
    limited: Ints,
    *,
    verdicts: Verdicts | None = None,
    cut: float = CUT,
    lost: tuple[float, float] = (0.0, 0.0),
    source: Ints | None = None,
    levels: Mapping[str, Levels] | None = None,
    seed: int = 0,
) -> Inferred:
    """Draw partitions of the records into persons, and choose the one with the fewest errors.

    Partitions are drawn with weights exp Σ log odds over the pairs within their clusters, in the
    manner of a posterior over linkage structures (Steorts, Hall and Fienberg 2016, JASA
    111:1660-1672). As one match of a record speaks against another, the log odds are first
    shifted, so that the draws hold as many matches among pairs of about one score as the scores
    add up to. As the scores rest on a model, each of ten sets of
    draws takes the log odds of the pairs that differ, and those of what blocking has lost, to be
    wrong by a standard error of `DOUBT`: half of its variance is common to all pairs, half to those
    that differ in the same columns. The persons are the partition of least posterior expected loss
    (Binder 1978, Biometrika 65:31-38; Lau and Green 2007, JCGS 16:526-558): a pair joined wrongly
    costs ``cut``, one parted wrongly 1 − ``cut``.

    Parameters
    ----------
    left, right
        Records of each candidate pair; shape (pairs,).
    limited
        Source of each record where it has at most one record per person, else -1.
    verdicts
        What people answered: evidence, as `_with_answers` weighs it.
    lost
        Expected number of matches that are no candidate pairs, and how many of them are within
        sources, between which alone pairs were looked for.
    source
        The source of each record; one for all if not given.
    levels
        By comparison, the level of each pair, -1 where a value is missing; none if not given.
    """
    bits = _bits(limited)
    weight = np.asarray(logit(np.clip(score, EDGE, 1 - EDGE)))
    # Two records of a source that holds each person once share a bit, and can be no match.
    fits = (bits[left] & bits[right]) == 0
    near = _near(left, right, np.where(fits, weight, -np.inf), len(limited))
    doubt, wrong = _doubts(levels or {}, len(score), seed)
    far = ~near & fits
    source = np.zeros(len(limited), dtype=np.int64) if source is None else source
    beyond = _beyond(doubt, wrong, np.where(far, score, 0.0), source[left] == source[right], lost)
    records = np.arange(len(limited))
    size = np.ones(len(limited), dtype=np.int64)
    graph = _Graph(left[near], right[near], size, bits, records, None)
    shifted, wrong = _shifted(graph, weight[near], seed), wrong[near]
    odds = [shifted + each[wrong] for each in doubt]
    draws = np.concatenate(
        in_threads(
            [
                partial(graph.drawn, own, DRAWS, seed + _ROUNDS + number)
                for number, own in enumerate(odds)
            ]
        )
    )
    weighed = None
    if verdicts is not None and len(verdicts):
        touched = _Touched.by(verdicts, graph, limited)
        worlds = _worlds(verdicts, weight, draws, touched.component)
        kinds = kinds_of_pairs(verdicts.pair, levels or {})
        rng = np.random.default_rng([seed, _ANSWERS])
        weighed = weigh(verdicts, worlds, kinds, len(draws), rng)
        _draw_with_answers(draws, odds, touched, (verdicts, weighed), seed)
    # P(i, j are one person's) by the draws, which Binder's loss needs and nothing else.
    one, two, share = ever_together(draws, size)
    # Rare pairs cannot win, and leaving them out keeps the graph small; a lower cut needs them.
    likely = share > min(_UNLIKELY, cut)
    best = Graph(one[likely], two[likely], size, bits, records)
    # What joining two records saves is P − cut; pairs left out count −cut each.
    label = best.partitions((share - cut)[likely], apart=-cut)[0]
    # The draws of a variant share its doubt, and stand one behind the other.
    beyond = Beyond(*(np.repeat(each, DRAWS) for each in beyond))
    qualities = _expected(label, draws, _records_of(source), beyond)
    return Inferred(label.astype(np.int32), draws, source, beyond, *qualities, weighed)


def _worlds(verdicts: Verdicts, weight: Floats, draws: Codes, component: Ints) -> Worlds:
    """What the draws say of answered pairs, which all other pairs speak for, too.

    Draws that all agree say no more than that by themselves: there the score says how much more.
    """
    number = len(draws)
    together = draws[:, verdicts.left] == draws[:, verdicts.right]
    count, least = np.count_nonzero(together, axis=0), math.log(2 * number + 1)
    # Of pairs that no rule brought together nothing but the draws is known.
    score = np.zeros(len(verdicts))
    score[verdicts.pair >= 0] = weight[verdicts.pair[verdicts.pair >= 0]]
    surer = np.where(count == 0, -score, np.where(count == number, score, 0.0))
    return Worlds(together, np.maximum(surer, least), component)


def _draw_with_answers(
    draws: Codes,
    odds: list[Floats],
    touched: _Touched,
    answers: tuple[Verdicts, Weighed],
    seed: int,
) -> None:
    """Draw the components again that answers are about, in place.

    In each draw holds what is true of the answered pairs in it, in which their scores count
    already: one person makes one node of two records, two keep two nodes apart, the surest first
    where they contradict each other or a source's rule.
    """
    verdicts, weighed = answers
    surest = np.argsort(-np.abs(weighed.probability - 0.5), kind="stable")
    one, two = (touched.number[each[surest]] for each in (verdicts.left, verdicts.right))

    def again(draw: int) -> None:
        joins = weighed.same[draw, surest]
        merged, _ = merge(one, two, joins, touched.limited)
        node, count = number_by_first_appearance(merged, len(merged))
        apart = ~joins & (node[one] != node[two])
        impossible = node[one[apart]].astype(np.int64), node[two[apart]].astype(np.int64)
        made, edges = touched.contracted(node.astype(np.int64), count, impossible)
        weight = odds[draw // DRAWS][touched.edge[edges]]
        label = made.drawn(weight, 1, seed + _ROUNDS + VARIANTS + draw)[0]
        draws[draw, touched.record] = made.first[label][node]

    in_threads([partial(again, draw) for draw in range(len(draws))])


@dataclass(frozen=True, eq=False)
class _Touched:
    """The components that answers are about, with numbers of their own for their records.

    Attributes
    ----------
    record
        Their records, ascending.
    number
        Number of each record among these, -1 for all others.
    component
        A number of each answer's; shape (verdicts,).
    """

    record: Ints
    number: Ints
    edge: Ints
    left: Ints
    right: Ints
    held: Words
    limited: Ints
    component: Ints

    @classmethod
    def by(cls, verdicts: Verdicts, graph: _Graph, limited: Ints) -> _Touched:
        """The components, an answer being an edge."""
        one, two = np.append(graph.left, verdicts.left), np.append(graph.right, verdicts.right)
        component = joined(one, two, len(limited))
        asked = np.zeros(len(limited), dtype=np.bool_)
        asked[component[verdicts.left]] = True
        record = np.flatnonzero(asked[component])
        number = np.full(len(limited), -1, dtype=np.int64)
        number[record] = np.arange(len(record))
        edge = np.flatnonzero(asked[component[graph.left]])
        left, right = number[graph.left[edge]], number[graph.right[edge]]
        own = graph.held[record], limited[record], component[verdicts.left]
        return cls(record, number, edge, left, right, *own)

    def contracted(
        self, node: Ints, count: int, impossible: tuple[Ints, Ints]
    ) -> tuple[_Graph, Bools]:
        """The graph of some nodes, and which edges are between two of them."""
        left, right = node[self.left], node[self.right]
        edges = left != right
        held = np.zeros(count, dtype=np.uint64)
        # A node of several records holds every source that one of them holds.
        np.bitwise_or.at(held, node, self.held)
        first = np.full(count, self.record[-1])
        np.minimum.at(first, node, self.record)
        size = np.bincount(node)
        return _Graph(left[edges], right[edges], size, held, first, impossible), edges


def _beyond(
    doubt: Floats, wrong: Ints, score: Floats, within: Bools, lost: tuple[float, float]
) -> Beyond:
    """Expected matches that no draw can join, in each variant.

    Parameters
    ----------
    doubt, wrong
        As `_doubts` has them.
    score
        Of each pair, 0 where a draw may join it.
    lost
        Number of matches that are no candidate pairs, and of those that are within sources.
    """
    # Doubt in log odds multiplies small rates by its exponential.
    factor, sets = np.exp(doubt), doubt.shape[1] - 1
    kept = [np.bincount(wrong, score * side, sets) for side in (~within, within)]
    whole, hidden = lost
    # What blocking has lost is within sources as often as what it has found.
    share = float(score @ within) / max(float(score.sum()), EDGE)
    inside = hidden + (whole - hidden) * share
    return Beyond(
        *(factor @ np.append(a, b) for a, b in zip(kept, (whole - inside, inside), strict=True))
    )


def _records_of(source: Ints) -> Ints:
    """Number of records of each source of each record: one of its own; shape (records, sources)."""
    return np.eye(int(source.max(initial=0)) + 1, dtype=np.int64)[source]


def _near(left: Ints, right: Ints, weight: Floats, records: int) -> Bools:
    """Pairs that may join records, and those between records that others may join.

    Among many records faint pairs join all of them: where they do, they count as missed.
    """
    near = weight > FEWEST
    joins = near.copy()
    # Step by step, so that pairs are given up only where their component is too large.
    for least in (*_FAINT, None):
        component = joined(left[joins], right[joins], records)
        large = np.bincount(component)[component[left]] > _TOGETHER
        if least is None or not np.any(large & near):
            break
        joins &= ~large | (weight > least)
    return np.asarray(near & (component[left] == component[right]))


def _bits(limited: Ints) -> Words:
    """A bit for each source with at most one record per person, in the numbers of its records."""
    sources, place = np.unique(limited[limited >= 0], return_inverse=True)
    if len(sources) > MOST_LIMITED:
        raise InputError(
            "parameter one_per_source",
            f"must name at most {MOST_LIMITED} sources",
            found=f"{len(sources)}",
        )
    bits = np.zeros(len(limited), dtype=np.uint64)
    bits[limited >= 0] = np.uint64(1) << place.astype(np.uint64)
    return bits


@dataclass(frozen=True, eq=False)
class _Graph:
    """Pairs of records between nodes, and what keeps nodes apart."""

    left: Ints
    right: Ints
    size: Ints
    held: Words
    first: Ints
    impossible: tuple[Ints, Ints] | None

    @cached_property
    def _edges(self) -> tuple[Graph, Ints, Floats]:
        """The nodes, the edge of each pair, and what an edge is worth without its pairs."""
        left, right = self.left, self.right
        if self.impossible is not None:
            left = np.concatenate([left, self.impossible[0]])
            right = np.concatenate([right, self.impossible[1]])
        key = np.minimum(left, right) * len(self.size) + np.maximum(left, right)
        keys, edge = np.unique(key, return_inverse=True)
        one, two = np.divmod(keys, len(self.size))
        # Σ log odds over all record pairs of two nodes: those without a candidate pair count
        # `APART` each.
        base = APART * self.size[one] * self.size[two]
        # Once, however many said so: the sum is far below any other in either case.
        base += IMPOSSIBLE * (np.bincount(edge[len(self.left) :], minlength=len(keys)) > 0)
        graph = Graph(one, two, self.size, self.held, self.first)
        return graph, ints(edge[: len(self.left)]), floats(base)

    def drawn(self, weight: Floats, draws: int, seed: int) -> Codes:
        """Partitions by the log odds of the pairs of records."""
        graph, edge, base = self._edges
        # A candidate pair takes the place of the `APART` that the base counts for it.
        total = base + np.bincount(edge, weight - APART, len(base))
        return graph.partitions(total, apart=APART, draws=draws, seed=seed)


def _doubts(levels: Mapping[str, Levels], pairs: int, seed: int) -> tuple[Floats, Ints]:
    """By how much log odds are wrong in each variant, of each set of columns that pairs differ in.

    Gives that, with the number lost to blocking last; shape (variants, sets + 1), and the set of
    each pair; shape (pairs,).
    """
    sides = []
    for level in levels.values():
        sides += [(level >= 0) & (level < level.max(initial=0)), level < 0]
    rng = np.random.default_rng(seed)
    # Antithetic: with each error its negative, so that ten draws have no bias of their own.
    half = rng.standard_normal((VARIANTS // 2, len(sides) + 2))
    # Scaled to the exact standard error, from which a mean of five squares would stray far.
    error = np.concatenate([half, -half]) / np.sqrt((half**2).mean(axis=0)) * DOUBT
    common, of_side, lost = error[:, :1], error[:, 1:-1], error[:, -1]
    if not sides:
        return np.column_stack([np.zeros(VARIANTS), lost]), np.zeros(pairs, dtype=np.int64)
    code = np.zeros(pairs, dtype=np.int64)
    for side in sides:
        code = 2 * code + side
    _, first, own = np.unique(code, return_index=True, return_inverse=True)
    differs = np.stack([side[first] for side in sides]).astype(np.float64)
    number = differs.sum(axis=0)
    # Over √n, so that a pair which differs in n columns is as doubtful as one that differs in one.
    total = common * (number > 0) + of_side @ differs / np.sqrt(np.maximum(number, 1.0))
    # Half of the variance is common and half of the columns: their sum has twice that of `DOUBT`.
    return np.column_stack([total / np.sqrt(2), lost]), own


def _shifted(graph: _Graph, weight: Floats, seed: int) -> Floats:
    """Log odds under which the draws hold as many matches of each strength as the scores say."""
    if not len(weight):
        return weight
    probability = expit(weight)
    # Bins of equal p (1 − p): the doubtful pairs are those that shifts can move.
    doubt = probability * (1 - probability) + 1e-3
    order = np.argsort(weight)
    edges = np.cumsum(doubt[order]) / doubt.sum()
    steps = np.searchsorted(edges, np.arange(1, _BINS) / _BINS)
    ends = np.unique(weight[order][np.minimum(steps, len(weight) - 1)])
    part = np.searchsorted(ends, weight, side="right")
    count = np.bincount(part, minlength=len(ends) + 1)
    held = np.flatnonzero(count)
    wanted = _odds(np.bincount(part, probability, len(count)), count)[held]
    center = (
        (np.bincount(part, weight * doubt, len(count))[held])
        / (np.bincount(part, doubt, len(count))[held])
    )
    shift, step, before = np.zeros(len(held)), np.full(len(held), _STEP), np.zeros(len(held))
    draws = _MANY if np.count_nonzero(np.abs(weight) < _SURE) < _ENOUGH else _FEW
    for turn in range(_ROUNDS):
        drawn = graph.drawn(weight + np.interp(weight, center, shift), draws, seed + turn)
        share = (drawn[:, graph.left] == drawn[:, graph.right]).mean(axis=0)
        gap = wanted - _odds(np.bincount(part, share, len(count)), count)[held]
        # As what one bin's matches take from the others comes back, full steps may go in circles.
        step[gap * before < 0] /= 2
        shift = np.clip(shift + step * gap, _LEAST_SHIFT, _MOST_SHIFT)
        # A stronger pair stays the stronger one: shifted log odds must not fall as the score rises.
        shift, before = np.maximum.accumulate(center + shift) - center, gap
    return np.asarray(weight + np.interp(weight, center, shift))


def _odds(part: npt.NDArray[Any], whole: Ints) -> Floats:
    """Log odds of being among so many of all, with half a pair on either side."""
    return np.asarray(np.log((part + 0.5) / (whole - part + 0.5)))


def ever_together(draws: Codes, size: Ints) -> tuple[Ints, Ints, Floats]:
    """Nodes that are together in some draw, and in which share of the draws."""
    nodes, keys = len(size), [np.empty(0, dtype=np.int64)]
    for label in draws:
        order = np.argsort(label, kind="stable").astype(np.int64)
        own, step = label[order], 1
        while np.any(same := own[step:] == own[:-step]):
            # In order of the label, members of one person at distance 1, 2, …: all pairs without a
            # loop over persons.
            keys.append(order[:-step][same] * nodes + order[step:][same])
            step += 1
    key, count = np.unique(np.concatenate(keys), return_counts=True)
    one, two = np.divmod(key, nodes)
    return one, two, count / len(draws)


def _expected(
    label: Codes, draws: Codes, records: Ints, beyond: Beyond
) -> tuple[Quality, Quality | None, Quality | None]:
    """Precision and recall of the persons against each draw, and their spread.

    Over all pairs, those across sources and those within one, as `Inferred` has them. The records
    of each node, by source, have shape (nodes, sources).
    """
    one, two, _ = ever_together(label[np.newaxis], records.sum(axis=1))
    together = [label[one] == label[two], *(draw[one] == draw[two] for draw in draws)]

    def counted(number: Ints) -> tuple[Floats, float, Floats]:
        """Pairs of records that are right in each draw, within persons, and of one in truth."""
        pairs, own = number[one] * number[two], float(_choose_two(number))
        right = [own + float(pairs[both].sum()) for both in together]
        true = [float(_choose_two(np.bincount(draw, number))) for draw in draws]
        return np.array(right[1:]), right[0], np.array(true)

    def quality(counts: tuple[Floats, float, Floats], lost: Floats) -> Quality:
        right, found, true = counts
        missed = true + lost - right
        return _measure("precision", right, found - right), _measure("recall", right, missed)

    whole = counted(records.sum(axis=1))
    every = quality(whole, beyond.across + beyond.within)
    if records.shape[1] == 1:
        return every, None, None
    parts = [counted(each) for each in records.T]
    inside = tuple(sum(each) for each in zip(*parts, strict=True))
    across = tuple(a - b for a, b in zip(whole, inside, strict=True))
    within = None
    # Half a pair: whether there is one at all.
    if inside[1] or float((inside[2] + beyond.within).mean()) >= 0.5:
        within = quality(inside, beyond.within)
    return every, quality(across, beyond.across), within


def _choose_two(number: npt.NDArray[Any]) -> float:
    """Pairs of so many records, summed up."""
    return float((number * (number - 1) // 2).sum())


def _measure(name: str, right: Floats, wrong: Floats) -> Measure:
    """The median share, and 95 % limits by the spread of its log odds, half a pair added.

    The limits are rounded outwards to whole pairs.
    """
    odds, pairs = np.log((right + 0.5) / (wrong + 0.5)), float((right + wrong).mean())
    share = np.divide(right, right + wrong, out=np.ones(len(right)), where=right + wrong > 0)
    # On log odds, as shares near 1 are skewed and an interval of the shares would pass 1.
    reach = NORMAL * odds.std(ddof=1)
    low, high = expit(odds.mean() + reach * np.array([-1.0, 1.0])).tolist()
    value = float(np.median(share))
    if pairs >= 1:
        low = max(1 - math.ceil((1 - low) * pairs) / pairs, 0.0)
        high = 1 - math.floor((1 - high) * pairs) / pairs
    # Median and mean log odds differ, so that the value could lie outside of its own interval.
    low, high = min(low, value), max(high, value)
    return Measure(name, value, low=low, high=high, estimator="draws", why=_BY_DRAWS)
