"""A manager opens the queue, workers take pairs from it, others get what is not decided."""

from __future__ import annotations

import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.urls import reverse
from django.utils import timezone
from server.clinic import PAIRS, Browser, account, body, review_project, staff
from server.dealt import deal
from server.manager_pages import client_of, made_project
from server.people import changed


def piles(project: Any) -> dict[str, list[int]]:
    from sfumato.server.store.models import Dealt

    found: dict[str, list[int]] = {}
    dealt = Dealt.objects.filter(project=project, taken_back__isnull=True).order_by("place")
    for name, number in dealt.values_list("worker__name", "pair__number"):
        found.setdefault(name, []).append(number)
    return found


def opened(client: Any, project: Any, workers: list[Any], **more: Any) -> Any:
    data = {"do": "open", "workers": [each.pseudonym for each in workers], "overlap": 1}
    address = f"/projects/{project.id}/queue"
    return client.post(address, {**data, "most": len(PAIRS), "gold_share": 0, **more})


def worked(worker: Any, project: Any, answer: int = 3) -> list[str]:
    """Decide what the queue gives, until it gives nothing more; the pairs' tokens in order."""
    from sfumato.server.store.models import Dealt

    browser, seen = Browser(worker, project), []
    while browser.get().status_code == 200:
        mine = Dealt.objects.filter(project=project, worker=worker, taken_back__isnull=True)
        token = mine.filter(answer=0).order_by("place").values_list("token", flat=True).first()
        if token is None:
            return seen
        body(browser.post(token, "decide", answer=answer))
        seen.append(token)
    raise AssertionError


def test_workers_share_the_pairs_and_each_assignment_is_in_the_log() -> None:
    from sfumato.server.live.pair_queue import AHEAD
    from sfumato.server.store.models import AuditEntry, Dealt

    custodian, manager, one = staff()
    two = account("will", "worker")
    project = made_project(custodian, manager)
    assert opened(client_of(manager), project, [one, two]).status_code == 302
    assert not piles(project)
    Browser(one, project).get()
    assert {name: len(pile) for name, pile in piles(project).items()} == {"wanda": 3}
    worked(two, project)
    worked(one, project)
    assert sorted(n for pile in piles(project).values() for n in pile) == list(range(6))
    assert len(piles(project)["wanda"]) == AHEAD
    logged = AuditEntry.objects.filter(action="take up").values_list("resource", flat=True)
    tokens = Dealt.objects.filter(project=project).values_list("token", flat=True)
    assert Counter(logged) == Counter(f"project {project.id}/pair {token}" for token in tokens)


def test_eight_projects_are_held_in_memory() -> None:
    from sfumato.server.live.live_projects import forget_project, keep, kept

    ids = [uuid4() for _ in range(9)]
    for each in ids:
        keep(each, object())
    assert [kept(each) is not None for each in ids] == [False, *[True] * 8]
    for each in ids:
        forget_project(each)


def test_a_second_reader_gets_each_pair_once() -> None:
    custodian, manager, one = staff()
    two, three = account("will", "worker"), account("xenia", "worker")
    project = made_project(custodian, manager)
    client = client_of(manager)
    assert opened(client, project, [one], overlap=2).status_code == 400
    assert opened(client, project, [one, two, three], overlap=2).status_code == 302
    for worker in (one, two, three):
        worked(worker, project)
    count = Counter(number for pile in piles(project).values() for number in pile)
    assert count == dict.fromkeys(range(6), 2)
    assert all(len(set(pile)) == len(pile) for pile in piles(project).values())


def test_where_the_ranking_ends_a_pair_that_was_begun_still_gets_its_second_reader() -> None:
    from sfumato.server.live.live_projects import Queue

    queue = Queue([0, 1, 2, 3], Counter({1: 1, 2: 2}), ())
    queue.rank([3, 1], ends=True)
    assert list(queue.next_for((), 2)) == [1]
    assert list(queue.next_for((), 1)) == []


def test_a_pair_in_doubt_has_three_readers_at_most() -> None:
    from sfumato.server.live.live_projects import Queue

    queue = Queue([0, 1], Counter({0: 3, 1: 2}), ())
    queue.rank([0, 1], ends=False)
    assert list(queue.next_for((), 1)) == [1]


