"""Who is left out: for the good of the others, or because the file cannot meet what was asked.

Where even that does not help, `not_met` says what would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np

from sfumato.core.arrays import Floats, Ints
from sfumato.core.errors import ConstraintsNotMetError, typed
from sfumato.core.number_text import percentage
from sfumato.release.coarsen_counts import promised, while_cutting
from sfumato.release.information_loss import category_shares, class_means, full_range, steps
from sfumato.release.person_table import PersonTable, fewest_sharing, person_table
from sfumato.release.promises import promise
from sfumato.release.release_options import Coarsening
from sfumato.release.tree import Partition
from sfumato.risk.class_measures import ranks_of, rows_of_tables
from sfumato.risk.classes import ClassSummary, summarize
from sfumato.schema import Kind
from sfumato.table.table import MISSING, Codes, Table

Rows = Ints


Grow = Callable[[PersonTable], Partition]
ErrorOf = Callable[[Table, Partition], float]
PersonsOf = Callable[[Table], PersonTable]
SHARES = (1.0, 0.5, 0.25)
"""Parts of the limit that are tried."""


@dataclass(frozen=True, eq=False)
class Remaining:
    """Records that remain, their persons in classes.

    Attributes
    ----------
    rows
        Their ascending rows.
    error_of
        Computes ``error``.
    """

    rows: Rows
    table: Table
    partition: Partition
    error_of: ErrorOf

    @cached_property
    def error(self) -> float:
        """ANE over the records that remain; measured when it is first needed."""
        return self.error_of(self.table, self.partition)


@dataclass(frozen=True, eq=False)
class Suppressor:
    """Chooses persons whose suppression gains most for the others.

    Attributes
    ----------
    table
        The records; as one class they keep the promises.
    error_of
        ANE of a table whose persons are in these classes.
    persons_of
        Gathers the persons of a table.
    """

    table: Table
    persons: PersonTable
    constraints: Sequence[promise.Constraint]
    budgets: Sequence[promise.Budget]
    error_of: ErrorOf
    persons_of: PersonsOf

    def best(self, grow: Grow, most: int) -> Remaining:
        """Partition, and suppress at most so many persons where the others gain by it.

        A person's distance from the mean of the class (as in ANE) says how much the person costs.
        Several choices of persons are tried: those who are farthest from the means of their
        classes and those of the classes that lose most, the others being partitioned again, each
        with the whole limit, a half and a quarter of it; and the classes that lose most while all
        others stay as they are, which alone can only gain. The choice whose remaining records have
        the least ANE is taken, and nobody is suppressed where none has less than without.
        Costs seven partitions instead of one where any may be suppressed.

        Parameters
        ----------
        most
            Number of persons that may be suppressed.
        """
        partition = grow(self.persons)
        unsuppressed = Remaining(
            np.arange(self.table.records), self.table, partition, self.error_of
        )
        if most < 1:
            return unsuppressed
        choices = chain([unsuppressed], self._choices(partition, grow, most))
        return min(choices, key=lambda each: each.error)

    def _choices(self, partition: Partition, grow: Grow, most: int) -> Iterator[Remaining]:
        """One after the other, so that no more than two of them need memory."""
        table = self.table
        errors = record_errors(table, partition.class_of_person[table.person], partition.classes)
        of_person = np.bincount(table.person, weights=errors)
        of_class = np.bincount(partition.class_of_person, of_person)
        # Per record, as ANE is: nobody is to go for having many records alone.
        costs: Floats = of_person / self.persons.records
        mean: Floats = of_class / np.bincount(partition.class_of_person, self.persons.records)
        if found := self._without_classes(partition, mean, most):
            yield found
        # The tolerance keeps whole classes together: costs only order the persons of one class.
        for cost in (costs, mean[partition.class_of_person] + costs * promise.TOLERANCE):
            farthest = np.argsort(-cost, kind="stable")
            for count in sorted({int(most * share) for share in SHARES} - {0}):
                if found := self._without(farthest[:count], grow):
                    yield found

    def _without(self, gone: Rows, grow: Grow) -> Remaining | None:
        """The others partitioned again; ``None`` where they break a promise as one class."""
        rows = np.flatnonzero(~np.isin(self.table.person, gone))
        if not len(rows):
            return None
        part = self.table.take(rows)
        persons = self.persons_of(part)
        population = persons.whole().population
        if not self._kept(part, np.zeros(part.records, dtype=np.int32), 1, population):
            return None
        return Remaining(rows, part, grow(persons), self.error_of)

    def _without_classes(
        self, partition: Partition, of_class: Floats, most: int
    ) -> Remaining | None:
        """Without the classes that lose most, one at least staying; the others as they are."""
        person = self.table.person
        sizes = np.bincount(partition.class_of_person, minlength=partition.classes)
        worst = np.argsort(-of_class, kind="stable")[:-1]
        gone = np.zeros(partition.classes, dtype=bool)
        gone[worst[np.cumsum(sizes[worst]) <= most]] = True
        rows = np.flatnonzero(~gone[partition.class_of_person[person]])
        part = self.table if len(rows) == self.table.records else self.table.take(rows)
        number = np.where(gone, -1, np.cumsum(~gone) - 1).astype(np.int32)
        class_of = number[partition.class_of_person[person[rows]]]
        of_person = np.empty(part.persons, dtype=np.int32)
        of_person[part.person] = class_of
        left = replace(partition, class_of_person=of_person, classes=int((~gone).sum()))
        if partition.class_of_register is not None:
            left = replace(
                left, class_of_register=np.append(number, np.int32(-1))[left.class_of_register]
            )
        if partition.cells is not None:
            left = replace(left, cells=partition.cells.renumbered(number))
        if not self._kept(part, class_of, left.classes, left.population):
            return None
        return Remaining(rows, part, left, self.error_of)

    def _kept(self, part: Table, class_of: Codes, classes: int, population: Ints) -> bool:
        summary = summarize(
            class_of,
            classes,
            part.person,
            {attribute.name: attribute.codes for attribute in part.sensitive},
            ranks=ranks_of(
                part, promise.ordered_attributes([*self.constraints], part.schema.sensitive)
            ),
            rows=rows_of_tables(part),
        )
        summary = replace(summary, population=population)
        return all(constraint.met(summary).all() for constraint in self.constraints) and not any(
            promise.overspent(budget, summary, part.persons) for budget in self.budgets
        )


def record_errors(table: Table, class_of: Codes, classes: int) -> Floats:
    """Distance of each record from the means of its class, averaged over the columns.

    As in `sfumato.release.information_loss`; a missing value has none. Shape
    (records,).
    """
    total = np.zeros(table.records)
    for column in table.quasi_identifiers:
        has_value = column.codes != MISSING
        codes, of = column.codes[has_value], class_of[has_value]
        if column.kind is Kind.CATEGORICAL:
            error = 1 - category_shares(codes, of, column.domain.size, classes)
        else:
            values = steps(column)
            means = class_means(column, class_of, classes)
            error = np.abs(values[codes] - means[of]) / full_range(values)
        total[has_value] += column.weight * error
    return total / sum(column.weight for column in table.quasi_identifiers)


NOT_OF_RECORDS = frozenset({"affiliation", "distinct", "population"})
"""What fewer records per person do not change."""
MOST_SUPPRESSED = 0.2
"""The largest share of persons whose suppression is offered as an option."""


def capped_rows(table: Table, limit: int, rng: np.random.Generator) -> Ints:
    """Rows that remain when each person keeps at most ``limit`` records, drawn at random.

    Ascending; O(N log N).
    """
    shuffled = rng.permutation(table.records)
    # A stable sort of a random order leaves the records of each person in a random order.
    by_person = shuffled[np.argsort(table.person[shuffled], kind="stable")]
    counts = np.bincount(table.person, minlength=table.persons)
    rank = np.arange(table.records) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.sort(by_person[rank < limit])


def suppressed_rows(
    table: Table,
    constraints: Sequence[promise.Constraint],
    budgets: Sequence[promise.Budget],
    share: float,
    persons_of: PersonsOf = person_table,
) -> Ints | None:
    """Rows that remain when the persons who stand in the way are suppressed; greedy.

    Parameters
    ----------
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
        # All are asked again, as those who left may have kept another promise for the others.
        broken = promise.unmet(persons.whole(), constraints)
        if not broken:
            return remaining if not promise.overspent_alone(persons.whole(), budgets) else None
        offenders = np.unique(
            np.concatenate([constraint.offenders(persons) for constraint in broken])
        )
        left = persons.persons - len(offenders)
        if not len(offenders) or left <= 0 or left < (1 - share) * table.persons:
            return None
        remaining = remaining[~np.isin(part.person, offenders)]
        part = table.take(remaining)


