"""Draw the README's picture: what `make demo` finds before and after its release.

Usage: readme_plot.py FOLDER, where the demo has run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import vl_convert

import sfumato as sf
from sfumato.risk.class_measures import gidr, gsar

TARGET = Path(__file__).parents[1] / "docs" / "images" / "demo.svg"
NAMES = ("original", "release")
COLOURS = ("#c7ab6b", "#1b4965")
PANELS: dict[str, Callable[[sf.Risk], Any]] = {
    "whose record is it? (GIDR)": lambda risk: gidr(risk.own_classes()),
    "who can be found? (1 / persons)": lambda risk: 1 / risk.own_classes().persons,
    "who has which diagnosis? (GSAR)": lambda risk: gsar(risk.own_classes(), "icd9"),
}


def panel(title: str, risks: tuple[sf.Risk, sf.Risk]) -> Any:
    """Share of the classes by their risk, before and after; a bar holds its upper end."""
    edges = np.linspace(0, 1, 21)
    rows = []
    for name, risk in zip(NAMES, risks, strict=True):
        counts = np.histogram(-PANELS[title](risk), -edges[::-1])[0][::-1]
        rows += [
            {"file": name, "from": low, "to": high, "share": float(count / counts.sum())}
            for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
            if count
        ]
    whole = alt.Scale(domain=[0, 1])
    share = alt.Axis(format=".0%", title="share of the classes")
    return (
        alt.Chart(alt.InlineData(rows), title=title, width=230, height=150)
        .mark_bar(opacity=0.9)
        .encode(
            x=alt.X("from:Q", title="risk of the class", axis=alt.Axis(format=".0%"), scale=whole),
            x2="to:Q",
            y=alt.Y("share:Q", axis=share, stack=None),
            y2=alt.datum(0),
            color=alt.Color("file:N", title=None, scale=alt.Scale(domain=NAMES, range=COLOURS)),
        )
    )


def main(folder: Path) -> None:
    """Measure and draw."""
    linked = folder / "stages" / "linked"
    schema = sf.load_schema(linked / "linked.toml")
    # What is released are labels, whatever the original holds.
    labels = dict.fromkeys(schema.quasi_identifiers, "categorical")
    shown = sf.Schema(person="person", quasi_identifiers=labels, sensitive=["icd9"])
    released = folder / "output" / "release" / "release.csv"
    risks = (sf.assess(linked / "linked.parquet", schema), sf.assess(released, shown))
    chart = alt.hconcat(*(panel(title, risks) for title in PANELS)).configure(
        background="white", font="Arial, Helvetica, sans-serif"
    )
    TARGET.write_text(vl_convert.vegalite_to_svg(chart.to_dict()), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
