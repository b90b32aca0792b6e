"""Multi-record linkage: name the person who owns most records of a class (papers 000, 003)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.intruder.candidates.candidates import Candidates
from sfumato.intruder.knowledge.knowledge import Knowledge
from sfumato.intruder.reading.released_file import ReleasedFile

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ClassGuesses:
    """One person named for every record of a class.

    Attributes
    ----------
    person
        The register person, shape (classes,); -1 where nobody fits.
    chance
        The share of the class's records that the intruder believes to be this person's, shape
        (classes,).
    counted
        Whether the intruder knew how many records each person has.
    """

    person: Ints
    chance: Floats
    counted: bool


def any_person(
    file: ReleasedFile, candidates: Candidates, rng: np.random.Generator
) -> ClassGuesses:
    """For each class a person who fits it, by an intruder who knows nothing of numbers of records.

    All who fit are alike to him, and his chance for a record is 1 / F; what he wins where he is
    right is all of that person's records at once. O(fits log + persons log).

    Parameters
    ----------
    file
        The released file.
    candidates
        Who fits which class.
    rng
        Draws the person.
    """
    alike = np.ones(len(candidates.group), dtype=np.int64)
    person, _ = _most(file, candidates, alike, rng)
    chance = np.where(person >= 0, 1 / np.maximum(candidates.of_class, 1), 0.0)
    return ClassGuesses(person, chance, counted=False)


def most_records(
    file: ReleasedFile, candidates: Candidates, knowledge: Knowledge, rng: np.random.Generator
) -> ClassGuesses:
    """For each class the person with most records, by an intruder who knows the numbers.

    Nobody is named who has more records than the class. The share that the intruder expects is
    the person's number over the records of the class, or over those of all who fit where these
    have more. Persons with the same number are told apart by chance. In a release with
    pseudonyms, numbers tell more: see ``exact_free`` with ``counts``, whose anonymity set is
    class times number (paper 000). O(fits log + persons log).

    Parameters
    ----------
    file
        The released file.
    candidates
        Who fits which class.
    knowledge
        What the intruder holds, ``counts`` among it.
    rng
        Breaks ties.

    Raises
    ------
    InputError
        If the intruder does not know the numbers.
    """
    if knowledge.counts is None:
        raise InputError(
            "the intruder", "must know how many records each person has", found="no counts"
        )
    counts = np.maximum(knowledge.counts, 0)
    person, highest = _most(file, candidates, counts, rng)
    of_group = np.bincount(candidates.group, weights=counts, minlength=candidates.groups)
    fitting = candidates.fits.astype(np.float64) @ of_group
    records = np.bincount(file.class_of, minlength=file.classes)
    chance = highest / np.maximum(np.maximum(records, fitting), 1)
    return ClassGuesses(person, np.where(person >= 0, chance, 0.0), counted=True)


def _most(
    file: ReleasedFile, candidates: Candidates, counts: Ints, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Of each class the person with the largest count that the class can hold, and that count.

    Persons are sorted by group and count, so that a binary search finds those of a group with
    the largest count of at most the class's records; of tied persons one is drawn.
    """
    fits = candidates.fits
    records = np.bincount(file.class_of, minlength=file.classes)
    class_of = np.repeat(np.arange(file.classes), np.diff(fits.indptr))
    group = fits.indices.astype(np.int64)
    width = int(max(counts.max(initial=0), records.max(initial=0))) + 1
    own = candidates.group * width + counts
    order = np.argsort(own, kind="stable").astype(np.int64)
    keys = own[order]
    last = np.searchsorted(keys, group * width + records[class_of], side="right") - 1
    found = keys[np.maximum(last, 0)] if len(keys) else np.zeros(len(last), dtype=np.int64)
    count = np.where((last >= 0) & (found // width == group), found % width, 0)
    highest = np.zeros(file.classes, dtype=np.int64)
    np.maximum.at(highest, class_of, count)
    tied = (count > 0) & (count == highest[class_of])
    first = np.searchsorted(keys, found[tied], side="left")
    below = np.concatenate([[0], np.cumsum(last[tied] + 1 - first)]).astype(np.int64)
    start = np.searchsorted(class_of[tied], np.arange(file.classes + 1))
    some = np.flatnonzero(np.diff(start))
    ticket = rng.integers(below[start[some]], below[start[some + 1]])
    place = np.searchsorted(below, ticket, side="right") - 1
    person = np.full(file.classes, -1, dtype=np.int64)
    person[some] = order[first[place] + ticket - below[place]]
    return person, highest
