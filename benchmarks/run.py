"""Every figure of docs/EVIDENCE.md, measured in one run on this machine.

Usage: run.py [PART ...]    (all parts where none is named: tree, processes, ... as below)

Each part is a process of its own, so that none holds what an earlier one has left.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from timing import machine

HERE = Path(__file__).resolve().parent
PARTS = {
    "tree": ["trees.py"],
    "processes": ["processes.py"],
    "peers": ["peers.py"],
    "loss": ["loss.py", "random_releases.py"],
    "promised_limits": ["promised_limits.py"],
    "many_cells": ["many_cells.py"],
    "population": ["population.py", "--part", "--samples", "5"],
    "population_promise": ["population_promise.py", "--repeats", "1"],
    "histories": ["histories.py", "informs"],
    "leaks": ["leaks.py"],
    "random_series": ["random_series.py"],
    "foreign_releases": ["foreign_releases.py"],
    "review": ["review.py"],
    "serve": ["serve.py", "--records", "100000", "--seconds", "20", "clicks"],
    "linkage": ["linkage.py"],
    "truth": ["truth.py"],
    "simulated_reviews": ["simulated_reviews.py"],
    "clerks": ["simulated_reviews.py", "10", "--clerks"],
    "linkage_anonymity": ["linkage_anonymity.py"],
    "by_hand": ["by_hand.py"],
    "intake": ["intake.py", "--release"],
}


def main() -> None:
    """Print the parts that are asked for."""
    asked = sys.argv[1:] or list(PARTS)
    if not set(asked) <= set(PARTS):
        sys.exit(f"usage: run.py [{'|'.join(PARTS)} ...]")
    print(machine())
    for name in asked:
        print(f"\n== {name}\n", flush=True)
        script, *words = PARTS[name]
        code = subprocess.call([sys.executable, HERE / script, *words])  # noqa: S603
        if code:
            sys.exit(code)


if __name__ == "__main__":
    main()
