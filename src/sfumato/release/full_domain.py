"""Recode every quasi-identifier to one level for all records."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from typing import Any, TypeVar

import numpy as np

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.core.declaration import Progress, silent
from sfumato.engines.embedded.counts import group
from sfumato.hierarchies import Hierarchy, build_hierarchy
from sfumato.kernels.key_numbering import number_by_first_appearance
from sfumato.release.promises.promise import Budget, Constraint, ordered_attributes, overspent
from sfumato.risk.class_measures import ranks_of
from sfumato.risk.classes import ClassSummary, summarize
from sfumato.schema import IntervalHierarchy, Kind
from sfumato.table.table import MISSING, CodedColumn, Codes, NumberDomain, Table

Rows = Ints
DATE_WIDTHS = ("month", "quarter", "year", "decade")
"""Intervals of dates, narrowest first."""
PARTS = 32
"""The narrowest interval of numbers is at least the range divided by this."""
Node = tuple[int, ...]
Losses = Sequence[Floats]
MOST_VISITED = 300_000
"""Nodes that are looked at before the search is cut short."""
MERGED = frozenset({"g_balance", "k", "pid_k", "l"})
"""Promises that two classes keep together if each does, even where they share persons."""
GROWING = frozenset({"k", "pid_k", "l"})
"""Promises that a class keeps with whatever is added to it."""
_Array = TypeVar("_Array", Codes, Floats)
MOST_WORK = 300_000_000
"""Records that are counted before the search is cut short."""
LEAST_CHECKED = 200
"""Nodes that are checked however large the file is."""


@dataclass(frozen=True)
class ColumnLevel:
    """The level that all records show of a quasi-identifier, 0 for its values, and its root's."""

    name: str
    level: int
    height: int
    labels: int


@dataclass(frozen=True)
class Levels:
    """One level per quasi-identifier, for all records.

    Attributes
    ----------
    loss
        NCP of the levels, weighted, with each record that the search suppressed counted as 1.
    bound
        No choice of levels loses less than this; the loss itself where it is exact.
    """

    columns: tuple[ColumnLevel, ...]
    loss: float
    exact: bool
    bound: float
    nodes: int
    checked: int
    split_persons: int

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    def notes(self) -> tuple[str, ...]:
        """What the reader should know; publishable."""
        said = []
        if not self.exact:
            said.append(
                f"the lattice of {self.nodes:,} choices of levels was too large to search in "
                f"full: the levels found lose {self.loss:.4g} (NCP), and none loses less than "
                f"{self.bound:.4g}."
            )
        if self.split_persons:
            said.append(
                f"People with records in several classes: {self.split_persons:,}, because their "
                "quasi-identifiers differ from record to record, and a level holds for all "
                "records. Every measure of a class counts the records that a person has in it."
            )
        return tuple(said)


def with_hierarchies(table: Table) -> Table:
    """Give every quasi-identifier a hierarchy; those of the schema stay.

    Numbers get the intervals of `proposed_widths`, dates months, quarters, years and decades,
    categories without a hierarchy the two levels of the value and ``*``. Proposed intervals
    are written into the schema, so that a reader can rebuild them.
    """
    columns, fields = [], dict(table.schema.quasi_identifiers)
    for column in table.quasi_identifiers:
        hierarchy = column.hierarchy
        if hierarchy is None and column.kind is Kind.NUMERIC and column.domain.size > 1:
            spec = IntervalHierarchy(widths=proposed_widths(column))
            fields[column.name] = fields[column.name].model_copy(update={"hierarchy": spec})
            hierarchy = build_hierarchy(spec, _labels(column), column.name)
        if hierarchy is None:
            hierarchy = Hierarchy.from_columns([_labels(column)], f"column '{column.name}'")
        columns.append(replace(column, hierarchy=hierarchy))
    schema = table.schema.model_copy(update={"quasi_identifiers": fields})
    return replace(table, quasi_identifiers=tuple(columns), schema=schema)


