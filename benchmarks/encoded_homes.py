"""Linkages of encodings whose people share homes, in %: what is stated beside what is true.

A row for each kind of file, of the first seed; then how many intervals hold over all seeds, half of
the linkages with sources that are declared to have nobody twice. Salt and order of the encodings
are drawn anew by each run, so that figures of two runs differ.

Usage: encoded_homes.py [SEEDS] [PEOPLE]    (3 seeds, 1,500 people)
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import sfumato as sf
from sfumato.linkage.encoded_table import encode_table
from sfumato.linkage.encoding_linkage import Matching
from sfumato.linkage.linkage_result import Found

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "linkage"))
from census_files import two_files  # type: ignore[import-not-found]

SECRET = b"a secret of more than sixteen bytes"
HOME, BIRTH = ("street_number", "street_name"), ("date_of_birth", "sex")
FILES: dict[str, dict[str, Any]] = {
    "names, home": {"leave_out": BIRTH},
    "names, birth, sex, home": {},
    "names, birth, sex": {"leave_out": HOME},
    "the same, 8 % misspelt": {"leave_out": HOME, "errors": 0.08},
    "names, home, a fifth moved": {"leave_out": BIRTH, "moved": 0.2},
    "all, a tenth of the cells empty": {"blank": 0.1, "share": 0.95},
    "all, 40 % in each source": {"share": 0.4},
    "all, a tenth in each source": {"share": 0.1},
}


def measured(links: Found, whose: dict[str, int]) -> tuple[float, float]:
    """Precision and recall of a linkage's matches."""
    rows = links.pairs_table.to_pylist()
    same = [whose[row["id_l"]] == whose[row["id_r"]] for row in rows if row["outcome"] == "match"]
    there = sum(count - 1 for count in Counter(whose.values()).values())
    return sum(same) / max(len(same), 1), sum(same) / there


def main(seeds: int, people: int) -> None:
    """Print a row per kind of file, and how many intervals hold."""
    held, done = np.zeros(2, int), 0
    print("| columns | F1 encoded | clear text | precision stated | true | recall stated | true |")
    for name, kind in FILES.items():
        for seed in range(seeds):
            tables, whose = two_files(people, seed=seed, **kind)
            first = encode_table(tables["a"], SECRET, id_column="id")
            second = encode_table(tables["b"], SECRET, first.spec, id_column="id")
            for once in ((), ("a", "b")):
                links = sf.link(
                    {"a": first.encoded, "b": second.encoded},
                    Matching(one_per_source=once), seed=1,
                )  # fmt: skip
                truth = measured(links, whose)
                held += [
                    (each.low or 0) <= true <= (each.high or 1)
                    for each, true in zip(links.quality, truth, strict=True)
                ]
                done += 1
                if seed == 0 and once:
                    clear = measured(sf.link(tables, id_column="id", seed=1), whose)
                    print(_row(name, links.quality, truth, clear), flush=True)
    print(f"intervals that hold, of {done}: precision {held[0]}, recall {held[1]}")


def _row(name: str, stated: tuple[sf.Measure, ...], *true: tuple[float, float]) -> str:
    f1 = [2 * precision * recall / (precision + recall) for precision, recall in true]
    ends = [f"{100 * (m.low or 0):.1f} to {100 * (m.high or 1):.1f}" for m in stated]
    return (
        f"| {name} | {f1[0]:.3f} | {f1[1]:.3f} | {100 * stated[0].value:.1f} ({ends[0]}) | "
        f"{100 * true[0][0]:.1f} | {ends[1]} | {100 * true[0][1]:.1f} |"
    )


if __name__ == "__main__":
    main(*map(int, (sys.argv[1:] + ["3", "1500"][len(sys.argv) - 1 :])))
