"""Messy files through ``init`` and ``run``: one table or two, in six formats, to a release.

Usage: intake_projects.py [FILES] [--first SEED]

Files as in intake.py, of eleven countries, as CSV with several separators, TSV, Excel, Parquet,
Stata or SPSS. One in three is two tables of which two thirds of the persons are in both, with some
misspelt names and with headers in two languages; they are linked. Questions that the project leaves
open are answered by the truth. Prints each file that ends in anything but a release.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from messy_files import COUNTRIES, MessyFile, messy_file, renamed
from unseen_countries import UNSEEN

from sfumato.cli.app import main as sfumato
from sfumato.pipeline.project_text import dump_project, load_project
from sfumato.schema import Schema
from sfumato.table.schema_guess import Guess, Proposed, Role
from sfumato.table.table_files import write_table

FORMATS = ("csv", "csv", "tsv", "xlsx", "parquet", "dta", "sav")
PERSONS = 200
_KNOWS = {"given", "surname", "name", "birth", "number", "mail"}
"""What tells who a person is: two tables share two of these at least."""


def written(made: MessyFile, folder: Path, name: str, form: str) -> Path:
    """Write a file in a format; names of columns as the format takes them."""
    path = folder / f"{name}.{form}"
    if form == "csv":
        made.write(path)
        return path
    columns = {}
    for header, cells in made.columns.items():
        known = [each or None for each in cells]
        plain = all(each is None or re.fullmatch(r"[1-9]\d{0,8}", each) for each in known)
        columns[header] = pa.array(
            [None if each is None else int(each) for each in known] if plain else known,
            pa.int64() if plain else pa.large_string(),
        )
    table = pa.table(columns)
    if form in {"dta", "sav"}:
        table = table.rename_columns([named(each) for each in table.column_names])
    write_table(table, path)
    return path


def named(header: str) -> str:
    """A header as statistical packages take it."""
    return re.sub(r"\W", "_", header, flags=re.ASCII).strip("_")[:30] or "v"


def two_tables(made: MessyFile, seed: int) -> tuple[MessyFile, MessyFile]:
    """Two tables of the persons of a file, two thirds of them in both, the second one misspelt."""
    rng = np.random.default_rng([seed, 7])
    rows = len(next(iter(made.columns.values())))
    part = rng.permutation(rows) * 6 // rows
    first = replace(made, columns=_rows(made, np.flatnonzero(part < 5)))
    second = renamed(replace(made, columns=_rows(made, np.flatnonzero(part > 0))))
    for header, held in second.held.items():
        if held in {"given", "surname", "name"}:
            cells = second.columns[header]
            for row in np.flatnonzero(rng.random(len(cells)) < 0.1).tolist():
                place = int(rng.integers(1, max(2, len(cells[row]))))
                cells[row] = cells[row][:place] + cells[row][place + 1 :]
    return first, second


def _rows(made: MessyFile, rows: np.ndarray[tuple[int], np.dtype[np.intp]]) -> dict[str, list[str]]:
    return {name: [cells[row] for row in rows] for name, cells in made.columns.items()}


def answered(path: Path, roles: dict[str, frozenset[str]]) -> int:
    """Answer the open questions of a project by the truth; their number."""
    project = load_project(path)
    assert isinstance(project.columns, Schema)
    open_ = project.columns.undecided
    if open_:
        known = {named(name): each for name, each in roles.items()}
        chosen: dict[str, Proposed] = {}
        for name in open_:
            accepted = sorted(known[named(name)] - {"source of the recipe"})
            role: Role = accepted[0]  # type: ignore[assignment]
            chosen[name] = Proposed(role, 1.0, "answered")
        schema = Guess(project.columns, {}, chosen).answered()
        path.write_text(
            dump_project(project.model_copy(update={"columns": schema})), encoding="utf-8"
        )
    return len(open_)


def command(*words: str) -> str:
    """Run a command; what it says where it fails."""
    out, err = io.StringIO(), io.StringIO()
    sys.argv = ["sfumato", *words]
    code: object = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            sfumato()
        except SystemExit as end:
            code = end.code
    return "" if not code else f"exit {code}: {' '.join(err.getvalue().split())[-400:]}"


def tried(seed: int, folder: Path) -> tuple[str, str]:
    """Take one file from nothing to a release: what it was, and what went wrong."""
    countries = COUNTRIES if seed % 2 else UNSEEN
    form = FORMATS[seed % len(FORMATS)]
    made = messy_file(seed // 2, countries, persons=PERSONS)
    linked = seed % 3 == 0
    if linked:
        while len(_KNOWS & set(made.held.values())) < 2 or made.person is not None:
            seed += 1_001
            made = messy_file(seed, countries, persons=PERSONS)
        first, second = two_tables(made, seed)
        paths = [written(first, folder, "first", form), written(second, folder, "second", form)]
        roles = first.roles | second.roles
    else:
        paths, roles = [written(made, folder, "table", form)], made.roles
    what = f"{seed}: {'two tables' if linked else 'one table'}, {form}"
    os.chdir(folder)
    said = command("init", *(path.name for path in paths), "--seed", "1")
    if said:
        return what, f"init: {said}"
    questions = answered(folder / "sfumato.toml", roles)
    said = command("run")
    releases = list((folder / "output" / "release").glob("*.csv")) if not said else []
    if not said and not releases:
        said = "no release"
    return f"{what}, {questions} questions", said and f"run: {said}"


def main() -> None:
    """Print what did not end in a release."""
    parser = argparse.ArgumentParser()
    parser.add_argument("files", type=int, nargs="?", default=50)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    started, failed = time.process_time(), 0
    for seed in range(given.first, given.first + given.files):
        with tempfile.TemporaryDirectory() as folder:
            what, said = tried(seed, Path(folder))
            os.chdir("/")
        failed += bool(said)
        print(f"{what}: {said or 'released'}", flush=True)
    spent = time.process_time() - started
    print(f"{given.files - failed} of {given.files} released; {spent:.0f} CPU s")
    sys.exit(min(failed, 1))


if __name__ == "__main__":
    main()
