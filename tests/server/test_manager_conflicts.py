"""A manager resolves conflicts: no more than the workers opened, charged, audited."""

from __future__ import annotations

import re
from typing import Any

import pytest
from server.clinic import PEOPLE, Browser, account, body, review_project
from server.manager_pages import client_of, made_project
from server.people import changed

from sfumato.review.review_settings import Mode
from sfumato.review.worker_state import Opening, WorkerState


@pytest.fixture
def team() -> dict[str, Any]:
    return {
        "custodian": account("carol", "custodian"),
        "manager": account("mark", "manager"),
        "wanda": account("wanda", "worker"),
        "will": account("will", "worker"),
    }


def in_conflict(team: dict[str, Any], **settings: Any) -> Any:
    """A project in which two workers disagree about pair 0, and opened different cells of it."""
    from server.dealt import deal

    project = made_project(team["custodian"], team["manager"], review_project(**settings))
    for name, place, mode, answer in (("wanda", 0, 1, 3), ("will", 2, 2, -2)):
        deal(project, team[name], [0, 1])
        browser = Browser(team[name], project)
        browser.get()
        token = browser.tokens()[0]
        body(browser.open(token, [place], mode))
        body(browser.post(token, "decide", answer=str(answer)))
        body(browser.post(browser.tokens()[1], "decide", answer="2"))
    return project


def opened(text: str) -> set[str]:
    return set(re.findall(r'name="open" value="([^"]+)"', text))


def test_only_pairs_of_both_sides_are_listed(team: dict[str, Any]) -> None:
    project = in_conflict(team)
    client = client_of(team["manager"])
    text = client.get(f"/projects/{project.id}/conflicts").content.decode()
    assert text.count('<th scope="row"') == 1
    assert "Pair 1" in text
    assert client.get(f"/projects/{project.id}/conflicts/1").status_code == 404
    assert client.get(f"/projects/{project.id}/conflicts/99").status_code == 404


def test_answers_are_shown_once_the_manager_has_decided(team: dict[str, Any]) -> None:
    project = in_conflict(team)
    browser = Browser(team["will"], project)
    body(browser.post(browser.tokens()[1], "flag"))
    client = client_of(team["manager"])
    address = f"/projects/{project.id}/conflicts"

    def told(page: str) -> int:
        return client.get(page).content.decode().count('<span class="tag ')

    pages = f"{address}/0", f"{address}/1"
    assert [told(page) for page in (address, *pages)] == [0, 0, 0]
    client.post(f"{pages[0]}/resolve", {"answer": "-3"})
    assert [told(page) for page in (address, *pages)] == [2, 2, 0]
    client.post(f"{pages[1]}/resolve", {"answer": "3"})
    assert [told(page) for page in (address, *pages)] == [4, 2, 2]
    client.post(f"{pages[0]}/resolve", {"answer": "0"})
    assert [told(page) for page in (address, *pages)] == [2, 0, 2]


@pytest.mark.parametrize(
    ("answers", "changed"),
    [("-3", []), ("-3 3", [0]), ("-3 0 3", [0]), ("-3 -1", [0]), ("-3 0", []), ("-3 3 -3", [])],
)
def test_an_answer_that_is_not_the_first_one_is_marked(
    team: dict[str, Any], answers: str, changed: list[int]
) -> None:
    from sfumato.server.manager.project_figures import changed_afterwards, disclosure_of

    project = in_conflict(team)
    other = in_conflict(team | {"wanda": account("w", "worker"), "will": account("v", "worker")})
    client = client_of(team["manager"])
    address = f"/projects/{project.id}/conflicts"
    for answer in answers.split():
        client.post(f"{address}/0/resolve", {"answer": answer})
    client.post(f"/projects/{other.id}/conflicts/0/resolve", {"answer": "1"})
    assert changed_afterwards(project) == set(changed)
    assert changed_afterwards(other) == set()
    assert disclosure_of(project).changed == len(changed)
    text = client.get(address).content.decode()
    assert text.count('class="soft changed"') == len(changed)


def test_a_changed_answer_to_a_flagged_pair_is_marked(team: dict[str, Any]) -> None:
    project = in_conflict(team)
    browser = Browser(team["will"], project)
    body(browser.post(browser.tokens()[1], "flag"))
    client = client_of(team["manager"])
    address = f"/projects/{project.id}/conflicts"
    for answer, marked in (("-3", 0), ("2", 1)):
        client.post(f"{address}/1/resolve", {"answer": answer})
        text = client.get(address).content.decode()
        assert text.count('class="soft changed"') == marked


