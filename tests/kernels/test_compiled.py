"""Loops are compiled where no folder can keep them, and anew where any loop has changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
from numba.core import caching
caching.CacheImpl._locator_classes = []
from sfumato.kernels.choose import compiled

def double(number):
    return 2 * number

assert compiled(double)(4) == 8
"""
INNER = """
from sfumato.kernels.{home} import {decorator}

@{decorator}
def step(number: int) -> int:
    return number + {step}
"""
OUTER = """
from sfumato.kernels.{home} import {decorator}
from sfumato.kernels.inner_loops import step

@{decorator}
def stepped(number: int) -> int:
    return step(number)
"""


def test_without_a_place_to_keep_them() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, env=environment)


@pytest.mark.parametrize(("home", "decorator"), [("choose", "compiled"), ("stored", "stored")])
def test_a_loop_that_calls_another_file_follows_its_changes(
    home: str, decorator: str, project_root: Path, tmp_path: Path
) -> None:
    """An update of the package keeps the machine code that lies beside it."""
    package = tmp_path / "sfumato"
    source = project_root / "src" / "sfumato"
    shutil.copytree(source, package, ignore=shutil.ignore_patterns("__pycache__"))
    environment = {
        **os.environ,
        "PYTHONPATH": str(tmp_path),
        "NUMBA_CACHE_DIR": "",
        "NUMBA_DISABLE_JIT": "0",
    }
    loops = package / "kernels"

    def made(step: int) -> tuple[str, list[Path]]:
        words = {"home": home, "decorator": decorator, "step": step}
        (loops / "inner_loops.py").write_text(INNER.format(**words), encoding="utf-8")
        (loops / "outer_loops.py").write_text(OUTER.format(**words), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-c", "from sfumato.kernels.outer_loops import *; print(stepped(1))"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        kept = (loops / "__pycache__").iterdir()
        return done.stdout, sorted(each for each in kept if each.suffix != ".pyc")

    first, files = made(10)
    assert (first, bool(files)) == ("11\n", True)
    assert made(2_000) == ("2001\n", files), "the new body, and no more files than before"
    newest = [each.stat().st_mtime_ns for each in files]
    assert made(2_000) == ("2001\n", files)
    assert [each.stat().st_mtime_ns for each in files] == newest, "kept, not made again"
