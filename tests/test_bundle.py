"""A bundle installs without a network, and a wheel that was changed is refused."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import bundle
import pytest
from conftest import missing
from sizes import sizes

ROOT = Path(__file__).resolve().parent.parent
NAME = "sfumato-0.2.0-py3-none-any.whl"
PROGRAM = "def main():\n    print('sfumato 0.2.0')\n"
METADATA = "Metadata-Version: 2.1\nName: sfumato\nVersion: 0.2.0\nProvides-Extra: report\n"


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """The bundle of a wheel that needs nothing: what is tried is the bundle."""
    with zipfile.ZipFile(tmp_path / NAME, "w") as wheel:
        inside = "sfumato-0.2.0.dist-info"
        wheel.writestr("sfumato/__init__.py", PROGRAM)
        wheel.writestr(f"{inside}/METADATA", METADATA)
        wheel.writestr(f"{inside}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{inside}/entry_points.txt", "[console_scripts]\nsfumato=sfumato:main\n")
        wheel.writestr(f"{inside}/RECORD", "")
    return bundle.bundle(tmp_path, "report")


def unpacked(archive: Path, folder: Path) -> Path:
    with tarfile.open(archive) as opened:
        # Python 3.11 has the filter from 3.11.4 on, and 3.12 wants one named.
        opened.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    return folder / archive.name.removesuffix(".tar.gz")


def without_network(*words: object) -> subprocess.CompletedProcess[str]:
    """Run in a network namespace that has no interfaces, where the system lets us."""
    alone = ["unshare", "--net"]
    if not shutil.which("unshare") or subprocess.run([*alone, "true"], check=False).returncode:
        missing("no network namespaces here: unshare --net")
    line = [*alone, sys.executable, *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, check=False)


def test_the_archive_says_what_it_is(made: Path, tmp_path: Path) -> None:
    digest, name = made.with_name(f"{made.name}.sha256").read_text().split()
    assert (digest, name) == (hashlib.sha256(made.read_bytes()).hexdigest(), made.name)
    folder = unpacked(made, tmp_path / "there")
    (line,) = (folder / "requirements.txt").read_text().splitlines()
    own = hashlib.sha256((tmp_path / NAME).read_bytes()).hexdigest()
    assert line == f"sfumato[report]==0.2.0 --hash=sha256:{own}"
    before = made.read_bytes()
    assert bundle.bundle(tmp_path, "report").read_bytes() == before


def test_another_python_is_named(made: Path, tmp_path: Path) -> None:
    folder = unpacked(made, tmp_path / "there")
    (folder / "made_for.txt").write_text("3.9 vax\n")
    line = [sys.executable, folder / "install.py", tmp_path / "environment"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "python3.9" in done.stderr
    assert not (tmp_path / "environment").exists()


@pytest.mark.slow
def test_it_installs_without_a_network(made: Path, tmp_path: Path) -> None:
    folder = unpacked(made, tmp_path / "there")
    done = without_network(folder / "install.py", tmp_path / "environment")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("sfumato 0.2.0")


@pytest.mark.slow
def test_a_changed_wheel_is_refused(made: Path, tmp_path: Path) -> None:
    """One that is a wheel still, with another program in it."""
    folder = unpacked(made, tmp_path / "there")
    with zipfile.ZipFile(folder / "wheels" / NAME, "a") as wheel:
        wheel.writestr("sfumato/more.py", "print('changed')\n")
    done = without_network(folder / "install.py", tmp_path / "environment")
    assert done.returncode == 1
    assert "Nothing was installed" in done.stderr
    assert not (tmp_path / "environment").exists()


def test_wheels_of_another_version_are_refused(made: Path, tmp_path: Path) -> None:
    shutil.copy(tmp_path / NAME, tmp_path / NAME.replace("0.2.0", "0.3.0"))
    with pytest.raises(SystemExit, match="several versions"):
        bundle.best_wheel(tmp_path)


def test_the_sizes_in_the_documentation(project_root: Path) -> None:
    page = (project_root / "docs" / "start" / "installation.md").read_text("utf-8")
    told = {
        cells[1].strip(" `"): int(cells[3])
        for line in page.splitlines()
        if len(cells := line.split("|")) == 5 and cells[3].strip().isdigit()
    }
    found = sizes()
    assert told == pytest.approx(found, rel=0.1, abs=3)
    assert found["core"] <= 440
