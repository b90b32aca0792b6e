"""Quasi-identifiers that depend on each other along a tree of pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit

from sfumato.core.arrays import Bools, Codes, Floats, Ints
from sfumato.risk.population.value_shares import UNSEEN, Margin

Keys = Codes
TINY = 1e-300
SPARSE = 0.15
"""Share of persons alone with their two values, from which on the pair tells too little."""
STRONGEST = 14.0
"""Logarithm of the greatest strength, and of one over the least."""
VALUES_FITTED = 4_000
"""Values by which a discount is fitted at most."""
GAIN = 1e-4
"""Least gain of a pair that goes together."""
SECONDS = 3
"""Quasi-identifiers that are tried beside the parent of another one."""
DENSE = 4_000_000
"""Pairs of values up to which all are counted in one array."""
# Chosen with the latent classes, on the populations of docs/EVIDENCE.md.
RANGES = 16
"""Ranges of neighbouring values by which one of many values tells of others."""
MANY = 2 * RANGES
"""Values above which there are ranges."""
LEARNT = 100_000
"""Classes that the tree is learnt from; its pairs are then counted over all."""


@dataclass(frozen=True)
class Discount:
    """How much of what was seen is left to what was not (Pitman and Yor 1997).

    Of n persons with D different values, one with c persons is met again with probability
    (c - discount) / (n + strength), and any at all with (strength + discount D) / (n + strength).

    Attributes
    ----------
    discount
        In [0, 1).
    strength
        At least 0, in persons.
    """

    discount: float
    strength: float

    @classmethod
    def fitted(
        cls,
        count: Floats,
        others: Floats | float,
        distinct: Floats | float,
        whole: Floats,
        times: Floats,
    ) -> Discount:
        """The discount under which persons are best foretold by others of their value."""
        # Two numbers are fitted, for which `VALUES_FITTED` values evenly spread are enough.
        some = slice(None, None, 1 + len(times) // VALUES_FITTED)
        count, whole, times = count[some], whole[some], times[some]
        others, distinct = (
            each[some] if isinstance(each, np.ndarray) else each for each in (others, distinct)
        )

        def loss(parameters: Floats) -> float:
            # The logistic keeps σ in [0, 1) and the exponential
            # θ above 0, so that the search is free.
            one = cls(
                float(expit(parameters[0])),
                float(np.exp(np.clip(parameters[1], -STRONGEST, STRONGEST))),
            )
            return -float(times @ np.log(one.chances(count, others, distinct, whole) + TINY))

        # The search finds the nearest hill: one start is for
        # values that come again, one for mostly new ones.
        starts = [np.array([0.0, 1.0]), np.array([2.0, 5.0])]
        options = {"xatol": 0.05, "fatol": 1e-3 * float(times.sum()) ** 0.5, "maxiter": 80}
        tried = [minimize(loss, start, method="Nelder-Mead", options=options) for start in starts]
        best = min(tried, key=lambda each: float(each.fun)).x
        return cls(float(expit(best[0])), float(np.exp(np.clip(best[1], -STRONGEST, STRONGEST))))

    def chances(
        self, count: Floats, others: Floats | float, distinct: Floats | float, whole: Floats
    ) -> Floats:
        """Probability of a value that ``count`` of the ``others`` have; see `fitted`."""
        # P(value) = [(c − σ)⁺ + (θ + σ D) p_base] / (n + θ).
        again = np.where(count > 0, count - self.discount, 0.0)
        anew = (self.strength + self.discount * distinct) * whole
        found: Floats = (again + anew) / np.maximum(others + self.strength, TINY)
        return found


class Conditional:
    """A quasi-identifier given one other or two: values that were seen with them, else any.

    Given two, values are what they are given the first of them, until the sample tells more, and
    given one value, what they are given its range of neighbours: a hierarchical process of Pitman
    and Yor (Teh 2006), in which each person counts at all levels.

    Attributes
    ----------
    discount
        How much of the values that were seen is left to the others.

    Parameters
    ----------
    given
        Values of the others of each class, each of shape (classes,).
    codes
        Its own, shape (classes,).
    base
        The same, given less: the first of the others alone, or its range.
    ranges
        Range of each value of the other, where its range is what is given.
    """

    def __init__(
        self,
        given: Sequence[Codes],
        codes: Codes,
        margins: Sequence[Margin],
        sizes: Ints,
        base: Conditional | None = None,
        ranges: Codes | None = None,
    ) -> None:
        self._margin, self._width, self._base = margins[-1], margins[-1].values + 1, base
        self._widths, self._ranges = [margin.values + 1 for margin in margins[:-1]], ranges
        joined = self._joined(given)[0]
        self._contexts, example, context = _numbered(joined, math.prod(self._widths))
        room = len(self._contexts) + 1
        pair = context.astype(np.int64) * self._width + codes
        self._pairs, persons = _counted(pair, room * self._width, sizes)
        self._count = persons.astype(float)
        before, after = np.divmod(self._pairs, self._width)
        # Of a context that was not seen, the last one, nobody is known.
        self._all = np.bincount(before, self._count, minlength=room).astype(np.float64)
        self._distinct = np.bincount(before, minlength=room).astype(float)
        whole = self._margin.shares[after]
        # The base leaves the same person out, or everybody would be foretold by their own value.
        if base is not None:
            alone = np.ones(len(after), dtype=np.int64)
            whole = base.of([given[0][example[before]]], after.astype(np.int32), alone)
        self.discount = Discount.fitted(
            # Leave one out: each person is foretold by the
            # others of their context, as a new one would be.
            self._count - 1,
            self._all[before] - np.ones(len(before)),
            # Who is alone with a value takes it along, so that D falls by one.
            self._distinct[before] - (self._count == 1),
            whole,
            self._count,
        )
        # Sums of c − σ over the pairs in order of contexts: a draw is one search among all of them.
        ends = np.concatenate([[0.0], np.cumsum(self._count - self.discount.discount)])
        at = np.searchsorted(self._pairs, np.arange(room + 1) * self._width)
        self._ends, self._start, self._stop = ends, ends[at[:-1]], ends[at[1:]]

    def _joined(self, given: Sequence[Codes]) -> tuple[Ints, Bools]:
        """One number for the values of the others, and whether all of them are known."""
        joined, known = np.zeros(len(given[0]), dtype=np.int64), np.ones(len(given[0]), dtype=bool)
        if self._ranges is not None:
            given = [self._ranges[given[0]]]
        for codes, width in zip(given, self._widths, strict=True):
            joined, known = joined * width + codes % width, known & (codes != UNSEEN)
        return joined, known

    def _context(self, given: Sequence[Codes]) -> Ints:
        joined, known = self._joined(given)
        at = np.minimum(np.searchsorted(self._contexts, joined), len(self._contexts) - 1)
        # What was not seen has the context after the last
        # one, whose counts are 0: the base alone speaks.
        context: Ints = np.where(known & (self._contexts[at] == joined), at, len(self._contexts))
        return context

    def of(self, given: Sequence[Codes], codes: Codes, without: Ints) -> Floats:
        """Probability of its value given the others', without some persons; shape (cells,)."""
        context = self._context(given)
        # `UNSEEN` is −1, which the modulus makes the last code of the row.
        key = context * self._width + codes % self._width
        at = np.minimum(np.searchsorted(self._pairs, key), len(self._pairs) - 1)
        found = np.where(self._pairs[at] == key, self._count[at], 0.0)
        count = np.maximum(found - without, 0.0)
        # Values whose persons are all left out were not seen.
        distinct = self._distinct[context] - ((found > 0) & (count == 0))
        if self._base is None:
            whole = self._margin.shares_without(codes, without)
        else:
            whole = self._base.of(given[:1], codes, without)
        others = np.maximum(self._all[context] - without, 0.0)
        return self.discount.chances(count, others, distinct, whole)

    def draw(self, given: Sequence[Codes], rng: np.random.Generator) -> Ints:
        """Its values for persons whose others are given, `UNSEEN` among them."""
        context = self._context(given)
        again = (self._stop - self._start)[context]
        # With (n − σ D) / (n + θ) a seen value comes again, else the base draws.
        chance = again / np.maximum(self._all[context] + self.discount.strength, TINY)
        place = self._start[context] + rng.random(len(context)) * again
        at = np.clip(np.searchsorted(self._ends, place, "right") - 1, 0, len(self._pairs) - 1)
        if self._base is None:
            anew = self._margin.draw(len(context), rng)
        else:
            anew = self._base.draw(given[:1], rng)
        return np.where(rng.random(len(context)) < chance, self._pairs[at] % self._width, anew)

    def gained(self, given: Sequence[Codes], codes: Codes, sizes: Ints) -> float:
        """How much better each person is foretold by the others of two levels than of the first.

        Mean logarithm of their ratio, each person left out.
        """
        if self._base is None:
            return 0.0
        alone = np.ones(len(codes), dtype=np.int64)
        ratio = self.of(given, codes, alone) / self._base.of(given[:1], codes, alone)
        return float(sizes @ np.log(np.maximum(ratio, TINY))) / float(sizes.sum())


