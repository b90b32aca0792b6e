"""Say what compiles the loops, as words for a shell: Cython, and C where there is no compiler.

Usage: compiler.py [--found]

With ``--found`` it says nothing, and fails where no compiler is on the path or in CC. Else, where
there is none, it names the one that the ziglang wheel has. Its target and its least processor are
always named: it would compile for the machine it runs on.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import sys
from pathlib import Path

COMPILERS = ("cc", "gcc", "clang", "cl")
PROCESSORS = {
    "x86_64": ("x86_64", "x86_64_v2"),
    "amd64": ("x86_64", "x86_64_v2"),
    "aarch64": ("aarch64", "generic"),
    "arm64": ("aarch64", "generic"),
}
"""Architecture and least processor as zig calls them: those of NumPy's own wheels."""


def found() -> bool:
    """Whether there is a C compiler."""
    return bool(os.environ.get("CC")) or any(map(shutil.which, COMPILERS))


def target() -> tuple[str, str]:
    """What zig compiles for, and the least processor.

    Raises
    ------
    SystemExit
        If this machine's processor is none of those that are known.
    """
    machine = platform.machine().lower()
    if machine not in PROCESSORS:
        raise SystemExit(f"no C compiler, and none is known for {machine}: install one, or set CC")
    architecture, processor = PROCESSORS[machine]
    if sys.platform == "darwin":
        return f"{architecture}-macos", processor
    if sys.platform == "win32":
        return f"{architecture}-windows-gnu", processor
    library = "gnu.2.17" if platform.libc_ver()[0] == "glibc" else "musl"
    return f"{architecture}-linux-{library}", processor


def main(words: list[str]) -> int:
    """Print the words; 1 where a compiler was to be found, and there is none."""
    if words == ["--found"]:
        return int(not found())
    named = {}
    cython = Path(sys.executable).with_name("cython")
    if cython.exists():
        # By its place, as an import that builds again what has changed knows no search path.
        named["CYTHON"] = shlex.quote(str(cython))
    if not found():
        triple, processor = target()
        zig = f"{sys.executable} -m ziglang"
        # Debian's Python.h names a file that stands there; zig's own headers come before it.
        headers = " -idirafter /usr/include" if "linux" in triple else ""
        named["CC"] = f"{zig} cc -target {triple} -mcpu={processor}{headers}"
        named["AR"] = f"{zig} ar"
    if named:
        print("export", *(f"{name}={shlex.quote(value)}" for name, value in named.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
