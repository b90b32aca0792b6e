"""Install a wheel, without extras, into an empty environment, and use it there.

Usage: check_wheel.py WHEEL [--oldest | --newest]

Packages come from where pip finds them, in the versions of constraints.txt; with ``--oldest`` the
core's own are the least that pyproject.toml accepts, with ``--newest`` all are the newest.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
INSTALL = ("install", "--prefer-binary", "--no-compile")
GENERATE = """
from pathlib import Path
from sfumato.examples import generate_clinics, write_clinics
write_clinics(generate_clinics(200, rng=1), ".")
Path("out").mkdir()
"""
USED = """
sfumato --version
sfumato --help
sfumato presets
sfumato init --json-schema
sfumato schema guess visits.csv
sfumato assess visits.csv --schema schema.toml --preset cms --json
sfumato anonymize visits.csv --schema schema.toml --g-balance 0.8 --output out/release.csv --seed 1
""".strip().splitlines()
"""What has to work without any extra."""
REFUSED = "sfumato anonymize visits.csv --schema schema.toml --k 5 --output x.csv --report x.html"
"""What needs an extra, and says which."""


def oldest(*extras: str) -> str:
    """The least versions of what the core and some extras need, as pip takes them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"]]
    wanted += [each for extra in extras for each in project["optional-dependencies"][extra]]
    bounds = (re.match(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)", each) for each in wanted)
    # Several extras may want the same.
    return "".join(dict.fromkeys(f"{bound[1]}=={bound[2]}\n" for bound in bounds if bound))


def main(wheel: str, which: str = "") -> int:
    """Print what fails; 0 when nothing does."""
    with tempfile.TemporaryDirectory(prefix="sfumato-wheel-") as folder:
        place = Path(folder)
        wanted = place / "constraints.txt"
        pinned = (ROOT / "constraints.txt").read_text(encoding="utf-8")
        wanted.write_text({"--oldest": oldest(), "--newest": ""}.get(which, pinned))
        venv.create(place / "environment", with_pip=False)
        programs = place / "environment" / ("Scripts" if os.name == "nt" else "bin")
        python = str(programs / "python")
        into = (*PIP, "--python", python)
        print(f"installing {Path(wheel).name} into an empty environment")
        _run((*into, *INSTALL, "--constraint", str(wanted), wheel), place)
        _run((*into, "check"), place)
        _run((python, "-c", GENERATE), place)
        for command in USED:
            said = _run((str(programs / "sfumato"), *command.split()[1:]), place)
            if command.endswith("--version"):
                print(said, end="")
        if not (place / "out" / "release.csv").stat().st_size:
            raise SystemExit("the release is empty")
        return _is_refused((str(programs / "sfumato"), *REFUSED.split()[1:]), place)


def _run(command: tuple[str, ...], folder: Path) -> str:
    """What a command prints; what it complains about, where it fails, ends the check."""
    done = _done(command, folder)
    # 2: released, but above a limit.
    if done.returncode not in (0, 2):
        print(done.stderr, file=sys.stderr)
        raise SystemExit(f"failed: {' '.join(command[1:])}")
    return done.stdout


def _is_refused(command: tuple[str, ...], folder: Path) -> int:
    """Whether a command that needs an extra names it and leaves nothing behind: 0, else 1."""
    done = _done(command, folder)
    if done.returncode == 1 and ".whl[report]" in done.stderr and not (folder / "x.csv").exists():
        return 0
    print(f"not refused as it should be: {' '.join(command[1:])}\n{done.stderr}", file=sys.stderr)
    return 1


def _done(command: tuple[str, ...], folder: Path) -> subprocess.CompletedProcess[str]:
    hidden = {"PYTHONPATH", "VIRTUAL_ENV", "SFUMATO_DATA"}
    surroundings = {name: value for name, value in os.environ.items() if name not in hidden}
    return subprocess.run(  # noqa: S603
        command, cwd=folder, env=surroundings, capture_output=True, text=True, check=False
    )


if __name__ == "__main__":
    sys.exit(main(str(Path(sys.argv[1]).resolve()), *sys.argv[2:3]))
