"""How a notebook shows risks: one table, the original beside the release, and one picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from sfumato.core.notebook_parts import COLOURS, styled_table, svg, svg_text
from sfumato.core.number_text import percent
from sfumato.risk.measure_table import Row

if TYPE_CHECKING:
    from sfumato.risk.class_measures import ClassShape

_EDGES = (1, 2, 3, 5, 10, 20, 50, 100)
"""Least persons of a class of each bar."""
_WIDTH, _HEIGHT, _LEFT, _TOP, _FOOT = 560, 130, 40, 22, 36


def measures_table(title: str, columns: Mapping[str, Sequence[Row]]) -> str:
    """Measures of one file or several as one HTML table; the last file says which there are."""
    values = {name: {row.name: row.value for row in rows} for name, rows in columns.items()}
    lines = []
    for row in list(columns.values())[-1]:
        where = row.where
        place = "" if where is None else f" (class {where.equivalence_class}, row {where.row})"
        cells = [values[name].get(row.name, "") for name in columns]
        lines.append((row.name, *cells, f"{row.meaning}{place}"))
    heads = ("measure", *columns, "meaning")
    return styled_table(title, heads, lines, numbers=range(1, len(columns) + 1))


def class_sizes_picture(shapes: Mapping[str, ClassShape]) -> str:
    """The share of persons in classes of each size of one or two files, as bars in SVG."""
    shares = [_shares(shape) for shape in shapes.values()]
    # One file alone has the colour that the release has beside its original.
    colours = COLOURS[-len(shapes) :]
    step = (_WIDTH - _LEFT) / len(_EDGES)
    bar = 0.8 * step / len(shapes)
    parts = [_axis()]
    for series, (own, colour) in enumerate(zip(shares, colours, strict=True)):
        for place, share in enumerate(own):
            x, height = _LEFT + place * step + 0.1 * step + series * bar, share * _HEIGHT
            parts.append(
                f'<rect x="{x:.1f}" y="{_TOP + _HEIGHT - height:.1f}" width="{bar:.1f}" '
                f'height="{height:.1f}" fill="{colour}"><title>{percent(share)}</title></rect>'
            )
    for place, label in enumerate(_labels()):
        x = _LEFT + (place + 0.5) * step
        parts.append(svg_text(x, _TOP + _HEIGHT + 14, label, "middle"))
    parts.append(svg_text(_LEFT, _TOP + _HEIGHT + 30, "people per class", "start"))
    for series, (name, colour) in enumerate(zip(shapes, colours, strict=True)):
        x = _LEFT + 130 * series
        parts.append(f'<rect x="{x}" y="4" width="10" height="10" fill="{colour}"/>')
        parts.append(svg_text(x + 14, 13, f"{name}: share of people", "start"))
    title = "Share of people by the size of their class"
    return svg(title, _WIDTH, _TOP + _HEIGHT + _FOOT, parts)


def _shares(shape: ClassShape) -> list[float]:
    """The share of persons in the classes of each bar."""
    bins = np.searchsorted(_EDGES, shape.persons, "right") - 1
    # Persons and not classes: many small classes may hold few people.
    held = np.bincount(bins, shape.persons * shape.classes, len(_EDGES))
    return [float(each) for each in held / max(held.sum(), 1)]


def _labels() -> list[str]:
    ends = [f"{low}" if high == low + 1 else f"{low}-{high - 1}" for low, high in pairwise(_EDGES)]
    return [*ends, f"{_EDGES[-1]}+"]


def _axis() -> str:
    lines = [
        f'<line x1="{_LEFT}" x2="{_WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="#8888" '
        f'stroke-width="0.5"/>{svg_text(_LEFT - 4, y + 4, f"{percent} %", "end")}'
        for percent in (0, 50, 100)
        for y in [_TOP + _HEIGHT * (1 - percent / 100)]
    ]
    return "".join(lines)