def test_nobody_takes_more_than_was_allowed_and_more_is_allowed_later() -> None:
    from sfumato.server.store.models import Allowance

    custodian, manager, worker = staff()
    project = made_project(custodian, manager)
    client = client_of(manager)
    assert opened(client, project, [worker], most=7).status_code == 400
    opened(client, project, [worker], most=2)
    assert len(worked(worker, project)) == 2
    assert Allowance.objects.get().rows == 4
    opened(client, project, [worker], most=1)
    assert Allowance.objects.get().rows == 4
    opened(client, project, [worker], most=5)
    assert len(worked(worker, project)) == 3


def test_pairs_of_known_truth_come_between_the_others() -> None:
    custodian, manager, worker = staff()
    project = made_project(custodian, manager, review_project(gold={"p4": True, "p5": False}))
    client = client_of(manager)
    assert opened(client, project, [worker], gold_share=0.9).status_code == 400
    opened(client, project, [worker])
    worked(worker, project)
    assert sorted(piles(project)["wanda"]) == [0, 1, 2, 3]
    other = account("will", "worker")
    changed(project, overlap=2)
    opened(client, project, [other], overlap=1, gold_share=0.5)
    assert opened(client, project, [worker, other], overlap=2, gold_share=0.5).status_code == 302
    for _ in range(40):
        Browser(worker, project).get()
    assert {4, 5} & set(piles(project)["wanda"])


def test_a_reader_who_drifts_is_told_on_the_managers_page(monkeypatch: pytest.MonkeyPatch) -> None:
    from sfumato.review import review_decisions
    from sfumato.server.manager import project_figures

    # Six pairs cannot tell by the usual level: three wrong after three right are .05.
    monkeypatch.setattr(review_decisions, "RECENT", 3)
    monkeypatch.setattr(review_decisions, "ALARM", 0.2)
    monkeypatch.setattr(project_figures, "LONGER", 0)  # the page is of now
    custodian, manager, worker = staff()
    gold = {f"p{number}": True for number in range(6)}
    project = made_project(custodian, manager, review_project(gold=gold))
    client, browser = client_of(manager), Browser(worker, project)
    deal(project, worker, range(6))
    browser.get()
    tokens = browser.tokens()
    for place, token in enumerate(tokens):
        body(browser.post(token, "decide", answer=3 if place < 3 else -3))
        answer = client.get(reverse("manage", args=[project.id]))
        assert answer.status_code == 200
        assert (b'class="notice warning drift"' in answer.content) is (place == 5)
    for token in tokens:  # what is thought again counts as it was answered first
        body(browser.post(token, "decide", answer=3))
    truth = project_figures.truth_of(project)
    assert project_figures.drifted_of(project, truth) == {worker.pseudonym: 6}
    other = account("will", "worker")
    deal(project, other, range(6))
    another = Browser(other, project)
    another.get()
    for place, token in enumerate(another.tokens()):  # an alarm of the first stays, as he was told
        body(another.post(token, "decide", answer=3 if place < 3 else -3))
        assert project_figures.drifted_of(project, truth) == {worker.pseudonym: 6}


def test_pairs_that_share_a_record_follow_each_other() -> None:
    custodian, manager, worker = staff()
    project = made_project(custodian, manager)
    opened(client_of(manager), project, [worker])
    worked(worker, project)
    order = piles(project)["wanda"]
    for group in ({0, 4}, {1, 2, 5}, {3}):
        places = sorted(order.index(number) for number in group)
        assert places == list(range(places[0], places[0] + len(group)))


