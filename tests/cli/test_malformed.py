"""Malformed input: no traceback, no output, a message that names the fault and no value."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cli.conftest import Result, Run
from cli.malformed import columns, files, parameters, schemas
from cli.malformed.case import CANARY, NUMBER, Case, make_folder

CASES = [*files.CASES, *columns.CASES, *schemas.CASES, *parameters.CASES]
RUNS = [
    pytest.param(case, command, id=f"{command}: {case.what}", marks=[pytest.mark.slow] * (at > 0))
    for number, case in enumerate(CASES)
    for at, command in enumerate(case.commands[:: 1 - 2 * (number % 2)])
]
"""One command of each case, in turn, is for every change; the other one is slow."""
NEVER = (CANARY.lower(), str(NUMBER), "traceback", "bug of sfumato")


def contents(folder: Path) -> dict[str, bytes | None]:
    """Every entry of a folder, with its bytes where it is a file."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def check(case: Case, result: Result, before: dict[str, bytes | None], folder: Path) -> None:
    said = result.err
    for text in NEVER:
        assert text not in said.lower()
    assert re.search(case.said, said, re.DOTALL), said
    assert result.code == case.code
    assert result.out == ""
    assert contents(folder) == before


@pytest.mark.parametrize(("case", "command"), RUNS)
def test_malformed(case: Case, command: str, run: Run, tmp_path: Path) -> None:
    make_folder(tmp_path, case.files)
    before = contents(tmp_path)
    check(case, run(*case.line(command)), before, tmp_path)


def test_the_faults_are_many_and_differ() -> None:
    assert len({case.what for case in CASES}) == len(CASES) >= 200
    made = [(case.files, case.data, case.schema, case.options, case.promise, case.output)
            for case in CASES]  # fmt: skip
    assert all(one not in made[:place] for place, one in enumerate(made))
