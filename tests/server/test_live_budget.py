"""Budgets hold and nothing is charged twice: retries, tabs, threads, faults, other projects."""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from few_cases import fast_first
from server.clinic import (
    PAIRS,
    PEOPLE,
    Browser,
    account,
    body,
    consented,
    review_project,
    staff,
    stored,
)
from server.people import changed, said

from sfumato.review.worker_state import WorkerState

STRANGERS = (
    ("Ida", "Olsen", "1951-11-23", "f", "40021"),
    ("Uwe", "Petri", "1966-08-15", "m", "73310"),
    ("Vera", "Quast", "1987-03-09", "f", "28118"),
)


def allowance(project: Any, worker: Any) -> Any:
    from sfumato.server.store.models import Allowance

    return Allowance.objects.get(project=project, worker=worker)


def restored(project: Any, worker: Any) -> WorkerState:
    """The worker's state from the rows of the database alone."""
    from sfumato.server.live.live_projects import review_of
    from sfumato.server.store.models import Dealt

    mine = Dealt.objects.filter(project=project, worker=worker)
    dealt = mine.exclude(taken_back__isnull=False, shown__isnull=True)
    shown = dict(dealt.exclude(modes="").values_list("pair__number", "modes"))
    state = {
        "pairs": list(dealt.values_list("pair__number", flat=True)),
        "rows": allowance(project, worker).rows,
        "modes": {str(pair): modes for pair, modes in shown.items()},
    }
    return WorkerState.restored(review_of(project), state)


def in_memory(project: Any, worker: Any) -> WorkerState:
    from sfumato.server.live.live_projects import kept

    live = kept(project.id)
    assert live is not None
    return live.workers[worker.pk].state


def check_books(project: Any, worker: Any, budget: float | None = None) -> float:
    """Memory, database and the sum of all charges say the same; the budget holds."""
    from sfumato.server.store.models import Spent

    units = allowance(project, worker).units
    state = restored(project, worker)
    assert units == state.units == in_memory(project, worker).units
    assert state.account.shown == in_memory(project, worker).account.shown
    spent = Spent.objects.get(fingerprint=project.fingerprint, worker=worker.pseudonym)
    assert allowance(project, worker).spent == pytest.approx(state.score)
    if budget is not None:
        assert spent.score <= budget + 1e-9
    return state.score


def log_verifies() -> None:
    from sfumato.core.chain import START, digest_of
    from sfumato.server.store.models import AuditEntry

    previous = START
    for number, each in enumerate(AuditEntry.objects.order_by("number"), 1):
        fields = each.time, each.actor, each.action, each.resource, each.detail
        assert (each.number, each.previous) == (number, previous)
        assert each.digest == digest_of(number, *fields, previous)
        previous = each.digest


def test_a_retry_shows_the_same_and_costs_nothing() -> None:
    project, worker = stored()
    one, two = Browser(worker, project), Browser(worker, project)
    one.get(), two.get()
    token = one.tokens()[0]
    first = body(one.open(token, [1], 2))
    units = allowance(project, worker).units
    assert units > 0
    for tab in (one, two):
        again = body(tab.open(token, [1], 2))
        assert (again["refused"], again["standing"]) == ("", first["standing"])
        assert allowance(project, worker).units == units
    check_books(project, worker)


def test_no_order_of_requests_refunds_or_exceeds() -> None:
    budget = 0.12
    project, worker = stored(review_project(budget=budget))
    tabs, rng = [Browser(worker, project) for _ in range(2)], random.Random(5)
    for tab in tabs:
        tab.get()
    tokens, last, asked = tabs[0].tokens(), 0, []
    for _ in range(40):
        if asked and rng.random() < 0.3:
            request = rng.choice(asked)  # replayed
        else:
            places = rng.sample(range(5), rng.choice([1, 1, 2]))
            request = rng.choice(tokens), places, rng.choice([1, 2])
            asked.append(request)
        rng.choice(tabs).open(*request)
        rng.choice(tabs).post(request[0], rng.choice(["withdraw", "skip", "flag", "unflag"]))
        units = allowance(project, worker).units
        assert units >= last
        last = units
    assert 0 < check_books(project, worker, budget) <= budget
    log_verifies()


