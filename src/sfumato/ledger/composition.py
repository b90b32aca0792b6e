"""What several releases give away together: the classes that a person is in, intersected.

Who knows a person's quasi-identifiers knows the class of that person in each release (Ganta,
Kasiviswanathan and Smith 2008). Where records of two releases can be told to be one person's, the
person is among those only who are in the same class in both. They can be told by what both show
unchanged. Where that is constant for each person, those are counted who fit; where it may be told
by more than what is kept of it (histories, columns that one of them shows coarser, the order of
the rows, the numbers of rows of classes where one of them names no persons), every record is taken
to be joined rightly, which is the most that anybody can do.

What a release promises of its classes is held against those in which a person is left.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from sfumato.core.arrays import Bools, Codes, Floats, Ints
from sfumato.core.errors import InputError
from sfumato.core.number_text import percentage
from sfumato.ledger.fitting_kinds import Candidates, Fit, drawn, spread
from sfumato.ledger.overlap import People, common_columns, people_of
from sfumato.ledger.sketches import Shown, Sketch, SketchColumn, joined_digests
from sfumato.release.promises.promise import Constraint
from sfumato.risk.classes import ClassSummary, summarize
from sfumato.risk.verdict import PUBLIC

Pairs = Sequence[tuple[SketchColumn, SketchColumn]]
LEAST_ALIKE, MOSTLY_ALIKE = 0.05, 0.98
"""Share of the persons in common of whom a column says the same: below the one pseudonyms join
nobody, below the other somebody may allow for changes."""
Unkept = tuple[tuple[float, int], ...]
DIGITS = 12
"""Decimals of shares that are compared with each other."""


@dataclass(frozen=True)
class Limits:
    """What releases may give away together.

    Attributes
    ----------
    tolerable
        Share of the persons of a release who may be found.
    unkept
        Share of its persons for whom a promise about its classes may fail.
    """

    tolerable: float = PUBLIC.found
    unkept: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what is no share."""
        if not 0 < self.tolerable <= 1:
            raise InputError(
                "parameter tolerable", "must be a share", accepted="a number in (0, 1]"
            )
        if not 0 <= self.unkept <= 1:
            raise InputError("parameter unkept", "must be a share", accepted="a number in [0, 1]")


@dataclass(frozen=True)
class Measured:
    """What is known of the persons of one release.

    Attributes
    ----------
    found
        The share of them whom somebody finds who knows the quasi-identifiers of everybody: the
        mean of 1 / candidates.
    certain
        The share of them all of whose candidates show the same of a sensitive column, the one
        where that is most often so.
    learned
        By sensitive column the share of persons of whom all that it says is guessed rightly, by
        what most of the candidates show or by one of them, whichever is right more often, and of
        whom it is certain and not the commonest.
    unkept
        For each promise about classes the share of persons whose candidates, as one class, break
        it, and the number of such classes.
    looked_at
        Persons whose candidates were counted, fewer than there are where they were drawn.
    """

    found: float = 0.0
    fewest: int = 0
    certain: float = 0.0
    unkept: Unkept = ()
    looked_at: int = 0
    learned: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, candidates: Floats, alike: Sequence[_Alike], unkept: Unkept, hit: float = 0.0
    ) -> Measured:
        """From each person's candidates, what they show alike, the likeliest's hits."""
        if not len(candidates):
            return cls(unkept=unkept)
        certain = max((float(np.mean(each.same == candidates)) for each in alike), default=0.0)
        # An intruder takes the better way: one candidate at random, or the likeliest.
        chance = max(float(np.mean(1 / candidates)), hit)
        learned = {
            each.column: (
                max(float(np.mean(each.right)), float(np.mean(each.same / candidates))),
                float(np.mean((each.same == candidates) & each.rare)),
            )
            for each in alike
        }
        return cls(chance, int(candidates.min()), certain, unkept, len(candidates), learned)

    @classmethod
    def noted(cls, plain: Mapping[str, Any]) -> Measured:
        """It as `dataclasses.asdict` and JSON gave it."""
        unkept = tuple((share, number) for share, number in plain["unkept"])
        learned = {name: (right, certain) for name, (right, certain) in plain["learned"].items()}
        return cls(**{**plain, "unkept": unkept, "learned": learned})

    def to_findings(self) -> dict[str, Any]:
        """What `Findings.among` takes."""
        return {"found": self.found, "fewest": self.fewest, "learned": dict(self.learned)}


