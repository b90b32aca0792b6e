"""Edits that are undone in time, or that an honest act would have made the log's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from server.clinic import Browser, review_project, stored
from server.people import (
    PASSWORD,
    actions,
    code_of,
    link_in,
    log_in,
    logged_in,
    person,
    quick_hashes,
    said,
    visitor,
    who,
    with_second_factor,
)

__all__ = ["quick_hashes"]
FORGED = "a sentence that somebody forged"


def _models() -> Any:
    from sfumato.server.store import models

    return models


def _staff() -> tuple[Any, Any, Any]:
    return person("carol", "custodian"), person("mark", "manager"), person("wanda", "worker")


def _project(**settings: Any) -> tuple[Any, Browser]:
    project, worker = stored(review_project(k=1, **settings), people=_staff())
    return project, Browser(worker, project)


def _stated(table: str, key: object) -> Any:
    """What the log states of a row."""
    from sfumato.server.proofs import proofs

    proofs().follow()
    return proofs().replay.columns(table, key)


@contextmanager
def _trigger(text: str) -> Iterator[None]:
    """Have the database do something by itself."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TRIGGER forged {text}")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP TRIGGER forged")


def test_a_password_that_was_forged_only_while_it_was_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from django.contrib.auth import hashers

    mark = person("mark", "manager")
    rows = _models().Account.objects.filter(pk=mark.pk)
    rows.update(password=hashers.make_password(FORGED))
    check = hashers.check_password

    def then_undone(*given: Any) -> bool:
        right = check(*given)
        rows.update(password=mark.password)
        return right

    monkeypatch.setattr(hashers, "check_password", then_undone)
    client, answer = log_in("mark", FORGED)
    assert answer.status_code != 302
    assert who(client) == ""


def test_a_second_factor_that_was_forged_between_the_two_steps() -> None:
    mark, mallory = person("mark", "manager"), person("mallory", "worker")
    with_second_factor(mark)
    secret = with_second_factor(mallory)
    client, answer = log_in("mark")
    assert answer["Location"].startswith("/login/code")
    accounts = _models().Account.objects
    accounts.filter(pk=mallory.pk).update(pseudonym="w0")
    accounts.filter(pk=mark.pk).update(pseudonym=mallory.pseudonym, totp=mallory.totp)
    client.post("/login/code", {"code": code_of(secret)})
    accounts.filter(pk=mark.pk).update(pseudonym=mark.pseudonym, totp=mark.totp)
    accounts.filter(pk=mallory.pk).update(pseudonym=mallory.pseudonym)
    assert who(client) == ""


def test_a_used_link_that_is_unused_while_it_is_looked_for() -> None:
    person("carol", "custodian")
    path = link_in(logged_in("carol").post("/accounts/invite", {"roles": ["custodian"], "days": 3}))
    words = {"new": PASSWORD, "again": PASSWORD}
    assert visitor().post(path, {"name": "mallory", **words}).status_code == 302
    link = _models().Link.objects.get()
    _models().Link.objects.update(used=None)
    used = f"{link.used:%Y-%m-%d %H:%M:%S.%f}"
    with _trigger(f"AFTER INSERT ON account BEGIN UPDATE link SET used = '{used}'; END"):
        assert visitor().post(path, {"name": "other", **words}).status_code != 302
    assert not _models().Account.objects.filter(name="other").exists()


def test_a_link_for_a_password_that_names_another_while_it_is_used() -> None:
    carol, mallory = person("carol", "custodian"), person("mallory", "worker")
    path = link_in(logged_in("carol").post(f"/accounts/{mallory.pseudonym}/reset"))
    _models().Link.objects.update(account=carol)
    text = f"AFTER UPDATE ON account BEGIN UPDATE link SET account_id = {mallory.pk}; END"
    with _trigger(text):
        assert visitor().post(path, {"new": FORGED, "again": FORGED}).status_code != 302
    assert log_in("carol", FORGED)[1].status_code != 302


def test_a_log_that_drops_its_entries_shows_nothing() -> None:
    _, browser = _project()
    browser.get()
    before = actions()
    text = "BEFORE INSERT ON audit_entry WHEN NEW.action = 'open' BEGIN SELECT RAISE(IGNORE); END"
    with _trigger(text):
        assert browser.open(browser.tokens()[0], [0], 2).status_code == 409
    assert actions() == before
    assert browser.open(browser.tokens()[0], [0], 2).status_code == 200


