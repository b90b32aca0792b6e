"""Nobody but the browser that brought the token may ask the workbench anything."""

from __future__ import annotations

import re

import pytest
from server.workbench.workbenches import Workbench

from sfumato.server.workbench import local_guard
from sfumato.server.workbench.local_guard import Entrance, Guard, LocalAddress


@pytest.fixture(scope="module")
def cookie(bench: Workbench) -> str:
    """What the browser holds that brought the token."""
    return bench.enter()


def test_the_browser_that_is_in_gets_pages(bench: Workbench, cookie: str) -> None:
    status, headers, body = bench.ask("/data", cookie=cookie)
    assert status == 200
    assert b"birth_year" in body
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["X-Frame-Options"] == "DENY"
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_the_cookie_is_bound_to_the_host(cookie: str, bench: Workbench) -> None:
    assert cookie.startswith("__Host-")


@pytest.mark.parametrize("path", ["/data", "/", "/undo", "/static/sfumato/base.css", "/enter"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_another_host_is_refused_everywhere(
    bench: Workbench, cookie: str, path: str, method: str
) -> None:
    name = bench.host.partition(".")[0]
    for host in (
        f"127.0.0.1:{bench.port}", f"localhost:{bench.port}", f"evil.example:{bench.port}",
        f"{name}.localhost", f"{name}.localhost:{bench.port + 1}", f"x.{bench.host}", "",
    ):  # fmt: skip
        status, _, body = bench.ask(path, method, cookie=cookie, host=host)
        assert status in (400, 421), host
        assert b"birth_year" not in body


@pytest.mark.parametrize("path", ["/undo", "/data/0/role", "/enter", "/window", "/run"])
def test_a_form_from_elsewhere_is_refused(bench: Workbench, cookie: str, path: str) -> None:
    for origin in (
        None, "null", "", "http://evil.example", f"http://127.0.0.1:{bench.port}",
        bench.origin.replace(str(bench.port), str(bench.port + 1)),
        bench.origin.replace("http:", "https:"),
    ):  # fmt: skip
        assert bench.ask(path, "POST", cookie=cookie, origin=origin)[0] == 403, origin


@pytest.mark.parametrize("site", [None, "cross-site", "same-site", ""])
def test_a_request_of_another_page_is_refused(
    bench: Workbench, cookie: str, site: str | None
) -> None:
    assert bench.ask("/data", cookie=cookie, sec_fetch_site=site)[0] == 403
    assert bench.ask("/undo", "POST", cookie=cookie, sec_fetch_site=site)[0] == 403


def test_an_image_or_a_frame_does_not_open_the_entrance(bench: Workbench) -> None:
    elsewhere = {"sec_fetch_site": "cross-site"}
    assert bench.ask("/enter", **elsewhere)[0] == 200
    for destination in ("image", "iframe", "script", "empty"):
        assert bench.ask("/enter", **elsewhere, sec_fetch_dest=destination)[0] == 403
    assert bench.ask("/enter", **elsewhere, sec_fetch_mode="no-cors")[0] == 403


def test_without_the_cookie_nothing_is_told(bench: Workbench, cookie: str) -> None:
    for held in (None, "", "__Host-sfumato=", "__Host-sfumato=x", cookie.replace("Host", "host")):
        for path in ("/", "/data", "/no-such-page", "/start"):
            status, _, body = bench.ask(path, cookie=held)
            assert status == 401
            assert b"<" not in body
        assert bench.ask("/undo", "POST", cookie=held)[0] == 401


def test_a_token_is_used_once(bench: Workbench, cookie: str) -> None:
    assert bench.ask("/enter", "POST", f"token={bench.token}")[0] == 401
    assert bench.ask("/enter", "POST", "token=")[0] == 401
    assert bench.ask("/enter", "POST", "token=" + "x" * 5000)[0] == 413


def test_a_token_is_old_after_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(local_guard.time, "monotonic", lambda: now[0])
    entrance = Entrance()
    early, late = entrance.token(), entrance.token()
    now[0] += 59.9
    assert entrance.admit(early)
    now[0] += 0.2
    assert entrance.admit(late) is None


def test_a_cookie_of_other_letters_is_refused(bench: Workbench, cookie: str) -> None:
    name = cookie.partition("=")[0]
    assert bench.ask("/data", cookie=f"{name}=\xe9\xff")[0] == 401


@pytest.mark.parametrize(
    ("asked", "counts"),
    [
        ({"PATH_INFO": "/data"}, True),
        ({"PATH_INFO": "/data", "HTTP_HX_REQUEST": "true", "HTTP_HX_BOOSTED": "true"}, True),
        ({"PATH_INFO": "/release/dots", "HTTP_HX_REQUEST": "true"}, False),
        ({"PATH_INFO": "/undo", "REQUEST_METHOD": "POST"}, True),
        ({"PATH_INFO": "/window", "REQUEST_METHOD": "POST"}, False),
    ],
)
def test_only_clicks_count_as_use(asked: dict[str, str], counts: bool) -> None:
    address, entrance, seen = LocalAddress(80), Entrance(), list[None]()
    guard = Guard(lambda _environ, _start: [], address, entrance, lambda: seen.append(None))
    secret = entrance.admit(entrance.token())
    guard(
        {
            "REQUEST_METHOD": "GET", "HTTP_HOST": address.host, "HTTP_ORIGIN": address.origin,
            "HTTP_COOKIE": f"{local_guard.COOKIE}={secret}", "HTTP_SEC_FETCH_SITE": "same-origin",
            **asked,
        },
        lambda *_answer: None,
    )  # fmt: skip
    assert len(seen) == counts


def test_other_methods_are_refused(bench: Workbench, cookie: str) -> None:
    for method in ("PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"):
        assert bench.ask("/data", method, cookie=cookie)[0] == 405


def test_each_start_has_a_name_of_its_own(bench: Workbench) -> None:
    assert re.fullmatch(r"[a-z]{16}\.localhost:\d+", bench.host)
    assert len({local_guard.LocalAddress(1).name for _ in range(100)}) == 100


def test_nothing_is_logged_of_what_is_asked(bench: Workbench, cookie: str) -> None:
    bench.ask("/data?birth=a-canary", cookie=cookie, referer="http://evil.example/a-canary")
    said = bench.said.read_bytes()
    assert b"a-canary" not in said
    assert said.count(b"\n") == 3, said
