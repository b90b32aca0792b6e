"""What is built to be handed out: the sdist and the wheel are whole, and know their version."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from importlib.util import find_spec
from pathlib import Path

import pytest
from conftest import missing
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
KINDS = {".py", ".html", ".css", ".js", ".svg", ".lp", ".toml", ".typed"}
"""Endings of what the package is made of."""


def hatchling(*words: str, folder: Path, with_git: bool = True) -> str:
    """What the build backend prints, without a network and, if asked, without git."""
    surroundings = {"PATH": os.environ["PATH"] if with_git else "", "HOME": str(folder)}
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", *words],
        cwd=folder,
        env=surroundings,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the sdist holds."""
    if find_spec("hatch_vcs") is None:
        missing("no hatch-vcs; install the dependency group dist")
    place = tmp_path_factory.mktemp("dist")
    hatchling("build", "--target", "sdist", "--directory", str(place), folder=ROOT)
    (sdist,) = place.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(place, filter="data")
    return place / sdist.name.removesuffix(".tar.gz")


@pytest.fixture(scope="module")
def wheel(unpacked: Path) -> zipfile.ZipFile:
    """The wheel, built from the sdist where there is no git."""
    hatchling("build", "--target", "wheel", folder=unpacked, with_git=False)
    (path,) = (unpacked / "dist").glob("*.whl")
    return zipfile.ZipFile(path)


def sources() -> set[str]:
    """Files of the package, as a wheel names them."""
    files = (path.relative_to(SOURCE) for path in (SOURCE / "sfumato").rglob("*") if path.is_file())
    return {file.as_posix() for file in files if "__pycache__" not in file.parts}


def test_the_wheel_holds_the_package_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert names == sources()
    assert {Path(name).suffix or Path(name).name for name in names} == KINDS
    assert "sfumato/py.typed" in names


def test_the_wheel_names_no_path_of_this_machine(wheel: zipfile.ZipFile) -> None:
    places = (str(ROOT).encode(), str(Path.home()).encode() + b"/", sys.prefix.encode())
    for name in wheel.namelist():
        content = wheel.read(name)
        assert not any(place in content for place in places), name


def test_the_sdist_builds_the_same_and_has_its_tests(unpacked: Path) -> None:
    for name in ("LICENSE", "Makefile", "constraints.txt", "tests/test_wheel.py", "docs/conf.py"):
        assert (unpacked / name).is_file(), name
    assert list((unpacked / "notebooks").glob("*.ipynb"))


def test_wheel_and_sdist_agree_on_the_version(unpacked: Path, wheel: zipfile.ZipFile) -> None:
    (name,) = (name for name in wheel.namelist() if name.endswith("METADATA"))
    told = Parser().parsestr(wheel.read(name).decode())["Version"]
    assert unpacked.name == f"sfumato-{told}"
    (scripts,) = (name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    assert "sfumato = sfumato.cli.start:main" in wheel.read(scripts).decode()


def git(*words: str, folder: Path) -> None:
    who = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def test_versions_come_from_tags(unpacked: Path, tmp_path: Path) -> None:
    """Of a clone without tags, of a tagged commit, of a later one; and where git is missing."""
    text = (unpacked / "pyproject.toml").read_text(encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    fallback = tomllib.loads(text)["tool"]["hatch"]["version"]["fallback-version"]
    assert hatchling("version", folder=tmp_path) == fallback
    git("init", folder=tmp_path)
    git("add", "pyproject.toml", folder=tmp_path)
    git("commit", "--message", "first", folder=tmp_path)
    assert re.fullmatch(
        rf"{Version(fallback).base_version}\.dev1\+g\w+", hatchling("version", folder=tmp_path)
    )
    git("tag", "v7.8.9", folder=tmp_path)
    assert hatchling("version", folder=tmp_path) == "7.8.9"
    git("commit", "--allow-empty", "--message", "second", folder=tmp_path)
    assert hatchling("version", folder=tmp_path).startswith("7.8.10.dev1+g")
    assert hatchling("version", folder=tmp_path, with_git=False) == fallback


def test_the_version_without_tags_is_after_the_last_release(project_root: Path) -> None:
    settings = tomllib.loads((project_root / "pyproject.toml").read_text(encoding="utf-8"))
    fallback = Version(settings["tool"]["hatch"]["version"]["fallback-version"])
    changes = (project_root / "CHANGELOG.md").read_text(encoding="utf-8")
    last = Version(re.findall(r"^## \[(\d[^\]]*)\]", changes, re.MULTILINE)[0])
    assert fallback.is_devrelease
    assert fallback > last


def test_what_builds_is_pinned(project_root: Path) -> None:
    settings = tomllib.loads((project_root / "pyproject.toml").read_text(encoding="utf-8"))
    pins = (project_root / "constraints.txt").read_text(encoding="utf-8")
    names = [re.split(r"[<>=]", wanted)[0] for wanted in settings["build-system"]["requires"]]
    for name in (*names, "setuptools-scm", "vcs-versioning", "setuptools"):
        assert re.search(rf"^{name}==", pins, re.MULTILINE), name
    assert settings["dependency-groups"]["dist"] == settings["build-system"]["requires"]
