"""What several releases give away together: the classes that a person is in, intersected.

Who knows a person's quasi-identifiers knows the class of that person in each release (Ganta,
Kasiviswanathan and Smith 2008). Where records of two releases can be told to be one person's, the
person is among those only who are in the same class in both. They can be told by what both show
unchanged. Where that is constant for each person, those are counted who fit; where it may be told
by more than what is kept of it (histories, columns that one of them shows coarser, the order of
the rows), every record is taken to be joined rightly, which is the most that anybody can do.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.ledger.overlap import People, common_columns, people_of
from sfumato.ledger.sketches import Ints, Shown, Sketch, SketchColumn, joined_digests

Floats = npt.NDArray[np.float64]
Pairs = Sequence[tuple[SketchColumn, SketchColumn]]
LOOKED_AT = 40_000
"""Persons for whom those who fit are counted, drawn where there are more."""
LEAST_ALIKE, MOSTLY_ALIKE = 0.05, 0.98
"""Share of the persons in common of whom a column says the same: below the one it joins nobody,
below the other somebody may allow for changes."""
AT_ONCE = 1 << 22
"""Candidates that are looked at together."""


@dataclass(frozen=True, eq=False)
class Handed:
    """A release as it is compared.

    Attributes
    ----------
    sketch
        Its persons and columns.
    ordered
        Whether it kept the order of the rows.
    apart
        Whether the custodian says that it holds other persons than any other release.
    fewest
        Persons whom its promises say that each person is among.
    """

    sketch: Sketch
    ordered: bool = False
    apart: bool = False
    fewest: int = 1


@dataclass(frozen=True)
class Together:
    """What releases give away together.

    Attributes
    ----------
    releases
        Their numbers.
    found
        By release, the share of its persons whom somebody finds who knows the quasi-identifiers
        of everybody: the mean of 1 / candidates.
    alone
        The same of each release by itself, by its own quasi-identifiers.
    before
        The same as `found` without the last release, its quasi-identifiers known all the same.
    fewest, fewest_before
        By release, the fewest candidates for one of its persons, with and without the last one.
    exposed
        By release, the columns that it shows unchanged and another one takes as known.
    promised
        By release, the candidates that it promises to each person.
    certain, certain_alone
        By release, the share of its persons all of whose candidates show the same of a sensitive
        column, the one where that is most often so; together, and in the release by itself.
    in_several
        Persons who are in more than one of them.
    lost
        Pairs of releases that nobody was followed between although persons in common are expected.
    looked_at
        Persons whose candidates were counted in the largest release, fewer than it has where they
        were drawn.
    """

    releases: tuple[int, ...]
    found: Mapping[int, float]
    alone: Mapping[int, float]
    before: Mapping[int, float]
    fewest: Mapping[int, int]
    fewest_before: Mapping[int, int]
    exposed: Mapping[int, tuple[str, ...]]
    promised: Mapping[int, int]
    certain: Mapping[int, float]
    certain_alone: Mapping[int, float]
    in_several: int
    lost: tuple[tuple[int, int], ...]
    looked_at: int

    @property
    def most(self) -> float:
        """The share found of the release that is worst off."""
        return max(self.found.values(), default=0.0)

    def to_json(self) -> dict[str, Any]:
        """Plain values, by release."""
        return {
            "releases": [
                {
                    "release": number,
                    "found": self.found[number],
                    "alone": self.alone[number],
                    "exposed": list(self.exposed[number]),
                    "fewest": self.fewest[number],
                    "certain": self.certain[number],
                    "certain_alone": self.certain_alone[number],
                }
                for number in self.releases
            ],
            "in_several": self.in_several,
            "looked_at": self.looked_at,
        }

    def broken(self, tolerable: float) -> tuple[str, ...]:
        """What the last release takes away, in sentences; empty where it takes nothing away.

        What others gave away without it is not its fault.

        Parameters
        ----------
        tolerable
            Share of the persons of a release who may be found.
        """
        said = [
            f"of release {number} {share:.1%} of the persons are found by all of them together "
            f"({self.alone[number]:.1%} by itself); at most {tolerable:.1%} may be"
            for number, share in self.found.items()
            if share > max(tolerable, self.before.get(number, 0.0))
        ]
        said += [
            f"release {number} promises each person to be among {self.promised[number]}; together "
            f"they leave {fewest}"
            for number, fewest in self.fewest.items()
            if fewest < min(self.promised[number], self.fewest_before.get(number, fewest + 1))
        ]
        said += [
            f"release {number} shows unchanged what another one takes as known: "
            + ", ".join(f"column '{name}'" for name in names)
            for number, names in self.exposed.items()
            if said and names
        ]
        return tuple(said)


def together(handed: Mapping[int, Handed]) -> Together:
    """What releases give away together.

    Parameters
    ----------
    handed
        The releases by their numbers, oldest first.
    """
    return together_of(handed, people_in(handed))


def people_in(handed: Mapping[int, Handed]) -> People:
    """The persons of releases, each numbered once.

    Parameters
    ----------
    handed
        The releases by their numbers.
    """
    apart = [number for number, each in handed.items() if each.apart]
    return people_of({number: each.sketch for number, each in handed.items()}, apart)


def withholding(handed: Mapping[int, Handed], names: Collection[str]) -> dict[int, Handed]:
    """The same releases, of which the last one does not show some columns.

    Parameters
    ----------
    handed
        The releases.
    names
        The columns.
    """
    *_, last = handed
    sketch = handed[last].sketch
    kept = tuple(each for each in sketch.columns if each.name not in names)
    return {**handed, last: replace(handed[last], sketch=replace(sketch, columns=kept))}


def together_of(handed: Mapping[int, Handed], people: People) -> Together:
    """The same, where it is known who is who.

    Parameters
    ----------
    handed
        The releases by their numbers.
    people
        Their persons.
    """
    exposed = {number: _exposed(number, handed) for number in handed}
    told = {number: _told(each, exposed[number]) for number, each in handed.items()}
    measured = _measured_together(told, people)
    *earlier, _ = handed
    before = _measured_together({number: told[number] for number in earlier}, people)
    alone = {number: _alone(each.sketch) for number, each in handed.items()}
    times = np.zeros(people.count, dtype=np.int64)
    for persons in people.of_release.values():
        times[persons] += 1
    return Together(
        releases=tuple(handed),
        found={number: measured[number].found for number in handed},
        alone={number: each.found for number, each in alone.items()},
        before={number: each.found for number, each in before.items()},
        fewest={number: measured[number].fewest for number in handed},
        fewest_before={number: each.fewest for number, each in before.items()},
        exposed={n: tuple(each.name for each in columns) for n, columns in exposed.items()},
        promised={number: each.fewest for number, each in handed.items()},
        certain={number: measured[number].certain for number in handed},
        certain_alone={number: each.certain for number, each in alone.items()},
        in_several=int((times > 1).sum()),
        lost=people.lost,
        looked_at=max((each.looked_at for each in measured.values()), default=0),
    )


def _exposed(number: int, handed: Mapping[int, Handed]) -> tuple[SketchColumn, ...]:
    """The columns that a release shows and another one takes as known of everybody."""
    found: dict[str, SketchColumn] = {}
    for other, each in handed.items():
        if other != number:
            for own, theirs in common_columns(handed[number].sketch, each.sketch):
                if theirs.shown is Shown.RECODED and own.shown is Shown.UNCHANGED:
                    found[own.name] = own
    return tuple(found.values())


def _told(handed: Handed, exposed: Sequence[SketchColumn]) -> Handed:
    """A release whose classes are told apart by what it shows and everybody knows."""
    if not exposed:
        return handed
    sketch = handed.sketch
    digests = joined_digests([each.digests for each in exposed])
    _, shown = np.unique(digests, return_inverse=True)
    keys = sketch.classes.astype(np.int64) * (int(shown.max(initial=0)) + 1) + shown
    _, classes = np.unique(keys, return_inverse=True)
    return replace(handed, sketch=replace(sketch, classes=classes.astype(np.int64)))


def _measured_together(handed: Mapping[int, Handed], people: People) -> dict[int, _Measured]:
    strong, weak = _joins(handed, people)
    measured = {}
    for group in _groups(tuple(handed), strong):
        cells = _cells(group, handed, people)
        for number in group:
            beside = {
                other: pairs
                for (one, other), pairs in weak.items()
                if one == number and other not in group
            }
            cell = cells[people.of_release[number]]
            measured[number] = _measured(number, cell, beside, handed, people)
    return measured


@dataclass(frozen=True)
class _Measured:
    found: float
    fewest: int
    certain: float
    looked_at: int

    @classmethod
    def of(cls, candidates: Floats, same: Sequence[Floats], hit: float = 0.0) -> _Measured:
        """From each person's candidates, those of them who show the same, the likeliest's hits."""
        if not len(candidates):
            return cls(0.0, 0, 0.0, 0)
        certain = max((float(np.mean(each == candidates)) for each in same), default=0.0)
        found = max(float(np.mean(1 / candidates)), hit)
        return cls(found, int(candidates.min()), certain, len(candidates))


def _alone(sketch: Sketch) -> _Measured:
    """A release by itself: candidates are those of a class."""
    return _in_cells(sketch.classes.astype(np.int64), sketch)


def _in_cells(cell: Ints, sketch: Sketch) -> _Measured:
    """Candidates are those of a cell."""
    same = []
    for each in _sensitive(sketch):
        pairs = cell.astype(np.uint64) << np.uint64(32) | each.digests.astype(np.uint64)
        _, of, counts = np.unique(pairs, return_inverse=True, return_counts=True)
        same.append(counts[of].astype(np.float64))
    return _Measured.of(np.bincount(cell)[cell].astype(np.float64), same)


def _sensitive(sketch: Sketch) -> list[SketchColumn]:
    return [each for each in sketch.columns if each.role == "sensitive"]


def _measured(
    number: int,
    cell: Ints,
    beside: Mapping[int, Pairs],
    handed: Mapping[int, Handed],
    people: People,
) -> _Measured:
    """A release with the others of its group, whose cells are given, and those beside it."""
    sketch = handed[number].sketch
    if not beside:
        return _in_cells(cell, sketch)
    # What is promised to each person is looked at for everybody.
    rows = np.arange(len(cell)) if handed[number].fewest > 1 else _drawn(len(cell))
    candidates, same, hit = _candidates(number, cell, rows, beside, handed, people)
    return _Measured.of(candidates, same, hit)


def _joins(
    handed: Mapping[int, Handed], people: People
) -> tuple[set[tuple[int, int]], dict[tuple[int, int], Pairs]]:
    """Releases whose records are taken to be joined rightly, and those by constant columns."""
    strong, weak = set[tuple[int, int]](), dict[tuple[int, int], Pairs]()
    for one, other in combinations(handed, 2):
        first, second = handed[one], handed[other]
        _, mine, theirs = np.intersect1d(
            people.of_release[one], people.of_release[other], return_indices=True
        )
        shown = {
            pair: float(np.mean(pair[0].digests[mine] == pair[1].digests[theirs]))
            for pair in common_columns(first.sketch, second.sketch)
            if not pair[0].shown == pair[1].shown == Shown.RECODED and len(mine)
        }
        # What hardly ever agrees joins nobody: pseudonyms that were drawn anew.
        shown = {pair: alike for pair, alike in shown.items() if alike >= LEAST_ALIKE}
        ordered = first.ordered and second.ordered
        if ordered or not all(_is_exact(*pair, alike) for pair, alike in shown.items()):
            strong.add((one, other))
        elif shown:
            weak[one, other] = list(shown)
            weak[other, one] = [(b, a) for a, b in shown]
    return strong, weak


def _is_exact(first: SketchColumn, second: SketchColumn, alike: float) -> bool:
    """Whether a column joins records by nothing but what is kept of it."""
    same = first.shown == second.shown and first.shown in (Shown.UNCHANGED, Shown.PSEUDONYM)
    return same and first.constant and second.constant and alike >= MOSTLY_ALIKE


def _groups(numbers: tuple[int, ...], strong: Collection[tuple[int, int]]) -> list[tuple[int, ...]]:
    """The releases that are joined with each other, directly or through others."""
    group = {number: {number} for number in numbers}
    for one, other in strong:
        merged = group[one] | group[other]
        for each in merged:
            group[each] = merged
    return list(dict.fromkeys(tuple(sorted(each)) for each in group.values()))


def _cells(group: tuple[int, ...], handed: Mapping[int, Handed], people: People) -> Ints:
    """The number of what the releases of a group tell of each person, -1 of whom they hold not.

    Who is not in one of them is told by that, too.
    """
    keys = np.zeros(people.count, dtype=np.int64)
    seen = np.zeros(people.count, dtype=bool)
    for number in group:
        classes = np.zeros(people.count, dtype=np.int64)
        classes[people.of_release[number]] = handed[number].sketch.classes.astype(np.int64) + 1
        seen[people.of_release[number]] = True
        keys = keys * (int(classes.max(initial=0)) + 1) + classes
        keys = np.unique(keys, return_inverse=True)[1].astype(np.int64)
    keys[~seen] = -1
    return keys


def _drawn(persons: int) -> Ints:
    """The persons who are looked at: all, or some of them, always the same."""
    if persons <= LOOKED_AT:
        return np.arange(persons)
    return np.sort(np.random.default_rng(persons).choice(persons, LOOKED_AT, replace=False))


def _candidates(
    number: int,
    cell: Ints,
    rows: Ints,
    beside: Mapping[int, Pairs],
    handed: Mapping[int, Handed],
    people: People,
) -> tuple[Floats, list[Floats], float]:
    """How many of each person's cell fit the person's class in the other releases.

    A candidate fits a class where somebody in that class shows the same. A person whose values
    have changed meanwhile is counted all the same.

    Parameters
    ----------
    number
        The release whose records are the candidates.
    cell
        What its group tells of each of its persons.
    rows
        The persons who are looked at.
    beside
        By other release, the columns that both show.
    handed, people
        The releases and their persons.

    Returns
    -------
    tuple
        The candidates of each person, of each sensitive column those who show the same, and the
        mean share of hits of whoever takes one of the likeliest: what few show weighs more.
    """
    sensitive = [each.digests for each in _sensitive(handed[number].sketch)]
    fitting = _fitting(number, beside, handed, people)
    order = np.argsort(cell, kind="stable")
    starts = np.searchsorted(cell[order], np.arange(int(cell.max(initial=0)) + 2))
    counts, same = np.empty(len(rows)), [np.empty(len(rows)) for _ in sensitive]
    sizes = np.diff(starts)[cell[rows]]
    begin, done, hits = 0, np.cumsum(sizes), 0.0
    while begin < len(rows):
        before = done[begin] - sizes[begin]
        end = max(int(np.searchsorted(done, before + AT_ONCE, side="right")), begin + 1)
        some, each = rows[begin:end], sizes[begin:end]
        target = np.repeat(np.arange(len(some)), each)
        within = np.arange(len(target)) - np.repeat(np.cumsum(each) - each, each)
        candidate = order[np.repeat(starts[cell[some]], each) + within]
        fits = candidate == some[target]
        odds = np.multiply.reduce([fit(candidate, some[target]) for fit in fitting])
        likeliest = odds >= np.maximum.reduceat(odds, np.cumsum(each) - each)[target] * (1 - 1e-9)
        as_likely = np.bincount(target[likeliest], minlength=len(some))
        hits += float(np.sum(1 / as_likely[target[likeliest & fits]]))
        fits |= odds > 0
        target, candidate = target[fits], candidate[fits]
        counts[begin:end] = np.bincount(target, minlength=len(some))
        for place, digests in enumerate(sensitive):
            alike = digests[candidate] == digests[some[target]]
            same[place][begin:end] = np.bincount(target[alike], minlength=len(some))
        begin = end
    return counts, same, hits / max(len(rows), 1)


def _fitting(
    number: int, beside: Mapping[int, Pairs], handed: Mapping[int, Handed], people: People
) -> Sequence[Callable[[Ints, Ints], Floats]]:
    """By other release, how likely what candidates show is that of somebody in a person's class.

    It is the share of those who show it there: 0 where none of the class does, 1 for a person whom
    the other release does not hold.
    """
    made = []
    for other, columns in beside.items():
        own = joined_digests([a.digests for a, _ in columns])
        theirs = joined_digests([b.digests for _, b in columns])
        _, codes = np.unique(np.append(own, theirs), return_inverse=True)
        classes = handed[other].sketch.classes.astype(np.int64)
        absent = int(classes.max(initial=0)) + 1
        of_person = np.full(people.count, absent, dtype=np.int64)
        of_person[people.of_release[other]] = classes
        wanted = of_person[people.of_release[number]]
        shown = codes[: len(own)].astype(np.int64) * (absent + 1)
        known = np.sort(codes[len(own) :].astype(np.int64) * (absent + 1) + classes)
        shows = np.bincount(codes[len(own) :], minlength=int(codes.max(initial=0)) + 1)
        made.append(partial(_odds, shown, wanted, known, shows, absent))
    return made


def _odds(
    shown: Ints, wanted: Ints, known: Ints, shows: Ints, absent: int, candidate: Ints, person: Ints
) -> Floats:
    key = shown[candidate] + wanted[person]
    there = np.searchsorted(known, key, side="right") - np.searchsorted(known, key, side="left")
    every = np.maximum(shows[shown[candidate] // (absent + 1)], 1)
    odds: Floats = np.where(wanted[person] == absent, 1.0, there / every)
    return odds
