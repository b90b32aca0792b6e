"""A worker at a real browser: clicks, keys, lost connections, and no script at all."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import missing
from patience import PATIENCE
from server.browsers import launched
from server.clinic import Browser, account, review_project, stored
from waitress.server import create_server

from sfumato.core.phrases import Typed
from sfumato.review.review_decisions import Answer
from sfumato.server.config import ServerConfig

pytestmark = pytest.mark.slow

try:
    from playwright import sync_api
except ImportError:
    sync_api = None


class Line:
    """What lies between the browser and the server: it delays answers, or fails."""

    def __init__(self) -> None:
        self.delay = 0.0
        self.status = ""
        self.application: Callable[..., Iterable[bytes]] | None = None
        self._busy = 0
        self._free = threading.Condition()

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        assert self.application is not None
        with self._free:
            self._busy += 1
        try:
            if environ["REQUEST_METHOD"] == "POST":
                time.sleep(self.delay)
                if self.status:
                    start_response(self.status, [("Content-Type", "text/html")])
                    return [b"<h1>The proxy's own page</h1>"]
            return self.application(environ, start_response)
        finally:
            with self._free:
                self._busy -= 1
                self._free.notify_all()

    def wait_free(self) -> None:
        """Wait until no request is under way."""
        with self._free:
            assert self._free.wait_for(lambda: not self._busy, PATIENCE)


LINE = Line()


@pytest.fixture
def line() -> Iterator[Line]:
    """The line to the server, for as long as the test takes."""
    yield LINE
    LINE.delay, LINE.status = 0.0, ""


@pytest.fixture(scope="module")
def address(server: ServerConfig) -> Iterator[str]:
    """Where the server of this process listens."""
    from django.core.wsgi import get_wsgi_application

    LINE.application = get_wsgi_application()
    listening = create_server(LINE, host="127.0.0.1", port=0, threads=4)
    thread = threading.Thread(target=listening.run, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listening.effective_port}"
    listening.close()


@pytest.fixture(scope="module")
def chrome(chromium: Path) -> Iterator[Any]:
    """A browser."""
    if sync_api is None:
        missing("no playwright; install the dependency group 'test'")
    sync_api.expect.set_options(timeout=1000 * PATIENCE)
    with launched(chromium) as browser:
        yield browser


def screen(chrome: Any, **options: Any) -> Any:
    """A context of the browser's, as large as the screen of a desk."""
    context = chrome.new_context(viewport={"width": 1280, "height": 900}, **options)
    context.set_default_timeout(1000 * PATIENCE)
    return context


@pytest.fixture(scope="module")
def context(chrome: Any, address: str) -> Iterator[Any]:
    """One for all tests that need none of their own; a page stays open, and with it its process."""
    context = screen(chrome)
    context.new_page().goto(f"{address}/login")
    yield context
    context.close()


SEVERAL = """document.addEventListener("DOMContentLoaded", () => {
    const single = document.getElementById("single");
    if (single) single.checked = false;
});"""


