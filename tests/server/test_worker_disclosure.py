"""Only what was paid for leaves the server, whatever is asked for and in whatever order."""

from __future__ import annotations

import random
import string
from typing import Any

import pytest
from server.clinic import (
    ATTRIBUTES,
    PAIRS,
    SEX,
    Browser,
    account,
    body,
    review_project,
    staff,
    stored,
    values_in,
)

from sfumato.review.review_settings import Attribute, AttributeKind, Mode
from sfumato.server.config import ServerConfig

TEXT = tuple(Attribute(name=f"a{place}", kind=AttributeKind.VARIABLE) for place in range(4))
KIND = Attribute(name="kind", kind=AttributeKind.CATEGORY)


def canary(rng: random.Random) -> str:
    return "".join(rng.choices(string.ascii_lowercase, k=12))


def planted(seed: int) -> list[tuple[str, ...]]:
    """Two rows for each of eight pairs: identical, nearly so, or other values of 12 letters."""
    rng, rows = random.Random(seed), []
    for _ in range(8):
        one = [canary(rng) for _ in range(5)]
        two = [
            each
            if rng.random() < 0.4
            else each[:3] + rng.choice("0123456789") + each[4:]
            if rng.random() < 0.6
            else canary(rng)
            for each in one
        ]
        rows += [tuple(one), tuple(two)]
    return rows


@pytest.mark.parametrize("width", ["true", "fixed"])
def test_no_undisclosed_value_is_in_any_byte(width: str) -> None:
    rows = planted(7)
    pairs = [(2 * pair, 2 * pair + 1) for pair in range(8)]
    project, worker = stored(review_project(rows, pairs, (*TEXT, KIND), mask_width=width))
    browser, rng, full = Browser(worker, project), random.Random(3), set()
    headers: list[str] = []
    browser.get()
    tokens = browser.tokens()
    for step in range(60):
        number, place = rng.randrange(8), rng.randrange(5)
        mode = rng.choice([1, 2]) if step % 7 else 2
        answer = browser.open(tokens[number], [place], mode)
        headers += [f"{name}: {value}" for name, value in answer.headers.items()]
        if answer.status_code == 200 and mode == 2:
            full.add((number, place))
        if step % 9 == 0:
            browser.post(tokens[number], "decide", answer=rng.choice([-3, 2]))
            browser.get(page=1)
    paid = {rows[2 * number + row][place] for number, place in full for row in (0, 1)}
    hidden = {value for row in rows for value in row} - paid
    received = b"\n".join([*browser.bytes, "\n".join(headers).encode()])
    assert len(paid) > 20
    assert len(hidden) > 20
    assert not [value for value in sorted(hidden) if value.encode() in received]
    assert all(value.encode() in received for value in paid)


def test_values_stand_in_no_attribute_of_the_page() -> None:
    project, worker = stored()
    browser = Browser(worker, project)
    browser.get()
    for token in browser.tokens():
        for place in range(5):
            browser.open(token, [place], 2)
    page = browser.get().content.decode()
    inside = "".join(part.split(">")[0] for part in page.split("<")[1:])
    assert {"12345", "Keller", "1980-01-02"} <= set(values_in(page))
    assert values_in(inside) == [], "a value is in a tag"


def undisclosed_renamed(rows: Any, seen: set[int]) -> list[tuple[str | None, ...]]:
    """The same rows with letters of every attribute that nobody opened exchanged one to one."""
    letters = str.maketrans("abcdefghijklmnopqrstuvwxyz", "bcdefghijklmnopqrstuvwxyza")
    return [
        tuple(
            value if value is None or place in seen else value.translate(letters)
            for place, value in enumerate(row)
        )
        for row in rows
    ]


@pytest.mark.parametrize(("costs", "width"), [("bound", "true"), ("exact", "fixed")])
def test_data_that_differ_in_undisclosed_values_give_the_same_bytes(costs: str, width: str) -> None:
    rows, pairs = planted(11), [(0, 1), (2, 3), (4, 5), (0, 5)]
    opened = {0, 4}
    answers = []
    people = staff()
    for data in (rows, undisclosed_renamed(rows, opened)):
        project, worker = stored(
            review_project(data, pairs, (*TEXT, KIND), costs=costs, mask_width=width),
            people=people,
        )
        # Each of the two is a source of its own, so that nothing was spent before.
        browser = Browser(worker, project)
        browser.get()
        for token in browser.tokens():
            for place in sorted(opened):
                for mode in (1, 2):
                    browser.open(token, [place], mode)
        text = b"\n".join(browser.bytes).decode()
        for number, token in enumerate(browser.tokens()):
            text = text.replace(token, f"token{number}")
        answers.append(without_secrets(text.replace(str(project.id), "project")))
    assert answers[0] == answers[1]


def without_secrets(text: str) -> str:
    import re

    return re.sub(r'name=(\\?)"csrfmiddlewaretoken(\\?)" value=\\?"\w+', "csrf", text)


# -------------------------------------------------------------------------------- what is forged


