"""The records in classes: by the tree, node by node where they are many, or by one level for all.

A large file is cut at the median until its nodes are small. Each node is then finished by itself,
as if it were a file. So the search for better cuts needs memory for some nodes at a time and not
for the file, and nodes can be finished on several machines. The paper's tree is the same with and
without these upper levels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod

import numpy as np
import pyarrow as pa

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.core.declaration import Progress, silent
from sfumato.kernels.class_counts import group_rows
from sfumato.kernels.key_numbering import number_by_first_appearance
from sfumato.kernels.loop_calls import one_by_one
from sfumato.release.cuts import loss_space, rounded
from sfumato.release.full_domain import Levels, recode, shown_at
from sfumato.release.generalisation import ExtraValues, ReleasedColumns, generalised, values_of
from sfumato.release.information_loss import error_sums, normalized_error
from sfumato.release.person_table import PersonTable, person_table, with_ancestors
from sfumato.release.population_register import Population, persons_of
from sfumato.release.promises.promise import Budget, Constraint
from sfumato.release.release_options import Cut, Ends, Form, Options, Recoding
from sfumato.release.suppression import Suppressor
from sfumato.release.tree import Partition, TreeClasses, grow
from sfumato.release.tree_search import search
from sfumato.schema import Kind
from sfumato.table.table import MISSING, CodedColumn, Codes, Table

SUBTREE_PERSONS = 1 << 17
"""The most persons of a node that is finished by itself, but where no cut at the median keeps
the promises."""
GRIDS = 1 << 13
"""Grids that are gone through at most; columns give up every other level until they are so few."""
LOOKED_AT = 1 << 27
"""Persons of all grids after whom no further grid is looked at."""
HALVINGS = 6
"""How often the range of a column without a hierarchy is halved."""
LARGEST_KEY = 1 << 62


@dataclass(frozen=True, eq=False)
class Draft:
    """Records in classes that keep the promises, on their way to a release.

    Attributes
    ----------
    rows
        Ascending rows of the divided table that remain.
    levels
        The levels that all records show; ``None`` for the tree.
    class_of_register
        Class that each person of a register looks like, -1 for none; ``None`` without one.
    extra
        What the cells of the classes must hold in addition to their records; ``None`` without a
        population.
    """

    rows: Ints
    table: Table
    class_of: Codes
    tree: TreeClasses
    classes: int
    levels: Levels | None = None
    class_of_register: Codes | None = None
    extra: ExtraValues | None = None

    def take(self, kept: Ints) -> Draft:
        """Some of its records."""
        rows, class_of = self.rows[kept], self.class_of[kept]
        return replace(self, rows=rows, table=self.table.take(kept), class_of=class_of)

    def merged(self, number: Codes, classes: int) -> Draft:
        """The same with another number for each class, some of them having the same."""
        of_register = self.class_of_register
        if of_register is not None:
            of_register = np.append(number, np.int32(-1))[of_register]
        return replace(
            self,
            class_of=number[self.class_of],
            classes=classes,
            class_of_register=of_register,
            extra=None if self.extra is None else self.extra.renumbered(number),
        )


def divide(
    table: Table,
    owned: list[PersonTable],
    constraints: Sequence[Constraint],
    budgets: Sequence[Budget],
    options: Options,
    original_persons: int,
    *,
    population: Population | None = None,
    subtree_persons: int | None = None,
    progress: Progress = silent,
) -> Draft:
    """Divide the records as the options say; suppress up to their limit where that gains.

    A file of many persons is divided node by node (`partition_by_subtree`), unless it has a
    population or a budget, or persons may be suppressed.

    Parameters
    ----------
    owned
        Their persons, alone; the list is emptied, so that nobody need hold them.
    original_persons
        Number of persons before any was suppressed: what the limit is a share of.
    population
        The persons that the file's come from, where they are known.
    subtree_persons
        The most persons of a file that is not large, and of its nodes that are divided alone;
        `SUBTREE_PERSONS` when not given.
    """
    left = owned[0].persons - original_persons * (1 - options.suppress)
    # Products of shares are inexact: the allowance keeps a whole number from being rounded down.
    most = max(int(np.floor(left + 1e-9)), 0)
    if options.recoding is Recoding.FULL_DOMAIN:
        owned.clear()
        return _by_levels(table, constraints, budgets, most, progress)
    # These three look at all classes of the file together, which no node can do for itself.
    if population is None and not budgets and options.suppress == 0:
        most = subtree_persons or SUBTREE_PERSONS
        partition = _partition(table, owned, constraints, options, most, progress)
        return _in_classes(np.arange(table.records), table, partition)
    persons = owned.pop()
    register = None if population is None else population.register
    sets = options.form is Form.SET or population is not None
    space = partial(loss_space, quasi_identifiers=table.quasi_identifiers, sets=sets)
    promises = constraints, budgets
    suppressor = Suppressor(
        table,
        persons,
        *promises,
        error_of=partial(released_error, form=options.form, register=register),
        persons_of=partial(persons_of, population=population) if population else person_table,
    )

    def median(some: PersonTable) -> Partition:
        # The paper's cuts ask for no loss. Only a budget weighs what it takes back.
        loss = space(some) if budgets else None
        return grow(some, *promises, split=options.split, loss=loss, progress=progress)

    found = suppressor.best(median, most)
    if options.cut is Cut.SEARCH:
        price = found.partition.price

        def sought(some: PersonTable) -> Partition:
            return search(some, space(some), *promises, price=price, progress=progress)

        # Of equal ones the search's: errors are rounded, so that the order of sums decides nothing.
        both = suppressor.best(sought, most), found
        found = min(both, key=lambda each: float(rounded(np.array([each.error]))[0]))
    remaining = table if len(found.rows) == table.records else table.take(found.rows)
    draft = _in_classes(found.rows, remaining, found.partition)
    return replace(
        draft,
        class_of_register=found.partition.class_of_register,
        extra=extra_values(remaining, found.partition, register),
    )


def _partition(
    table: Table,
    owned: list[PersonTable],
    constraints: Sequence[Constraint],
    options: Options,
    subtree_persons: int,
    progress: Progress,
) -> Partition:
    """The classes of all persons, by promises about every class alone."""
    if owned[0].persons > subtree_persons:
        return partition_by_subtree(
            table, owned, constraints, options, subtree_persons=subtree_persons, progress=progress
        )
    return partition_of_persons(table, owned, constraints, options, whole=True, progress=progress)


def _in_classes(rows: Ints, table: Table, partition: Partition) -> Draft:
    """Records in the classes of their persons."""
    tree = partition.measured(np.bincount(table.person))
    return Draft(rows, table, partition.class_of_person[table.person], tree, partition.classes)


def _by_levels(
    table: Table,
    constraints: Sequence[Constraint],
    budgets: Sequence[Budget],
    most_suppressed: int,
    progress: Progress,
) -> Draft:
    found = recode(table, constraints, budgets, most_suppressed, progress)
    remaining = shown_at(table.take(found.rows), found.levels)
    # A person may have records in several classes, and counts in each of them.
    pairs = remaining.person.astype(np.int64) * found.classes + found.class_of
    pair, counts = np.unique(pairs, return_counts=True)
    owner = (pair % found.classes).astype(np.int32)
    tree = Partition(owner, found.classes, 0).measured(counts)
    return Draft(found.rows, remaining, found.class_of, tree, found.classes, found.levels)


@dataclass(frozen=True, eq=False)
class Subtree:
    """The classes of some persons, and what they show.

    Attributes
    ----------
    class_of
        Class of each person; shape (persons,).
    shown
        Which of these each class is: its cells are
        ``column.texts[column.text_of_class[shown[c]]]``; shape (classes,).
    """

    class_of: Codes
    classes: int
    released: ReleasedColumns
    shown: Codes


def finish_subtree(
    table: Table,
    ties: Ints,
    constraints: Sequence[Constraint],
    options: Options,
    *,
    frequencies: Mapping[str, Ints],
    whole: bool = False,
) -> Subtree:
    """Divide the persons of a node into classes, and give these their released cells.

    The classes do not depend on the order of the records, nor on how the persons are numbered
    where their ties differ. Costs as `sfumato.release.tree.grow` and, for ``cut="search"``,
    `sfumato.release.tree_search.search`; needs memory in proportion to the node's records.

    Parameters
    ----------
    table
        The node's records, on the domains of the file; only codes and persons are read.
    ties
        The tie of each of its persons; shape (persons,).
    constraints
        Promises about every class. The node as one class must meet them.
    options
        How the release is made; ``cut``, ``split`` and ``values`` count.
    frequencies
        Records of the whole file with each value of each sensitive attribute, by its name.
    whole
        Whether the node is a whole file, and not one part of a larger one.
    """
    owned = [person_table(table, ties, frequencies)]
    partition = partition_of_persons(table, owned, constraints, options, whole=whole)
    class_of = partition.class_of_person[table.person]
    released, shown, _ = generalised(table, class_of, partition.classes, options.form)
    return Subtree(partition.class_of_person, partition.classes, released, shown)


def partition_of_persons(
    table: Table,
    owned: list[PersonTable],
    constraints: Sequence[Constraint],
    options: Options,
    *,
    whole: bool,
    progress: Progress = silent,
) -> Partition:
    """Divide persons into classes, by promises about every class alone.

    With ``cut="search"`` the paper's tree is grown as well, and taken where its release loses
    less (ANE, compared at 11 significant digits).

    Parameters
    ----------
    owned
        The persons of the table, alone; the list is emptied, so that nobody need hold them.
    constraints, options, whole
        As in `finish_subtree`.
    """
    if options.cut is not Cut.SEARCH:
        return grow(owned.pop(), constraints, split=options.split, progress=progress)
    median = grow(owned[0], constraints, split=options.split, progress=progress)
    sets = options.form is Form.SET and options.ends is not Ends.SNAPPED
    if not sets:
        owned[0] = with_ancestors(owned[0], table)
    # Popped from lists, so that the search is the only one to hold them when it reorders them.
    losses = [loss_space(owned[0], table.quasi_identifiers, sets=sets)]
    found = search(owned.pop(), losses.pop(), constraints, part=not whole, progress=progress)
    errors = np.array([released_error(table, each, options.form) for each in (found, median)])
    return (found, median)[int(np.argmin(rounded(errors)))]


def partition_by_subtree(
    table: Table,
    owned: list[PersonTable],
    constraints: Sequence[Constraint],
    options: Options,
    *,
    subtree_persons: int,
    progress: Progress = silent,
) -> Partition:
    """Cut a file into small nodes, and finish these on all processors.

    As many nodes at a time as there are processors, each by one, the largest first: O(d·N log N)
    for N persons and d quasi-identifiers. What is known of the persons is freed before that; the
    nodes' own is made again from the records.

    Parameters
    ----------
    owned
        Its persons, alone; the list is emptied.
    constraints
        Promises about every class. The file as one class must meet them.
    subtree_persons
        The most persons of a node, but where no cut at the median keeps the promises.
    progress
        Told the share of persons whose class is final.
    """
    persons = owned[0]
    ties = np.zeros(persons.persons, dtype=np.int64) if persons.ties is None else persons.ties
    frequencies = {name: values.file for name, values in persons.sensitive.items()}
    del persons
    top = grow(owned.pop(), constraints, split=options.split, subtree_persons=subtree_persons)
    node_of = top.class_of_person
    members, first = group_rows(node_of, top.classes)
    number = np.empty_like(node_of)
    number[members] = np.arange(len(members)) - np.repeat(first[:-1], np.diff(first))
    rows, start = group_rows(node_of[table.person], top.classes)

    def finished(node: int) -> Partition:
        some = rows[start[node] : start[node + 1]]
        part = _part(table, some, number[table.person[some]])
        own = ties[members[first[node] : first[node + 1]]]
        people = [person_table(part, own, frequencies)]
        return partition_of_persons(part, people, constraints, options, whole=False)

    # A large node that begins last would leave all processors but one idle at the end.
    largest_first = np.argsort(-np.diff(first), kind="stable").tolist()
    tasks = [partial(finished, node) for node in largest_first]
    class_of = np.empty_like(node_of)
    classes, depth, done = 0, 0, 0
    for node, result in zip(largest_first, one_by_one(tasks), strict=True):
        own = members[first[node] : first[node + 1]]
        class_of[own] = result.class_of_person + np.int32(classes)
        classes += result.classes
        depth, done = max(depth, result.depth), done + len(own)
        progress("partition", done / len(members))
    return Partition(class_of, classes, top.depth + depth)


def _part(table: Table, rows: Codes, person: Codes) -> Table:
    """Some records with the persons' new numbers: codes and nothing else."""
    quasi_identifiers, sensitive = (
        tuple(replace(column, codes=column.codes[rows]) for column in columns)
        for columns in (table.quasi_identifiers, table.sensitive)
    )
    return Table(table.schema, person, quasi_identifiers, sensitive, pa.table({}), ())


