"""The faults of published software of this kind, each tried on this one (001, NOTES section 3)."""

from __future__ import annotations

import io
import random
import re
import string
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

import pyarrow.parquet as pq
import pytest
from server.clinic import PEOPLE, Browser, Rows, account, body, review_project, staff, stored
from server.people import changed

from sfumato.review.review_settings import Attribute, AttributeKind

LONG = Attribute(name="long", kind=AttributeKind.VARIABLE)
SHORT = Attribute(name="short", kind=AttributeKind.FIXED)
BORN = Attribute(name="born", kind=AttributeKind.DATE)
SEX = Attribute(name="sex", kind=AttributeKind.CATEGORY)
ATTRIBUTES = (LONG, SHORT, BORN, SEX)
PAIRS = [(0, 1), (2, 3), (4, 5), (6, 7)]
MASKED, PARTIAL, FULL = 0, 1, 2
UNITS = 10**9


def people(rng: random.Random, count: int) -> list[tuple[str, ...]]:
    """Records of which some agree in some attributes."""
    longs = ["".join(rng.choices(string.ascii_lowercase, k=rng.choice([6, 10]))) for _ in range(5)]
    start = date(1970, 1, 1)
    return [
        (
            rng.choice(longs),
            "".join(rng.choices("0123", k=2)),
            str(start + timedelta(days=rng.choice([0, 40, 5000]))),
            rng.choice("fm"),
        )
        for _ in range(count)
    ]


def expected(rows: Rows, modes: list[tuple[int, ...]], k: int) -> Fraction:
    """KAPR of the paper, by its text alone: characters of each attribute, sets over all records.

    Modes are masked or full; what the identity mark discloses is part of a set's condition.
    """
    total = Fraction(0)
    for pair, shown in zip(PAIRS, modes, strict=True):
        for record in pair:
            other = pair[1 - pair.index(record)]
            agreeing = 0
            for each in rows:
                full = all(
                    each[place] == rows[record][place]
                    for place, mode in enumerate(shown)
                    if mode == FULL
                )
                twice = all(
                    sum(one[place] == each[place] for one in rows) > 1
                    for place in range(len(shown))
                    if rows[record][place] == rows[other][place]
                )
                agreeing += full and twice
            total += Fraction(shown.count(FULL), agreeing)
    return k * total / (2 * len(PAIRS) * len(ATTRIBUTES))


def spent(project: Any, worker: Any) -> float:
    from sfumato.server.store.models import Allowance

    return Allowance.objects.get(project=project, worker=worker).spent


@pytest.mark.parametrize("seed", range(3))
def test_sets_are_of_the_database_and_shares_of_each_attribute(seed: int) -> None:
    """Not of the rows of the pairs, and not of all attributes' characters in one pot."""
    rng = random.Random(seed)
    rows = people(rng, 60)  # of which 8 are in pairs
    k = rng.choice([1, 2])
    settings: dict[str, Any] = {"policy": "paper", "costs": "exact", "k": k, "k_floor": "report"}
    project, worker = stored(review_project(rows, PAIRS, ATTRIBUTES, **settings))
    browser = Browser(worker, project)
    browser.get()
    tokens = browser.tokens()
    modes = [[MASKED] * 4 for _ in PAIRS]
    for _ in range(9):
        pair, place = rng.randrange(4), rng.randrange(4)
        assert body(browser.open(tokens[pair], [place], FULL))["refused"] == ""
        modes[pair][place] = FULL
        wanted = expected(rows, [tuple(each) for each in modes], k)
        assert spent(project, worker) == pytest.approx(float(wanted), abs=1e-6)


def test_k_is_a_floor() -> None:
    rows = people(random.Random(1), 40)
    browsers = {}
    for k in (1, 30):
        roles = ("custodian", "manager", "worker")
        who = tuple(account(f"{role}{k}", role) for role in roles)
        project, worker = stored(review_project(rows, PAIRS, ATTRIBUTES, k=k), people=who)
        browsers[k] = Browser(worker, project)
        browsers[k].get()
    for token in browsers[1].tokens():
        assert body(browsers[1].open(token, [0], FULL))["refused"] == ""
    refused = [body(browsers[30].open(t, [0], FULL))["refused"] for t in browsers[30].tokens()]
    assert set(refused) == {"it could tell the person apart too well"}
    assert b"Row 1: " in browsers[30].bytes[0]
    assert not any(rows[record][0].encode() in b"".join(browsers[30].bytes) for record in range(8))


_CELL = re.compile(r'name="open" value="([^"]+)" data-cost="([^"]+)"([^>]*)>')
_METER = re.compile(r'aria-valuenow="([^"]+)"')


