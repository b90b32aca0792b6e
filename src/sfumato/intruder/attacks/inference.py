"""Sensitive-value inference: what most persons of the fitting classes have, the target has too."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sfumato.intruder.candidates.candidates import Candidates
from sfumato.intruder.candidates.sets import distinct_sets
from sfumato.intruder.guesses import Inference
from sfumato.intruder.reading.released_file import ReleasedFile, TextColumn

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def most_shared_value(file: ReleasedFile, candidates: Candidates, column: TextColumn) -> Inference:
    """For each register person the value that most released persons of the fitting classes have.

    A released person counts once per class and distinct value, as h-affiliation counts (paper
    003, Definition 3); missing values count for nobody. The chance is the share of the persons
    of those classes who have the value. Of values that as many have, the one that more persons
    of the whole file have is taken. Persons whom the same classes fit are answered together:
    O(fits + distinct sets of fitting classes times their distinct values).

    Parameters
    ----------
    file
        The released file.
    candidates
        Who fits which class.
    column
        The sensitive column, one of ``file.sensitive``.
    """
    having, present = _tallies(file, column)
    whole = np.asarray(having.sum(axis=0)).ravel()
    sets, set_of = _distinct_sets(candidates)
    shared = (sets @ having).tocsr()
    everybody = sets @ present
    value, count = _most(shared, whole)
    with_value = np.where(count > 0, value, -1)
    chance = np.where(count > 0, count / np.maximum(everybody, 1), 0.0)
    of_person = set_of[candidates.group]
    persons = np.arange(len(candidates.group), dtype=np.int64)
    return Inference(column.name, persons, with_value[of_person], chance[of_person])


def _tallies(file: ReleasedFile, column: TextColumn) -> tuple[sparse.csr_array, Ints]:
    """Released persons of each class by value, shape (classes, texts), and of each class at all."""
    texts = len(column.texts)
    some = column.told >= 0
    place = file.class_of[some] * texts + column.codes[some]
    pairs = np.unique(np.column_stack([place, file.unit[some]]), axis=0)[:, 0]
    rows, columns = np.divmod(pairs, max(texts, 1))
    having = sparse.coo_array(
        (np.ones(len(pairs), dtype=np.int64), (rows, columns)), shape=(file.classes, texts)
    ).tocsr()
    persons = np.unique(np.column_stack([file.class_of, file.unit]), axis=0)[:, 0]
    return having, np.bincount(persons, minlength=file.classes).astype(np.int64)


def _distinct_sets(candidates: Candidates) -> tuple[sparse.csr_array, Ints]:
    """The distinct sets of classes that a group fits, as rows of 0 and 1, and the set of each."""
    classes, groups = candidates.fits.tocoo().coords
    set_of, sets = distinct_sets(groups, classes, candidates.groups, candidates.fits.shape[0])
    return sets.astype(np.int64), set_of


def _most(shared: sparse.csr_array, whole: Ints) -> tuple[Ints, Ints]:
    """The value of each row with the largest count, and that count; 0 where a row is empty."""
    rows = np.repeat(np.arange(shared.shape[0]), np.diff(shared.indptr))
    values = shared.indices.astype(np.int64)
    order = np.lexsort((values, -whole[values], -shared.data, rows))
    first = np.unique(rows[order], return_index=True)
    value = np.zeros(shared.shape[0], dtype=np.int64)
    count = np.zeros(shared.shape[0], dtype=np.int64)
    value[first[0]] = values[order][first[1]]
    count[first[0]] = shared.data[order][first[1]]
    return value, count