def test_forged_requests_are_refused_and_charge_nothing() -> None:
    from sfumato.server.store.models import Allowance, Spent

    project, worker = stored()
    browser = Browser(worker, project)
    browser.get()
    token = browser.tokens()[0]
    for value, status in {
        "": 400,
        "x:1": 400,
        "0:3": 400,
        "0:0": 400,
        "0:-1": 400,
        "99:2": 400,
        "-1:2": 400,
        "0,0:2": 400,
        ":2": 400,
        "0": 400,
        "3:1": 400,  # a category is never opened partly
        "0:9999999999999999999": 400,
        "²:2": 400,
        "0:2:x": 400,
        "0:2:-1.0": 400,
        "0:2:nan": 400,
        ",".join(["0"] * 5000) + ":2": 400,
    }.items():
        assert browser.post(token, "open", open=value).status_code == status, value
    for answer in ("0", "4", "-4", "x", "", "1e1"):
        assert browser.post(token, "decide", answer=answer).status_code == 400, answer
    assert browser.open("x" * 12, [0], 2).status_code == 404
    assert browser.post(token, "reveal").status_code == 404
    assert browser.get(f"/{token}/open").status_code == 405
    assert browser.get(page="0").status_code == 404
    assert browser.get(page="x").status_code == 400
    assert Allowance.objects.get(worker=worker).units == 0
    assert sum(Spent.objects.values_list("score", flat=True)) == 0


def test_a_pair_of_another_worker_is_not_there() -> None:
    from server.dealt import deal

    people = staff()
    project, worker = stored(people=people)
    other = account("otto", "worker")
    deal(project, other, range(len(PAIRS)))
    mine, theirs = Browser(worker, project), Browser(other, project)
    mine.get(), theirs.get()
    assert set(mine.tokens()).isdisjoint(theirs.tokens())
    token = theirs.tokens()[0]
    for verb in ("open", "decide", "withdraw", "skip", "flag", "note"):
        assert mine.post(token, verb, open="0:2", answer="3", note="x").status_code == 404
    stranger = account("sven", "worker")
    assert Browser(stranger, project).get().status_code == 404
    assert Browser(people[1], project).get().status_code == 403


def test_without_login_nothing_shows() -> None:
    from django.test import Client

    project, worker = stored()
    browser = Browser(worker, project)
    browser.get()
    client, token = Client(SERVER_NAME="localhost"), browser.tokens()[0]
    address = f"/projects/{project.id}/pairs"
    assert client.get(address).headers["Location"].startswith("/login?next=")
    json = {"accept": "application/json"}
    assert client.post(f"{address}/{token}/open", {"open": "0:2"}, headers=json).status_code == 401
    strict = Client(SERVER_NAME="localhost", enforce_csrf_checks=True)
    strict.cookies = browser.client.cookies
    assert strict.post(f"{address}/{token}/open", {"open": "0:2"}).status_code == 403


# ------------------------------------------------------------------------- without the script


def test_every_button_works_as_a_plain_form() -> None:
    project, worker = stored()
    browser = Browser(worker, project)
    browser.get()
    token = browser.tokens()[0]
    address = f"/projects/{project.id}/pairs/{token}"
    answer = browser.client.post(f"{address}/open", {"open": "0:2", "page": "1"})
    assert answer.status_code == 302
    assert answer.headers["Location"].endswith(f"?page=1#pair-{token}")
    browser.client.post(f"{address}/decide", {"answer": "-2", "page": "1"})
    page = browser.get().content.decode()
    assert "Anna" in page
    assert "Different, medium confidence" in page


def test_a_refusal_is_said_on_the_page() -> None:
    project, worker = stored(review_project(budget=0.001))
    browser = Browser(worker, project)
    browser.get()
    token = browser.tokens()[0]
    answer = body(browser.open(token, [0], 2))
    assert answer["refused"] == "more than your budget holds"
    browser.client.post(f"/projects/{project.id}/pairs/{token}/open", {"open": "0:2"})
    page = browser.get().content.decode()
    assert "Pair 1: not opened, more than your budget holds." in page
    assert "Anna" not in page


# --------------------------------------------------------------------------------- on the disk


def test_files_and_notes_are_encrypted_at_rest(server: ServerConfig) -> None:
    project, worker = stored()
    browser = Browser(worker, project)
    browser.get()
    token = browser.tokens()[0]
    assert "kept in mind" in body(browser.post(token, "note", note="kept in mind"))["pair"]
    browser.open(token, [0], 2)
    assert "kept in mind" in browser.get().content.decode()
    stored_bytes = b"".join(path.read_bytes() for path in server.data.rglob("*") if path.is_file())
    assert len(list((server.data / "projects" / str(project.id)).iterdir())) == 4
    for value in ("Keller", "Zoltan", "1980-01-02", "kept in mind"):
        assert value.encode() not in stored_bytes
    assert SEX.name.encode() in stored_bytes  # names of attributes are no values
    assert len(ATTRIBUTES) == len(Mode) + 2
