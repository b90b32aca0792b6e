"""`sfumato serve --demo`: a newcomer's first minutes, at a real browser."""

from __future__ import annotations

import re
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from conftest import missing
from patience import PATIENCE
from server.browsers import launched, log_in
from server.test_serve import Serving, _serving

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    pytest.importorskip("splink")
    with _serving(tmp_path_factory.mktemp("demo"), "--demo", whole=False) as server:
        yield server


@pytest.fixture(scope="module")
def passwords(demo: Serving) -> dict[str, str]:
    found = re.findall(
        r"^  (\w+) +([a-z0-9]{5}(?:-[a-z0-9]{5}){2})$", demo.out.read_text(), re.MULTILINE
    )
    return dict(found)


def test_every_role_has_an_account(passwords: dict[str, str]) -> None:
    assert set(passwords) == {
        "custodian", "manager", "auditor", "worker1", "worker2", "worker3",
    }  # fmt: skip
    assert len(set(passwords.values())) == 6


@pytest.fixture(scope="module")
def chrome(chromium: Path) -> Iterator[Any]:
    with launched(chromium) as browser:
        yield browser


def _page(chrome: Any, **options: Any) -> Any:
    page = chrome.new_context(**options).new_page()
    page.set_default_timeout(1000 * PATIENCE)
    return page


def _at(chrome: Any, demo: Serving, name: str, passwords: dict[str, str]) -> Any:
    page = _page(chrome, viewport={"width": 1280, "height": 800})
    log_in(page, f"http://127.0.0.1:{demo.port}", name, passwords[name])
    return page


def test_a_worker_is_at_work_after_one_page(
    chrome: Any, demo: Serving, passwords: dict[str, str]
) -> None:
    page = _at(chrome, demo, "worker1", passwords)
    assert page.url.endswith("/pairs")
    cells, refused = page.locator(".cover"), page.locator(".cover[aria-disabled]")
    assert cells.count() > 10
    assert refused.count() == 0, "the rules of the demo leave its pairs workable"
    page.get_by_role("button", name="Log out").click()
    assert page.get_by_role("heading", name="You are logged out").is_visible()
    page.go_back()
    assert "Log in" in page.title()
    assert page.evaluate("localStorage.length + sessionStorage.length") == 0
    cookies = [each["name"].partition("-")[0] for each in page.context.cookies()]
    assert sorted(cookies) == ["csrftoken", "device"], "the browser is known, and nothing else"


def test_an_auditor_begins_in_the_log(
    chrome: Any, demo: Serving, passwords: dict[str, str]
) -> None:
    page = _at(chrome, demo, "auditor", passwords)
    assert page.url.endswith("/audit")
    assert page.get_by_role("cell", name="create project").is_visible()


def test_the_keyboard_alone_is_enough_to_log_in(
    chrome: Any, demo: Serving, passwords: dict[str, str]
) -> None:
    page = _page(chrome)
    page.goto(f"http://127.0.0.1:{demo.port}/login")
    for _ in range(3):  # the link to the content, the name of the site, the first field
        page.keyboard.press("Tab")
    page.keyboard.type("custodian")
    page.keyboard.press("Tab")
    page.keyboard.type(passwords["custodian"])
    page.keyboard.press("Enter")
    page.wait_for_url("**/projects")


PAGES = {
    "nobody": ("login", "link/none"),
    "custodian": (
        "account",
        "account/password",
        "account/second-factor",
        "accounts",
        "accounts/invite",
        "accounts/*",
        "fresh?next=/account",
        "projects/*/grants",
        "projects/*/purge",
    ),
    "auditor": ("audit", "audit/check"),
}


@pytest.mark.parametrize("name", PAGES)
def test_pages_are_for_everybody_and_fit(
    chrome: Any, demo: Serving, passwords: dict[str, str], name: str
) -> None:
    """Axe finds nothing, and nothing is wider than the screen."""
    try:
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        missing("no axe; install the dependency group 'test'")
    page = _page(chrome) if name == "nobody" else _at(chrome, demo, name, passwords)
    known = {}
    with closing(sqlite3.connect(demo.folder / "data" / "sfumato.sqlite3")) as database:
        known["accounts"] = database.execute("SELECT pseudonym FROM account").fetchone()[0]
        known["projects"] = str(UUID(database.execute("SELECT id FROM project").fetchone()[0]))
    for each in PAGES[name]:
        path = each.replace("*", known.get(each.partition("/")[0], ""))
        page.goto(f"http://127.0.0.1:{demo.port}/{path}")
        for width in (1280, 820):
            page.set_viewport_size({"width": width, "height": 900})
            response = Axe().run(page).response
            assert len(response["passes"]) > 10
            found = [
                (fault["id"], [node["html"] for node in fault["nodes"]])
                for fault in response["violations"]
            ]
            assert found == [], path
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    page.context.close()


def test_without_a_folder_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("splink")
    from sfumato.cli.server_commands import _demo_config
    from sfumato.server.config import ServerConfig

    with _demo_config(ServerConfig(Path("x"), Path("y")), named=False, keys=None) as own:
        place = own.data.parent
        assert place.is_dir()
        assert own.keys.parent == place
    assert not place.exists()


def test_a_second_start_keeps_what_was_made(demo: Serving, tmp_path: Path) -> None:
    demo.end(signal.SIGINT)
    with _serving(demo.folder, "--demo", whole=False) as again:
        assert "passwords of the first start" in again.out.read_text()
        again.end()