def proposed_widths(column: CodedColumn) -> tuple[float | str, ...]:
    """Widths of intervals for a numeric quasi-identifier, of two values or more, without hierarchy.

    The narrowest is the next of 1, 2, 5 times a power of ten from a thirty-second of the range on,
    and wider than the last decimal place; each further one is twice as wide, while it is below the
    range. Ages from 17 to 90 give 5, 10, 20, 40.
    """
    domain = column.domain
    if not isinstance(domain, NumberDomain) or domain.unit != "number":
        return DATE_WIDTHS
    span = int(domain.points[-1]) - int(domain.points[0])
    # In integers of the last decimal place, so that widths such as 0.1 come out exactly.
    step = max(_round_from(-(-span // PARTS)), 2)
    widths = [step]
    while widths[-1] * 2 < span:
        widths.append(widths[-1] * 2)
    scale = Decimal(10) ** -domain.decimals
    return tuple(float(width * scale) for width in widths)


def _round_from(least: int) -> int:
    power: int = 10 ** (len(str(max(least, 1))) - 1)
    return next(each for factor in (1, 2, 5, 10) if (each := factor * power) >= least)


def _labels(column: CodedColumn) -> list[str]:
    return [column.domain.label(code) for code in range(column.domain.size)]


@dataclass(frozen=True)
class BestNode:
    """The best node."""

    node: Node
    loss: float
    exact: bool
    bound: float
    checked: int


def search_lattice(
    losses: Losses,
    check: Callable[[Node], float | None],
    *,
    monotone: bool,
    most_checked: int,
) -> BestNode:
    """Search the node of least loss among those that keep the promises.

    The loss of a node is the sum of its columns' losses plus what ``check`` adds for suppressed
    records; a column's loss does not fall from level to level. Nodes are visited in the order
    of that sum (best first), so the first one that cannot be beaten is the optimum. Where
    promises are ``monotone`` (a node keeps them if one below it does), a failure excludes
    everything below it, and is first pushed up by bisection of a path to the top, as in Flash
    (Kohlmayer et al. 2012); Incognito (LeFevre et al. 2005) and OLA (El Emam et al. 2009) use
    the same property. Cut short, the best node so far is improved by lowering one level at a
    time, the one that gains most first.

    Parameters
    ----------
    losses
        Loss of each level of each column, ascending; one array per column.
    check
        What suppression adds to the loss of a node; ``None`` where it breaks a promise. The
        top node, all columns at their last level, keeps them.
    """
    return _LatticeSearch(losses, check, monotone, most_checked).run()


@dataclass(eq=False)
class _LatticeSearch:
    losses: Losses
    check: Callable[[Node], float | None]
    monotone: bool
    most_checked: int
    checked_nodes: dict[Node, float | None] = field(default_factory=dict)
    loss: float = np.inf

    def __post_init__(self) -> None:
        self.node = self.top = tuple(len(loss) - 1 for loss in self.losses)
        self.failed = np.empty((0, len(self.losses)), dtype=np.int64)

    def run(self) -> BestNode:
        self._keeps(self.top)  # there is a best node from the start
        bottom = (0,) * len(self.top)
        queue, seen = [(self._base(bottom), bottom)], {bottom}
        visited = 0
        while queue and queue[0][0] < self.loss:
            visited += 1
            if visited > MOST_VISITED or len(self.checked_nodes) >= self.most_checked:
                # The queue holds the least loss of all nodes that were not looked at. Suppression
                # only adds to it.
                bound = queue[0][0]
                self._descend()
                checked = len(self.checked_nodes)
                return BestNode(self.node, self.loss, False, min(bound, self.loss), checked)
            _, node = heapq.heappop(queue)
            for above in self._above(node):
                if above not in seen and self._base(above) < self.loss:
                    seen.add(above)
                    heapq.heappush(queue, (self._base(above), above))
            # Checked after its neighbours are queued: what lies above a failure may still keep the
            # promises.
            if not self._excluded(node) and not self._keeps(node) and self.monotone:
                self._exclude_from(node)
        return BestNode(self.node, self.loss, True, self.loss, len(self.checked_nodes))

    def _base(self, node: Node) -> float:
        return sum(float(loss[level]) for loss, level in zip(self.losses, node, strict=True))

    def _keeps(self, node: Node) -> bool:
        """Check a node once; the best one so far is remembered."""
        if node not in self.checked_nodes:
            added = self.checked_nodes[node] = self.check(node)
            if added is not None and self._base(node) + added < self.loss:
                self.node, self.loss = node, self._base(node) + added
        return self.checked_nodes[node] is not None

    def _above(self, node: Node) -> Iterator[Node]:
        for column, level in enumerate(node):
            if level < self.top[column]:
                yield (*node[:column], level + 1, *node[column + 1 :])

    def _excluded(self, node: Node) -> bool:
        return bool((np.array(node) <= self.failed).all(axis=1).any())

    def _exclude_from(self, node: Node) -> None:
        """Push a failure as far up one path to the top as it goes, and remember it."""
        path = [node]
        while path[-1] != self.top:
            # The cheapest node above, as cheap ones come next in the queue and are the checks to be
            # spared.
            path.append(min(self._above(path[-1]), key=self._base))
        low, high = 0, len(path) - 1
        while low < high - 1:
            middle = (low + high) // 2
            if self._keeps(path[middle]):
                high = middle
            else:
                low = middle
        highest = np.array(path[low])
        # Failures below this one exclude nothing that it does not exclude itself.
        kept = ~(self.failed <= highest).all(axis=1)
        self.failed = np.vstack([self.failed[kept], highest])

    def _descend(self) -> None:
        while True:
            before = self.node
            for column, level in enumerate(before):
                if level:
                    below = (*before[:column], level - 1, *before[column + 1 :])
                    if not (self.monotone and self._excluded(below)):
                        self._keeps(below)
            if self.node == before:
                return


@dataclass(frozen=True, eq=False)
class Recodings:
    """A column at each of its levels; levels with the labels of the one below are left out.

    Attributes
    ----------
    label_of
        Index of each code's label, the last entry that of a missing value (-1 is missing);
        shape (domain size + 1,) each.
    penalty_of
        NCP of each code's label, the last entry that of a missing value.
    """

    name: str
    height: int
    levels: tuple[int, ...]
    labels: tuple[int, ...]
    label_of: tuple[Codes, ...]
    penalty_of: tuple[Floats, ...]


def recodings(column: CodedColumn) -> Recodings:
    """The distinct levels of a column; at the root a missing value counts like any other."""
    hierarchy = column.hierarchy
    assert hierarchy is not None
    sizes = [len(labels) for labels in hierarchy.labels]
    # A level with as many labels as the one below makes the same classes and loses no less.
    levels = [level for level, size in enumerate(sizes) if level == 0 or size < sizes[level - 1]]
    # Only the root puts a missing value under one label with others, so that it is a level of its
    # own.
    if column.has_missing and levels[-1] < hierarchy.height:
        levels.append(hierarchy.height)
    return Recodings(
        column.name,
        hierarchy.height,
        tuple(levels),
        tuple(sizes[level] for level in levels),
        tuple(_label_of(hierarchy, level, column.has_missing) for level in levels),
        tuple(_penalty_of(hierarchy, level, column.has_missing) for level in levels),
    )


def _label_of(hierarchy: Hierarchy, level: int, has_missing: bool) -> Codes:
    missing = 0 if has_missing and level == hierarchy.height else MISSING
    return np.append(hierarchy.ancestors[level], missing).astype(np.int32)


def _penalty_of(hierarchy: Hierarchy, level: int, has_missing: bool) -> Floats:
    size = len(hierarchy.leaves)
    if size <= 1:
        return np.zeros(size + 1)
    counts = hierarchy.leaf_counts(level)[hierarchy.ancestors[level]]
    missing = 1.0 if has_missing and level == hierarchy.height else 0.0
    return np.append((counts - 1) / (size - 1), missing)


class Checker:
    """Counts the classes of nodes of the lattice, and who must go for them.

    Parameters
    ----------
    constraints, budgets
        What the classes must keep.
    most_suppressed
        Number of persons that may be suppressed.
    """

    def __init__(
        self,
        table: Table,
        columns: Sequence[Recodings],
        constraints: Sequence[Constraint],
        budgets: Sequence[Budget],
        most_suppressed: int,
    ) -> None:
        self.table = table
        self.columns = columns
        self.constraints = constraints
        self.budgets = budgets
        self.most_suppressed = most_suppressed
        needed = frozenset[str]().union(*(constraint.needs for constraint in constraints))
        costly = bool(needed - {"fewest_sharing"})
        self.sensitive = (
            {attribute.name: attribute.codes for attribute in table.sensitive} if costly else {}
        )
        ordered = ordered_attributes([*constraints], table.schema.sensitive)
        self.ranks = ranks_of(table, ordered) if costly else {}
        self.weights = np.array([identifier.weight for identifier in table.quasi_identifiers])
        # Weights that add up to 1 put the loss on the scale of NCP, on which a suppressed record is
        # 1.
        self.weights = self.weights / self.weights.sum()

    @property
    def monotone(self) -> bool:
        """Whether a node keeps what was asked as soon as one below it does."""
        names = {constraint.name for constraint in self.constraints}
        if self.most_suppressed:
            # Who may stay must not have to go further up. That holds if a kept class stays kept
            # when it is joined with a broken one.
            return names <= GROWING and not self.budgets
        # Classes only merge further up. Two of them keep any promise that each keeps, if they share
        # no person.
        return names <= MERGED or not self.split_persons((0,) * len(self.columns))

    def classes(self, node: Node, rows: Rows | None = None) -> tuple[Codes, int]:
        """The class of each record, or of those in ``rows``, and the number of classes."""
        codes = [
            column.label_of[level][_of(each.codes, rows)] for column, level, each in self._at(node)
        ]
        return group(codes, [column.labels[level] for column, level, _ in self._at(node)])

    def split_persons(self, node: Node) -> int:
        """Number of persons who have records in several classes."""
        class_of, classes = self.classes(node)
        return count_split(self.table.person, class_of, classes)

    def remaining(self, node: Node) -> Rows | None:
        """Rows that remain when the persons in classes that break a promise are suppressed.

        Ascending; ``None`` where they are too many, or a budget is overspent.
        """
        rows: Rows | None = None
        person = self.table.person
        gone = np.zeros(self.table.persons, dtype=bool)
        # Who goes may take records out of other classes as well, which may then break a promise.
        while True:
            class_of, classes = self.classes(node, rows)
            summary = summarize(
                class_of,
                classes,
                _of(person, rows),
                {name: _of(codes, rows) for name, codes in self.sensitive.items()},
                ranks=self.ranks,
            )
            met = self._met(summary)
            if met.all():
                break
            gone[_of(person, rows)[~met[class_of]]] = True
            if np.count_nonzero(gone) > self.most_suppressed or gone.all():
                return None
            rows = np.flatnonzero(~gone[person])
        left = int(self.table.persons - np.count_nonzero(gone))
        # Nobody is suppressed for a budget: it speaks of all classes and names no one who breaks
        # it.
        if any(overspent(budget, summary, left) for budget in self.budgets):
            return None
        return np.arange(self.table.records) if rows is None else rows

    def added_loss(self, node: Node) -> float | None:
        """What suppression adds to the loss of a node; ``None`` where it breaks a promise."""
        rows = self.remaining(node)
        if rows is None:
            return None
        if len(rows) == self.table.records:
            return 0.0
        gone = np.ones(self.table.records, dtype=bool)
        gone[rows] = False
        spared: float = sum(
            float(weight) * float((1 - column.penalty_of[level][each.codes[gone]]).sum())
            for weight, (column, level, each) in zip(self.weights, self._at(node), strict=True)
        )
        return spared / self.table.records

    def losses(self) -> list[Floats]:
        """The weighted NCP of each level of each column, over all records."""
        return [
            weight * np.array([penalty[identifier.codes].mean() for penalty in column.penalty_of])
            for weight, column, identifier in zip(
                self.weights, self.columns, self.table.quasi_identifiers, strict=True
            )
        ]

    def _at(self, node: Node) -> list[tuple[Recodings, int, CodedColumn]]:
        return list(zip(self.columns, node, self.table.quasi_identifiers, strict=True))

    def _met(self, summary: ClassSummary) -> Bools:
        met = np.ones(summary.classes, dtype=bool)
        for constraint in self.constraints:
            met &= constraint.met(summary)
        return met


def count_split(person: Codes, class_of: Codes, classes: int) -> int:
    """Number of persons who have records, of shape (records,), in several classes."""
    pair, pairs = number_by_first_appearance(
        person.astype(np.int64) * classes + class_of, (int(person.max()) + 1) * classes
    )
    owner = np.empty(pairs, dtype=np.int64)
    owner[pair] = person
    return int(np.count_nonzero(np.bincount(owner) > 1))


def _of(values: _Array, rows: Rows | None) -> _Array:
    return values if rows is None else values[rows]


@dataclass(frozen=True, eq=False)
class Recoded:
    """The classes of the levels that were found, and the table's rows, ascending, that remain."""

    rows: Ints
    class_of: Codes
    classes: int
    levels: Levels


def recode(
    table: Table,
    constraints: Sequence[Constraint],
    budgets: Sequence[Budget],
    most_suppressed: int = 0,
    progress: Progress = silent,
) -> Recoded:
    """Choose the levels of least loss whose classes keep all promises.

    The loss is the NCP of all cells, weighted by the columns' weights, suppressed records
    counted as 1. Persons in classes that break a promise are suppressed with all of their
    records, as long as they are few enough.

    Parameters
    ----------
    table
        The records, every quasi-identifier with a hierarchy. As one class they keep the
        promises.
    most_suppressed
        Number of persons that may be suppressed.
    """
    progress("partition", 0.0)
    columns = [recodings(column) for column in table.quasi_identifiers]
    checker = Checker(table, columns, constraints, budgets, most_suppressed)
    best_node = search_lattice(
        checker.losses(),
        checker.added_loss,
        monotone=checker.monotone,
        most_checked=max(LEAST_CHECKED, MOST_WORK // table.records),
    )
    rows = checker.remaining(best_node.node)
    assert rows is not None
    class_of, classes = checker.classes(best_node.node, rows)
    progress("partition", 1.0)
    split = count_split(table.person[rows], class_of, classes)
    return Recoded(rows, class_of, classes, _levels(best_node, columns, split))


def shown_at(table: Table, levels: Levels) -> Table:
    """The table whose hierarchies show no class below the levels that were found."""
    columns: list[CodedColumn] = []
    for column, chosen in zip(table.quasi_identifiers, levels.columns, strict=True):
        assert column.hierarchy is not None
        floor = replace(column.hierarchy, floor=chosen.level)
        columns.append(replace(column, hierarchy=floor))
    return replace(table, quasi_identifiers=tuple(columns))


def _levels(found: BestNode, columns: Sequence[Recodings], split: int) -> Levels:
    chosen = tuple(
        ColumnLevel(column.name, column.levels[level], column.height, column.labels[level])
        for column, level in zip(columns, found.node, strict=True)
    )
    return Levels(
        chosen,
        found.loss,
        found.exact,
        found.bound,
        math.prod(len(column.levels) for column in columns),
        found.checked,
        split,
    )
