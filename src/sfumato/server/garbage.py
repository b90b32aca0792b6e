"""When Python looks for garbage: often and a little at a time, so that no click waits for it."""

from __future__ import annotations

import gc

YOUNG, MIDDLE, OLD = 1_000, 20, 50
"""Objects, and rounds, after which each generation is looked at."""


def look_often() -> None:
    """Look at few new objects at a time, and no more at those that are there now.

    A command that ends soon looks at many, and seldom; then a click waits 30 to 200 ms.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