class Desk:
    """A project on a worker's screen, on a page of its own; all pairs of it are shown."""

    def __init__(
        self, context: Any, address: str, page_size: int = 4, *, single: bool = False
    ) -> None:
        self.project, self.worker = stored(review_project(budget=0.9), page_size=page_size)
        self.context = context
        self.address = address
        self.log_in()
        self.page = self.context.new_page()
        if not single:
            self.page.add_init_script(SEVERAL)
        self.faults: list[str] = []
        self.received: list[bytes] = []
        self.sent: list[str] = []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("request", lambda each: self.sent.append(f"{each.method} {each.url}"))
        self.page.on("console", lambda each: self.faults.append(each.text))
        self.page.goto(f"{address}/projects/{self.project.id}/pairs")

    def close(self) -> None:
        """Leave nothing to the next desk in the same context."""
        self.page.close()
        # What is answered later would write into the database of the next test.
        LINE.wait_free()
        self.context.set_offline(False)
        self.context.clear_cookies()

    def log_in(self) -> None:
        """Log in, beside the page."""
        self.client = Browser(self.worker, self.project).client
        session = self.client.cookies["sessionid"].value
        cookie = {"name": "sessionid", "value": session, "url": self.address}
        self.context.add_cookies([cookie])

    def keys(self, keys: str, every: int = 200) -> None:
        """Press keys, one after so many milliseconds."""
        for key in keys:
            self.page.keyboard.press(key)
            self.page.wait_for_timeout(every)

    def answers(self) -> list[int]:
        """The decision on each pair in the database, in their order; 0 where there is none."""
        from sfumato.server.store.models import Dealt

        dealt = Dealt.objects.filter(project=self.project).order_by("place")
        return list(dealt.values_list("answer", flat=True))

    def events(self) -> list[tuple[int, str, int]]:
        """What was done: place of the pair from 1, what, and the decision; in order."""
        from sfumato.server.store.models import DecisionEvent

        found = DecisionEvent.objects.filter(dealt__project=self.project).order_by("pk")
        return [
            (place + 1, kind, answer)
            for place, kind, answer in found.values_list("dealt__place", "kind", "answer")
        ]

    def saved(self) -> None:
        """Wait until nothing is left to be saved."""
        sync_api.expect(self.page.locator(".pair.unsaved")).to_have_count(0)

    def unsaved(self) -> list[str]:
        """What the page says is not saved."""
        return self.page.locator("#unsent li > span").all_inner_texts()

    def stopped(self, why: str) -> None:
        """Wait until the page says that it cannot save, and why."""
        sync_api.expect(self.page.locator("#unsent")).to_be_visible()
        sync_api.expect(self.page.locator("#unsent .why")).to_contain_text(why)

    def focused(self) -> str:
        """The pair in which the focus is."""
        script = "(document.activeElement.closest('.pair') || document.body).ariaLabel || ''"
        return str(self.page.evaluate(script))

    def pair(self, number: int) -> Any:
        return self.page.locator(".pair").nth(number)

    def cover(self, pair: int, column: int) -> Any:
        return self.pair(pair).locator(".column").nth(column).locator(".cover")

    def says(self, text: str) -> None:
        sync_api.expect(self.page.locator("#said")).to_contain_text(text)

    def posts(self) -> list[str]:
        return [each for each in self.sent if each.startswith("POST")]


@pytest.fixture
def desk(context: Any, address: str) -> Iterator[Desk]:
    found = Desk(context, address)
    yield found
    found.close()
    assert found.faults == []


def test_a_click_opens_a_cell_with_one_request(desk: Desk) -> None:
    from sfumato.server.store.models import Allowance

    desk.cover(0, 1).hover()
    costs = desk.pair(0).locator(".column").nth(1).locator(".costs")
    number = costs.locator(".kapr").first
    sync_api.expect(costs).to_contain_text("% of what is left")
    sync_api.expect(number).to_be_hidden()
    desk.page.locator("#numbers").check()
    desk.cover(0, 1).hover()
    sync_api.expect(number).to_be_visible()
    preview = desk.page.locator("rect.preview")
    assert float(preview.get_attribute("width")) > 0
    desk.cover(0, 1).dblclick()
    desk.says("Pair 1: opened. Budget spent: ")
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


def test_one_pair_at_a_time(context: Any, address: str) -> None:
    desk = Desk(context, address, single=True)
    seen = "[...document.querySelectorAll('.pair')].filter(each => each.offsetParent)"
    shown = f"{seen}.map(each => each.ariaLabel)"
    assert desk.page.evaluate(shown) == ["Pair 1"]
    desk.page.keyboard.press("6")
    desk.page.wait_for_function(f"({shown}).join() === 'Pair 2'")
    for which, there in (("-1", "Pair 1"), ("1", "Pair 2"), ("1", "Pair 3")):
        desk.page.locator(f"[data-step='{which}']").click()
        assert desk.page.evaluate(shown) == [there]
    # A key after an undo is about the pair that is seen again.
    desk.page.keyboard.press("u")
    desk.says("Pair 1: Not decided")
    assert desk.page.evaluate(shown) == ["Pair 1"]
    desk.page.locator("#single").uncheck()
    assert len(desk.page.evaluate(shown)) == 4
    desk.saved()
    assert desk.faults == []
    desk.close()


@pytest.mark.parametrize("title", ["\u202eabc", "\u2067abc", "שלום", "\u2069\u202eabc", "x" * 300])
def test_a_title_turns_nothing_around_it(context: Any, title: str) -> None:
    page = context.new_page()
    page.set_content(f"<body style='width: 9000px'><b>A: {Typed(title).__html__()}: 12</b></body>")
    places = page.evaluate(
        """() => {
            const text = document.querySelector("b").firstChild, end = text.length;
            return [[0, 1], [end - 2, end - 1], [end - 1, end]].map(([from, to]) => {
                const range = document.createRange();
                range.setStart(text, from);
                range.setEnd(text, to);
                return range.getBoundingClientRect().left;
            });
        }"""
    )
    assert places == sorted(places)
    page.close()


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


