"""The notebooks run from top to bottom, hold no output, and are shown in the documentation."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from patience import PATIENCE

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where kernels run: a home and temporary files of their own, this Python's programs."""
    folder = tmp_path_factory.mktemp("notebooks")
    with pytest.MonkeyPatch.context() as patched:
        programs = Path(sys.executable).parent
        patched.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
        patched.setenv("HOME", str(folder))
        patched.setenv("IPYTHONDIR", str(folder / "ipython"))
        patched.setenv("JUPYTER_RUNTIME_DIR", str(folder / "runtime"))
        patched.setenv("TMPDIR", str(folder))
        patched.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
        yield folder


def said(notebook: Any) -> Iterator[tuple[str, str, str]]:
    """Of every output of a notebook: the cell, the kind, the text."""
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            kind = output.get("name") or output["output_type"]
            text = output.get("text") or output.get("data", {}).get("text/plain", "")
            yield cell["id"], kind, text


def run_in(client: NotebookClient, path: Path) -> Any:
    """A notebook with its outputs; names that an earlier one left are gone."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell("%reset -f"))
    client.nb = notebook
    client.reset_execution_trackers()
    for number, cell in enumerate(notebook.cells):
        client.execute_cell(cell, number)
    return notebook


def test_they_run(surroundings: Path) -> None:
    """One kernel for all: starting it and loading libraries takes longer than most cells."""
    client = NotebookClient(
        nbformat.v4.new_notebook(),
        timeout=round(PATIENCE),
        kernel_name="python3",
        resources={"metadata": {"path": str(surroundings)}},
    )
    with client.setup_kernel():
        for path in NOTEBOOKS:
            try:
                notebook = run_in(client, path)
            except CellExecutionError as error:
                pytest.fail(f"{path.name}: {error}")
            outputs = list(said(notebook))
            assert len(outputs) >= 5
            for cell, kind, text in outputs:
                assert kind != "stderr", f"{path.name}, cell {cell}: {text}"
                assert "Error" not in text, f"{path.name}, cell {cell}: {text}"


def test_one_for_each_kind_of_user() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["custodian", "linkage_unit", "researcher"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_output_is_kept(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert set(notebook.metadata.language_info) == {"name"}
    for cell in notebook.cells:
        assert not cell.metadata
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None


def test_the_documentation_names_them() -> None:
    page = (ROOT / "docs" / "start" / "notebooks.md").read_text(encoding="utf-8")
    assert all(
        f"{{download}}`{path.name} <../../notebooks/{path.name}>`" in page for path in NOTEBOOKS
    )
