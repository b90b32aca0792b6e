"""Machine code of a loop: compiled by numba, and run again without it.

Numba gives the code of a C function (`numba.cfunc`) as text of LLVM, which llvmlite, a small part
of numba, turns into machine code and loads. Numba itself takes ten times as long to load.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from ctypes import CFUNCTYPE, c_double, c_int64, c_void_p
from functools import cache
from importlib import import_module
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numpy as np

_ENTRY = "sfumato_loop"
_ERRORS = re.compile(r"^declare (.*@(?:Py|_Py|numba_|NRT_)\w*\([^\n]*?\))[^()\n]*$", re.MULTILINE)
"""Declarations of what numba calls to raise an error of Python or to count references."""
_PYTHON = re.compile(r"^(@PyExc_\w+) = external global i8$", re.MULTILINE)
_MAKES = re.compile(r"@NRT_(?:Allocate|MemInfo_(?:alloc|new))\w*\(")
_ARITHMETIC = {"llvm", "log", "exp", "sqrt", "memcpy", "memmove", "memset"}
"""What is left to call, by the first part of its name."""


Kind = tuple[str, int]
"""The type of an argument, and its dimensions: an array in C order, or a number (0)."""


@cache
def fingerprint() -> str:
    """Of what machine code depends on beside the loop: LLVM and the processor."""
    features = llvm.get_host_cpu_features().flatten()
    return (
        f"{llvmlite.__version__} {llvm.get_default_triple()} {llvm.get_host_cpu_name()} {features}"
    )


def compile_loop(loop: Any, kinds: Sequence[Kind], *, gives_number: bool) -> bytes:
    """The object file of a loop for arguments of these kinds.

    A C function of addresses, lengths and numbers. What would raise an error of Python, which no
    loop does, ends the process.

    Parameters
    ----------
    loop
        As numba compiles it (`numba.njit` with the error model of NumPy).
    kinds
        What its arguments are.
    gives_number
        Whether it gives back an integer; else nothing.

    Raises
    ------
    TypeError
        If it makes arrays, or calls what is no arithmetic.
    """
    numba: Any = import_module("numba")
    types: list[Any] = []
    for name, dimensions in kinds:
        number = numba.from_dtype(np.dtype(name))
        types.append(numba.types.CPointer(number) if dimensions else number)
        types.extend([numba.types.int64] * dimensions)
    back = numba.types.int64 if gives_number else numba.types.void
    entry = numba.cfunc(back(*types), error_model="numpy")(_flat(loop, numba.carray, kinds))
    text = entry.inspect_llvm()
    if _MAKES.search(text):
        raise TypeError("a stored loop must not make arrays: pass it room for them")
    return _object_file(re.sub(rf'@"?{re.escape(entry.native_name)}"?\(', f"@{_ENTRY}(", text))


def _flat(loop: Any, carray: Any, kinds: Sequence[Kind]) -> Callable[..., Any]:
    """The loop as a function of addresses, lengths and numbers."""
    names: list[str] = []
    arguments: list[str] = []
    for i, (_, dimensions) in enumerate(kinds):
        lengths = [f"n{i}_{axis}" for axis in range(dimensions)]
        names.extend([f"x{i}", *lengths])
        shape = "".join(f"{length}, " for length in lengths)
        arguments.append(f"carray(x{i}, ({shape}))" if lengths else f"x{i}")
    source = f"def flat({', '.join(names)}):\n    return loop({', '.join(arguments)})\n"
    scope: dict[str, Any] = {"loop": loop, "carray": carray}
    exec(source, scope)  # noqa: S102 - numbers and brackets only
    return scope["flat"]  # type: ignore[no-any-return]


def _object_file(text: str) -> bytes:
    """Translate the text of LLVM, without what only errors need."""
    text = _ERRORS.sub(r"define \1 {\n call void @llvm.trap()\n unreachable\n}", text)
    text = _PYTHON.sub(r"\1 = internal global i8 0", text)
    if "@llvm.trap()" in text and "declare void @llvm.trap()" not in text:
        text += "\ndeclare void @llvm.trap()\n"
    module = llvm.parse_assembly(text)
    for function in module.functions:
        if not function.is_declaration and function.name != _ENTRY:
            function.linkage = "internal"
    machine = _machine()
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(2))
    passes.getModulePassManager().run(module, passes)
    for function in module.functions:
        if function.is_declaration and function.name.split(".")[0] not in _ARITHMETIC:
            raise TypeError(f"a stored loop must not call {function.name}")
    return bytes(machine.emit_object(module))


@cache
def _machine() -> llvm.TargetMachine:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=3,
        reloc="static" if llvm.get_default_triple().startswith("x86") else "default",
        codemodel="jitdefault",
        jit=True,
    )


_engines: list[llvm.ExecutionEngine] = []


def load_loop(
    object_file: bytes, kinds: Sequence[Kind], *, gives_number: bool
) -> Callable[..., Any]:
    """The function in an object file of `compile_loop`; other threads go on while it runs."""
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(object_file))
    engine.finalize_object()
    _engines.append(engine)
    types: list[Any] = []
    for name, dimensions in kinds:
        types.append(c_void_p if dimensions else c_double if name == "float64" else c_int64)
        types.extend([c_int64] * dimensions)
    prototype = CFUNCTYPE(c_int64 if gives_number else None, *types)
    return prototype(engine.get_function_address(_ENTRY))