def not_met(
    table: Table,
    persons: PersonTable,
    constraints: Sequence[promise.Constraint],
    budgets: Sequence[promise.Budget],
    persons_of: PersonsOf = person_table,
) -> ConstraintsNotMetError:
    """The error that says what is broken, by how much, and what would help."""
    whole = persons.whole()
    failures = [constraint.shortfall(whole) for constraint in promise.unmet(whole, constraints)]
    failures += [
        f"{budget.name} allows {budget.limit(int(whole.records[0]), int(whole.persons[0])):.4g}, "
        f"and a single class spends {float(budget.spent(whole)[0]):.4g}."
        for budget in promise.overspent_alone(whole, budgets)
    ]
    options = [
        _coarsen_option(whole, constraints),
        _suppress_option(table, constraints, budgets, persons_of),
    ]
    if not promise.overspent_alone(whole, budgets):
        options.insert(0, _cap_option(persons, constraints))
    return ConstraintsNotMetError(tuple(failures), tuple(filter(None, options)))


def _coarsen_option(whole: ClassSummary, constraints: Sequence[promise.Constraint]) -> str:
    if not promised(constraints) or promise.unmet(
        whole, while_cutting(constraints, Coarsening.SPLIT)
    ):
        return ""
    return (
        "make the numbers of records coarser within classes: coarsen_counts='drop' leaves "
        "records out, coarsen_counts='split' gives people several pseudonyms"
    )


