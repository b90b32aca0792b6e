"""What the how-to pages show runs as it stands, and prints what they say it prints."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGES = ("marketing", "colluding_researchers", "breach_notification", "fraud_economics")
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")


def blocks(page: Path) -> list[tuple[str, str]]:
    """Language and content of the code blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return re.findall(r"^```(python|sh|text)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def read(text: str) -> tuple[list[str], list[float]]:
    """The words of an output, and its numbers."""
    numbers = [float(each.replace(",", "")) for each in NUMBER.findall(text)]
    return NUMBER.sub("#", text).split(), numbers


def run_python(code: str, names: dict[str, object]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "page", "exec"), names)
    return out.getvalue()


def run_sh(code: str, folder: Path) -> str:
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    done = subprocess.run(
        ["sh", "-e", "-c", code],
        cwd=folder,
        env={"PATH": path, "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", PAGES)
def test_a_page_runs_and_prints_what_it_says(name, tmp_path, monkeypatch, project_root):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "page"}
    last, compared = "", 0
    for language, code in blocks(project_root / "docs" / "howto" / f"{name}.md"):
        if language == "python":
            last = run_python(code, names)
        elif language == "sh":
            last = run_sh(code, tmp_path)
        elif last:
            words, numbers = read(code)
            own_words, own_numbers = read(last)
            assert own_words == words, last
            # An estimator that was improved may move a number a little; the page stays true.
            assert own_numbers == pytest.approx(numbers, rel=0.05, abs=1.01), last
            last, compared = "", compared + 1
    assert compared >= 2


def test_every_page_is_listed(project_root):
    folder = project_root / "docs" / "howto"
    assert sorted(page.stem for page in folder.glob("*.md")) == sorted([*PAGES, "index"])
    index = (folder / "index.md").read_text(encoding="utf-8")
    assert all(f"\n{name}\n" in index for name in PAGES)


def test_the_numbers_of_an_output_are_told_from_its_words():
    assert read("matches: 1,417 (82% to 9.5e-05)") == (
        ["matches:", "#", "(#%", "to", "#)"],
        [1417.0, 82.0, 9.5e-05],
    )
