"""Classes that are no boxes: a local search over the tree's classes, under the same promises.

A tree can only cut; its classes are boxes. Afterwards persons move, are exchanged, classes are
dissolved and others opened as long as that lowers the loss: the width of the released cells (NCP)
plus the distance of the values from their means (ANE), in records, in the form that is released.
A class may then be any set of persons. What a reader sees are still cells: classes with the same
ones are one, and every promise of ours that two classes keep is kept by both as one.

Large files are searched in parts of neighbouring classes, each for itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.core.declaration import Progress, silent
from sfumato.core.number_text import percentage
from sfumato.kernels.class_counts import group_rows
from sfumato.kernels.group_search import FIELDS, Space, Width, improved, nearest_points
from sfumato.kernels.loop_calls import one_by_one
from sfumato.release.analysis_loss import lost_by_analysts
from sfumato.release.cuts import rounded
from sfumato.release.generalisation import GRID_STEPS, WIDEST, generalised, grid_of, is_snapped
from sfumato.release.information_loss import certainty_penalty, full_range, normalized_error, steps
from sfumato.release.partitioning import GRIDS, Draft, levels_of, shared_cells
from sfumato.release.person_table import content_ties, person_table
from sfumato.release.promises.promise import Budget, Constraint
from sfumato.release.release_options import ANALYSTS, Form, Loss
from sfumato.release.tree_search import limits_of
from sfumato.risk.class_measures import ranks_of, rows_of_tables
from sfumato.risk.classes import ClassSummary, summarize
from sfumato.schema import Kind
from sfumato.table.table import MISSING, CodedColumn, Codes, Table

PART_PERSONS = 1 << 15
"""Persons of a part that is searched for itself."""
PART_CELLS = 1 << 24
"""Classes times values of a part, each of which needs a counter."""
ROUNDS = 6
"""Rounds of a pass where the promises are looked at between them."""
ROOM = 2
"""So many times the classes that there are at first, there may be."""
LEAST_GAIN = 2e-3
"""Share of the loss that a pass must gain for another one to follow."""
HEAT = 2.0
"""What a change may lose at first, in losses of an average person; it falls to nothing."""
COLD_PASSES = 4
"""The last passes, in which a change may lose nothing."""
COMPROMISE = 0.9
"""Where ANE and NCP together fall to this share, one of them may become worse."""
ERROR_WEIGHTS: Mapping[Loss | None, tuple[float, ...]] = {
    # 0.7 and not less: with 0.5, range queries and tables of two columns lost more than by the
    # tree in some comparisons.
    None: (0.7, 1.0, 2.0),
    Loss.ANE: (4.0,),
    Loss.NCP: (0.125,),
    **dict.fromkeys(ANALYSTS, (0.125, 0.5, 1.0, 2.0, 4.0)),
}
"""What the distance from the mean weighs beside the width of the cell. Where nothing is said of the
loss: the first with which neither ANE nor NCP becomes worse, or with which both together become
much better."""
ROOT_OF_SQUARES = 0.85
"""A mean distance from the mean over the root of the mean squared one: 0.87 for a uniform
distribution, 0.80 for a normal one."""


def regrouped(
    draft: Draft,
    constraints: Sequence[Constraint],
    budgets: Sequence[Budget],
    form: Form,
    passes: int,
    progress: Progress = silent,
    loss: Loss | None = None,
) -> Draft:
    """The same records in classes that lose less, all promises kept.

    The classes do not depend on the order of the records, the names of the persons, a seed or the
    number of processors.

    Parameters
    ----------
    draft
        Records in classes that keep the promises; none about a population.
    passes
        Most passes over all persons; none follows one that gained less than `LEAST_GAIN`.
    progress
        Told the share of the work that is done and of the loss that is gained.
    loss
        What is to be lost least: of the classes that were found with each of its weights, and of
        those that there are, the ones that lose least of it.
    """
    if passes < 1 or draft.classes < 2 or not draft.table.quasi_identifiers:
        return draft
    before, least = draft_losses(draft, form, loss), draft
    search = _Search(draft, form, constraints, budgets)
    keeps = None
    if budgets or limits_of(constraints, search.known) is None:
        keeps = _Promises(draft.table, constraints, budgets)
    # Which weight of the error suits a file shows only in the release, so that they are tried in
    # turn.
    for weight in ERROR_WEIGHTS[loss]:
        tasks = [partial(search.part, number, weight) for number in range(len(search.parts))]
        found = (
            _each_alone(tasks, passes, progress)
            if keeps is None
            else _all_together(tasks, search.class_of, passes, keeps, progress)
        )
        class_of, classes = np.empty_like(search.class_of), 0
        for persons, group_of in found:
            _, numbered = np.unique(group_of, return_inverse=True)
            class_of[persons] = numbered + classes
            classes += int(numbered.max()) + 1
        after = replace(draft, class_of=class_of[draft.table.person], classes=classes)
        # The search prices classes one by one; those that look the same are one for a reader.
        lost = draft_losses(after, form, loss)
        if loss is not None:
            before, least = (lost, after) if lost < before else (before, least)
        elif (lost <= before).all() or lost.sum() < COMPROMISE * before.sum():
            return after
    return least


def draft_losses(draft: Draft, form: Form, loss: Loss | None) -> Floats:
    """ANE and NCP of a release, or what is to be lost least, at 11 significant digits."""
    table = draft.table
    if loss in ANALYSTS:
        found = lost_by_analysts(loss, table, draft.class_of, draft.classes, form)
        return rounded(np.array([found]))
    released, merged, classes = generalised(table, draft.class_of, draft.classes, form)
    class_of = merged[draft.class_of]
    sizes, losses = np.bincount(class_of, minlength=classes), np.zeros(2)
    for column in table.quasi_identifiers:
        leaves = released[column.name][0].leaves
        width = certainty_penalty(column, class_of, classes, leaves, form) @ sizes / sizes.sum()
        error, _ = normalized_error(column, class_of, classes, table.person)
        losses += column.weight * np.array([error, width])
    if loss is not None:
        losses = losses[:1] if loss is Loss.ANE else losses[1:]
    # Sums over the same classes in another order differ in their last bits, which must not decide.
    return rounded(losses)


def _parts(person_class: Codes, classes: int, table: Table) -> list[Codes]:
    """Persons of neighbouring classes, few enough to be searched at a time."""
    sizes = np.bincount(person_class, minlength=classes)
    values = sum(column.domain.size for column in table.quasi_identifiers)
    average = len(person_class) / classes
    # A part of n persons has n / average classes, and no more values than n per column.
    most = min(PART_PERSONS, int(PART_CELLS / max(ROOM * values, 1) * average))
    columns = max(len(table.quasi_identifiers), 1)
    most = max(most, min(PART_PERSONS, int(np.sqrt(PART_CELLS * average / (ROOM * columns)))))
    # As many parts as needed, of about one size, none of them beginning within a class.
    wanted = int(np.ceil(len(person_class) / most))
    ends = np.cumsum(sizes)
    part_of_class = np.minimum((ends - 1) * wanted // len(person_class), wanted - 1)
    members, first = group_rows(
        part_of_class[person_class].astype(np.int32), int(part_of_class.max()) + 1
    )
    return [members[low:high] for low, high in pairwise(first.tolist()) if high > low]


@dataclass(eq=False)
class _Part:
    """Some persons and their groups, between two passes.

    Attributes
    ----------
    persons
        The persons, in the order in which the search numbers them.
    losses
        Loss before the first pass and after each one.
    changed
        Groups that took part in a change of the last pass; all where it could lose.
    """

    persons: Codes
    space: Space
    group_of: Codes
    room: int
    seed: int
    losses: list[float]
    changed: Bools | None = None

    def improve(self, *, once: bool, heat: float = 0.0) -> Codes:
        """One pass; gives the change that each group took part in."""
        # Heat is stated in losses of an average person, which differ from file to file and fall as
        # it gains.
        heat *= self.losses[-1] / len(self.persons) if self.losses else 0.0
        found = improved(
            self.space, self.group_of, self.room, self.seed,
            once=once, heat=heat, changed=None if heat else self.changed,
        )  # fmt: skip
        # Where a change may lose, an unchanged group may change next time, too. So all are looked
        # at again.
        self.changed = None if heat else found.changed
        self.seed = _next(self.seed)
        self.group_of = found.group_of
        if not self.losses:
            self.losses.append(found.before)
        self.losses.append(found.after)
        return found.change_of

    def settled(self, passes: int = 1) -> bool:
        """Whether the last passes gained little."""
        return len(self.losses) > passes and (
            self.losses[-1 - passes] - self.losses[-1] <= LEAST_GAIN * self.losses[0]
        )


def _next(seed: int) -> int:
    """A seed for the next pass, not 0 (the step of splitmix64)."""
    return (seed + 0x9E3779B97F4A7C15) % (1 << 64) or 1


def _gained(parts: Sequence[_Part]) -> str:
    """The stage, with what the passes so far gained."""
    before = sum(part.losses[0] for part in parts)
    after = sum(part.losses[-1] for part in parts)
    share = 1 - after / before if before > 0 else 0.0
    most = max(len(part.losses) for part in parts) - 1
    return f"regroup, pass {most}: {percentage(share)} of the loss gained"


def _each_alone(
    tasks: Sequence[partial[_Part]], passes: int, progress: Progress
) -> list[tuple[Codes, Codes]]:
    """All passes of each part, where the search knows all promises; part by part in threads.

    All but the last passes may lose, less and less, so that the search does not end in the first
    place where no single change gains (threshold accepting, Dueck & Scheuer 1990). The groups are
    those of the pass after which they lost least.
    """
    # The last passes only gain, so that the search ends where no single change gains any more.
    hot = passes - COLD_PASSES

    def finished(task: partial[_Part]) -> tuple[Codes, Codes, list[float]]:
        part = task()
        least = part.group_of
        for done in range(passes):
            heat = max(0.0, 1 - done / hot) if hot > 0 else 0.0
            part.improve(once=False, heat=HEAT * heat)
            if part.losses[-1] == min(part.losses):
                least = part.group_of
            if len(tasks) == 1:
                progress(_gained([part]), (done + 1) / passes)
            # While changes may lose, a pass that gains nothing is no sign of the end.
            if part.settled() and done >= hot:
                break
        return part.persons, least, [part.losses[0], min(part.losses)]

    found, before, after = [], 0.0, 0.0
    for persons, group_of, losses in one_by_one([partial(finished, task) for task in tasks]):
        found.append((persons, group_of))
        before, after = before + losses[0], after + losses[-1]
        share = 1 - after / before if before > 0 else 0.0
        progress(f"regroup: {percentage(share)} of the loss gained", len(found) / len(tasks))
    return found


def _all_together(
    tasks: Sequence[partial[_Part]],
    person_class: Codes,
    passes: int,
    keeps: _Promises,
    progress: Progress,
) -> list[tuple[Codes, Codes]]:
    """Rounds of changes that have no class in common; those that break a promise are undone."""
    parts = list(one_by_one(tasks))
    starts = np.cumsum([0, *(part.room for part in parts)])
    class_of = np.empty_like(person_class)
    for part, start in zip(parts, starts, strict=False):
        class_of[part.persons] = part.group_of + start
    for done in range(passes * ROUNDS):
        changes = list(one_by_one([partial(part.improve, once=True) for part in parts]))
        proposed, change_of, first = class_of.copy(), [], 0
        for part, change, start in zip(parts, changes, starts, strict=False):
            proposed[part.persons] = part.group_of + start
            change_of.append(np.where(change >= 0, change + first, -1))
            first += int(change.max(initial=-1)) + 1
        kept = keeps.kept(class_of, proposed, np.concatenate(change_of), first)
        # Number -1, no change, reads the entry that is appended: such classes are never undone.
        undone = ~np.append(kept, True)[np.concatenate(change_of)[proposed]]
        class_of = np.where(undone, class_of, proposed).astype(np.int32)
        for part, start in zip(parts, starts, strict=False):
            part.group_of = (class_of[part.persons] - start).astype(np.int32)
        progress(_gained(parts), (done + 1) / (passes * ROUNDS))
        if not kept.any() or (done % ROUNDS == 0 and all(part.settled(ROUNDS) for part in parts)):
            break
    return [(part.persons, part.group_of) for part in parts]


class _Promises:
    """Promises of any kind, looked at class by class as the file's measures are."""

    def __init__(
        self, table: Table, constraints: Sequence[Constraint], budgets: Sequence[Budget]
    ) -> None:
        self.table, self.constraints, self.budgets = table, constraints, budgets
        self.sensitive = {column.name: column.codes for column in table.sensitive}
        needs = frozenset[str]().union(*(each.needs for each in constraints))
        names = table.schema.sensitive if "ordered_distance" in needs else ()
        self.ranks = ranks_of(table, [name for name in names if self._is_ranked(name)])
        self.rows = rows_of_tables(table)

    def _is_ranked(self, name: str) -> bool:
        named = [
            getattr(constraint, "attribute", None)
            for constraint in self.constraints
            if "ordered_distance" in constraint.needs
        ]
        return None in named or name in named

    def summary(self, class_of: Codes) -> tuple[Ints, ClassSummary]:
        """The classes that hold somebody, and what is counted of them."""
        of_record = class_of[self.table.person]
        present, number = np.unique(of_record, return_inverse=True)
        return present.astype(np.int64), summarize(
            number.astype(np.int32), len(present), self.table.person, self.sensitive,
            ranks=self.ranks, rows=self.rows,
        )  # fmt: skip

    def kept(self, before: Codes, after: Codes, change_of: Ints, changes: int) -> Bools:
        """Which changes may stay, each class having part in one, or in none (-1).

        The answer has shape (changes,).
        """
        kept = np.ones(changes, dtype=bool)
        present, classes = self.summary(after)
        for each in self.constraints:
            broken = change_of[present[~each.met(classes)]]
            kept[broken[broken >= 0]] = False
        for budget in self.budgets:
            kept &= self._affordable(budget, before, (present, classes), change_of, kept)
        return kept

    def _affordable(
        self,
        budget: Budget,
        before: Codes,
        after: tuple[Ints, ClassSummary],
        change_of: Ints,
        kept: Bools,
    ) -> Bools:
        """Changes that save, and others as long as the budget pays."""
        spent = np.zeros(len(change_of))
        # Classes without a change have number -1. They add to the last entry, which is dropped.
        extra = np.zeros(len(kept) + 1)
        for sign, (present, classes) in ((-1, self.summary(before)), (1, after)):
            own = budget.spent(classes)
            if sign < 0:
                spent[present] = own
            np.add.at(extra, change_of[present], sign * own)
        extra = np.where(kept, extra[:-1], 0.0)
        limit = budget.limit(self.table.records, self.table.persons)
        left = limit - float(spent.sum()) - float(np.minimum(extra, 0).sum())
        # Counted as if all changes before were made, so that those that stay can be paid together.
        affordable: Bools = (extra <= 0) | (np.cumsum(np.maximum(extra, 0)) <= max(left, 0.0))
        return affordable


