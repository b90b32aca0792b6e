"""What is built to be handed out: the sdist and the wheel are whole, and know their version."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path

import publication
import pytest
from conftest import missing
from doc_blocks import blocks
from packaging.version import Version

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
KINDS = {".py", ".html", ".css", ".js", ".svg", ".lp", ".toml", ".typed", ".po"}
"""Endings of what the package is made of, beside the compiled loops."""
WORDS = """
for word; do
    case $word in *.pyx) source=$word ;; *.pyx.c) c=$word ;; *.o) object=$word ;; esac
done
"""
COPY = {
    "cython": WORDS + """
ours=$KERNELS/${source##*/}
for made in "$BUILD"/*/*.p/"${c##*/}"; do
    cmp -s "$source" "$ours" && [ "$made" -nt "$ours" ] && exec cp "$made" "$c"
done
""",
    "cc": WORDS + """
for made in "$BUILD"/*/*.p/"${c##*/}"; do
    o=${made%/*}/meson-generated_${c##*/}.o
    [ "$object" ] && cmp -s "$c" "$made" && [ "$o" -nt "$made" ] && exec cp "$o" "$object"
done
fast=-O0  # to optimise takes most of a build, and no test looks at it
""",
}  # fmt: skip
COPY["gcc"] = COPY["cc"]
"""What stands before a call of a program: where the editable installation has made the same of the
same, that is copied."""
LOOPS = {"_classes", "_groups", "_histories", "_pairs", "_partitions", "_tree"}


def build(call: str, folder: Path, *, with_git: bool = True) -> None:
    """Call the build backend in a folder, without a network and, if asked, without git."""
    done = subprocess.run(
        [sys.executable, "-c", f"import mesonpy; {call}"],
        cwd=folder,
        env=surroundings(folder, with_git=with_git),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def surroundings(folder: Path, *, with_git: bool) -> dict[str, str]:
    """Where programs are: those of this environment, a compiler, and git only if asked."""
    programs = folder.parent / f"programs-{'with' if with_git else 'without'}-git"
    programs.mkdir(exist_ok=True)
    here = Path(sys.executable).parent
    wanted = ("cmp", "cp", "cython", "cc", "gcc", "as", "ld", "ar", *(("git",) if with_git else ()))
    for name in wanted:
        found = shutil.which(name, path=f"{here}{os.pathsep}{os.environ['PATH']}")
        if not found or (programs / name).exists():
            continue
        if name in COPY:
            text = f'#!/bin/sh\n{COPY[name]}exec {shlex.quote(found)} "$@" $fast\n'
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)
        else:
            (programs / name).symlink_to(found)
    places = {"BUILD": str(ROOT / "build"), "KERNELS": str(SOURCE / "sfumato" / "kernels")}
    return {"PATH": f"{programs}{os.pathsep}{here}", "HOME": str(folder), **places, **compiler()}


def compiler() -> dict[str, str]:
    """What compiles where there is no C compiler on the path."""
    said = subprocess.run(
        [sys.executable, ROOT / "tools" / "compiler.py"], capture_output=True, text=True, check=True
    )
    return dict(word.split("=", 1) for word in shlex.split(said.stdout)[1:])


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the sdist holds."""
    if find_spec("mesonpy") is None:
        missing("no meson-python; install the dependency group dist")
    place = tmp_path_factory.mktemp("dist")
    build(f"mesonpy.build_sdist({str(place)!r})", ROOT)
    (sdist,) = place.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        # Python 3.11 has the filter from 3.11.4 on.
        archive.extractall(place, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    return place / sdist.name.removesuffix(".tar.gz")


@pytest.fixture(scope="module")
def wheel(unpacked: Path) -> zipfile.ZipFile:
    """The wheel, built from the sdist where there is no git."""
    (unpacked / "dist").mkdir()
    build("mesonpy.build_wheel('dist')", unpacked, with_git=False)
    (path,) = (unpacked / "dist").glob("*.whl")
    return zipfile.ZipFile(path)


def sources() -> set[str]:
    """Files of the package, as a wheel names them."""
    files = (path.relative_to(SOURCE) for path in (SOURCE / "sfumato").rglob("*") if path.is_file())
    return {
        file.as_posix()
        for file in files
        if "__pycache__" not in file.parts and file.suffix != ".pyx"
    }


def test_the_wheel_holds_the_package_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    loops = {name for name in names if name.endswith(tuple(EXTENSION_SUFFIXES))}
    assert {Path(name).name.split(".")[0] for name in loops} == LOOPS
    assert names - loops == sources()
    assert {Path(name).suffix or Path(name).name for name in names - loops} == KINDS
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


def test_the_install_lines_of_the_page(unpacked: Path, wheel: zipfile.ZipFile) -> None:
    """The first as it stands; of the others what they would install, as that takes minutes."""
    page = [
        code for kind, code in blocks(ROOT / "docs" / "start" / "installation.md") if kind == "sh"
    ]
    first, *others = [code for code in page if "pip install" in code]
    lines = re.findall(r"^pip install (.*)", "".join(others), re.MULTILINE)
    assert len(lines) >= 2
    script = "\n".join(["set -e", first, *(f"pip install --dry-run {line}" for line in lines)])
    own = surroundings(unpacked, with_git=False)
    path = f"{own['PATH']}{os.pathsep}{os.environ['PATH']}"
    kept = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=unpacked,
        env={**own, **kept, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"sfumato {unpacked.name.removeprefix('sfumato-')}\n" in done.stdout
    assert "splink-" in done.stdout.rpartition("Would install")[2]


def test_every_install_line_of_the_documentation(wheel: zipfile.ZipFile) -> None:
    """What those of all pages would install, with the wheel in the place of `.`."""
    found: dict[tuple[str, ...], str] = {}
    for page in publication.pages(ROOT):
        for line in re.findall(r"pip install ([^`\n]+)", page.read_text("utf-8")):
            words = shlex.split(line.partition("`")[0], comments=True)
            if words[0].startswith("."):
                words[0] = f"{wheel.filename}{words[0][1:]}"
                found[tuple(words)] = page.name
    assert len(found) >= 8
    for words, page in found.items():
        done = subprocess.run(
            [sys.executable, "-m", "pip", "install", "--dry-run", *words],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{page}: {done.stderr}"
        assert "does not provide the extra" not in done.stderr, page
        assert "sfumato-" in done.stdout.rpartition("Would install")[2], page


def test_one_wheel_serves_every_python_from_the_one_that_built_it(wheel: zipfile.ZipFile) -> None:
    python = f"cp3{sys.version_info.minor}"
    assert f"-{python}-abi3-" in Path(str(wheel.filename)).name


def test_wheel_and_sdist_agree_on_the_version(unpacked: Path, wheel: zipfile.ZipFile) -> None:
    (name,) = (name for name in wheel.namelist() if name.endswith("METADATA"))
    told = Parser().parsestr(wheel.read(name).decode())["Version"]
    assert unpacked.name == f"sfumato-{told}"
    (scripts,) = (name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    assert "sfumato = sfumato.cli.start:main" in wheel.read(scripts).decode()


def git(*words: str, folder: Path) -> None:
    who = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def version(folder: Path, *, with_git: bool = True) -> str:
    """What the build takes for the version of a folder."""
    done = subprocess.run(
        [sys.executable, folder / "tools" / "version.py"],
        env=surroundings(folder, with_git=with_git),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_versions_come_from_tags(unpacked: Path, tmp_path: Path) -> None:
    """Of a clone without tags, of a tagged commit, of a later one; and where git is missing."""
    folder = tmp_path / "clone"
    (folder / "tools").mkdir(parents=True)
    for name in ("pyproject.toml", "tools/version.py"):
        shutil.copy(unpacked / name, folder / name)
    text = (folder / "pyproject.toml").read_text(encoding="utf-8")
    fallback = tomllib.loads(text)["tool"]["setuptools_scm"]["fallback_version"]
    assert version(folder) == fallback
    git("init", folder=folder)
    git("add", "pyproject.toml", "tools", folder=folder)
    git("commit", "--message", "first", folder=folder)
    assert re.fullmatch(rf"{Version(fallback).base_version}\.dev1\+g\w+", version(folder))
    git("tag", "v7.8.9", folder=folder)
    assert version(folder) == "7.8.9"
    git("commit", "--allow-empty", "--message", "second", folder=folder)
    assert version(folder).startswith("7.8.10.dev1+g")
    assert version(folder, with_git=False) == fallback


def test_the_version_without_tags_is_after_the_last_release(project_root: Path) -> None:
    settings = tomllib.loads((project_root / "pyproject.toml").read_text(encoding="utf-8"))
    fallback = Version(settings["tool"]["setuptools_scm"]["fallback_version"])
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
