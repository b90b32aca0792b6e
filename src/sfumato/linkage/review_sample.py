"""Pairs drawn for people to answer, and what the answers say of all pairs and of the persons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import logit

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.linkage.answer_evidence import EDGE, change_by_answer
from sfumato.linkage.chance_agreement import pairs_of_equal
from sfumato.linkage.linkage_quality import weights
from sfumato.linkage.match_decisions import DIFFERENT, SAME, Verdicts
from sfumato.linkage.match_thresholds import Pairs, Records, joined
from sfumato.linkage.reviewed_rates import instrument, rounded

EDGES = np.array([-7.0, -4.0, -2.0, 0.0, 2.0, 4.0, 7.0])
"""Log odds at which strata of scores end."""
# A choice: answers about larger persons change more pairs of records at once.
LARGE = 4
"""Records that a pair's persons have together from which it is in a stratum of its own."""
_BINS = len(EDGES) + 1
CHAINED, WIDER = 4 * _BINS, 4 * _BINS + 1
"""The stratum of pairs within a person that no rule brought together, and the first of those of
wider blocks: they agree in two columns, three, and so on."""
DOUBT, UNKNOWN = 1.0, 3.0
"""How many times as wrong as usual log odds may be: by a model that tells relatives from persons,
and by another one."""
NO_RULE = -1
"""The blocking rule of a pair that none brought together: it was drawn for review."""
# That none was found lost does not say that none is, as Jeffreys' prior has it.
LEAST_LOST = 0.5
"""Matches that no rule brought together, where none is expected."""
# Most pairs within persons are candidates: drawing another one may take several attempts.
_TRIES = 50


@dataclass(frozen=True, eq=False)
class Wider:
    """Pairs that agree in columns no rule demands together: how many, and some at random.

    ``size`` is how many agree in two columns, in three, and so on, by sampling.
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
    batch
        Number of the batch, from 1.
    probability
        The chance that it had to be in that batch, given those before.
    """

    pair: Ints
    stratum: Ints
    batch: Ints
    probability: Floats
    foretold: Floats

    def and_these(self, later: Asked) -> Asked:
        """These and later ones."""
        names = [field.name for field in fields(self)]
        sides = ([getattr(self, n), getattr(later, n)] for n in names)
        return Asked(*map(np.concatenate, sides))


_NONE = np.empty(0, dtype=np.int64)
NONE_ASKED = Asked(_NONE, _NONE, _NONE, np.empty(0), np.empty(0))


@dataclass(frozen=True, eq=False)
class Rates:
    """Rates of matches, as answers so far have them.

    Attributes
    ----------
    foretold
        Among pairs like each one, before answers to others correct it; shape (pairs,).
    beyond
        The same of pairs that no rule brought together: within persons, parted by answers, and of
        the wider blocks.
    probability
        Of each pair, corrected; shape (pairs,).
    mean, variance
        Of each stratum; shape (strata,).
    error
        Share of the answers that are wrong.
    """

    foretold: Floats
    beyond: Floats
    probability: Floats
    mean: Floats
    variance: Floats
    error: float


