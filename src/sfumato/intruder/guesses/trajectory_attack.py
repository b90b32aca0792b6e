"""Join two releases by what a person's records keep in both, and look for persons in both.

Columns that no release changes tell a history: which values a pseudonym shows, and how long after
each other its dates are, whatever offset moved them. Whose histories are alike in two releases is
one person, though no pseudonym says so; who is known to fit in both is then left (de Montjoye et
al. 2013; Narayanan and Shmatikov 2008 for the weights of rare things).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.intruder.candidates import Identification
from sfumato.intruder.guesses.intersection_attack import Side, aligned, odds_by_pseudonym
from sfumato.intruder.knowledge import Knowledge
from sfumato.intruder.reading import ReleasedFile, TextColumn

MOST_PAIRS = 10_000_000
"""Pairs of pseudonyms that are held against each other, by the things that fewest pairs share."""
COMMON = 0.5
"""Share of a column's different texts that both releases show where it is taken as unchanged."""


@dataclass(frozen=True, eq=False)
class Trajectories:
    """What two releases that are joined by histories end with.

    Attributes
    ----------
    identification
        For each target a unit of the first release, -1 where none fits.
    joined
        Units of both releases that are taken for one person, shape (joined, 2).
    """

    identification: Identification
    columns: tuple[str, ...]
    joined: Ints


def follow(
    first: ReleasedFile,
    second: ReleasedFile,
    knowledge: Knowledge,
    rng: np.random.Generator,
    targets: Ints,
) -> Trajectories:
    """Guess which unit of the first of two releases a target is.

    Takes O(pairs of units that show a thing alike, `MOST_PAIRS` of them at most).
    """
    here, there = Side.of(first, knowledge), Side.of(second, knowledge)
    pairs = np.column_stack([here.group, there.group])
    joint, joint_of = np.unique(pairs, axis=0, return_inverse=True)
    columns = unchanged(first, second)
    joined = alike(first, second, columns)
    odds = odds_by_pseudonym(here, there, joined, joint)
    unit, chance = odds.draw(joint_of.reshape(-1)[targets], rng)
    names = tuple(one.name for one, _ in columns)
    return Trajectories(Identification(unit, targets, chance), names, joined)


def unchanged(first: ReleasedFile, second: ReleasedFile) -> list[tuple[TextColumn, TextColumn]]:
    """The columns of both releases that say the same in both, pseudonyms aside."""
    others = {attribute.name: attribute for attribute in (*second.sensitive, *second.others)}
    found = []
    for one in (*first.sensitive, *first.others):
        other = others.get(one.name)
        if other is None or _names_units(first, one) or _names_units(second, other):
            continue
        texts, same = set(one.texts) | set(other.texts), set(one.texts) & set(other.texts)
        is_dated = _days(one) is not None and _days(other) is not None
        if is_dated or len(same - {None}) >= COMMON * len(texts - {None}):
            found.append((one, other))
    return found


def _names_units(file: ReleasedFile, column: TextColumn) -> bool:
    pairs = np.unique(np.column_stack([file.unit, column.codes]), axis=0)
    return len(pairs) == file.persons == len(np.unique(column.codes))


def alike(
    first: ReleasedFile, second: ReleasedFile, columns: list[tuple[TextColumn, TextColumn]]
) -> Ints:
    """Units whose histories are most alike, each being the other's only nearest; shape (pairs, 2).

    A value of a column, all values of a record, and days between successive dates are things that
    a unit shows. Two units are as alike as the weight of what both show in that of what either
    does; a thing weighs 1 / log(1 + units of the second release that show it).
    """
    one, other = _shown(first, second, columns)
    many, others = (np.asarray(each.sum(axis=0)).reshape(-1) for each in (one, other))
    order = np.argsort(many * others, kind="stable")
    looked_at = np.zeros(len(order), dtype=np.bool_)
    looked_at[order] = np.cumsum((many * others)[order]) <= MOST_PAIRS
    weight = 1 / np.log1p(np.maximum(others, 1.0))
    common = sparse.coo_array((one * (weight * looked_at)) @ other.T)
    here, there = common.coords
    score = common.data / ((one @ weight)[here] + (other @ weight)[there] - common.data)
    best = _sole_best(here, score, first.persons) & _sole_best(there, score, second.persons)
    return np.column_stack([here[best], there[best]]).astype(np.int64)


def _sole_best(unit: Ints, score: Floats, units: int) -> Bools:
    """Which scores are above all others of their unit."""
    highest = np.zeros(units)
    np.maximum.at(highest, unit, score)
    best = (score > 0) & (score == highest[unit])
    # Of equal scores none says who it is: neither is taken.
    found: Bools = best & (np.bincount(unit[best], minlength=units)[unit] == 1)
    return found


def _shown(
    first: ReleasedFile, second: ReleasedFile, columns: list[tuple[TextColumn, TextColumn]]
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Which things each unit of either release shows, as 0 and 1; shape (units, things)."""
    ones: list[sparse.csr_array] = []
    others: list[sparse.csr_array] = []
    for here, there in _things(first, second, columns):
        size = int(max(here[1].max(initial=-1), there[1].max(initial=-1))) + 1
        for file, (unit, thing), found in ((first, here, ones), (second, there, others)):
            told = thing >= 0
            pairs = np.unique(np.column_stack([unit[told], thing[told]]), axis=0)
            shape = (file.persons, size)
            found.append(sparse.csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape))
    # Something to join on where no column is in both.
    empty = [sparse.csr_array((file.persons, 1)) for file in (first, second)]
    one = sparse.hstack([empty[0], *ones], format="csr")
    return one, sparse.hstack([empty[1], *others], format="csr")


Things = tuple[Ints, Ints]
"""Units, and what each shows as a number, -1 for nothing; shape (things,) each."""


def _things(
    first: ReleasedFile, second: ReleasedFile, columns: list[tuple[TextColumn, TextColumn]]
) -> Iterator[tuple[Things, Things]]:
    whole = []
    for one, other in columns:
        days, later = _days(one), _days(other)
        if days is not None and later is not None:
            yield _between(first.unit, days), _between(second.unit, later)
            continue
        here, there = one.told, aligned(one, other)
        whole.append((here, there))
        yield (first.unit, here), (second.unit, there)
    if len(whole) > 1:
        rows = [np.column_stack(each) for each in zip(*whole, strict=True)]
        number = np.unique(np.concatenate(rows), axis=0, return_inverse=True)[1].reshape(-1)
        yield (first.unit, number[: first.records]), (second.unit, number[first.records :])


def _days(column: TextColumn) -> Ints | None:
    """The day of each record; ``None`` where the texts are no dates."""
    try:
        days = np.array([text or "NaT" for text in column.texts], dtype="datetime64[D]")
    except ValueError:
        return None
    # NumPy takes plain numbers for years.
    if np.isnat(days).all() or not all(text is None or "-" in text for text in column.texts):
        return None
    found: Ints = days[column.codes].astype(np.int64)
    return found


def _between(unit: Ints, day: Ints) -> Things:
    """Days between successive dates of a unit."""
    order = np.lexsort((day, unit))
    # A missing date is the smallest integer.
    order = order[day[order] > np.iinfo(np.int64).min]
    same = np.diff(unit[order]) == 0
    return unit[order][1:][same], np.diff(day[order])[same]
