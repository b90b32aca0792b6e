"""Who each released person is, by the intruder's own probabilities, and the guesses they give."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sfumato.intruder.attacks.probabilistic.alike import Alike, runs, spread
from sfumato.intruder.attacks.probabilistic.shared import Shared, outside_odds
from sfumato.intruder.guesses import Identification

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_EQUAL = 1e-6
"""Share by which two probabilities differ that are the same but for rounding."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """Probability that a released person is a person of a group of the register.

    Attributes
    ----------
    units, persons
        The released units by the set of their classes; the register persons by that of rows.
    of_units
        Group of units of each pair, ascending; shape (pairs,).
    of_persons
        Group of register persons of each pair, shape (pairs,).
    chance
        Probability that a unit is one certain person of the group, shape (pairs,).
    """

    units: Alike
    persons: Alike
    of_units: Ints = field(repr=False)
    of_persons: Ints = field(repr=False)
    chance: Floats = field(repr=False)

    def best(self, rng: np.random.Generator) -> Identification:
        """For each unit the likeliest person; one at random of several that are as likely.

        Takes O(pairs + units log pairs).

        Parameters
        ----------
        rng
            For ties.
        """
        starts, sizes = runs(self.of_units)
        top = np.repeat(np.maximum.reduceat(self.chance, starts), sizes) if len(starts) else 0.0
        kept = np.flatnonzero(self.chance >= top * (1 - _EQUAL))
        persons_of = self.persons.sizes[self.of_persons[kept]]
        ends = np.cumsum(persons_of)
        of_units = self.of_units[kept]
        total = np.bincount(of_units, weights=persons_of, minlength=len(self.units.sizes))
        before = np.cumsum(total) - total
        unit = np.arange(len(self.units.group))
        group = self.units.group
        drawn = before[group] + np.floor(rng.random(len(unit)) * total[group])
        pair = np.searchsorted(ends, drawn, side="right")
        found = total[group] > 0
        pair = np.where(found, pair, 0)
        if not len(kept):
            return Identification(unit, np.full(len(unit), -1), np.zeros(len(unit)))
        member, start = self.persons.members()
        within = (drawn - (ends - persons_of)[pair]).astype(np.int64)
        person = member[np.where(found, start[self.of_persons[kept[pair]]] + within, 0)]
        return Identification(
            unit=unit,
            person=np.where(found, person, -1),
            chance=np.where(found, self.chance[kept[pair]], 0.0),
        )

    def one_to_one(self, rng: np.random.Generator) -> Identification:
        """No person twice: the surest pairs first, as long as both sides have somebody left.

        A released unit for whom nobody is left is not guessed (-1). Takes O(pairs log pairs).

        Parameters
        ----------
        rng
            For ties, and for who of a group is taken.
        """
        order = np.lexsort((rng.random(len(self.chance)), -self.chance))
        left, right = self.units.sizes.tolist(), self.persons.sizes.tolist()
        chosen: list[tuple[int, int]] = []
        open_units = sum(left)
        for pair, a, b in zip(
            order.tolist(),
            self.of_units[order].tolist(),
            self.of_persons[order].tolist(),
            strict=True,
        ):
            count = min(left[a], right[b])
            if count:
                left[a] -= count
                right[b] -= count
                chosen.append((pair, count))
                open_units -= count
                if not open_units:
                    break
        return self._dealt(chosen, rng)

    def _dealt(self, chosen: list[tuple[int, int]], rng: np.random.Generator) -> Identification:
        """The guesses, the units and persons of each group in random order."""
        unit = np.arange(len(self.units.group))
        person, chance = np.full(len(unit), -1, dtype=np.int64), np.zeros(len(unit))
        if chosen:
            pair, count = np.array(chosen, dtype=np.int64).T
            pair = np.repeat(pair, count)
            units = _next_of(self.units, self.of_units[pair], rng)
            person[units] = _next_of(self.persons, self.of_persons[pair], rng)
            chance[units] = self.chance[pair]
        return Identification(unit=unit, person=person, chance=chance)


def posterior(
    units: Alike,
    persons: Alike,
    pairs: tuple[Ints, Ints, Floats],
    *,
    classes: int,
    rows: int,
    whole: bool,
    coverage: float,
) -> Posterior:
    """From match weights of classes and rows to probabilities of released and register persons.

    A register person with several rows has in a class their mean weight where persons were
    released as a whole, so that all rows should fit, and the greatest one elsewhere; of several
    classes of a released person the weights are added. What was no candidate has the lowest
    weight of its class. A released person is somebody of the register with probability
    ``coverage``, each at first as likely. Takes O(n log n) for n pairs of class and row, times
    the classes of a released and the rows of a register person.

    Parameters
    ----------
    units
        The released units by their classes.
    persons
        The register persons by their distinct rows.
    pairs
        Class, row and match weight in bits of each pair, classes ascending.
    classes, rows
        Number of classes and of distinct rows.
    whole
        Whether persons were released as a whole.
    coverage
        Share of the released persons who are in the register, as the intruder believes.
    """
    of_class, of_row, weight = pairs
    floor = np.zeros(classes)
    starts, _ = runs(of_class)
    floor[of_class[starts]] = np.minimum.reduceat(weight, starts) if len(starts) else 0.0
    place, group = spread(of_row, *persons.groups_of_items(rows))
    above = (weight - floor[of_class])[place]
    if whole:
        above /= persons.counts[group]
    width = len(persons.sizes)
    of_class, group, above = _merged(
        of_class[place] * width + group, width, above, np.add if whole else np.maximum
    )
    place, unit_group = spread(of_class, *units.groups_of_items(classes))
    of_units, of_persons, above = _merged(
        unit_group * width + group[place], width, above[place], np.add
    )
    base = np.bincount(
        np.repeat(np.arange(len(units.sizes)), units.counts),
        weights=floor[units.items],
        minlength=len(units.sizes),
    )
    shared = Shared(
        of_units,
        of_persons,
        units=units.sizes.astype(np.float64),
        persons=persons.sizes.astype(np.float64),
        outside=outside_odds(coverage, len(persons.group)),
    )
    chance = shared.chances(above + base[of_units])
    return Posterior(units, persons, of_units, of_persons, chance)


def _merged(key: Ints, width: int, weight: Floats, how: np.ufunc) -> tuple[Ints, Ints, Floats]:
    """Pairs, ``left * width + right``, that stand several times made one, in order."""
    order = np.argsort(key, kind="stable")
    starts, _ = runs(key[order])
    merged = how.reduceat(weight[order], starts) if len(starts) else weight
    key = key[order[starts]]
    return key // width, key % width, merged


def _next_of(groups: Alike, wanted: Ints, rng: np.random.Generator) -> Ints:
    """Members of the groups wanted, in random order, none twice."""
    shuffled = rng.permutation(len(groups.group))
    member = shuffled[np.argsort(groups.group[shuffled], kind="stable")]
    start = groups.members()[1]
    order = np.argsort(wanted, kind="stable")
    starts, sizes = runs(wanted[order])
    within = np.arange(len(wanted)) - np.repeat(starts, sizes)
    found = np.empty(len(wanted), dtype=np.int64)
    found[order] = member[start[wanted[order]] + within]
    return found
