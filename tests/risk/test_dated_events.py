"""Whom two dated rows fit, against a count written straight down."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from few_cases import fast_first

from sfumato.risk import intruders
from sfumato.risk.dated_events import DatedRows, KnownPairs, single_chances
from sfumato.risk.shown_file import Dated, FurtherColumn, ShownFile, When

NOTHING = -1
PEOPLE, ROWS = 14, 60


def drawn(seed: int) -> tuple[DatedRows, ShownFile]:
    """Rows of some people, some under parents and some dated, as rows and as a file.

    Before the rows of each table stands one of each person.
    """
    rng = np.random.default_rng(seed)
    person = np.sort(rng.integers(0, PEOPLE, ROWS))
    crowd_of = rng.integers(0, 2, PEOPLE)
    parent = np.where(rng.random(ROWS) < 0.7, person * 3 + rng.integers(0, 3, ROWS), NOTHING)
    within = np.where(rng.random(ROWS) < 0.5, parent, NOTHING)
    code = rng.integers(0, 3, ROWS)
    dated, shows = (code + crowd_of[person]) % 3 > 0, rng.integers(0, 2, ROWS)
    day = rng.integers(100, 106, ROWS)
    before, after = rng.integers(0, 5, (2, PEOPLE))
    label = ((crowd_of[person] * 3 + code) * 2 + dated) * 2 + shows
    rows = DatedRows(person, label, day, dated, before, after, (parent, within))

    def column(values: np.ndarray, others: int = NOTHING) -> np.ndarray:
        return np.concatenate([np.full(PEOPLE, others), values]).astype(np.int32)

    shown = When(column(day, 0), column(dated, 0) > 0, column(shows, 0), before, after)
    everybody = np.concatenate([np.arange(PEOPLE), person]).astype(np.int32)
    file = ShownFile(
        everybody,
        crowd_of[everybody].astype(np.int32),
        {"code": FurtherColumn(column(code)), "day": FurtherColumn(column(day), Dated.MOVED)},
        ("code",),
        part_of=column(np.ones(ROWS), 0),
        parents=(column(parent), column(within)),
        when=shown,
    )
    return rows, file


def fits(rows: DatedRows, known: tuple[int, ...], chosen: tuple[int, ...]) -> bool:
    """Whether rows of one person may be those that are known."""
    moved = set()
    for one, other in zip(known, chosen, strict=True):
        if rows.label[one] != rows.label[other]:
            return False
        if rows.dated[one]:
            moved.add(int(rows.day[one] - rows.day[other]))
    unit = rows.unit[chosen[0]]
    return len(moved) < 2 and all(-rows.before[unit] <= each <= rows.after[unit] for each in moved)


def candidates(rows: DatedRows, known: tuple[int, ...], parent: np.ndarray | None = None) -> set:
    """The people of whom rows fit, under one parent where that is given."""
    found = set()
    for unit in np.unique(rows.unit):
        own = np.flatnonzero(rows.unit == unit).tolist()
        for chosen in permutations(own, len(known)):
            tied = parent is None or parent[chosen[0]] == parent[chosen[-1]] >= 0
            if tied and fits(rows, known, chosen):
                found.add(int(unit))
    return found


def fewest(rows: DatedRows, one: int, other: int) -> set:
    """The same, as ties tell most."""
    ways = [None, *(p for p in rows.parents if p[one] == p[other] >= 0)]
    return min((candidates(rows, (one, other), way) for way in ways), key=len)


@pytest.mark.parametrize("seed", fast_first(2, range(10)))
def test_as_many_fit_as_are_counted(seed):
    rows, _ = drawn(seed)
    one, other = rows.pairs
    chances = KnownPairs(rows).chances
    truth = [
        1 / len(fewest(rows, *pair)) for pair in zip(one.tolist(), other.tolist(), strict=True)
    ]
    assert chances == pytest.approx(truth)
    assert single_chances(rows) == pytest.approx(
        [1 / len(candidates(rows, (row,))) for row in range(ROWS)]
    )
    assert len({*chances}) > 2


def test_some_pairs_are_counted_as_among_all():
    rows, _ = drawn(3)
    some = np.flatnonzero((rows.label[rows.pairs[0]] < 4) | (rows.label[rows.pairs[1]] < 4))
    assert 0 < len(some) < len(rows.pairs[0])
    assert KnownPairs(rows, some).chances == pytest.approx(KnownPairs(rows).chances[some])


@pytest.mark.parametrize("seed", fast_first(2, range(10)))
def test_the_verdict_lists_those_who_are_counted(seed):
    rows, file = drawn(seed)
    asked = np.arange(len(file.by_band.crowd))
    shows = intruders._shown(file, ["code", "day"], file.by_band.crowd[asked])
    known = shows.known(asked, np.random.default_rng(1))
    at, unit, weight = shows.fitting(known)
    assert (weight == 1).all()
    crowd = file.by_band.crowd
    # Units are people here, and the rows those that are looked at, in their order.
    rows = replace(rows, label=rows.label + 100 * crowd[rows.unit])
    for place, (whose, one, other) in enumerate(
        zip(known.unit.tolist(), known.first.tolist(), known.second.tolist(), strict=True)
    ):
        found = unit[at == place].tolist()
        assert whose in found
        if one < 0:
            assert sorted(found) == np.flatnonzero(crowd == crowd[whose]).tolist()
        elif one == other:
            assert sorted(found) == sorted(candidates(rows, (one,)))
        else:
            assert len(found) == len({*found}) == len(fewest(rows, one, other))