def released_error(
    table: Table, partition: Partition, form: Form, register: Table | None = None
) -> float:
    """ANE of a release of these classes, those with the same cells being one."""
    class_of = partition.class_of_person[table.person]
    extra = extra_values(table, partition, register)
    _, merged, classes = generalised(table, class_of, partition.classes, form, extra)
    class_of = merged[class_of]
    columns = table.quasi_identifiers
    errors = [normalized_error(column, class_of, classes, table.person)[0] for column in columns]
    return float(np.average(errors, weights=[column.weight for column in columns]))


def extra_values(table: Table, partition: Partition, register: Table | None) -> ExtraValues | None:
    """What the cells of the classes must hold; ``None`` without a population.

    The register's persons of each class or its whole cell, and the records of the class as it was
    divided: the cells that the population was counted for.
    """
    of_register, cells = partition.class_of_register, partition.cells
    if register is not None and of_register is not None:
        cells = values_of(register, of_register[register.person])
    if cells is None:
        return None
    return cells.joined(values_of(table, partition.class_of_person[table.person]))


@dataclass(frozen=True, eq=False)
class Level:
    """The cell of each person; -1 where the person's records are in several.

    The price is what a record loses on average.
    """

    cell_of: Codes
    cells: int
    price: float


def levels_of(
    column: CodedColumn,
    person: Codes,
    width: Callable[[Codes], Floats],
    error_weight: float,
) -> list[Level]:
    """The levels of a column: values, labels of its hierarchy or ever wider ranges, anything.

    Parameters
    ----------
    person
        Person of each record, all numbers up to the last one.
    width
        The width of each code's cell that stands for all codes of its group.
    error_weight
        What a distance of 1 from the mean loses beside a width of 1.
    """
    size = column.domain.size
    groups = [np.arange(size)]
    if column.hierarchy is not None:
        groups = list(column.hierarchy.ancestors[column.hierarchy.floor :])
    elif column.kind is not Kind.CATEGORICAL:
        parts = [1 << halving for halving in range(HALVINGS, 0, -1)]
        groups += [np.arange(size) * part // size for part in parts if part < size]
    # A missing value has code -1 and reads this last entry: it is a cell of its own until anything
    # is.
    apart = [np.append(group, group.max(initial=-1) + 1) for group in groups]
    levels: list[Level] = []
    for group in [*apart, np.zeros(size + 1, dtype=np.int64)]:
        cell, cells = group.astype(np.int32)[column.codes], int(group.max()) + 1
        present = column.codes != MISSING
        error, _ = error_sums(column, cell, cells, person).averages
        lost = width(group[:-1].astype(np.int32))[column.codes[present]].sum() / len(cell)
        price = column.weight * (lost + error_weight * error)
        # A wider level that loses no more takes in everybody who shares the narrower one.
        if levels and price <= levels[-1].price:
            levels.pop()
        lowest = np.full(int(person.max()) + 1, cells, dtype=np.int32)
        highest = np.full(len(lowest), -1, dtype=np.int32)
        np.minimum.at(lowest, person, cell)
        np.maximum.at(highest, person, cell)
        levels.append(Level(np.where(lowest == highest, lowest, -1), cells, float(price)))
    return levels


def shared_cells(
    columns: Sequence[list[Level]],
    persons: int,
    kept: Callable[[Ints, Codes, int], Bools],
    least: int = 1,
) -> Codes:
    """The class of each person: the cheapest cell that enough others share.

    One level of each column makes a grid. The grids are gone through by what their cells lose, and
    wherever enough persons are left in a cell to keep every promise, they are a class and leave.
    This is full-domain recoding of those whom the grids before had to leave out, and so on: what
    ARX calls local recoding, with every grid instead of a few. It keeps most columns narrow at
    once, where a tree, which cuts one column after the other, runs out of persons. Those whom no
    cell would take are one class, the last. O(grids x persons), at most `LOOKED_AT` of them.

    Parameters
    ----------
    kept
        Which groups of persons keep every promise, given the persons, the group of each one (-1
        for none) and the number of groups.
    """
    columns = [list(levels) for levels in columns]
    while prod(map(len, columns)) > GRIDS:
        longest = max(columns, key=len)
        # The values themselves and anything stay: the first loses nothing, the last takes
        # everybody.
        longest[:] = [longest[0], *longest[2:-1:2], longest[-1]]
    prices = np.zeros(1)
    for levels in columns:
        prices = np.add.outer(prices, [level.price for level in levels]).ravel()
    class_of, classes, left = np.full(persons, -1, dtype=np.int32), 0, np.arange(persons)
    looked_at = 0
    for grid in np.argsort(prices, kind="stable"):
        places = np.unravel_index(grid, [len(levels) for levels in columns])
        chosen = [levels[at] for levels, at in zip(columns, places, strict=True)]
        group, groups = _grouped(left, chosen)
        good = np.append(kept(left, group, groups), False)
        if good.any():
            number = np.cumsum(good, dtype=np.int32) - 1 + classes
            taken = good[group]
            class_of[left[taken]] = number[group[taken]]
            classes, left = int(number[-1]) + 1, left[~taken]
        looked_at += len(left)
        if len(left) < max(least, 1) or looked_at > LOOKED_AT:
            break
    class_of[left] = classes
    return class_of


def _grouped(persons: Ints, levels: Sequence[Level]) -> tuple[Codes, int]:
    """The cell of each of the persons on a grid, -1 for none, and the number of cells."""
    key, keys = np.zeros(len(persons), dtype=np.int64), 1
    nowhere = np.zeros(len(persons), dtype=bool)
    for level in levels:
        if level.cells == 1:
            continue
        # Numbered anew before the product of the columns would pass the range of 64 bits.
        if keys > LARGEST_KEY // level.cells:
            numbered, keys = number_by_first_appearance(key, keys)
            key = numbered.astype(np.int64)
        cell = level.cell_of[persons]
        # A class holds all records of a person, so that records in several cells of a grid fit
        # none.
        nowhere |= cell < 0
        key = key * level.cells + np.maximum(cell, 0)
        keys *= level.cells
    group, groups = number_by_first_appearance(key, keys)
    return np.where(nowhere, np.int32(-1), group), groups