class _Alike(NamedTuple):
    """What the candidates for each person show of a sensitive column; shape (persons,) each.

    So many show the ``same`` as the person; ``right`` is the chance that what most of them show is
    that, and it is ``rare`` where it is not the commonest of all.
    """

    column: str
    same: Floats
    right: Floats
    rare: Bools

    @classmethod
    def of(cls, column: SketchColumn, same: Floats, right: Floats, of: Ints | slice) -> _Alike:
        """Of a column, for some of its persons."""
        _, value, often = np.unique(column.digests, return_inverse=True, return_counts=True)
        return cls(column.name, same, right, (value != often.argmax())[of])


@dataclass(frozen=True, eq=False)
class Handed:
    """A release as it is compared.

    Attributes
    ----------
    apart
        Whether the custodian says that it holds other persons than any other release.
    requested
        Whether a policy decided on it; what such releases give away among themselves is the
        matter of its rules.
    of_tables
        Whether it has several tables, of which promises count who has a value.
    series
        What names the series that it is a file of, the same for all of them; empty elsewhere.
    cohorts
        Which cohort it is of, by the number of each statement that some share no person.
    noted
        What was known of it by itself when it was noted, where its sketch is the same still.
    """

    sketch: Sketch
    ordered: bool = False
    apart: bool = False
    promises: tuple[Constraint, ...] = ()
    requested: bool = False
    of_tables: bool = False
    series: str = ""
    cohorts: Mapping[int, str] = field(default_factory=dict)
    noted: Measured | None = None

    @cached_property
    def alone(self) -> Measured:
        """The release by itself, by its own quasi-identifiers: candidates are those of a class."""
        if self.noted is not None:
            return self.noted
        return self.in_cells(self.sketch.classes.astype(np.int64))

    def is_apart_from(self, other: Handed) -> bool:
        """Whether they are said to have nobody in common but those whose ids are the same."""
        if self.apart or other.apart or self.series == other.series != "":
            # In a series ids stay: of two who look alike, one who came may be taken for one who
            # withdrew.
            return True
        return any(
            self.cohorts[number] != other.cohorts[number]
            for number in self.cohorts.keys() & other.cohorts.keys()
        )

    def showing(self, sketch: Sketch) -> Handed:
        """The same with another sketch, of which nothing was noted."""
        return replace(self, sketch=sketch, noted=None)

    def in_cells(self, cell: Ints) -> Measured:
        """The release where the candidates for a person are those of its cell, shape (persons,)."""
        distinct, number, persons = np.unique(cell, return_inverse=True, return_counts=True)
        alike = []
        for attribute in self.sensitive:
            pairs = cell.astype(np.uint64) << np.uint64(32) | attribute.digests.astype(np.uint64)
            _, of, counts = np.unique(pairs, return_inverse=True, return_counts=True)
            same, most = counts[of].astype(np.float64), np.zeros(len(distinct))
            np.maximum.at(most, number, same)
            # As many are right as show it, whoever of them is meant.
            right = most[number] / persons[number]
            alike.append(_Alike.of(attribute, same, right, slice(None)))
        unkept: Unkept = ()
        if self.promises and len(cell):
            of_person = self.sketch.of_person
            summary = summarize(
                number[of_person].astype(np.int32),
                len(distinct),
                of_person.astype(np.int32),
                self.values,
                rows=self.told(self.values),
            )
            unkept = self.broken(summary, persons)
        return Measured.of(persons[number].astype(np.float64), alike, unkept)

    def broken(self, classes: ClassSummary, persons: Ints) -> Unkept:
        """Of each promise the share of persons in classes that break it, and how many do.

        The persons whose candidates each of them is have shape (classes,).
        """
        # No ranks are kept of values; a distance by ranks is at most one that knows none.
        known = replace(classes, ordered_distance=classes.distance)
        verdicts = [_broken(promise, known) for promise in self.promises]
        return tuple(
            (round(float(persons @ verdict / persons.sum()), DIGITS), int(verdict.sum()))
            for verdict in verdicts
        )

    def told(self, values: Mapping[str, Codes]) -> dict[str, Bools]:
        """Of several tables, the records with a value: those of its table, or fewer."""
        return {name: value >= 0 for name, value in values.items() if self.of_tables}

    @property
    def sensitive(self) -> list[SketchColumn]:
        """Its sensitive columns."""
        return [column for column in self.sketch.columns if column.role == "sensitive"]

    @property
    def values(self) -> dict[str, Codes]:
        """The values of each record, of the columns that promises speak of."""
        columns = self.sketch.columns
        return {c.name: c.values.astype(np.int32) for c in columns if c.values is not None}


def _broken(promise: Constraint, classes: ClassSummary) -> Bools:
    try:
        return ~promise.met(classes)
    except LookupError:  # it speaks of a column that is not shown, or of a population
        return np.zeros(classes.classes, dtype=np.bool_)


