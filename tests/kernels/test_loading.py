"""The compiler is there once the waiting is over."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
from sfumato.kernels.loading import load_compiler
assert "numba" not in sys.modules
load_compiler()()
assert "sfumato.kernels.first_loop" in sys.modules
"""


def test_it_is_there_after_the_waiting() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
