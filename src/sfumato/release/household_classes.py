"""Households in groups that have the same members, class by class.

A promise about households cannot be kept by cutting persons: three classes that each hold hundreds
still make a household of three unique. Here households are divided instead. Those of one size are
put into a table with a row for each and, for each member in turn, the quasi-identifiers of that
member; that table is divided like any other, with k households in a class. The members in the same
place of all households of a group are a class of persons. What classes promise beside it is looked
at afterwards, and groups that do not keep it become one with their nearest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.core.declaration import Progress, silent
from sfumato.core.errors import ConstraintsNotMetError, InputError, typed
from sfumato.release.partitioning import Draft, partition_of_persons
from sfumato.release.person_table import person_table
from sfumato.release.promises import promise
from sfumato.release.promises.k_anonymity import PidKAnonymity
from sfumato.release.regrouping import regrouped
from sfumato.release.release_options import Options
from sfumato.release.tree import Partition
from sfumato.risk.class_measures import ranks_of
from sfumato.risk.classes import ClassSummary, summarize
from sfumato.risk.reidentification import homes
from sfumato.table.table import CodedColumn, Codes, Table


def household_of(table: Table) -> Codes:
    """The household of each person, from 0; who has none is one alone. Shape (persons,)."""
    assert table.household is not None
    home = homes(table.person, table.household)
    known = home >= 0
    of_person = np.empty(table.persons, dtype=np.int64)
    # Backwards, as the last assignment stays: the first record that names a household decides.
    of_person[table.person[known][::-1]] = home[known][::-1]
    several = np.flatnonzero(known & (of_person[table.person] != home))
    if len(several):
        raise InputError(
            f"column '{table.schema.household}'",
            "must be the same in all records of a person where households are promised",
            found=f"another household in row {int(several[0]) + 1}",
            advice="keep one household of each person",
        )
    return np.unique(of_person, return_inverse=True)[1].reshape(-1).astype(np.int32)


@dataclass(frozen=True, eq=False)
class Stratum:
    """The households of one size, in groups.

    Attributes
    ----------
    members
        The persons of each household in a common order, shape (households, size).
    wide
        A record for each household: for each member in turn the quasi-identifiers, and the
        sensitive values.
    group_of
        The group of each household, all numbers up to the last one; shape (households,).
    """

    members: Ints
    wide: Table
    group_of: Codes

    @property
    def size(self) -> int:
        """Persons of each household."""
        return int(self.members.shape[1])

    @property
    def groups(self) -> int:
        """Number of groups."""
        return int(self.group_of.max()) + 1

    def class_of_members(self) -> Codes:
        """The class of each member, from 0; shape (households, size)."""
        places = np.arange(self.size, dtype=np.int32)
        return (self.group_of[:, None] * np.int32(self.size) + places).astype(np.int32)

    def joined(self, failing: Bools) -> Stratum:
        """The same with each failing group as one with the group that is nearest to it."""
        from scipy.spatial import cKDTree  # costs a start's time

        middles = self._middles()
        _, nearest = cKDTree(middles).query(middles[failing], k=2)
        number = np.arange(self.groups)
        for group, pair in zip(np.flatnonzero(failing).tolist(), nearest.tolist(), strict=True):
            # A group is nearest to itself, unless another one has the same middle.
            other = pair[1] if pair[0] == group else pair[0]
            low, high = sorted((number[group], number[other]))
            number[number == high] = low
        joined = np.unique(number[self.group_of], return_inverse=True)[1].reshape(-1)
        return replace(self, group_of=joined.astype(np.int32))

    def _middles(self) -> Floats:
        """The mean place of each group in each column, missing values in the middle."""
        sizes = np.bincount(self.group_of)
        places = [
            np.append(column.domain.normalized, 0.5)[column.codes]
            for column in self.wide.quasi_identifiers
        ]
        return np.stack([np.bincount(self.group_of, place) / sizes for place in places], axis=1)


def divide_households(
    table: Table,
    k: int,
    constraints: Sequence[promise.Constraint],
    budgets: Sequence[promise.Budget],
    options: Options,
    original_persons: int,
    *,
    progress: Progress = silent,
) -> Draft:
    """Divide the records so that each household has the same members as k - 1 others.

    Households of a size that too few have, or whose members as one class each break a promise, are
    left out, up to the share that may be suppressed. The classes do not depend on the order of the
    records.

    Parameters
    ----------
    k
        Households that have the same members at least.
    original_persons
        Persons before any was suppressed: what the limit is a share of.

    Raises
    ------
    ConstraintsNotMetError
        If more would have to be left out than may be suppressed.
    """
    home = household_of(table)
    fewest = max(
        constraint.fewest_persons
        for constraint in constraints
        if isinstance(constraint, promise.Promise)
    )
    # A promise of persons in a class is kept by as many households: each has one member in the
    # class.
    least = max(k, fewest)
    while True:
        found, gone = [], []
        for members in _by_size(table, home):
            stratum = _divided(table, members, least, constraints, options, progress)
            stratum = stratum and _joined_until_kept(table, stratum, constraints)
            if stratum is None:
                gone.append(members.reshape(-1))
            else:
                found.append(stratum)
        left_out = np.concatenate([*gone, np.empty(0, dtype=np.int64)])
        _check_suppressed(table, left_out, k, original_persons, options.suppress)
        draft = _draft(table, found)
        summary = _summary(draft.table, draft.class_of, draft.classes, constraints)
        spent = [
            budget for budget in budgets if promise.overspent(budget, summary, draft.table.persons)
        ]
        if not spent or least >= table.persons:
            return draft
        # A budget is spent class by class. Doubled groups halve the classes, so that few divisions
        # are tried.
        least = 2 * least


def _by_size(table: Table, home: Codes) -> Iterator[Ints]:
    """The households of each size, smallest first: their members, shape (households, size).

    Members are ordered by the quasi-identifier that has fewest values, then the next: men before
    women, say, and the young before the old. In households that are alike, those in one place are
    then alike.
    """
    places = _places(table)
    fewest_first = sorted(places, key=lambda each: each.domain.size)
    keys = [each.codes for each in reversed(fewest_first)]
    order = np.lexsort((*keys, home))
    sizes = np.bincount(home)
    first = np.cumsum(sizes) - sizes
    for size in np.unique(sizes).tolist():
        yield order[first[sizes == size][:, None] + np.arange(size)]


def _places(table: Table) -> list[CodedColumn]:
    """The quasi-identifiers with a code for each person: the lowest of the person's records."""
    places = []
    for column in table.quasi_identifiers:
        lowest = np.full(table.persons, np.iinfo(np.int32).max, dtype=np.int32)
        np.minimum.at(lowest, table.person, column.codes)
        places.append(replace(column, codes=lowest))
    return places