def test_eight_threads_at_once_on_one_worker() -> None:
    from django.db import connections

    budget = 0.2
    project, worker = stored(review_project(budget=budget))
    Browser(worker, project).get()
    tokens = Browser(worker, project).tokens()
    tabs = [Browser(worker, project) for _ in range(8)]

    def busy(number: int) -> set[int]:
        rng, seen = random.Random(number), set()
        for _ in range(10):
            answer = tabs[number].open(rng.choice(tokens), [rng.randrange(5)], 2)
            seen.add(answer.status_code)
            seen.add(tabs[number].post(rng.choice(tokens), "decide", answer="3").status_code)
        connections.close_all()
        return seen

    with ThreadPoolExecutor(8) as pool:
        assert set().union(*pool.map(busy, range(8))) <= {200, 400}
    check_books(project, worker, budget)
    log_verifies()


def test_a_review_is_read_once_however_many_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    from django.db import connections

    from sfumato.server.live import live_projects as reviews

    project, _worker = stored()
    reviews.forget_project(project.id)
    read, count = reviews.read_index, []
    monkeypatch.setattr(reviews, "read_index", lambda each: count.append(1) or read(each))

    def ask(_: int) -> int:
        found = id(reviews.review_of(project))
        connections.close_all()
        return found

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(ask, range(8)))) == 1
    assert len(count) == 1


def test_what_fails_is_neither_charged_nor_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    from sfumato.server.live import worker_tasks as task

    project, worker = stored()
    browser = Browser(worker, project)
    browser.client.raise_request_exception = False
    browser.get()
    token = browser.tokens()[0]
    body(browser.open(token, [0], 2))
    units = allowance(project, worker).units

    def broken(*_: object) -> None:
        raise RuntimeError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(task, "append", broken)
        answer = browser.open(token, [1], 2)
    assert answer.status_code == 500
    assert b"Keller" not in b"".join(browser.bytes)
    assert allowance(project, worker).units == units
    browser.get()
    assert allowance(project, worker).units == units
    check_books(project, worker)
    assert b"Keller" not in b"".join(browser.bytes)


def test_a_request_that_is_refused_leaves_what_is_held() -> None:
    project, worker = stored()
    browser = Browser(worker, project)
    browser.get()
    state = in_memory(project, worker)
    assert Browser(account("sven", "worker"), project).get().status_code == 404
    assert browser.open("x" * 12, [0], 2).status_code == 404
    assert browser.open(browser.tokens()[0], [9], 2).status_code == 400
    assert in_memory(project, worker) is state


def test_a_member_who_looks_before_the_deal_has_the_projects_budget() -> None:
    from server.dealt import deal

    from sfumato.server.store.models import Member

    people = staff()
    project, _ = stored(review_project(budget=0.25), people=people)
    early = account("edith", "worker")
    said(Member.objects.create(project=project, account=early))
    assert b"There is no pair for you now" in Browser(early, project).get().content
    deal(project, early, [0])
    assert allowance(project, early).budget == 0.25


def test_a_state_of_another_version_is_restored() -> None:
    """Another process charged meanwhile: what is held here is not used."""
    from sfumato.server.store.models import Allowance, Dealt

    project, worker = stored()
    browser = Browser(worker, project)
    browser.get()
    token = browser.tokens()[0]
    changed(Dealt.objects.get(token=token), modes="20000")
    mine = Allowance.objects.get(project=project, worker=worker)
    changed(mine, version=mine.version + 1)
    assert "Anna" in browser.get().content.decode()


@pytest.mark.parametrize("costs", fast_first(1, ["bound", "exact"]))
def test_nobody_is_charged_more_than_was_told(costs: str) -> None:
    """Openings of the same records in other pairs change a cost that a page has shown."""
    from sfumato.server.live.worker_actions import open_cells, show_page

    for seed in range(1):
        people = [account(f"{role} {costs} {seed}", role) for role in ("custodian", "manager")]
        worker = account(f"worker {costs} {seed}", "worker")
        project, _ = stored(review_project(costs=costs), people=(*people, worker))
        page = show_page(worker, project.id)
        told = [(each.token, cost) for each in page.pairs for cost in each.costs]
        random.Random(seed).shuffle(told)
        repriced = 0
        for token, cost in told:
            spent = in_memory(project, worker).score
            opening = cost.opening
            answer = open_cells(
                worker, project.id, token, opening.attributes, opening.mode, cost.cost
            )
            charged = in_memory(project, worker).score - spent
            assert charged <= cost.cost + 1e-9
            if answer.repriced:
                repriced += 1
                assert charged == 0
            shown = {each.token: each for each in (answer.pair, *answer.others)}
            now = {each.token: each for each in show_page(worker, project.id).pairs}
            assert all(now[name].costs == each.costs for name, each in shown.items())
        assert repriced > 0


