"""What one point of the search is: limits, options of the release, changes of columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sfumato.hierarchies import build_hierarchy
from sfumato.pipeline.tune.limits import (
    CAP,
    EQUAL,
    KNOBS,
    Limits,
    Promise,
    asks_nothing,
    promise_of,
    promise_words,
)
from sfumato.release.promises.k_anonymity import KAnonymity
from sfumato.release.release_options import Form, Recoding
from sfumato.schema import IntervalHierarchy, PrefixHierarchy, QuasiIdentifier, Schema
from sfumato.table.table import CodedColumn, Table

WEIGHTS, MOST_WEIGHT = (0.25, 0.5, 2.0, 4.0), 16.0
"""Factors of a column's weight that are tried, and how many times as much it weighs at most."""


@dataclass(frozen=True)
class ColumnChange:
    """What is changed in the schema.

    Attributes
    ----------
    weights
        Column and factor of its weight, by name.
    coarser
        Column and number of the finest levels that its hierarchy loses.
    """

    weights: tuple[tuple[str, float], ...] = ()
    coarser: tuple[tuple[str, int], ...] = ()
    left_out: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything is changed."""
        return bool(self.weights or self.coarser or self.left_out)

    def weighted(self, column: str, factor: float) -> ColumnChange:
        """The same with another factor by which a column's weight is multiplied."""
        weights = dict(self.weights) | {column: factor}
        return replace(
            self, weights=tuple(sorted(each for each in weights.items() if each[1] != 1))
        )

    def coarsened(self, column: str, levels: int) -> ColumnChange:
        """The same with a column's hierarchy losing a number of its finest levels."""
        coarser = dict(self.coarser) | {column: levels}
        return replace(self, coarser=tuple(sorted(each for each in coarser.items() if each[1])))

    def without(self, column: str) -> ColumnChange:
        """The same with a column that is not released."""
        return ColumnChange(
            tuple(each for each in self.weights if each[0] != column),
            tuple(each for each in self.coarser if each[0] != column),
            tuple(sorted({*self.left_out, column})),
        )

    def words(self) -> list[str]:
        """What is changed, in words."""
        changes = [f"{name} weighs {factor:g} times as much" for name, factor in self.weights]
        for name, levels in self.coarser:
            finest = "finest level" if levels == 1 else f"{levels} finest levels"
            changes.append(f"{name} without its {finest}")
        return changes + [f"{name} is not released" for name in self.left_out]


def changed_schema(schema: Schema, change: ColumnChange) -> Schema:
    """The schema with the changes; a column that is left out becomes a direct identifier."""
    weights, coarser = dict(change.weights), dict(change.coarser)
    fields = {}
    for name, quasi in schema.quasi_identifiers.items():
        if name in change.left_out:
            continue
        update = {"weight": quasi.weight * weights.get(name, 1.0)}
        fields[name] = _coarser(quasi, coarser.get(name, 0)).model_copy(update=update)
    identifiers = (*schema.direct_identifiers, *change.left_out)
    return schema.model_copy(
        update={"quasi_identifiers": fields, "direct_identifiers": identifiers}
    )


def changed_table(table: Table, change: ColumnChange) -> Table:
    """The encoded file as if it had been opened with the changed schema."""
    if not change:
        return table
    schema = changed_schema(table.schema, change)
    columns = []
    for column in table.quasi_identifiers:
        quasi = schema.quasi_identifiers.get(column.name)
        if quasi is not None:
            columns.append(_changed(column, quasi, rebuilt=column.name in dict(change.coarser)))
    return replace(table, schema=schema, quasi_identifiers=tuple(columns))


def _levels(quasi: QuasiIdentifier) -> tuple[str, tuple[Any, ...]]:
    """The field of a hierarchy that lists its levels, and these; nothing for other hierarchies."""
    if isinstance(quasi.hierarchy, IntervalHierarchy):
        return "widths", quasi.hierarchy.widths
    if isinstance(quasi.hierarchy, PrefixHierarchy):
        return "lengths", quasi.hierarchy.lengths
    return "", ()


def levels_to_spare(schema: Schema) -> dict[str, int]:
    """Most levels that the hierarchy of each column can lose, where it is made of several."""
    levels = {name: len(_levels(each)[1]) for name, each in schema.quasi_identifiers.items()}
    return {name: count - 1 for name, count in levels.items() if count > 1}


