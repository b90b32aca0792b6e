"""Stored loops run as the compiler made them, without the compiler."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sfumato.kernels.stored import stored

LOOPS = """
from sfumato.kernels.stored import stored

@stored
def _times(number: int, factor: float) -> float:
    return number * factor

@stored
def scale(numbers, factor, table, flags, wide) -> int:
    done = 0
    for i in range(len(numbers)):
        if flags[i]:
            table[i, 1] = _times(numbers[i], factor) / wide[0]
            done += 1
    return done
"""
PROGRAM = """
import sys
import numpy as np
from loops import scale
numbers, flags = np.arange(4, dtype=np.int32), np.array([True, False, True, True])
table = np.zeros((4, 2))
assert scale(numbers, 0.5, table, flags, np.array([2], dtype=np.uint8)) == 3
assert table.tolist() == [[0, 0], [0, 0], [0, 0.5], [0, 0.75]]
assert scale(numbers, 0.5, table, flags, np.array([0], dtype=np.int64)) == 3
assert np.isinf(table[3, 1])
print(int("numba" in sys.modules))
"""


@stored
def doubled(numbers):
    for i in range(len(numbers)):
        numbers[i] *= 2


@stored
def copies(numbers) -> int:
    return len(numbers.copy())


def run(folder: Path, kept: Path, place: str = "NUMBA_CACHE_DIR") -> bool:
    """Whether the compiler was loaded."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=folder,
        env={**os.environ, "NUMBA_CACHE_DIR": "", place: str(kept)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return bool(int(done.stdout))


def test_the_compiler_is_needed_once(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    (tmp_path / "loops.py").write_text(LOOPS, encoding="utf-8")
    assert run(tmp_path, kept)
    files = sorted(kept.iterdir())
    assert len(files) == 2
    assert not run(tmp_path, kept)

    files[0].write_bytes(files[0].read_bytes()[:100])
    assert run(tmp_path, kept)
    assert sorted(kept.iterdir()) == files
    assert not run(tmp_path, kept)

    (tmp_path / "loops.py").write_text(LOOPS + "\n", encoding="utf-8")
    assert run(tmp_path, kept)


def test_without_a_place_to_keep_it(tmp_path: Path) -> None:
    (tmp_path / "loops.py").write_text(LOOPS, encoding="utf-8")
    (tmp_path / "kept").write_text("a file, no folder", encoding="utf-8")
    for _ in range(2):
        assert run(tmp_path, tmp_path / "kept")
    assert (tmp_path / "kept").read_text(encoding="utf-8") == "a file, no folder"


def test_it_is_kept_for_the_user_where_the_package_may_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "loops.py").write_text(LOOPS, encoding="utf-8")
    (tmp_path / "__pycache__").write_text("a file, no folder", encoding="utf-8")
    assert run(tmp_path, tmp_path / "cache", "XDG_CACHE_HOME")
    assert len(list((tmp_path / "cache" / "sfumato").iterdir())) == 2
    assert not run(tmp_path, tmp_path / "cache", "XDG_CACHE_HOME")


def test_arrays_in_another_order() -> None:
    numbers = np.ones(6, dtype=np.int64)
    doubled(numbers[::2])
    assert numbers.tolist() == [2, 1, 2, 1, 2, 1]


def test_a_loop_that_makes_arrays_is_refused() -> None:
    with pytest.raises(TypeError, match="must not make arrays"):
        copies(np.zeros(10, dtype=np.int64))


def test_each_type_has_its_own() -> None:
    for kind in (np.int8, np.int32, np.int64, np.uint64, np.float64):
        numbers = np.array([1, 3], dtype=kind)
        doubled(numbers)
        assert numbers.tolist() == [2, 6]
        assert numbers.dtype == kind


def test_the_interpreter_runs_them_where_numba_is_told_not_to_compile(tmp_path: Path) -> None:
    (tmp_path / "loops.py").write_text(LOOPS, encoding="utf-8")
    program = "import sys; from loops import _times; print(_times(3, 0.5), 'numba' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["1.5", "False"]
