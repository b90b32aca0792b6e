"""Run the steps of a release that can run here, and say which cannot.

Usage: release_check.py [--gathered]

The files in ``dist`` are looked at by the tools that indexes and auditors use; the wheel is tried
in empty environments with the oldest and the newest packages that it accepts, and with the other
Pythons that are here; a bundle is installed without a network; ``dist/sbom.json`` and
``dist/SHA256SUMS`` are written. With ``--gathered`` the files in ``dist`` were built elsewhere and
are not tried again. It fails while nobody is named to whom security problems are reported.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

from bundle import best_wheel, bundle
from check_wheel import oldest
from publication import ROOT, Switch, differing

DIST = ROOT / "dist"
TOOLS = Path(sys.executable).parent
"""Of the environment that `make release-check` makes for them."""
PYTHONS = ("3.12", "3.13", "3.14")
"""Beside the one that builds."""


class NotRunError(Exception):
    """A step cannot run here; its words say why."""


def run(*words: object) -> None:
    """Run a command; what it complains about, where it fails, is the error."""
    done = subprocess.run(  # noqa: S603
        [*map(str, words)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit("\n".join((done.stdout + done.stderr).splitlines()[-12:]))


def sdists() -> list[Path]:
    """The sources that are handed out, without bundles, whose names go on with a Python."""
    return [each for each in DIST.glob("sfumato-*.tar.gz") if "-py3" not in each.name]


def check_contact() -> None:
    """The address for security problems, and what else the switch says."""
    if differing(ROOT):
        raise SystemExit("files say something else than the switch; run: make format")
    if not Switch.read(ROOT).contact:
        raise SystemExit("security-contact is empty under [tool.sfumato] of pyproject.toml")


def check_citation() -> None:
    """The citation against the schema of its format, by a tool that wants old packages."""
    with tempfile.TemporaryDirectory(prefix="sfumato-citation-") as folder:
        run(sys.executable, "-m", "venv", folder)
        python = Path(folder) / "bin" / "python"
        run(python, "-m", "pip", "--quiet", "install", "cffconvert>=2,<3")
        run(python.with_name("cffconvert"), "--validate", "--infile", ROOT / "CITATION.cff")


def check_workflow() -> None:
    """The workflow against known weaknesses of such files."""
    run(TOOLS / "zizmor", "--offline", "--no-progress", ROOT / ".github" / "workflows")


def check_recipe() -> None:
    """The container's recipe against good practice."""
    run(TOOLS / "hadolint", ROOT / "container" / "Containerfile")


def check_files() -> None:
    """What is handed out, as an index looks at it, and the stable ABI of the wheels."""
    wheels = [*DIST.glob("*.whl")]
    run(TOOLS / "twine", "check", "--strict", *wheels, *sdists())
    for wheel in wheels:
        run(TOOLS / "abi3audit", "--strict", wheel)


def check_wheel(which: str, python: str = sys.executable) -> None:
    """The wheel in an empty environment."""
    run(python, ROOT / "tools" / "check_wheel.py", best_wheel(DIST), which)


def check_demo() -> None:
    """The demo with the oldest packages that its extras accept."""
    extras = ("link", "report", "review")
    with tempfile.TemporaryDirectory(prefix="sfumato-oldest-") as folder:
        place = Path(folder)
        (place / "oldest.txt").write_text(oldest(*extras), encoding="utf-8")
        run(sys.executable, "-m", "venv", place / "environment")
        programs = place / "environment" / "bin"
        wanted = f"{best_wheel(DIST)}[{','.join(extras)}]"
        pip = ("-m", "pip", "--quiet", "install", "--constraint", place / "oldest.txt")
        run(programs / "python", *pip, wanted)
        run(programs / "sfumato", "demo", "--output", place / "demo")


def check_python(version: str) -> None:
    """The wheel with another Python, where it is here."""
    managed = Path.home().glob(f".pyenv/versions/{version}.*/bin/python")
    for python in (shutil.which(f"python{version}"), *sorted(map(str, managed))):
        if python is None:
            continue
        # One on the path may be the stand-in of a manager of versions, which complains.
        tried = (python, "-c", "")
        if not subprocess.run(tried, capture_output=True, check=False).returncode:  # noqa: S603
            return check_wheel("--newest", python)
    raise NotRunError(f"no Python {version} here; the workflow has it")


def check_bundle() -> None:
    """A bundle of everything, installed where there is no network; and what is in it."""
    alone: tuple[str, ...] = ("unshare", "--net")
    if not shutil.which(alone[0]) or subprocess.run((*alone, "true"), check=False).returncode:  # noqa: S603
        alone = ()
    with tempfile.TemporaryDirectory(prefix="sfumato-release-") as folder:
        place = Path(folder)
        shutil.copy(best_wheel(DIST), place)
        archive = bundle(place, "all")
        with tarfile.open(archive) as opened:
            opened.extractall(place, filter="data")
        (unpacked,) = (each for each in place.iterdir() if each.is_dir())
        python = getattr(sys, "_base_executable", sys.executable)
        run(*alone, python, unpacked / "install.py", place / "environment")
        run(*alone, place / "environment" / "bin" / "sfumato", "presets")
        made_of = ("environment", place / "environment" / "bin" / "python")
        told = ("--output-reproducible", "--output-file", DIST / "sbom.json")
        run(TOOLS / "cyclonedx-py", *made_of, *told)
    if not alone:
        raise NotRunError("installed, but where there is a network: no network namespaces here")


def write_sums() -> None:
    """The checksums of all that is handed out."""
    files = sorted([*DIST.glob("*.whl"), *sdists(), *DIST.glob("sbom.json")])
    lines = [f"{hashlib.sha256(each.read_bytes()).hexdigest()}  {each.name}\n" for each in files]
    (DIST / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")


def steps(*, gathered: bool) -> dict[str, Callable[[], None]]:
    """What is checked, by its name."""
    tried: dict[str, Callable[[], None]] = {
        "the wheel with the oldest packages": lambda: check_wheel("--oldest"),
        "the demo with the oldest packages": check_demo,
        "the wheel with the newest packages": lambda: check_wheel("--newest"),
        **{f"Python {each}": lambda each=each: check_python(each) for each in PYTHONS},  # type: ignore[misc]
    }
    return {
        "citation": check_citation,
        "workflow": check_workflow,
        "container": check_recipe,
        "files": check_files,
        **({} if gathered else tried),
        "bundle without a network, SBOM": check_bundle,
        "checksums": write_sums,
        "contact": check_contact,
    }


def main(words: list[str]) -> int:
    """Print how each step ended; 1 where one failed."""
    failed = 0
    for name, step in steps(gathered="--gathered" in words).items():
        try:
            step()
        except NotRunError as why:
            print(f"{name}: not run ({why})")
        except SystemExit as why:
            print(f"{name}: FAILED\n{why}")
            failed = 1
        else:
            print(f"{name}: passed")
    for system in ("macOS", "Windows"):
        print(f"{system}: not run yet (the workflow runs it)")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