def test_pairs_with_the_same_record_come_with_their_new_costs() -> None:
    project, worker = stored()
    browser = Browser(worker, project)
    browser.get()
    tokens = browser.tokens()
    answer = body(browser.open(tokens[0], [1], 2))
    assert set(answer["others"]) == {tokens[4]}
    assert body(browser.open(tokens[3], [0], 2))["others"] == {}
    assert body(browser.open(tokens[0], [1], 2))["others"] == {}
    answer = body(browser.post(tokens[0], "open", open="0:2:0.0000"))
    assert answer["refused"] == "it costs more now; its cost is shown anew"
    assert "Anna" not in answer["pair"]


# ----------------------------------------------------------------- over projects and workers


def test_a_budget_is_of_the_source_and_survives_its_projects() -> None:
    from sfumato.server.live.new_projects import make_project
    from sfumato.server.store.models import Project

    people, budget = staff(), 0.3
    worker, units, projects = people[2], [], []
    for _ in range(3):
        project, _ = stored(review_project(budget=budget), people=people)
        projects.append(project)
        browser = Browser(worker, project)
        browser.get()
        for token in browser.tokens():
            for place in range(5):
                browser.open(token, [place], 2)
        units.append(allowance(project, worker).units)
        check_books(project, worker, budget)
        if len(projects) == 2:
            Project.objects.filter(pk=projects[0].pk).delete()
    assert units[0] > 0
    assert units[2] <= units[0] / 4
    part, others = (
        make_project(
            review_project(rows, [(0, 1)]), title="x", custodian=people[0], manager=people[1]
        )
        for rows in (PEOPLE[:4], STRANGERS)
    )
    assert part.fingerprint == projects[0].fingerprint == projects[1].fingerprint
    assert others.fingerprint != part.fingerprint


def test_the_combined_state_counts_what_both_saw_once() -> None:
    from server.dealt import deal

    from sfumato.server.store.models import Project

    project, worker = stored()
    other = account("otto", "worker")
    deal(project, other, range(len(PAIRS)))
    one, two = Browser(worker, project), Browser(other, project)
    one.get(), two.get()
    one.open(one.tokens()[0], [0], 2)
    alone = Project.objects.get(pk=project.pk).combined_units
    two.open(two.tokens()[0], [0], 2)
    assert Project.objects.get(pk=project.pk).combined_units == alone > 0
    two.open(two.tokens()[1], [0], 2)
    assert Project.objects.get(pk=project.pk).combined_units > alone


def test_the_projects_budget_holds_over_workers() -> None:
    from server.dealt import deal

    from sfumato.server.live.live_projects import kept

    project, worker = stored(review_project(project_budget=0.1))
    other = account("otto", "worker")
    deal(project, other, range(len(PAIRS)))
    refused = set()
    for who in (worker, other):
        browser = Browser(who, project)
        browser.get()
        for number, token in enumerate(browser.tokens()):
            refused.add(body(browser.open(token, [number % 3], 2))["refused"])
    live = kept(project.id)
    assert live is not None
    assert live.combined is not None
    assert 0 < live.combined.score <= 0.1
    assert "more than the project's budget holds" in refused


def test_lowering_k_reaches_a_state_in_memory() -> None:
    from sfumato.server.custodian.consent import propose

    project, worker = stored(review_project(k=3))
    browser = Browser(worker, project)
    browser.get()
    token = browser.tokens()[3]
    floor = "it could tell the person apart too well"
    assert body(browser.open(token, [1], 2))["refused"] == floor
    propose(project.manager, project.pk, k=1)
    consented(project)
    assert body(browser.open(token, [1], 2))["refused"] == ""


# ------------------------------------------------------------------------------- taken back


def test_a_pair_that_was_taken_back_is_gone_and_stays_charged() -> None:
    from server.dealt import deal, take_back

    from sfumato.server.store.models import Dealt

    project, worker = stored(page_size=2)
    browser = Browser(worker, project)
    browser.get()
    first, *_, last = browser.tokens()
    body(browser.open(first, [0], 2))
    units, rows = allowance(project, worker).units, allowance(project, worker).rows
    assert take_back(project, worker, [0, len(PAIRS) - 1]) == 2
    for token in (first, last):
        for verb in ("open", "decide", "note"):
            answer = browser.post(token, verb, open="1:2", answer="3", note="x")
            assert answer.status_code == 409
            assert b"taken back" in answer.content
    assert b"Anna" not in browser.get(page=1).content
    assert allowance(project, worker).units == units
    assert allowance(project, worker).rows == rows - 2  # the last one was never shown
    check = restored(project, worker)
    assert check.units == units
    deal(project, worker, [0])
    assert b"Anna" in browser.get(page=3).content  # behind those that were there meanwhile
    assert allowance(project, worker).units == units
    assert Dealt.objects.get(token=first).taken_back is None