def _divided(
    table: Table,
    members: Ints,
    least: int,
    constraints: Sequence[promise.Constraint],
    options: Options,
    progress: Progress,
) -> Stratum | None:
    """The households of a size in groups of so many; ``None`` where they are fewer."""
    households, size = members.shape
    if households < least:
        return None
    sensitive = _places(replace(table, quasi_identifiers=table.sensitive))
    wide = Table(
        table.schema,
        np.arange(households, dtype=np.int32),
        tuple(_of_member(place, members, at) for at in range(size) for place in _places(table)),
        tuple(
            _of_member(association, members, at) for at in range(size) for association in sensitive
        ),
        pa.table({}),
        (),
    )
    asked: list[promise.Constraint] = [PidKAnonymity(least)]
    for each in constraints:
        if not isinstance(each, promise.AboutAttribute):
            continue
        if each.attribute is None:
            asked.append(each)
        else:
            asked += [
                replace(each, attribute=_name(each.attribute, at))  # type: ignore[type-var]
                for at in range(size)
            ]
    owned = [person_table(wide)]
    # What everybody together cannot keep is looked at later, by persons and not by households.
    asked = [
        constraint
        for constraint in asked
        if constraint not in promise.unmet(owned[0].whole(), asked)
    ]
    partition = partition_of_persons(wide, owned, asked, options, whole=True, progress=progress)
    class_of = partition.class_of_person
    tree = partition.measured(np.ones(households, dtype=np.int64))
    draft = Draft(np.arange(households), wide, class_of, tree, partition.classes)
    passes = options.passes(draft.table.persons)
    draft = regrouped(draft, asked, (), options.form, passes, progress, options.loss)
    return Stratum(members, wide, draft.class_of)