def _numbered(numbers: Ints, room: int) -> tuple[Ints, Ints, Ints]:
    """The numbers below ``room`` that occur, ascending, a place of each, and the rank of all."""
    # Arrays over all numbers are faster than sorting, while they fit into memory.
    if room > DENSE:
        return np.unique(numbers, return_index=True, return_inverse=True)
    place = np.full(room, -1)
    place[numbers] = np.arange(len(numbers))
    found = np.flatnonzero(place >= 0)
    rank = np.empty(room, dtype=np.int64)
    rank[found] = np.arange(len(found))
    return found, place[found], rank[numbers]


def _counted(numbers: Ints, room: int, sizes: Ints) -> tuple[Ints, Ints]:
    """The numbers below ``room`` that occur, ascending, and the persons of each."""
    if room <= DENSE:
        persons = np.bincount(numbers, sizes)
        found = np.flatnonzero(persons)
        return found, persons[found].astype(np.int64)
    found, number = np.unique(numbers, return_inverse=True)
    return found, np.bincount(number, sizes).astype(np.int64)


def _gain(first: Codes, second: Codes, margins: tuple[Margin, Margin], sizes: Ints) -> float:
    """How much better each person's pair is foretold by the others' pairs than by their values.

    Mean logarithm of w n_ab / n + (1 - w) p_a p_b over p_a p_b, each person left out, at the best
    w; 0 where too many pairs have one person.
    """
    width = margins[1].values + 1
    pair = first.astype(np.int64) * width + second
    pairs, persons = _counted(pair, (margins[0].values + 1) * width, sizes)
    n = int(sizes.sum())
    # Left out, who is alone with a pair finds nobody
    # like them, and the gain of the others is noise.
    if int((persons == 1).sum()) >= SPARSE * n:
        return 0.0
    before, after = np.divmod(pairs, width)
    # n p_a p_b, the persons expected if the two did not depend on each other.
    apart = margins[0].persons[before] * margins[1].persons[after] / n
    # (n_ab − 1) / (n − 1) over p_a p_b: the person's own count is left out.
    ratio = (persons - 1) / max(n - 1, 1) * n / apart
    shares = persons / n

    def loss(weight: float) -> float:
        # log[(w n_ab / n + (1 − w) p_a p_b) / (p_a p_b)] = log(1 + w (ratio − 1)).
        return -float(shares @ np.log1p(weight * (ratio - 1)))

    # At w = 1 a pair that is seen once has the probability 0, and the logarithm no value.
    return -float(minimize_scalar(loss, bounds=(0.0, 0.9999), method="bounded").fun)