def test_no_more_is_offered_or_opened_than_the_workers_opened(team: dict[str, Any]) -> None:
    from sfumato.server.live.conflict_resolution import union_of
    from sfumato.server.store.models import Resolution

    project = in_conflict(team)
    client = client_of(team["manager"])
    address = f"/projects/{project.id}/conflicts/0"
    assert union_of(project, 0) == (Mode.PARTIAL, Mode.MASKED, Mode.FULL, Mode.MASKED, Mode.MASKED)
    text = client.get(address).content.decode()
    assert opened(text) == {"0:1", "2:1", "2:2", "0,2:1"}
    assert all(value not in text for row in PEOPLE[:2] for value in row[:3] if value)
    for asked in ("0:2", "1:1", "4:2", "0,2:2", "0,1,2,3,4:2", "3:2"):
        assert client.post(f"{address}/open", {"open": asked}).status_code == 403
        assert Resolution.objects.get().modes == "00000"
    for asked in ("9:1", "0:0", "0:7", ":1", "x:1", ""):
        assert client.post(f"{address}/open", {"open": asked}).status_code == 400
    assert client.post(f"{address}/open", {"open": "2:2"}).status_code == 302
    text = client.get(address).content.decode()
    assert "1980-01-02" in text
    assert "Anna" not in text
    assert Resolution.objects.get().modes == "00200"


def test_it_is_charged_and_audited_as_a_workers_opening(team: dict[str, Any]) -> None:
    from sfumato.server.live.live_projects import review_of
    from sfumato.server.store.models import Allowance, AuditEntry, Project, Spent

    project = in_conflict(team)
    before = Project.objects.get().combined_units
    client = client_of(team["manager"])
    address = f"/projects/{project.id}/conflicts/0"
    client.get(address)
    for _ in range(2):
        client.post(f"{address}/open", {"open": "2:2"})
    allowance = Allowance.objects.get(worker=team["manager"])
    spent = Spent.objects.get(worker=team["manager"].pseudonym)
    alone = WorkerState(review_of(project), [0])
    alone.show(0)
    alone.open(0, Opening((2,), Mode.FULL))
    assert allowance.units == alone.units > 0
    assert spent.score == pytest.approx(alone.score)
    assert Project.objects.get().combined_units == before
    opens = AuditEntry.objects.filter(action="open", actor=team["manager"].pseudonym)
    assert opens.count() == 1
    assert "born" in opens.get().detail
    said = "".join(AuditEntry.objects.values_list("detail", flat=True))
    assert re.search(r"(?<![\d.])1980(?!\d)", said) is None  # but in a time or a score


def test_the_managers_budget_and_floor_hold(team: dict[str, Any]) -> None:
    from sfumato.server.store.models import Allowance

    project = in_conflict(team)
    client = client_of(team["manager"])
    address = f"/projects/{project.id}/conflicts/0"
    client.get(address)
    changed(Allowance.objects.get(worker=team["manager"]), budget=0.1)
    answer = client.post(f"{address}/open", {"open": "2:2"}, follow=True)
    assert b"more than your budget holds" in answer.content
    assert b"1980-01-02" not in answer.content
    assert Allowance.objects.get(worker=team["manager"]).units == 0
    assert client.post(f"{address}/open", {"open": "0:1"}).status_code == 302


def test_a_resolution_holds_in_place_of_the_answers(team: dict[str, Any]) -> None:
    from sfumato.server.manager.project_figures import decisions_of
    from sfumato.server.store.models import AuditEntry, Resolution

    project = in_conflict(team)
    client = client_of(team["manager"])
    address = f"/projects/{project.id}/conflicts/0"
    client.get(address)
    assert client.post(f"{address}/resolve", {"answer": "5"}).status_code == 400
    assert client.post(f"{address}/resolve", {"answer": "-3"}).status_code == 302
    resolved = decisions_of(project).resolutions["0"]
    assert resolved == (team["manager"].pseudonym, -3)
    when = Resolution.objects.get().time
    client.post(f"{address}/open", {"open": "0:1"})
    assert Resolution.objects.get().time == when
    assert AuditEntry.objects.filter(action="resolve").count() == 1
    listed = client.get(f"/projects/{project.id}/conflicts").content.decode()
    assert "Different, high confidence" in listed
    client.post(f"{address}/resolve", {"answer": "0"})
    assert "0" not in decisions_of(project).resolutions


