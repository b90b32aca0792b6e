"""Who of a release was in another one: by keyed digests of ids, else by what both show."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.core.arrays import Bools, Ints, Words
from sfumato.core.errors import InputError
from sfumato.core.number_text import counted
from sfumato.ledger.sketches import (
    DIGEST_BYTES,
    RECORDS,
    Digests32,
    Names,
    Shown,
    Sketch,
    SketchColumn,
    joined_digests,
)

Pairs = Sequence[tuple[SketchColumn, SketchColumn]]
_Joining = Callable[[npt.NDArray[np.uint64], npt.NDArray[np.uint64]], tuple[Ints, Ints]]
ALIKE = 0.9
"""How far two columns say the same of persons where they are one by two names."""
COMMON = 0.5
"""Share of one column's values that occur in the other where persons in common are expected."""
TELLING, SOME = 20, 2
"""Distinct values from which on those of a column are told from another one's; and those from which
on columns with the same values are taken for one where no ids say whether they agree."""
HISTORIES = 0.2
"""Share of one column's histories that occur in the other where these two are taken for one then:
samples may have few persons in common."""
SHAPE = 0.1
"""How far the shares of persons who show the most frequent values of two columns, the next ones and
so on, are apart at most where one is taken for the other in other words then."""
SEVERAL = 0.05
"""Least share of persons who do not show the most frequent value of a column that tells, and of
those of the smaller release who are recognised, where no ids say that any are the same: fewer may
be alike by chance."""


# Of a million pairs of cohorts fewer than one is refused by chance.
SURELY = 5.0
"""Standard errors above what strangers have from which on people are shared."""


@dataclass(frozen=True, eq=False)
class Followed:
    """Who of two releases are the same, pair by pair.

    They are lost where nobody could be told from all others although both show much alike.
    """

    first: Ints
    second: Ints
    lost: bool

    def __len__(self) -> int:
        """Number of pairs."""
        return len(self.first)


def followed(first: Sketch, second: Sketch) -> Followed:
    """Who of two releases are the same.

    Digests of ids say it where ids are the same in both files, then what both show.
    """
    mine, theirs = by_id(first.persons, second.persons)
    sure = len(mine)
    columns = [(a, b) for a, b in common_columns(first, second) if a.shown is not Shown.PSEUDONYM]
    free_first, free_second = np.ones(len(first), bool), np.ones(len(second), bool)
    free_first[mine], free_second[theirs] = False, False
    is_stable = sure >= SEVERAL * min(len(first), len(second)) and not any(
        _speaks_otherwise(a, b, free_first, free_second) for a, b in columns
    )
    for joined, chosen in _choices(columns, is_stable):
        rows, others = np.flatnonzero(free_first), np.flatnonzero(free_second)
        if not len(rows) or not len(others):
            break
        at, beside = joined(
            joined_digests([a.digests[rows] for a, _ in chosen]),
            joined_digests([b.digests[others] for _, b in chosen]),
        )
        mine, theirs = np.append(mine, rows[at]), np.append(theirs, others[beside])
        free_first[rows[at]], free_second[others[beside]] = False, False
        sure += len(at) * (joined is _alone_in_both)
    return Followed(mine, theirs, not sure and _is_expected(columns))


def by_id(first: Names | None, second: Names | None) -> tuple[Ints, Ints]:
    """The persons whose ids have the same digest, ascending, in two releases that name persons."""
    if first is None or second is None or not len(first):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    own, other = _numbers(first), _numbers(second)
    if (own[1:, 0] == own[:-1, 0]).any():  # two share their first half
        place = np.searchsorted(first, second)
    else:
        place = np.searchsorted(own[:, 0], other[:, 0])
    place = np.minimum(place, len(first) - 1)
    matched = np.flatnonzero((own[place] == other).all(axis=1))
    return place[matched].astype(np.int64), matched


def _numbers(names: Names) -> npt.NDArray[np.uint64]:
    """Digests as pairs of numbers, which sort in the order of the bytes and faster."""
    return np.frombuffer(names.tobytes(), dtype=">u8").reshape(-1, 2).astype(np.uint64)


def common_columns(first: Sketch, second: Sketch) -> list[tuple[SketchColumn, SketchColumn]]:
    """The columns of one name in both releases, and those of one content by two names."""
    own, other = first.by_name(), second.by_name()
    pairs = [(own[name], other[name]) for name in own if name in other]
    rest = [each for name, each in own.items() if name not in other]
    others = [each for name, each in other.items() if name not in own]
    if not rest or not others:
        return pairs
    mine, theirs = by_id(first.persons, second.persons)
    for each in rest:
        for beside in others:
            if _one_column(each, beside, mine, theirs):
                pairs.append((each, beside))
                others.remove(beside)
                break
    return pairs


