"""Every figure of docs/performance.md, measured in one run on this machine.

Usage: run.py [PART ...]    (all parts where none is named: tree, processes, ... as below)
"""

from __future__ import annotations

import sys

import by_hand
import linkage
import linkage_anonymity
import loss
import many_cells
import peers
import processes
import review
import serve
import trees
from timing import machine

PARTS = {
    "tree": trees.report,
    "processes": processes.report,
    "peers": peers.report,
    "loss": loss.report,
    "many_cells": many_cells.report,
    "review": review.report,
    "serve": serve.short,
    "linkage": linkage.report,
    "linkage_anonymity": linkage_anonymity.report,
    "by_hand": by_hand.report,
}


def main() -> None:
    """Print the parts that are asked for."""
    asked = sys.argv[1:] or list(PARTS)
    if not set(asked) <= set(PARTS):
        sys.exit(f"usage: run.py [{'|'.join(PARTS)} ...]")
    print(machine())
    for name in asked:
        print(f"\n== {name}\n", flush=True)
        PARTS[name]()


if __name__ == "__main__":
    main()