@pytest.mark.parametrize("costs", ["exact", "bound"])
@pytest.mark.parametrize("width", ["true", "fixed"])
def test_the_price_that_was_shown_is_the_one_that_is_charged(costs: str, width: str) -> None:
    """Exactly, where exact prices show; never more, where bounds do."""
    rng = random.Random(4)
    rows = people(rng, 50)
    project, worker = stored(
        review_project(rows, PAIRS, ATTRIBUTES, costs=costs, mask_width=width, budget=0.5)
    )
    browser = Browser(worker, project)
    page = browser.get().content.decode()
    forms = dict(zip(browser.tokens(), page.split("<form ")[2:], strict=True))
    opened = refused = 0
    for _ in range(14):
        token = rng.choice(list(forms))
        offered = _CELL.findall(forms[token])
        if not offered:
            continue
        value, price, rest = rng.choice(offered)
        before = spent(project, worker)
        answer = body(browser.post(token, "open", open=value))
        forms |= {token: answer["pair"]}
        charged = spent(project, worker) - before
        if "aria-disabled" in rest:
            assert answer["refused"]
        if answer["refused"]:
            refused += 1
            assert charged == 0
            continue
        opened += 1
        step = 10.0 ** -len(price.partition(".")[2])
        if costs == "exact":
            assert float(price) - step - 1e-9 <= charged <= float(price) + 1e-9
        else:
            assert charged <= float(price) + 1e-9
        shown = float(_METER.findall(answer["standing"])[0])
        assert shown == pytest.approx(spent(project, worker), abs=step)
    assert opened > 4


def test_nothing_is_given_back_for_a_mode_that_a_request_names() -> None:
    project, worker = stored(review_project(people(random.Random(2), 30), PAIRS, ATTRIBUTES))
    browser = Browser(worker, project)
    browser.get()
    token = browser.tokens()[0]
    body(browser.open(token, [0], FULL))
    paid = spent(project, worker)
    assert paid > 0
    for mode in (PARTIAL, MASKED, 3, -1, 99):
        browser.open(token, [0], mode)
    for extra in ({"mode": "0"}, {"cost": "0"}, {"units": "-5"}, {"refund": "1"}, {"state": "{}"}):
        browser.post(token, "open", open="0:2", **extra)
    browser.get(), browser.get(page=1, reset=1)
    assert spent(project, worker) == paid
    assert rows_shown(browser, token) == 1


def rows_shown(browser: Browser, token: str) -> int:
    """Number of attributes of a pair that show in full."""
    page = browser.get().content.decode()
    part = page.partition(f'id="pair-{token}"')[2].partition("</form>")[0]
    return part.count('class="column full')


@pytest.mark.parametrize("start", [PARTIAL, FULL])
def test_the_starting_state_is_charged(start: int) -> None:
    rows = people(random.Random(5), 30)
    project, worker = stored(review_project(rows, PAIRS, ATTRIBUTES, start=start))
    browser = Browser(worker, project)
    assert not hasattr(worker, "spent")
    browser.get()
    first = spent(project, worker)
    assert first > 0
    browser.get()
    assert spent(project, worker) == first


def test_a_starting_state_that_nobody_can_pay_is_not_shown() -> None:
    rows = people(random.Random(5), 30)
    project, worker = stored(review_project(rows, PAIRS, ATTRIBUTES, start=FULL, budget=0.001))
    page = Browser(worker, project).get().content.decode()
    assert page.count("This pair cannot be shown") == len(PAIRS)
    assert not any(value in page for value in (rows[0][0], rows[3][0]))
    assert spent(project, worker) == 0


@pytest.mark.parametrize("told", ["length", "rarity", "identity"])
def test_what_a_masked_cell_tells_makes_an_opening_dearer(told: str) -> None:
    """Lengths, rarity and identity marks narrow the set that an opening is charged for."""
    other = Attribute(name="other", kind=AttributeKind.VARIABLE, rarity=told == "rarity")
    length = {"length": "abcdefghijkl"}.get(told, "efgh")
    first = ("same", "unique" if told == "rarity" else length)
    second = ("same", first[1] if told == "identity" else "zzzz")
    rows: Rows = [first, second, *(("same", f"ab{n % 6}{n % 7}"[:4]) for n in range(40))]
    if told == "rarity":
        rows = [("same", "rare"), ("same", "zzzz"), *(("same", "abcd"), ("same", "efgh")) * 30]
    paid = []
    for policy in ("paper", "consistent"):
        roles = ("custodian", "manager", "worker")
        who = tuple(account(f"{role} {policy}", role) for role in roles)
        project, worker = stored(
            review_project(rows, [(0, 1)], (LONG, other), policy=policy), people=who
        )
        browser = Browser(worker, project)
        browser.get()
        body(browser.open(browser.tokens()[0], [0], FULL))
        paid.append(spent(project, worker))
    if told == "identity":  # which the paper counts as well
        assert paid[0] == paid[1] == pytest.approx(2 / (2 * 2) / 2)
    else:
        assert paid[1] > 2 * paid[0]


