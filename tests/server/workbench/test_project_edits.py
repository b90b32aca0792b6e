"""A project file edited click by click: nothing is lost, whoever else writes it."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Any

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st
from server.workbench.conftest import visits

from sfumato.core import workspace
from sfumato.core.errors import InputError
from sfumato.pipeline.project_folder import open_project
from sfumato.server.workbench import project_edits
from sfumato.server.workbench.column_edits import ROLES, hierarchy_of, set_hierarchy, set_role
from sfumato.server.workbench.project_edits import (
    ChangedOutsideError,
    Of,
    ProjectEdits,
    WindowLock,
    edit_lock,
    text_sha,
)

PROJECT = """# mine
[project]
name = "Visits" # the name
seed = 7

[sources.visits]
file = "visits.csv"

[schema]
person = "patient"
# why icd9
sensitive = ["icd9", "charge"]
direct_identifiers = ["given_name"]
undecided = { sex = "What is it?" }

[schema.quasi_identifiers.birth_year]
kind = "numeric"

[schema.quasi_identifiers.zip] # coarse
hierarchy = { lengths = [3] }

# what it promises
# (both lines)
[release]
pid_k = 5
"""
COLUMNS = ("birth_year", "zip", "icd9", "charge", "given_name", "sex")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A project file."""
    visits(tmp_path / "visits.csv", 5)
    made = tmp_path / "sfumato.toml"
    made.write_text(PROJECT)
    return made


def change(name: str, value: Any) -> Any:
    """An edit of the name or seed."""

    def made(document: tomlkit.TOMLDocument) -> None:
        document["project"][name] = value

    return made


def test_an_edit_changes_its_key_and_nothing_else(file: Path) -> None:
    sha = ProjectEdits(file).edit(change("name", "Other"), expected=text_sha(PROJECT), words="")
    assert file.read_text() == PROJECT.replace('"Visits"', '"Other"')
    assert sha == text_sha(file.read_text())


def test_an_edit_that_breaks_a_rule_changes_nothing(file: Path) -> None:
    edits = ProjectEdits(file)
    with pytest.raises(InputError, match=r"project\.name"):
        edits.edit(change("name", ""), expected=edits.sha(), words="")
    assert file.read_text() == PROJECT


def test_an_edit_without_its_lock_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project_edits, "lock_soon", lambda file: workspace.lock_soon(file, 0.05))
    edits = ProjectEdits(file)
    with edit_lock(edits.folder), pytest.raises(InputError, match="one program at a time"):
        edits.edit(change("name", "Other"), expected=text_sha(PROJECT), words="")
    assert file.read_text() == PROJECT


def test_the_history_is_for_its_owner_alone(file: Path) -> None:
    edits = ProjectEdits(file)
    edits.edit(change("name", "Other"), expected=edits.sha(), words="the name")
    for path in edits.folder.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path.name
    assert stat.S_IMODE(edits.folder.stat().st_mode) == 0o700
    assert [past.of for past in edits.pasts()] == [Of.START, Of.EDIT]