@dataclass(frozen=True)
class Together:
    """What releases give away together; each mapping by the number of the release.

    Attributes
    ----------
    before
        Those before the last one, its quasi-identifiers known all the same.
    exposed
        The columns that a release shows unchanged and another one takes as known.
    unknown
        What is not known of the last one beside others, in sentences.
    """

    all: Mapping[int, Measured]
    alone: Mapping[int, Measured]
    before: Mapping[int, Measured]
    requested: Mapping[int, Measured]
    exposed: Mapping[int, tuple[str, ...]]
    promises: Mapping[int, tuple[Constraint, ...]]
    in_several: int
    people: People
    unknown: tuple[str, ...] = ()

    @property
    def found(self) -> dict[int, float]:
        """The share found of each release."""
        return {number: each.found for number, each in self.all.items()}

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
                    "found": each.found,
                    "alone": self.alone[number].found,
                    "exposed": list(self.exposed[number]),
                    "fewest": each.fewest,
                    "certain": each.certain,
                    "certain_alone": self.alone[number].certain,
                    "unkept": {
                        said(promise): share
                        for promise, (share, _) in zip(
                            self.promises[number], each.unkept, strict=True
                        )
                    },
                }
                for number, each in self.all.items()
            ],
            "in_several": self.in_several,
            "unknown": list(self.unknown),
            "looked_at": max((each.looked_at for each in self.all.values()), default=0),
        }

    def broken(self, limits: Limits) -> tuple[str, ...]:
        """What the last release takes away, in sentences; empty where it takes nothing away.

        What others gave away without it is not its fault, nor what requests give away among
        themselves, nor what a release does not keep by itself.
        """
        found, promised = [], []
        for number, now in self.all.items():
            others = (self.before.get(number), self.requested.get(number))
            beside = [other for other in others if other is not None]
            if now.found > max([limits.tolerable, *(each.found for each in beside)]):
                found.append(
                    f"all releases together find {percentage(now.found)} of the people of release "
                    f"{number} ({percentage(self.alone[number].found)} by itself; limit "
                    f"{percentage(limits.tolerable)})"
                )
            for place, promise in enumerate(self.promises[number]):
                share = now.unkept[place][0]
                # Share and number of classes:
                # even one more class that breaks a promise counts.
                least = max(each.unkept[place] for each in (self.alone[number], *beside))
                if now.unkept[place] > least and share > limits.unkept:
                    promised.append(
                        f"release {number} promises {said(promise)}; together they break it for "
                        f"{percentage(share)} of its people"
                    )
        taken = [*found, *promised]
        taken += [
            f"release {number} shows unchanged what another one takes as known: "
            + ", ".join(f"column '{name}'" for name in names)
            for number, names in self.exposed.items()
            if taken and names
        ]
        return tuple(taken)


def of_classes(promises: Iterable[object]) -> tuple[Constraint, ...]:
    """Those of some promises that are about classes."""
    return tuple(cast(Constraint, promise) for promise in promises if hasattr(promise, "met"))


def said(promise: Constraint) -> str:
    """A promise by its name and its parameters."""
    stated = ", ".join(f"{name} = {value}" for name, value in promise.parameters().items())
    return f"{promise.name} ({stated})"


def together(handed: Mapping[int, Handed]) -> Together:
    """What releases, by their numbers, oldest first, give away together."""
    return together_of(handed, people_in(handed))


def people_in(handed: Mapping[int, Handed]) -> People:
    """The persons of releases, each numbered once."""
    apart = {
        (one, other)
        for one, other in combinations(handed, 2)
        if handed[one].is_apart_from(handed[other])
    }
    return people_of({number: each.sketch for number, each in handed.items()}, apart)


def withholding(handed: Mapping[int, Handed], names: Collection[str]) -> dict[int, Handed]:
    """The same releases, of which the last one does not show some columns."""
    *_, last = handed
    sketch = handed[last].sketch
    kept = tuple(column for column in sketch.columns if column.name not in names)
    return {**handed, last: handed[last].showing(replace(sketch, columns=kept))}


def together_of(handed: Mapping[int, Handed], people: People) -> Together:
    """The same, where it is known who is who."""
    exposed = {number: _exposed(number, handed) for number in handed}
    split = {number: _told(each, exposed[number]) for number, each in handed.items()}
    *earlier, _ = handed
    requested = [number for number, each in handed.items() if each.requested]
    times = np.zeros(people.count, dtype=np.int64)
    for persons in people.of_release.values():
        times[persons] += 1
    return Together(
        all=_measured_together(split, people),
        alone={number: each.alone for number, each in handed.items()},
        before=_measured_together({number: split[number] for number in earlier}, people),
        requested=_measured_together({number: split[number] for number in requested}, people),
        exposed={n: tuple(column.name for column in columns) for n, columns in exposed.items()},
        promises={number: each.promises for number, each in handed.items()},
        in_several=int((times > 1).sum()),
        people=people,
    )


