"""The tree's cost as a function of records, quasi-identifiers and sensitive values.

Prints the tables of docs/EVIDENCE.md and draws its picture.

Usage: scaling.py [FILE.svg]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import altair as alt
from timing import machine, seconds
from trees import sort_seconds, tree
from visits import visits

from sfumato.core.atomic import write_text
from sfumato.reports.pictures import AFTER, BEFORE, picture, values
from sfumato.table.door import open_table

RECORDS = (50_000, 100_000, 200_000, 400_000, 1_000_000, 2_000_000, 4_000_000, 10_000_000)
COLUMNS = (1, 2, 3, 4, 5, 6, 8, 10, 12)
DIAGNOSES = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000)
MIDDLE = 1_000_000
REPEATS = 3
SORT = "sort of each QI"
PANELS = {
    "records": "Records (5 QIs, 300 values)",
    "quasi-identifiers": "Quasi-identifiers (1 million records)",
    "sensitive values": "Sensitive values (1 million records)",
}


def measured(what: str, at: int, records: int = MIDDLE, **table: int) -> list[dict[str, Any]]:
    """Seconds of the tree, and of the sort of its columns."""
    encoded = open_table(*visits(records, **table), keep_source=False)
    return [
        {"what": what, "at": at, "line": line, "seconds": took}
        for line, took in (
            ("tree", seconds(lambda: tree(encoded), REPEATS)),
            (SORT, sort_seconds(encoded)),
        )
    ]


def everything() -> list[dict[str, Any]]:
    """All points, printed as they are measured."""
    tree(open_table(*visits(100_000), keep_source=False))
    points: list[dict[str, Any]] = []
    for what, steps in zip(PANELS, (RECORDS, COLUMNS, DIAGNOSES), strict=True):
        print(f"\n{what:>18}{'tree s':>9}{'sort s':>9}{'x sort':>8}")
        for at in steps:
            if what == "records":
                found = measured(what, at, at)
            elif what == "quasi-identifiers":
                found = measured(what, at, columns=at)
            else:
                found = measured(what, at, diagnoses=at)
            took, sort = (point["seconds"] for point in found)
            print(f"{at:>18,}{took:>9.3f}{sort:>9.3f}{took / sort:>8.1f}", flush=True)
            points += found
    return points


def _panel(points: list[dict[str, Any]], what: str) -> alt.Chart:
    across = alt.Scale(type="linear") if what == "quasi-identifiers" else alt.Scale(type="log")
    up = alt.Scale(type="log") if what == "records" else alt.Scale(type="linear")
    here = [point for point in points if point["what"] == what]
    chart: alt.Chart = (
        alt.Chart(values(here))
        .mark_line(point=True)
        .encode(
            x=alt.X(
                "at:Q",
                title=PANELS[what],
                scale=across,
                axis=alt.Axis(format="~s", tickCount=5),
            ),
            y=alt.Y("seconds:Q", title="seconds", scale=up),
            color=alt.Color(
                "line:N",
                title=None,
                scale=alt.Scale(domain=["tree", SORT], range=[AFTER, BEFORE]),
            ),
        )
        .properties(width=210, height=190)
    )
    return chart


def drawn(points: list[dict[str, Any]]) -> str:
    """The three panels as SVG."""
    chart = alt.hconcat(*(_panel(points, what) for what in PANELS))
    return str(
        picture(
            chart,
            "scaling",
            "Seconds of the tree and of a sort of each quasi-identifier, over the number of "
            "records, of quasi-identifiers and of sensitive values.",
        )
    )


def main() -> None:
    """Measure, print, and draw where a file is named."""
    print(machine())
    points = everything()
    if len(sys.argv) > 1:
        write_text(Path(sys.argv[1]), drawn(points))


if __name__ == "__main__":
    main()