@given(steps=st.lists(st.sampled_from(["edit", "undo", "redo"]), max_size=12))
def test_undo_and_redo_are_those_of_a_list(
    steps: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("project")
    file = folder / "sfumato.toml"
    file.write_text(PROJECT)
    edits = ProjectEdits(file)
    texts, at = [PROJECT], 0
    for number, step in enumerate(steps):
        if step == "edit":
            edits.edit(change("seed", 100 + number), expected=edits.sha(), words=f"seed {number}")
            texts, at = [*texts[: at + 1], file.read_text()], at + 1
        elif step == "undo":
            assert bool(edits.undo()) == (at > 0)
            at = max(at - 1, 0)
        else:
            assert bool(edits.redo()) == (at < len(texts) - 1)
            at = min(at + 1, len(texts) - 1)
        assert file.read_text() == texts[at]
        # Another process finds the same in the history.
        assert bool(ProjectEdits(file).undone_next) == (at > 0)


def test_ten_edits_are_all_undone(file: Path) -> None:
    edits = ProjectEdits(file)
    for number in range(10):
        edits.edit(change("seed", number), expected=edits.sha(), words=str(number))
    assert [edits.undo() for _ in range(10)] == [str(number) for number in reversed(range(10))]
    assert file.read_text() == PROJECT
    assert edits.undo() == ""


def test_nothing_before_a_signature_is_undone(file: Path) -> None:
    edits = ProjectEdits(file)
    edits.edit(change("seed", 1), expected=edits.sha(), words="seed")
    edits.sign("signed")
    signed = file.read_text()
    assert edits.undo() == ""
    edits.edit(change("seed", 2), expected=edits.sha(), words="seed again")
    assert edits.undo() == "seed again"
    assert edits.undo() == ""
    assert file.read_text() == signed


def test_a_change_from_outside_is_no_loss(file: Path) -> None:
    edits = ProjectEdits(file)
    page = edits.sha()
    edits.notice()
    theirs = PROJECT.replace("seed = 7", "seed = 8")
    file.write_text(theirs)
    with pytest.raises(ChangedOutsideError) as conflict:
        edits.edit(change("name", "Mine"), expected=page, words="the name")
    assert conflict.value.theirs == ("-seed = 7", "+seed = 8")
    assert conflict.value.mine == ('-name = "Visits" # the name', '+name = "Mine" # the name')
    assert file.read_text() == theirs
    edits.edit(change("name", "Mine"), expected=page, words="the name", force=True)
    assert file.read_text() == theirs.replace('"Visits"', '"Mine"')
    edits.undo()
    edits.undo()
    assert file.read_text() == PROJECT


def test_a_page_behind_edits_of_its_own_is_no_conflict(file: Path) -> None:
    edits = ProjectEdits(file)
    page = edits.sha()
    edits.edit(change("seed", 1), expected=page, words="seed")
    edits.edit(change("name", "Fast"), expected=page, words="name")
    assert open_project(file).project.about.name == "Fast"


def test_a_text_that_cannot_be_read_is_written_back(file: Path) -> None:
    edits = ProjectEdits(file)
    edits.notice()
    file.write_text("[project\nname = 'secret value'")
    with pytest.raises(InputError) as refused:
        edits.edit(change("seed", 1), expected=text_sha(PROJECT), words="", force=True)
    assert "secret" not in str(refused.value)
    edits.take_back(1, "back")
    assert file.read_text() == PROJECT


def test_a_full_disk_changes_nothing(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edits = ProjectEdits(file)
    edits.notice()
    written = project_edits.write_text

    def full(target: Path, text: str) -> None:
        if Path(target) == file:
            raise InputError("output sfumato.toml", "must be written whole", found="no space")
        written(target, text)

    monkeypatch.setattr(project_edits, "write_text", full)
    with pytest.raises(InputError, match="no space"):
        edits.edit(change("seed", 1), expected=edits.sha(), words="seed")
    monkeypatch.undo()
    assert file.read_text() == PROJECT
    assert [past.of for past in edits.pasts()] == [Of.START]
    assert edits.undo() == ""

    def none(*_: Any, **__: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(project_edits.os, "open", none)
    with pytest.raises(InputError, match="no space left"):
        edits.edit(change("seed", 1), expected=text_sha(PROJECT), words="seed")
    assert file.read_text() == PROJECT


def test_one_window_edits_until_another_takes_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(project_edits.time, "time", lambda: now[0])
    one, other = WindowLock(tmp_path / "history"), WindowLock(tmp_path / "history")
    assert one.claim("a")
    assert not other.claim("b")
    assert one.claim("a")
    assert other.claim("b", take_over=True)
    assert not one.claim("a")
    now[0] += project_edits.FORGOTTEN + 1
    assert one.claim("a")
    # The process that served the other window was killed.
    monkeypatch.setattr(project_edits, "_runs", lambda process: process != os.getpid())
    assert other.claim("b")


@given(
    moves=st.lists(st.tuples(st.sampled_from(COLUMNS), st.sampled_from(list(ROLES))), max_size=8)
)
def test_a_column_has_one_role_whatever_is_clicked(
    moves: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("project") / "sfumato.toml"
    file.write_text(PROJECT)
    edits = ProjectEdits(file)
    for column, role in moves:
        place = open_project(file)
        try:
            edits.edit(set_role(place, column, role, "?"), expected=edits.sha(), words="role")
        except InputError:  # the last quasi-identifier stays
            assert len(place.given_schema().quasi_identifiers) == 1
            continue
        schema = open_project(file).given_schema()
        roles = {name: key for key, names in schema.roles().items() for name in names}
        assert roles[column] == role
        assert set(roles) == {*COLUMNS, "patient"}
        comments = [line for line in PROJECT.splitlines() if line.startswith("#")]
        assert [line for line in file.read_text().splitlines() if line.startswith("#")] == comments


def test_a_hierarchy_stays_with_its_column(file: Path) -> None:
    edits, place = ProjectEdits(file), open_project(file)
    spec = hierarchy_of(place, {"levels": "width", "steps": "5, 10"}, "birth_year")
    change_ = set_hierarchy(open_project(file), "birth_year", spec)
    edits.edit(change_, expected=edits.sha(), words="hierarchy")
    assert "hierarchy = {widths = [5, 10]}" in file.read_text()
    assert open_project(file).given_schema().quasi_identifiers["birth_year"].hierarchy == spec
    for form, steps in (("width", "a"), ("width", "inf"), ("prefix", "nan")):
        with pytest.raises(InputError, match="hierarchy of column 'birth_year'"):
            hierarchy_of(place, {"levels": form, "steps": steps}, "birth_year")
    (file.parent / "link.csv").symlink_to(Path(__file__))
    (file.parent / "folder").symlink_to(Path(__file__).parent)
    for path in ("/etc/passwd", "../x.csv", "link.csv", "folder/conftest.py", "none.csv"):
        with pytest.raises(InputError, match="project's folder"):
            hierarchy_of(place, {"levels": "list", "file": path}, "zip")


def test_a_schema_in_a_file_of_its_own_is_taken_in(file: Path) -> None:
    head, _, rest = PROJECT.partition("[schema]\n")
    own, _, release = rest.partition("[release]")
    plain = own.replace("[schema.", "[")
    (file.parent / "schema.toml").write_text(plain)
    file.write_text(f'{head}[schema]\nfile = "schema.toml"\n\n[release]{release}')
    before = open_project(file).given_schema()
    edits = ProjectEdits(file)
    edits.edit(set_role(open_project(file), "sex", "sensitive"), expected=edits.sha(), words="")
    after = open_project(file).given_schema()
    assert after.sensitive == (*before.sensitive, "sex")
    assert after.quasi_identifiers == before.quasi_identifiers
    assert "# why icd9" in file.read_text()
    assert (file.parent / "schema.toml").read_text() == plain