def _exposed(number: int, handed: Mapping[int, Handed]) -> tuple[SketchColumn, ...]:
    """The columns that a release shows and another one takes as known of everybody."""
    exposed: dict[str, SketchColumn] = {}
    for other, each in handed.items():
        if other != number:
            for own, theirs in common_columns(handed[number].sketch, each.sketch):
                if theirs.shown is Shown.RECODED and own.shown is Shown.UNCHANGED:
                    exposed[own.name] = own
    return tuple(exposed.values())


def _told(handed: Handed, exposed: Sequence[SketchColumn]) -> Handed:
    """A release whose classes are told apart by what it shows and everybody knows."""
    if not exposed:
        return handed
    sketch = handed.sketch
    digests = joined_digests([column.digests for column in exposed])
    _, shown = np.unique(digests, return_inverse=True)
    keys = sketch.classes.astype(np.int64) * (int(shown.max(initial=0)) + 1) + shown
    _, classes = np.unique(keys, return_inverse=True)
    return handed.showing(replace(sketch, classes=classes.astype(np.int64)))


def _measured_together(handed: Mapping[int, Handed], people: People) -> dict[int, Measured]:
    groups, weak = _joins(handed, people)
    measured = {}
    for group in groups:
        cells = _cells(group, handed, people)
        for number in group:
            release, cell = handed[number], cells[people.of_release[number]]
            fits = [
                _fit(number, other, weak[number, other], handed, people)
                for other in handed
                if (number, other) in weak and other not in group
            ]
            if fits:
                measured[number] = _fitting(release, cell, fits)
            # Cells lie within classes: where there are as many, others told nothing.
            elif _distinct(cell) == _distinct(release.sketch.classes):
                measured[number] = release.alone
            else:
                measured[number] = release.in_cells(cell)
    return {number: measured[number] for number in handed}


def _distinct(numbers: npt.NDArray[np.integer[Any]]) -> int:
    return int(np.count_nonzero(np.bincount(numbers)))


def _joins(
    handed: Mapping[int, Handed], people: People
) -> tuple[list[tuple[int, ...]], dict[tuple[int, int], Pairs]]:
    """Releases whose records are taken to be joined rightly, and by constant columns.

    The former are groups, directly or through others; of the latter some pairs are in one, too.
    """
    group, weak = {number: {number} for number in handed}, dict[tuple[int, int], Pairs]()
    place = {number: at for at, number in enumerate(handed)}
    # Neighbours first: those of a series are one group then, and no other pair is looked at.
    for one, other in sorted(
        combinations(handed, 2), key=lambda pair: place[pair[1]] - place[pair[0]]
    ):
        if other in group[one]:
            continue
        shown = _shown_in_both(one, other, handed, people)
        first, second = handed[one], handed[other]
        # Who fits can be counted where it is known in which class a person is in the other one.
        joined = bool(shown) or _rows_tell(first.sketch, second.sketch)
        guessed = joined and (one, other) in people.by_looks
        ordered = first.ordered and second.ordered
        if ordered or guessed or not all(_is_exact(*pair, a) for pair, a in shown.items()):
            merged = group[one] | group[other]
            group |= dict.fromkeys(merged, merged)
        elif shown:
            weak[one, other] = list(shown)
            weak[other, one] = [(b, a) for a, b in shown]
    return list(dict.fromkeys(tuple(sorted(each)) for each in group.values())), weak


def _shown_in_both(
    one: int, other: int, handed: Mapping[int, Handed], people: People
) -> dict[tuple[SketchColumn, SketchColumn], float]:
    """The columns by which two releases may be joined, and how often they say the same."""
    first, second = handed[one].sketch, handed[other].sketch
    place = np.full(people.count, -1)
    place[people.of_release[one]] = np.arange(len(first))
    mine = place[people.of_release[other]]
    theirs = np.flatnonzero(mine >= 0)
    mine = mine[theirs]
    shown = {
        (a, b): float(np.mean(a.digests[mine] == b.digests[theirs]))
        for a, b in common_columns(first, second)
        # What both recode is in their classes already, which are intersected in any case.
        if not a.shown == b.shown == Shown.RECODED and len(mine)
    }
    # Pseudonyms that were drawn anew join nobody; what else hardly ever agrees has grown, or
    # says the same in other words.
    return {
        (a, b): alike
        for (a, b), alike in shown.items()
        if alike >= LEAST_ALIKE or Shown.PSEUDONYM not in (a.shown, b.shown)
    }