class _Search:
    """What the searches of all parts are made from."""

    def __init__(
        self,
        draft: Draft,
        form: Form,
        constraints: Sequence[Constraint],
        budgets: Sequence[Budget],
    ) -> None:
        self.table, self.form = draft.table, form
        self.known = person_table(self.table)
        # By what persons are like, so that neither their names nor the rows' order count.
        of_record = content_ties(self.table)
        self.rows = np.lexsort((of_record, self.table.person)).astype(np.int32)
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(self.table.person))])
        contents = np.zeros(self.table.persons, dtype=np.int64)
        np.add.at(contents, self.table.person, of_record)
        self.ties = contents
        counted = [
            constraint
            for constraint in constraints
            if limits_of([constraint], self.known) is not None
        ]
        self.limits = limits_of(counted, self.known)
        self.constraints = constraints
        self.starts_in_cells = len(counted) == len(constraints) and not budgets
        self.class_of = np.zeros(self.table.persons, dtype=np.int32)
        self.class_of[self.table.person] = draft.class_of
        self.parts = [
            part[np.lexsort((self.ties[part], self.class_of[part]))]
            for part in _parts(self.class_of, draft.classes, self.table)
        ]
        # Neighbours of each part and the better of its starts, as found with the first weight.
        self.begun: dict[int, tuple[Codes, Codes]] = {}

    def part(self, number: int, error_weight: float) -> _Part:
        """Gather what the search knows of the persons of a part, and find their neighbours."""
        persons, seed = self.parts[number], _next(number + 1)
        space = self._space(persons, error_weight)
        if number in self.begun:
            near, *starts = self.begun[number]
        else:
            near = nearest_points(space, seed)
            starts = [np.unique(self.class_of[persons], return_inverse=True)[1].astype(np.int32)]
            cells = self._in_cells(persons, error_weight) if self.starts_in_cells else None
            starts += [] if cells is None else [cells]
        space, seed = space._replace(neighbours=near), _next(seed)
        found = [
            _Part(persons, space, start, ROOM * (int(start.max()) + 1) + 8, seed, [])
            for start in starts
        ]
        for each in found if self.starts_in_cells else ():
            each.improve(once=False)
        best = min(range(len(found)), key=lambda at: found[at].losses[-1:])
        self.begun[number] = near, starts[best]
        return found[best]

    def _in_cells(self, persons: Codes, error_weight: float) -> Codes | None:
        """Another start: the classes of `shared_cells`; ``None`` where it is not to be had."""
        assert self.limits is not None
        rows, owner = self._rows_of(persons)
        columns = [
            levels_of(
                replace(column, codes=column.codes[rows]),
                owner.astype(np.int32),
                partial(_width_in_groups, column, self.form),
                error_weight,
            )
            for column in self.table.quasi_identifiers
        ]
        if 2 ** sum(len(levels) > 1 for levels in columns) > GRIDS:
            return None  # so many columns that not even their ends can be gone through
        kept = partial(self._kept, persons)
        class_of = shared_cells(columns, len(persons), kept, self.limits.persons)
        last = int(class_of.max())
        # Those whom no cell took, with whom it takes them to keep the promises.
        while not kept(rest := np.flatnonzero(class_of == last), np.zeros_like(rest), 1)[0]:
            if last == 0:
                return None
            # A whole class joins: what a part of it would leave behind may not keep the promises.
            last -= 1
            class_of[rest] = last
        return class_of

    def _kept(self, persons: Codes, chosen: Ints, group_of: Codes, groups: int) -> Bools:
        """Which groups of chosen persons keep every promise; shape (groups,)."""
        assert self.limits is not None
        own = self.starts[persons[chosen] + 1] - self.starts[persons[chosen]]
        members = np.bincount(group_of + 1, minlength=groups + 1)[1:]
        records = np.bincount(group_of + 1, weights=own, minlength=groups + 1)[1:]
        kept = (members >= self.limits.persons) & (records >= self.limits.records)
        limits = self.limits
        of_sensitive = np.isfinite(limits.affiliation).any() or limits.distinct.any()
        if not kept.any() or not (of_sensitive or limits.sharing > 1 or limits.squares < np.inf):
            return kept
        number = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
        number = np.append(number, np.int32(-1))[group_of]
        some = np.flatnonzero(number >= 0)
        rows, owner = self._rows_of(persons[chosen[some]])
        sensitive = {column.name: column.codes[rows] for column in self.table.sensitive}
        summary = summarize(number[some][owner], int(kept.sum()), owner.astype(np.int32), sensitive)
        kept[kept] = np.logical_and.reduce(
            [constraint.met(summary) for constraint in self.constraints]
        )
        return kept

    def _space(self, persons: Codes, error_weight: float) -> Space:
        """Persons, columns and limits."""
        assert self.limits is not None
        rows, owner = self._rows_of(persons)
        counts = np.bincount(owner, minlength=len(persons))
        trees = _Trees()
        columns = [
            _Column(column, rows, owner, len(persons), self.form, trees)
            for column in self.table.quasi_identifiers
        ]
        values, first = [], 0
        for column in columns:
            values.append(column.value + first)
            first += column.size
        by_person = np.argsort(
            np.concatenate([column.owner * len(columns) + at for at, column in enumerate(columns)]),
            kind="stable",
        )
        held = np.stack(
            [np.bincount(column.owner, minlength=len(persons)) for column in columns], axis=1
        )
        offsets = np.zeros((len(persons), len(columns) + 1), dtype=np.int64)
        whole = np.cumsum(held).reshape(held.shape)
        offsets[:, 1:] = whole
        offsets[1:, 0] = whole[:-1, -1]
        own = np.ascontiguousarray(np.concatenate([column.own for column in columns], axis=1))
        point_of, of_point, first_of_point = _points(own, columns)
        offsets_of, held_values = self._sensitive(persons)
        limits = self.limits
        return Space(
            own=own,
            offsets=offsets,
            values=np.concatenate(values)[by_person].astype(np.int32),
            counts=np.concatenate([column.count for column in columns])[by_person].astype(np.int32),
            form=np.array([column.form for column in columns], dtype=np.int32),
            numeric=np.array([column.numeric for column in columns], dtype=bool),
            full=np.array([column.full for column in columns]),
            origin=np.array([column.origin for column in columns]),
            span=np.array([column.span for column in columns]),
            grids=GRID_STEPS.astype(np.float64),
            widest=WIDEST,
            width_weight=np.array([column.width_weight for column in columns]),
            error_weight=error_weight * np.array([column.error_weight for column in columns]),
            up=np.array(trees.up, dtype=np.int32),
            level=np.array(trees.level, dtype=np.int32),
            width_of=np.array(trees.width, dtype=np.float64),
            records=counts.astype(np.int64),
            sensitive_offsets=offsets_of,
            sensitive=held_values,
            attribute_of=limits.attribute_of,
            least_records=limits.records,
            least_persons=limits.persons,
            squares=limits.squares,
            affiliation=limits.affiliation,
            distinct=limits.distinct,
            sharing=limits.sharing,
            neighbours=np.empty((0, 0), dtype=np.int32),
            point_of=point_of,
            first_of_point=first_of_point,
            of_point=of_point,
        )

    def _rows_of(self, persons: Codes) -> tuple[Codes, Ints]:
        """The records of some persons, and the place of each one's person among them."""
        counts = self.starts[persons + 1] - self.starts[persons]
        ends = np.cumsum(counts)
        places = np.arange(ends[-1]) + np.repeat(self.starts[persons] - ends + counts, counts)
        return self.rows[places], np.repeat(np.arange(len(persons)), counts)

    def _sensitive(self, persons: Codes) -> tuple[Ints, Codes]:
        """The distinct sensitive values of each person, those of all attributes together."""
        owners, values, first = [np.empty(0, np.int64)], [np.empty(0, np.int64)], 0
        for attribute in self.known.sensitive.values():
            taken = attribute.take(persons)
            owners.append(np.repeat(np.arange(len(persons)), np.diff(taken.offsets)))
            values.append(taken.values.astype(np.int64) + first)
            first += attribute.size
        owner = np.concatenate(owners)
        offsets = np.zeros(len(persons) + 1, dtype=np.int64)
        np.cumsum(np.bincount(owner, minlength=len(persons)), out=offsets[1:])
        order = np.argsort(owner, kind="stable")
        return offsets, np.concatenate(values)[order].astype(np.int32)


