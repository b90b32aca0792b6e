"""Logging in and out: throttling, the second factor, sessions."""

from __future__ import annotations

import time

import pytest
from server.people import (
    PASSWORD,
    actions,
    code_of,
    log_in,
    logged_in,
    person,
    quick_hashes,
    visitor,
    who,
    with_second_factor,
)

__all__ = ["quick_hashes"]


def test_a_password_logs_in_and_the_log_says_so() -> None:
    account = person("wanda", "worker")
    client = logged_in("wanda")
    assert who(client) == "wanda"
    assert actions() == ["log in"]
    from sfumato.server.store.models import AuditEntry

    entry = AuditEntry.objects.get(action="log in")
    assert entry.resource == f"account {account.pseudonym}"


@pytest.mark.parametrize("typed", ["  wanda ", "ｗanda"])
def test_a_name_is_the_same_however_it_was_typed(typed: str) -> None:
    person("wanda", "worker")
    assert log_in(typed)[1].status_code == 302


def test_a_wrong_password_and_an_unknown_name_are_answered_alike() -> None:
    person("wanda", "worker")
    answers = [log_in(name, "a wrong password")[1] for name in ("wanda", "nobody")]
    texts = [each.content.decode().split("csrfmiddlewaretoken") for each in answers]
    assert [each.status_code for each in answers] == [200, 200]
    assert "The name or the password is wrong." in texts[0][1]
    strip = [text[1][90:].replace("nobody", "wanda") for text in texts]
    assert strip[0] == strip[1]
    assert actions() == ["failed login", "failed login"]


def test_an_unknown_name_takes_as_long_as_a_wrong_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.undo()
    person("wanda", "worker")

    def seconds(name: str) -> float:
        from sfumato.server.store.models import LoginAttempt

        LoginAttempt.objects.all().delete()
        client = visitor()
        begun = time.process_time()
        log_in(name, "a wrong password", client)
        return time.process_time() - begun

    known = unknown = float("inf")
    for _ in range(40):  # other work makes some of them longer, and none shorter
        known, unknown = min(known, seconds("wanda")), min(unknown, seconds("nobody"))
        if 0.6 < unknown / known < 1.7:
            return
    pytest.fail(f"{unknown:.3f} s where a known name takes {known:.3f} s")


def test_nothing_that_was_typed_is_in_the_log() -> None:
    person("wanda", "worker")
    log_in("my secret password", "planted-pass")
    log_in("wanda", "planted-pass")
    from sfumato.server.store.models import AuditEntry, LoginAttempt

    text = repr(list(AuditEntry.objects.values_list()) + list(LoginAttempt.objects.values_list()))
    assert "planted" not in text
    assert "secret password" not in text
    assert "127.0.0.1" not in text


def test_a_code_is_asked_for_and_works_once() -> None:
    secret = with_second_factor(person("wanda", "worker"))
    client, answer = log_in("wanda")
    assert answer["Location"].startswith("/login/code")
    assert who(client) == "", "the password alone opens nothing"
    code = code_of(secret)
    wrong = f"{(int(code) + 1) % 10**6:06}"
    assert b"wrong" in client.post("/login/code", {"code": wrong}).content
    assert client.post("/login/code", {"code": code}).status_code == 302
    assert who(client) == "wanda"
    again, _ = log_in("wanda")
    assert again.post("/login/code", {"code": code}).status_code == 200
    assert who(again) == ""
    assert again.post("/login/code", {"code": code_of(secret, 1)}).status_code == 302


def test_codes_of_other_times_do_not_work_and_are_throttled() -> None:
    secret = with_second_factor(person("wanda", "worker"))
    client, _ = log_in("wanda")
    for step in (-3, 3, 10, -10, 100):
        assert client.post("/login/code", {"code": code_of(secret, step)}).status_code == 200
    assert client.post("/login/code", {"code": code_of(secret)}).status_code == 429
    assert who(client) == ""


