"""A manager follows a project, closes it, and exports what may leave it."""

from __future__ import annotations

import html
import io
import json
import logging
import re
import shutil
import threading
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from few_cases import fast_first
from server.clinic import Browser, account, body, review_project, values_in
from server.manager_pages import client_of, filled, made_project
from server.people import said

from sfumato.examples import generate_clinics, generate_registrations
from sfumato.linkage.earlier_linkage import apply_decisions
from sfumato.linkage.link import link
from sfumato.linkage.link_spec import LinkSpec, SetThresholds
from sfumato.review.review_sources import from_linkage

pytestmark = pytest.mark.usefixtures("few_random_pairs")

PLANTED = "Zquxvortexia"
SPEC = LinkSpec(
    id="patient",
    columns={
        "given_name": "given name",
        "surname": "surname",
        "date_of_birth": "date",
        "sex": "category",
        "zip": "postcode",
    },
    blocking=["surname:2", "date_of_birth:year + sex", "zip"],
    thresholds=SetThresholds(lower=0.001, upper=0.9999),
)


@pytest.fixture
def team() -> dict[str, Any]:
    return {
        "custodian": account("carol", "custodian"),
        "manager": account("mark", "manager"),
        "wanda": account("wanda", "worker"),
        "will": account("will", "worker"),
    }


def worked(team: dict[str, Any], project: Any, answers: dict[str, list[int]]) -> None:
    """Pairs dealt to the workers and decided by them, with a cell opened in each."""
    from server.dealt import deal

    for name, given in answers.items():
        deal(project, team[name], range(len(given)))
        browser = Browser(team[name], project)
        browser.get()
        for token, answer in zip(browser.tokens(), given, strict=True):
            body(browser.open(token, [0], 2))
            if answer:
                body(browser.post(token, "decide", answer=str(answer)))


def reviewed(team: dict[str, Any], **settings: Any) -> Any:
    gold = {"p0": True, "p3": False}
    project = made_project(
        team["custodian"], team["manager"], review_project(gold=gold, **settings)
    )
    worked(team, project, {"wanda": [3, 2, -1, -3, 1, 0], "will": [3, -2, -2, 3, 1, -1]})
    return project


def close(team: dict[str, Any], project: Any) -> None:
    client, address = client_of(team["manager"]), f"/projects/{project.id}/"
    (left,) = re.findall(r'name="anyway" value="([^"]*)"', client.get(address).content.decode())
    assert client.post(f"{address}close", {"anyway": html.unescape(left)}).status_code == 302


def downloaded(client: Any, project: Any, what: str, **data: Any) -> Any:
    return client.post(f"/projects/{project.id}/export/{what}", data)


@pytest.mark.slow
def test_the_page_shows_progress_and_no_value(team: dict[str, Any]) -> None:
    project = reviewed(team, budget=0.8)
    client = client_of(team["manager"])
    whole = client.get(f"/projects/{project.id}/")
    part = client.get(f"/projects/{project.id}/progress")
    assert whole.status_code == part.status_code == 200
    for text in (whole.content.decode(), part.content.decode()):
        assert "wanda" in text
        assert "5 of 6" in text
        assert "6 of 6" in text
        assert "of 0.8000" in text
        assert re.search(r"Krippendorff&#x27;s α", text)
        assert text.count("<svg") == 3
        assert ' style="' not in text
        assert values_in(text) == []
    assert "<html" not in part.content.decode()


def test_a_new_project_has_a_page(team: dict[str, Any]) -> None:
    project = made_project(team["custodian"], team["manager"])
    text = client_of(team["manager"]).get(f"/projects/{project.id}/").content.decode()
    assert "No worker takes part yet" in text
    assert "6 pairs wait in the queue" in text


def test_everybody_is_led_to_their_own_page(team: dict[str, Any]) -> None:
    project = reviewed(team)
    address = f"/projects/{project.id}/"
    assert client_of(team["wanda"]).get(address)["Location"].endswith("/pairs")
    assert client_of(team["custodian"]).get(address)["Location"].endswith("/grants")
    stranger = account("mona", "manager")
    assert client_of(stranger).get(address).status_code == 404
    for who in (team["wanda"], team["custodian"]):
        assert client_of(who).get(f"{address}progress").status_code == 403


