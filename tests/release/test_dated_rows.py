"""What two dated events tell, against a count written straight down."""

from __future__ import annotations

import numpy as np
import pytest
from few_cases import fast_first

from sfumato.release.dated_rows import Marks, Rows, Written
from sfumato.release.event_dates import PERIODS

NOTHING = -1


def drawn(seed: int) -> Written:
    """Some people of two classes with stays, and rows under them that may have no date."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, 2, 14)
    person = np.sort(rng.integers(0, 14, 60))
    rows = len(person)
    stay = np.full(rows, NOTHING)
    for one in range(rows):
        above = np.flatnonzero((person[:one] == person[one]) & (stay[:one] == np.arange(one)))
        stay[one] = one if rng.random() < 0.4 or not len(above) else rng.choice(above)
    is_stay = stay == np.arange(rows)
    own = is_stay | (rng.random(rows) < 0.4)
    day = np.where(own, rng.integers(100, 130, rows), 0)
    first = np.where(own, np.arange(rows), stay)
    second = np.where(own & ~is_stay, stay, NOTHING)
    code = np.where(is_stay, 9, rng.integers(0, 3, rows))
    of = classes[person] * 20 + code
    days = np.where(first >= 0, day[first], 0)
    event = np.unique(np.stack([person, code, days]), axis=1, return_inverse=True)[1].ravel()
    period = rng.choice([0, *PERIODS], 40, p=[0.3, 0.3, 0.2, 0.1, 0.05, 0.05])
    parents = (np.where(rng.random(rows) < 0.9, stay, NOTHING),)
    return Written(
        Rows(np.arange(rows), person, classes[person], day, (first, second), event, parents,
             classes),
        Marks(100, 129, rng.integers(-40, 41, 14), 40),
        of,
        np.where(own, period[of], 0),
    )  # fmt: skip


class Reader:
    """Knows codes and days of two events, reads what is written, and counts who fits."""

    def __init__(self, written: Written) -> None:
        self.w, rows = written, written.rows
        self.of = {p: np.flatnonzero(rows.person == p).tolist() for p in range(len(rows.classes))}

    def date(self, row: int) -> tuple[int, int, int] | None:
        """The period, the first day that is written, and the true one taken off by the offset."""
        for above in self.w.rows.sources:
            at = int(above[row])
            if at >= 0 and self.w.fineness[at]:
                period = int(self.w.fineness[at])
                offset = int(self.w.marks.offset[self.w.rows.person[row]])
                moved = int(self.w.rows.day[at]) + offset - self.w.marks.first
                shown = self.w.marks.first + moved // period * period
                return period, shown, shown - offset
        return None

    def offsets(self, person: int) -> tuple[int, int]:
        """Between which days the offset of a person is."""
        marks, low, high = self.w.marks, -self.w.marks.most, self.w.marks.most
        for row in self.of[person]:
            if self.w.fineness[row]:
                period, shown, _ = self.date(row)
                low = max(low, shown - marks.last)
                high = min(high, shown + period - 1 - marks.first)
        return low, high

    def fit(self, known: tuple[int, ...], chosen: tuple[int, ...]) -> bool:
        """Whether rows of one person may be those that are known."""
        needed = set()
        for one, other in zip(known, chosen, strict=True):
            here, there = self.date(one), self.date(other)
            if self.w.label[one] != self.w.label[other] or (here and here[0]) != (
                there and there[0]
            ):
                return False
            if here and there:
                needed.add(there[1] - here[2])
        low, high = self.offsets(int(self.w.rows.person[chosen[0]]))
        return len(needed) < 2 and all(low <= each <= high for each in needed)

    def chance(self, known: tuple[int, ...], *, of_one_stay: bool = False) -> float:
        """1 / the people of the class of whom rows fit."""
        parent = self.w.rows.parents[0]
        found = 0
        for own in self.of.values():
            every = [(a,) for a in own] if len(known) == 1 else [
                (a, b) for a in own for b in own if a != b
            ]  # fmt: skip
            found += any(
                self.fit(known, each)
                and (not of_one_stay or parent[each[0]] == parent[each[-1]] >= 0)
                for each in every
            )
        return 1 / found

    def mean(self, person: int, m: int) -> float:
        """The mean over sets of a person's different events."""
        rows, parent = self.w.rows, self.w.rows.parents[0]
        own = self.of[person]
        if not own:
            return 1 / int((rows.classes == rows.classes[person]).sum())
        if m == 2 and len({*rows.event[own].tolist()}) > 1:
            best: dict[frozenset[int], float] = {}
            for a in own:
                for b in own:
                    pair = frozenset((int(rows.event[a]), int(rows.event[b])))
                    if a < b and len(pair) == 2:
                        tied = parent[a] == parent[b] >= 0
                        stays = {False, bool(tied)}
                        chance = max(self.chance((a, b), of_one_stay=each) for each in stays)
                        best[pair] = max(best.get(pair, 0), chance)
        else:
            best = {}
            for a in own:
                one = frozenset((int(rows.event[a]),))
                best[one] = max(best.get(one, 0), self.chance((a,)))
        return sum(best.values()) / len(best)


@pytest.mark.parametrize("seed", fast_first(2, range(12)))
def test_a_reader_finds_as_many_as_are_counted(seed):
    written = drawn(seed)
    reader = Reader(written)
    for m in (1, 2):
        told = written.told(m)
        mean = np.bincount(told.person, told.found * told.weight, minlength=14)
        assert mean == pytest.approx([reader.mean(person, m) for person in range(14)])
