"""What a click reads and writes by plain statements: the same as the models say, and not much."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from server.clinic import Browser, account, body, review_project, staff, stored


def _fields(model: Any) -> dict[str, Any]:
    """The fields of a model that were read, with their values."""
    loaded = set(model.__dict__)
    return {
        field.attname: getattr(model, field.attname)
        for field in model._meta.concrete_fields
        if field.attname in loaded
    }


def test_rows_are_those_of_the_models() -> None:
    from sfumato.server.live.worker_tasks import read_rows
    from sfumato.server.store.models import Allowance, Dealt, Project, Spent

    project, worker = stored()
    browser = Browser(worker, project)
    browser.get()
    token = browser.tokens()[0]
    body(browser.open(token, [0], 2))
    body(browser.post(token, "flag"))
    body(browser.post(token, "note", note="n"))
    rows = read_rows(worker, project.id, token)
    assert rows is not None
    assert rows.dealt is not None
    found = (rows.project, rows.allowance, rows.spent, rows.dealt, rows.dealt.pair)
    dealt = Dealt.objects.select_related("pair").get(token=token)
    models = (Project.objects.get(), Allowance.objects.get(), Spent.objects.get(), dealt)
    for one, two in zip(found, (*models, dealt.pair), strict=True):
        assert one == two
        read = _fields(one)
        assert len(read) >= 3
        whole = _fields(two)
        assert {name: (whole[name], type(whole[name])) for name in read} == {
            name: (value, type(value)) for name, value in read.items()
        }
    assert rows.versions == models[1].version > 0
    assert rows.project.attributes == project.attributes, "what was not read is read when asked for"


def test_nobody_elses_rows_are_read() -> None:
    from sfumato.server.live.worker_tasks import read_rows

    project, worker = stored()
    other = account("will", "worker")
    token = Browser(worker, project).tokens()[0]
    rows = read_rows(other, project.id, token)
    assert rows is not None
    assert (rows.allowance, rows.spent, rows.dealt) == (None, None, None)
    assert rows.project.__dict__["members_known"] == {other.pk: False}
    mine = read_rows(worker, project.id, "")
    assert mine is not None
    assert mine.dealt is None
    assert mine.project.__dict__["members_known"] == {worker.pk: True}


def test_an_answer_about_another_pair_than_the_workers_own_changes_nothing() -> None:
    """The answer names its pair; what is not dealt to who sends it, in that project, is refused."""
    from sfumato.server.store.models import Allowance, DecisionEvent

    custodian, manager, worker = staff()
    first, _ = stored(people=(custodian, manager, worker))
    second, _ = stored(people=(custodian, manager, worker))
    third, other = stored(people=(custodian, manager, account("olga", "worker")))
    pages = [Browser(worker, first), Browser(worker, second), Browser(other, third)]
    for page in pages:
        page.get()
    before = list(Allowance.objects.values_list("units", flat=True))
    for page in pages:
        for token in {
            each for another in pages if another is not page for each in another.tokens()
        }:
            for answer in (page.post(token, "decide", answer=3), page.open(token, [0], 2)):
                assert answer.status_code == 404
    assert not DecisionEvent.objects.exists()
    assert list(Allowance.objects.values_list("units", flat=True)) == before


def test_a_click_asks_the_database_a_dozen_times() -> None:
    from django.db import connection

    project, worker = stored(review_project(k=1))
    browser = Browser(worker, project)
    browser.get()
    token = browser.tokens()[3]  # no other pair is of its records
    body(browser.open(token, [0], 2))
    asked: list[str] = []

    def note(run: Callable[..., Any], sql: str, *rest: Any) -> Any:
        asked.append(sql)
        return run(sql, *rest)

    with connection.execute_wrapper(note):
        body(browser.open(token, [1], 2))
    writes = [sql.split()[1 if sql.strip().startswith("UPDATE") else 2] for sql in asked
              if sql.strip().startswith(("UPDATE", "INSERT"))]  # fmt: skip
    assert sorted(writes) == ["allowance", "audit_entry", "dealt", "project", "spent"]
    assert len(asked) <= 15, asked
