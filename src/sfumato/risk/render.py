"""Draw a table of measures as text and as HTML for notebooks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sfumato.core.measure import Measure, Position
from sfumato.risk.words import IN_POPULATION, MEANINGS


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: name, printed value, meaning, and the place it comes from."""

    name: str
    value: str
    meaning: str
    where: Position | None = None


def row(
    name: str,
    value: str,
    where: Position | None = None,
    column: str = "",
    *,
    own_population: bool = True,
) -> Row:
    """A line about a measure, or about a measure of one column, with what it means."""
    meaning = MEANINGS[name] if own_population else IN_POPULATION.get(name, MEANINGS[name])
    return Row(f"{name} [{column}]" if column else name, value, meaning, where)


def share(measure: Measure) -> str:
    """A share as a percentage, with three digits below 1 %."""
    percent = 100 * measure.value
    return f"{percent:.3g} %" if 0 < percent < 1 else f"{percent:.1f} %"


def number(measure: Measure) -> str:
    """A number with four significant digits; an infinite one as words."""
    return "no c" if measure.value == float("inf") else f"{measure.value:.4g}"


def whole(measure: Measure) -> str:
    """An expected count, with one digit below 100."""
    return f"{measure.value:,.1f}" if measure.value < 100 else f"{measure.value:,.0f}"


def interval(measure: Measure, value: Callable[[Measure], str]) -> str:
    """A measure, and its interval where it is an estimate with one."""
    low, high = measure.low, measure.high
    if low is None or high is None or low == high:
        return value(measure)
    ends = (value(replace(measure, value=end)) for end in (low, high))
    return f"{value(measure)} ({' to '.join(ends)})"


def count(value: int) -> str:
    """A count with separators of thousands."""
    return f"{value:,}"


def text(title: str, rows: Sequence[Row], warnings: Sequence[str]) -> str:
    """Lay the rows out in columns."""
    name = max(len(row.name) for row in rows)
    value = max(len(row.value) for row in rows)
    lines = [title]
    lines += [
        f"  {row.name:<{name}}  {row.value:>{value}}  {row.meaning}{_place(row.where)}"
        for row in rows
    ]
    lines += [f"  Warning: {warning}" for warning in warnings]
    return "\n".join(lines)


def html(title: str, rows: Sequence[Row], warnings: Sequence[str]) -> str:
    """Lay the rows out as one HTML table; every text is escaped."""
    from html import escape

    body = "".join(
        f'<tr><th scope="row" style="text-align:left">{escape(row.name)}</th>'
        f'<td style="text-align:right">{escape(row.value)}</td>'
        f'<td style="text-align:left">{escape(row.meaning + _place(row.where))}</td></tr>'
        for row in rows
    )
    notes = "".join(f"<p>Warning: {escape(warning)}</p>" for warning in warnings)
    return (
        f'<table><caption style="text-align:left">{escape(title)}</caption>'
        '<thead><tr><th scope="col" style="text-align:left">measure</th>'
        '<th scope="col" style="text-align:right">value</th>'
        '<th scope="col" style="text-align:left">meaning</th></tr></thead>'
        f"<tbody>{body}</tbody></table>{notes}"
    )


def _place(where: Position | None) -> str:
    return "" if where is None else f" (class {where.equivalence_class}, row {where.row})"