def test_a_row_whose_edit_was_undone_since_it_was_read() -> None:
    from sfumato.server.error_pages import Stop
    from sfumato.server.proofs import check_proved, proofs

    carol, mark, _ = _staff()
    project, _ = stored(people=(carol, mark, person("will", "worker")))
    grant = _models().Grant.objects.create(project=project, kind="identity export", by=carol)
    said(grant)
    proofs().follow()
    grant.to = mark
    with pytest.raises(Stop):
        check_proved(grant)
    check_proved(_models().Grant.objects.get())


def _more_pairs(project: Any) -> None:
    """Pairs of another one's are the worker's while the manager deals."""
    other = person("mallory", "worker")
    pairs = list(_models().StoredPair.objects.filter(project=project))
    _models().Dealt.objects.filter(project=project).update(worker=other)
    rows = [
        _models().Dealt(project=project, worker=_wanda(), pair=pair, place=place, token=f"x{place}")
        for place, pair in enumerate(pairs)
    ]
    _models().Dealt.objects.bulk_create(rows)


def _fewer_rows(project: Any) -> None:
    _models().Allowance.objects.update(rows=-100_000)


def _wanda() -> Any:
    return _models().Account.objects.get(name="wanda")


@pytest.mark.parametrize("edit", [_more_pairs, _fewer_rows])
def test_dealing_states_no_rows_that_were_forged(edit: Callable[[Any], None]) -> None:
    from server.dealt import deal, take_back

    from sfumato.server.error_pages import Stop

    project, worker = stored(review_project(k=1), people=_staff(), pairs=[0, 1])
    before = _stated("allowance", _models().Allowance.objects.get().pk)
    edit(project)
    for act in (deal, take_back):
        with pytest.raises(Stop):
            act(project, worker, [2])
    assert _stated("allowance", _models().Allowance.objects.first().pk) == before


def test_a_raise_is_not_stated_of_another_ones_budget() -> None:
    from server.dealt import deal

    from sfumato.server.custodian.project_grants import raise_budget
    from sfumato.server.error_pages import Stop

    project, wanda = stored(review_project(k=1, budget=0.1), people=_staff(), pairs=[0])
    mallory = person("mallory", "worker")
    deal(project, mallory, [1])
    allowances = _models().Allowance.objects
    theirs = allowances.get(worker=mallory)
    allowances.filter(worker=wanda).delete()
    allowances.filter(pk=theirs.pk).update(worker=wanda)
    with pytest.raises(Stop):
        raise_budget(project.custodian, project.pk, wanda, 0.9)
    assert _stated("allowance", theirs.pk)["budget"] == 0.1


def _read_before(project: Any) -> tuple[Any, Any]:
    """Another worker's request, after which what all were shown is in memory."""
    from server.dealt import deal

    from sfumato.server.live.live_projects import forget_project

    other = person("will", "worker")
    deal(project, other, [0])
    forget_project(project.pk)
    browser = Browser(other, project)
    assert browser.get().status_code == 200
    return other, browser


def test_openings_that_were_hidden_before_they_are_read_stay_charged() -> None:
    project, browser = _project(budget=0.9)
    browser.get()
    first, second = browser.tokens()[:2]
    assert browser.open(first, [0, 1, 2], 2).status_code == 200
    _read_before(project)
    _models().Dealt.objects.filter(token=first).update(modes="00000")
    assert browser.open(second, [0], 2).status_code == 409


def test_a_state_is_not_made_of_rows_that_were_forged_while_another_page_was_made() -> None:
    project, browser = _project(budget=0.9)
    browser.get()
    _read_before(project)
    allowances = _models().Allowance.objects.filter(worker__name="wanda")
    rows = allowances.get().rows
    allowances.update(rows=100_000)
    assert logged_in("mark").get(f"/projects/{project.pk}/progress").status_code == 409
    allowances.update(rows=rows)
    assert browser.get().status_code == 200
    from sfumato.server.live.live_projects import live_of

    assert live_of(project).workers[_wanda().pk].state.rows == rows


