"""Pairs of bit patterns whose Dice similarity is high enough.

A pattern is a row of 64-bit words. The Dice similarity of patterns of a
and b bits, c of them common, is 2c / (a + b). Few pairs run the NumPy twin.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from sfumato.kernels import dice_twin
from sfumato.kernels.choose import worth_compiling
from sfumato.kernels.threads import in_threads, parts

Words = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
WORTH_A_THREAD = 1_000_000
"""Pairs of patterns that are not worth dividing."""


def pairs_above(
    one: Words, other: Words, low: Ints, high: Ints, least: float
) -> tuple[Ints, Ints, Floats]:
    """All pairs within windows whose Dice similarity is at least ``least``, above 0.

    Parameters
    ----------
    one, other
        Patterns; shape (patterns, words).
    low, high
        The window ``other[low:high]`` that each of ``one`` is compared with.
    least
        The lowest similarity that is given.

    Returns
    -------
    tuple
        Positions in ``one`` and ``other``, ascending, and the similarities; shape (pairs,).
    """
    if not len(one):
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    work = np.cumsum(high - low)
    if not worth_compiling(int(work[-1])):
        return dice_twin.pairs_above(one, other, low, high, least)
    from sfumato.kernels import dice_loops

    runs = parts(work, WORTH_A_THREAD)
    found = in_threads(
        [
            partial(dice_loops.pairs_above, one[run], other, low[run], high[run], least)
            for run in runs
        ]
    )
    return (
        np.concatenate([left + run.start for (left, *_), run in zip(found, runs, strict=True)]),
        np.concatenate([right for _, right, _ in found]),
        np.concatenate([score for *_, score in found]),
    )
