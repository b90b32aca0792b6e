"""The workbench from a notebook: on data that is in memory."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa

from sfumato.core.atomic import write_text
from sfumato.core.errors import InputError
from sfumato.core.optional_packages import check_installed
from sfumato.pipeline.project_folder import ProjectFolder, open_project
from sfumato.pipeline.project_text import PROJECT_FILE
from sfumato.pipeline.proposal import ProposalRequest, propose, write_project_file
from sfumato.release.release_manifest import file_sha256
from sfumato.table.table_files import open_source, write_table

PACKAGES = ("django", "waitress", "whitenoise", "csp", "django_htmx", "jinja2", "pyroaring")
"""What the workbench needs of its extra."""
_MAIN = "from sfumato.cli.start import main; main()"
_WRITTEN = ".explore.sha256"
"""The file with the digest of the table that was written: no other one is written over."""
_LAST = "Enter for a new link"
"""How the last line begins that is told at the start."""


def explore(
    data: object, *, folder: str | os.PathLike[str] | None = None, port: int = 0
) -> ProjectFolder:
    """Open a dataframe or file in the workbench, in your browser on this machine.

    The data is written into a folder, with a project file beside it. Where this machine has no
    screen, a link and the line for ``ssh`` are printed.

    Parameters
    ----------
    data
        A dataframe (pandas, Polars, PyArrow), or the path of a file.
    folder
        Where the project is made, or was made before: then of this data from now on. A new folder
        that only you may enter when not given.
    port
        The port of 127.0.0.1; any free one for 0.

    Returns
    -------
    ProjectFolder
        The project. What is clicked is in its file.

    Raises
    ------
    InputError
        If the data cannot be read, no folder can be made, another project or table is in the
        folder, or the extra is missing.

    Examples
    --------
    >>> project = explore("visits.csv")  # doctest: +SKIP
    """
    check_installed("the workbench", {package: package for package in PACKAGES}, extra="workbench")
    place = _private(folder)
    file, table = place / PROJECT_FILE, place / "data.parquet"
    _check_written(table, place / _WRITTEN, file)
    source = open_source(data)
    records = pa.Table.from_batches(list(source.batches(source.names)))
    os.close(os.open(table, os.O_CREAT | os.O_WRONLY, 0o600))
    write_table(records, table)
    write_text(place / _WRITTEN, f"{file_sha256(table)}\n")
    if not file.exists():
        write_project_file(propose(ProposalRequest({"data": table}, place)).text, file)
    _start(place, port)
    return open_project(file)


def _check_written(table: Path, written: Path, file: Path) -> None:
    """Refuse a folder with a table or project of somebody: the table may be the only original."""
    is_table = os.path.lexists(table)
    if is_table:
        digest = written.read_text(encoding="utf-8").strip() if written.is_file() else ""
        is_other = table.is_symlink() or not table.is_file() or file_sha256(table) != digest
    else:
        is_other = file.exists()
    if is_other:
        raise InputError(
            "parameter folder",
            "must hold no project of other tables",
            found=f"a {table.name} that was not written here" if is_table else f"a {file.name}",
            advice=f"open it with: sfumato open {(file if file.exists() else table).name}; "
            "or name another folder",
        )


def _private(folder: str | os.PathLike[str] | None) -> Path:
    if folder is None:
        return Path(tempfile.mkdtemp(prefix="sfumato-"))
    path = Path(folder)
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        raise InputError("parameter folder", "must be a folder that can be made") from None
    return path


def _start(place: Path, port: int) -> None:
    """Start the workbench beside the notebook, and print what it tells."""
    words = [sys.executable, "-P", "-c", _MAIN, "open", str(place), "--port", str(port)]
    process = subprocess.Popen(  # noqa: S603 - a program of ours
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, start_new_session=True,
    )  # fmt: skip
    # It ends with the notebook, of which nobody else knows that it is there.
    atexit.register(process.terminate)
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(_LAST):
            return
        print(line, end="")  # noqa: T201 - the link is for who runs the notebook
    raise InputError("the workbench", "must be able to start", found="an end at once")
