"""Find the register persons who fit each released class."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sfumato.core.errors import InputError
from sfumato.intruder.candidates.candidates import Candidates
from sfumato.intruder.candidates.crossing import cross
from sfumato.intruder.candidates.nearest import nearest, positions, shows_means
from sfumato.intruder.candidates.sets import distinct_sets, where_all, where_any
from sfumato.intruder.knowledge.knowledge import Knowledge, KnownColumn
from sfumato.intruder.reading.combine import combined
from sfumato.intruder.reading.released_file import ReadColumn, ReleasedFile

Ints = npt.NDArray[np.int64]
Rows = Literal["all", "any"]
Pair = tuple[ReadColumn, KnownColumn]


def find_candidates(
    file: ReleasedFile,
    knowledge: Knowledge,
    *,
    rows: Rows | None = None,
    means: Collection[str] | None = None,
) -> Candidates:
    """Find the register persons who fit each released class.

    Released classes are held against distinct combinations of known values, and persons of
    whom the same is known are one group; see `cross` for the cost.

    Parameters
    ----------
    file
        The released file.
    knowledge
        What the intruder knows. A value that is not known fits every cell; a missing cell fits
        nothing else. Quasi-identifiers that only one side has say nothing.
    rows
        Whether a register person fits a class if ``"all"`` rows of the person do or if ``"any"``
        does. Without it the file decides: all, where it has pseudonyms with several records and
        each of them shows one combination of cells, so that persons were released as a whole;
        else any.
    means
        The quasi-identifiers of which the release shows means: a person then fits where they
        are nearest (see `nearest`), which nobody can be sure of. Without it those with more
        decimals than the known values; of dates, none.

    Raises
    ------
    InputError
        If the file and the knowledge share no quasi-identifier, or so little is known that too
        many fit (`MOST_PAIRS`).
    """
    if rows not in (None, "all", "any"):
        raise InputError("parameter rows", "must be one of its words", accepted="all, any")
    pairs = _shared(file, knowledge)
    tuple_of, tuple_rows = combined([known.codes for _, known in pairs], len(knowledge.person))
    group, members = distinct_sets(knowledge.person, tuple_of, knowledge.persons, len(tuple_rows))
    whole = rows == "all" if rows is not None else persons_are_whole(file)
    together = where_all if whole else where_any
    far = [pair for pair in pairs if _is_mean(*pair, means)]
    exact = [pair for pair in pairs if pair not in far]
    if far:
        fits = _by_distance(file, exact, far, tuple_rows, members, together)
    else:
        fits = together(cross(exact, file.first_row, tuple_rows), members)
    kind, fits_kind = _kinds(file, fits)
    sizes = np.bincount(group, minlength=members.shape[0]).astype(np.int64)
    return Candidates(
        group=group,
        groups=len(sizes),
        fits=fits,
        sizes=sizes,
        of_class=np.asarray(fits.astype(np.int64) @ sizes),
        kind=kind,
        fits_kind=fits_kind,
    )


def _shared(file: ReleasedFile, knowledge: Knowledge) -> list[Pair]:
    """The quasi-identifiers that the release shows and the intruder knows."""
    known = {column.name: column for column in knowledge.quasi_identifiers}
    pairs = [(shown, known[shown.name]) for shown in file.quasi_identifiers if shown.name in known]
    if not pairs:
        raise InputError(
            "the intruder",
            "must know a quasi-identifier that the release shows",
            found="none that both have",
            accepted=", ".join(column.name for column in file.quasi_identifiers),
        )
    return pairs


def _is_mean(shown: ReadColumn, known: KnownColumn, means: Collection[str] | None) -> bool:
    if means is None:
        return shows_means(shown, known)
    return shown.name in means and bool(np.isfinite(known.numbers).any())


def _by_distance(
    file: ReleasedFile,
    exact: list[Pair],
    far: list[Pair],
    tuple_rows: Ints,
    members: sparse.csr_array,
    together: Callable[[sparse.csr_array, sparse.csr_array], sparse.csr_array],
) -> sparse.csr_array:
    """Which classes and groups are near each other where the other columns fit."""
    codes = [shown.codes[file.first_row] for shown, _ in exact]
    block, first = combined(codes, file.classes)
    fits_block = together(cross(exact, file.first_row[first], tuple_rows), members)
    classes, tuples = positions(far, file.first_row, tuple_rows)
    middles = (members.astype(np.float64) @ tuples) / np.diff(members.indptr)[:, None]
    units = np.bincount(np.unique(file.unit * file.classes + file.class_of) % file.classes)
    return nearest(block, fits_block, classes, middles, units)


def _kinds(file: ReleasedFile, fits: sparse.csr_array) -> tuple[Ints, sparse.csr_array]:
    """The kind of each unit, and which groups fit all classes of a kind."""
    kind, classes = distinct_sets(file.unit, file.class_of, file.persons, file.classes)
    if (np.diff(classes.indptr) == 1).all():
        kind[file.unit] = file.class_of
        return kind, fits
    fits_kind = sparse.csr_array(where_all(sparse.csr_array(fits.T), classes).T)
    fits_kind.sort_indices()
    return kind, fits_kind


def persons_are_whole(file: ReleasedFile) -> bool:
    """Whether the file shows that a person's records were released as a whole.

    That is so where it has pseudonyms with several records, and each shows one combination of
    cells.

    Parameters
    ----------
    file
        The released file.
    """
    if file.person is None or file.persons == file.records:
        return False
    shown = np.full(file.persons, -1, dtype=np.int64)
    shown[file.person] = file.class_of
    return bool((shown[file.person] == file.class_of).all())
