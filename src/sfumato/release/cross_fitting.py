"""Cells for each half of a sample that were chosen by the other half.

Whoever chooses cells by the persons who lie in them finds each cell fuller than the population
makes it: λ = (1/n) Σ f_j/F_j is then above every estimate that takes the cells as given. Here the
tree of one half A divides the other half B. Given A, B is a simple random sample of the N - |A|
other persons of the population, so that the expected number of B's correct matches is

    |B| / (N - |A|) · Σ_c (F_c - a_c)/F_c  ≤  |B| · C / (N - |A|)

with C the number of cells, whatever the population looks like: each cell costs one. As no match is
worth more than 1, the sum is at most as spread as a binomial one (Hoeffding 1963).
Cells that are united later spend less: (f + f')/(F + F') ≤ f/F + f'/F'.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.stats import beta, binom

from sfumato.release.generalisation import ExtraValues
from sfumato.release.person_table import IndicatorAxis, OrderedAxis, PersonTable, take_persons
from sfumato.release.tree import Partition
from sfumato.table.table import MISSING

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
DOUBT = 0.02
"""How often the matches of a half may be more than allowed, by chance."""
SMALLEST = 4
"""Persons of a file that has halves."""
OPEN = 0.05
"""A column is open where persons with categories that a half lacks are this share of τ."""


@dataclass(frozen=True)
class Half:
    """What one half chooses for the other.

    Attributes
    ----------
    cells
        The most cells.
    open_columns
        Quasi-identifiers with so many rare categories that those that the half lacks count: of
        them a cell shows single known categories, or anything.
    lacking
        Persons with a value, in another column, that the half lacks.
    """

    cells: float
    open_columns: frozenset[int]
    lacking: int = 0


def can_be_crossed(persons: PersonTable) -> bool:
    """Whether there are halves, and each person has one value of every quasi-identifier."""
    if persons.persons < SMALLEST:
        return False
    for axis in persons.ordered:
        known = axis.position != axis.missing_position
        if (axis.lowest != axis.highest)[known].any():
            return False
    return all((np.diff(axis.indicators.offsets) <= 1).all() for axis in persons.indicators)


def cross_fitted(
    persons: PersonTable,
    tau: float,
    population: int,
    grow: Callable[[PersonTable, float], Partition],
    rng: np.random.Generator,
) -> Partition:
    """Classes of all persons, in cells that the other half of them chose.

    Parameters
    ----------
    persons
        The file's persons, with whole cells, each with one value of every quasi-identifier.
    tau
        The largest marketer risk.
    population
        N.
    grow
        Divides persons into at most so many cells.
    rng
        Draws the halves.
    """
    order = rng.permutation(persons.persons).astype(np.int32)
    halves = np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])
    class_of = np.empty(persons.persons, dtype=np.int32)
    cells: ExtraValues | None = None
    classes, depth, expected, most = 0, 0, 0.0, 0.0
    for mine, theirs in (halves, halves[::-1]):
        choosing, divided = (take_persons([persons], each) for each in (mine, theirs))
        half = _allowed(choosing, divided, tau, population)
        tree = grow(choosing, half.cells)
        of = _dropped(tree, choosing, divided)
        occupied, number = np.unique(of, return_inverse=True)
        class_of[theirs] = number + classes
        new = np.full(tree.classes, -1, dtype=np.int32)
        new[occupied] = np.arange(len(occupied)) + classes
        assert tree.cells is not None
        shown = _opened(tree.cells, tree.classes, half, choosing).renumbered(new)
        cells = shown if cells is None else cells.joined(shown)
        classes, depth = classes + len(occupied), max(depth, tree.depth)
        share = min(tree.classes / (population - choosing.persons), 1.0)
        expected += len(theirs) * share + half.lacking
        most += float(binom.ppf(1 - DOUBT, len(theirs), share)) + half.lacking
    n = persons.persons
    return Partition(class_of, classes, depth, cells=cells, matched=(expected / n, most / n))


def _allowed(choosing: PersonTable, divided: PersonTable, tau: float, population: int) -> Half:
    """The most cells by which ``divided`` keeps τ."""
    n, others = divided.persons, population - choosing.persons
    beyond, opened = np.zeros(n, dtype=bool), set()
    for axis in choosing.indicators:
        other = next(each for each in divided.indicators if each.column == axis.column)
        known = np.bincount(axis.member + 1, minlength=axis.indicators.size + 1) > 0
        unseen = ~known[other.member + 1]
        if unseen.mean() > OPEN * tau:
            opened.add(axis.column)
        else:
            beyond |= unseen
    for own, away in zip(choosing.ordered, divided.ordered, strict=True):
        inside = own.position[own.position != own.missing_position]
        low, high = (inside.min(), inside.max()) if len(inside) else (0, -1)
        there = away.position != away.missing_position
        beyond |= there & ((away.position < low) | (away.position > high))
    lacking = int(beyond.sum())
    # Whoever has a value that the other half lacks may be found for certain.
    matches = int(np.floor(tau * n)) - lacking
    share = 1.0
    if matches < n:
        share = float(beta.ppf(DOUBT, matches + 1, n - matches)) if matches >= 0 else 0.0
    if share * others < 1:
        return Half(1.0, frozenset(axis.column for axis in choosing.indicators))
    return Half(share * others, frozenset(opened), lacking)


def _dropped(tree: Partition, choosing: PersonTable, divided: PersonTable) -> Ints:
    """The cell of each of the other half's persons."""
    assert tree.cuts is not None
    node = np.zeros(divided.persons, dtype=np.int64)
    found = np.full(divided.persons, -1, dtype=np.int64)
    axes: tuple[OrderedAxis | IndicatorAxis, ...] = (*choosing.ordered, *choosing.indicators)
    away: tuple[OrderedAxis | IndicatorAxis, ...] = (*divided.ordered, *divided.indicators)
    for level, (leaves, number) in enumerate(zip(tree.cuts.leaves, tree.cuts.numbers, strict=True)):
        class_at = np.full(tree.cuts.nodes[level], -1, dtype=np.int64)
        class_at[leaves] = number
        open_ = np.flatnonzero(found < 0)
        found[open_] = class_at[node[open_]]
        open_ = open_[found[open_] < 0]
        if not len(open_):
            break
        places = tree.cuts.places[level]
        cut = np.full(tree.cuts.nodes[level], -1, dtype=np.int64)
        cut[tree.cuts.parents[level + 1][::2]] = np.arange(len(places.axis))
        own = cut[node[open_]]
        right = np.zeros(len(open_), dtype=bool)
        for index in np.unique(places.axis[own]).tolist():
            here = np.flatnonzero(places.axis[own] == index)
            axis, other, some = axes[index], away[index], own[here]
            if isinstance(axis, OrderedAxis) and isinstance(other, OrderedAxis):
                end = places.ends(axis)[some]
                right[here] = other.position[open_[here]] > end
            elif isinstance(other, IndicatorAxis):
                right[here] = other.member[open_[here]] == places.column[some]
        node[open_] = 2 * own + right
    return found


def _opened(cells: ExtraValues, classes: int, half: Half, choosing: PersonTable) -> ExtraValues:
    """The cells, with anything in open columns where they hold more than one known category."""
    codes, class_of = list(cells.codes), list(cells.class_of)
    for axis in choosing.indicators:
        column = axis.column
        if column not in half.open_columns or not axis.categories:
            continue
        pairs = np.bincount(class_of[column], minlength=classes)
        several = np.flatnonzero(pairs != 1).astype(np.int32)
        seen = np.zeros(axis.categories, dtype=bool)
        single = axis.indicators.size == 1 and axis.categories == 2
        members = axis.member[(axis.member >= 0) & (axis.member < axis.categories)] + single
        seen[members] = True
        alone = pairs[class_of[column]] == 1
        unknown = class_of[column][alone & ~seen[codes[column]]]
        several = np.union1d(several, unknown).astype(np.int32)
        codes[column] = np.append(codes[column], np.full(len(several), MISSING, dtype=np.int32))
        class_of[column] = np.append(class_of[column], several)
    return replace(cells, codes=tuple(codes), class_of=tuple(class_of))
