"""Charts as SVG of our own, each with the table of the same numbers.

Colours and lines come from the page's style by class, so that a strict policy holds: no inline
style, no script.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from sfumato.server.workbench.column_figures import FEWEST, Bar

WIDTH, HEIGHT = 240, 56
"""Units of a histogram's drawing."""


@dataclass(frozen=True)
class Interval:
    """A number with its interval, as a chart draws it.

    Attributes
    ----------
    value, low, high
        In the unit of the axis.
    """

    label: str
    value: float
    low: float
    high: float
    said: str = ""


def histogram(
    bars: Sequence[Bar], label: str, *, values: bool = False, brackets: Sequence[float] = ()
) -> SafeString:
    """A histogram; hidden bars are hatched, and say so in the table.

    Parameters
    ----------
    label
        What it shows, for who does not see it.
    values
        Whether what the bars stand for may be shown.
    brackets
        Where intervals begin, as shares of the width.
    """
    most = max((bar.count or 0 for bar in bars), default=0) or 1
    step = WIDTH / max(len(bars), 1)
    drawn = []
    for at, bar in enumerate(bars):
        shown = FEWEST / 2 if bar.count is None else bar.count
        height = max(HEIGHT * shown / most, 1.0) if shown else 0.0
        kind = "bar hidden-bar" if bar.count is None else "bar"
        drawn.append(
            f'<rect class="{kind}" x="{at * step:.2f}" y="{HEIGHT - height:.2f}" '
            f'width="{max(step - 1, 0.5):.2f}" height="{height:.2f}"/>'
        )
    lines = [
        f'<line class="bracket" x1="{WIDTH * at:.2f}" x2="{WIDTH * at:.2f}" y1="0" y2="{HEIGHT}"/>'
        for at in brackets
    ]
    title = escape(label)
    svg = (
        f'<svg class="histogram" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}" '
        f'preserveAspectRatio="none">{"".join(drawn)}{"".join(lines)}</svg>'
    )
    return mark_safe(svg + _table_of_bars(bars, label, values=values))  # noqa: S308 - escaped above


def _table_of_bars(bars: Sequence[Bar], label: str, *, values: bool) -> str:
    rows = []
    for at, bar in enumerate(bars, 1):
        named = f"{bar.low} – {bar.high}" if bar.high else bar.low or "others"
        count = f"below {FEWEST}, or hidden beside it" if bar.count is None else f"{bar.count:,}"
        rows.append((named if values else str(at), count))
    return table(label, ("value" if values else "bar", "records"), rows, folded=True)


def table(
    caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]], *, folded: bool = False
) -> SafeString:
    """The table of a chart; all columns but the first hold numbers.

    Parameters
    ----------
    folded
        Whether it is opened by a click.
    """
    head = "".join(
        f'<th scope="col"{" class=number" if at else ""}>{escape(each)}</th>'
        for at, each in enumerate(heads)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td class="number">{escape(cell)}</td>' if at else f"<td>{escape(cell)}</td>"
            for at, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    made = (
        f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )
    if folded:
        made = f"<details><summary>Numbers</summary><div class=scroll>{made}</div></details>"
    return mark_safe(made)  # noqa: S308 - each text is escaped


def intervals(
    marks: Sequence[Interval], caption: str, unit: str, *, limit: float | None = None
) -> SafeString:
    """Numbers with their intervals, a line each, the limit across; and their table.

    Parameters
    ----------
    limit
        Where a line is drawn, in the unit of the axis.
    """
    ends = [each.high for each in marks] + ([limit] if limit is not None else [])
    most = (max(ends, default=1.0) or 1.0) * 1.1
    height = 28 * len(marks) + 8

    def at(number: float) -> float:
        return 70 + 240 * number / most

    drawn = [] if limit is None else [
        f'<line class="limit" x1="{at(limit):.1f}" x2="{at(limit):.1f}" y1="0" y2="{height}"/>'
    ]  # fmt: skip
    for place, each in enumerate(marks):
        y = 28 * place + 18
        drawn.append(
            f'<text x="0" y="{y + 4}" class="axis">{escape(each.label)}</text>'
            f'<line class="interval" x1="{at(each.low):.1f}" x2="{at(each.high):.1f}" y1="{y}" '
            f'y2="{y}"/><circle class="dot" cx="{at(each.value):.1f}" cy="{y}" r="4"/>'
        )
    svg = (
        f'<svg class="intervals" viewBox="0 0 320 {height}" role="img" '
        f'aria-label="{escape(caption)}">{"".join(drawn)}</svg>'
    )
    rows = [(each.label, each.said or f"{each.value:.3g}") for each in marks]
    return mark_safe(svg + table(caption, ("", unit), rows))  # noqa: S308 - each text is escaped
