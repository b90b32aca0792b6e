"""A manager creates a project: nothing is stored before, and nothing in the clear ever."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from server.clinic import ATTRIBUTES, PEOPLE, account
from server.manager_pages import client_of, filled

from sfumato.review.review_forecast import outlook
from sfumato.review.review_settings import PROPOSED

PLANTED = "Zquxvortexia"


def table(rows: list[tuple[str | None, ...]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["patient", *(each.name for each in ATTRIBUTES), "diagnosis"])
    for number, row in enumerate(rows):
        writer.writerow([f"r{number}", *row, "J45"])
    return text.getvalue().encode()


def two_tables() -> dict[str, Any]:
    planted = [(PLANTED, *row[1:]) for row in PEOPLE[:4]]
    return {
        "kind": "tables",
        "tables-one": SimpleUploadedFile("a.csv", table(planted)),
        "tables-name_one": "clinic",
        "tables-two": SimpleUploadedFile("b.csv", table(list(PEOPLE[4:]))),
        "tables-name_two": "practice",
    }


def upload(client: Any, data: dict[str, Any] | None = None) -> Any:
    return client.post("/projects/new", data or two_tables())


def everything(folder: Path) -> bytes:
    """All bytes of all files below a folder."""
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


@pytest.fixture
def people(server: Any) -> tuple[Any, Any]:
    """A custodian, and a manager who is one too; nothing is left of earlier uploads."""
    for path in (server.data / "uploads").iterdir():
        path.unlink()
    return account("carol", "custodian"), account("mark", "manager", "custodian")


def test_two_tables_are_recognised_previewed_and_not_stored(
    server: Any, people: tuple[Any, Any]
) -> None:
    from sfumato.server.store.models import AuditEntry, Project, StoredPair

    client = client_of(people[1])
    answer = upload(client)
    assert answer.status_code == 302, answer.content.decode()
    assert answer["Location"] == "/projects/new/settings"
    page = client.get("/projects/new/settings")
    text = page.content.decode()
    assert page.status_code == 200
    assert text.count('aria-label="Pair ') == 4
    assert "@" in text or "*" in text
    for row in PEOPLE:
        assert all(value not in text for value in row[:2] if value and len(value) > 3)
    assert PLANTED not in text
    for name in ("given", "family", "born", "sex", "code", "diagnosis"):
        assert f'aria-label="Shown: {name}"' in text
    shown = dict(re.findall(r'<input type="checkbox" name="(a\d+-show)"([^>]*)>', text))
    assert any("checked" in rest for rest in shown.values())
    assert not Project.objects.exists()
    assert not StoredPair.objects.exists()
    assert not AuditEntry.objects.filter(action="create project").exists()
    assert not list((server.data / "projects").glob("*")) or not any(
        Project.objects.filter(pk=path.name).exists()
        for path in (server.data / "projects").iterdir()
    )
    assert PLANTED.encode() not in everything(server.data)
    assert len(list((server.data / "uploads").glob("*.sealed"))) == 1
    client.post("/projects/new/cancel")
    assert not list((server.data / "uploads").iterdir())


def test_the_project_is_made_as_it_was_entered(server: Any, people: tuple[Any, Any]) -> None:
    from sfumato.server.live.live_projects import read_project
    from sfumato.server.store.models import Project

    client = client_of(people[1])
    upload(client)
    page = client.get("/projects/new/settings").content
    data = filled(page, go="create", k="2", budget="0.5", overlap="3", page_size="7")
    data["title"] = "\u202eTwo \u2067clinics\u200f"  # marks that would turn what stands around it
    looked = client.post("/projects/new/settings", data)
    assert looked.status_code == 200
    assert looked.content.decode().count('class="notice warning" role="alert"') == 1
    assert not Project.objects.exists()
    answer = client.post("/projects/new/settings", filled(looked.content, go="create"))
    assert answer.status_code == 302, re.findall(r'role="alert">(.*?)<', answer.content.decode())
    made = Project.objects.get()
    assert (made.title, made.overlap, made.page_size) == ("Two clinics", 3, 7)
    assert made.settings["k"] == 2
    assert made.settings["budget"] == 0.5
    assert made.custodian == people[0]
    review = read_project(made)
    assert len(review.pairs) == 4
    assert "diagnosis" not in review.records.column_names
    assert PLANTED.encode() not in everything(server.data)
    assert not list((server.data / "uploads").iterdir())
    assert client.get("/projects/new/settings").status_code == 302


def test_a_preview_again_shows_what_is_chosen(people: tuple[Any, Any]) -> None:
    client = client_of(people[1])
    upload(client)
    page = client.get("/projects/new/settings").content
    data = filled(page, go="preview")
    kept = next(name for name in data if name.endswith("-show"))
    data = {name: value for name, value in data.items() if not name.endswith("-show")}
    text = client.post("/projects/new/settings", {**data, kept: "on"}).content.decode()
    shown = text.split('id="columns"', maxsplit=1)[0]
    assert shown.count('<li class="column">') == 4
    nothing = client.post("/projects/new/settings", data).content.decode()
    assert 'class="column"' not in nothing
    assert "one column" in nothing


def test_the_effect_of_the_rules_is_shown_before(people: tuple[Any, Any]) -> None:
    """The same figures as of the project that is made then; the defaults leave pairs workable."""
    from sfumato.server.live.live_projects import review_of
    from sfumato.server.store.models import Project

    client = client_of(people[1])
    upload(client)
    page = client.get("/projects/new/settings")
    data, text = filled(page.content), page.content.decode()
    assert (data["k"], data["budget"]) == (str(PROPOSED.k), str(PROPOSED.budget))
    found = figures(text)
    assert found[OPENABLE] == found[CELLS] > 0
    assert found[UNWORKABLE] == 0
    assert 'class="notice warning"' not in text

    text = client.post("/projects/new/settings", {**data, "k": "5", "go": "preview"}).content
    closed = figures(text.decode())
    assert 2 * closed[OPENABLE] < closed[CELLS]
    assert b"With k = 5 most cells stay closed" in text
    text = client.post("/projects/new/settings", {**data, "budget": "0", "go": "preview"}).content
    assert b"In most pairs nothing can be opened" in text
    text = client.post("/projects/new/settings", {**data, "k": "0", "go": "preview"}).content
    assert figures(text.decode()) == []
    assert b"Correct the rules first" in text

    assert client.post("/projects/new/settings", {**data, "go": "create"}).status_code == 302
    made = review_of(Project.objects.get())
    assert made.settings == PROPOSED
    again = outlook(made, np.random.default_rng(0))
    assert found[CELLS:OF_A_PAIR] == [again.cells, again.openable, again.opened]
    assert found[SPENT] == pytest.approx(again.spent, abs=0.0005)


CELLS, OPENABLE, _OPENED, OF_A_PAIR, SPENT, UNWORKABLE = range(6)


def figures(page: str) -> list[float]:
    """What a page says the rules would do."""
    return [float(value) for value in re.findall(r"<dt>[^<]+</dt><dd>([0-9.]+)", page)]


def test_nobody_else_reads_an_upload(server: Any, people: tuple[Any, Any]) -> None:
    client, other = client_of(people[1]), client_of(people[1])
    upload(client)
    assert other.get("/projects/new/settings").status_code == 302
    session = client.session
    session["upload"] = {**session["upload"], "time": session["upload"]["time"] - 3601}
    session.save()
    assert client.get("/projects/new/settings").status_code == 302
    assert not list((server.data / "uploads").glob("*.sealed"))


@pytest.mark.parametrize(
    ("field", "content", "said"),
    [
        ("tables-one", b"PK\x03\x04zip", "must be text"),
        ("tables-one", b"", "empty"),
        ("tables-one", b"\x00\x01\x02", "must be text"),
        ("tables-pairs", b"left,right\n1,2\n", "must have one column"),
        (
            "tables-pairs",
            b"source_l,id_l,source_r,id_r\nclinic,zz,practice,1\n",
            "Name the column of ids",
        ),
    ],
)
def test_wrong_files_are_refused_without_a_value(
    people: tuple[Any, Any], field: str, content: bytes, said: str
) -> None:
    client = client_of(people[1])
    answer = upload(client, {**two_tables(), field: SimpleUploadedFile("x.csv", content)})
    assert answer.status_code == 400
    text = answer.content.decode()
    assert said in text
    assert PLANTED not in text


def test_large_uploads_are_refused(people: tuple[Any, Any], monkeypatch: Any) -> None:
    from sfumato.server.manager import uploads as upload_handler

    monkeypatch.setattr(upload_handler, "MOST_BYTES", 100)
    answer = upload(client_of(people[1]))
    assert answer.status_code == 413


def test_the_form_must_be_from_this_session(people: tuple[Any, Any]) -> None:
    client = client_of(people[1], checks=True)
    assert upload(client).status_code == 403
    page = client.get("/projects/new").content.decode()
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    assert token is not None
    data = {**two_tables(), "csrfmiddlewaretoken": token[1]}
    assert upload(client, data).status_code == 302


def test_only_managers_create(people: tuple[Any, Any]) -> None:
    for who in (people[0], account("wanda", "worker"), account("audrey", "auditor")):
        client = client_of(who)
        for address in ("/projects/new", "/projects/new/settings"):
            assert client.get(address).status_code == 403
        assert upload(client).status_code == 403
        assert client.post("/projects/new/cancel").status_code == 403


def test_the_manager_is_never_the_custodian(people: tuple[Any, Any]) -> None:
    from sfumato.server.manager.forms import RulesForm

    form = RulesForm(people[1])
    assert list(form.fields["custodian"].queryset) == [people[0]]
    people[0].is_active = False
    people[0].save()
    form = RulesForm(people[1])
    assert list(form.fields["custodian"].queryset) == []
    assert form.fields["custodian"].help_text
