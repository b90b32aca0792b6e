"""What docs/reference/policy.md shows runs as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = "import sys; from sfumato.cli.app import main; sys.argv[0] = 'sfumato'; main()"


@pytest.fixture
def folder(tmp_path: Path, project_root: Path) -> Path:
    for name in ("sex", "ethnicity", "language"):
        (tmp_path / f"{name}.csv").write_text("a;*\nb;*\n")
    (tmp_path / "policy.toml").write_text(blocks(project_root, "toml")[0])
    (tmp_path / "site.lp").write_text(blocks(project_root, "prolog")[0])
    return tmp_path


def blocks(root: Path, language: str) -> list[str]:
    text = (root / "docs" / "reference" / "policy.md").read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def run(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == "" or done.stderr.startswith("Wrote ")
    return done.stdout


@pytest.mark.slow
def test_shell(folder: Path, project_root: Path) -> None:
    for line in "".join(blocks(project_root, "sh")).splitlines():
        run(folder, "-c", PROGRAM, *line.split()[1:])


def test_python(folder: Path, project_root: Path) -> None:
    (code,) = blocks(project_root, "python")
    said = run(folder, "-c", code)
    assert said.startswith("5 {'Hospital A': ('birth', 'sex', 'ethnicity'), 'Pharmacy B'")
    assert "site.lp, line 2: The ethics board asks for 5" in said


def test_what_is_printed(folder: Path, project_root: Path) -> None:
    (text,) = blocks(project_root, "text")
    first, *lines = text.splitlines()
    said = run(folder, "-c", PROGRAM, *first.split()[2:])
    assert said.startswith("\n".join(lines[:-1]))
