"""Row order: if the release kept the order of the register, places tell who is who."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from sfumato.intruder.candidates.candidates import Candidates
from sfumato.intruder.guesses import Identification
from sfumato.intruder.knowledge.knowledge import Knowledge
from sfumato.intruder.reading.released_file import ReleasedFile

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def by_place(
    file: ReleasedFile, candidates: Candidates, knowledge: Knowledge
) -> tuple[Identification, ...]:
    """Guess by place in every way that the release and the register allow.

    By the order in which persons appear, and, where the register has several rows of a person, by
    the order of its rows; each over the whole file and within classes. O(persons and rows that
    fit, summed over classes).

    Parameters
    ----------
    file
        The released file.
    candidates
        Who fits which class.
    knowledge
        What the intruder holds.
    """
    persons = np.arange(len(candidates.group), dtype=np.int64)
    ways = [same_place(file, candidates, persons), same_place_in_class(file, candidates, persons)]
    if len(knowledge.person) > len(persons):
        ways.append(same_place(file, candidates, knowledge.person))
        if file.person is None:
            ways.append(same_place_in_class(file, candidates, knowledge.person))
    return tuple(ways)


def same_place(file: ReleasedFile, candidates: Candidates, rows: Ints) -> Identification:
    """For each released unit the fitting person nearest to the same place in the register.

    Place u of n stands where row (u + 1/2) / n * R - 1/2 of R stands; in a sample that keeps the
    order the true place differs from it by about R / (2 √n). Where the rows are one per person, u
    counts units in order of appearance, else it is the unit's first record.

    Parameters
    ----------
    file
        The released file.
    candidates
        Who fits which class.
    rows
        Register person of each row, shape (rows,); one row each to go by their appearance.
    """
    if len(rows) == len(candidates.group):
        share = (np.arange(file.persons) + 0.5) / max(file.persons, 1)
    else:
        share = (np.unique(file.unit, return_index=True)[1] + 0.5) / max(file.records, 1)
    place = share * len(rows) - 0.5
    guess = np.full(file.persons, -1, dtype=np.int64)
    for units, fitting in _kinds(candidates, rows):
        above = np.searchsorted(fitting, place[units])
        low, high = np.maximum(above - 1, 0), np.minimum(above, len(fitting) - 1)
        nearer = np.abs(fitting[high] - place[units]) < np.abs(fitting[low] - place[units])
        guess[units] = rows[fitting[np.where(nearer, high, low)]]
    return _guesses(file, candidates, guess)


def same_place_in_class(file: ReleasedFile, candidates: Candidates, rows: Ints) -> Identification:
    """For the i-th released unit of a class the person of the proportionally i-th row that fits.

    What is left of the order in a release that was sorted by class, each class keeping the order
    of the register. No row is named twice for a class with at least as many rows as units.

    Parameters
    ----------
    file
        The released file.
    candidates
        Who fits which class.
    rows
        Register person of each row, shape (rows,); one row each to go by their appearance.
    """
    guess = np.full(file.persons, -1, dtype=np.int64)
    for units, fitting in _kinds(candidates, rows):
        rank = (2 * np.arange(len(units)) + 1) * len(fitting) // (2 * len(units))
        guess[units] = rows[fitting[rank]]
    return _guesses(file, candidates, guess)


def _kinds(candidates: Candidates, rows: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Units and rows that fit, both ascending, of each kind of units that somebody fits."""
    order = np.argsort(candidates.kind, kind="stable").astype(np.int64)
    group_of_row = candidates.group[rows]
    by_group = np.argsort(group_of_row, kind="stable").astype(np.int64)
    sizes = np.bincount(group_of_row, minlength=candidates.groups)
    after = np.cumsum(sizes)
    fits = candidates.fits_kind
    start = np.searchsorted(candidates.kind[order], np.arange(fits.shape[0] + 1))
    for kind in np.flatnonzero((np.diff(fits.indptr) > 0) & (np.diff(start) > 0)).tolist():
        groups = fits.indices[fits.indptr[kind] : fits.indptr[kind + 1]]
        width = sizes[groups]
        shift = after[groups] - np.cumsum(width)
        fitting = by_group[np.arange(width.sum()) + np.repeat(shift, width)]
        yield order[start[kind] : start[kind + 1]], np.sort(fitting)


def _guesses(file: ReleasedFile, candidates: Candidates, guess: Ints) -> Identification:
    chance = np.where(guess >= 0, 1 / np.maximum(candidates.of_unit(), 1), 0.0)
    return Identification(np.arange(file.persons, dtype=np.int64), guess, chance)
