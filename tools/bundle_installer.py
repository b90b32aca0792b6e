#!/usr/bin/env python3
"""Install sfumato from this folder into a new environment, without a network.

Usage: python3 install.py FOLDER

Each wheel is held against its checksum in requirements.txt; with one that differs nothing is
installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main(words: list[str]) -> int:
    """Make the environment; 1 and no environment where something is not as it should be."""
    if len(words) != 1 or words[0].startswith("-"):
        print("Usage: python3 install.py FOLDER", file=sys.stderr)
        return 1
    target = Path(words[0])
    python, machine = (HERE / "made_for.txt").read_text(encoding="utf-8").split()
    here = f"{sys.version_info[0]}.{sys.version_info[1]}"
    own = sysconfig.get_platform().replace("-", "_")
    if (here, own) != (python, machine):
        print(f"This bundle is for Python {python} on {machine}; here is {here} on {own}. "
              f"Type: python{python} install.py FOLDER", file=sys.stderr)  # fmt: skip
        return 1
    if target.exists():
        print("The folder exists. Name a new one.", file=sys.stderr)
        return 1
    try:
        venv.create(target, with_pip=True, symlinks=os.name != "nt")
    except subprocess.CalledProcessError:
        shutil.rmtree(target, ignore_errors=True)
        print(
            "Python's pip is missing; Debian and Ubuntu have it as python3-venv.", file=sys.stderr
        )
        return 1
    programs = target / ("Scripts" if os.name == "nt" else "bin")
    pip = (str(programs / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet")
    # Settings of this machine may name an index, or wheels elsewhere.
    ours = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    ours["PIP_CONFIG_FILE"] = os.devnull
    install = ("--no-index", "--find-links", str(HERE / "wheels"), "--require-hashes")
    for command in (
        (*pip, "install", *install, "--requirement", str(HERE / "requirements.txt")),
        (*pip, "check"),
        (str(programs / "sfumato"), "--version"),
    ):
        if subprocess.run(command, env=ours, check=False).returncode:  # noqa: S603
            shutil.rmtree(target, ignore_errors=True)
            print("Nothing was installed.", file=sys.stderr)
            return 1
    print(f"Installed. Type: {programs / 'sfumato'} --help")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
