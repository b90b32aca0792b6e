"""Loops are compiled where no folder can keep them, as well."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
from numba.core import caching
caching.CacheImpl._locator_classes = []
from sfumato.kernels.choose import compiled

def double(number):
    return 2 * number

assert compiled(double)(4) == 8
"""


def test_without_a_place_to_keep_them() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, env=environment)
