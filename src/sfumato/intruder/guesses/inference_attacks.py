"""What a record's person has: by the shares of values, with one record or with several."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sfumato.core.arrays import Floats, Ints
from sfumato.core.errors import InputError
from sfumato.intruder.candidates import Candidates, Inference, distinct_sets
from sfumato.intruder.knowledge import Knowledge
from sfumato.intruder.reading import ReleasedFile, TextColumn


def most_shared_value(file: ReleasedFile, candidates: Candidates, column: TextColumn) -> Inference:
    """For each register person the value that most released persons of the fitting classes have.

    A released person counts once per class and distinct value, as h-affiliation counts (paper
    003, Definition 3); missing values count for nobody. The chance is the share of the persons
    of those classes who have the value, each class weighed by the share of those who fit it that
    it holds. Of values that as many have, the one that more persons
    of the whole file have is taken. Persons whom the same classes fit are answered together:
    O(fits + distinct sets of fitting classes times their distinct values).

    Parameters
    ----------
    column
        The sensitive column, one of ``file.sensitive``.
    """
    having, present = _tallies(file, column)
    whole = np.asarray(having.sum(axis=0)).ravel()
    sets, set_of = _distinct_sets(candidates)
    # A class of few among the many who fit it, such as one of suppressed records, says little.
    weight = present / np.maximum(candidates.of_class, np.maximum(present, 1))
    shared = (sets @ having.multiply(weight[:, None])).tocsr()
    everybody = sets @ (weight * present)
    value, count = _most(shared, whole)
    with_value = np.where(count > 0, value, -1)
    chance = np.where(count > 0, count / np.where(everybody > 0, everybody, 1.0), 0.0)
    of_person = set_of[candidates.group]
    persons = np.arange(len(candidates.group), dtype=np.int64)
    return Inference(column.name, persons, with_value[of_person], chance[of_person])


def _tallies(file: ReleasedFile, column: TextColumn) -> tuple[sparse.csr_array, Ints]:
    """Released persons of each class by value, shape (classes, texts), and of each class at all."""
    texts = len(column.texts)
    some = column.told >= 0
    place = file.class_of[some] * texts + column.codes[some]
    units = max(file.persons, 1)
    pairs = np.unique(place * units + file.unit[some]) // units
    rows, columns = np.divmod(pairs, max(texts, 1))
    having = sparse.coo_array(
        (np.ones(len(pairs), dtype=np.int64), (rows, columns)), shape=(file.classes, texts)
    ).tocsr()
    persons = np.unique(file.class_of * units + file.unit) // units
    return having, np.bincount(persons, minlength=file.classes).astype(np.int64)


def _distinct_sets(candidates: Candidates) -> tuple[sparse.csr_array, Ints]:
    """The distinct sets of classes that a group fits, as rows of 0 and 1, and the set of each."""
    classes, groups = candidates.fits.tocoo().coords
    set_of, sets = distinct_sets(groups, classes, candidates.groups, candidates.fits.shape[0])
    return sets.astype(np.int64), set_of


def _most(shared: sparse.csr_array, whole: Ints) -> tuple[Ints, Floats]:
    """The value of each row with the largest count, and that count; 0 where a row is empty."""
    rows = np.repeat(np.arange(shared.shape[0]), np.diff(shared.indptr))
    values = shared.indices.astype(np.int64)
    order = np.lexsort((values, -whole[values], -shared.data, rows))
    first = np.unique(rows[order], return_index=True)
    value = np.zeros(shared.shape[0], dtype=np.int64)
    count = np.zeros(shared.shape[0], dtype=np.float64)
    value[first[0]] = values[order][first[1]]
    count[first[0]] = shared.data[order][first[1]]
    return value, count


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
    """
    alike = np.ones(len(candidates.group), dtype=np.int64)
    person, _ = _most_records(file, candidates, alike, rng)
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
    knowledge
        What the intruder holds, ``counts`` among it.
    """
    if knowledge.counts is None:
        raise InputError(
            "the intruder", "must know how many records each person has", found="no counts"
        )
    counts = np.maximum(knowledge.counts, 0)
    person, highest = _most_records(file, candidates, counts, rng)
    of_group = np.bincount(candidates.group, weights=counts, minlength=candidates.groups)
    fitting = candidates.fits.astype(np.float64) @ of_group
    records = np.bincount(file.class_of, minlength=file.classes)
    chance = highest / np.maximum(np.maximum(records, fitting), 1)
    return ClassGuesses(person, np.where(person >= 0, chance, 0.0), counted=True)


def _most_records(
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
