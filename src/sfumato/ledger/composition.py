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

from sfumato.ledger.overlap import Mask, People, common_columns, people_of
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
    fewest
        Persons whom its promises say that each person is among.
    """

    sketch: Sketch
    ordered: bool = False
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
        The same of each release by itself.
    fewest
        By release, the fewest candidates for one of its persons.
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
    fewest: Mapping[int, int]
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
        """What is not kept, in sentences; empty where all is.

        Parameters
        ----------
        tolerable
            Share of the persons of a release who may be found.
        """
        said = [
            f"of release {number} {share:.1%} of the persons are found by all of them together "
            f"({self.alone[number]:.1%} by itself); at most {tolerable:.1%} may be"
            for number, share in self.found.items()
            if share > tolerable
        ]
        said += [
            f"release {number} promises each person to be among {self.promised[number]}; together "
            f"they leave {fewest}"
            for number, fewest in self.fewest.items()
            if fewest < self.promised[number]
        ]
        return tuple(said)


def together(handed: Mapping[int, Handed]) -> Together:
    """What releases give away together.

    Parameters
    ----------
    handed
        The releases by their numbers, oldest first.
    """
    return together_of(handed, people_of({n: each.sketch for n, each in handed.items()}))


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
    strong, weak = _joins(handed, people)
    groups = _groups(tuple(handed), strong)
    measured = {}
    for group in groups:
        cells = _cells(group, handed, people)
        for number in group:
            beside = {
                other: pairs
                for (one, other), pairs in weak.items()
                if one == number and other not in group
            }
            cell = cells[people.of_release[number]]
            measured[number] = _measured(number, cell, beside, handed, people)
    times = np.zeros(people.count, dtype=np.int64)
    for persons in people.of_release.values():
        times[persons] += 1
    ordered = {number: measured[number] for number in handed}
    return Together(
        releases=tuple(handed),
        found={number: each.found for number, each in ordered.items()},
        alone={number: _alone(each.sketch).found for number, each in handed.items()},
        fewest={number: each.fewest for number, each in ordered.items()},
        promised={number: each.fewest for number, each in handed.items()},
        certain={number: each.certain for number, each in ordered.items()},
        certain_alone={number: _alone(each.sketch).certain for number, each in handed.items()},
        in_several=int((times > 1).sum()),
        lost=people.lost,
        looked_at=max((each.looked_at for each in ordered.values()), default=0),
    )


@dataclass(frozen=True)
class _Measured:
    found: float
    fewest: int
    certain: float
    looked_at: int

    @classmethod
    def of(cls, candidates: Floats, same: Sequence[Floats]) -> _Measured:
        """From the candidates of each person, and those who show the same of each column."""
        if not len(candidates):
            return cls(0.0, 0, 0.0, 0)
        certain = max((float(np.mean(each == candidates)) for each in same), default=0.0)
        found = float(np.mean(1 / candidates))
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
    candidates, same = _candidates(number, cell, rows, beside, handed, people)
    return _Measured.of(candidates, same)


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
) -> tuple[Floats, list[Floats]]:
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
        The candidates of each person, and of each sensitive column those who show the same.
    """
    sensitive = [each.digests for each in _sensitive(handed[number].sketch)]
    fitting = _fitting(number, beside, handed, people)
    order = np.argsort(cell, kind="stable")
    starts = np.searchsorted(cell[order], np.arange(int(cell.max(initial=0)) + 2))
    counts, same = np.empty(len(rows)), [np.empty(len(rows)) for _ in sensitive]
    sizes = np.diff(starts)[cell[rows]]
    begin, done = 0, np.cumsum(sizes)
    while begin < len(rows):
        before = done[begin] - sizes[begin]
        end = max(int(np.searchsorted(done, before + AT_ONCE, side="right")), begin + 1)
        some, each = rows[begin:end], sizes[begin:end]
        target = np.repeat(np.arange(len(some)), each)
        within = np.arange(len(target)) - np.repeat(np.cumsum(each) - each, each)
        candidate = order[np.repeat(starts[cell[some]], each) + within]
        fits = candidate == some[target]
        fits |= np.logical_and.reduce([fit(candidate, some[target]) for fit in fitting])
        target, candidate = target[fits], candidate[fits]
        counts[begin:end] = np.bincount(target, minlength=len(some))
        for place, digests in enumerate(sensitive):
            alike = digests[candidate] == digests[some[target]]
            same[place][begin:end] = np.bincount(target[alike], minlength=len(some))
        begin = end
    return counts, same


def _fitting(
    number: int, beside: Mapping[int, Pairs], handed: Mapping[int, Handed], people: People
) -> Sequence[Callable[[Ints, Ints], Mask]]:
    """By other release, whether candidates show what somebody shows in the class of a person.

    Everybody fits a person whom the other release does not hold.
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
        made.append(partial(_fits, shown, wanted, known, absent))
    return made


def _fits(
    shown: Ints, wanted: Ints, known: Ints, absent: int, candidate: Ints, person: Ints
) -> Mask:
    key = shown[candidate] + wanted[person]
    place = np.minimum(np.searchsorted(known, key), len(known) - 1)
    fits: Mask = (known[place] == key) | (wanted[person] == absent)
    return fits