def _points(own: Floats, columns: Sequence[_Column]) -> tuple[Codes, Codes, Ints]:
    """Persons whose numbers are the same in every column share a point."""
    keys = own.copy()
    for at, column in enumerate(columns):
        # A number for each value and count, so that other values are seldom of the same sums.
        mixed = (column.value * 2654435761 + column.count * 40503) % 1000003
        keys[:, at * FIELDS + FIELDS - 1] = np.bincount(
            column.owner, weights=mixed.astype(np.float64), minlength=len(own)
        )
    flat = keys.view(np.dtype((np.void, keys.itemsize * keys.shape[1])))
    _, first, point = np.unique(flat.ravel(), return_index=True, return_inverse=True)
    # Numbered by their first person, which depends on no order of bytes.
    rank = np.empty(len(first), dtype=np.int32)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first), dtype=np.int32)
    point_of = rank[point.ravel()]
    of_point, starts = group_rows(point_of, len(first))
    return point_of, of_point, starts


class _Trees:
    """The nodes of all hierarchies."""

    def __init__(self) -> None:
        self.up: list[int] = []
        self.level: list[int] = []
        self.width: list[float] = []

    def add(self, column: CodedColumn) -> Ints:
        """Number the nodes of a column's hierarchy; gives the first of each level."""
        hierarchy = column.hierarchy
        assert hierarchy is not None
        sizes = [len(labels) for labels in hierarchy.labels]
        first = len(self.up) + np.cumsum([0, *sizes[:-1]])
        span = max(column.domain.size - 1, 1)
        for level, size in enumerate(sizes):
            parents = first[-1] + np.zeros(size, dtype=np.int64)
            if level < hierarchy.height:
                parents[hierarchy.ancestors[level]] = (
                    first[level + 1] + hierarchy.ancestors[level + 1]
                )
            self.up += parents.tolist()
            self.level += [level] * size
            self.width += (np.maximum(hierarchy.leaf_counts(level) - 1, 0) / span).tolist()
        return first