def gains_of_pairs(
    keys: Keys, sizes: Ints, margins: Sequence[Margin], *, neighbours: bool = True
) -> dict[frozenset[int], float]:
    """How much any two quasi-identifiers tell of each other, by values or by ranges of them.

    O(classes x columns^2).
    """
    some = slice(None, None, 1 + len(keys) // LEARNT)
    keys, sizes = keys[some], sizes[some]
    values = [margin.values for margin in margins]
    gains = _gains(keys, sizes, values)
    # Ranges of few values are the values themselves.
    if not neighbours or max(values) <= MANY:
        return gains
    roughly = _gains(
        in_ranges(keys, margins), sizes, [RANGES if value > MANY else value for value in values]
    )
    return {pair: max(gain, roughly[pair]) for pair, gain in gains.items()}


def in_ranges(keys: Keys, margins: Sequence[Margin]) -> Keys:
    """Range of each value, of columns that have many, else the value; shape (classes, columns)."""
    columns = [
        margin.ranges(RANGES)[codes] if margin.values > MANY else codes
        for codes, margin in zip(keys.T, margins, strict=True)
    ]
    return np.column_stack(columns)


def _gains(keys: Keys, sizes: Ints, values: Sequence[int]) -> dict[frozenset[int], float]:
    margins = [
        Margin(codes, sizes, values=value) for codes, value in zip(keys.T, values, strict=True)
    ]
    return {
        frozenset(pair): _gain(
            keys[:, pair[0]], keys[:, pair[1]], (margins[pair[0]], margins[pair[1]]), sizes
        )
        for pair in combinations(range(keys.shape[1]), 2)
    }


def tree_of_pairs(gains: dict[frozenset[int], float], columns: int) -> list[tuple[int | None, int]]:
    """Parent and child along the tree of the pairs that tell most of each other, parents first.

    Chow and Liu 1968 (IEEE Trans. Inf. Theory 14:462-467), by Prim's algorithm; who tells nothing
    of another has no parent.
    """
    order: list[tuple[int | None, int]] = [(None, 0)]
    inside, outside = [0], [*range(1, columns)]
    while outside:
        # Negated, so that earlier columns win ties whatever the order of the search.
        gain, parent, child = max(
            (gains[frozenset((one, other))], -one, -other) for one in inside for other in outside
        )
        order.append((-parent if gain > GAIN else None, -child))
        inside.append(-child)
        outside.remove(-child)
    return order


class Tree:
    """Quasi-identifiers that depend on each other along a tree of pairs.

    Where a second one tells more of a value than its parent in the tree does, both are given.
    With ``neighbours``, a value that has many others beside it tells what its range of them
    does, too.
    """

    def __init__(
        self, keys: Keys, sizes: Ints, margins: Sequence[Margin], *, neighbours: bool = True
    ) -> None:
        self._margins, self._neighbours = margins, neighbours
        self._edges: list[tuple[tuple[int, ...], int, Conditional | None]] = []
        gains = gains_of_pairs(keys, sizes, margins, neighbours=neighbours)
        for parent, child in tree_of_pairs(gains, len(margins)):
            earlier = [each for _, each, _ in self._edges if each != parent]
            earlier.sort(key=lambda each: -gains[frozenset((each, child))])
            if parent is not None:
                earlier.insert(0, parent)
            some = slice(None, None, 1 + len(keys) // LEARNT)
            told = self._told_by(earlier, child, keys[some], sizes[some], alone=parent is None)
            # Which columns go together is learnt from some
            # classes; the counts of pairs want all of them.
            if told[2] is not None and len(keys) > LEARNT:
                one = self._given(told[0][:1], child, keys, sizes, None)
                both = self._given(told[0], child, keys, sizes, one) if told[0][1:] else one
                told = (told[0], child, both)
            self._edges.append(told)

    def _told_by(
        self, others: Sequence[int], child: int, keys: Keys, sizes: Ints, *, alone: bool
    ) -> tuple[tuple[int, ...], int, Conditional | None]:
        """The edge to a quasi-identifier from the first of the others, or from it and a second.

        Two may tell a third together of which neither tells anything alone.
        """
        # A column without a parent needs two others: one alone has been found to tell nothing.
        if not others or (alone and len(others) == 1):
            return (), child, None
        one = self._given(others[:1], child, keys, sizes, None)
        found: tuple[tuple[int, ...], Conditional | None] = ((), None)
        if not alone:
            found = (others[0],), one
        most = GAIN
        for other in others[1 : 1 + SECONDS]:
            both = self._given((others[0], other), child, keys, sizes, one)
            given = [keys[:, others[0]], keys[:, other]]
            # By persons left out, as two parents fit the persons who are in always better.
            gained = both.gained(given, keys[:, child], sizes)
            if gained > most:
                most, found = gained, ((others[0], other), both)
        return found[0], child, found[1]

    def _given(
        self,
        parents: Sequence[int],
        child: int,
        keys: Keys,
        sizes: Ints,
        base: Conditional | None,
    ) -> Conditional:
        margins = [self._margins[parent] for parent in (*parents, child)]
        given, codes = [keys[:, parent] for parent in parents], keys[:, child]
        if base is None and self._neighbours and margins[0].values > MANY:
            base = Conditional(given, codes, margins, sizes, ranges=margins[0].ranges(RANGES))
        return Conditional(given, codes, margins, sizes, base)

    def of(self, keys: Keys, without: Ints) -> Floats:
        """See `Density`."""
        chances = np.ones(len(keys))
        for parents, child, given in self._edges:
            codes = keys[:, child]
            if given is None:
                chances *= self._margins[child].shares_without(codes, without)
            else:
                chances *= given.of([keys[:, parent] for parent in parents], codes, without)
        return chances

    def draw(self, count: int, rng: np.random.Generator) -> Keys:
        """See `Density`."""
        codes: dict[int, Ints] = {}
        for parents, child, given in self._edges:
            if given is None:
                codes[child] = self._margins[child].draw(count, rng)
            else:
                codes[child] = given.draw(
                    [codes[parent].astype(np.int32) for parent in parents], rng
                )
        return np.column_stack([codes[code] for code in sorted(codes)]).astype(np.int32)
