"""What a stage depends on: everything that matters makes it again, and nothing else."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pipeline.clinics_project import PROJECT, Call, caller, change
from pipeline.test_run_on_request import PROJECT as ON_REQUEST
from semantics.requests import opened, write_example

from sfumato.core.declaration import Progress
from sfumato.core.errors import InputError
from sfumato.pipeline.linking_stages import LINK_STAGE
from sfumato.pipeline.project_folder import open_project
from sfumato.pipeline.release_stages import ASSESS_STAGE, RELEASE_STAGE
from sfumato.pipeline.request_stage import REQUEST_STAGE
from sfumato.pipeline.run import run
from sfumato.pipeline.stage import Stage, depends

ONE = """\
[project]
name = "one"
seed = 1
[sources.one]
file = "one.csv"
[schema]
file = "schema.toml"
[assess]
register = "register.csv"
thresholds = "thresholds.toml"
[release]
pid_k = 2
pseudonym_key = "key"
[outputs]
report = "json"
"""
FILES = {
    "one.csv": "age,zip\n" + "30,11\n31,12\n" * 5,
    "schema.toml": '[quasi_identifiers]\nage = "numeric"\nzip.hierarchy = "zip.csv"\n',
    "zip.csv": "11,1*\n12,1*\n",
    "register.csv": "age,zip\n30,11\n",
    "thresholds.toml": "",
    "key": "0123456789abcdef",
}


def key(folder: Path, stage: Stage) -> str:
    return depends(open_project(folder), stage).key


def edited(folder: Path, name: str) -> None:
    (folder / name).write_text((folder / name).read_text() + " ")


@pytest.fixture
def one(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "sfumato.toml").write_text(ONE)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "stages"),
    [
        ("one.csv", {"assess", "release"}),
        ("zip.csv", {"assess", "release"}),
        ("register.csv", {"assess"}),
        ("thresholds.toml", {"assess"}),
        ("key", {"release"}),
        ("schema.toml", set()),
    ],
)
def test_files_of_one_table(one: Path, name: str, stages: set[str]) -> None:
    both = (ASSESS_STAGE, RELEASE_STAGE)
    before = {stage.name: key(one, stage) for stage in both}
    edited(one, name)
    assert {stage.name for stage in both if key(one, stage) != before[stage.name]} == stages


def test_a_changed_schema_file_and_a_project_that_moved(one: Path, tmp_path: Path) -> None:
    before = key(one, RELEASE_STAGE)
    moved = Path(shutil.copytree(one, tmp_path / "elsewhere" / "a place ü"))
    assert key(moved, RELEASE_STAGE) == before
    change(one, "[project]", "# a comment\n[project]")
    change(one, 'name = "one"', 'name = "two"')
    assert key(one, RELEASE_STAGE) == before
    file = one / "schema.toml"
    file.write_text(file.read_text().replace("numeric", "categorical"))
    assert key(one, RELEASE_STAGE) != before


@pytest.mark.parametrize(
    "name", ["hospital.csv", "visits.csv", "link.toml", "names.csv", "model.json", "key"]
)
def test_files_of_a_linkage(tmp_path: Path, name: str) -> None:
    _linkage(tmp_path)
    before = key(tmp_path, LINK_STAGE)
    if name == "link.toml":
        file = tmp_path / name
        file.write_text(file.read_text().replace("surname:2", "surname:3"))
    else:
        edited(tmp_path, name)
    assert key(tmp_path, LINK_STAGE) != before


@pytest.mark.parametrize(
    "name", ["manifest.toml", "link.toml", "model.json", "persons.parquet", "answers.parquet"]
)
def test_files_of_the_linkage_before(tmp_path: Path, name: str) -> None:
    _linkage(tmp_path)
    change(tmp_path, "[link]", '[link]\nprevious = "old"')
    old = tmp_path / "old"
    old.mkdir()
    for each in ("manifest.toml", "link.toml", "model.json", "persons.parquet", "answers.parquet"):
        (old / each).write_text("")
    before = key(tmp_path, LINK_STAGE)
    edited(old, name)
    assert key(tmp_path, LINK_STAGE) != before


def _linkage(folder: Path) -> None:
    section = PROJECT[PROJECT.index("[link.specification]") : PROJECT.index("[release]")]
    spec = section.replace("[link.specification.columns]", "[columns]").splitlines()[1:]
    text = PROJECT.replace(section, "").replace("patients_", "").replace("visits_hosp", "hosp")
    text = text.replace('"hospital.csv"\n\n', '"visits.csv"\n\n')
    text = text.replace("dedupe = true", 'model = "model.json"\nkey_file = "key"')
    text = text.replace("[link]", '[link]\nspecification.file = "link.toml"')
    (folder / "sfumato.toml").write_text(text)
    (folder / "link.toml").write_text("\n".join(['nicknames = "names.csv"', *spec]))
    files = ("hospital.csv", "practice.csv", "visits.csv", "visits_practice.csv")
    for name in (*files, "names.csv", "model.json", "key"):
        (folder / name).write_text("a")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("linked.csv", " "),
        ("hospital.csv", " "),
        ("sex.csv", " "),
        ("site.lp", " "),
        ("policy.lp", " "),
        ("one.toml", "\n[databases.Nowhere]\nk = 2\n"),
    ],
)
def test_files_of_a_request(tmp_path: Path, name: str, text: str) -> None:
    _request(tmp_path)
    before = key(tmp_path, REQUEST_STAGE)
    with (tmp_path / name).open("a") as stream:
        stream.write(text)
    assert key(tmp_path, REQUEST_STAGE) != before


def test_what_does_not_matter_to_a_request(tmp_path: Path) -> None:
    _request(tmp_path)
    before = key(tmp_path, REQUEST_STAGE)
    with (tmp_path / "one.toml").open("a") as stream:
        stream.write("# a comment\n")
    change(tmp_path, "[policy]", '[policy]\nundecided = "go on"')
    assert key(tmp_path, REQUEST_STAGE) == before


def _request(folder: Path) -> None:
    write_example(folder)
    (folder / "book").mkdir(exist_ok=True)
    opened(folder).close()
    for name in ("site.lp", "policy.lp"):
        (folder / name).write_text("% nothing more\n")
    policy = folder / "one.toml"
    policy.write_text(f'rules = ["policy.lp"]\n{policy.read_text()}')
    text = ON_REQUEST.replace("[policy]", '[policy]\nrules = "site.lp"')
    (folder / "sfumato.toml").write_text(text)


def test_what_a_custodian_accepts_later_makes_another_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    call: Call = caller(tmp_path, monkeypatch, capfd)
    (tmp_path / "book").mkdir()
    write_example(tmp_path)
    opened(tmp_path).close()
    text = ON_REQUEST.replace("[policy]", '[policy]\nundecided = "go on"')
    (tmp_path / "sfumato.toml").write_text(text)
    made = call("run", "--json")
    # Three people, of whom a stranger finds one in three.
    assert made.code == 2, made.err
    with opened(tmp_path) as ledger:
        chosen = next(iter(ledger.associations()))
    words = ("ledger", "associations", "accept", chosen.id, "--note", "so", "--by", "carol")
    assert call(*words, "--ledger", "book/ledger.sqlite", "--keys", "keys").code == 0
    assert call("run", "--json").ran() == ["release", "report"]
    assert call("run", "--json").ran() == []


@pytest.mark.parametrize("when", ["measure", "divide"])
def test_a_table_that_is_edited_while_the_project_runs(one: Path, when: str) -> None:
    """At the first step of a stage, another record is written to its table."""
    told: list[str] = []

    @contextmanager
    def working(name: str) -> Iterator[Progress]:
        def progress(_step: str, _share: float) -> None:
            if name == stage and not told:
                told.append(name)
                with (one / "one.csv").open("a") as stream:
                    stream.write("30,11\n")

        yield progress

    stage = {"measure": "assess", "divide": "release"}[when]
    for line in (
        'register = "register.csv"',
        'thresholds = "thresholds.toml"',
        'pseudonym_key = "key"',
    ):
        change(one, line, "")
    place = open_project(one)
    with pytest.raises(InputError, match=r"sources\.one\.file"):
        run(place, working=working)
    assert told
    assert not (one / "output").exists()
    assert run(place).is_done
