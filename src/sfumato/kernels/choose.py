"""When a compiled loop is worth its start, and how one is compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from inspect import getsourcefile
from pathlib import Path
from typing import Any, TypeVar, cast

COMPILED_ABOVE = 50_000
"""Inputs with more records than this run the compiled loops; smaller ones run their twins."""

_Function = TypeVar("_Function", bound=Callable[..., object])


SORTING = 4
"""So many times the records run twins that sort a few times, which takes less than the start."""
ONCE = 40
"""So many times the records run twins that sort or count once."""


def worth_compiling(records: int, patience: int = 1) -> bool:
    """Whether an input of this many records should run the compiled loops.

    Parameters
    ----------
    records
        Number of records.
    patience
        How many times the usual number of records the twin is fast enough for.
    """
    return records * _runs[-1] > COMPILED_ABOVE * patience


_runs = [1]


@contextmanager
def run_often(times: int) -> Iterator[None]:
    """Within the block, inputs are worth compiling that many times sooner.

    Parameters
    ----------
    times
        How often the same work is about to be done.
    """
    _runs.append(times)
    try:
        yield
    finally:
        _runs.pop()


def compiled(function: _Function) -> _Function:
    """Compile a loop on its first call and let it run beside other threads.

    It is kept on disk where there is a place for it; containers may have none.
    """
    numba, loops = _compiler(), digest_of_loops(function)
    try:
        loop = numba.njit(cache=bool(loops), nogil=True)(function)
    except RuntimeError:
        return cast(_Function, numba.njit(nogil=True)(function))
    if kept := getattr(loop._cache, "_cache_file", None):  # noqa: SLF001
        kept._source_stamp = loops  # noqa: SLF001 - numba's own is of the loop's file alone
    return cast(_Function, loop)


def digest_of_loops(function: Callable[..., object]) -> bytes:
    """Digest of all files in a loop's folder, for loops call each other; empty if there are none.

    What is kept of a loop is stale when any of them changes.
    """
    source = getsourcefile(function)
    return _digest_of(Path(source).parent) if source else b""


@cache
def _digest_of(folder: Path) -> bytes:
    files = sorted(folder.glob("*.py"))
    return (
        blake2b(b"".join(blake2b(file.read_bytes()).digest() for file in files)).digest()
        if files
        else b""
    )


def spare_linear_algebra() -> None:
    """Keep the compiler from SciPy's linear algebra, in a process that runs no other loops.

    No loop multiplies matrices, and to load it takes a third of the compiler's time.
    """
    _spared.append(True)


_spared: list[bool] = []


@cache
def _compiler() -> Any:
    import numba

    if _spared:
        from numba.np import linalg

        linalg.ensure_blas = _no_blas
    return numba


def _no_blas() -> None:
    raise ImportError