def changes_of(change: ColumnChange, schema: Schema, form: Form) -> list[ColumnChange]:
    """A change with one more: another weight of a column, one level fewer, or without it."""
    left = [each for each in schema.quasi_identifiers if each not in change.left_out]
    # Other forms show no labels, so that levels change nothing.
    spare = levels_to_spare(schema) if form is Form.HIERARCHY else {}
    weights, coarser = dict(change.weights), dict(change.coarser)
    made = []
    for name in left:
        every = {weights.get(name, 1.0) * factor for factor in WEIGHTS}
        usual = (each for each in sorted(every) if 1 / MOST_WEIGHT <= each <= MOST_WEIGHT)
        made += [change.weighted(name, each) for each in usual]
        if coarser.get(name, 0) < spare.get(name, 0):
            made.append(change.coarsened(name, coarser.get(name, 0) + 1))
        if len(left) > 1:
            made.append(change.without(name))
    return made


def _coarser(quasi: QuasiIdentifier, lost: int) -> QuasiIdentifier:
    name, levels = _levels(quasi)
    if not lost or not isinstance(quasi.hierarchy, IntervalHierarchy | PrefixHierarchy):
        return quasi
    hierarchy = quasi.hierarchy.model_copy(update={name: levels[lost:]})
    return quasi.model_copy(update={"hierarchy": hierarchy})


def _changed(column: CodedColumn, quasi: QuasiIdentifier, *, rebuilt: bool) -> CodedColumn:
    column = replace(column, weight=quasi.weight)
    if not rebuilt or quasi.hierarchy is None:
        return column
    labels = [column.domain.label(code) for code in range(column.domain.size)]
    return replace(column, hierarchy=build_hierarchy(quasi.hierarchy, labels, column.name))


@dataclass(frozen=True)
class Point:
    """What is asked of a release, and how it is made.

    Attributes
    ----------
    asked
        Limits by the name of their knob, in the order of `KNOBS`.
    suppress
        Largest share of persons that may be suppressed.
    recoding
        ``local`` or ``full-domain``.
    coarsen_counts
        ``drop`` or nothing.
    """

    asked: tuple[tuple[str, float], ...]
    suppress: float = 0.0
    recoding: str = Recoding.LOCAL.value
    coarsen_counts: str | None = None
    change: ColumnChange = field(default_factory=ColumnChange)
    distance: str = EQUAL

    @classmethod
    def of(cls, limits: Limits, *, distance: str = EQUAL) -> Point:
        """A point with these limits; those that every release keeps are left out."""
        return cls(_in_order(limits), distance=distance)

    def at(self, limits: Limits) -> Point:
        """The same with other limits."""
        return replace(self, asked=_in_order(limits))

    @property
    def limits(self) -> dict[str, float]:
        """The limits by name."""
        return dict(self.asked)

    def constraints(self) -> tuple[Promise, ...]:
        """The promises; one that everything keeps where nothing is asked."""
        return self.promises or (KAnonymity(1),)

    @property
    def promises(self) -> tuple[Promise, ...]:
        """The promises alone; none where nothing is asked."""
        made = (promise_of(name, limit, self.distance) for name, limit in self.asked)
        return tuple(each for each in made if each is not None)

    def options(self) -> dict[str, Any]:
        """The options that differ from the usual ones, as `sfumato.anonymize` takes them."""
        cap = self.limits.get(CAP)
        given: dict[str, Any] = {
            CAP: None if cap is None else int(cap),
            "suppress": self.suppress or None,
            "recoding": None if self.recoding == Recoding.LOCAL else self.recoding,
            "coarsen_counts": self.coarsen_counts,
        }
        return {name: value for name, value in given.items() if value is not None}

    def words(self) -> str:
        """The point in one line."""
        parts = [promise_words(each) for each in self.promises]
        parts += [f"{name.replace('_', ' ')} {value}" for name, value in self.options().items()]
        return ", ".join(parts + self.change.words())

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "constraints": [{"name": each.name, **each.parameters()} for each in self.promises],
            "options": self.options(),
            "columns": {
                "weights": dict(self.change.weights),
                "coarser": dict(self.change.coarser),
                "left_out": list(self.change.left_out),
            },
        }


def _in_order(limits: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    """The limits that ask for something, in the order of `KNOBS`, counts as whole numbers."""
    return tuple(
        (name, int(limits[name]) if knob.whole else float(limits[name]))
        for name, knob in KNOBS.items()
        if name in limits and not asks_nothing(name, limits[name])
    )
