"""A worker at a real browser: clicks, keys, lost connections, and no script at all."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import missing
from patience import PATIENCE
from server.clinic import Browser, review_project, stored
from waitress.server import create_server

from sfumato.server.config import ServerConfig

try:
    from playwright import sync_api
except ImportError:
    sync_api = None


@pytest.fixture(scope="module")
def address(server: ServerConfig) -> Iterator[str]:
    """Where the server of this process listens."""
    from django.core.wsgi import get_wsgi_application

    listening = create_server(get_wsgi_application(), host="127.0.0.1", port=0, threads=4)
    thread = threading.Thread(target=listening.run, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listening.effective_port}"
    listening.close()


@pytest.fixture(scope="module")
def chrome(chromium: Path) -> Iterator[Any]:
    """A browser."""
    if sync_api is None:
        missing("no playwright; install the dependency group 'test'")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(chromium), args=["--no-sandbox", "--disable-gpu"]
        )
        sync_api.expect.set_options(timeout=1000 * PATIENCE)
        yield browser
        browser.close()


class Desk:
    """A project on a worker's screen."""

    def __init__(self, chrome: Any, address: str, **options: Any) -> None:
        self.project, self.worker = stored(review_project(budget=0.9), page_size=4)
        session = Browser(self.worker, self.project).client.cookies["sessionid"].value
        self.context = chrome.new_context(viewport={"width": 1280, "height": 900}, **options)
        self.context.set_default_timeout(1000 * PATIENCE)
        cookie = {"name": "sessionid", "value": session, "url": address}
        self.context.add_cookies([cookie])
        self.page = self.context.new_page()
        self.faults: list[str] = []
        self.received: list[bytes] = []
        self.sent: list[str] = []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("request", lambda each: self.sent.append(f"{each.method} {each.url}"))
        self.page.on("console", lambda each: self.faults.append(each.text))
        self.page.goto(f"{address}/projects/{self.project.id}/pairs")

    def pair(self, number: int) -> Any:
        return self.page.locator(".pair").nth(number)

    def cover(self, pair: int, column: int) -> Any:
        return self.pair(pair).locator(".column").nth(column).locator(".cover")

    def says(self, text: str) -> None:
        sync_api.expect(self.page.locator("#said")).to_contain_text(text)

    def posts(self) -> list[str]:
        return [each for each in self.sent if each.startswith("POST")]


@pytest.fixture
def desk(chrome: Any, address: str) -> Iterator[Desk]:
    found = Desk(chrome, address)
    yield found
    found.context.close()
    assert found.faults == []


def test_a_click_opens_a_cell_with_one_request(desk: Desk) -> None:
    from sfumato.server.store.models import Allowance

    desk.cover(0, 1).hover()
    costs = desk.pair(0).locator(".column").nth(1).locator(".costs")
    sync_api.expect(costs).to_contain_text("In full: at most 0.")
    preview = desk.page.locator("rect.preview")
    assert float(preview.get_attribute("width")) > 0
    desk.cover(0, 1).dblclick()
    desk.says("Pair 1: opened. KAPR spent: 0.")
    assert desk.pair(0).locator(".column").nth(1).locator(".seen").all_inner_texts() == [
        "Keller",
        "Keller",
    ]
    assert len(desk.posts()) == 1
    assert Allowance.objects.get().units > 0
    stores = "[localStorage.length, sessionStorage.length, document.cookie.length]"
    assert desk.page.evaluate(stores) == [0, 0, 0]


def test_everything_by_keyboard(desk: Desk) -> None:
    keys = desk.page.keyboard
    keys.press("n")
    keys.press("ArrowRight")
    keys.press("Enter")
    desk.says("Pair 1: opened")
    focused = "document.activeElement.closest('.pair').getAttribute('aria-label')"
    keys.press("ArrowDown")
    assert desk.page.evaluate(focused) == "Pair 2"
    keys.press("p")
    assert desk.page.evaluate(focused) == "Pair 1"
    keys.press("6")
    desk.says("Pair 1: Same, high confidence")
    desk.page.wait_for_function(f"{focused} === 'Pair 2'")
    keys.press("u")
    desk.says("Pair 1: Not decided")
    keys.press("s")
    desk.says("Pair 2: Skipped")
    desk.page.wait_for_function(f"{focused} === 'Pair 3'")
    keys.press("f")
    desk.says("Pair 3: flagged")
    keys.press("?")
    assert desk.page.locator("#help").evaluate("each => each.open")
    keys.press("Tab")
    desk.page.locator("#keys").uncheck()
    desk.cover(3, 0).focus()
    keys.press("1")
    keys.press("ArrowRight")
    assert desk.pair(3).locator("[aria-pressed=true]").count() == 0