def test_pairs_exchanged_while_the_project_is_in_memory_open_nothing() -> None:
    _, browser = _project()
    browser.get()
    first, second = browser.tokens()[:2]
    assert browser.open(first, [0, 1, 2, 3, 4], 2).status_code == 200
    dealt = [_models().Dealt.objects.get(token=token).pair for token in (first, second)]
    pairs = _models().StoredPair.objects
    pairs.filter(pk=dealt[0].pk).update(number=99)
    pairs.filter(pk=dealt[1].pk).update(number=dealt[0].number)
    pairs.filter(pk=dealt[0].pk).update(number=dealt[1].number)
    for answer in (browser.get(), browser.open(second, [0], 2)):
        assert answer.status_code == 409


def _conflict() -> tuple[Any, Any]:
    """A project in which two workers disagree about pair 0, and its manager."""
    from server.dealt import deal

    from sfumato.server.live import worker_actions

    project, wanda = stored(review_project(k=1), people=_staff())
    will = person("will", "worker")
    deal(project, will, [0])
    for worker, sign in ((wanda, 1), (will, -1)):
        token = _models().Dealt.objects.get(worker=worker, pair__number=0).token
        worker_actions.show_pair(worker, project.pk, token)
        worker_actions.decide_pair(worker, project.pk, token, sign)
    return project, project.manager


def _conflicts_more(project: Any) -> None:
    _models().Dealt.objects.filter(worker__name="wanda", pair__number=3).update(answer=-1)


def _resolutions_more(project: Any) -> None:
    pair = _models().StoredPair.objects.get(project=project, number=4)
    _models().Resolution.objects.create(pair=pair, by=project.manager, modes="22222")


@pytest.mark.parametrize("edit", [_conflicts_more, _resolutions_more])
def test_a_manager_goes_by_no_conflict_that_was_forged(edit: Callable[[Any], None]) -> None:
    from sfumato.server.error_pages import Stop
    from sfumato.server.live.conflict_resolution import show_conflict

    project, mark = _conflict()
    edit(project)
    with pytest.raises(Stop):
        show_conflict(mark, project, 0)
    assert _models().Allowance.objects.filter(worker=mark).count() == 0


def test_a_pair_is_no_conflict_because_a_row_says_that_it_was_flagged() -> None:
    project, browser = _project()
    browser.get()
    _models().Dealt.objects.filter(token=browser.tokens()[2]).update(flagged=True)
    answer = logged_in("mark").get(f"/projects/{project.pk}/conflicts/2")
    assert answer.status_code == 409


def _events(project: Any) -> None:
    _models().DecisionEvent.objects.update(answer=3)


def _resolved(project: Any) -> None:
    _models().Resolution.objects.update(answer=3)


@pytest.mark.parametrize("edit", [None, _events, _resolved])
def test_answers_that_were_edited_are_not_exported(edit: Callable[[Any], None] | None) -> None:
    from sfumato.server.live.conflict_resolution import resolve

    project, mark = _conflict()
    resolve(mark, project, 0, 1)
    project.refresh_from_db()
    project.state = "closed"
    project.save()
    said(project, "state")
    if edit is not None:
        edit(project)
    answer = logged_in("mark").post(f"/projects/{project.pk}/export/decisions")
    assert answer.status_code == (200 if edit is None else 409)


def test_a_link_that_was_used_cannot_be_made_one_that_was_lost() -> None:
    person("carol", "custodian", "manager")
    mark = person("mark", "manager")
    carol = logged_in("carol")
    path = link_in(carol.post(f"/accounts/{mark.pseudonym}/reset"))
    assert visitor().post(path, {"new": FORGED, "again": FORGED}).status_code == 302
    link = _models().Link.objects.get()
    _models().Link.objects.update(used=None)
    assert carol.post(f"/accounts/{mark.pseudonym}/reset").status_code == 409
    assert _stated("link", link.pk)["used"]


def test_a_name_that_was_moved_to_another_account_is_not_logged_in_by_header(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from dataclasses import replace

    from django.conf import settings

    carol, mallory = person("carol", "custodian"), person("mallory", "worker")
    config = replace(settings.SFUMATO, trusted_header="X-Person")
    monkeypatch.setattr(settings, "SFUMATO", config)
    accounts = _models().Account.objects
    accounts.filter(pk=mallory.pk).update(name="x")
    accounts.filter(pk=carol.pk).update(name="mallory")
    client = visitor(HTTP_X_PERSON="mallory", HTTP_X_FORWARDED_FOR="10.0.0.1")
    client.get("/account")
    assert "_auth_user_id" not in client.session
    assert "log in" not in actions()