def test_the_list_has_what_one_may_see(team: dict[str, Any]) -> None:
    project = reviewed(team)
    for who, there in (
        (team["manager"], "Manage"),
        (team["custodian"], "Grants"),
        (team["wanda"], "Work"),
    ):
        text = client_of(who).get("/projects").content.decode()
        assert str(project.id) in text
        assert there in text
        assert ("Create a project" in text) == (who == team["manager"])
    assert (
        str(project.id)
        not in client_of(account("mona", "manager")).get("/projects").content.decode()
    )
    assert "5 of 6 decided" in client_of(team["wanda"]).get("/projects").content.decode()
    assert "11 of 12 decided" in client_of(team["manager"]).get("/projects").content.decode()


def test_a_long_list_has_pages_a_search_and_no_more_queries(
    team: dict[str, Any],
) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from sfumato.server.manager.views import LINES
    from sfumato.server.store.models import Project

    project, client = reviewed(team), client_of(team["manager"])
    client.get("/projects")  # the first one reads what later ones know
    with CaptureQueriesContext(connection) as one:
        client.get("/projects")
    for number in range(2 * LINES):
        project.pk, project.title = uuid.uuid4(), f"copy {number:03}"
        Project.objects.bulk_create([project])
        said(project)
    with CaptureQueriesContext(connection) as many:
        first = client.get("/projects").content.decode()
    assert len(many) == len(one)
    pages = [first, *(client.get(f"/projects?page={at}").content.decode() for at in (2, 3))]
    titles = [re.findall(r">\u2068([^<]*)\u2069</a>", page) for page in pages]
    assert [len(each) for each in titles] == [LINES, LINES, 1]
    assert len({*titles[0], *titles[1], *titles[2]}) == 2 * LINES + 1
    found = client.get("/projects?search=PY+07").content.decode()
    assert len(re.findall(">\u2068copy 07", found)) == 10
    for nothing in ("nosuch", "x" * 60_000, "%00nosuch"):
        page = client.get(f"/projects?search={nothing}")
        assert (page.status_code, "\u2068" in page.content.decode()) == (200, False)
    assert "\u2068" not in client_of(account("mona", "manager")).get("/projects").content.decode()


def test_what_is_open_is_not_lost_unasked(team: dict[str, Any]) -> None:
    project, client = reviewed(team), client_of(team["manager"])
    for words in ({}, {"anyway": "1,000 conflicts are not resolved"}):
        client.post(f"/projects/{project.id}/close", words)
        project.refresh_from_db()
        assert project.state == "open"
    close(team, project)
    project.refresh_from_db()
    assert project.state == "closed"


def test_nothing_is_exported_before_the_project_is_closed(team: dict[str, Any]) -> None:
    project = reviewed(team)
    client = client_of(team["manager"], fresh=True)
    for what in ("decisions", "report", "linked", "identities"):
        assert downloaded(client, project, what).status_code == 403
    close(team, project)
    assert client.post(f"/projects/{project.id}/close").status_code == 403
    assert Browser(team["wanda"], project).get().status_code == 403
    assert downloaded(client, project, "decisions").status_code == 200


@pytest.mark.parametrize("what", fast_first(2, ["identities", "decisions", "report", "linked"]))
def test_exports_are_the_managers_and_need_a_fresh_login(team: dict[str, Any], what: str) -> None:
    project = reviewed(team)
    close(team, project)
    address = f"/projects/{project.id}/export/{what}"
    assert client_of(team["manager"]).post(address)["Location"].startswith("/fresh?")
    assert client_of(team["manager"], fresh=True).get(address).status_code == 405
    for who, status in (
        (team["custodian"], 403),
        (team["wanda"], 403),
        (account("mona", "manager"), 404),
    ):
        assert client_of(who, fresh=True).post(address).status_code == status


