"""What the stages take from a project file: the specification, the schema, the promises."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from linkage.linked_tables import households
from pipeline.clinics_project import PROJECT, change, write_project
from pyarrow import csv

from sfumato.core.declaration import silent
from sfumato.core.errors import InputError
from sfumato.linkage.link_spec import Mode
from sfumato.pipeline import linking_stages
from sfumato.pipeline.linking_stages import specification
from sfumato.pipeline.project_folder import open_project
from sfumato.pipeline.run import remove_leftovers, run, stages_of

pytestmark = pytest.mark.usefixtures("few_random_pairs")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sfumato.toml").write_text(PROJECT)
    return tmp_path


def test_the_projects_keys_hold_before_the_specification(folder: Path) -> None:
    change(folder, 'practice.csv"\nid = "patient"', 'practice.csv"\nid = "number"')
    change(folder, "dedupe = true", "dedupe = true\none_per_source = true")
    change(folder, "thresholds = {", "# {")
    change(
        folder,
        "[link]",
        "[link]\nfalse_match_rate = 0.02\nmissed_match_rate = 0.03\nallow_pairs = 9",
    )
    spec = specification(open_project(folder)).spec
    assert spec.id == "patient"
    assert spec.rename == {"practice": {"patient": "number"}}
    assert spec.mode is Mode.LINK_AND_DEDUPE
    assert spec.one_per_source == ("hospital", "practice")
    assert spec.rates is not None
    assert (spec.rates.false_match_rate, spec.rates.missed_match_rate) == (0.02, 0.03)
    assert spec.max_pairs == 9


def test_a_specification_of_its_own_file(folder: Path) -> None:
    text = (folder / "sfumato.toml").read_text()
    start, rest = text.split("[link.specification]\n", 1)
    body, end = rest.split("[release]", 1)
    (folder / "link.toml").write_text(body.replace("link.specification.", ""))
    (folder / "sfumato.toml").write_text(f'{start}specification.file = "link.toml"\n[release]{end}')
    assert "surname" in specification(open_project(folder)).spec.columns


def test_the_linkage_sees_roles_and_no_kinds(folder: Path) -> None:
    place = open_project(folder)
    before = place.schema_to_link()
    change(folder, 'zip = "numeric"', 'zip = { kind = "numeric", top = 2000, weight = 3.0 }')
    assert open_project(folder).schema_to_link() == before
    made = folder / "stages" / "linked"
    made.mkdir(parents=True)
    (made / "linked.toml").write_text(
        'person = "person"\nsensitive = ["icd9"]\n[quasi_identifiers]\nzip = {}\nage = {}\n'
    )
    found = open_project(folder).released_schema()
    assert found.person == "person"
    assert found.quasi_identifiers["zip"].top == 2000
    assert found.quasi_identifiers["zip"].weight == 3.0
    assert set(found.quasi_identifiers) == {"zip", "age"}


@pytest.mark.slow
def test_households_without_dates_are_linked(folder: Path) -> None:
    """Also where the project says that records are looked for within the tables, too."""
    tables, truth = households(100)
    for name, table in zip(("hospital", "practice"), tables.values(), strict=True):
        ids = pa.array([f"{name}{i}" for i in range(table.num_rows)])
        undated = table.drop_columns(["birth_date"])  # by which relatives are told from persons
        csv.write_csv(undated.append_column("patient", ids), folder / f"patients_{name}.csv")
    start, rest = PROJECT.split("[link.specification]", 1)
    (folder / "sfumato.toml").write_text(start + rest[rest.index("[release]") :])
    for name in ("hospital", "practice"):
        change(folder, f'attach = "visits_{name}.csv"\n', "")
    run(open_project(folder), until="link")
    measured = json.loads((folder / "stages" / "link" / "measured.json").read_text())
    assert measured["persons"]["count"] == pytest.approx(len(set(truth.tolist())), rel=0.1)


def test_stages_follow_the_sections(folder: Path) -> None:
    names = [stage.name for stage in stages_of(open_project(folder))]
    assert names == ["link", "linked", "assess", "release", "report"]
    change(folder, "[release]", '[attack]\n[review]\nby = "desk"\n[release]')
    names = [stage.name for stage in stages_of(open_project(folder))]
    assert names == ["link", "review", "linked", "assess", "release", "attack", "report"]


def test_a_schema_of_linked_tables_names_no_person(folder: Path) -> None:
    change(folder, "[schema]", '[schema]\nperson = "patient"')
    [link, *_] = stages_of(open_project(folder))
    with pytest.raises(InputError, match="linkage finds the people"):
        link.check(open_project(folder))


def test_an_attached_table_has_a_layout_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_project(tmp_path).parent
    first, *rest = (folder / "visits_hospital.csv").read_text("utf-8").splitlines(keepends=True)
    (folder / "visits_hospital.csv").write_text("".join(rest), encoding="utf-8")
    with pytest.raises(InputError, match="visits_hospital"):
        linking_stages.check_classified(open_project(folder))
    names = [f'"{each}"' for each in first.strip().split(",")]
    table = f'{{ file = "visits_hospital.csv", header = false, names = [{", ".join(names)}] }}'
    before = stages_of(open_project(folder))[0].settings(open_project(folder))
    change(folder, '"visits_hospital.csv"', table)
    project = open_project(folder)
    [link, *_] = stages_of(project)
    linking_stages.check_classified(project)
    assert link.settings(project) != before
    given: dict[str, Any] = {}
    monkeypatch.setattr(
        linking_stages, "link", lambda *_, **options: given.update(options) or 1 / 0
    )
    with pytest.raises(ZeroDivisionError):
        link.make(project, folder, silent)
    assert ",".join(given["attach_tables"]["hospital"].names) == first.strip()
    assert given["attach_tables"]["practice"] == folder / "visits_practice.csv"
    change(folder, "header = false", "headers = false")
    with pytest.raises(InputError, match=r"sources\.hospital\.attach\.headers"):
        open_project(folder)


def test_output_of_somebody_else_is_not_replaced(folder: Path) -> None:
    theirs = folder / "output" / "release"
    theirs.mkdir(parents=True)
    [*_, report] = stages_of(open_project(folder))
    with pytest.raises(InputError, match="no run has made"):
        report.check(open_project(folder))


def test_leftovers_are_told_by_their_names(tmp_path: Path) -> None:
    for name in (".out.0123abcd.part", ".out.0123abcd", ".out.notes", ".other.0123abcd.part"):
        (tmp_path / name).mkdir()
    remove_leftovers(tmp_path / "out")
    assert {path.name for path in tmp_path.iterdir()} == {
        "out", ".out.notes", ".other.0123abcd.part",
    }  # fmt: skip


@pytest.mark.slow
def test_a_project_of_one_table_needs_no_extra() -> None:
    code = (
        "import sys, sfumato.pipeline.run, sfumato.pipeline.proposal;"
        "print(*{each.partition('.')[0] for each in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    extras = {"pyroaring", "regex", "sklearn", "krippendorff", "duckdb", "splink", "altair"}
    extras |= {"jinja2", "clingo", "rdflib", "django", "pandas"}
    assert set(done.stdout.split()) & extras == set()
