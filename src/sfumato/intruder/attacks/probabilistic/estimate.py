"""How often values agree between released persons and themselves, by expectation maximisation."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sfumato.intruder.attacks.probabilistic.levels import Near
from sfumato.intruder.attacks.probabilistic.shared import Shared

Floats = npt.NDArray[np.float64]
Levels = npt.NDArray[np.int8]

BELIEF = 10.0
"""Released persons that the first guess of m counts for, beside those that were seen."""
_STEPS = 60
_CLOSE = 2e-4
_ROUNDS = 3
"""Rounds of scaling between two steps; the next step goes on from there."""


@dataclass(frozen=True, eq=False)
class Compared:
    """Compared pairs of a released class and a distinct register row.

    Attributes
    ----------
    shared
        The pairs, with the persons that they stand for.
    levels
        Level in each column, -1 where one is unknown; shape (pairs, columns).
    by_chance
        -log2 of the u of these levels in the cells of the class, added up; shape (pairs,).
    """

    shared: Shared
    levels: Levels = field(repr=False)
    by_chance: Floats = field(repr=False)


def estimate_m(compared: Compared, first: Floats) -> Floats:
    """Estimate m of each column and level by expectation maximisation, shape (columns, 3).

    Splink's own takes each pair for a match or none by itself. In a release whose every class is
    fitted by several, it and any estimate that looks at one released person at a time find no
    errors: somebody always fits. That a register person can be one released person only shows
    them, as a class of five that four persons fit. So the expectations are those of `Shared`.
    The first guess counts for `BELIEF` released persons. A step takes O(pairs).

    Parameters
    ----------
    compared
        The pairs, all likely ones of each class.
    first
        The first guess, shape (columns, 3).
    """
    m = first.copy()
    shared = compared.shared
    if not len(shared.of_units):
        return m
    patterns, pattern = _patterns(compared.levels)
    known = patterns >= 0
    levels = np.where(known, patterns, 0)
    columns = np.arange(len(m))
    count = shared.units[shared.of_units] * shared.persons[shared.of_persons]
    for _ in range(_STEPS):
        of_pattern = np.where(known, np.log2(m[columns, levels]), 0.0).sum(axis=1)
        chance = shared.chances(compared.by_chance + of_pattern[pattern], steps=_ROUNDS)
        seen: Floats = np.asarray(
            np.bincount(pattern, weights=chance * count, minlength=len(patterns)), np.float64
        )
        before, m = m, _maximised(seen, patterns, first)
        if np.abs(m - before).max() < _CLOSE:
            break
    return m


def _patterns(levels: Levels) -> tuple[Levels, npt.NDArray[np.int64]]:
    """The distinct combinations of levels, and that of each pair."""
    radix = len(Near) + 1
    key = np.zeros(len(levels), dtype=np.int64)
    for column in levels.T:
        key = key * radix + column + 1
    _, first, pattern = np.unique(key, return_index=True, return_inverse=True)
    return levels[first], pattern.reshape(-1)


def _maximised(seen: Floats, patterns: Levels, first: Floats) -> Floats:
    m = np.empty_like(first)
    for column in range(len(first)):
        here = patterns[:, column] >= 0
        counts = np.bincount(patterns[here, column], weights=seen[here], minlength=len(Near))
        m[column] = (counts + BELIEF * first[column]) / (counts.sum() + BELIEF)
    return m
