"""Reviews of a linkage by people who know the truth: coverage of intervals, and errors halved.

Usage: simulated_reviews.py [REVIEWS] [ROW ...]

A linkage is made once and reviewed REVIEWS times: four batches of 50 pairs, drawn, answered and
applied in folders as `sfumato link next` and `sfumato link apply` do. The people are always right.
At least 93 % of the intervals must hold the truth of the persons written, and the mean error of the
printed precision must be at most half of that before.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from truth import ROWS, rates

from sfumato.linkage.earlier_linkage import apply_decisions, read_earlier
from sfumato.linkage.link import link
from sfumato.linkage.link_options import NextPairs
from sfumato.linkage.link_spec import LinkSpec
from sfumato.linkage.next_batch import next_batch
from sfumato.linkage.spec_suggestion import suggest_links

SMALL = ("clinics 1,000", "fake_people", "families, duplicates", "families, twins")
BATCHES, PAIRS, COVERED, HALF = 4, 50, 0.93, 0.5


def answered(batch: Path, person: dict[tuple[str, str], int]) -> Path:
    """The file of a batch's answers."""
    rows = pq.read_table(batch / "pairs.parquet").to_pylist()
    same = [
        person[row["source_l"], row["id_l"]] == person[row["source_r"], row["id_r"]] for row in rows
    ]
    answers = {
        "pair": pa.array([row["pair"] for row in rows], pa.string()),
        "worker": pa.array(["truth"] * len(rows), pa.string()),
        "answer": pa.array([3 if each else -3 for each in same], pa.int8()),
        "time": pa.array([datetime.now(UTC)] * len(rows), pa.timestamp("us", "UTC")),
        "withdrawn": pa.array([False] * len(rows)),
    }
    pq.write_table(pa.table(answers), batch / "decisions.parquet")
    return batch / "decisions.parquet"


def reviewed(made: Path, labels: np.ndarray, seed: int) -> list[tuple[float, float, float, float]]:
    """Of precision and recall: value, low, high after a review, and the truth then."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(shutil.copytree(made, Path(temporary) / "linked"))
        earlier = read_earlier(folder)
        ids = [each.as_py() for own in earlier.records.ids for each in own]
        of = earlier.records.source_of(np.arange(len(ids))).tolist()
        sources = [earlier.records.sources[each] for each in of]
        person = dict(zip(zip(sources, ids, strict=True), labels.tolist(), strict=True))
        for number in range(BATCHES):
            batch = Path(temporary) / f"batch{number}"
            next_batch(folder, batch, NextPairs(pairs=PAIRS, seed=seed))
            links = apply_decisions(folder, answered(batch, person))
            links.write(folder)
        true = rates(links.settled.persons.person.tolist(), labels.tolist())
        told = links.to_json()["persons"]
    return [(*(told[n][part] for part in ("value", "low", "high")), true[n]) for n in true]


def measure(name: str, reviews: int) -> bool:
    """Print a row: whether intervals cover, and the error of precision is halved."""
    tables, labels, mode = ROWS[name]()
    suggestion = suggest_links(tables, mode=mode)
    if "one per source" in name:
        once = {**dict(suggestion.spec), "one_per_source": list(tables)}
        suggestion = replace(suggestion, spec=LinkSpec(**once))
    links = link(tables, suggestion, seed=1)
    told = links.to_json()["persons"]["precision"]["value"]
    true = rates(links.settled.persons.person.tolist(), labels.tolist())
    before = abs((0.5 if told is None else told) - true["precision"])
    with tempfile.TemporaryDirectory() as temporary:
        made = links.write(Path(temporary) / "made")
        found = np.array([reviewed(made, labels, seed) for seed in range(reviews)])
    covered = ((found[:, :, 1] <= found[:, :, 3]) & (found[:, :, 3] <= found[:, :, 2])).mean(axis=0)
    error = np.abs(found[:, :, 0] - found[:, :, 3]).mean(axis=0)
    width = (found[:, :, 2] - found[:, :, 1]).mean(axis=0)
    good = bool(np.all(covered >= COVERED)) and error[0] <= HALF * before
    cells = [f"{100 * before:>9.2f}"]
    for place in range(2):
        cells.append(f"{100 * error[place]:>9.2f}{100 * covered[place]:>9.1f}")
        cells.append(f"{100 * width[place]:>7.2f}")
    print(f"{name:26}{''.join(cells)}  {'met' if good else 'NOT MET'}", flush=True)
    return good


def main() -> None:
    """Print a row for each linkage."""
    reviews = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print(f"{'':26}{'precision':>18}{'':16}{'recall':>9}\n{'':26}{'before':>9}{'error':>9}"
          f"{'covered':>9}{'width':>7}{'error':>9}{'covered':>9}{'width':>7}")  # fmt: skip
    rows = sys.argv[2:] or SMALL
    print(f"{sum([measure(name, reviews) for name in rows])} of {len(rows)} met")


if __name__ == "__main__":
    main()