class _Column:
    """What the search knows of a column: persons' numbers, and how its cells are priced."""

    def __init__(
        self,
        column: CodedColumn,
        rows: Codes,
        owner: Ints,
        persons: int,
        form: Form,
        trees: _Trees,
    ) -> None:
        codes = column.codes[rows]
        present = codes != MISSING
        has, of = codes[present], owner[present]
        self.numeric = column.kind is not Kind.CATEGORICAL
        self.form = _width_of(column, form)
        spread = self.form in (Width.DISTINCT, Width.ANYTHING) or not self.numeric
        span = max(column.domain.size - 1, 1)
        scale = column.weight / (span if self.form is Width.DISTINCT else 1.0)
        self.width_weight = scale if column.domain.size > 1 else 0.0
        self.full = float(span if self.form is Width.DISTINCT else 1.0)
        self.error_weight = column.weight
        self.origin = self.span = 0.0
        grid = grid_of(column)
        if self.form is Width.RANGE and grid is not None and column.ends is None:
            self.origin, self.span = float(grid.points[0]), full_range(steps(column))
        self.own = np.zeros((persons, FIELDS))
        low, high = _places(column)
        self.own[:, 2], self.own[:, 3] = np.inf, -np.inf
        np.minimum.at(self.own[:, 2], of, low[has])
        np.maximum.at(self.own[:, 3], of, high[has])
        self.own[:, 4] = np.bincount(of, minlength=persons)
        self.own[:, 5] = np.bincount(owner, minlength=persons) - self.own[:, 4]
        # The distinct values of each person among those that occur here.
        occurring, number = np.unique(has, return_inverse=True)
        self.size = len(occurring) if spread else 0
        pair, count = np.unique(of * max(len(occurring), 1) + number, return_counts=True)
        pair, count = (pair, count) if spread else (pair[:0], count[:0])
        self.owner = pair // max(len(occurring), 1)
        self.value, self.count = pair % max(len(occurring), 1), count
        if self.numeric:
            # ANE is a mean absolute distance, which costs a pass over a class. Its squares add up
            # as persons come and go, so that the search prices their root instead.
            self.error_weight *= ROOT_OF_SQUARES
            values = steps(column) / full_range(steps(column))
            self.own[:, 0] = np.bincount(of, weights=values[has], minlength=persons)
            self.own[:, 1] = np.bincount(of, weights=values[has] ** 2, minlength=persons)
        else:
            squares = self.count.astype(np.float64) ** 2
            self.own[:, 0] = np.bincount(self.owner, weights=squares, minlength=persons)
        if self.form is Width.ANCESTOR and column.hierarchy is not None:
            first = trees.add(column)
            levels, index = column.hierarchy.lowest_common_ancestors(
                of, has.astype(np.int32), persons
            )
            self.own[:, 6] = np.where(self.own[:, 4] > 0, first[levels] + index, -1)
        else:
            self.own[:, 6] = np.bincount(self.owner, minlength=persons)