def _rows_tell(first: Sketch, second: Sketch) -> bool:
    """Whether one release says how many records each person has, and the other of a class alone.

    Who knows which persons are in a class knows the sum of their records, and from sums that
    overlap how many each of them has.
    """
    several = [bool((each.of_person[1:] == each.of_person[:-1]).any()) for each in (first, second)]
    return several[0] != several[1]


def _is_exact(first: SketchColumn, second: SketchColumn, alike: float) -> bool:
    """Whether a column joins records by nothing but what is kept of it."""
    same = first.shown == second.shown and first.shown in (Shown.UNCHANGED, Shown.PSEUDONYM)
    return same and first.constant and second.constant and alike >= MOSTLY_ALIKE


def _cells(group: tuple[int, ...], handed: Mapping[int, Handed], people: People) -> Ints:
    """The number of what the releases of a group tell of each person, -1 of whom they hold not.

    Who is not in one of them is told by that, too.
    """
    keys = np.full(people.count, -1)
    for number in group:
        persons = people.of_release[number]
        classes = np.zeros(people.count, dtype=np.int64)
        # One more, so that 0 is left for those whom the release does not hold.
        classes[persons] = handed[number].sketch.classes.astype(np.int64) + 1
        earlier = np.flatnonzero(keys >= 0)
        before, now = keys[earlier], classes[earlier]
        of_cell = np.zeros(int(before.max(initial=-1)) + 1, dtype=np.int64)
        of_cell[before] = now
        # Most files of a series tell nobody from others who were not told apart before.
        if (of_cell[before] != now).any():
            # Numbered anew for each release,
            # so that products of many numbers of classes do not overflow.
            pairs = before * (int(classes.max(initial=0)) + 1) + now
            keys[earlier] = np.unique(pairs, return_inverse=True)[1]
        new = persons[keys[persons] < 0]
        keys[new] = int(keys.max(initial=-1)) + classes[new]
    return keys


def _fit(
    number: int, other: int, columns: Pairs, handed: Mapping[int, Handed], people: People
) -> Fit:
    """What the persons of a release show, held against their classes in another one."""
    classes = handed[other].sketch.classes.astype(np.int64)
    of_person = np.full(people.count, -1, dtype=np.int64)
    of_person[people.of_release[other]] = classes
    return Fit.of(
        joined_digests([a.digests for a, _ in columns]).view(np.int64),
        of_person[people.of_release[number]],
        joined_digests([b.digests for _, b in columns]).view(np.int64),
        classes,
    )


def _fitting(handed: Handed, cell: Ints, fits: Sequence[Fit]) -> Measured:
    """A release whose candidates are those of a cell who fit the person's classes elsewhere.

    Somebody fits a class where somebody in that class shows the same.
    """
    shown = [attribute.digests.astype(np.int64) for attribute in handed.sensitive]
    told = Candidates.of(cell, fits, shown).counted(shown)
    looked_at = drawn(len(cell))
    alike = [
        _Alike.of(column, same, right, looked_at)
        for column, same, right in zip(handed.sensitive, told.same, told.right, strict=True)
    ]
    unkept = _unkept(handed, Candidates.of(cell, fits)) if handed.promises else ()
    return Measured.of(told.candidates, alike, unkept, told.hit)


def _unkept(handed: Handed, candidates: Candidates) -> Unkept:
    """The promises of a release held against each set of candidates that there is."""
    person = handed.sketch.of_person
    begins = np.searchsorted(person, np.arange(len(candidates.cell) + 1))
    files = {name: np.bincount(v[v >= 0], minlength=1) for name, v in handed.values.items()}
    shares, broken, looked_at = np.zeros(len(handed.promises)), np.zeros(len(handed.promises)), 0
    for persons, of, one in candidates.sets():
        pair, record = spread(begins[one], begins[one + 1] - begins[one])
        values = {name: value[record] for name, value in handed.values.items()}
        summary = summarize(
            of[pair].astype(np.int32),
            len(persons),
            pair.astype(np.int32),
            values,
            files=files,
            rows=handed.told(values),
        )
        for place, (share, number) in enumerate(handed.broken(summary, persons)):
            shares[place] += share * persons.sum()
            broken[place] += number
        looked_at += int(persons.sum())
    shares = (shares / max(looked_at, 1)).round(DIGITS)
    return tuple(zip(shares.tolist(), broken.astype(int).tolist(), strict=True))
