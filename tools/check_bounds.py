"""Run the tests of the compiled loops against a build that checks every index.

Usage: check_bounds.py [WORDS FOR PYTEST]

The build goes into a temporary folder, as a package of its own beside nothing else of this tree.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main(words: list[str]) -> int:
    """Build, and run the tests; their exit code."""
    with tempfile.TemporaryDirectory(prefix="sfumato-bounds-") as private:
        build, package = Path(private, "build"), Path(private, "package")
        meson = (sys.executable, "-m", "mesonbuild.mesonmain")
        _run((*meson, "setup", str(build), str(ROOT), "-Dbounds_checked=true"))
        _run((*meson, "compile", "-C", str(build)))
        shutil.copytree(ROOT / "src", package, ignore=shutil.ignore_patterns("__pycache__"))
        for extension in build.glob("*.so"):
            shutil.copy(extension, package / "sfumato" / "kernels")
        surroundings = {**os.environ, "PYTHONPATH": str(package), "SFUMATO_BOUNDS": "checked"}
        tests = (sys.executable, "-c", IN_PLACE, str(ROOT / "tests" / "kernels"), *words)
        return subprocess.run(  # noqa: S603
            tests, cwd=ROOT, env=surroundings, check=False
        ).returncode


IN_PLACE = """
import sys
sys.meta_path[:] = [each for each in sys.meta_path if "Meson" not in type(each).__name__]
import pytest
from sfumato.kernels import _classes
import numpy as np
try:
    _classes.take(np.zeros(1, np.int32), np.full(1, 5, np.int32), np.zeros(1, np.int32))
except IndexError:
    sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[1:]]))
sys.exit("no index is checked in " + _classes.__file__)
"""
"""Runs what is in the folder, not what is installed, and makes sure that it checks."""


def _run(command: tuple[str, ...]) -> None:
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    surroundings = {**os.environ, "PATH": programs}
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=surroundings)  # noqa: S603


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
