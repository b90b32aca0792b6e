"""Generalise single columns: another weight, a coarser hierarchy, or not released at all."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sfumato.hierarchies import build_hierarchy
from sfumato.schema import IntervalHierarchy, PrefixHierarchy, QuasiIdentifier, Schema
from sfumato.table.table import CodedColumn, Table


@dataclass(frozen=True)
class ColumnChange:
    """What is changed in the schema.

    Attributes
    ----------
    weights
        Column and factor of its weight, by name.
    coarser
        Column and number of the finest levels that its hierarchy loses.
    left_out
        Columns that are not released.
    """

    weights: tuple[tuple[str, float], ...] = ()
    coarser: tuple[tuple[str, int], ...] = ()
    left_out: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything is changed."""
        return bool(self.weights or self.coarser or self.left_out)

    def weighted(self, column: str, factor: float) -> ColumnChange:
        """The same with another factor of a column's weight.

        Parameters
        ----------
        column
            Its name.
        factor
            What the schema's weight is multiplied by.
        """
        weights = dict(self.weights) | {column: factor}
        return replace(
            self, weights=tuple(sorted(each for each in weights.items() if each[1] != 1))
        )

    def coarsened(self, column: str, levels: int) -> ColumnChange:
        """The same with a coarser hierarchy of a column.

        Parameters
        ----------
        column
            Its name.
        levels
            Number of the finest levels that go.
        """
        coarser = dict(self.coarser) | {column: levels}
        return replace(self, coarser=tuple(sorted(each for each in coarser.items() if each[1])))

    def without(self, column: str) -> ColumnChange:
        """The same with a column that is not released.

        Parameters
        ----------
        column
            Its name.
        """
        return ColumnChange(
            tuple(each for each in self.weights if each[0] != column),
            tuple(each for each in self.coarser if each[0] != column),
            tuple(sorted({*self.left_out, column})),
        )

    def words(self) -> list[str]:
        """What is changed, in words."""
        said = [f"{name} weighs {factor:g} times as much" for name, factor in self.weights]
        said += [f"{name} without its {_finest(levels)}" for name, levels in self.coarser]
        return said + [f"{name} is not released" for name in self.left_out]


def _finest(levels: int) -> str:
    return "finest level" if levels == 1 else f"{levels} finest levels"


def changed_schema(schema: Schema, change: ColumnChange) -> Schema:
    """The schema with the changes; a column that is left out becomes a direct identifier.

    Parameters
    ----------
    schema
        The schema.
    change
        What is changed.
    """
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
    """The encoded file as if it had been opened with the changed schema.

    Parameters
    ----------
    table
        The file.
    change
        What is changed.
    """
    if not change:
        return table
    schema = changed_schema(table.schema, change)
    columns = []
    for column in table.quasi_identifiers:
        quasi = schema.quasi_identifiers.get(column.name)
        if quasi is not None:
            columns.append(_changed(column, quasi, rebuilt=column.name in dict(change.coarser)))
    return replace(table, schema=schema, quasi_identifiers=tuple(columns))


def levels_to_spare(schema: Schema) -> dict[str, int]:
    """Most levels that the hierarchy of each column can lose, where it is made of several.

    Parameters
    ----------
    schema
        The schema.
    """
    found = {}
    for name, quasi in schema.quasi_identifiers.items():
        levels = 0
        if isinstance(quasi.hierarchy, IntervalHierarchy):
            levels = len(quasi.hierarchy.widths)
        elif isinstance(quasi.hierarchy, PrefixHierarchy):
            levels = len(quasi.hierarchy.lengths)
        if levels > 1:
            found[name] = levels - 1
    return found


def _coarser(quasi: QuasiIdentifier, levels: int) -> QuasiIdentifier:
    made = quasi.hierarchy
    if not levels:
        return quasi
    if isinstance(made, IntervalHierarchy):
        left = made.model_copy(update={"widths": made.widths[levels:]})
        return quasi.model_copy(update={"hierarchy": left})
    if isinstance(made, PrefixHierarchy):
        shorter = made.model_copy(update={"lengths": made.lengths[levels:]})
        return quasi.model_copy(update={"hierarchy": shorter})
    return quasi


def _changed(column: CodedColumn, quasi: QuasiIdentifier, *, rebuilt: bool) -> CodedColumn:
    column = replace(column, weight=quasi.weight)
    if not rebuilt or quasi.hierarchy is None:
        return column
    labels = [column.domain.label(code) for code in range(column.domain.size)]
    return replace(column, hierarchy=build_hierarchy(quasi.hierarchy, labels, column.name))
