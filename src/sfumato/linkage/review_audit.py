"""Pairs drawn for people to answer, and what the answers say of all pairs and of the persons."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.special import expit, logit

from sfumato.core.measure import Measure
from sfumato.linkage.chance_agreement import pairs_of_equal
from sfumato.linkage.linkage_quality import weights
from sfumato.linkage.match_decisions import DIFFERENT, SAME, Verdicts
from sfumato.linkage.match_thresholds import Floats, Ints, Pairs, Records
from sfumato.linkage.reviewed_rates import DRAWS, NO_PATTERN, Cells, draw_rates, instrument, rounded

Bools = npt.NDArray[np.bool_]
BY_REVIEW = "review"
_WHY = (
    "pairs drawn at random from all scores and answered; rates of patterns and scores shrunk to "
    "the model's"
)
EDGES = np.array([-7.0, -4.0, -2.0, 0.0, 2.0, 4.0, 7.0])
"""Log odds at which strata of scores end."""
LARGE = 4
"""Records that a pair's persons have together from which it is in a stratum of its own."""
_BINS = len(EDGES) + 1
CHAINED, SPLIT, WIDER = 4 * _BINS, 4 * _BINS + 1, 4 * _BINS + 2
"""The stratum of pairs within a person that no rule brought together, of those that answers about
others have parted (none is drawn), and the first of those of wider blocks: they agree in two
columns, three, and so on."""
DOUBT, UNKNOWN, LOST_DOUBT = 1.0, 3.0, 1.0
"""How many times as wrong as usual log odds may be: by a model that tells relatives from persons,
by another one, and of what draws and capture and recapture say."""
NO_RULE = -1
"""The blocking rule of a pair that none brought together: it was drawn for review."""
_FEW_OF_PATTERN, _MOST_CELLS = 20, 200
_EDGE = 1e-12
_HALF = 1e-3
"""Pairs of a cell that count as matches, and as others, whatever the draws say."""
_LEAST_LOST = 0.5
_TRIES = 50


@dataclass(frozen=True, eq=False)
class Wider:
    """Pairs that agree in columns no rule demands together: how many, and some at random.

    Attributes
    ----------
    size
        Number of pairs that agree in two columns, in three, and so on; by sampling.
    rate
        What the model takes the rates of matches to be, as ratios.
    left, right, columns
        Some at random, and in how many columns they agree.
    """

    size: Ints
    rate: Floats
    left: Ints
    right: Ints
    columns: Ints


@dataclass(frozen=True, eq=False)
class Asked:
    """Pairs that were drawn; arrays of shape (asked,).

    Attributes
    ----------
    pair
        Numbers of the pairs.
    stratum
        The stratum of each.
    batch
        Number of the batch, from 1.
    probability
        The chance that it had to be in that batch, given those before.
    """

    pair: Ints
    stratum: Ints
    batch: Ints
    probability: Floats

    def and_these(self, later: Asked) -> Asked:
        """These and later ones."""
        return Asked(
            np.concatenate([self.pair, later.pair]),
            np.concatenate([self.stratum, later.stratum]),
            np.concatenate([self.batch, later.batch]),
            np.concatenate([self.probability, later.probability]),
        )


_NONE = np.empty(0, dtype=np.int64)
NONE_ASKED = Asked(_NONE, _NONE, _NONE, np.empty(0))


@dataclass(frozen=True, eq=False)
class Learned:
    """What answers say.

    Attributes
    ----------
    probability
        Probability of each pair; shape (pairs,).
    mean, variance
        Of the rate of matches of each stratum.
    precision, recall
        Of persons, with 95 % intervals.
    answered
        Number of answers to pairs that were drawn.
    """

    probability: Floats
    mean: Floats
    variance: Floats
    precision: Measure
    recall: Measure
    answered: int


