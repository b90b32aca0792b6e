"""How a compiled loop is called: contiguous arrays of one type each, large inputs in threads.

The loops check nothing. `as_declared` gives them arrays as the functions that call them declare: an
array as it is if it has the type and the order already, as nearly all have. Large inputs are run in
parts on all processors; the parts never depend on the number of these.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, wraps
from itertools import pairwise
from threading import current_thread
from typing import Any, ParamSpec, TypeVar, get_type_hints

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
Sides = npt.NDArray[np.int8]
Integers = npt.NDArray[np.integer]
Rows = npt.NDArray[np.uint32]
Arrays = tuple[npt.NDArray[Any], ...]


def ints(values: npt.ArrayLike) -> Ints:
    """Numbers of 64 bits."""
    return np.ascontiguousarray(values, dtype=np.int64)


def codes(values: npt.ArrayLike) -> Codes:
    """Numbers of 32 bits."""
    return np.ascontiguousarray(values, dtype=np.int32)


def floats(values: npt.ArrayLike) -> Floats:
    """Floating-point numbers of 64 bits."""
    return np.ascontiguousarray(values, dtype=np.float64)


def flags(values: Bools) -> Bytes:
    """Truth values as bytes, 0 or 1."""
    return np.ascontiguousarray(values, dtype=np.bool_).view(np.uint8)


_Tuple = TypeVar("_Tuple", bound=tuple[Any, ...])
_KINDS: dict[Any, Any] = {
    Ints: np.int64, Codes: np.int32, Floats: np.float64, Bools: np.bool_, Bytes: np.uint8,
    Words: np.uint64, Rows: np.uint32,
}  # fmt: skip
"""Not `Sides`: loops write to these, and to a copy they would in vain."""
_hints = cache(get_type_hints)
# Reading type hints evaluates text: once per function, as loops are called many times.
_kinds = cache(lambda function: [_KINDS.get(hint) for hint in get_type_hints(function).values()])
_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


def as_declared(function: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
    """The function, which gets each array in one piece and of the type that it declares."""

    @wraps(function)
    def call(*given: _Given.args, **named: _Given.kwargs) -> _Result:
        pieces: Any = [
            each if kind is None else np.ascontiguousarray(each, dtype=kind)
            for kind, each in zip(_kinds(function), given, strict=False)
        ]
        return function(*pieces, **named)

    return call


def typed(arrays: _Tuple) -> _Tuple:
    """The same named tuple, each array of the type that its field states and in one piece."""
    given: Any = arrays
    pieces = {
        name: np.ascontiguousarray(getattr(arrays, name), dtype=_KINDS[kind])
        for name, kind in _hints(type(arrays)).items()
        if kind in _KINDS
    }
    made: _Tuple = given._replace(**pieces)
    return made


def offsets_of(values: Integers) -> Ints | Codes:
    """Places in a text, in the width in which Arrow has them."""
    if values.dtype == np.int32:
        return codes(values)
    return ints(values)


_NAME = "sfumato-loop"
PARTS = 8
"""Parts of a large input: more than most processors, so that the slower ones wait little."""


def processors() -> int:
    """Number of processors that this process may use."""
    # In a container the process may use fewer processors than the machine has.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(processors(), _NAME)


if hasattr(os, "register_at_fork"):  # a forked process has none of its parent's threads
    os.register_at_fork(after_in_child=_pool.cache_clear)


def _alone() -> bool:
    """Whether no other thread is to be asked: there is none, or this is one of them."""
    # A thread of the pool that waited for others of it could wait for itself: its tasks run in it.
    return processors() < 2 or current_thread().name.startswith(_NAME)


def in_threads(tasks: Sequence[Callable[[], _Result]]) -> list[_Result]:
    """The results of all tasks, in their order; tasks of a task run in its own thread.

    They should leave the interpreter's lock alone for most of their time.
    """
    return list(one_by_one(tasks))


def one_by_one(tasks: Sequence[Callable[[], _Result]], *, alone: bool = False) -> Iterator[_Result]:
    """The results of all tasks as `in_threads` gives them, each as soon as those before it."""
    if alone or len(tasks) < 2 or _alone():
        yield from (task() for task in tasks)
        return
    # All are submitted before the first result is waited for, or they would run one by one.
    for future in [_pool().submit(task) for task in tasks]:
        yield future.result()


def read_ahead(items: Iterator[_Result]) -> Iterator[_Result]:
    """The same items, each made in another thread while the one before it is worked on."""
    if processors() < 2:
        yield from items
        return
    # A thread of its own: in the pool, the reading could wait behind what waits for it.
    reader = ThreadPoolExecutor(1)
    try:
        coming = reader.submit(next, items, None)
        # `next` has a default, as a StopIteration within a generator would be an error.
        while (item := coming.result()) is not None:
            coming = reader.submit(next, items, None)
            yield item
    finally:
        reader.shutdown()


def parts(ends: npt.NDArray[np.int64], least: int) -> list[slice]:
    """Divide segments into runs of about equal length, `PARTS` of them at most."""
    if len(ends) < 2 or ends[-1] <= least:
        return [slice(0, len(ends))]
    # In integers, so that parts, and sums of floating
    # numbers within them, are the same on each machine.
    wanted = ends[-1] * np.arange(1, PARTS) // PARTS
    edges = np.unique(np.concatenate([[0], np.searchsorted(ends, wanted), [len(ends)]]))
    return [slice(start, stop) for start, stop in pairwise(edges.tolist())]
