"""A manager deals pairs, deals them again, takes them back, invites workers."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
from server.clinic import Browser, account, body, review_project, staff
from server.manager_pages import client_of, made_project
from server.people import changed


def piles(project: Any) -> dict[str, list[int]]:
    from sfumato.server.store.models import Dealt

    found: dict[str, list[int]] = {}
    dealt = Dealt.objects.filter(project=project, taken_back__isnull=True).order_by("place")
    for name, number in dealt.values_list("worker__name", "pair__number"):
        found.setdefault(name, []).append(number)
    return found


def deal(client: Any, project: Any, workers: list[Any], **more: Any) -> Any:
    data = {"do": "deal", "workers": [each.pseudonym for each in workers], "overlap": 1}
    return client.post(f"/projects/{project.id}/deal", {**data, "gold_share": 0, **more})


def test_pairs_are_dealt_evenly_and_added_to() -> None:
    custodian, manager, one = staff()
    two, three = account("will", "worker"), account("xenia", "worker")
    project = made_project(custodian, manager)
    client = client_of(manager)
    assert deal(client, project, [one, two]).status_code == 302
    assert sorted(len(pile) for pile in piles(project).values()) == [3, 3]
    assert sorted(n for pile in piles(project).values() for n in pile) == list(range(6))
    assert deal(client, project, [one, two, three], overlap=2).status_code == 302
    after = piles(project)
    count = Counter(number for pile in after.values() for number in pile)
    assert set(count.values()) == {2}
    assert all(len(set(pile)) == len(pile) for pile in after.values())
    assert deal(client, project, [one, two, three], overlap=2).status_code == 302
    assert piles(project) == after


def test_gold_pairs_are_mixed_in() -> None:
    custodian, manager, worker = staff()
    gold = {"p4": True, "p5": False}
    project = made_project(custodian, manager, review_project(gold=gold))
    client = client_of(manager)
    answer = deal(client, project, [worker], gold_share=0.9)
    assert answer.status_code == 400
    assert b"gold pairs" in answer.content
    assert not piles(project)
    assert deal(client, project, [worker], gold_share=0.3).status_code == 302
    assert sorted(piles(project)["wanda"]) == [0, 1, 2, 3, 4, 5]


def test_too_few_workers_are_refused_and_the_manager_gets_none() -> None:
    custodian, manager, worker = staff()
    changed(manager, roles=["manager", "worker"])
    project = made_project(custodian, manager)
    client = client_of(manager)
    assert deal(client, project, [worker], overlap=2).status_code == 400
    assert deal(client, project, [worker, manager]).status_code == 400
    assert not piles(project)


def test_undecided_pairs_are_taken_back_or_given_to_others() -> None:
    custodian, manager, worker = staff()
    other = account("will", "worker")
    project = made_project(custodian, manager)
    client = client_of(manager)
    deal(client, project, [worker])
    browser = Browser(worker, project)
    browser.get()
    decided = browser.tokens()[0]
    body(browser.post(decided, "decide", answer="3"))
    address = f"/projects/{project.id}/deal"
    data = {"do": "back", "back-worker": worker.pseudonym}
    answer = client.post(address, {**data, "back-others": [other.pseudonym]})
    assert answer.status_code == 302
    left = piles(project)
    assert (len(left["wanda"]), len(left["will"])) == (1, 5)
    assert not set(left["wanda"]) & set(left["will"])
    client.post(address, {"do": "back", "back-worker": other.pseudonym})
    assert "will" not in piles(project)
    assert deal(client, project, [worker]).status_code == 302
    assert len(piles(project)["wanda"]) == 6


def test_pairs_of_one_record_stay_together() -> None:
    custodian, manager, worker = staff()
    other = account("will", "worker")
    project = made_project(custodian, manager)
    deal(client_of(manager), project, [worker, other], together="on")
    for group in ({0, 4}, {1, 2, 5}, {3}):
        assert any(group <= set(pile) for pile in piles(project).values())


def test_a_link_is_shown_once_and_makes_a_worker_of_the_project() -> None:
    from sfumato.server.store.models import Link

    custodian, manager, _ = staff()
    project = made_project(custodian, manager)
    client = client_of(manager)
    address = f"/projects/{project.id}/invite"
    first = client.get(address).content.decode()
    assert "/link/" not in first
    page = client.post(address, {"days": 3}).content.decode()
    token = re.search(r"/link/([\w-]+)", page)
    assert token is not None
    link = Link.objects.get()
    assert (link.project, link.roles, link.purpose) == (project, ["worker"], "invitation")
    assert token[1] not in link.token
    assert "/link/" not in client.get(address).content.decode()


@pytest.mark.parametrize("verb", ["deal", "invite", "close"])
def test_dealing_is_for_the_manager_of_an_open_project(verb: str) -> None:

    custodian, manager, worker = staff()
    project = made_project(custodian, manager)
    deal(client_of(manager), project, [worker])
    address = f"/projects/{project.id}/{verb}"
    stranger = account("mona", "manager")
    for who, status in ((custodian, 403), (worker, 403), (stranger, 404)):
        assert client_of(who).post(address, {"days": 3}).status_code == status
    changed(project, state="closed")
    assert client_of(manager).post(address, {"days": 3}).status_code == 403