def test_the_code_must_follow_the_password_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = with_second_factor(person("wanda", "worker"))
    client, _ = log_in("wanda")
    now = time.time()
    monkeypatch.setattr("sfumato.server.accounts.views.time.time", lambda: now + 301)
    answer = client.post("/login/code", {"code": code_of(secret)})
    assert answer["Location"].startswith("/login?")


def test_nobody_gets_to_the_code_without_the_password() -> None:
    with_second_factor(person("wanda", "worker"))
    assert visitor().get("/login/code")["Location"].startswith("/login?")


@pytest.mark.parametrize(
    "goal", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"]
)
def test_logging_in_leads_to_no_other_site(goal: str) -> None:
    person("wanda", "worker")
    assert log_in("wanda", next=goal)[1]["Location"] == "/"
    assert log_in("wanda", next="/account")[1]["Location"] == "/account"


def test_logging_out_ends_the_session_and_clears_the_browser() -> None:
    person("wanda", "worker")
    client = logged_in("wanda")
    stolen = visitor()
    stolen.cookies["sessionid"] = client.cookies["sessionid"].value
    assert client.get("/logout").status_code == 405
    answer = client.post("/logout")
    assert answer["Clear-Site-Data"] == '"cache", "storage"'
    kept = {name for name, cookie in client.cookies.items() if cookie.value}
    assert all(name.startswith("device-") for name in kept)
    assert b"wanda" not in answer.content
    assert who(client) == ""
    assert who(stolen) == ""
    assert actions() == ["log in", "log out"]


def test_who_does_nothing_for_a_while_is_logged_out(monkeypatch: pytest.MonkeyPatch) -> None:
    person("wanda", "worker")
    client = logged_in("wanda")
    clock = [time.time()]
    monkeypatch.setattr("sfumato.server.middleware.time.time", lambda: clock[0])
    for _ in range(3):
        clock[0] += 19 * 60
        assert who(client) == "wanda"
    clock[0] += 20 * 60 + 11
    assert who(client) == ""
    clock[0] -= 20 * 60
    assert who(client) == "", "the session is gone, not asleep"


def test_a_page_that_asks_by_itself_keeps_nobody_logged_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from server.clinic import stored

    people = person("carol", "custodian"), person("mark", "manager"), person("will", "worker")
    project, _ = stored(people=people)
    client = logged_in("mark")
    clock = [time.time()]
    monkeypatch.setattr("sfumato.server.middleware.time.time", lambda: clock[0])
    path = f"/projects/{project.pk}/progress"
    for _ in range(4):
        assert client.get(path).status_code == 200
        clock[0] += 299
    clock[0] += 30
    assert client.get(path).status_code == 302


def test_who_is_deactivated_is_out_at_once_and_stays_out() -> None:
    account = person("wanda", "worker")
    client = logged_in("wanda")
    account.is_active = False
    account.save()
    assert who(client) == ""
    assert log_in("wanda")[1].status_code == 200


def test_forms_of_another_site_are_refused() -> None:
    from django.test import Client

    person("wanda", "worker")
    client = Client(SERVER_NAME="localhost", enforce_csrf_checks=True)
    answer = client.post("/login", {"name": "wanda", "password": PASSWORD})
    assert answer.status_code == 403
    assert b"older than your session" in answer.content


ROLES = {
    ("custodian",): "/projects",
    ("manager",): "/projects",
    ("auditor",): "/audit",
    ("worker",): "/projects",
    (): "/account",
    ("auditor", "manager"): "/projects",
}


@pytest.mark.parametrize("roles", ROLES, ids=str)
def test_the_start_leads_to_the_page_of_the_role(roles: tuple[str, ...]) -> None:
    person("wanda", *roles)
    assert logged_in("wanda").get("/")["Location"] == ROLES[roles]


def test_a_worker_with_one_open_project_begins_in_it() -> None:
    from server.clinic import staff, stored

    custodian, manager, _ = staff()
    worker = person("will", "worker")
    project, _ = stored(people=(custodian, manager, worker))
    assert logged_in("will").get("/")["Location"] == f"/projects/{project.id}/pairs"


def test_nobody_begins_at_the_login() -> None:
    assert visitor().get("/")["Location"] == "/login?next=/"
