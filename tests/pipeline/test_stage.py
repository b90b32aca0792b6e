"""What is kept of a stage, on a disk that somebody has changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sfumato.core.declaration import silent
from sfumato.pipeline.project_folder import ProjectFolder
from sfumato.pipeline.project_text import parse_project
from sfumato.pipeline.stage import (
    RECORD,
    Made,
    Output,
    Stage,
    StageRecord,
    make_stage,
    read_record,
)

PROJECT = """
[project]
name = "one"
seed = 1
[sources.a]
file = "a.csv"
[schema]
quasi_identifiers = ["age"]
[release]
pid_k = 5
"""
KEPT = StageRecord(
    stage="assess",
    key="0",
    settings={"seed": 1},
    inputs={"sources.a.file": "1"},
    outputs={"report.json": Output("2", 3), "release/release.csv": Output("4", 5)},
    said="found",
    warnings=("so",),
    seed=None,
    finished="2026-01-01T00:00:00+00:00",
    seconds=1.5,
    versions={"sfumato": "1"},
)


def test_a_record_reads_as_it_was_written(tmp_path: Path) -> None:
    KEPT.write(tmp_path)
    assert read_record(tmp_path) == KEPT


@pytest.mark.parametrize("cut", range(0, 500, 7))
def test_a_truncated_record_is_none(tmp_path: Path, cut: int) -> None:
    KEPT.write(tmp_path)
    file = tmp_path / RECORD
    whole = file.read_bytes()
    file.write_bytes(whole[: min(cut, len(whole.rstrip()) - 1)])
    assert read_record(tmp_path) is None


@pytest.mark.parametrize("value", [None, 1, -1.5, "x", True, [], [1], {}, {"a": 1}, [[]] * 3])
@pytest.mark.parametrize("name", list(KEPT.to_json()))
def test_a_record_with_something_else_can_be_shown_or_is_none(
    tmp_path: Path, name: str, value: Any
) -> None:
    (tmp_path / RECORD).write_text(json.dumps(KEPT.to_json() | {name: value}))
    found = read_record(tmp_path)
    if found is not None:
        shown = f"{found.seconds:.1f}{found.bytes:,}"
        assert len(shown + found.finished[:16] + found.said + found.key) > 4
        assert all(isinstance(each, str) for each in found.warnings)
        assert all(isinstance(each, str) for each in [*found.inputs, *found.inputs.values()])


@pytest.mark.parametrize(
    "name", ["../../mine", "release/../../../mine", "/etc/mine", "", ".", "a\0b", "a/..", "\\..\\x"]
)
def test_a_record_names_nothing_outside_its_folder(tmp_path: Path, name: str) -> None:
    outputs = {name: {"sha256": "0", "bytes": 1}}
    (tmp_path / RECORD).write_text(json.dumps(KEPT.to_json() | {"outputs": outputs}))
    assert read_record(tmp_path) is None


def test_what_people_put_beside_outputs_stays(tmp_path: Path) -> None:
    def make(_place: ProjectFolder, making: Path, _progress: object) -> Made:
        (making / "reports").mkdir()
        (making / "reports" / f"{len(said)}.html").write_text("page")
        return Made({}, "made")

    said = [1]
    place = ProjectFolder(parse_project(PROJECT), tmp_path / "sfumato.toml")
    place.stages.mkdir()
    stage = Stage("assess", lambda _place: {}, make)
    make_stage(place, stage, silent)
    reports = place.of_stage("assess") / "reports"
    (reports / "signed.pdf").write_text("mine")
    said.append(2)
    make_stage(place, stage, silent)
    assert {each.name for each in reports.iterdir()} == {"2.html", "signed.pdf"}
