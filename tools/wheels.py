"""Build the wheels that are handed out, and compile the loops for systems that are not at hand.

Usage: wheels.py FOLDER

Wheels for Linux on x86-64 and arm64 go into the folder: compiled by zig, for the oldest C library
that NumPy's own wheels run with, which auditwheel confirms. For macOS and Windows the loops are
compiled and thrown away: a check of the code, run by nobody.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOOPS = ROOT / "src" / "sfumato" / "kernels"
ZIG = (sys.executable, "-m", "ziglang")
PROCESSORS = {"x86_64": "x86_64_v2", "aarch64": "generic"}
"""The least processor of each architecture: those of NumPy's own wheels."""
ELSEWHERE = ("aarch64-macos", "x86_64-macos", "x86_64-windows-gnu", "aarch64-windows-gnu")
FLAGS = ("-O3", "-ffp-contract=off", "-DPy_LIMITED_API=0x030b0000")
CROSS = """
[binaries]
c = {compiler}
ar = {archiver}
strip = ['true']
cython = '{cython}'

[built-in options]
c_link_args = ['-s']

[host_machine]
system = 'linux'
cpu_family = '{architecture}'
cpu = '{architecture}'
endian = 'little'
"""
BUILD = "import mesonpy, sys; mesonpy.build_wheel(sys.argv[1], {'setup-args': [sys.argv[2]]})"
WINDOWS = """
#define MS_WINDOWS
#define MS_WIN32
#define MS_WIN64
#define HAVE_ERRNO_H 1
#define HAVE_STDDEF_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_WCHAR_H 1
#define HAVE_DECLSPEC_DLL 1
#define SIZEOF_SHORT 2
#define SIZEOF_INT 4
#define SIZEOF_LONG 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_FLOAT 4
#define SIZEOF_DOUBLE 8
#define SIZEOF_VOID_P 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_WCHAR_T 2
#define ALIGNOF_MAX_ALIGN_T 16
"""
"""What of Python's settings on Windows the limited API asks for: they are in no header here."""


def compiler(target: str) -> list[str]:
    """The command that compiles C for a target."""
    return [*ZIG, "cc", "-target", target, f"-mcpu={PROCESSORS[target.partition('-')[0]]}"]


def build(architecture: str, into: Path) -> None:
    """Build the wheel of Linux on an architecture, tagged by the C library that it needs."""
    tag = f"manylinux_2_17_{architecture}"
    with tempfile.TemporaryDirectory(prefix="sfumato-wheels-") as folder:
        cross = Path(folder) / "cross.ini"
        cross.write_text(
            CROSS.format(
                compiler=compiler(f"{architecture}-linux-gnu.2.17"),
                archiver=[*ZIG, "ar"],
                cython=Path(sys.executable).with_name("cython"),
                architecture=architecture,
            ),
            encoding="utf-8",
        )
        platform = {**os.environ, "_PYTHON_HOST_PLATFORM": f"linux-{architecture}"}
        run([sys.executable, "-c", BUILD, folder, f"--cross-file={cross}"], platform)
        (wheel,) = Path(folder).glob("*.whl")
        if f'"{tag}"' not in " ".join(run(["auditwheel", "show", str(wheel)]).split()):
            raise SystemExit(f"{wheel.name} needs a newer C library than {tag} has")
        run([sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", tag, str(wheel)])
        (tagged,) = Path(folder).glob("*.whl")
        print(shutil.move(tagged, into / tagged.name))


def compile_elsewhere(into: Path) -> None:
    """Compile the loops for systems that are not at hand, by headers without this machine's own."""
    headers = into / "include"
    shutil.copytree(sysconfig.get_path("include"), headers)
    here = (headers / "pyconfig.h").read_text(encoding="utf-8")
    for loop in sorted(LOOPS.glob("*.pyx")):
        run([sys.executable, "-m", "cython", "-3", str(loop), "-o", str(into / f"{loop.stem}.c")])
    for target in ELSEWHERE:
        (headers / "pyconfig.h").write_text(WINDOWS if "windows" in target else here)
        for source in sorted(into.glob("*.c")):
            place = [f"-I{headers}", "-c", str(source), "-o", str(into / "loop.o")]
            run([*compiler(target), *FLAGS, *place])
        print(f"compiled for {target}, not run")


def run(command: list[str], surroundings: dict[str, str] | None = None) -> str:
    """What a command prints.

    Raises
    ------
    SystemExit
        If it fails, with what it complains about.
    """
    done = subprocess.run(  # noqa: S603
        command, cwd=ROOT, env=surroundings, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"failed: {' '.join(command)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def main(folder: str) -> int:
    """Build and compile; 0 when all of it succeeds."""
    into = Path(folder).resolve()
    into.mkdir(exist_ok=True)
    for architecture in PROCESSORS:
        build(architecture, into)
    with tempfile.TemporaryDirectory(prefix="sfumato-loops-") as scratch:
        compile_elsewhere(Path(scratch))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