def _one_column(first: SketchColumn, second: SketchColumn, mine: Ints, theirs: Ints) -> bool:
    """Whether two columns are one by two names: they agree on persons, or in their values."""
    if Shown.PSEUDONYM in (first.shown, second.shown):
        return first.shown is second.shown
    if len(mine):
        own, other = first.digests[mine], second.digests[theirs]
        _, counts = np.unique(own, return_counts=True)
        if counts.max() > (1 - SEVERAL) * len(own):
            return False
        alike = float(np.mean(own == other))
        return max(alike, _told_by(own, other), _told_by(other, own)) >= ALIKE
    shared = _share_in_common(first, second, SOME)
    if first.constant and second.constant:
        is_one = shared >= ALIKE or _share_in_common(first, second) >= COMMON
    else:
        is_one = shared >= HISTORIES
    return is_one or _is_of_one_shape(first, second)


def _told_by(first: Digests32, second: Digests32) -> float:
    """How far the values of a column tell those of another one, in other or coarser words.

    Of the pairs of persons who share a value in the one, the share who share one in the other; what
    chance does is taken off.
    """
    pairs = first.astype(np.uint64) << np.uint64(32) | second.astype(np.uint64)
    own, other, both = (_pairs_of_equals(each) for each in (first, second, pairs))
    # Corrected as Cohen's kappa is: chance is the share of all pairs that share a value there.
    chance = 2 * other / (len(first) * max(len(first) - 1, 1))
    if own < SEVERAL * len(first) or chance >= 1:
        return 0.0
    return (both / own - chance) / (1 - chance)


def _pairs_of_equals(values: npt.NDArray[Any]) -> float:
    _, counts = np.unique(values, return_counts=True)
    return float(np.sum(counts * (counts - 1.0))) / 2


def _is_of_one_shape(first: SketchColumn, second: SketchColumn) -> bool:
    """Whether as many persons show the most frequent value of both columns, the next and so on."""
    shares = []
    for each in (first, second):
        _, counts = np.unique(each.digests, return_counts=True)
        shares.append(np.sort(counts)[::-1] / len(each.digests))
    fewer, more = sorted(shares, key=len)
    apart = np.abs(more - np.pad(fewer, (0, len(more) - len(fewer)))).sum() / 2
    return len(fewer) >= TELLING and bool(apart <= SHAPE)


def _speaks_otherwise(
    first: SketchColumn, second: SketchColumn, free_first: Bools, free_second: Bools
) -> bool:
    """Whether a column says in other words what it says of those whom ids do not join.

    Other people share values, where values are shared at all.
    """
    if not (first.constant and second.constant):
        return False
    own, other = first.digests[free_first], second.digests[free_second]
    fewer = min(len(np.unique(each)) for each in (own, other))
    if fewer < SOME or fewer > COMMON * min(len(own), len(other)):
        return False
    return len(np.intersect1d(own, other)) < SEVERAL * fewer


def _share_in_common(first: SketchColumn, second: SketchColumn, telling: int = TELLING) -> float:
    """Share of the fewer distinct values that occur in both; 0 where there are too few to tell."""
    own, other = np.unique(first.digests), np.unique(second.digests)
    fewer = min(len(own), len(other))
    return 0.0 if fewer < telling else len(np.intersect1d(own, other)) / fewer


def _is_expected(columns: Pairs) -> bool:
    return any(_share_in_common(a, b) >= COMMON for a, b in columns if a.name != RECORDS)


def _choices(columns: Pairs, is_stable: bool) -> Iterator[tuple[_Joining, Pairs]]:
    """How persons are joined, and by which columns.

    Where ids are the same in both files, those are strangers whom they do not join, unless all
    columns, or those that are constant, or quasi-identifiers, tell somebody from all others. Where
    ids are others in both files, as many are the same as can be, whoever it is: by what one file
    may write otherwise, or another column that looks like it, nobody shall be hidden. So columns
    are left out one by one, those that tell the least first.
    """
    by_name = columns if is_stable else [(a, b) for a, b in columns if a.name == b.name]
    constant = [(a, b) for a, b in by_name if a.constant and b.constant and a.name != RECORDS]
    recoded = [(a, b) for a, b in constant if Shown.RECODED in (a.shown, b.shown)]
    chosen: list[tuple[_Joining, Pairs]] = [(_alone_in_both, columns)]
    chosen += [(_in_turn, columns)] * (not is_stable)
    chosen += [(_alone_in_both, constant), (_alone_in_both, recoded)]
    if not is_stable:
        in_common = {(a, b): len(np.intersect1d(a.digests, b.digests)) for a, b in columns}
        ordered = sorted(columns, key=lambda pair: (pair[0].name != pair[1].name, -in_common[pair]))
        chosen += [(_in_turn, ordered[:end]) for end in range(len(ordered) - 1, 0, -1)]
        shown = [(a, b) for a, b in ordered if not a.shown is b.shown is Shown.RECODED]
        chosen += [(_in_turn, [pair]) for pair in shown if pair[0].name != RECORDS]
    return ((how, each) for how, each in chosen if each)


