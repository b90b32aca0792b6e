"""Hierarchies for quasi-identifiers that the schema gives none."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from sfumato.hierarchies import Hierarchy, build_hierarchy
from sfumato.schema import IntervalHierarchy, Kind
from sfumato.table.table import CodedColumn, NumberDomain, Table

DATE_WIDTHS = ("month", "quarter", "year", "decade")
"""Intervals of dates, narrowest first."""
PARTS = 32
"""The narrowest interval of numbers is at least the range divided by this."""


def with_hierarchies(table: Table) -> Table:
    """Give every quasi-identifier a hierarchy; those of the schema stay.

    Numbers get the intervals of `proposed_widths`, dates months, quarters, years and decades,
    categories without a hierarchy the two levels of the value and ``*``. Proposed intervals
    are written into the schema, so that a reader can rebuild them.

    Parameters
    ----------
    table
        The encoded file.
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
    """Widths of intervals for a numeric quasi-identifier that has no hierarchy.

    The narrowest is the next of 1, 2, 5 times a power of ten from a thirty-second of the range
    on, and wider than the last decimal place; each further one is twice as wide, while it is
    below the range. Ages from 17 to 90 give 5, 10, 20, 40.

    Parameters
    ----------
    column
        The column, with at least two values.
    """
    domain = column.domain
    if not isinstance(domain, NumberDomain) or domain.unit != "number":
        return DATE_WIDTHS
    span = int(domain.points[-1]) - int(domain.points[0])
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
