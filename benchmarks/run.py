"""Every figure of docs/performance.md, measured in one run on this machine.

Usage: run.py [tree|processes|peers|loss|many_cells ...]    (all of them where none is named)
"""

from __future__ import annotations

import sys

import loss
import many_cells
import peers
import processes
import trees
from timing import machine

PARTS = {
    "tree": trees.report,
    "processes": processes.report,
    "peers": peers.report,
    "loss": loss.report,
    "many_cells": many_cells.report,
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