def _alone_in_both(first: Words, second: Words) -> tuple[Ints, Ints]:
    """The places of values that occur once in each of two arrays."""
    own, at, counts = np.unique(first, return_index=True, return_counts=True)
    own, at = own[counts == 1], at[counts == 1]
    other, beside, counts = np.unique(second, return_index=True, return_counts=True)
    other, beside = other[counts == 1], beside[counts == 1]
    _, left, right = np.intersect1d(own, other, assume_unique=True, return_indices=True)
    return at[left].astype(np.int64), beside[right].astype(np.int64)


def _in_turn(first: Words, second: Words) -> tuple[Ints, Ints]:
    """Places of equal values in two arrays, the n-th of one with the n-th of the other."""
    own, other = np.argsort(first, kind="stable"), np.argsort(second, kind="stable")
    place = np.searchsorted(first[own], second[other], side="left")
    turn = np.arange(len(other)) - np.searchsorted(second[other], second[other], side="left")
    at = place + turn
    equal = at < len(own)
    equal[equal] = first[own[at[equal]]] == second[other[equal]]
    return own[at[equal]].astype(np.int64), other[equal].astype(np.int64)


@dataclass(frozen=True, eq=False)
class People:
    """The persons of several releases, each once.

    Attributes
    ----------
    of_release
        By number of the release, the person of each row of its sketch.
    lost
        Pairs of releases between which nobody was followed, or nobody for sure although persons in
        common are expected.
    by_looks
        Pairs of releases most of whose persons were joined by what both show, as no ids told them.
    """

    count: int
    of_release: Mapping[int, Ints]
    lost: tuple[tuple[int, int], ...]
    by_looks: tuple[tuple[int, int], ...] = ()


def people_of(sketches: Mapping[int, Sketch], apart: Collection[tuple[int, int]] = ()) -> People:
    """Number the persons of several releases, so that each has one number in all of them.

    Pairs of releases ``apart``, the older first, hold nobody in common but those whose ids are the
    same.
    """
    if all(each.persons is not None for each in sketches.values()) and all(
        pair in apart for pair in combinations(sketches, 2)
    ):
        return _people_by_id(sketches)
    count, persons_of = 0, dict[int, Ints]()
    lost = list[tuple[int, int]]()
    for number, sketch in sketches.items():
        numbers = count + np.arange(len(sketch))
        count += len(sketch)
        earlier, persons_of[number] = list(reversed(persons_of)), numbers
        for other in earlier:
            here, there = persons_of[number], persons_of[other]
            # All are joined through a third release already, so that nobody can be added.
            if np.isin(here, there).all() or np.isin(there, here).all():
                continue
            mine, theirs = by_id(sketches[other].persons, sketch.persons)
            # That hardly anybody is recognised is no finding: only the custodian knows that they
            # are other people.
            if (other, number) not in apart:
                joined = followed(sketches[other], sketch)
                fewest = SEVERAL * min(len(sketches[other]), len(sketch))
                if joined.lost or (not len(mine) and len(joined) < fewest):
                    lost.append((other, number))
                mine, theirs = joined.first, joined.second
            _join(persons_of, there[mine], here[theirs], count)
    every, places = np.unique(np.concatenate([*persons_of.values(), _NOBODY]), return_inverse=True)
    ends = np.cumsum([len(person) for person in persons_of.values()])
    of_release = dict(zip(persons_of, np.split(places.astype(np.int64), ends), strict=False))
    by_looks = [
        (one, other)
        for one, other in combinations(sketches, 2)
        if 2 * len(by_id(sketches[one].persons, sketches[other].persons)[0])
        < len(np.intersect1d(of_release[one], of_release[other]))
    ]
    return People(len(every), of_release, tuple(lost), tuple(by_looks))


def _people_by_id(sketches: Mapping[int, Sketch]) -> People:
    """The same of releases that hold nobody in common but those whose ids are the same."""
    names, number_of = np.empty(0, f"S{DIGEST_BYTES}"), _NOBODY
    of_release = {}
    for number, sketch in sketches.items():
        assert sketch.persons is not None
        places, there = by_id(names, sketch.persons)
        new = np.ones(len(sketch), dtype=np.bool_)
        new[there] = False
        numbers = np.empty(len(sketch), dtype=np.int64)
        numbers[there], numbers[new] = number_of[places], len(names) + np.arange(new.sum())
        at = np.searchsorted(names, sketch.persons[new])
        number_of = np.insert(number_of, at, numbers[new])
        names = np.insert(names, at, sketch.persons[new])
        of_release[number] = numbers
    return People(len(names), of_release, ())