def _name(column: str, place: int) -> str:
    return f"{column} of member {place + 1}"


def _of_member(column: CodedColumn, members: Ints, place: int) -> CodedColumn:
    codes = column.codes[members[:, place]]
    return replace(column, name=_name(column.name, place), codes=codes)


def _joined_until_kept(
    table: Table, stratum: Stratum, constraints: Sequence[promise.Constraint]
) -> Stratum | None:
    """The groups made larger until all their classes keep every promise; ``None`` where none do."""
    while True:
        class_of = np.full(table.persons, -1, dtype=np.int32)
        class_of[stratum.members] = stratum.class_of_members()
        rows = np.flatnonzero(class_of[table.person] >= 0)
        part, classes = table.take(rows), stratum.groups * stratum.size
        summary = _summary(part, class_of[table.person[rows]], classes, constraints)
        kept = np.logical_and.reduce([constraint.met(summary) for constraint in constraints])
        failing = ~kept.reshape(stratum.groups, stratum.size).all(axis=1)
        if not failing.any():
            return stratum
        if stratum.groups == 1:
            return None
        stratum = stratum.joined(failing)


def _summary(
    table: Table, class_of: Codes, classes: int, constraints: Sequence[promise.Constraint]
) -> ClassSummary:
    ordered = promise.ordered_attributes([*constraints], table.schema.sensitive)
    sensitive = {attribute.name: attribute.codes for attribute in table.sensitive}
    return summarize(class_of, classes, table.person, sensitive, ranks=ranks_of(table, ordered))


def _draft(table: Table, strata: Sequence[Stratum]) -> Draft:
    """The records of all strata, in their classes."""
    class_of, classes = np.full(table.persons, -1, dtype=np.int32), 0
    for stratum in strata:
        class_of[stratum.members] = stratum.class_of_members() + np.int32(classes)
        classes += stratum.groups * stratum.size
    rows = np.flatnonzero(class_of[table.person] >= 0)
    of_record = class_of[table.person[rows]]
    part = table if len(rows) == table.records else table.take(rows)
    of_person = np.empty(part.persons, dtype=np.int32)
    of_person[part.person] = of_record
    tree = Partition(of_person, classes, 0).measured(np.bincount(part.person))
    return Draft(rows, part, of_record, tree, classes)


def _check_suppressed(
    table: Table, gone: Ints, k: int, original_persons: int, share: float
) -> None:
    """Refuse to leave out more persons than may be suppressed."""
    already = original_persons - table.persons
    # A product such as 0.29 · 100 may be a little less than the whole number that it stands for.
    if already + len(gone) <= original_persons * share + 1e-9:
        return
    needed = np.ceil((already + len(gone)) / original_persons * 1e4) / 1e4
    share_option = typed(f"suppress={needed:g}", f"--suppress {needed:g}")
    options: tuple[str, ...] = ()
    if len(gone) < table.persons:
        options = (
            f"suppress {len(gone):,} people ({share_option})",
            "write large households as several in the household column",
        )
    said = (
        f"household_k asks that {k} households have the same members. People in "
        f"households of a size that too few have, or that keep no other promise: {len(gone):,}."
    )
    raise ConstraintsNotMetError((said,), options)