def test_ids_are_random_for_each_pair_and_worker() -> None:
    from server.dealt import deal

    from sfumato.server.store.models import Dealt

    owners = staff()
    project, worker = stored(people=owners)
    second = account("otto", "worker")
    deal(project, second, range(6))
    again, _ = stored(people=owners)  # the same data once more
    tokens = list(Dealt.objects.values_list("token", flat=True))
    assert len(set(tokens)) == len(tokens) == 18
    assert min(map(len, tokens)) >= 12
    page = Browser(worker, project).get().content.decode()
    others = set(tokens) - set(Browser(worker, project).tokens())
    assert not any(token in page for token in others)
    numbers = re.findall(r'(?:id|name|value|data-[a-z]+)="([^"]*)"', page)
    assert not any(re.fullmatch(r"[rp]\d+", each) for each in numbers), "an id of the data"
    assert "clinic" not in page.replace("Clinics", "")
    assert again.id != project.id


def test_passwords_are_hashed_with_argon2() -> None:
    from sfumato.server.store.models import Account

    words = "the words of nobody else"
    Account.objects.make("peter", words, ["worker"])
    stored_as = Account.objects.get(name="peter").password
    assert stored_as.startswith("argon2$argon2id$")
    assert words not in stored_as


def test_the_log_tells_no_value(capfd: pytest.CaptureFixture[str]) -> None:
    """Not when requests are wrong, and not when the server fails in the middle of one."""
    import logging

    from sfumato.server.discretion import _LOUD, log_without_values
    from sfumato.server.live import worker_tasks as task

    loggers = [logging.getLogger(name) for name in _LOUD]
    kept = [(each.handlers, each.propagate) for each in loggers]
    log_without_values()
    rows = [
        tuple(f"{word}{number:02}"[:12] for word in ("Przybylski", "77", "x", "y"))
        for number in range(9)
    ]
    project, worker = stored(review_project(rows, PAIRS, (LONG, SHORT)))
    browser = Browser(worker, project)
    browser.client.raise_request_exception = False
    browser.get()
    token = browser.tokens()[0]
    body(browser.open(token, [0], FULL))

    def broken(*_: object) -> None:
        raise RuntimeError(f"nobody may read {rows[0][0]}")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(task, "append", broken)
        assert browser.post(token, "flag").status_code == 500
    browser.open(rows[0][0], [0], FULL)
    browser.client.get(f"/projects/{rows[0][0]}/pairs?{rows[0][0]}")
    for each, (handlers, propagate) in zip(loggers, kept, strict=True):
        each.handlers, each.propagate = handlers, propagate
    said = "".join(capfd.readouterr())
    assert "RuntimeError" in said
    assert "Przybylski" not in said
    assert token not in said


def closed(**settings: Any) -> tuple[Any, Any]:
    """A closed project whose pairs are decided, and its manager's browser."""
    from django.utils import timezone

    from sfumato.server.accounts.sessions import FRESH

    project, worker = stored(review_project(gold={}, **settings))
    browser = Browser(worker, project)
    browser.get()
    for token in browser.tokens():
        body(browser.post(token, "decide", answer="2"))
    changed(project, state="closed", closed=timezone.now())
    client = Browser(project.manager, project).client
    session = client.session
    session[FRESH] = time.time()
    session.save()
    return project, client


def test_one_grant_is_one_export_however_many_ask_at_once() -> None:
    from django.db import connections
    from django.test import Client

    from sfumato.server.custodian.project_grants import allow_identity_export

    project, client = closed()
    address = f"/projects/{project.id}/export/identities"
    assert client.post(address).status_code == 403
    allow_identity_export(project.custodian, project.id, 1)

    def ask(_: int) -> int:
        mine = Client(SERVER_NAME="localhost")
        mine.cookies = client.cookies
        status = mine.post(address).status_code
        connections.close_all()
        return int(status)

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(ask, range(6))) == [200, 403, 403, 403, 403, 403]


def test_exports_without_the_grant_hold_no_value() -> None:
    project, client = closed()
    answer = client.post(f"/projects/{project.id}/export/decisions")
    assert answer.status_code == 200
    text = str(pq.read_table(io.BytesIO(answer.getvalue())).to_pylist())
    for form in ("json", "html"):
        answer = client.post(f"/projects/{project.id}/export/report", {"form": form})
        assert answer.status_code == 200
        text += answer.content.decode()
    assert "wanda" not in text, "decisions name people by their pseudonyms"
    values = [value for row in PEOPLE for value in row if value and len(value) > 3]
    assert not [value for value in values if value in text]