_NOBODY = np.empty(0, dtype=np.int64)


def _join(persons_of: dict[int, Ints], first: Ints, second: Ints, count: int) -> None:
    """Take pairs of persons for one, those left out who are two in some release."""
    one = first != second
    for persons in persons_of.values():
        taken = np.zeros(count, dtype=bool)
        taken[persons] = True
        # Two rows of one release are two persons, whatever a third release says.
        one &= ~(taken[first] & taken[second])
    names = np.arange(count)
    names[second[one]] = first[one]
    for number, persons in persons_of.items():
        persons_of[number] = names[persons]


class Shared(NamedTuple):
    """People of two releases with the same id, and about how many more look alike.

    Told is whether it would be noticed if several of the smaller one were shared.
    """

    ids: int
    alike: int
    told: bool

    def __bool__(self) -> bool:
        """Whether any are shared."""
        return self.ids > 0 or self.alike > 0


def shared_people(first: Sketch, second: Sketch) -> Shared:
    """The people whom two releases share, as far as their sketches tell.

    What is never the same of a person in both tells nothing: neither what changes, nor a column
    whose values may stand there in other words.
    """
    mine, _ = by_id(first.persons, second.persons)
    columns = [(a, b) for a, b in common_columns(first, second) if a.shown is not Shown.PSEUDONYM]
    lasting = [
        (a, b)
        for a, b in columns
        if a.constant
        and b.constant
        and a.name != RECORDS
        and _share_in_common(a, b, SOME) >= SEVERAL
    ]
    chosen = [each for _, each in _choices(columns, is_stable=True)]
    alike = max((_look_alikes(first, second, each)[0] for each in chosen), default=0)
    more, told = _look_alikes(first, second, lasting) if lasting else (0, False)
    return Shared(len(mine), max(alike, more), told)


def _look_alikes(first: Sketch, second: Sketch, columns: Pairs) -> tuple[int, bool]:
    """About how many look alike in both beyond strangers; whether several would be noticed.

    Of two people who alone say the same both are in one file, or one in each: of strangers as often
    as of any two people. Where it is one in each more often, people are shared.
    """
    sizes = len(first), len(second)
    values = [joined_digests([pair[side].digests for pair in columns]) for side in (0, 1)]
    _, number, often = np.unique(np.concatenate(values), return_inverse=True, return_counts=True)
    in_first = np.bincount(number[: sizes[0]], minlength=len(often))
    together = int(((often == 2) & (in_first != 1)).sum())
    apart = int(((often == 2) & (in_first == 1)).sum())
    ratio = 2 * sizes[0] * sizes[1] / max(sum(each * (each - 1) for each in sizes), 1)
    # One pair more: where there is none by chance, strangers may still look alike.
    expected = (together + 1) * ratio
    surplus = apart - together * ratio
    needed = ratio + SURELY * np.sqrt(expected * (1 + ratio))
    in_smaller = in_first if sizes[0] <= sizes[1] else often - in_first
    alone = apart + int(((often == 1) & (in_smaller == 1)).sum())
    told = SEVERAL * alone > max(needed, 1)
    return max(round(surplus), 1) if surplus > needed else 0, bool(told)


def check_shared(sketches: Mapping[str, Sequence[Sketch | None]]) -> int:
    """Refuse cohorts, by their names, that share people or of which it cannot be told.

    Gives how many pairs of files were compared. A sketch that was erased is ``None``.
    """
    compared = 0
    for (one, first), (other, second) in combinations(sketches.items(), 2):
        for pair in product(first or [None], second or [None]):
            check_apart(one, other, *pair)
            compared += 1
    return compared


def check_apart(one: str, other: str, first: Sketch | None, second: Sketch | None) -> None:
    """Refuse two files of cohorts by name that share people, or of which it cannot be told."""
    found = None if first is None or second is None else shared_people(first, second)
    if found:
        raise _sharing(one, other, found)
    if found is None or not found.told:
        raise InputError(
            f"cohorts {one} and {other}",
            "must show whether they share people",
            found="nothing that tells most people apart in both"
            if found is not None
            else "an erased sketch",
            advice="state it release by release, with a reason: sfumato ledger waive --release N",
        )


def _sharing(one: str, other: str, found: Shared) -> InputError:
    """What refuses two cohorts by name that share people."""
    same = f"{counted(found.ids, 'person')} with the same id" if found.ids else ""
    alike = (
        f"about {counted(found.alike, 'person')} more look alike than strangers would"
        if found.alike
        else ""
    )
    return InputError(
        f"cohorts {one} and {other}",
        "must share no person",
        found=" and ".join(filter(None, (same, alike))),
        advice="leave these people out of one of them, or let the files be compared; of people "
        "matched on purpose: sfumato ledger waive --release N",
    )