@dataclass(frozen=True, eq=False)
class Reviewed:
    """What a review says of the persons.

    Attributes
    ----------
    asked
        Number of pairs drawn.
    learned
        What their answers say.
    half_width
        Wanted half width of both intervals.
    """

    asked: int
    learned: Learned
    half_width: float

    @property
    def quality(self) -> tuple[Measure, Measure]:
        """Precision and recall of the persons."""
        return self.learned.precision, self.learned.recall

    @property
    def is_narrow(self) -> bool:
        """Whether both intervals are as narrow as wanted, by some answers at least."""
        widths = [(each.high or 0.0) - (each.low or 0.0) for each in self.quality]
        return self.learned.answered > 0 and max(widths) <= 2 * self.half_width

    def to_json(self) -> dict[str, Any]:
        """Numbers about it as plain values."""
        return {
            "asked": self.asked,
            "answered": self.learned.answered,
            "half_width": self.half_width,
            "narrow_enough": self.is_narrow,
            **{each.name: each.to_json() for each in self.quality},
        }

    def lines(self) -> list[str]:
        """The same in a few lines."""
        asked, answered = self.asked, self.learned.answered
        said = "narrow enough" if self.is_narrow else "not yet as narrow as wanted"
        return [
            f"Review            {answered:,} of {asked:,} pairs answered",
            f"Intervals         {said} (± {100 * self.half_width:g} %)",
            *(
                f"By review         {each.name} {100 * each.value:.2f} % "
                f"({100 * (each.low or 0.0):.2f} % to {100 * (each.high or 0.0):.2f} %) of the "
                "persons"
                for each in self.quality
            ),
        ]