def _cap_option(persons: PersonTable, constraints: Sequence[promise.Constraint]) -> str:
    whole = persons.whole()
    broken = promise.unmet(whole, constraints)
    if not broken or any(constraint.needs & NOT_OF_RECORDS for constraint in broken):
        return ""
    low, high = 0, int(whole.largest[0])
    while low < high - 1:
        middle = (low + high) // 2
        if promise.unmet(_capped(persons, whole, middle), constraints):
            high = middle
        else:
            low = middle
    if low == 0:
        return ""
    lost = int(whole.records[0] - np.minimum(persons.records, low).sum())
    return (
        f"cap the records of a person at {low} "
        f"({typed(f'cap_records={low}', f'--cap-records {low}')}): "
        f"loses {lost} records ({percentage(lost / whole.records[0])})"
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
    constraints: Sequence[promise.Constraint],
    budgets: Sequence[promise.Budget],
    persons_of: PersonsOf,
) -> str:
    remaining = suppressed_rows(table, constraints, budgets, MOST_SUPPRESSED, persons_of)
    if remaining is None:
        return ""
    lost = table.persons - len(np.unique(table.person[remaining]))
    # Rounded up, since a share that is rounded down would not let as many go.
    share = np.ceil(lost / table.persons * 1e4) / 1e4
    return (
        f"suppress {lost} {'person' if lost == 1 else 'people'} "
        f"({typed(f'suppress={share:g}', f'--suppress {share:g}')}): "
        f"loses {table.records - len(remaining)} records "
        f"({percentage((table.records - len(remaining)) / table.records)})"
    )
