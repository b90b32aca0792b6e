"""What the notebook views of all results are made of: one styled table, one picture of bars.

The picture is SVG of our own, so that it needs no extra and no script. Every text is escaped.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape

from sfumato.core.number_text import percent

COLOURS = ("#c7ab6b", "#1b4965")
"""Of two things side by side, as in reports; of one alone the second."""
MOST_BARS = 40
"""Rows of a picture; more are counted below it."""
_LEFT_ALIGNED = 'style="text-align:left;vertical-align:top;white-space:normal"'
_RIGHT_ALIGNED = 'style="text-align:right;vertical-align:top;white-space:nowrap"'
# In pixels. A letter of the font's 11 pixels is some 6 wide, by which labels are cut.
_WIDTH, _LEFT, _ROW, _TOP, _LETTER = 560, 160, 18, 24, 6.2


def lead(sentence: str) -> str:
    """The first line of a view: the worst that is to be said."""
    return f"<p><strong>{escape(sentence)}</strong></p>"


def styled_table(
    title: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    numbers: Collection[int] = (),
) -> str:
    """A table whose first cell of each row is its heading."""
    aligned = [_RIGHT_ALIGNED if index in numbers else _LEFT_ALIGNED for index in range(len(heads))]
    head = "".join(
        f'<th scope="col" {how}>{escape(head)}</th>'
        for head, how in zip(heads, aligned, strict=True)
    )
    lines = []
    for place, row in enumerate(rows):
        cells = "".join(
            f"<td {how}>{escape(cell)}</td>" for cell, how in zip(row[1:], aligned[1:], strict=True)
        )
        # Half transparent, as notebooks have light and dark themes.
        shade = ' style="background:rgba(128,128,128,.08)"' if place % 2 else ""
        lines.append(f'<tr{shade}><th scope="row" {aligned[0]}>{escape(row[0])}</th>{cells}</tr>')
    return (
        f'<table><caption style="text-align:left;font-weight:bold">{escape(title)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    )


def bars(title: str, labels: Sequence[str], series: Mapping[str, Sequence[float]]) -> str:
    """Shares from 0 to 1 as horizontal bars, one row for each label."""
    colours, shown = COLOURS[-len(series) :], labels[:MOST_BARS]
    bar = 0.7 * _ROW / len(series)
    parts = []
    for number, (name, colour) in enumerate(zip(series, colours, strict=True)):
        x = number * _WIDTH / 2
        parts.append(f'<rect x="{x:.0f}" y="4" width="10" height="10" fill="{colour}"/>')
        parts.append(svg_text(x + 14, 13, name, "start"))
    for place, label in enumerate(shown):
        y, room = _TOP + place * _ROW, int(_LEFT / _LETTER) - 1
        cut = label if len(label) <= room else f"{label[: room - 1]}…"
        parts.append(svg_text(_LEFT - 6, y + 0.7 * _ROW, cut, "end"))
        for number, (shares, colour) in enumerate(zip(series.values(), colours, strict=True)):
            width = shares[place] * (_WIDTH - _LEFT - 50)
            parts.append(
                f'<rect x="{_LEFT}" y="{y + 2 + number * bar:.1f}" width="{width:.1f}" '
                f'height="{bar:.1f}" fill="{colour}"/>'
            )
        last = list(series.values())[-1][place]
        end = _LEFT + max(each[place] for each in series.values()) * (_WIDTH - _LEFT - 50)
        parts.append(svg_text(end + 4, y + 0.7 * _ROW, percent(last), "start"))
    height = _TOP + len(shown) * _ROW + 4
    if len(labels) > len(shown):
        said = f"{len(labels) - len(shown):,} more are not drawn"
        parts.append(svg_text(_LEFT, height + 10, said, "start"))
        height += 16
    return svg(title, _WIDTH, height, parts)


def svg(title: str, width: int, height: int, parts: Iterable[str]) -> str:
    """A picture of its parts."""
    return (
        f'<svg role="img" aria-label="{escape(title)}" width="{width}" height="{height}" '
        f'xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'
    )


def svg_text(x: float, y: float, text: str, anchor: str) -> str:
    """A text within a picture."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="11" font-family="sans-serif" '
        # The colour of the text around it, which a dark theme makes light.
        f'fill="currentColor" text-anchor="{anchor}">{escape(text)}</text>'
    )


def notes(warnings: Sequence[str]) -> str:
    """Warnings as paragraphs."""
    return "".join(f"<p>Warning: {escape(warning)}</p>" for warning in warnings)