@dataclass(frozen=True, eq=False)
class ReviewAudit:
    """The pairs that may be drawn, in strata that stay as they are while people answer.

    Attributes
    ----------
    records, pairs
        The linkage's.
    person
        Person of each record when the first batch was drawn; shape (records,).
    wider_size, wider_odds
        Number of pairs in wider blocks, and log odds of a match.
    doubt
        How many times as wrong as usual the model's log odds may be.
    draws
        Partitions drawn when the first batch was, where persons were inferred; else none; shape
        (draws, records).
    limited
        Source of each record where it has at most one record per person, else -1.
    """

    records: Records
    pairs: Pairs
    person: Ints
    wider_size: Ints
    wider_odds: Floats
    doubt: float
    draws: npt.NDArray[np.integer[Any]]
    limited: Ints

    @cached_property
    def stratum(self) -> Ints:
        """Stratum of each pair by score, by whether its records are one person's, by their size.

        -1 for pairs that no rule brought together.
        """
        one, other = self.person[self.pairs.left], self.person[self.pairs.right]
        size = np.bincount(self.person)
        within = one == other
        touched = size[one] + np.where(within, 0, size[other])
        place = np.searchsorted(EDGES, self._odds, side="right")
        stratum = place + _BINS * (within + 2 * (touched >= LARGE))
        return np.where(self.pairs.block == NO_RULE, -1, stratum).astype(np.int64)

    @property
    def _odds(self) -> Floats:
        return np.asarray(logit(np.clip(self.pairs.score, _EDGE, 1 - _EDGE)))

    @cached_property
    def _likely(self) -> Floats:
        """Probability of each pair before answers: by the draws, as other pairs speak, too.

        What no draw joins for its low score keeps that.
        """
        if not len(self.draws):
            return self.pairs.score
        share = np.mean([self._together(draw) for draw in self.draws], axis=0)
        return np.where((self._odds > EDGES[0]) | (share > 0), share, self.pairs.score)

    @property
    def strata(self) -> int:
        """Number of strata."""
        return WIDER + len(self.wider_size)

    @cached_property
    def size(self) -> Ints:
        """Number of pairs of each stratum."""
        size = np.bincount(self.stratum[self.stratum >= 0], minlength=self.strata)
        size[CHAINED] = self._pairs_within(self.person, self.person) - self._explicit.sum()
        size[WIDER:] = self.wider_size
        return size.astype(np.int64)

    @property
    def _explicit(self) -> Bools:
        """Pairs by rules whose records were one person's."""
        return np.asarray(self._together(self.person) & (self.stratum >= 0))

    def _celled(self, alone: Ints) -> tuple[Ints, Cells, Ints]:
        """Cell of each pair (-1 where no rule made it), the cells, and the stratum of each cell.

        A cell is a stratum, whether the pair is one person's by ``alone``, and the columns in
        which it differs.
        """
        there = np.flatnonzero(self.stratum >= 0)
        code = np.zeros(len(there), dtype=np.int64)
        for level in self.pairs.levels.values():
            own = level[there]
            code = 3 * code + np.where(own < 0, 2, own < level.max(initial=0))
        _, code = np.unique(code, return_inverse=True)
        stratum = 2 * self.stratum[there] + self._together(alone)[there]
        joint = stratum * (int(code.max(initial=0)) + 1) + code
        keys, place, count = np.unique(joint, return_inverse=True, return_counts=True)
        usual = np.zeros(len(keys), dtype=np.bool_)
        usual[np.argsort(-count, kind="stable")[:_MOST_CELLS]] = True
        own = (usual & (count >= _FEW_OF_PATTERN))[place]
        joint = np.where(own, joint, -1 - stratum)
        keys, first, place = np.unique(joint, return_index=True, return_inverse=True)
        count = np.bincount(place)
        rate = (np.bincount(place, self._likely[there]) + _HALF) / (count + 2 * _HALF)
        cell = np.full(len(self.pairs), -1, dtype=np.int64)
        cell[there] = place
        beyond = 2 + len(self.wider_size)
        odds = np.concatenate([
            logit(np.clip(rate, _EDGE, 1 - _EDGE)), [0.0, 0.0], self.wider_odds
        ])  # fmt: skip
        pattern = np.where(keys < 0, NO_PATTERN, code[first])
        of_cell = np.concatenate([self.stratum[there][first], CHAINED + np.arange(beyond)])
        pattern = np.concatenate([pattern, np.full(beyond, NO_PATTERN)])
        return cell, Cells(odds, pattern), of_cell

    def _pairs_within(self, *labels: Ints) -> int:
        """Number of pairs of records that have all labels in common."""
        joint = np.zeros(self.records.count, dtype=np.int64)
        for label in labels:
            joint = joint * (int(label.max(initial=0)) + 1) + label
        count = np.unique(joint, return_counts=True)[1].astype(np.int64)
        return int((count * (count - 1) // 2).sum())

    def _together(self, person: npt.NDArray[np.integer]) -> Bools:
        return np.asarray(person[self.pairs.left] == person[self.pairs.right])

    def learn(
        self,
        asked: Asked,
        verdicts: Verdicts,
        person: Ints,
        draws: npt.NDArray[np.integer] | None,
        rng: np.random.Generator,
        *,
        alone: Ints | None = None,
    ) -> Learned:
        """Rates, probabilities, and precision and recall of persons, by the answers so far.

        What was answered, or follows from answers, is known; of all other pairs within a person,
        and of those that are not, each cell has matches at the rate that is drawn for it.

        Parameters
        ----------
        asked
            The pairs that were drawn.
        verdicts
            What people decided.
        person
            Person of each record, which are judged.
        draws
            Partitions drawn, where persons were inferred; shape (draws, records). They say how
            likely pairs are that only others have joined or parted.
        rng
            Source of randomness.
        alone
            Person of each record as they are without any decision, by what answers have taught:
            so that pairs that were answered are told apart as all others are. Those at the
            beginning if not given.
        """
        alone = self.person if alone is None else alone
        cell, cells, of_cell = self._celled(alone)
        answered, same = self._counted(asked, verdicts, cell, of_cell)
        known, is_same, node = self._known(verdicts)
        now, before, ruled = self._together(person), self._together(alone), cell >= 0
        stays = ruled & (now == before) & ~known
        inside = np.bincount(cell[stays & now], minlength=len(cells.odds))
        outside = np.bincount(cell[stays & ~now], minlength=len(cells.odds))
        found, joined = self._pairs_within(person), self._pairs_within(node, person)
        right_known = joined - int(np.count_nonzero(now & is_same))
        listed = int(np.count_nonzero(now & (stays | known)))
        chained, split = (int(np.flatnonzero(of_cell == each)[0]) for each in (CHAINED, SPLIT))
        inside[chained] = max(found - listed - right_known, 0)
        parted = self._pairs_within(alone) - self._pairs_within(alone, person)
        outside[split] = max(parted - int(np.count_nonzero(before & ~now & known)), 0)
        beyond = np.flatnonzero(of_cell >= WIDER)
        outside[beyond] = np.maximum(self.wider_size - answered[beyond], 0)
        odds = cells.odds.copy()
        odds[[chained, split]] = self._by_draws(
            draws, person, alone, stays | known, inside[chained], outside[split]
        )
        rate, moved = self._rates(Cells(odds, cells.pattern), same, answered, of_cell, rng)
        right: Floats = rng.binomial(inside, rate).sum(axis=1) + joined
        missed: Floats = rng.binomial(outside, rate).sum(axis=1) + np.count_nonzero(is_same & ~now)
        again = self._odds.copy()
        again[ruled] += moved[cell[ruled]]
        joined_before = ((of_cell // _BINS) % 2 == 1) & (of_cell < CHAINED) | (of_cell == CHAINED)
        wrong, lost = (answered - same)[joined_before].sum(), same[~joined_before].sum()
        mean, variance = self._by_stratum(rate, of_cell, inside + outside)
        return Learned(
            np.asarray(np.where(ruled, expit(again), self.pairs.score)),
            mean,
            variance,
            _measure("precision", right, found - right, is_open=not wrong),
            _measure("recall", right, missed, is_open=not lost),
            int(answered.sum()),
        )

    def _by_draws(
        self,
        draws: npt.NDArray[np.integer] | None,
        person: Ints,
        before: Ints,
        aside: Bools,
        chained: int,
        split: int,
    ) -> tuple[float, float]:
        """Log odds of a match of pairs that only others have joined, and have parted.

        Those are ``chained`` and ``split`` pairs: within a person now, but for those in ``aside``,
        and within one ``before``.
        """
        if draws is None:
            return 0.0, 0.0
        now, both, kept = self._together(person), [], []
        for draw in draws.astype(np.int64):
            drawn = self._together(draw)
            joined = self._pairs_within(person, draw)
            both.append(joined - np.count_nonzero(aside & now & drawn))
            apart = self._pairs_within(before, draw)
            kept.append(apart - self._pairs_within(before, person, draw))
        share = [
            (min(max(float(np.mean(each)), 0.0), size) + 0.5) / (size + 1)
            for each, size in ((both, chained), (kept, split))
        ]
        return float(logit(share[0])), float(logit(share[1]))

    def _rates(
        self, cells: Cells, same: Ints, answered: Ints, of_cell: Ints, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Rates drawn for all cells, and by how much answers have moved their log odds."""
        ruled = of_cell < CHAINED
        drawn = np.empty((DRAWS, len(of_cell)))
        for own, scale in ((ruled, self.doubt), (~ruled, LOST_DOUBT)):
            part = Cells(cells.odds[own], cells.pattern[own])
            drawn[:, own] = draw_rates(part, same[own], answered[own], rng, scale=scale)
        moved = (drawn.mean(axis=0) - cells.centre(1.0)) * (answered.sum() > 0)
        return np.asarray(expit(drawn)), np.asarray(moved)

    def _counted(
        self, asked: Asked, verdicts: Verdicts, cell: Ints, of_cell: Ints
    ) -> tuple[Ints, Ints]:
        """Answers of each cell to pairs that were drawn, and those that say one person."""
        cells = len(of_cell)
        result = np.zeros(len(self.pairs), dtype=np.int8)
        there = verdicts.pair >= 0
        result[verdicts.pair[there]] = verdicts.result[there]
        place = cell[asked.pair].copy()
        unruled = np.flatnonzero(place < 0)
        for row in unruled.tolist():
            place[row] = int(np.flatnonzero(of_cell == asked.stratum[row])[0])
        said = result[asked.pair]
        answered = np.bincount(place[said != 0], minlength=cells)
        return answered, np.bincount(place[said == SAME], minlength=cells)

    def _known(self, verdicts: Verdicts) -> tuple[Bools, Bools, Ints]:
        """Of which pairs it is known whether they are one person's, and of which that they are.

        And a number for each record, one for all that answers have joined.
        """
        count, same = self.records.count, verdicts.result == SAME
        sides = (verdicts.left[same], verdicts.right[same])
        graph = coo_array((np.ones(len(sides[0]), dtype=np.bool_), sides), (count, count))
        node = connected_components(graph, directed=False)[1].astype(np.int64)
        left, right = node[self.pairs.left], node[self.pairs.right]
        is_same = left == right
        different = verdicts.result == DIFFERENT
        apart = _key(node[verdicts.left[different]], node[verdicts.right[different]], count)
        known = is_same | np.isin(_key(left, right, count), apart)
        sources = int(self.limited.max(initial=0)) + 1
        limited = self.limited >= 0
        joined = limited & (np.bincount(node)[node] > 1)
        held = node[joined] * sources + self.limited[joined]
        for own, other in ((left, self.pairs.right), (right, self.pairs.left)):
            source = self.limited[other]
            known |= (source >= 0) & np.isin(own * sources + source, held)
        return known, is_same, node

    def _by_stratum(self, rate: Floats, of_cell: Ints, open_pairs: Ints) -> tuple[Floats, Floats]:
        """Mean and variance of the rate of matches of each stratum."""
        mean, variance = np.full(self.strata, 0.5), np.full(self.strata, 1 / 12)
        for stratum in np.unique(of_cell).tolist():
            own = of_cell == stratum
            weight = np.maximum(open_pairs[own], 1e-9)
            drawn = rate[:, own] @ (weight / weight.sum())
            low, high = np.quantile(drawn, [0.16, 0.84])
            mean[stratum], variance[stratum] = np.median(drawn), ((high - low) / 2) ** 2
        return mean, variance

    def left(self, asked: Asked, verdicts: Verdicts) -> tuple[Bools, Ints]:
        """Which pairs may be drawn, and how many of each stratum."""
        known = self._known(verdicts)[0]
        free = (self.stratum >= 0) & ~known
        free[asked.pair] = False
        count = np.bincount(self.stratum[free], minlength=self.strata)
        gone = np.bincount(asked.stratum, minlength=self.strata)
        count[CHAINED:] = np.maximum(self.size[CHAINED:] - gone[CHAINED:], 0)
        count[SPLIT] = 0
        return free, count

    def draw(
        self,
        asked: Asked,
        verdicts: Verdicts,
        learned: Learned,
        wider: Wider,
        size: int,
        rng: np.random.Generator,
    ) -> tuple[Ints, Ints, Ints, Floats]:
        """The next batch: both records, the stratum and the chance of each pair.

        Parameters
        ----------
        asked
            The pairs drawn before.
        verdicts
            What people decided.
        learned
            What that says.
        wider
            Pairs of wider blocks.
        size
            Number of pairs wanted; fewer where fewer are left.
        rng
            Source of randomness.
        """
        free, left = self.left(asked, verdicts)
        matches = np.arange(self.strata) == CHAINED
        matches[: 4 * _BINS] = (np.arange(4 * _BINS) // _BINS) % 2 == 1
        true = max(float(self.size @ learned.mean), 1.0)
        called = float(self.size[matches] @ learned.mean[matches]) / true
        by = weights(self.size, matches, true, called)
        expected = instrument(
            left,
            learned.mean,
            learned.variance,
            np.hypot(*by),
            self._change(learned, free),
            min(size, int(left.sum())),
        )
        wanted = rounded(expected, rng)
        chance = expected / np.maximum(left, 1)
        one, other, stratum = [], [], []
        for number in np.flatnonzero(wanted).tolist():
            if number < CHAINED:
                own = rng.choice(
                    np.flatnonzero(free & (self.stratum == number)), wanted[number], replace=False
                )
                sides = self.pairs.left[own], self.pairs.right[own]
            elif number == CHAINED:
                sides = self._chained(int(wanted[number]), rng)
            else:
                own = np.flatnonzero(wider.columns == number - WIDER + 2)
                own = own[self._is_new(wider.left[own], wider.right[own])][: wanted[number]]
                sides = wider.left[own], wider.right[own]
            one.append(sides[0])
            other.append(sides[1])
            stratum.append(np.full(len(sides[0]), number))
        empty = [np.empty(0, np.int64)]
        whole = [np.concatenate(empty + each) for each in (one, other, stratum)]
        return whole[0], whole[1], whole[2], chance[whole[2]]

    def _change(self, learned: Learned, free: Bools) -> Floats:
        """Expected number of pairs of records in persons that answers to each stratum change."""
        size = np.bincount(self.person)
        one, other = self.person[self.pairs.left], self.person[self.pairs.right]
        moved = np.where(one == other, size[one] - 1, size[one] * size[other])
        likely = learned.probability
        change = (moved * likely * (1 - likely))[free]
        return np.bincount(self.stratum[free], change, self.strata).astype(np.float64)

    def _is_new(self, left: Ints, right: Ints) -> Bools:
        """Whether pairs of records are none of the linkage's."""
        there = _key(self.pairs.left, self.pairs.right, self.records.count)
        return ~np.isin(_key(left, right, self.records.count), there)

    def _chained(self, wanted: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """Pairs at random within persons that no rule brought together."""
        kept: dict[int, None] = {}
        for _ in range(_TRIES):
            sides = pairs_of_equal(self.person, 4 * wanted + 20, rng)
            low, high = np.minimum(*sides), np.maximum(*sides)
            new = self._is_new(low, high)
            kept |= dict.fromkeys((low * self.records.count + high)[new].tolist())
            if len(kept) >= wanted:
                break
        found = np.array(list(kept)[:wanted], dtype=np.int64)
        return found // self.records.count, found % self.records.count


def _key(left: Ints, right: Ints, records: int) -> Ints:
    return np.minimum(left, right) * records + np.maximum(left, right)


def _measure(name: str, right: Floats, wrong: Floats, *, is_open: bool) -> Measure:
    """The median share and its 95 % interval, rounded outwards to whole pairs.

    Where no answer has found an error (``is_open``), that there is none is not ruled out, as by an
    exact interval of a binomial share.
    """
    pairs = right + wrong
    share = np.divide(right, pairs, out=np.ones(len(right)), where=pairs > 0)
    low, middle, high = np.quantile(share, [0.025, 0.5, 0.975]).tolist()
    size = max(float(pairs.mean()), 1.0)
    low = max(1 - math.ceil((1 - low) * size + 1) / size, 0.0)
    high = 1.0 if is_open else 1 - max(math.floor((1 - high) * size - 1), 0) / size
    return Measure(name, middle, low=low, high=high, estimator=BY_REVIEW, why=_WHY)


def wider_blocks(
    values: Sequence[npt.NDArray[np.int64]],
    records: Records,
    pairs: Pairs,
    person: Ints,
    limited: Ints,
    rng: np.random.Generator,
    *,
    within: bool,
    bits: Sequence[tuple[float, float]],
    draws: int = 50_000,
) -> Wider:
    """Pairs that agree in at least two columns, that no rule brought together, and are apart.

    How many there are is estimated from pairs drawn at random from the blocks of two columns, each
    as often as it stands in one of them.

    Parameters
    ----------
    values
        Of each column a number for each record's value, -1 where it is missing.
    records, pairs
        The linkage's.
    person
        Person of each record.
    limited
        Source of each record where it has at most one record per person, else -1.
    rng
        Source of randomness.
    within
        Whether two records of one source are compared.
    bits
        Match weight of each column where it agrees, and where not.
    draws
        Pairs drawn.
    """
    columns = len(values)
    blocks = [
        np.where((a >= 0) & (b >= 0), a * (int(b.max(initial=0)) + 1) + b, -1)
        for a, b in combinations(values, 2)
    ]
    sizes = [np.unique(each[each >= 0], return_counts=True)[1] for each in blocks]
    total = np.array([float(np.sum(size * (size - 1.0))) / 2 for size in sizes])
    if not total.sum():
        return Wider(_NONE, np.empty(0), _NONE, _NONE, _NONE)
    often = rng.multinomial(draws, total / total.sum())
    drawn = [pairs_of_equal(e, n, rng) for e, n in zip(blocks, often.tolist(), strict=True) if n]
    left, right = np.concatenate(drawn, axis=1)
    left, right = np.minimum(left, right), np.maximum(left, right)
    agree = np.stack([(each[left] == each[right]) & (each[left] >= 0) for each in values])
    number = agree.sum(axis=0)
    of = records.source_of(left), records.source_of(right)
    fits = (person[left] != person[right]) & (
        (limited[left] < 0) | (limited[left] != limited[right])
    )
    fits &= within | (of[0] != of[1])
    fits &= ~np.isin(_key(left, right, records.count), _key(pairs.left, pairs.right, records.count))
    weight = total.sum() / draws / (number * (number - 1) / 2)
    size = np.bincount(number[fits], weight[fits], columns + 1)[2:]
    yes, no = (np.array(each) for each in zip(*bits, strict=True))
    likely = np.exp(np.clip(np.where(agree.T, yes, no).sum(axis=1) * np.log(2), -60, 60))
    mean = np.bincount(number[fits], likely[fits], columns + 1)[2:]
    seen = np.bincount(number[fits], minlength=columns + 1)[2:]
    _, unique = np.unique(_key(left, right, records.count)[fits], return_index=True)
    chosen = rng.permutation(np.flatnonzero(fits)[unique])
    return Wider(
        np.round(size).astype(np.int64),
        np.where(seen > 0, mean / np.maximum(seen, 1), 0.0),
        left[chosen],
        right[chosen],
        number[chosen],
    )


def odds_of_lost(wider: Wider, lost: float) -> Floats:
    """Log odds of a match in each wider block, so that they add up to what is expected lost."""
    likely = wider.size * wider.rate
    share = likely / likely.sum() if likely.sum() > 0 else likely
    rate = max(lost, _LEAST_LOST) * share / np.maximum(wider.size, 1)
    return np.asarray(logit(np.clip(rate, _EDGE, 0.5)))
