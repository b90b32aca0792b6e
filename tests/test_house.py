"""Rules of the house that no linter knows."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "sfumato"
FILES = sorted(SOURCE.rglob("*.py"))
FOLDERS = sorted({file.parent for file in FILES})

HEAVY = {"altair", "duckdb", "openpyxl", "pandas", "polars", "pyarrow", "pyspark"}

pytestmark = pytest.mark.skipif(not FILES, reason="tests run without the source tree")


def _name(path: Path) -> str:
    return path.relative_to(SOURCE.parent).as_posix()


def _modules_after(code: str) -> set[str]:
    """Top-level names of everything that a fresh interpreter has imported after some code."""
    code += "\nimport sys\nprint('\\n' + '|'.join({m.partition('.')[0] for m in sys.modules}))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return set(run.stdout.splitlines()[-1].split("|"))


def test_importing_sfumato_imports_nothing_heavy() -> None:
    loaded = _modules_after("import sfumato")
    assert "sfumato" in loaded
    assert loaded & HEAVY == set()


HELP = """
import sys
sys.argv = ["sfumato", "--help"]
from sfumato.cli.app import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""


def test_help_imports_nothing_heavy() -> None:
    loaded = _modules_after(HELP)
    assert "typer" in loaded
    assert loaded & HEAVY == set()


def test_importing_every_public_name_works() -> None:
    import sfumato

    for name in sfumato.__all__:
        assert getattr(sfumato, name) is not None
    assert set(sfumato.__all__) <= set(dir(sfumato))
    with pytest.raises(AttributeError):
        _ = sfumato.no_such_name


def test_the_reference_names_everything_public() -> None:
    import sfumato

    page = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"auto(?:class|function|exception|data):: (\w+)$", page, re.MULTILINE))
    assert listed == {name for name in sfumato.__all__ if not name.startswith("__")}


@pytest.mark.parametrize("folder", FOLDERS, ids=_name)
def test_every_folder_says_what_is_inside(folder: Path) -> None:
    init = folder / "__init__.py"
    assert init.is_file()
    assert ast.get_docstring(ast.parse(init.read_text(encoding="utf-8")))


@pytest.mark.slow
@pytest.mark.parametrize("file", [f for f in FILES if f.parent != SOURCE], ids=_name)
def test_nothing_inside_imports_from_the_top(file: Path) -> None:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            assert "sfumato" not in [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom) and node.module == "sfumato":
            rooms = {folder.name for folder in SOURCE.iterdir() if folder.is_dir()}
            assert {alias.name for alias in node.names} <= rooms | {"__version__"}


def test_rooms_import_only_lower_rooms() -> None:
    tool = ROOT / "tools" / "check_rooms.py"
    run = subprocess.run(
        [sys.executable, tool, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_constraints_are_plain_versions() -> None:
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        assert re.fullmatch(r"#.*|[a-z0-9.-]+==[A-Za-z0-9.+]+", line)


def test_only_foreign_code_may_raise_what_it_pleases() -> None:
    broad = re.compile(r"^\s*except( Exception| BaseException|:)", re.MULTILINE)
    found = [_name(file) for file in FILES if broad.search(file.read_text("utf-8"))]
    # A job, a ranking of the queue and the opening of a desk tell others how they ended.
    assert found == [
        "sfumato/core/extensions.py",
        "sfumato/review/review_session.py",
        "sfumato/server/manager/dealing.py",
        "sfumato/server/workbench/job_process.py",
        "sfumato/table/contents.py",
    ]