def _width_of(column: CodedColumn, form: Form) -> Width:
    """How the width of its cells is counted, as `release_column` prints them."""
    categorical = column.kind is Kind.CATEGORICAL
    if column.ends is not None and form is not Form.BOUNDS:
        return Width.RANGE
    if column.lone is not None:
        return Width.ANCESTOR
    if form is Form.SET and not is_snapped(column):
        return Width.DISTINCT
    if column.hierarchy is not None and (categorical or form is Form.HIERARCHY):
        return Width.ANCESTOR
    return Width.ANYTHING if categorical else Width.RANGE


def _width_in_groups(column: CodedColumn, form: Form, group: Codes) -> Floats:
    """The width of each code's cell that stands for all codes of its group."""
    width = _width_of(column, form)
    if width is Width.RANGE:
        low, high = _places(column)
        lowest, highest = np.full(len(group), np.inf), np.full(len(group), -np.inf)
        np.minimum.at(lowest, group, low)
        np.maximum.at(highest, group, high)
        span: Floats = (highest - lowest)[group]
        return span
    others = (np.bincount(group) - 1)[group]
    if width is Width.ANYTHING:
        return (others > 0).astype(np.float64)
    share: Floats = others / max(len(group) - 1, 1)
    return share


def _places(column: CodedColumn) -> tuple[Floats, Floats]:
    """Lowest and highest place that each value's cell reaches to, on [0, 1]."""
    size = column.domain.size
    if column.kind is Kind.NUMERIC:
        place = steps(column) / full_range(steps(column))
    else:
        place = np.arange(size) / max(size - 1, 1)
    low, high = place.copy(), place.copy()
    if column.ends is not None:
        high[min(column.ends.top, size) :] = 1.0
        high[: max(column.ends.bottom + 1, 0)] = place[max(column.ends.bottom, 0)]
        low[min(column.ends.top, size) :] = place[min(column.ends.top, size - 1)]
        low[: max(column.ends.bottom + 1, 0)] = 0.0
    return low, high
