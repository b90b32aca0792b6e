"""What it costs to protect against an intruder who knows how many records a person has.

Prints the tables of docs/EVIDENCE.md and draws its picture.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from studies.kartal_li.data_sets import PATIENT_SCHEMA as SCHEMA
from studies.kartal_li.data_sets import patient_records

import sfumato as sf
from sfumato.core.atomic import write_text
from sfumato.examples import generate_clinics
from sfumato.reports.pictures import AFTER, BEFORE, LIMIT, picture, values

PERSONS = 20_000
SEED = 2016
SHARED = (2, 3, 5)
NOTHING = "nothing"
WAYS: dict[str, dict[str, Any]] = {
    "cap at 10, tree": {"cap_records": 10},
    "cap at 5, tree": {"cap_records": 5},
    "drop": {"coarsen_counts": "drop"},
    "drop, K = 50": {"coarsen_counts": "drop", "persons": 50},
    "split": {"coarsen_counts": "split"},
    "split, K = 50": {"coarsen_counts": "split", "persons": 50},
}
"""Options of each way; ``persons`` stands for PID-based K-anonymity beside the promises."""
COLOURS = [BEFORE, "#8a6d1f", LIMIT, "#dd9a8c", AFTER, "#78a9c8"]


@dataclass(frozen=True)
class Row:
    """One release: what it gives away to somebody who counts, and what it lost."""

    file: str
    way: str
    m: int
    release: sf.Release
    links_lost: float

    def cells(self) -> list[str]:
        """The row of the table."""
        risk, utility = self.release.risk, self.release.utility
        ids = 0 if utility.counts is None else utility.counts.ids_added
        return [
            str(self.m or "–"),
            self.way,
            f"{risk.count_k:,}",
            f"{100 * risk.exposed_persons.value:.1f}",
            f"{100 * risk.max_count_risk.value:.1f}",
            f"{100 * risk.avg_count_risk.value:.1f}",
            f"{risk.classes:,}",
            f"{utility.ane:.4f}",
            f"{utility.ncp:.4f}",
            f"{utility.suppressed_records:,}",
            f"{ids:,}",
            f"{100 * self.links_lost:.1f}",
        ]


HEAD = [
    "m",
    "way",
    "count_k",
    "exposed %",
    "max %",
    "average %",
    "classes",
    "ANE",
    "NCP",
    "records lost",
    "ids added",
    "links lost %",
]


def pairs(persons: pa.ChunkedArray) -> int:
    """Ordered pairs of records that are seen to be one person's."""
    counts = pc.value_counts(persons.combine_chunks()).field("counts").to_numpy()
    return int((counts * (counts - 1)).sum())


def rows(file: str, data: pa.Table, schema: sf.Schema) -> Iterator[Row]:
    """Release a file with g* = 0.8 in every way."""
    person = schema.person or ""
    before = pairs(data.column(person))
    asked: list[tuple[str, int, dict[str, Any]]] = [(NOTHING, 0, {})]
    asked += [(way, m, options) for m in SHARED for way, options in WAYS.items()]
    for way, m, options in asked:
        shared = (sf.SharedCounts(m),) if m else ()
        large = (sf.PidKAnonymity(options["persons"]),) if "persons" in options else ()
        making = {name: value for name, value in options.items() if name != "persons"}
        promises = (sf.GBalance(0.8), *large, *shared)
        release = sf.anonymize(data, schema, *promises, cut="median", **making, seed=SEED)
        after = pairs(release.table.column(person).cast(pa.string()))
        yield Row(file, way, m, release, 1 - after / before)


def table(found: list[Row]) -> str:
    """The rows of one file as Markdown."""
    lines = [HEAD, ["--:", "---", *["--:"] * (len(HEAD) - 2)], *(row.cells() for row in found)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def chart(found: list[Row]) -> alt.VConcatChart:
    """Average chance of being found against each loss, one line per way."""
    losses = {
        "records lost": lambda row: (
            row.release.utility.suppressed_records / row.release.utility.records
        ),
        "links lost": lambda row: row.links_lost,
        "distance from the class mean (ANE)": lambda row: row.release.utility.ane,
    }
    lines = []
    for file in dict.fromkeys(row.file for row in found):
        panels = [
            _panel([row for row in found if row.file == file], f"{file}: {name}", loss)
            for name, loss in losses.items()
        ]
        lines.append(alt.hconcat(*panels, spacing=22))
    return alt.vconcat(*lines, spacing=14)


def _panel(found: list[Row], title: str, loss: Any) -> alt.LayerChart:
    nothing = next(row for row in found if row.way == NOTHING)
    points = [
        {
            "way": way,
            "risk": row.release.risk.avg_count_risk.value,
            "loss": loss(row),
        }
        for way, options in WAYS.items()
        for start in [() if options.keys() & {"persons", "cap_records"} else (nothing,)]
        for row in (*(row for row in found if row.way == way), *start)
    ]
    base = alt.Chart(values(points)).encode(
        x=alt.X("risk:Q", title="average chance to be found by who counts").axis(format=".0%"),
        y=alt.Y("loss:Q", title=None).axis(format=".0%"),
        color=alt.Color("way:N", sort=list(WAYS)).scale(domain=list(WAYS), range=COLOURS),
    )
    drawn: alt.LayerChart = (base.mark_line() + base.mark_circle(size=50, opacity=1)).properties(
        width=240, height=190, title=title
    )
    return drawn


def main() -> None:
    """Print the tables, draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with the INFORMS data")
    parser.add_argument("--picture", type=Path, help="where to draw the picture, .svg")
    asked = parser.parse_args()
    clinics = generate_clinics(PERSONS, rng=SEED)
    files = {"Clinics": (clinics.visits, clinics.schema)}
    if asked.data is not None:
        files = {"INFORMS": (patient_records(asked.data / "informs"), SCHEMA)} | files
    everything = []
    for file, (data, schema) in files.items():
        found = list(rows(file, data, schema))
        print(f"{file}: {data.num_rows:,} records of {found[0].release.risk.persons:,} persons\n")
        print(f"{table(found)}\n")
        everything += found
    if asked.picture is not None:
        said = "Chance to be found by somebody who counts, against three losses"
        drawn = str(picture(chart(everything), "count", said))
        white = '><rect width="100%" height="100%" fill="white"/>'
        write_text(asked.picture, drawn.replace(">", white, 1))


if __name__ == "__main__":
    main()
