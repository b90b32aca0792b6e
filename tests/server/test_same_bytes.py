"""Two servers whose data differ only where nothing was disclosed answer with the same bytes."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from server.callers import Caller, Reply
from server.canaries import ATTRIBUTES, LETTERS, canary, planted
from server.servers import Server, project, running

PAIRS, OTHERS = 12, 30
OPENED = (0, 4)
"""Attributes that are opened."""
PROJECTS: list[dict[str, Any]] = [
    {"title": "First", "settings": {"mask_width": "true", "budget": 0.3}},
    {"title": "Second", "settings": {"mask_width": "fixed", "hints": True}},
]
ROLES = ("custodian", "manager", "auditor")
Rows = list[tuple[str, ...]]


def data(rng: random.Random) -> tuple[Rows, Rows]:
    """Rows, and the same rows but for what nobody opens.

    In the second table, letters of an attribute are exchanged one to one, and where the rows of
    a pair are entirely different, values have moved to other pairs.
    """
    one = planted(rng, PAIRS) + [tuple(canary(rng) for _ in ATTRIBUTES) for _ in range(OTHERS)]
    columns = [list(column) for column in zip(*one, strict=True)]
    for place, column in enumerate(columns):
        if place in OPENED:
            continue
        apart = [row for row in range(2 * PAIRS) if _apart(column[row - row % 2 : row + 2][:2])]
        moved = [column[row] for row in apart]
        for row, value in zip(apart, moved[2:] + moved[:2], strict=True):
            column[row] = value
        letters = "abcdefghijklmnopqrstuvwxyz"
        other = str.maketrans(letters, "".join(rng.sample(letters, len(letters))))
        columns[place] = [value.translate(other) for value in column]
    return one, list(zip(*columns, strict=True))


def _apart(values: Sequence[str]) -> bool:
    return sum(one == two for one, two in zip(*values, strict=True)) < LETTERS / 3


def session(server: Server, rows: Rows) -> list[str]:
    """What a scripted worker and then everybody else is answered, without what is random."""
    people: list[dict[str, Any]] = [{"name": name, "roles": [name]} for name in ROLES]
    people.append({"name": "wanda", "roles": ["worker"]})
    for number, each in enumerate(people):  # pages list people in this order
        each["fields"] = {"pseudonym": f"w{number:08}"}
    pairs = [(2 * pair, 2 * pair + 1) for pair in range(PAIRS)]
    jobs = [
        project(ATTRIBUTES, rows, pairs, {"wanda": range(PAIRS)}, **each, fields={"page_size": 5})
        for each in PROJECTS
    ]
    made = server.make({"accounts": people, "projects": jobs})
    everybody = {
        name: Caller(server.port, session, keep=True) for name, session in made["sessions"].items()
    }
    random_parts = {}
    for number, one in enumerate(made["projects"]):
        address, tokens = f"/projects/{one['id']}", one["tokens"]["wanda"]
        _work(everybody["wanda"], f"{address}/pairs", tokens)
        for name in ROLES:
            for path in ("/", "/projects", f"{address}/", f"{address}/grants", "/audit"):
                everybody[name].get(path)
        random_parts |= {one["id"]: f"PROJECT{number}", one["id"][:8]: f"PROJECT{number}"}
        random_parts |= {token: f"TOKEN{place}" for place, token in enumerate(tokens)}
    for caller in everybody.values():
        caller.close()
    return [_plain(reply, random_parts) for each in everybody.values() for reply in each.replies]


def _work(worker: Caller, address: str, tokens: Sequence[str]) -> None:
    rng = random.Random(4)
    for page in (1, 2, 3):
        worker.get(f"{address}?page={page}")
    for _ in range(60):
        token = rng.choice(tokens)
        places = rng.choice([[0], [4], [0, 4]])
        mode = rng.choice([1, 2, 2])
        opening = f"{','.join(map(str, places))}:{mode}"
        worker.post(f"{address}/{token}/open", {"open": opening})
        verb = rng.choice(["decide", "withdraw", "skip", "flag", "unflag", "note"])
        worker.post(f"{address}/{token}/{verb}", {"answer": rng.choice([-3, 2]), "note": "n"})
    worker.get(f"{address}?page=2")
    worker.get(f"{address}/{tokens[3]}", script=True)


_SECRETS = (
    (r'csrfmiddlewaretoken\\?" value=\\?"\w+', "CSRF"),
    (r"sessionid=\w+", "SESSION"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?", "TIME"),
    (r"\d{4}-\d\d-\d\d", "DAY"),
    (r"\d{1,2}:\d\d(:\d\d)?", "TIME"),
    (r"\b[0-9a-f]{64}\b", "DIGEST"),
)


def _plain(reply: Reply, random_parts: dict[str, str]) -> str:
    headers = {name: value for name, value in reply.headers if name not in ("Date", "Set-Cookie")}
    # The order of the directives is that of a set.
    policy = headers.get("Content-Security-Policy", "")
    headers["Content-Security-Policy"] = "; ".join(sorted(policy.split("; ")))
    content = reply.text
    if "Progress and disclosure" in content:  # the manager's plots are over time
        content = re.sub(r"<svg.*?</svg>|>\s*[\d.]+ s\b", "PLOT", content, flags=re.DOTALL)
        headers.pop("Content-Length", None)
    text = f"{reply.status}\n{sorted(headers.items())}\n{content}"
    for part, name in random_parts.items():
        text = text.replace(part, name)
    for pattern, name in _SECRETS:
        text = re.sub(pattern, name, text)
    return text


@pytest.mark.slow
def test_what_nobody_paid_for_changes_no_byte(tmp_path: Path) -> None:
    tables = data(random.Random(17))
    changed = [one != two for one, two in zip(*map(_columns, tables), strict=True)]
    assert changed == [place not in OPENED for place in range(len(ATTRIBUTES))]
    servers = running(tmp_path / "one"), running(tmp_path / "two")
    with servers[0] as one, servers[1] as two, ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(session, (one, two), tables))
    assert len(answers[0]) > 250
    assert sum('class=\\"open' in text or 'class="open' in text for text in answers[0]) > 40
    for number, (left, right) in enumerate(zip(*answers, strict=True)):
        assert left == right, f"answer {number}"


def _columns(rows: Rows) -> list[tuple[str, ...]]:
    return list(zip(*rows, strict=True))