def test_what_was_done_before_the_connection_was_lost_is_done_once(
    context: Any, address: str
) -> None:
    from sfumato.server.store.models import Allowance, AuditEntry

    desk = Desk(context, address)
    charged: list[int] = []

    def lose_the_answer(route: Any) -> None:
        route.fetch()
        charged.append(Allowance.objects.get().units)
        route.abort()

    desk.page.route("**/open", lose_the_answer, times=1)
    desk.cover(0, 1).click()
    desk.says("Pair 1: opened")
    assert charged == [Allowance.objects.get().units]
    assert charged[0] > 0
    assert AuditEntry.objects.filter(action="open").count() == 1
    assert desk.pair(0).locator(".column").nth(1).locator(".seen").first.inner_text() == "Keller"
    desk.close()


DIFFERENT, SAME = int(Answer.DIFFERENT_HIGH), int(Answer.SAME_HIGH)
"""What the keys 1 and 6 say."""


@pytest.fixture
def long(context: Any, address: str, line: Line) -> Iterator[Desk]:
    """All six pairs on one page, on a slow line."""
    line.delay = 0.25
    found = Desk(context, address, page_size=6)
    yield found
    found.close()


def test_keys_that_overtake_the_answers_land_one_after_the_other(long: Desk) -> None:
    long.keys("616161")
    long.saved()
    assert long.answers() == [SAME, DIFFERENT] * 3
    assert [place for place, _, _ in long.events()] == [1, 2, 3, 4, 5, 6]
    assert long.faults == []


def test_keys_behind_the_last_pair_decide_nothing(long: Desk) -> None:
    long.keys("66666611")
    long.says("All pairs are done")
    long.saved()
    assert long.answers() == [SAME] * 6
    assert len(long.events()) == 6
    long.keys("p")
    assert long.focused() == "Pair 6"
    long.keys("1")
    long.saved()
    assert long.answers()[4:] == [SAME, DIFFERENT]


def test_what_is_undone_is_what_was_decided_last(long: Desk) -> None:
    long.keys("6u1", every=60)
    long.saved()
    assert [each[:2] for each in long.events()] == [
        (1, "decided"),
        (1, "withdrawn"),
        (2, "decided"),
    ]
    assert long.answers()[:2] == [0, DIFFERENT]


def test_an_answer_that_is_given_again_at_once_holds(long: Desk) -> None:
    choices = long.pair(0).locator(".choice")
    choices.nth(0).click()
    choices.nth(5).click()
    choices.nth(5).click()
    long.saved()
    assert [each[2] for each in long.events()] == [
        DIFFERENT,
        SAME,
    ]


def test_a_key_that_is_held_down_is_pressed_once(long: Desk) -> None:
    keys = long.page.keyboard
    for _ in range(4):
        keys.down("6")
    keys.up("6")
    keys.press("ArrowRight")
    for _ in range(3):
        keys.down("Enter")
    keys.up("Enter")
    long.saved()
    assert len(long.events()) == 1
    assert len([each for each in long.posts() if each.endswith("/open")]) == 1


def test_what_is_opened_is_charged_to_the_pair_that_was_on_screen(long: Desk) -> None:
    from sfumato.server.store.models import Dealt

    keys = long.page.keyboard
    long.cover(1, 4).focus()
    keys.press("Enter")
    keys.press("6")
    keys.press("n")
    long.saved()
    shown = Dealt.objects.filter(project=long.project).order_by("place")
    assert [each.modes.strip("0") != "" for each in shown] == [False, True, *[False] * 4]
    assert [place for place, _, _ in long.events()] == [2]


@pytest.mark.parametrize("how", ["double click", "in between"])
def test_a_double_click_opens_once(desk: Desk, how: str) -> None:
    at = desk.cover(1, 1).bounding_box()
    middle = at["x"] + at["width"] / 2, at["y"] + at["height"] / 2
    if how == "double click":
        desk.page.mouse.dblclick(*middle)
    else:  # the answer is there between the two, and with it the next opening
        desk.page.mouse.click(*middle)
        desk.says("Pair 2: opened")
        desk.page.mouse.down(click_count=2)
        desk.page.mouse.up(click_count=2)
    desk.says("Pair 2: opened")
    desk.saved()
    assert len(desk.posts()) == 1
    desk.pair(2).locator(".choice").nth(1).click()
    desk.says("Pair 3: Different")
    desk.pair(2).get_by_text("Undo").dblclick()  # "Skip" stands there afterwards
    desk.says("Pair 3: Not decided")
    desk.saved()
    assert [kind for _, kind, _ in desk.events()] == ["decided", "withdrawn"]


