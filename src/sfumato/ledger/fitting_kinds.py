"""Who fits a person's classes elsewhere, by what constant columns show: counted by kinds.

The candidates for a person are those of a cell. Those who show the same are of one kind, and fit
or do not fit together. Only kinds are looked at, and where a class elsewhere shows few of them,
only those.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from sfumato.core.arrays import Bools, Floats, Ints

# A choice: by the rule of three more may then be known of less than 0.0075 % of the others.
LOOKED_AT = 40_000
"""Persons for whom those who fit are counted and promises are held against them, drawn where there
are more."""
# A choice: an array of so many numbers of 64 bits takes 32 MB.
AT_ONCE = 1 << 22
"""Candidates that are looked at together."""
# Products of the same odds differ in their last bits; the likeliest are to stay equally likely.
_SURE = 1 - 1e-9


def drawn(persons: int) -> Ints:
    """The persons who are looked at: all, or some of them, always the same."""
    if persons <= LOOKED_AT:
        return np.arange(persons)
    # A fixed seed, so that asking again for the same release gives the same answer.
    return np.sort(np.random.default_rng(persons).choice(persons, LOOKED_AT, replace=False))


@dataclass(frozen=True, eq=False)
class Fit:
    """How likely what candidates show is that of somebody in a person's class elsewhere.

    It is the share of those who show it there: 0 where none of the class does, 1 for a person whom
    the other release does not hold.

    Attributes
    ----------
    own
        What each person shows, as a code, shape (persons,).
    wanted
        The class of each person in the other release, shape (persons,); the number of its classes
        for whom it does not hold.
    pairs, counts
        The pairs of class and code of the other release, ascending, as class * codes + code, and
        how many show each, shape (pairs,).
    shows
        How many show each code there, shape (codes,).
    starts
        Where the pairs of each class begin, shape (classes + 2,): none are those of the last one.
    """

    own: Ints
    wanted: Ints
    pairs: Ints
    counts: Ints
    shows: Ints
    starts: Ints

    @classmethod
    def of(cls, own: Ints, wanted: Ints, theirs: Ints, classes: Ints) -> Self:
        """From what the persons of either release show, and the classes of the other one.

        Parameters
        ----------
        own
            What each person of this release shows: equal to what others show where it is the same.
        wanted
            The class of each of them in the other release; -1 where it is not there.
        """
        _, codes = np.unique(np.append(own, theirs), return_inverse=True)
        number, absent = int(codes.max(initial=0)) + 1, int(classes.max(initial=-1)) + 1
        codes_there = codes[len(own) :].astype(np.int64)
        pairs, counts = np.unique(classes * number + codes_there, return_counts=True)
        starts = np.searchsorted(pairs, np.arange(absent + 2) * number)
        shows = np.bincount(codes_there, minlength=number)
        mine = codes[: len(own)].astype(np.int64)
        return cls(mine, np.where(wanted < 0, absent, wanted), pairs, counts, shows, starts)

    @property
    def absent(self) -> int:
        """The class of whom the other release does not hold."""
        return len(self.starts) - 2

    def odds(self, shown: Ints, wanted: Ints) -> Floats:
        """How likely what somebody shows is that of somebody in a class; arrays of one shape."""
        key = wanted * len(self.shows) + shown
        at = np.minimum(np.searchsorted(self.pairs, key), len(self.pairs) - 1)
        matches = np.where(self.pairs[at] == key, self.counts[at], 0) if len(at) else at
        share: Floats = matches / np.maximum(self.shows[shown], 1)
        return np.where(wanted == self.absent, 1.0, share)

    def fitting(self) -> Ints:
        """A number of the set of codes that each class shows, shape (classes + 1,)."""
        # Sums of random numbers tell sets apart but for
        # odds of about 1 to 2^63; nothing here is secret.
        random = np.random.default_rng(0).integers(1 << 63, size=len(self.shows), dtype=np.uint64)
        sums = np.append(np.uint64(0), np.cumsum(random[self.pairs % len(self.shows)]))
        sets = sums[self.starts[1:]] - sums[self.starts[:-1]]  # modulo 2^64
        number: Ints = np.unique(sets[:-1], return_inverse=True)[1].astype(np.int64)
        return np.append(number, -1)


@dataclass(frozen=True, eq=False)
class Fitting:
    """What the candidates for each person who is looked at show; shape (persons,) each.

    Attributes
    ----------
    right
        By column, the chance that what most of them show is what the person shows; of values that
        as many show, each is guessed as often.
    hit
        Share of the persons whom one of their likeliest candidates hits: what few show weighs more.
    """

    candidates: Floats
    same: list[Floats]
    right: list[Floats]
    hit: float


def _right(of: Ints, shown: Ints, weight: Floats, own: Ints) -> Floats:
    """The chance that what most of each person's candidates show is the person's.

    Shape (persons,).
    """
    _, codes = np.unique(np.append(shown, own), return_inverse=True)
    values = int(codes.max(initial=0)) + 1
    keys, at = np.unique(of * values + codes[: len(of)], return_inverse=True)
    often, whose = np.bincount(at, weight, len(keys)), keys // values
    most = np.zeros(len(own))
    np.maximum.at(most, whose, often)
    is_most = often >= most[whose]
    # Each person is a candidate, too.
    mine = np.searchsorted(keys, np.arange(len(own)) * values + codes[len(of) :])
    right: Floats = is_most[mine] / np.bincount(whose, is_most, len(own))
    return right


@dataclass(frozen=True, eq=False)
class Candidates:
    """The persons of a release by their cells, and by what they show there.

    Attributes
    ----------
    cell
        The cell of each person, shape (persons,).
    fits
        What the persons show, held against each release elsewhere.
    order
        The persons by cell and kind, shape (persons,).
    kind
        The kind of each person, shape (persons,).
    begins
        Where each kind begins in `order`, shape (kinds + 1,).
    starts
        The first kind of each cell, shape (cells + 1,).
    """

    cell: Ints
    fits: Sequence[Fit]
    order: Ints
    kind: Ints
    begins: Ints
    starts: Ints

    @classmethod
    def of(cls, cell: Ints, fits: Sequence[Fit], apart: Sequence[Ints] = ()) -> Self:
        """The candidates in each cell.

        Parameters
        ----------
        fits
            What they show, held against each release elsewhere.
        apart
            What else tells kinds apart, each of shape (persons,).
        """
        columns = [cell, *(fit.own for fit in fits), *apart]
        order = np.lexsort(columns[::-1])
        new = np.ones(len(order), dtype=np.bool_)
        new[1:] = np.logical_or.reduce([np.diff(column[order]) != 0 for column in columns])
        kind = np.empty(len(order), dtype=np.int64)
        kind[order] = np.cumsum(new) - 1
        begins = np.flatnonzero(np.append(new, True))
        cells = np.arange(int(cell.max(initial=-1)) + 2)
        starts = np.searchsorted(cell[order[begins[:-1]]], cells)
        return cls(cell, fits, order, kind, begins, starts)

    def blocks(self, rows: Ints, wide: Ints) -> Iterator[tuple[slice, Ints, Ints, Floats]]:
        """Blocks of persons and the kinds that may fit: whose (by place), which, how likely."""
        first, begin, done = self.fits[0], 0, np.cumsum(wide)
        shown = first.own[self.order[self.begins[:-1]]]
        keys = self.cell[self.order[self.begins[:-1]]] * len(first.shows) + shown
        while begin < len(rows):
            before = done[begin] - wide[begin]
            end = max(int(np.searchsorted(done, before + AT_ONCE, side="right")), begin + 1)
            some = rows[begin:end]
            cell, there = self.cell[some], first.wanted[some]
            kinds = self.starts[cell + 1] - self.starts[cell]
            codes = first.starts[there + 1] - first.starts[there]
            # Whichever list is shorter is gone through:
            # the kinds of the cell, or what the class shows.
            few = (there != first.absent) & (codes < kinds)
            target, candidate = spread(self.starts[cell], np.where(few, 0, kinds))
            of, at = spread(first.starts[there], np.where(few, codes, 0))
            key = cell[of] * len(first.shows) + first.pairs[at] % len(first.shows)
            left = np.searchsorted(keys, key)
            again, more = spread(left, np.searchsorted(keys, key, side="right") - left)
            target, candidate = np.append(target, of[again]), np.append(candidate, more)
            one = self.order[self.begins[candidate]]
            odds = [fit.odds(fit.own[one], fit.wanted[some[target]]) for fit in self.fits]
            yield slice(begin, end), target, candidate, np.multiply.reduce(odds)
            begin = end

    def own_odds(self, persons: Ints) -> Floats:
        """How likely each of some persons is by what the person shows, shape (persons,)."""
        odds = [fit.odds(fit.own[persons], fit.wanted[persons]) for fit in self.fits]
        product: Floats = np.multiply.reduce(odds)
        return product

    def counted(self, digests: Sequence[Ints]) -> Fitting:
        """What the candidates for the persons who are looked at show, told apart by kinds.

        A person whose values have changed meanwhile is a candidate all the same. Digests have shape
        (persons,).
        """
        looked_at = drawn(len(self.cell))
        situations = np.column_stack(
            [self.kind[looked_at], *(fit.wanted[looked_at] for fit in self.fits)]
        )
        _, rows, back = np.unique(situations, axis=0, return_index=True, return_inverse=True)
        rows, persons = looked_at[rows], np.bincount(back.ravel())
        sizes, cell = np.diff(self.begins).astype(np.float64), self.cell[rows]
        own, everybody = self.own_odds(rows), np.diff(self.begins[self.starts])[cell]
        # Whose values have changed is not found below, and is a candidate all the same.
        counts = (own == 0).astype(np.float64)
        same, hits = [counts.copy() for _ in digests], np.zeros(len(rows))
        guesses = [np.zeros(len(rows)) for _ in digests]
        wide = (self.starts[1:] - self.starts[:-1])[cell]
        for part, target, candidate, odds in self.blocks(rows, wide):
            weight, number = sizes[candidate] * (odds > 0), len(rows[part])
            best = np.zeros(number)
            np.maximum.at(best, target, odds)
            likeliest = odds >= best[target] * _SURE
            as_likely = np.bincount(target, weights=weight * likeliest, minlength=number)
            right = (own[part] > 0) & (own[part] >= best * _SURE)
            hits[part] = np.where(best > 0, right / np.maximum(as_likely, 1), 1 / everybody[part])
            counts[part] += np.bincount(target, weights=weight, minlength=number)
            one = self.order[self.begins[candidate]]
            changed = np.flatnonzero(own[part] == 0)
            of, many = np.append(target, changed), np.append(weight, np.ones(len(changed)))
            for found, guessed, digest in zip(same, guesses, digests, strict=True):
                mine = digest[rows[part]]
                alike = weight * (digest[one] == mine[target])
                found[part] += np.bincount(target, weights=alike, minlength=number)
                guessed[part] = _right(of, np.append(digest[one], mine[changed]), many, mine)
        back = back.ravel()
        hit = float(persons @ hits) / max(len(looked_at), 1)
        return Fitting(
            counts[back], [each[back] for each in same], [guess[back] for guess in guesses], hit
        )

    def sets(self) -> Iterator[tuple[Ints, Ints, Ints]]:
        """The sets of candidates that there are: persons who have each, of which, which person.

        They are the same for all who are in one cell, and in classes that show the same elsewhere.
        """
        looked_at = drawn(len(self.cell))
        fits: list[Bools | Ints] = [fit.fitting()[fit.wanted[looked_at]] for fit in self.fits]
        alike = np.column_stack([self.cell[looked_at], self.own_odds(looked_at) > 0, *fits])
        _, rows, persons = np.unique(alike, axis=0, return_index=True, return_counts=True)
        rows = looked_at[rows]
        own, cell = self.own_odds(rows), self.cell[rows]
        everybody = np.diff(self.begins[self.starts])[cell]
        for part, target, candidate, odds in self.blocks(rows, everybody):
            kinds, fitting = candidate[odds > 0], target[odds > 0]
            begins = self.begins[kinds]
            again, at = spread(begins, self.begins[kinds + 1] - begins)
            changed = np.flatnonzero(own[part] == 0)
            of = np.append(fitting[again], changed)
            one = np.append(self.order[at], rows[part][changed])
            ascending = np.argsort(of, kind="stable")
            yield persons[part], of[ascending], one[ascending]


def spread(starts: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """Ranges one after the other: of which range each number is, and the numbers.

    Starts and sizes of the ranges have shape (ranges,).
    """
    of = np.repeat(np.arange(len(starts)), sizes)
    within = np.arange(len(of)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return of, starts[of] + within