def test_dealing_many_pairs_and_taking_them_back_saves_nothing() -> None:
    from server.dealt import take_back

    from sfumato.server.store.models import Spent

    project, worker = stored(page_size=1)
    browser = Browser(worker, project)
    browser.get()
    body(browser.open(browser.tokens()[0], [0, 1], 2))
    before = Spent.objects.get().score
    assert take_back(project, worker, range(1, len(PAIRS))) == len(PAIRS) - 1
    score = restored(project, worker).score
    assert score == pytest.approx(before * len(PAIRS))
    assert Spent.objects.get().score == allowance(project, worker).spent == pytest.approx(score)


def test_a_closed_project_is_not_worked_on() -> None:

    project, worker = stored()
    browser = Browser(worker, project)
    browser.get()
    token = browser.tokens()[0]
    changed(project, state="closed")
    assert browser.get().status_code == 403
    answer = browser.open(token, [0], 2)
    assert answer.status_code == 403
    assert b"closed" in answer.content


# ---------------------------------------------------------------------------------- deciding


def test_decisions_keep_their_history() -> None:
    from sfumato.server.store.models import AuditEntry, Dealt, DecisionEvent

    begun = time.monotonic()
    project, worker = stored()
    browser = Browser(worker, project)
    browser.get()
    token = browser.tokens()[0]
    steps = [
        ("decide", {"answer": "3"}),
        ("decide", {"answer": "3"}),
        ("decide", {"answer": "-1"}),
        ("withdraw", {}),
        ("withdraw", {}),
        ("skip", {}),
        ("flag", {}),
        ("flag", {}),
        ("unflag", {}),
        ("decide", {"answer": "1"}),
    ]
    for verb, data in steps:
        body(browser.post(token, verb, **data))
    events = DecisionEvent.objects.order_by("pk").values_list("kind", "answer")
    kinds = ["decided", "decided", "withdrawn", "skipped", "flagged", "unflagged", "decided"]
    assert [kind for kind, _ in events] == kinds
    assert [answer for _, answer in events if answer] == [3, -1, 1]
    dealt = Dealt.objects.get(token=token)
    assert (dealt.answer, dealt.skipped, dealt.flagged) == (1, False, False)
    assert dealt.seconds is not None
    assert 0 <= dealt.seconds <= time.monotonic() - begun + 1
    logged = AuditEntry.objects.filter(resource=f"project {project.id}/pair {token}")
    assert list(logged.order_by("number").values_list("action", flat=True))[2:] == kinds


def test_the_first_page_is_the_first_with_something_to_do() -> None:
    project, worker = stored(page_size=2)
    browser = Browser(worker, project)
    for page in (1, 2, 3):
        browser.get(page=page)
    tokens = browser.tokens()
    assert "Page 1 of 3" in browser.get().content.decode()
    for token in tokens[:3]:
        browser.post(token, "decide", answer="2")
    browser.post(tokens[3], "skip")
    assert "Page 3 of 3" in browser.get().content.decode()
    for token in tokens[4:]:
        browser.post(token, "decide", answer="2")
    assert "Page 2 of 3" in browser.get().content.decode()


def test_the_log_names_cells_and_costs_and_no_value() -> None:
    from sfumato.server.store.models import AuditEntry

    project, worker = stored(review_project(budget=0.05))
    browser = Browser(worker, project)
    browser.get()
    for token in browser.tokens():
        browser.open(token, [2], 2)
    opened = AuditEntry.objects.filter(action="open")
    details = [each.detail for each in opened]
    assert all('"attributes":["born"]' in each and '"mode":"full"' in each for each in details)
    assert any('"cost":' in each for each in details)
    assert any('"refused":' in each for each in details)
    text = "".join(f"{e.resource}{e.detail}" for e in AuditEntry.objects.all())
    assert not any(value in text for row in PEOPLE for value in row if value and len(value) > 3)
    assert all(len(each.resource) <= 80 for each in AuditEntry.objects.all())