def test_what_is_typed_into_a_note_stays_there_when_an_answer_comes(long: Desk) -> None:
    first = long.pair(0)
    first.get_by_text("Flag").click()
    first.locator(".note summary").click()
    first.locator("textarea").focus()
    long.keys("1 or 6?", every=80)
    long.says("Pair 1: flagged")
    long.saved()
    long.page.keyboard.type(" f")
    assert first.locator("textarea").input_value() == "1 or 6? f"
    assert long.answers() == [0] * 6
    first.get_by_role("button", name="Save the note").click()
    long.says("the note is saved")


def test_the_next_page_waits_for_what_is_not_saved(context: Any, address: str, line: Line) -> None:
    line.delay = 0.25
    desk = Desk(context, address)
    dialogs: list[str] = []
    desk.page.on("dialog", lambda each: (dialogs.append(each.type), each.accept()))
    desk.keys("1616n6", every=30)  # the last key is about nothing that is on screen
    desk.page.wait_for_url("**?page=2")
    assert desk.answers() == [DIFFERENT, SAME, DIFFERENT, SAME, 0, 0]
    assert dialogs == []
    desk.keys("6")
    desk.page.get_by_role("link", name="Previous").first.click()
    desk.page.wait_for_url("**?page=1")
    assert desk.answers()[4:] == [SAME, 0]
    assert dialogs == []
    desk.close()


def test_without_a_connection_nothing_is_dropped(long: Desk) -> None:
    long.context.set_offline(True)
    long.keys("616", every=50)
    long.stopped("The server cannot be reached")
    assert long.unsaved() == [
        "Pair 1: Same, high confidence",
        "Pair 2: Different, high confidence",
        "Pair 3: Same, high confidence",
    ]
    sync_api.expect(long.pair(1).locator(".state")).to_contain_text("not saved")
    long.keys("1", every=50)
    assert long.unsaved()[3:] == ["Pair 4: Different, high confidence"]
    assert long.answers() == [0] * 6
    dialogs: list[str] = []
    long.page.on("dialog", lambda each: (dialogs.append(each.type), each.dismiss()))
    long.page.get_by_role("link", name="Projects").click(no_wait_after=True)
    long.page.wait_for_timeout(300)
    assert dialogs == ["beforeunload"]
    assert len(long.unsaved()) == 4
    axe_finds_nothing(long.page, 1280, 390)
    long.context.set_offline(False)
    long.saved()
    assert long.answers() == [SAME, DIFFERENT, SAME, DIFFERENT, 0, 0]
    assert [place for place, _, _ in long.events()] == [1, 2, 3, 4]
    sync_api.expect(long.page.locator("#unsent")).to_be_hidden()


@pytest.mark.parametrize("status", ["502 Bad Gateway", "500 Internal Server Error"])
def test_what_a_failing_server_did_not_save_can_be_sent_again(
    long: Desk, line: Line, status: str
) -> None:
    line.status = status
    long.keys("61", every=50)
    long.stopped("The server cannot answer")
    assert len(long.unsaved()) == 2
    line.status = ""
    long.page.get_by_role("button", name="Try again").click()
    long.saved()
    assert long.answers()[:2] == [SAME, DIFFERENT]
    sync_api.expect(long.page.locator("#unsent")).to_be_hidden()


def test_a_database_that_is_away_for_a_moment_is_waited_for(long: Desk, line: Line) -> None:
    line.status = "503 Service Unavailable"
    long.keys("61", every=50)
    long.page.wait_for_timeout(2500)  # longer than a lost connection is waited for
    sync_api.expect(long.page.locator("#unsent")).to_be_hidden()
    assert long.answers() == [0] * 6
    line.status = ""
    long.saved()
    assert long.answers()[:2] == [SAME, DIFFERENT]
    assert [place for place, _, _ in long.events()] == [1, 2]


def test_an_ended_session_says_what_it_did_not_save(long: Desk) -> None:
    long.client.logout()
    long.keys("61", every=50)
    long.stopped("You are logged out")
    assert len(long.unsaved()) == 2
    assert long.page.url.endswith("/pairs")
    link = long.page.locator("#unsent a")
    assert link.get_attribute("target") == "_blank"
    long.log_in()
    long.page.get_by_role("button", name="Try again").click()
    long.saved()
    assert long.answers()[:2] == [SAME, DIFFERENT]