def test_workers_go_on_beside_the_manager(team: dict[str, Any]) -> None:
    """What is held in memory stays that of the database."""
    from sfumato.server.live.live_projects import live_of
    from sfumato.server.live.worker_tasks import state_of
    from sfumato.server.store.models import Allowance

    project = in_conflict(team, project_budget=0.9, budget=0.9)
    client = client_of(team["manager"])
    client.get(f"/projects/{project.id}/conflicts/0")
    client.post(f"/projects/{project.id}/conflicts/0/open", {"open": "2:2"})
    browser = Browser(team["wanda"], project)
    body(browser.open(browser.tokens()[1], [0], 2))
    allowance = Allowance.objects.get(worker=team["wanda"])
    versions = sum(Allowance.objects.filter(project=project).values_list("version", flat=True))
    held = state_of(live_of(project), project, team["wanda"], allowance, versions)
    assert held.state.units == allowance.units
    project.refresh_from_db()
    assert live_of(project).combined.units == project.combined_units


def test_who_works_on_a_project_resolves_nothing(team: dict[str, Any]) -> None:
    from server.dealt import deal

    project = in_conflict(team)
    changed(team["manager"], roles=["manager", "worker"])
    deal(project, team["manager"], [3])
    client = client_of(team["manager"])
    address = f"/projects/{project.id}/conflicts/0"
    assert client.get(address).status_code == 409
    assert client.post(f"{address}/resolve", {"answer": "3"}).status_code == 409


def test_conflicts_are_the_managers(team: dict[str, Any]) -> None:
    project = in_conflict(team)
    address = f"/projects/{project.id}/conflicts"
    stranger = account("mona", "manager")
    for who, status in ((team["custodian"], 403), (team["wanda"], 403), (stranger, 404)):
        client = client_of(who)
        assert client.get(address).status_code == status
        assert client.get(f"{address}/0").status_code == status
        assert client.post(f"{address}/0/open", {"open": "2:2"}).status_code == status
        assert client.post(f"{address}/0/resolve", {"answer": "3"}).status_code == status


def test_the_rows_of_the_task_are_all_conflicts(team: dict[str, Any]) -> None:
    """What one opening costs does not depend on which conflicts were looked at before."""
    from sfumato.server.store.models import Allowance, Dealt

    project = in_conflict(team)
    changed(Dealt.objects.get(worker=team["will"], pair__number=1), answer=-1)
    client = client_of(team["manager"])
    for number in (0, 1, 0):
        client.get(f"/projects/{project.id}/conflicts/{number}")
        assert Allowance.objects.get(worker=team["manager"]).rows == 4
    client.post(f"/projects/{project.id}/conflicts/0/open", {"open": "2:2"})
    alone = Allowance.objects.get(worker=team["manager"])
    assert alone.spent == pytest.approx(alone.units / 1e9 / (4 * 5))
    changed(Dealt.objects.get(worker=team["will"], pair__number=1), answer=1)
    client.get(f"/projects/{project.id}/conflicts/0")
    assert Allowance.objects.get(worker=team["manager"]).rows == 4


def test_a_flagged_pair_can_be_looked_at_and_resolved(team: dict[str, Any]) -> None:
    from sfumato.server.manager.project_figures import decisions_of

    project = in_conflict(team)
    client = client_of(team["manager"])
    address = f"/projects/{project.id}/conflicts"
    assert client.get(f"{address}/1").status_code == 404
    browser = Browser(team["will"], project)
    body(browser.post(browser.tokens()[1], "flag"))
    assert "Flagged pairs" in client.get(address).content.decode()
    text = client.get(f"{address}/1").content.decode()
    assert "Flagged by will." in text
    body(browser.post(browser.tokens()[1], "note", note="Kowalczyk is her maiden name"))
    for page in (address, f"{address}/1"):
        text = client.get(page).content.decode()
        assert "will, who wrote a note" in text
        assert "maiden" not in text, "a note may say what its worker paid to see"
    assert opened(text) == set()
    assert client.post(f"{address}/1/open", {"open": "0:2"}).status_code == 403
    client.post(f"{address}/1/resolve", {"answer": "-1"})
    assert decisions_of(project).resolutions["1"][1] == -1
    body(browser.post(browser.tokens()[1], "unflag"))
    assert client.get(f"{address}/1").status_code == 200


def test_a_pair_that_no_worker_was_shown_is_not_shown(team: dict[str, Any]) -> None:
    from server.dealt import deal

    from sfumato.server.store.models import Dealt, Resolution

    project = in_conflict(team)
    deal(project, team["wanda"], [3])
    changed(Dealt.objects.get(worker=team["wanda"], pair__number=3), flagged=True)
    client = client_of(team["manager"])
    address = f"/projects/{project.id}/conflicts/3"
    text = client.get(address).content.decode()
    assert "no worker was shown it" in text
    assert 'class="row"' not in text
    assert client.post(f"{address}/open", {"open": "0:1"}).status_code == 403
    assert Resolution.objects.get(pair__number=3).modes == ""
