"""What the pages for R and Stata show runs: in R where it is here, and Stata's Python in ours."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pytest

from sfumato.examples import generate_clinics, write_clinics
from sfumato.table.table_files import open_source, write_table

PAGES = Path(__file__).resolve().parents[1] / "docs" / "howto"
PROGRAMS = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def shown(page: str, language: str) -> str:
    """The one block of a page in a language."""
    text = (PAGES / page).read_text("utf-8")
    (code,) = re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return code


@pytest.fixture
def clinics(tmp_path: Path) -> Path:
    write_clinics(generate_clinics(200, rng=1), tmp_path)
    (tmp_path / "release").mkdir()
    return tmp_path


@pytest.mark.slow
def test_the_lines_for_r(clinics: Path) -> None:
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("no Rscript here; Debian has it as r-base-core, with r-cran-jsonlite")
    read = 'visits <- read.csv("visits.csv", colClasses = "character")\n'
    (clinics / "page.R").write_text(read + shown("from_r.md", "r"), encoding="utf-8")
    done = subprocess.run(
        [program, "--vanilla", "page.R"],
        cwd=clinics,
        env={**os.environ, "PATH": PROGRAMS},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "people: 200 " in done.stdout
    assert re.search(r"exit code: [024] +verdict: \w+", done.stdout)
    assert (clinics / "release" / "visits.csv").stat().st_size


@pytest.mark.slow
def test_the_lines_for_stata(
    clinics: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Stata itself is not here: its Python is run, with what it reports kept."""
    pytest.importorskip("pyreadstat")
    code = shown("from_stata.md", "stata")
    found = re.search(r"^python:\n(.*?)^end$", code, re.MULTILINE | re.DOTALL)
    assert found is not None
    told: dict[str, float] = {}
    stata = ModuleType("sfi")
    stata.Scalar = type("Scalar", (), {"setValue": staticmethod(told.__setitem__)})
    stata.SFIToolkit = type("SFIToolkit", (), {"errprintln": staticmethod(print)})
    monkeypatch.setitem(sys.modules, "sfi", stata)
    monkeypatch.setenv("PATH", PROGRAMS)
    monkeypatch.chdir(clinics)
    source = open_source("visits.csv")
    write_table(pa.Table.from_batches(source.batches(source.names)), clinics / "visits.dta")
    exec(compile(found[1], "page", "exec"), {})
    assert told["sfumato_exit"] in (0, 2, 4)
    assert 0 < told["sfumato_found"] <= 0.2
    assert (clinics / "release" / "visits.dta").stat().st_size
