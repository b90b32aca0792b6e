"""The reader of linked data who does to everybody in his own file what was done to the linked.

Linkage k-anonymity raises each linked record as little as k matching people of the reader's file
allow. A reader who knows the hierarchies can do the same for all of them, and leave out of those
who match whoever would have been shown in more detail.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np

from sfumato.core.arrays import Ints
from sfumato.intruder.candidates import Identification, ValuesOf
from sfumato.intruder.knowledge import Knowledge, KnownColumn
from sfumato.intruder.reading import EQUAL, ReleasedFile, combined, prefixes_of, rows_of_hierarchy
from sfumato.schema import IntervalHierarchy, PrefixHierarchy, QuasiIdentifier

MOST_VECTORS, WORK = 20_000, 1 << 28
"""Combinations of levels, and those times tuples, above which nothing is tried."""
LARGEST_K = 30
"""Largest k that is tried, beside the fewest people who match a record."""
EXPLAINED = 0.9
"""Share of the classes that the method must explain to have been the one."""


def ladder(
    known: KnownColumn, quasi: QuasiIdentifier, published: str | Path | None
) -> list[list[str | None]] | None:
    """What each known value is shown as, level by level, the value itself first and ``*`` last.

    A missing value is missing at every level but the last. ``None`` where a value has no place in
    the hierarchy.
    """
    spec = published or quasi.hierarchy
    texts = known.texts
    levels: list[list[str | None]] = [list(texts)]
    if isinstance(spec, str | Path):
        rows = {row[0]: row[1:] for row in rows_of_hierarchy(Path(spec), known.name)}
        if any(text is not None and text not in rows for text in texts):
            return None
        height = len(next(iter(rows.values())))
        levels += [[None if t is None else rows[t][at] for t in texts] for at in range(height)]
    elif isinstance(spec, PrefixHierarchy):
        above = [[] if text is None else prefixes_of(text, spec) for text in texts]
        height = max(map(len, above), default=0)
        # Short codes stay at their last prefix while longer ones go on.
        levels += [[each[min(at, len(each) - 1)] if each else None for each in above]
                   for at in range(height)]  # fmt: skip
    elif isinstance(spec, IntervalHierarchy):
        for width in spec.widths:
            whole = zip(texts, known.numbers.tolist(), strict=True)
            levels.append([_interval(text, number, width, spec.start) for text, number in whole])
    # The method can always suppress: there is a root even if the hierarchy ends below one.
    if len(set(levels[-1]) - {None}) > 1 or None in levels[-1]:
        levels.append(["*"] * len(texts))
    return levels


def _interval(text: str | None, number: float, width: float | str, start: float) -> str | None:
    """A name for the interval that a number, or a date, lies in."""
    if text is None or np.isnan(number):
        return None
    if not isinstance(width, str):
        # A number on an end must not fall below it by rounding.
        return f"{np.floor((number - start) / width + EQUAL):.0f}"
    day = date.fromordinal(int(np.floor(number)) + date(1970, 1, 1).toordinal())
    part = {"month": day.month, "quarter": (day.month + 2) // 3}.get(width, 0)
    return f"{day.year // 10 if width == 'decade' else day.year}/{part}"


@dataclass(frozen=True, eq=False)
class Informed:
    """What came of doing the same to everybody.

    Attributes
    ----------
    guesses
        Whom the reader takes each released person for; nobody where the method explains too few.
    k
        The k that explains most classes.
    explained
        The share of the classes that it explains.
    """

    guesses: Identification
    k: int
    explained: float


def by_method(
    file: ReleasedFile,
    knowledge: Knowledge,
    ladders: Sequence[list[list[str | None]]],
    weights: Sequence[float],
    fewest: int,
    rng: np.random.Generator,
) -> Informed | None:
    """Name for each released person somebody who would have been shown as that person is.

    Of all levels at which at least k people match a person the least loss is taken, the weighted
    mean of (values below a label - 1) / (values - 1); of equal ones the lowest of the first
    column. k is not told: the one is taken that explains most. O(levels x distinct tuples);
    ``None`` where there are too many combinations of levels.

    Parameters
    ----------
    weights
        The weight of each in loss.
    fewest
        The fewest people who match a class: k is no larger.
    """
    shown = {column.name: column for column in file.quasi_identifiers}
    columns = [column for column in knowledge.quasi_identifiers if column.name in shown]
    tuple_of, rows = combined([column.codes for column in columns], len(knowledge.person))
    pairs = np.unique(np.column_stack([tuple_of, knowledge.person]), axis=0)
    shape = tuple(map(len, ladders))
    # As a float: the product of many levels would overflow an integer.
    if np.prod(shape, dtype=np.float64) > min(MOST_VECTORS, WORK / len(rows)):
        return None
    parts = [_Blocks(*each, rows) for each in zip(columns, ladders, strict=True)]
    classes = [
        part.of_cells(shown[part.name].cells)[shown[part.name].codes[file.first_row]]
        for part in parts
    ]
    share = np.asarray(weights) / np.sum(weights)
    tried = sorted({*range(2, min(fewest, LARGEST_K) + 1), max(fewest, 1)})
    cost = np.full((len(tried), len(rows)), np.inf)
    best = np.zeros((len(tried), len(rows)), dtype=np.int64)
    for rank, vector in enumerate(np.ndindex(*shape)):
        at = [part.block[level] for part, level in zip(parts, vector, strict=True)]
        key = combined(at, len(rows))[0]
        people = np.unique(np.column_stack([key[pairs[:, 0]], pairs[:, 1]]), axis=0)
        matching = np.bincount(people[:, 0])[key]
        lost = sum(
            w * part.loss[level] for w, part, level in zip(share, parts, vector, strict=True)
        )
        for place, k in enumerate(tried):
            # By more than rounding: of equal losses the first stays, which is lowest in the first
            # column.
            better = (matching >= k) & (lost < cost[place] - EQUAL)
            cost[place][better], best[place][better] = lost[better], rank
    found = [_alike(parts, each, shape, classes, pairs) for each in best]
    explained = [float(np.mean([len(each) > 0 for each in alike])) for alike in found]
    top = max(range(len(tried)), key=lambda place: (explained[place], tried[place]))
    guesses = _guessed(file, found[top] if explained[top] >= EXPLAINED else (), rng)
    return Informed(guesses, tried[top], explained[top])


class _Blocks:
    """What each tuple shows of one column at each level, numbered by the values that it means."""

    def __init__(self, known: KnownColumn, levels: list[list[str | None]], rows: Ints) -> None:
        self.name, self._values = known.name, ValuesOf(known)
        self._told = np.array([text is not None for text in known.texts], dtype=np.bool_)
        self._numbers: dict[bytes, int] = {b"": 0}
        codes, leaves = known.codes[rows], max(int(self._told.sum()) - 1, 1)
        block, loss = [], []
        for place, labels in enumerate(levels):
            below: dict[str, list[int]] = {}
            for value, label in enumerate(labels):
                if label is not None and self._told[value]:
                    below.setdefault(label, []).append(value)
            number = {label: self._number(np.array(own)) for label, own in below.items()}
            of_value = [0 if label is None else number.get(label, 0) for label in labels]
            lost = [(len(below.get(label or "", [0])) - 1) / leaves for label in labels]
            # At the root everything is lost, of missing values, too.
            if place == len(levels) - 1:
                of_value = [number.get(label or "", 0) for label in labels]
                lost = [1.0 if self._told.sum() > 1 else 0.0 for _ in labels]
            block.append(np.array(of_value, dtype=np.int64)[codes])
            loss.append(np.array(lost)[codes])
        self.block, self.loss = block, loss

    def _number(self, values: Ints) -> int:
        return self._numbers.setdefault(values.astype(np.int64).tobytes(), len(self._numbers))

    def of_cells(self, cells: Sequence[object]) -> Ints:
        """The number of what each released cell means, -1 where no level shows it."""
        found = []
        for cell in cells:
            means = np.flatnonzero(self._values.allowed(cell) & self._told)  # type: ignore[arg-type]
            found.append(self._numbers.get(means.astype(np.int64).tobytes(), -1))
        return np.array(found, dtype=np.int64)


def _alike(
    parts: Sequence[_Blocks],
    best: Ints,
    shape: tuple[int, ...],
    classes: Sequence[Ints],
    pairs: Ints,
) -> tuple[Ints, ...]:
    """By class, the people of whom a tuple would have been shown like it."""
    levels = np.unravel_index(best, shape)
    rows = np.arange(len(best))
    own = [np.stack(part.block)[level, rows] for part, level in zip(parts, levels, strict=True)]
    # -1 is a cell that no level shows; codes begin at 0.
    both = [np.concatenate([a, b]) + 1 for a, b in zip(own, classes, strict=True)]
    number = combined(both, len(both[0]))[0]
    of_tuple, of_class = number[: len(best)], number[len(best) :]
    keys = of_tuple[pairs[:, 0]]
    order = np.argsort(keys, kind="stable")
    ends = np.searchsorted(keys[order], [of_class, of_class + 1])
    return tuple(np.unique(pairs[order[a:b], 1]) for a, b in ends.T.tolist())


def _guessed(file: ReleasedFile, alike: Sequence[Ints], rng: np.random.Generator) -> Identification:
    """For each released person one of the people who would have been shown like it."""
    first = np.unique(file.unit, return_index=True)[1]
    person = np.full(len(first), -1, dtype=np.int64)
    chance = np.zeros(len(first))
    for unit, number in enumerate(file.class_of[first].tolist() if alike else ()):
        people = alike[number]
        if len(people):
            person[unit], chance[unit] = rng.choice(people), 1 / len(people)
    return Identification(np.arange(len(first)), person, chance)


def ladders_of(
    file: ReleasedFile,
    knowledge: Knowledge,
    quasis: Mapping[str, QuasiIdentifier],
    published: Mapping[str, str | Path],
) -> list[list[list[str | None]]] | None:
    """The ladder of each known quasi-identifier that the file shows.

    ``None`` where one has none.
    """
    shown = {column.name for column in file.quasi_identifiers}
    found = []
    for column in knowledge.quasi_identifiers:
        if column.name in shown:
            one = ladder(column, quasis[column.name], published.get(column.name))
            if one is None:
                return None
            found.append(one)
    return found or None
