"""Draw the errors of docs/population.md from what benchmarks/population.py --json has written.

Usage: population_plot.py FILE
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import vl_convert

TARGET = Path(__file__).parents[1] / "docs" / "images" / "population.svg"
NAMES = {
    "accumulation": "accumulation (auto)",
    "least error on subsamples": "chosen on subsamples",
    "sh3": "Sh3",
    "shlosser": "Shlosser",
    "pitman": "Pitman",
    "log-linear-independence": "independence",
    "negative-binomial": "negative binomial",
    "argus": "Argus",
}
COLOURS = (
    "#1b4965", "#5fa8d3", "#c7ab6b", "#a44a3f", "#5b8e7d", "#8f6593", "#8d99ae", "#444444",
)  # fmt: skip


def mean_errors(runs: list[dict[str, Any]], name: str) -> list[tuple[float, float]]:
    """Fraction and mean error of an estimator, for each population."""
    found = []
    for each in runs:
        errors = [error for error in each["errors"].get(name, []) if error is not None]
        if errors:
            found.append((each["fraction"], float(np.mean(errors))))
    return found


def lines(runs: list[dict[str, Any]]) -> Any:
    """Mean over the populations of the absolute mean error, by sampling fraction."""
    rows = []
    for name, label in NAMES.items():
        errors = mean_errors(runs, name)
        for fraction in sorted({fraction for fraction, _ in errors}):
            here = [abs(error) for own, error in errors if own == fraction]
            rows.append({"p": fraction, "error": 100 * float(np.mean(here)), "estimator": label})
    scale = alt.Scale(domain=list(NAMES.values()), range=COLOURS)
    return (
        alt.Chart(alt.InlineData(rows), title="all estimators", width=330, height=260)
        .mark_line(point=True)
        .encode(
            x=alt.X("p:Q", title="sampling fraction"),
            y=alt.Y("error:Q", title="mean |mean error|, %", scale=alt.Scale(type="log")),
            color=alt.Color("estimator:N", title=None, scale=scale),
        )
    )


def points(runs: list[dict[str, Any]]) -> Any:
    """The mean error of the default for each population."""
    rows = [
        {"p": f"{fraction:g}", "error": 100 * error}
        for fraction, error in mean_errors(runs, "accumulation")
    ]
    title = "accumulation: a point for each population"
    return (
        alt.Chart(alt.InlineData(rows), title=title, width=330, height=260)
        .mark_circle(size=40, opacity=0.5, color=COLOURS[0])
        .encode(
            x=alt.X("p:O", title="sampling fraction", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("error:Q", title="mean error, %"),
        )
    )


def main() -> None:
    """Read and draw."""
    if len(sys.argv) != 2:
        sys.exit("usage: population_plot.py FILE")
    runs = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    chart = alt.hconcat(lines(runs), points(runs)).configure(
        background="white", font="Arial, Helvetica, sans-serif"
    )
    TARGET.write_text(vl_convert.vegalite_to_svg(chart.to_dict()), encoding="utf-8")


if __name__ == "__main__":
    main()
