"""Rows that somebody wrote past the log give nothing, in a server that runs and in one started."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from server.clinic import Browser, review_project, stored, values_in
from server.people import actions, changed, log_in, logged_in, person, quick_hashes, said, who

__all__ = ["quick_hashes"]


def _models() -> Any:
    from sfumato.server.store import models

    return models


def _open_project() -> tuple[Any, Any]:
    """An open project of which a worker was shown masks and one opened cell."""
    people = person("carol", "custodian"), person("mark", "manager"), person("wanda", "worker")
    project, worker = stored(review_project(k=1, budget=0.3), people=people)
    browser = Browser(worker, project)
    browser.get()
    browser.open(browser.tokens()[0], [0], 2)
    return project, browser


def _anew(project: Any) -> None:
    """Have the next request read everything, as after a start."""
    from sfumato.server import proofs
    from sfumato.server.live.live_projects import forget_project

    proofs.forget()
    forget_project(project.pk)


def _shown_in_full(project: Any) -> None:
    _models().Dealt.objects.filter(project=project).update(modes="22222")


def _shown_at_first(project: Any) -> None:
    settings = {**project.settings, "start": 2}
    _models().Project.objects.filter(pk=project.pk).update(settings=settings)


def _fewer_masked(project: Any) -> None:
    attributes = [{**each, "kind": "category"} for each in project.attributes]
    _models().Project.objects.filter(pk=project.pk).update(attributes=attributes)


def _pairs_exchanged(project: Any) -> None:
    pairs = _models().StoredPair.objects.filter(project=project)
    first, last = pairs.order_by("number").first(), pairs.order_by("number").last()
    pairs.filter(pk=first.pk).update(number=99)
    pairs.filter(pk=last.pk).update(number=first.number)
    pairs.filter(pk=first.pk).update(number=last.number)


def _allowance_less(project: Any) -> None:
    _models().Allowance.objects.filter(project=project).delete()
    _models().Spent.objects.all().delete()


def _spent_less(project: Any) -> None:
    _models().Spent.objects.all().delete()


def _charged_less(project: Any) -> None:
    _models().Allowance.objects.filter(project=project).update(units=0, spent=0.0, version=0)


def _budget(project: Any) -> None:
    _models().Allowance.objects.filter(project=project).update(budget=None)


def _hidden_again(project: Any) -> None:
    _models().Dealt.objects.filter(project=project).update(modes="", shown=None)


def _given_up(project: Any) -> None:
    _models().Dealt.objects.filter(project=project).delete()


OPEN_EDITS: dict[str, Callable[[Any], None]] = {
    "shown in full": _shown_in_full,
    "shown at first": _shown_at_first,
    "attributes": _fewer_masked,
    "pairs exchanged": _pairs_exchanged,
    "no allowance": _allowance_less,
    "nothing spent": _spent_less,
    "less charged": _charged_less,
    "no budget": _budget,
    "hidden again": _hidden_again,
    "pairs gone": _given_up,
}


@pytest.mark.parametrize("running", [True, False])
@pytest.mark.parametrize("name", OPEN_EDITS)
def test_an_edit_opens_nothing_and_is_said(name: str, running: bool) -> None:
    from sfumato.server.audit_log import verify

    project, browser = _open_project()
    before = values_in(browser.bytes[-1].decode())
    tokens = browser.tokens()
    OPEN_EDITS[name](project)
    if not running:
        _anew(project)
    browser.bytes.clear()
    browser.get()
    for token in tokens[1:3]:
        browser.post(token, "show")
        answer = browser.open(token, [0, 1, 2], 2)
        assert answer.status_code < 500
    got = set(values_in(b"".join(browser.bytes).decode())) - set(before)
    # In memory, which the edit does not reach, openings may go on, and are charged.
    charged = _charged(project)
    assert not got or charged
    assert verify().differences


def _charged(project: Any) -> bool:
    """Whether the log has a charge after that of the honest opening."""
    return actions().count("open") > 1


def test_a_refused_row_is_said_once_in_the_log_and_to_the_auditor() -> None:
    project, browser = _open_project()
    person("olga", "auditor")
    _models().Project.objects.filter(pk=project.pk).update(
        manager=_models().Account.objects.get(name="wanda")
    )
    for _ in range(2):
        assert browser.get().status_code == 409
    assert actions().count("refuse row") == 1
    entry = _models().AuditEntry.objects.get(action="refuse row")
    assert (entry.resource, entry.detail) == (
        f"project {project.pk}",
        '{"column":"manager_id"}',
    )
    page = logged_in("olga").get("/audit").content.decode()
    assert "action=refuse+row" in page


def test_an_edited_account_is_out_at_once_and_cannot_log_in() -> None:
    person("carol", "custodian")
    mallory = person("mallory", "worker")
    client = logged_in("mallory")
    assert who(client) == "mallory"
    _models().Account.objects.filter(pk=mallory.pk).update(roles=["custodian"])
    assert who(client) == ""
    assert log_in("mallory")[1].status_code == 409
    # What an entry states counts again.
    changed(mallory, roles=["custodian"])
    assert logged_in("mallory").get("/accounts").status_code == 200


def test_a_session_in_the_place_of_another_is_nobodys() -> None:
    from django.contrib.sessions.models import Session

    person("carol", "custodian"), person("mallory", "worker")
    logged_in("carol")
    theirs = Session.objects.get()
    client = logged_in("mallory")
    mine = Session.objects.exclude(pk=theirs.pk)
    assert mine.update(session_data=theirs.session_data) == 1
    assert who(client) == ""


def test_a_log_that_was_cut_stops_all_but_auditors() -> None:
    _, browser = _open_project()
    person("olga", "auditor")
    olga = logged_in("olga")
    last = _models().AuditEntry.objects.order_by("number").last()
    assert browser.get().status_code == 200
    last.delete()
    assert browser.get().status_code == 409
    assert olga.get("/audit/check").status_code == 200


def test_what_a_transaction_takes_back_was_never_stated() -> None:
    from django.db import transaction

    from sfumato.server.proofs import check_stated, proofs

    carol = person("carol", "custodian")
    proofs().follow()
    with transaction.atomic():
        changed(carol, roles=["worker"])
        proofs().follow()
        check_stated(carol, "roles")
        transaction.set_rollback(True)
    carol.refresh_from_db()
    proofs().follow()
    check_stated(carol, "roles")
    assert proofs().replay.columns("account", carol.pk)["roles"] == ["custodian"]


def test_a_state_that_another_process_wrote_is_read() -> None:
    from sfumato.server.proofs import proofs

    project, browser = _open_project()
    proofs().follow()
    said(changed(project, page_size=1))
    assert browser.get().status_code == 200
