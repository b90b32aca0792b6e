"""The code blocks of a page of the documentation: found, run, and compared with what is printed."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")


def page_of(root: Path, name: str) -> Path:
    """The page of a name, in whichever part of the documentation."""
    (page,) = (root / "docs").rglob(f"{name}.md")
    return page


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


LENIENT = """sfumato() {
    ended=0; command sfumato "$@" || ended=$?
    case "$1 $ended" in "anonymize "[24] | "run "[24] | "attack 2") ended=0 ;; esac
    return $ended
}
"""
"""Pages go on after a release that is above its limit: it was written all the same."""


def run_sh(code: str, folder: Path) -> str:
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    done = subprocess.run(
        ["sh", "-e", "-c", LENIENT + code],
        cwd=folder,
        env={"PATH": path, "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_page(page: Path, folder: Path) -> int:
    """Run a page from top to bottom in a folder; how many printed outputs came out as printed."""
    names: dict[str, object] = {"__name__": "page"}
    last, compared = "", 0
    for language, code in blocks(page):
        if language == "python":
            last = run_python(code, names)
        elif language == "sh":
            last = run_sh(code, folder)
        elif last:
            words, numbers = read(code)
            own_words, own_numbers = read(last)
            assert own_words == words, last
            # An estimator that was improved may move a number a little; the page stays true.
            assert own_numbers == pytest.approx(numbers, rel=0.05, abs=1.01), last
            last, compared = "", compared + 1
    return compared
