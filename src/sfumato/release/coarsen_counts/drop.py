"""Leave records out until enough persons of a class share each number of records."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import ConstraintsNotMetError
from sfumato.release.coarsen_counts.targets import targets_by_class
from sfumato.release.promises.promise import Constraint, ordered_attributes
from sfumato.risk.class_measures import ranks_of
from sfumato.risk.classes import ClassSummary, summarize
from sfumato.table.table import Table

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


def drop_records(
    table: Table,
    class_of: Codes,
    classes: int,
    m: int,
    constraints: Sequence[Constraint],
    rng: np.random.Generator,
) -> Ints:
    """The records that stay when each person of a class keeps a number that m persons keep.

    Every person keeps at least one record; which ones is drawn at random. Fewest records are
    left out, class by class. Where that breaks a promise (a person with few records weighs more
    after others lost theirs), everybody in the class keeps as many records as the person with
    fewest, which gives the class its largest g-balance; h-affiliation never rises.

    Parameters
    ----------
    table
        The encoded records.
    class_of
        Class of each record; no person is in two classes.
    classes
        Number of classes, each of at least m persons.
    m
        How many persons must share a number.
    constraints
        The promises about every class; they hold before.
    rng
        Source of randomness.

    Returns
    -------
    array
        Rows that stay, ascending.

    Raises
    ------
    ConstraintsNotMetError
        If the records that stay break a promise whatever is done: too few records for k, too
        few different sensitive values for l.
    """
    records = np.bincount(table.person, minlength=table.persons)
    class_of_person = np.empty(table.persons, dtype=np.int64)
    class_of_person[table.person] = class_of
    rank = _random_ranks(table.person, rng)
    targets = targets_by_class(records, class_of_person, m)
    kept = np.flatnonzero(rank < targets[table.person])
    broken = _broken(table, class_of, classes, kept, constraints)[1]
    if broken.any():
        least = np.full(classes, records.max())
        np.minimum.at(least, class_of_person, records)
        targets = np.where(broken[class_of_person], least[class_of_person], targets)
        kept = np.flatnonzero(rank < targets[table.person])
        failing, broken = _broken(table, class_of, classes, kept, constraints)
        if broken.any():
            raise _not_met(failing, int(broken.sum()), classes)
    return kept


def _random_ranks(person: Codes, rng: np.random.Generator) -> Ints:
    """Place of each record in a random order of its person's records."""
    shuffled = rng.permutation(len(person))
    by_person = shuffled[np.argsort(person[shuffled], kind="stable")]
    counts = np.bincount(person)
    rank = np.empty(len(person), dtype=np.int64)
    rank[by_person] = np.arange(len(person)) - np.repeat(np.cumsum(counts) - counts, counts)
    return rank


def _broken(
    table: Table,
    class_of: Codes,
    classes: int,
    kept: Ints,
    constraints: Sequence[Constraint],
) -> tuple[list[Constraint], npt.NDArray[np.bool_]]:
    """The promises that the kept records break, and in which classes."""
    summary: ClassSummary = summarize(
        class_of[kept],
        classes,
        table.person[kept],
        {column.name: column.codes[kept] for column in table.sensitive},
        ranks=ranks_of(table, ordered_attributes(constraints, table.schema.sensitive)),
    )
    verdicts = [each.met(summary) for each in constraints]
    failing = [each for each, met in zip(constraints, verdicts, strict=True) if not met.all()]
    return failing, ~np.logical_and.reduce([*verdicts, np.ones(classes, dtype=bool)])


def _not_met(failing: Sequence[Constraint], broken: int, classes: int) -> ConstraintsNotMetError:
    names = ", ".join(each.name for each in failing)
    failure = (
        f"{names} held before records were dropped for shared_counts, and is broken by {broken} "
        f"of {classes} classes after."
    )
    option = (
        "split pseudonyms instead of dropping records (coarsen_counts='split'): loses no record "
        "and breaks no other promise"
    )
    return ConstraintsNotMetError((failure,), (option,))