def test_what_is_not_decided_in_time_goes_to_another_and_stays_charged() -> None:
    from sfumato.server.live.pair_queue import AHEAD
    from sfumato.server.store.models import Allowance, Dealt

    custodian, manager, one = staff()
    two = account("will", "worker")
    project = made_project(custodian, manager, review_project(budget=0.9))
    opened(client_of(manager), project, [one, two])
    browser = Browser(one, project)
    browser.get()
    tokens = browser.tokens()
    body(browser.open(tokens[0], [0], 2))
    spent = Allowance.objects.get(worker=one).units
    assert spent > 0
    body(browser.post(tokens[1], "decide", answer=1))
    assert len(worked(two, project)) == len(PAIRS) - AHEAD
    for dealt in Dealt.objects.filter(worker=one):
        changed(dealt, shown=timezone.now() - timedelta(days=1))
    assert len(worked(two, project)) == AHEAD - 1
    assert piles(project)["wanda"] == [Dealt.objects.get(token=tokens[1]).pair.number]
    assert browser.post(tokens[0], "decide", answer=1).status_code == 409
    assert Allowance.objects.get(worker=one).units == spent


def test_what_a_manager_takes_back_waits_for_others() -> None:
    from sfumato.server.store.models import Allowance

    custodian, manager, worker = staff()
    other = account("will", "worker")
    project = made_project(custodian, manager)
    client = client_of(manager)
    opened(client, project, [worker])
    browser = Browser(worker, project)
    browser.get()
    body(browser.post(browser.tokens()[0], "decide", answer="3"))
    address = f"/projects/{project.id}/queue"
    assert client.post(address, {"do": "back", "back-worker": worker.pseudonym}).status_code == 302
    assert len(piles(project)["wanda"]) == 1
    opened(client, project, [other])
    assert len(worked(other, project)) == 5
    assert worked(worker, project) == []
    assert Allowance.objects.get(worker=worker).rows < 2 * len(PAIRS)


def test_the_next_pair_comes_to_the_pages_own_script_before_it_is_needed() -> None:
    from sfumato.server.live.pair_queue import AHEAD

    custodian, manager, worker = staff()
    project = made_project(custodian, manager)
    opened(client_of(manager), project, [worker])
    browser = Browser(worker, project)
    page = browser.get().content.decode()
    address = f"/projects/{project.id}/pairs/next"
    assert f'data-more="{address}"' in page

    def ask() -> Any:
        return browser.client.post(address, headers={"accept": "application/json"}).json()

    assert ask() == {"ok": True, "pair": ""}
    body(browser.post(browser.tokens()[0], "decide", answer="3"))
    given = ask()
    assert browser.tokens()[AHEAD] == given["token"]
    assert f'id="pair-{given["token"]}"' in given["pair"]
    assert ask() == {"ok": True, "pair": ""}


@pytest.mark.parametrize("restarted", [False, True])
def test_two_who_ask_at_once_never_get_the_same_pair(restarted: bool) -> None:
    from django.db import connections

    from sfumato.server.live.live_projects import forget_project
    from sfumato.server.live.worker_actions import next_pair

    custodian, manager, one = staff()
    others = [account(name, "worker") for name in ("will", "xenia")]
    project = made_project(custodian, manager)
    opened(client_of(manager), project, [one, *others])

    def ask(worker: Any) -> None:
        if restarted:
            forget_project(project.pk)
        next_pair(worker, project.pk)
        connections.close_all()

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(ask, [one, *others] * 4))
    given = [number for pile in piles(project).values() for number in pile]
    assert sorted(given) == list(range(6))


def test_the_manager_gets_no_pairs() -> None:
    custodian, manager, worker = staff()
    changed(manager, roles=["manager", "worker"])
    project = made_project(custodian, manager)
    client = client_of(manager)
    assert opened(client, project, [worker], overlap=2).status_code == 400
    assert opened(client, project, [worker, manager]).status_code == 400
    assert not piles(project)


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


@pytest.mark.parametrize("verb", ["queue", "invite", "close"])
def test_the_queue_is_for_the_manager_of_an_open_project(verb: str) -> None:

    custodian, manager, worker = staff()
    project = made_project(custodian, manager)
    opened(client_of(manager), project, [worker])
    address = f"/projects/{project.id}/{verb}"
    stranger = account("mona", "manager")
    for who, status in ((custodian, 403), (worker, 403), (stranger, 404)):
        assert client_of(who).post(address, {"days": 3}).status_code == status
    changed(project, state="closed")
    assert client_of(manager).post(address, {"days": 3}).status_code == 403