def test_decisions_are_those_that_stand(team: dict[str, Any]) -> None:
    from sfumato.server.store.models import AuditEntry

    project = reviewed(team)
    client = client_of(team["manager"], fresh=True)
    address = f"/projects/{project.id}/conflicts/1"
    client.get(address)
    client.post(f"{address}/resolve", {"answer": "2"})
    close(team, project)
    answer = downloaded(client, project, "decisions")
    table = pq.read_table(io.BytesIO(answer.content)).to_pylist()
    names = {team[name].pseudonym: name for name in ("wanda", "will", "manager")}
    found = {(row["pair"], names[row["worker"]]): row for row in table}
    assert len(found) == len(table) == 12
    assert (found["p1", "manager"]["answer"], found["p1", "manager"]["withdrawn"]) == (2, False)
    assert found["p1", "wanda"]["withdrawn"]
    assert (found["p2", "will"]["answer"], found["p2", "will"]["withdrawn"]) == (-2, False)
    entry = AuditEntry.objects.get(action="export decisions")
    assert entry.actor == team["manager"].pseudonym
    assert "sha256" in entry.detail


@pytest.mark.slow
def test_the_report_says_what_was_disclosed(team: dict[str, Any]) -> None:
    from sfumato.server.store.models import Allowance

    project = reviewed(team, budget=0.9, k=1)
    client = client_of(team["manager"], fresh=True)
    client.get(f"/projects/{project.id}/conflicts/1")
    client.post(f"/projects/{project.id}/conflicts/1/open", {"open": "0:2"})
    close(team, project)
    found = json.loads(downloaded(client, project, "report", form="json").content)
    people = {each["pseudonym"]: each for each in found["people"]}
    assert {each["role"] for each in found["people"]} == {"worker", "manager"}
    wanda = people[team["wanda"].pseudonym]
    allowance = Allowance.objects.get(worker=team["wanda"])
    assert wanda["kapr"] == pytest.approx(allowance.spent, abs=1e-6)
    assert (wanda["shown"], wanda["decided"], wanda["budget"]) == (6, 5, 0.9)
    assert wanda["accuracy"]["value"] == 1.0
    assert people[team["will"].pseudonym]["accuracy"]["value"] == 0.5
    given = next(each for each in found["opened"] if each["attribute"] == "given")
    assert given["anybody"] == 6
    assert given["full"] >= 12
    assert (found["conflicts"], found["resolved"]) == (2, 0)
    page = downloaded(client, project, "report").content.decode()
    assert page.lstrip().startswith("<!DOCTYPE html>")
    assert "<script" not in page
    assert not re.findall(r'(?:src|href)="http', page)
    for text in (page, json.dumps(found)):
        assert values_in(text) == []


