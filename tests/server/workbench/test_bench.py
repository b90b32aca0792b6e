"""The open project: what its figures rest on, and what is not opened."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from made_databases import made_database
from server.workbench.conftest import project

from sfumato.pipeline.proposal import ProposalRequest, propose
from sfumato.risk.intruders import Findings
from sfumato.schema import PrefixHierarchy
from sfumato.server.workbench import bench, column_figures, frame, questions
from sfumato.server.workbench.bench import COUNTED, ESTIMATE, Bench, Desk, input_files
from sfumato.server.workbench.column_figures import FEWEST, found_there, references_of, tables_of
from sfumato.table.table_keys import Reference


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A project with a register, and a hierarchy in a file."""
    made = project(tmp_path / "project", 20)
    text = made.read_text()
    for before, after in {
        "\n\n[release]": '\nhierarchy = "zip.csv"\n\n[release]\nregister = "register.csv"',
        "\nremember = false": '\nfile = "ledger.sqlite"',
    }.items():
        assert before in text
        text = text.replace(before, after)
    made.write_text(text)
    for name in ("register.csv", "zip.csv", "ledger.sqlite"):
        (made.parent / name).write_text("zip,area\n10115,10\n")
    return made


def test_a_revision_changes_with_all_that_figures_rest_on(file: Path) -> None:
    made = Bench(file)
    read = {path.name for path in input_files(made.place).values()}
    assert read == {"visits.csv", "register.csv", "zip.csv"}
    for name in ("visits.csv", "register.csv", "zip.csv", "ledger.sqlite", "sfumato.toml"):
        before, path = (made.revision, made.inputs), file.parent / name
        path.write_text(f"{path.read_text()}\n")
        assert made.revision != before[0], name
        assert (made.inputs != before[1]) is (name in read), name


def test_a_table_that_was_changed_is_noticed_once(tmp_path: Path) -> None:
    bench = Bench(project(tmp_path))
    assert not bench.tables_changed()
    table = tmp_path / "visits.csv"
    table.write_text(table.read_text() + table.read_text().splitlines()[1] + "\n")
    assert bench.tables_changed()
    assert not bench.tables_changed()
    bench.file.write_text(f"{bench.file.read_text()}\n# more\n")
    assert not bench.tables_changed()


def test_references_between_tables_are_those_of_a_naive_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = made_database(6, people=20)
    made.write(tmp_path)
    desk, tables = Desk(), [tmp_path / f"{name}.csv" for name in made.frames]
    proposal = propose(ProposalRequest({path.stem: path for path in tables}, tmp_path))
    monkeypatch.setattr(bench, "propose", lambda _request: proposal)
    opened = desk.open_any(tables)
    shown = tables_of(opened)
    said = opened.place.given_schema().tables
    assert said[shown[0].name].persons
    rows = {path.stem: list(csv.DictReader(path.read_text().splitlines())) for path in tables}
    named = [(name, column, to) for name in said for column, to in said[name].of.items()]
    found = references_of(opened, shown)
    assert sorted((each.table, each.column, each.to) for each in found) == sorted(named)
    for each in found:
        keys = {row[said[each.to].key] for row in rows[each.to]}
        cells = [row[each.column] for row in rows[each.table]]
        assert each.orphans == sum(bool(cell) and cell not in keys for cell in cells)
        assert each.empty == cells.count("")


def test_a_key_that_leads_elsewhere_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (questions, column_figures):
        monkeypatch.setattr(module, "_", str)
    made = made_database(6, people=20)
    made.write(tmp_path)
    opened = Desk().open_any([tmp_path / f"{name}.csv" for name in made.frames])
    edits = opened.edits
    every = questions.open_keys(opened.place)
    while waiting := questions.open_keys(opened.place):
        tables = tables_of(opened)
        asked = questions.questions_of(opened.place, tables, references_of(opened, tables))[0]
        assert asked.about in waiting
        said = questions.answer(opened.place, asked, "yes", {})
        edits.edit(said, expected=edits.sha(), words="")
        assert asked.about not in questions.open_keys(opened.place)
    said = opened.place.given_schema().tables
    name, column, to = min(
        (name, column, to) for name, table in said.items() for column, to in table.of.items()
    )
    reason, other = f'"refers to {to}"', '"refers to another"'
    text = opened.file.read_text()
    assert text.count(reason)
    opened.file.write_text(
        text.replace(f'"{name}.{column}" = {reason}', f'"{name}.{column}" = {other}')
    )
    assert questions.open_keys(opened.place) == {f"{name}.{column}"} < every


def test_of_a_table_that_does_not_say_whose_its_records_are_nobody_is_alone(
    tmp_path: Path,
) -> None:
    made = made_database(6, people=20)
    made.write(tmp_path)
    tables = tables_of(Desk().open_any([tmp_path / f"{name}.csv" for name in made.frames]))
    assert {table.counts_people for table in tables} == {True, False}
    for table in tables:
        levels = table.levels(table.names[-1], PrefixHierarchy(lengths=(1,)))
        assert {level.alone is not None for level in levels} == {table.counts_people}


@pytest.mark.parametrize("found", [1, FEWEST - 1, 1000 - FEWEST + 1, 999])
@pytest.mark.parametrize("empty", [0, 1])
def test_few_records_that_are_found_or_not_are_not_counted(
    found: int, empty: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(column_figures, "_", str)
    reference = Reference("stays", "person", "people", 1000 - found - empty, empty, sure=True)
    assert f"{found}" not in found_there(reference, 1000)
    shown = replace(reference, orphans=500 - empty)
    assert found_there(shown, 1000) == "500"


@pytest.mark.parametrize(("drawn", "kind"), [(None, COUNTED), (1500, ESTIMATE)])
def test_what_was_drawn_is_an_estimate(drawn: int | None, kind: str) -> None:
    findings = replace(Findings.among(0.05, 20), drawn=drawn)
    verdict = SimpleNamespace(row=lambda _name: SimpleNamespace(findings=findings))
    assert frame._found(verdict, "insider")[1] == kind  # type: ignore[arg-type]
