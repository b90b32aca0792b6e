"""What can be done when the whole file cannot meet what was asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import ConstraintsNotMetError
from sfumato.release.coarsen_counts import promised, while_cutting
from sfumato.release.options import Coarsening
from sfumato.release.person_table import PersonTable, fewest_sharing, person_table
from sfumato.release.promises.promise import Budget, Constraint
from sfumato.risk.classes import ClassSummary
from sfumato.table.table import Table

Ints = npt.NDArray[np.int64]
PersonsOf = Callable[[Table], PersonTable]
NOT_OF_RECORDS = frozenset({"affiliation", "distinct", "population"})
"""What fewer records per person do not change."""
MOST_SUPPRESSED = 0.2
"""The largest share of persons whose suppression is offered as an option."""


def capped_rows(table: Table, limit: int, rng: np.random.Generator) -> Ints:
    """Rows that remain when each person keeps at most ``limit`` records, drawn at random.

    Ascending; O(N log N).
    """
    shuffled = rng.permutation(table.records)
    by_person = shuffled[np.argsort(table.person[shuffled], kind="stable")]
    counts = np.bincount(table.person, minlength=table.persons)
    rank = np.arange(table.records) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.sort(by_person[rank < limit])


def suppressed_rows(
    table: Table,
    constraints: Sequence[Constraint],
    budgets: Sequence[Budget],
    share: float,
    persons_of: PersonsOf = person_table,
) -> Ints | None:
    """Rows that remain when the persons who stand in the way are suppressed; greedy.

    Parameters
    ----------
    table
        The encoded records.
    constraints, budgets
        What the remaining records as one class must meet.
    share
        The largest share of persons that may be suppressed.
    persons_of
        Gathers the persons of a table.

    Returns
    -------
    array or None
        Ascending rows; ``None`` where suppression within the share does not help.
    """
    remaining = np.arange(table.records)
    part = table
    while True:
        persons = persons_of(part)
        broken = unmet(persons.whole(), constraints)
        if not broken:
            return remaining if not overspent(persons.whole(), budgets) else None
        offenders = np.unique(np.concatenate([each.offenders(persons) for each in broken]))
        left = persons.persons - len(offenders)
        if not len(offenders) or left <= 0 or left < (1 - share) * table.persons:
            return None
        remaining = remaining[~np.isin(part.person, offenders)]
        part = table.take(remaining)


def unmet(whole: ClassSummary, constraints: Sequence[Constraint]) -> list[Constraint]:
    """The constraints that all persons as one class break."""
    return [each for each in constraints if not each.met(whole)[0]]


def overspent(whole: ClassSummary, budgets: Sequence[Budget]) -> list[Budget]:
    """The budgets that one class alone overspends."""
    return [
        each
        for each in budgets
        if each.spent(whole)[0] > each.limit(int(whole.records[0]), int(whole.persons[0]))
    ]


def not_met(
    table: Table,
    persons: PersonTable,
    constraints: Sequence[Constraint],
    budgets: Sequence[Budget],
    persons_of: PersonsOf = person_table,
) -> ConstraintsNotMetError:
    """The error that says what is broken, by how much, and what would help."""
    whole = persons.whole()
    failures = [each.shortfall(whole) for each in unmet(whole, constraints)]
    failures += [
        f"{each.name} allows {each.limit(int(whole.records[0]), int(whole.persons[0])):.4g}, "
        f"and a single class spends {float(each.spent(whole)[0]):.4g}."
        for each in overspent(whole, budgets)
    ]
    options = [
        _coarsen_option(whole, constraints),
        _suppress_option(table, constraints, budgets, persons_of),
    ]
    if not overspent(whole, budgets):
        options.insert(0, _cap_option(persons, constraints))
    return ConstraintsNotMetError(tuple(failures), tuple(filter(None, options)))


def _coarsen_option(whole: ClassSummary, constraints: Sequence[Constraint]) -> str:
    if not promised(constraints) or unmet(whole, while_cutting(constraints, Coarsening.SPLIT)):
        return ""
    return (
        "make the numbers of records coarser within classes: coarsen_counts='drop' leaves "
        "records out, coarsen_counts='split' gives persons several pseudonyms"
    )


def _cap_option(persons: PersonTable, constraints: Sequence[Constraint]) -> str:
    whole = persons.whole()
    broken = unmet(whole, constraints)
    if not broken or any(each.needs & NOT_OF_RECORDS for each in broken):
        return ""
    low, high = 0, int(whole.largest[0])
    while low < high - 1:
        middle = (low + high) // 2
        if unmet(_capped(persons, whole, middle), constraints):
            high = middle
        else:
            low = middle
    if low == 0:
        return ""
    lost = int(whole.records[0] - np.minimum(persons.records, low).sum())
    return (
        f"cap the records of a person at {low} (cap_records={low}, --cap-records {low}): "
        f"loses {lost} records ({lost / whole.records[0]:.2%})"
    )


def _capped(persons: PersonTable, whole: ClassSummary, limit: int) -> ClassSummary:
    records = np.minimum(persons.records, limit)
    return replace(
        whole,
        records=records.sum(keepdims=True),
        squares=(records**2).sum(keepdims=True),
        largest=records.max(keepdims=True),
        fewest_sharing=fewest_sharing(records),
    )


def _suppress_option(
    table: Table,
    constraints: Sequence[Constraint],
    budgets: Sequence[Budget],
    persons_of: PersonsOf,
) -> str:
    remaining = suppressed_rows(table, constraints, budgets, MOST_SUPPRESSED, persons_of)
    if remaining is None:
        return ""
    lost = table.persons - len(np.unique(table.person[remaining]))
    share = np.ceil(lost / table.persons * 1e4) / 1e4
    return (
        f"suppress {lost} person{'s' * (lost != 1)} "
        f"(suppress={share:g}, --suppress {share:g}): "
        f"loses {table.records - len(remaining)} records "
        f"({(table.records - len(remaining)) / table.records:.2%})"
    )
