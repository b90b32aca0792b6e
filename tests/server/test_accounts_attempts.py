"""Attempts to log in: few may fail, and nobody is kept out by what others fail at."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import pytest
from server.people import (
    NEW,
    PASSWORD,
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


def test_after_five_failures_not_even_the_right_password_is_tried() -> None:
    person("wanda", "worker")
    for _ in range(5):
        assert log_in("wanda", "a wrong password")[1].status_code == 200
    answer = log_in("wanda")[1]
    assert answer.status_code == 429
    assert 0 < int(answer["Retry-After"]) <= 900
    assert b"minute" in answer.content
    other = log_in("wanda", client=visitor(REMOTE_ADDR="10.0.0.9"))[1]
    assert other.status_code == 429, "another address does not help"
    _age_attempts(16)
    assert log_in("wanda")[1].status_code == 302


def test_a_refused_attempt_does_not_lengthen_the_wait() -> None:
    person("wanda", "worker")
    for _ in range(5):
        log_in("wanda", "a wrong password")
    from sfumato.server.store.models import LoginAttempt

    for _ in range(3):
        assert log_in("wanda")[1].status_code == 429
    assert LoginAttempt.objects.count() == 5


def test_attempts_at_the_same_time_count_as_well() -> None:
    from concurrent.futures import ThreadPoolExecutor

    from django.db import connections

    person("wanda", "worker")

    def fail(_number: int) -> int:
        status: int = log_in("wanda", "a wrong password")[1].status_code
        connections.close_all()
        return status

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(fail, range(24)))
    assert set(answers) <= {200, 429}
    assert answers.count(200) <= 5


def test_twenty_failures_from_an_address_stop_it_whatever_the_name() -> None:
    person("wanda", "worker")
    for number in range(20):
        assert log_in(f"name{number}", "a wrong password")[1].status_code == 200
    assert log_in("wanda")[1].status_code == 429
    assert log_in("wanda", client=visitor(REMOTE_ADDR="10.0.0.9"))[1].status_code == 302


def test_logging_in_forgets_the_failures_of_that_name_only() -> None:
    person("wanda", "worker")
    for _ in range(4):
        log_in("wanda", "a wrong password")
    log_in("carol", "a wrong password")
    logged_in("wanda")
    from sfumato.server.store.models import LoginAttempt

    assert LoginAttempt.objects.count() == 1


def test_made_up_names_keep_out_nobody_who_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    person("carol", "custodian")
    person("wanda", "worker")
    secret = with_second_factor(person("will", "worker"))
    confirming, changing, known, known_by_code = (
        *(logged_in("carol") for _ in range(3)),
        log_in("will")[0],
    )
    known_by_code.post("/login/code", {"code": code_of(secret, -1)})
    for client in (known, known_by_code):
        client.post("/logout")
        assert who(client) == ""
    _fail_with_made_up_names(25)
    now = time.time()
    proof = {"next": "/account/second-factor", "password": PASSWORD}
    with monkeypatch.context() as later:
        later.setattr("time.time", lambda: now + 301)
        assert confirming.get(proof["next"])["Location"].startswith("/fresh")
        assert confirming.post("/fresh", proof)["Location"] == proof["next"]
        assert confirming.get(proof["next"]).status_code == 200
    assert log_in("carol", client=known)[1].status_code == 302
    assert who(known) == "carol"
    log_in("will", client=known_by_code)
    assert known_by_code.post("/login/code", {"code": code_of(secret)}).status_code == 302
    assert who(known_by_code) == "will"
    change = {"present": PASSWORD, "new": NEW, "again": NEW}
    assert changing.post("/account/password", change)["Location"] == "/account"
    assert log_in("carol", NEW)[1].status_code == 429, "a browser that nobody knows"
    assert log_in("wanda")[1].status_code == 429
    _age_attempts(16)
    assert log_in("wanda")[1].status_code == 302


def test_failures_at_a_name_keep_no_known_browser_out() -> None:
    person("carol", "custodian")
    known = logged_in("carol")
    known.post("/logout")
    for _ in range(6):
        answer = log_in("carol", "a wrong password")[1]
    assert answer.status_code == 429
    assert log_in("carol", client=known)[1].status_code == 302
    assert log_in("carol")[1].status_code == 429, "which lets the strangers try no more"


def test_somebody_new_comes_in_by_a_link_and_is_known(server: Any) -> None:
    from sfumato.server.accounts.sessions import invite

    carol, client = person("carol", "custodian"), visitor()
    _fail_with_made_up_names(25)
    link = invite(carol, ["worker"]).removeprefix(server.address)
    given = {"name": "newcomer", "new": NEW, "again": NEW}
    assert client.post(link, given).status_code == 302
    client.post("/logout")
    assert log_in("newcomer", NEW, client)[1].status_code == 302


def test_a_stolen_device_cookie_has_few_attempts_at_its_own_name_only() -> None:
    person("carol", "custodian")
    person("wanda", "worker")
    owner = logged_in("carol")
    thief = _with_device_of(owner)
    statuses = [log_in("carol", f"guess {n}", thief)[1].status_code for n in range(12)]
    assert statuses == [200] * 5 + [429] * 7
    assert log_in("carol", client=thief)[1].status_code == 429, "not even the right one"
    assert log_in("carol")[1].status_code == 302, "others are not kept out by it"
    for number in range(25):
        answer = log_in(f"made up {number}", "a wrong password", thief)[1]
    assert answer.status_code == 429, "it is a stranger to every other name"
    assert log_in("wanda", client=thief)[1].status_code == 429
    _age_attempts(16)
    assert log_in("carol", client=_with_device_of(owner))[1].status_code == 302


@pytest.mark.parametrize("change", ["value", "name", "age"])
def test_a_device_cookie_is_signed_for_its_name_and_time(
    change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    person("carol", "custodian")
    person("mark", "manager")
    owner, mark = logged_in("carol"), logged_in("mark")
    forged = _with_device_of(owner)
    (cookie,) = forged.cookies.values()
    (other,) = _with_device_of(mark).cookies.values()
    if change == "value":
        forged.cookies[cookie.key] = "x" * 22 + cookie.value[22:]
    elif change == "name":
        forged.cookies[cookie.key] = other.value
    _fail_with_made_up_names(20)
    if change == "age":
        now = time.time()
        monkeypatch.setattr("django.core.signing.time.time", lambda: now + 181 * 86400)
    assert log_in("carol", client=forged)[1].status_code == 429


def test_a_proof_and_a_login_are_counted_each_on_its_own() -> None:
    person("carol", "custodian")
    client = logged_in("carol")
    for _ in range(6):
        answer = client.post("/fresh", {"password": "a wrong password"})
    assert answer.status_code == 429
    assert log_in("carol")[1].status_code == 302
    again = log_in("carol")[0]
    assert again.post("/fresh", {"password": PASSWORD}).status_code == 429, "one per account"


def test_a_browser_says_nothing_of_who_used_it() -> None:
    account = person("carol", "custodian")
    (cookie,) = _with_device_of(logged_in("carol")).cookies.values()
    assert not {"carol", account.pseudonym} & set(cookie.OutputString().split("-"))
    owner = logged_in("carol").cookies[cookie.key]
    assert owner["httponly"]
    assert (owner["samesite"], owner["path"]) == ("Strict", "/login")


def _fail_with_made_up_names(count: int) -> None:
    statuses = [log_in(f"name{n}", "a wrong password")[1].status_code for n in range(count)]
    assert statuses == [200] * 20 + [429] * (count - 20)


def _with_device_of(client: Any) -> Any:
    """Another browser, with the device cookies of this one."""
    other = visitor()
    for name, cookie in client.cookies.items():
        if name.startswith("device-"):
            other.cookies[name] = cookie.value
    return other


def _age_attempts(minutes: int) -> None:
    from django.utils import timezone

    from sfumato.server.store.models import LoginAttempt

    LoginAttempt.objects.update(time=timezone.now() - timedelta(minutes=minutes))
