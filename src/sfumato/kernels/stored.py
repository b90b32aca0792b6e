"""Compiled loops that are kept as machine code, and run without the compiler from then on."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property, wraps
from hashlib import sha256
from inspect import getsourcefile
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from sfumato.kernels.choose import digest_of_loops

if TYPE_CHECKING:
    from sfumato.kernels.machine_code import Kind

_Function = TypeVar("_Function", bound=Callable[..., object])
_one_at_a_time = RLock()


def stored(function: _Function) -> _Function:
    """Compile a loop on its first call ever, keep its machine code, and let it run beside others.

    Where the machine code is on disk already, numba is not loaded, unless an array is in another
    order than C's. A stored loop takes arrays and numbers, gives nothing or an integer, makes no
    arrays (its caller passes room for them), and divides by zero as NumPy does. Stored loops that
    others call may take and give what numba knows. Numba's own switch, NUMBA_DISABLE_JIT, leaves
    all of them to the interpreter.
    """
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in {"", "0"}:
        return function
    return cast(_Function, wraps(function)(_Stored(function)))


class _Stored:
    def __init__(self, function: Callable[..., object]) -> None:
        self.py_func = function
        self._gives_number = function.__annotations__.get("return") in ("int", "bool", int, bool)
        self._entries: dict[tuple[Kind, ...], Callable[..., Any]] = {}

    def __call__(self, *arguments: Any) -> Any:
        if not all(map(_is_plain, arguments)):
            return self._dispatcher(*arguments)
        kinds = tuple(_kind(argument) for argument in arguments)
        entry = self._entries.get(kinds)
        if entry is None:
            with _one_at_a_time:
                entry = self._entries[kinds] = self._entry(kinds)
        flat: list[Any] = []
        for argument in arguments:
            if isinstance(argument, np.ndarray):
                flat.extend((argument.ctypes.data, *argument.shape))
            else:
                flat.append(argument if isinstance(argument, float) else int(argument))
        return entry(*flat)

    @cached_property
    def _dispatcher(self) -> Any:
        import numba

        return numba.njit(error_model="numpy", nogil=True)(self.py_func)

    @property
    def _numba_type_(self) -> Any:
        """How numba sees a loop that another one calls."""
        return self._dispatcher._numba_type_

    def _entry(self, kinds: tuple[Kind, ...]) -> Callable[..., Any]:
        from sfumato.kernels import machine_code

        number = self._gives_number
        loops = digest_of_loops(self.py_func)
        files = self._files(f"{kinds} {machine_code.fingerprint()}") if loops else []
        made = next(filter(None, (_kept(file, loops) for file in files)), None)
        if made is None:
            made = machine_code.compile_loop(self._dispatcher, kinds, gives_number=number)
            any(_keep(made, file, loops) for file in files)
        return machine_code.load_loop(made, kinds, gives_number=number)

    def _files(self, said: str) -> list[Path]:
        """Where its machine code may be, the best place first; a changed loop has the same name."""
        source = Path(cast(str, getsourcefile(self.py_func)))
        key = sha256(f"{self.py_func.__qualname__} {said}".encode()).hexdigest()
        name = f"{source.stem}.{self.py_func.__name__}-{key[:32]}.loop"
        if chosen := os.environ.get("NUMBA_CACHE_DIR"):
            return [Path(chosen, name)]
        own = os.environ.get("XDG_CACHE_HOME") or _home(".cache")
        files = [source.parent / "__pycache__" / name, Path(own, "sfumato", name)]
        return [file for file in files if file.is_absolute()]


def _home(name: str) -> str:
    """A folder of the user's; one that is no absolute path where there is no home."""
    return os.path.expanduser(f"~/{name}")  # noqa: PTH111 - the other one raises an error then


def _is_plain(argument: Any) -> bool:
    """Whether an argument is a number, or an array that C could have made."""
    if not isinstance(argument, np.ndarray):
        return True
    return argument.flags.c_contiguous and argument.flags.aligned and argument.dtype.isnative


def _kind(argument: Any) -> Kind:
    if isinstance(argument, np.ndarray):
        return argument.dtype.name, argument.ndim
    return ("float64", 0) if isinstance(argument, float) else ("int64", 0)


def _kept(file: Path, loops: bytes) -> bytes | None:
    """The machine code of these loops in a file, if whole: LLVM does not survive another."""
    try:
        digest, made = file.read_bytes().split(b"\n", 1)
    except (OSError, ValueError):
        return None
    return made if digest == _digest(made, loops) else None


def _digest(made: bytes, loops: bytes) -> bytes:
    return sha256(loops + made).hexdigest().encode()


def _keep(made: bytes, file: Path, loops: bytes) -> bool:
    """Write the machine code, if there is room for it here; containers may have none."""
    half = file.with_suffix(f".{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        half.write_bytes(_digest(made, loops) + b"\n" + made)
        half.replace(file)
    except OSError:
        with suppress(OSError):
            half.unlink(missing_ok=True)
        return False
    return True