def test_identities_need_the_custodians_grant_each_time(team: dict[str, Any]) -> None:
    from sfumato.server.custodian.project_grants import allow_identity_export
    from sfumato.server.store.models import AuditEntry

    project = reviewed(team)
    close(team, project)
    client = client_of(team["manager"], fresh=True)
    assert downloaded(client, project, "identities").status_code == 403
    allow_identity_export(team["custodian"], project.id, 1)
    assert b"identities.parquet" in client.get(f"/projects/{project.id}/").content
    answer = downloaded(client, project, "identities")
    row = pq.read_table(io.BytesIO(answer.content)).to_pylist()[0]
    assert (row["given_l"], row["given_r"], row["id_l"]) == ("Anna", "Anne", "r0")
    assert downloaded(client, project, "identities").status_code == 403
    assert AuditEntry.objects.filter(action="export identities").count() == 1


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a linkage."""
    found = generate_registrations(generate_clinics(120, rng=2))
    links = link(
        {"hospital": found.hospital, "practice": found.practice},
        SPEC,
        seed=1,
    )
    return links.write(tmp_path_factory.mktemp("linked") / "links")


@pytest.mark.slow
def test_decisions_go_back_to_the_linkage(
    team: dict[str, Any], linked: Path, tmp_path: Path
) -> None:
    from sfumato.server.manager.dealing import keep_linkage

    review = from_linkage(linked, np.random.default_rng(5))
    project = made_project(team["custodian"], team["manager"], review)
    assert keep_linkage(project, {path.name: path.read_bytes() for path in linked.iterdir()})
    worked(team, project, {"wanda": [3, -3, 2]})
    close(team, project)
    client = client_of(team["manager"], fresh=True)
    path = tmp_path / "decisions.parquet"
    path.write_bytes(downloaded(client, project, "decisions").content)
    rows = {row["pair"]: row["answer"] for row in pq.read_table(path).to_pylist()}
    assert rows == dict(zip(review.pair_ids[:3], [3, -3, 2], strict=True))
    folder = tmp_path / "links"
    shutil.copytree(linked, folder)
    applied = apply_decisions(folder, path)
    answer = downloaded(client, project, "linked")
    here = pq.read_table(io.BytesIO(answer.content))
    assert here.column_names == applied.linked.column_names
    assert here.num_rows == applied.linked.num_rows
    joined = [pair for pair, answer in rows.items() if answer > 0]
    outcome = dict(
        zip(
            applied.pairs_table["pair"].to_pylist(),
            applied.pairs_table["outcome"].to_pylist(),
            strict=True,
        )
    )
    assert {outcome[pair] for pair in joined} == {"match"}


def test_a_linkage_is_uploaded_as_files(server: Any, team: dict[str, Any], linked: Path) -> None:
    from django.core.files.uploadedfile import SimpleUploadedFile

    from sfumato.server.manager.dealing import has_linkage
    from sfumato.server.store.models import Project

    client = client_of(team["manager"])
    files = [
        SimpleUploadedFile(path.name, path.read_bytes())
        for path in linked.iterdir()
        if path.suffix in {".parquet", ".toml", ".json"}
    ]
    answer = client.post("/projects/new", {"kind": "linkage", "linkage-files": files})
    assert answer.status_code == 302, answer.content.decode()
    page = client.get("/projects/new/settings").content
    again = client.get("/projects/new/settings").content
    assert re.findall(rb'<div class="row">.*', page) == re.findall(rb'<div class="row">.*', again)
    assert b"Kinds are those of the linkage" in page
    data = filled(page, go="create")
    assert client.post("/projects/new/settings", data).status_code == 302
    made = Project.objects.get()
    assert has_linkage(made.pk)
    names = [each["name"] for each in made.attributes]
    assert {"given_name", "surname", "date_of_birth", "sex", "zip"} <= set(names)
    for each in files:
        each.seek(0)
    some = client.post("/projects/new", {"kind": "linkage", "linkage-files": files[:2]})
    assert some.status_code == 400
    assert b"Missing: " in some.content


def test_odd_files_of_a_linkage_are_refused_without_a_value(
    team: dict[str, Any], linked: Path
) -> None:
    from django.core.files.uploadedfile import SimpleUploadedFile

    stream = io.BytesIO()
    odd = pa.table({"source": ["hospital"], "id": ["1"], "name": [PLANTED.encode() + b"\xff"]})
    pq.write_table(odd, stream)
    content = {path.name: path.read_bytes() for path in linked.glob("*.*")}
    content["identifying.parquet"] = stream.getvalue()
    files = [SimpleUploadedFile(name, data) for name, data in content.items()]
    client = client_of(team["manager"])
    answer = client.post("/projects/new", {"kind": "linkage", "linkage-files": files})
    assert answer.status_code == 400
    assert b"columns of another type" in answer.content
    assert PLANTED.encode() not in answer.content


def test_a_linked_file_needs_the_files_of_the_linkage(team: dict[str, Any]) -> None:
    project = reviewed(team)
    close(team, project)
    client = client_of(team["manager"], fresh=True)
    answer = downloaded(client, project, "linked")
    assert answer.status_code == 400
    assert b"sfumato link apply" in answer.content


def test_a_queue_is_ranked_by_what_its_linkage_learns(team: dict[str, Any], linked: Path) -> None:
    from sfumato.linkage.earlier_linkage import read_earlier, settled_again
    from sfumato.linkage.question_order import questions
    from sfumato.server.live.live_projects import live_of
    from sfumato.server.live.pair_queue import queue_of
    from sfumato.server.manager.dealing import keep_linkage, rank, share_open

    review = from_linkage(linked, np.random.default_rng(5))
    project = made_project(team["custodian"], team["manager"], review)
    assert keep_linkage(project, {path.name: path.read_bytes() for path in linked.iterdir()})
    worked(team, project, {"wanda": [3]})
    queue = queue_of(live_of(project), project)
    rank(project)  # as a request may have done meanwhile
    earlier = read_earlier(linked)
    ids = {int(name[1:]) - 1: place for place, name in enumerate(review.pair_ids)}
    may_ask = np.isin(np.arange(len(earlier.pairs)), list(ids))
    alone = questions(settled_again(earlier, None)[0], earlier.pairs, may_ask)
    assert share_open(project.pk) == queue.open
    assert 0 <= queue.open < 1
    # All but what the answer has settled are those of the linkage by itself.
    ranked = {ids[number] for number in alone.pair.tolist()}
    assert set(queue.again) <= ranked | {0}
    assert len(ranked) - len(set(queue.again) & ranked) <= 1
    if queue.open > 0.001:
        assert set(queue.waiting[-len(queue.again) :]) == set(queue.again)
    else:
        assert not queue.waiting


def test_a_dear_pair_comes_last_and_costs_follow_what_readers_opened(
    team: dict[str, Any], linked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sfumato.review.review_settings import Mode
    from sfumato.server.manager import dealing
    from sfumato.server.manager.project_figures import decisions_bytes
    from sfumato.server.store.models import Dealt

    review = from_linkage(linked, np.random.default_rng(5))
    project = made_project(team["custodian"], team["manager"], review)
    files = {path.name: path.read_bytes() for path in linked.iterdir()}
    assert dealing.keep_linkage(project, files)
    decisions = decisions_bytes(project)

    def ranked(dear: int) -> list[int]:
        found = dealing.ranked_questions(
            project, decisions, review.pair_ids, lambda pairs: np.where(pairs == dear, 1e9, 1.0)
        )
        return [int(number) for number in found.pair]

    before = ranked(-1)
    assert sorted(ranked(before[0])) == sorted(before)
    assert ranked(before[0])[-1] == before[0]
    worked(team, project, {"wanda": [3]})
    asked = {}
    monkeypatch.setattr(
        dealing,
        "expected_units",
        lambda _, pairs, readings: asked.update(readings) or np.ones(len(pairs)),
    )
    dealing.rank(project)
    dealt = Dealt.objects.exclude(answer=0).get()
    assert asked == {dealt.pair.number: tuple(Mode(int(mode)) for mode in dealt.modes)}


def test_a_ranking_that_fails_is_logged_by_kind_and_the_queue_goes_on(
    team: dict[str, Any], linked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sfumato.server import discretion
    from sfumato.server.live.live_projects import live_of
    from sfumato.server.live.pair_queue import queue_of
    from sfumato.server.manager import dealing

    review = from_linkage(linked, np.random.default_rng(5))
    project = made_project(team["custodian"], team["manager"], review)
    assert dealing.keep_linkage(
        project, {each.name: each.read_bytes() for each in linked.iterdir()}
    )
    queue, tried = queue_of(live_of(project), project), []

    def fail(asked: Any) -> None:
        tried.append(asked.pk)
        raise ArithmeticError

    monkeypatch.setattr(dealing, "rank", fail)
    monkeypatch.setattr(discretion, "FAULTS", {})
    handler, logger = discretion._Counted(logging.ERROR), logging.getLogger("sfumato")
    logger.addHandler(handler)
    order = list(queue.waiting)
    for taken in (0, dealing.AGAIN_AFTER - 1, 1):
        queue.taken += taken
        before = set(threading.enumerate())
        dealing.rank_if_due(project.pk)
        for each in set(threading.enumerate()) - before:
            each.join()
    logger.removeHandler(handler)
    assert tried == [project.pk] * 2
    assert discretion.FAULTS["ArithmeticError"][0] == 2
    assert queue.waiting == order


def test_pairs_of_a_cluster_are_asked_together_and_the_worthiest_first() -> None:
    from sfumato.linkage.question_order import Questions
    from sfumato.server.manager.dealing import AGAIN_AFTER, in_order

    count = 2 * AGAIN_AFTER
    cluster = np.arange(count) % 3
    found = Questions(np.arange(count), -np.arange(count, dtype=float), cluster, 1.0, 1)
    order = in_order(found)
    assert sorted(order[:AGAIN_AFTER]) == list(range(AGAIN_AFTER))
    assert order[:4] == [0, 3, 6, 9]
    assert order[4:7] == [1, 4, 7]


def test_a_ranking_asks_again_and_ends() -> None:
    from collections import Counter

    from sfumato.server.live.live_projects import MOST_READERS, Queue

    queue = Queue([0, 1, 2, 3], Counter({3: 1, 1: MOST_READERS}), ())
    queue.rank([3, 2, 1], ends=False)
    assert list(queue.next_for((), 1)) == [3, 2, 0]
    assert list(queue.next_for({3}, 1)) == [2, 0]
    queue.rank([3], ends=True)
    assert not list(queue.next_for((), 1))