def test_tab_reaches_every_opening(desk: Desk) -> None:
    desk.cover(0, 0).focus()
    at = "document.activeElement.value.slice(0, 3)"
    reached = []
    for _ in range(6):
        reached.append(desk.page.evaluate(at))
        desk.page.keyboard.press("Tab")
    assert reached == ["0:1", "0:2", "1:2", "2:1", "2:2", "3:2"]
    for _ in range(4):
        desk.page.keyboard.press("Shift+Tab")
    assert desk.page.evaluate(at) == "0:1"
    desk.page.keyboard.press("Tab")
    desk.page.keyboard.press("Enter")
    desk.says("Pair 1: opened")
    assert desk.pair(0).locator(".column").first.locator(".seen").first.inner_text() == "Anna"


def test_after_a_lost_connection_the_pair_shows_as_it_stands(chrome: Any, address: str) -> None:
    from sfumato.server.store.models import Allowance

    desk = Desk(chrome, address)
    desk.page.route("**/open", lambda route: (route.fetch(), route.abort()))
    desk.cover(0, 1).click()
    desk.says("This is how the pair stands now")
    units = Allowance.objects.get().units
    assert units > 0
    assert desk.pair(0).locator(".column").nth(1).locator(".seen").first.inner_text() == "Keller"
    assert len(desk.posts()) == 1
    desk.context.close()


def test_it_works_without_script(chrome: Any, address: str) -> None:
    desk = Desk(chrome, address, java_script_enabled=False)
    desk.cover(0, 1).click()
    shown = desk.pair(0).locator(".column").nth(1).locator(".seen").first
    sync_api.expect(shown).to_have_text("Keller")
    desk.pair(0).locator(".choice").nth(0).click()
    sync_api.expect(desk.pair(0).locator(".state")).to_have_text("Different, high confidence")
    desk.pair(1).get_by_text("Skip").click()
    sync_api.expect(desk.pair(1).locator(".state")).to_have_text("Skipped")
    assert desk.faults == []
    desk.context.close()


def test_on_a_touch_screen_the_first_touch_shows_the_cost(chrome: Any, address: str) -> None:
    desk = Desk(chrome, address, has_touch=True, is_mobile=True)
    costs = desk.pair(0).locator(".column").nth(1).locator(".costs")
    desk.cover(0, 1).tap()
    sync_api.expect(costs).to_be_visible()
    assert desk.posts() == []
    desk.cover(0, 1).tap()
    desk.says("Pair 1: opened")
    assert len(desk.posts()) == 1
    assert desk.faults == []
    desk.context.close()


def test_axe_finds_nothing(desk: Desk) -> None:
    try:
        from axe_playwright_python import sync_playwright as axe
    except ImportError:
        missing("no axe; install the dependency group 'test'")
    desk.cover(0, 1).click()
    desk.says("Pair 1: opened")
    desk.pair(0).locator(".choice").nth(5).click()
    desk.says("Pair 1: Same")
    desk.pair(1).get_by_text("Skip").click()
    desk.says("Pair 2: Skipped")
    desk.pair(2).get_by_text("Flag").click()
    desk.says("Pair 3: flagged")
    desk.page.locator("#help summary").click()
    desk.pair(3).locator(".note summary").click()
    desk.page.keyboard.press("Escape")
    desk.cover(3, 0).focus()
    for width in (1280, 820):
        desk.page.set_viewport_size({"width": width, "height": 900})
        response = axe.Axe().run(desk.page).response
        found = response["violations"]
        assert len(response["passes"]) > 15
        assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found] == []


def test_nothing_is_wider_than_the_screen(desk: Desk) -> None:
    for width in (1280, 1024, 820):
        desk.page.set_viewport_size({"width": width, "height": 900})
        for column in range(5):
            desk.cover(2, column).hover()
            wide = desk.page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width
