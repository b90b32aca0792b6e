"""What is learned of a sensitive column by who cannot tell some people apart, beyond guessing.

Right guesses are counted, not sampled: of people who are not told apart everybody is guessed to
have the value that most of them have. Beyond guessing is (right - b) / (1 - b), b the largest share
that is right without the file: with the values dealt to people at random, by the commonest value,
and by a tree that knows exact quasi-identifiers alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import astuple, dataclass, replace

import numpy as np

from sfumato.core.arrays import Codes, Ints
from sfumato.core.measure import Measure
from sfumato.risk.known_events import wilson
from sfumato.risk.shown_file import Crowds, ShownFile, Values, distinct
from sfumato.table.table import MISSING

DEALS = 3
"""How often values are dealt at random; the mean counts. Of 1,500 people the mean of three differs
from the expected share by .01 at most, in 19 of 20 cases."""
FOLDS = 5
"""Parts of the people; the model foretells each from the others, as usual."""
PARTS = 12
"""Parts of about as many people into which a quasi-identifier with more values is cut."""
LEAF = 50
"""Values in a leaf of the model, at least: of Adult's salaries and occupations a tree with so many
foretells within .01 of what boosted trees do."""
FORETOLD = 20_000
"""People of whom the model learns: fewer foretell less, so that more counts as learned."""
SEED = 0x6C6561726E
"""One seed for every verdict."""


@dataclass(frozen=True, slots=True)
class Share:
    """A share of people; its ends differ from it where people were drawn."""

    value: float
    low: float
    high: float

    @classmethod
    def estimated(cls, measure: Measure) -> Share:
        """An estimate with its interval."""
        low, high = measure.low, measure.high
        value = measure.value
        return cls(value, value if low is None else low, value if high is None else high)

    @classmethod
    def of(cls, value: float, drawn: float | None = None) -> Share:
        """A share that was counted, or the mean of people who were drawn."""
        return cls(value, *(wilson(value, drawn) if drawn else (value, value)))


@dataclass(frozen=True, slots=True)
class Learned:
    """What is learned of a sensitive column.

    Attributes
    ----------
    beyond
        Right guesses beyond those that are made without the file.
    certain
        Share of people whose value is certain, and not the commonest one.
    without
        Share of people who are guessed rightly without the file.
    """

    column: str
    beyond: Share
    certain: Share
    without: float

    @property
    def worst(self) -> Share:
        """The larger of both."""
        return max(self.beyond, self.certain, key=lambda each: (each.high, each.value))

    @property
    def alone(self) -> Learned:
        """Nothing that is learned, beside the same guesses without the file."""
        return replace(self, beyond=Share.of(0.0), certain=Share.of(0.0))

    def beside(self, more: Learned) -> Learned:
        """The larger numbers of this, and of right guesses that are not held against any others."""
        beyond = max(0.0, (more.beyond.value - self.without) / max(1 - self.without, 1e-12))
        larger = max(self.beyond, Share.of(beyond), key=lambda each: each.high)
        certain = max(self.certain, more.certain, key=lambda each: each.high)
        return replace(self, beyond=larger, certain=certain)


def learned(
    crowds: Crowds,
    targets: Ints,
    home: Ints,
    listed: tuple[Ints, Ints],
    *,
    seen: Collection[str] = (),
    drawn: int | None = None,
) -> tuple[Learned, ...]:
    """What is learned of targets who are not told from some candidates, by sensitive column.

    Of a column of one of several tables, among people who have rows of it.

    Parameters
    ----------
    targets
        Units; each person's are one share of people together.
    home
        The list of each target; shape (targets,).
    drawn
        Number of people who were drawn; ``None`` where the targets are everybody's.
    """
    rng, found = np.random.default_rng(SEED), []
    for name in crowds.file.sensitive:
        if name in seen:
            continue
        has, values = crowds.values(name)
        number, asked, on_list = np.cumsum(has) - 1, has[targets], has[listed[1]]
        _, owner = np.unique(crowds.person[targets[asked]], return_inverse=True)
        weight = 1 / np.bincount(owner)[owner]
        people = int(owner.max(initial=-1)) + 1
        # What everybody foretells is not learned from the file.
        if not people or _without(crowds.file, name) >= 1:
            continue
        asked_of, at_home = number[targets[asked]], home[asked]
        place, among = listed[0][on_list], number[listed[1][on_list]]
        right, certain = values.right(asked_of, at_home, (place, among))
        deals = []
        for _ in range(DEALS):
            giver = rng.permutation(int(has.sum()))
            dealt, _ = values.right(giver[asked_of], at_home, (place, giver[among]))
            deals.append(float(weight @ dealt) / people)
        without = max(float(np.mean(deals)), _without(crowds.file, name))
        of = drawn and people
        share = Share.of(float(weight @ right) / people, of)
        # Among few even dealt values are guessed rightly: who is found for certain is counted so.
        left = max(1 - without, 1e-12)
        ends = (max(0.0, (each - without) / left) for each in astuple(share))
        sure = len(distinct(owner[certain])) / people
        found.append(Learned(name, Share(*ends), Share.of(sure, of), without))
    return tuple(found)


def _without(file: ShownFile, name: str) -> float:
    """Share of people whose value of a column is guessed rightly without the file."""
    if name not in file.foretold:
        codes = file.columns[name].codes
        rows = file.of_tables(codes != MISSING)
        columns = *(exact[rows] for exact in file.exact), file.person[rows], codes[rows]
        digest = hashlib.blake2b(usedforsecurity=False)
        for column in columns:
            digest.update(column.tobytes())
        key = len(columns), digest.digest()
        if key not in _foretold:
            _foretold[key] = foretold(columns[:-2], *columns[-2:])
        file.foretold[name] = _foretold[key]
    return file.foretold[name]


# The releases that a search tries are of one file: without it the same is guessed of each.
_foretold: dict[tuple[int, bytes], float] = {}


def foretold(exact: Sequence[Codes], person: Codes, codes: Codes) -> float:
    """Share of people whose value is guessed rightly without the file.

    The larger of what the commonest value and a tree of exact quasi-identifiers guess rightly;
    the tree foretells each fifth of the people from the others. Arrays have shape (records,)
    each.
    """
    _, first, owner = np.unique(person, return_index=True, return_inverse=True)
    people = len(first)
    values = Values.of(codes, owner, people)
    common = values.often.max(initial=0) / people
    # The same folds whenever the file is judged again.
    order = np.random.default_rng(SEED).permutation(people)[:FORETOLD]
    parts, begins = np.empty((people, len(exact)), dtype=np.int64), [0]
    for place, each in enumerate(exact):
        parts[:, place] = _parts(each[first]) + begins[-1]
        begins.append(int(parts[:, place].max(initial=0)) + 1)
    model = _Tree(np.repeat(np.arange(len(exact)), np.diff(begins)))
    guesses = np.full(people, MISSING, dtype=np.int64)
    for number in range(FOLDS if exact else 0):
        test, train = order[number::FOLDS], np.delete(order, np.s_[number::FOLDS])
        owner, value = values.of_units(train)
        guesses[test] = model.guessed(parts[train[owner]], value, parts[test])
    return max(float(common), float(values.has(order, guesses[order]).mean()) if people else 0.0)


@dataclass(frozen=True, eq=False)
class _Tree:
    """A tree that foretells a value; the parts of all its columns are numbered as one."""

    column: Ints

    def guessed(self, known: Ints, value: Ints, asked: Ints) -> Ints:
        """The value of some people by those of others, from parts of shape (people, columns).

        Each split is the one between two parts that leaves values least mixed (Gini); no side keeps
        fewer than `LEAF`.
        """
        guesses = np.full(len(asked), MISSING, dtype=np.int64)
        if not len(value) or not len(asked):
            return guesses
        # By counting, as sorting the values of each split would take most of the time.
        often = np.bincount(value)
        names = np.flatnonzero(often)
        guesses[:], often = often.argmax(), often[names]
        own = np.searchsorted(names, value)
        shape = len(self.column), len(names)
        keys = (known * len(names) + own[:, None]).ravel()
        counts = np.bincount(keys, minlength=shape[0] * shape[1]).reshape(shape)
        left = np.cumsum(counts, axis=0) - self.column[:, None] * often
        size = left.sum(axis=1)
        cuts = np.flatnonzero(np.minimum(size, len(value) - size) >= LEAF)
        if not len(cuts):
            return guesses
        left, size = left[cuts], size[cuts]
        pure = (left**2).sum(axis=1) / size
        pure += ((often - left) ** 2).sum(axis=1) / (len(value) - size)
        # Rounding alone is no reason to split.
        if pure.max() <= (often @ often) / len(value) * (1 + 1e-9):
            return guesses
        cut = cuts[pure.argmax()]
        place = self.column[cut]
        train, test = known[:, place] <= cut, asked[:, place] <= cut
        guesses[test] = self.guessed(known[train], value[train], asked[test])
        guesses[~test] = self.guessed(known[~train], value[~train], asked[~test])
        return guesses


def _parts(codes: Codes) -> Ints:
    """The values of a quasi-identifier, missing as the first, in parts where they are many."""
    values = codes.astype(np.int64) + 1
    if len(np.unique(values)) <= PARTS * 2:
        return values
    ends = np.unique(np.quantile(values, np.arange(1, PARTS) / PARTS))
    return np.searchsorted(ends, values, side="right")
