"""What the program asks of its own process."""

from __future__ import annotations

import os
import sys

M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX, M_ARENA_MAX = -1, -2, -4, -8
"""What ``mallopt`` of the GNU C library is told; the numbers of its ``malloc.h``."""
STEP = 1 << 26
"""Bytes by which the memory grows at least."""


def settle() -> None:
    """Keep threads and libraries from work that no command needs.

    The threads of OpenBLAS spin while they have nothing to do; products of matrices are small here.
    Plugins of pydantic, which would see values, are not looked for. What the user has set in the
    environment stays.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


def keep_memory() -> None:
    """Keep memory that is freed for the next array, in a process that works on one file and ends.

    Memory that goes back to the system is cleared page by page when it is asked for again. Where
    the C library is another one than GNU's, or the user has set how it allocates, nothing changes.
    """
    if sys.platform != "linux" or any(name.startswith("MALLOC_") for name in os.environ):
        return
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return
    mallopt(M_MMAP_MAX, 0)
    mallopt(M_TRIM_THRESHOLD, -1)
    mallopt(M_TOP_PAD, STEP)
    mallopt(M_ARENA_MAX, 1)