@dataclass(frozen=True, eq=False)
class ReviewSample:
    """The pairs that may be drawn, in strata that stay as they are while people answer.

    Attributes
    ----------
    person
        Person of each record when the first batch was drawn; shape (records,).
    wider_size, wider_odds
        Number of pairs in wider blocks, and log odds of a match.
    doubt
        How many times as wrong as usual the model's log odds may be.
    limited
        Source of each record where it has at most one record per person, else -1.
    """

    records: Records
    pairs: Pairs
    person: Ints
    wider_size: Ints
    wider_odds: Floats
    doubt: float
    limited: Ints
    lost: float

    @cached_property
    def stratum(self) -> Ints:
        """Stratum of each pair by score, by whether its records are one person's, by their size.

        -1 for pairs that no rule brought together.
        """
        one, other = self.person[self.pairs.left], self.person[self.pairs.right]
        size = np.bincount(self.person)
        within = one == other
        touched = size[one] + np.where(within, 0, size[other])
        # By scores and persons of the beginning, so that chances of being drawn stay what was
        # written down.
        place = np.searchsorted(EDGES, self.odds, side="right")
        stratum = place + _BINS * (within + 2 * (touched >= LARGE))
        # They were drawn from the wider blocks, and must not be drawn again from another stratum.
        return np.where(self.pairs.block == NO_RULE, -1, stratum).astype(np.int64)

    @property
    def odds(self) -> Floats:
        """Log odds of the score of each pair."""
        return np.asarray(logit(np.clip(self.pairs.score, EDGE, 1 - EDGE)))

    @cached_property
    def pattern(self) -> Ints:
        """A number of the columns in which each pair differs, and that one of them lacks."""
        code = np.zeros(len(self.pairs), dtype=np.int64)
        for level in self.pairs.levels.values():
            code = 3 * code + np.where(level < 0, 2, level < level.max(initial=0))
        return np.unique(code, return_inverse=True)[1].astype(np.int64)

    @property
    def strata(self) -> int:
        """Number of strata."""
        return WIDER + len(self.wider_size)

    @cached_property
    def size(self) -> Ints:
        """Number of pairs of each stratum."""
        size = np.bincount(self.stratum[self.stratum >= 0], minlength=self.strata)
        # By subtraction, as these pairs are listed nowhere.
        size[CHAINED] = self.pairs_within(self.person) - np.count_nonzero(
            self.together(self.person) & (self.stratum >= 0)
        )
        size[WIDER:] = self.wider_size
        return size.astype(np.int64)

    def pairs_within(self, *labels: Ints) -> int:
        """Number of pairs of records that have all labels in common."""
        joint = np.zeros(self.records.count, dtype=np.int64)
        for label in labels:
            joint = joint * (int(label.max(initial=0)) + 1) + label
        count = np.unique(joint, return_counts=True)[1].astype(np.int64)
        return int((count * (count - 1) // 2).sum())

    def together(self, person: npt.NDArray[np.integer[Any]]) -> Bools:
        """Whether the records of each pair are one person's."""
        return np.asarray(person[self.pairs.left] == person[self.pairs.right])

    def known(self, verdicts: Verdicts) -> tuple[Bools, Bools, Ints]:
        """Of which pairs it is known whether they are one person's, and of which that they are.

        And a number for each record, one for all that answers have joined.
        """
        count, same = self.records.count, verdicts.result == SAME
        node = joined(verdicts.left[same], verdicts.right[same], count)
        left, right = node[self.pairs.left], node[self.pairs.right]
        is_same = left == right
        different = verdicts.result == DIFFERENT
        # Two who were called different keep apart all records that are joined with either.
        apart = pair_key(node[verdicts.left[different]], node[verdicts.right[different]], count)
        known = is_same | np.isin(pair_key(left, right, count), apart)
        sources = int(self.limited.max(initial=0)) + 1
        limited = self.limited >= 0
        several = limited & (np.bincount(node)[node] > 1)
        # A joined person who has a record of such a source can have no other one of it.
        held = node[several] * sources + self.limited[several]
        for own, other in ((left, self.pairs.right), (right, self.pairs.left)):
            source = self.limited[other]
            known |= (source >= 0) & np.isin(own * sources + source, held)
        return known, is_same, node

    def left(self, asked: Asked, verdicts: Verdicts) -> tuple[Bools, Ints]:
        """Which pairs may be drawn, and how many of each stratum."""
        known = self.known(verdicts)[0]
        free = (self.stratum >= 0) & ~known
        free[asked.pair] = False
        count = np.bincount(self.stratum[free], minlength=self.strata)
        gone = np.bincount(asked.stratum, minlength=self.strata)
        # An estimate may be below what has been drawn by now.
        count[CHAINED:] = np.maximum(self.size[CHAINED:] - gone[CHAINED:], 0)
        return free, count

    def draw(
        self,
        asked: Asked,
        verdicts: Verdicts,
        rates: Rates,
        wider: Wider,
        size: int,
        rng: np.random.Generator,
    ) -> tuple[Ints, Ints, Ints, Floats, Floats]:
        """The next batch: both records, stratum, chance and what is foretold of each pair.

        It has fewer pairs than wanted where fewer are left.
        """
        free, left = self.left(asked, verdicts)
        matches = np.arange(self.strata) == CHAINED
        matches[: 4 * _BINS] = (np.arange(4 * _BINS) // _BINS) % 2 == 1
        true = max(float(self.size @ rates.mean), 1.0)
        called = float(self.size[matches] @ rates.mean[matches]) / true
        by = weights(self.size, matches, true, called)
        expected = instrument(
            left,
            rates.mean,
            rates.variance,
            # One batch serves precision and recall, so that both derivatives count: √(w_P² + w_R²).
            np.hypot(*by),
            self._change(rates, free),
            # Only where the model cannot tell relatives: then the persons themselves are to be
            # looked at.
            left * matches * float(self.doubt > DOUBT),
            min(size, int(left.sum())),
        )
        wanted = rounded(expected, rng)
        # The inclusion probability of each pair of a stratum, by which answers can be weighted.
        chance = expected / np.maximum(left, 1)
        one, other, stratum, foretold = [], [], [], [np.empty(0)]
        for number in np.flatnonzero(wanted).tolist():
            if number < CHAINED:
                own = rng.choice(
                    np.flatnonzero(free & (self.stratum == number)), wanted[number], replace=False
                )
                sides = self.pairs.left[own], self.pairs.right[own]
                foretold.append(rates.foretold[own])
            elif number == CHAINED:
                sides = self._chained(int(wanted[number]), rng)
            else:
                own = np.flatnonzero(wider.columns == number - WIDER + 2)
                own = own[self._is_new(wider.left[own], wider.right[own])][: wanted[number]]
                sides = wider.left[own], wider.right[own]
            one.append(sides[0])
            other.append(sides[1])
            stratum.append(np.full(len(sides[0]), number))
            if number >= CHAINED:
                beyond = rates.beyond[0 if number == CHAINED else 2 + number - WIDER]
                foretold.append(np.full(len(sides[0]), beyond))
        empty = [np.empty(0, np.int64)]
        whole = [np.concatenate(empty + each) for each in (one, other, stratum)]
        return whole[0], whole[1], whole[2], chance[whole[2]], np.concatenate(foretold)

    def _change(self, rates: Rates, free: Bools) -> Floats:
        """Expected number of pairs of records in persons that answers to each stratum change."""
        size = np.bincount(self.person)
        one, other = self.person[self.pairs.left], self.person[self.pairs.right]
        moved = np.where(one == other, size[one] - 1, size[one] * size[other])
        change = (moved * change_by_answer(rates.probability, rates.error))[free]
        return np.bincount(self.stratum[free], change, self.strata).astype(np.float64)

    def _is_new(self, left: Ints, right: Ints) -> Bools:
        """Whether pairs of records are none of the linkage's."""
        there = pair_key(self.pairs.left, self.pairs.right, self.records.count)
        return ~np.isin(pair_key(left, right, self.records.count), there)

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


def pair_key(left: Ints, right: Ints, records: int) -> Ints:
    """A number for each two of so many records, or persons, whichever comes first."""
    return np.minimum(left, right) * records + np.maximum(left, right)


def wider_blocks(
    values: Sequence[Ints],
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
    limited
        Source of each record where it has at most one record per person, else -1.
    bits
        Match weight of each column where it agrees, and where not.
    """
    columns = len(values)
    blocks = [
        np.where((a >= 0) & (b >= 0), a * (int(b.max(initial=0)) + 1) + b, -1)
        for a, b in combinations(values, 2)
    ]
    sizes = [np.unique(block[block >= 0], return_counts=True)[1] for block in blocks]
    total = np.array([float(np.sum(size * (size - 1.0))) / 2 for size in sizes])
    if not total.sum():
        return Wider(_NONE, np.empty(0), _NONE, _NONE, _NONE)
    often = rng.multinomial(draws, total / total.sum())
    drawn = [pairs_of_equal(e, n, rng) for e, n in zip(blocks, often.tolist(), strict=True) if n]
    left, right = np.concatenate(drawn, axis=1)
    left, right = np.minimum(left, right), np.maximum(left, right)
    agree = np.stack([(value[left] == value[right]) & (value[left] >= 0) for value in values])
    number = agree.sum(axis=0)
    of = records.source_of(left), records.source_of(right)
    fits = (person[left] != person[right]) & (
        (limited[left] < 0) | (limited[left] != limited[right])
    )
    fits &= within | (of[0] != of[1])
    fits &= ~np.isin(
        pair_key(left, right, records.count), pair_key(pairs.left, pairs.right, records.count)
    )
    # A pair that agrees in n columns stands in n (n − 1) / 2 blocks, and is drawn as many times as
    # often.
    weight = total.sum() / draws / (number * (number - 1) / 2)
    size = np.bincount(number[fits], weight[fits], columns + 1)[2:]
    yes, no = (np.array(each) for each in zip(*bits, strict=True))
    # Odds from bits, 2^w; clipped, as only proportions between blocks are used.
    likely = np.exp(np.clip(np.where(agree.T, yes, no).sum(axis=1) * np.log(2), -60, 60))
    mean = np.bincount(number[fits], likely[fits], columns + 1)[2:]
    seen = np.bincount(number[fits], minlength=columns + 1)[2:]
    # Drawn with replacement: for the estimate all count, for review each pair once.
    _, unique = np.unique(pair_key(left, right, records.count)[fits], return_index=True)
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
    rate = max(lost, LEAST_LOST) * share / np.maximum(wider.size, 1)
    # ½ at most: a block of few pairs must not be taken for matches only because some are lost.
    return np.asarray(logit(np.clip(rate, EDGE, 0.5)))