def test_a_login_page_in_place_of_an_answer_is_none(long: Desk) -> None:
    login = f"{long.address}/login"
    long.page.route(
        "**/decide", lambda route: route.fulfill(status=302, headers={"location": login})
    )
    long.keys("6")
    long.stopped("You are logged out")
    assert long.unsaved() == ["Pair 1: Same, high confidence"]
    long.page.unroute("**/decide")
    long.page.get_by_role("button", name="Try again").click()
    long.saved()
    assert long.answers()[0] == SAME


def test_nobody_else_sends_what_was_not_saved(long: Desk) -> None:
    """Who logs in on the same machine has other pairs: an answer names its own."""
    from server.dealt import deal

    long.client.logout()
    long.keys("6", every=50)
    long.stopped("You are logged out")
    other, long.worker = long.worker, account("olga", "worker")
    deal(long.project, long.worker, range(6))
    long.log_in()
    long.page.get_by_role("button", name="Try again").click()
    long.stopped("")
    sync_api.expect(long.page.locator("#unsent li")).to_contain_text("no such pair")
    assert long.answers() == [0] * 12
    assert other != long.worker


def test_a_pair_that_was_taken_back_keeps_its_answer_on_the_page(long: Desk) -> None:
    from server.dealt import take_back

    from sfumato.server.store.models import Dealt

    second = Dealt.objects.select_related("pair").get(project=long.project, place=1)
    take_back(long.project, long.worker, [second.pair.number])
    long.keys("616", every=50)
    sync_api.expect(long.page.locator("#unsent li")).to_contain_text("Something changed meanwhile")
    assert long.unsaved() == ["Pair 2: Different, high confidence"]
    sync_api.expect(long.page.locator(".pair.unsaved")).to_have_count(1)
    assert long.answers()[:3] == [SAME, 0, SAME]
    assert [place for place, _, _ in long.events()] == [1, 3]
    long.page.get_by_role("button", name="Discard").click()
    long.saved()
    sync_api.expect(long.page.locator("#unsent")).to_be_hidden()
    sync_api.expect(long.pair(1).locator(".state")).to_have_text("Not decided")
    dialogs: list[str] = []
    long.page.on("dialog", lambda each: (dialogs.append(each.type), each.accept()))
    long.page.get_by_role("link", name="Projects").click()
    long.page.wait_for_url("**/projects")
    assert dialogs == []


def test_it_works_without_script(chrome: Any, address: str) -> None:
    context = screen(chrome, java_script_enabled=False)
    desk = Desk(context, address)
    desk.cover(0, 1).click()
    shown = desk.pair(0).locator(".column").nth(1).locator(".seen").first
    sync_api.expect(shown).to_have_text("Keller")
    desk.pair(0).locator(".choice").nth(0).click()
    sync_api.expect(desk.pair(0).locator(".state")).to_have_text("Different, high confidence")
    desk.pair(1).get_by_text("Skip").click()
    sync_api.expect(desk.pair(1).locator(".state")).to_have_text("Skipped")
    assert desk.faults == []
    context.close()


def test_on_a_touch_screen_the_first_touch_shows_the_cost(chrome: Any, address: str) -> None:
    context = screen(chrome, has_touch=True, is_mobile=True)
    desk = Desk(context, address)
    costs = desk.pair(0).locator(".column").nth(1).locator(".costs")
    desk.cover(0, 1).tap()
    sync_api.expect(costs).to_be_visible()
    assert desk.posts() == []
    desk.cover(0, 1).tap()
    desk.says("Pair 1: opened")
    assert len(desk.posts()) == 1
    assert desk.faults == []
    context.close()


def axe_finds_nothing(page: Any, *widths: int) -> None:
    try:
        from axe_playwright_python import sync_playwright as axe
    except ImportError:
        missing("no axe; install the dependency group 'test'")
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        response = axe.Axe().run(page).response
        found = response["violations"]
        assert len(response["passes"]) > 15
        assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_axe_finds_nothing(desk: Desk) -> None:
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
    axe_finds_nothing(desk.page, 1280, 820)


def test_nothing_is_wider_than_the_screen(desk: Desk) -> None:
    for width in (1280, 1024, 820):
        desk.page.set_viewport_size({"width": width, "height": 900})
        for column in range(5):
            desk.cover(2, column).hover()
            wide = desk.page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width
