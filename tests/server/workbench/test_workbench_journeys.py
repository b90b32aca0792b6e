"""People at the workbench, in Chromium: what they click, and what is in the project file then."""

from __future__ import annotations

import os
import random
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import missing
from patience import wait_until
from server.workbench.conftest import project, visits
from server.workbench.workbenches import Workbench, entered, foreign_page, workbench

from sfumato.pipeline.project_folder import open_project
from sfumato.server.workbench.jobs import LOCK, Jobs, JobState

pytestmark = pytest.mark.slow


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A project."""
    return project(tmp_path / "project")


@pytest.fixture
def bench(file: Path, tmp_path: Path) -> Iterator[Workbench]:
    """A workbench with it."""
    with workbench(tmp_path, [file]) as made:
        yield made


def axe_finds_nothing(page: Any, *widths: int) -> None:
    """Hold a page against axe at some widths; nothing is wider than the window."""
    try:
        from axe_playwright_python import sync_playwright as axe
    except ImportError:
        missing("no axe; install the dependency group 'test'")
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        violations = axe.Axe().run(page).response["violations"]
        assert [(each["id"], each["nodes"][0]["html"]) for each in violations] == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width


def counted(page: Any) -> None:
    """Wait until everything is counted."""
    page.locator(".alone-bar").first.wait_for()


def test_a_role_is_changed_and_taken_back(context: Any, bench: Workbench, file: Path) -> None:
    before = file.read_text()
    page = entered(context, bench)
    counted(page)
    select = page.get_by_label("Role zip")
    select.focus()
    select.select_option("sensitive")
    page.get_by_text("Role of zip: sensitive").first.wait_for()
    assert page.evaluate("document.activeElement.id") == select.get_attribute("id")
    assert "zip" in open_project(file).project.columns.sensitive
    assert "# a comment of mine" in file.read_text()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Control+z")
    page.get_by_text("Taken back").wait_for()
    assert file.read_text() == before
    page.get_by_role("button", name="Redo").click()
    page.get_by_text("Made again").wait_for()
    assert "zip" in open_project(file).project.columns.sensitive


def test_a_part_that_loads_by_itself_takes_no_message_from_a_click(bench: Workbench) -> None:
    cookie = bench.enter()
    line = re.compile(r'id="message"[^>]*>(.*?)</', re.DOTALL)

    def message(**headers: str) -> str:
        found = line.search(bench.ask("/data", cookie=cookie, **headers)[2].decode())
        assert found is not None
        return found[1].strip()

    message()
    assert message() == ""
    assert bench.ask("/undo", "POST", "window=one&here=data", cookie=cookie)[0] == 302
    said = message(hx_request="true")
    assert said
    assert message() == said
    assert message(hx_request="true") == said
    assert message() == ""


def test_a_refused_role_is_said_at_its_select(context: Any, bench: Workbench, file: Path) -> None:
    page = entered(context, bench)
    counted(page)
    for name in list(open_project(file).project.columns.quasi_identifiers):
        page.get_by_label(f"Role {name}", exact=True).select_option("insensitive")
        page.locator("#message").get_by_text(re.compile(f"Role of {name}|Not changed")).wait_for()
    page.locator("p.error").get_by_text("at least one quasi-identifier").wait_for()
    assert len(open_project(file).project.columns.quasi_identifiers) == 1
    axe_finds_nothing(page, 1280, 390)


def test_questions_are_few_and_a_no_needs_a_reason(
    context: Any, bench: Workbench, file: Path
) -> None:
    page = entered(context, bench)
    page.locator(".question h2").wait_for()
    asked = []
    axe_finds_nothing(page, 1280, 390)
    page.set_viewport_size({"width": 1280, "height": 900})
    while page.locator(".question").count():
        asked.append(page.locator(".question h2").inner_text())
        if len(asked) > 1:
            page.get_by_role("button", name="I do not know").click()
        else:
            page.locator(".question summary").click()
            page.get_by_role("button", name="Answer No").click()
            page.locator(".question .error").get_by_text("who decides").wait_for()
            page.get_by_label("Who decides").fill("privacy officer (Anna)")
            page.get_by_label("Why it cannot").fill("bills stay inside")
            page.get_by_role("button", name="Answer No").click()
        page.locator("#message").get_by_text("Answered").wait_for()
        page.wait_for_function(
            "said => document.querySelector('.question h2')?.innerText !== said", arg=asked[-1]
        )
    assert 1 < len(asked) <= 5
    accept = open_project(file).project.accept
    (answered,) = [
        *accept.insider.values(),
        *([accept.acquaintance] if accept.acquaintance else []),
    ]
    assert answered.by == "privacy officer (Anna)"


def test_a_hierarchy_is_tried_before_it_is_taken(
    context: Any, bench: Workbench, file: Path
) -> None:
    page = entered(context, bench)
    counted(page)
    page.get_by_role("link", name="birth_year").click()
    page.get_by_label("Levels by").wait_for()
    box = page.locator(".large .histogram").bounding_box()
    at = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 1, at)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, at, steps=5)
    page.mouse.up()
    page.get_by_text("People alone, level by level").wait_for()
    wait_until(lambda: page.get_by_label("Characters or widths").input_value() == "50")
    assert page.locator(".large .bracket").count() == 2
    page.get_by_label("A bracket on the histogram").focus()
    page.keyboard.press("Home")
    wait_until(lambda: page.get_by_label("Characters or widths").input_value() in ("2", "5"))
    assert page.evaluate("document.activeElement.id") == "bracket"
    page.get_by_label("Characters or widths").fill("10, 20")
    page.get_by_label("Levels by").select_option("width")
    page.get_by_text("People alone, level by level").wait_for()
    before = file.read_text()
    axe_finds_nothing(page, 1280, 390)
    page.get_by_role("button", name="Take this hierarchy").click()
    page.locator("#message").get_by_text("Hierarchy of birth_year").wait_for()
    assert file.read_text() != before
    assert open_project(file).project.columns.quasi_identifiers["birth_year"].hierarchy is not None
    page.get_by_label("Texts that mean missing").fill("1953")
    page.locator("#try-recipe button").click()
    page.get_by_text("What the recipe changes").wait_for()
    assert all("1953" not in request.url.split("/", 3)[3] for request in context.asked)


def test_values_are_hidden_until_they_are_asked_for(
    context: Any, bench: Workbench, file: Path
) -> None:
    page = entered(context, bench)
    counted(page)
    assert "Anna" not in page.content()
    page.get_by_role("button", name="Show values").click()
    page.get_by_role("button", name="Hide values").wait_for()
    assert "Anna" in page.content()
    assert "visits" in (file.parent / "stages" / "history" / "shown.jsonl").read_text()
    page.get_by_role("link", name="Link", exact=True).click()
    page.get_by_role("heading", name="Which records").wait_for()
    page.get_by_role("link", name="Data", exact=True).click()
    page.get_by_role("button", name="Show values").wait_for()
    assert "Anna" not in page.content()
    assert b"Anna" not in bench.said.read_bytes()


def test_what_a_page_asked_for_that_was_left_does_not_come(context: Any, bench: Workbench) -> None:
    """However late the script of the pages is, and what they count."""
    held: dict[str, Any] = {}
    page = context.new_page()
    page.route("**/workbench.js", lambda route: held.setdefault("script", route))
    page.route("**/data?*counts*", lambda route: held.setdefault("counts", route))
    page.goto(bench.link, wait_until="commit")
    page.wait_for_url("**/data", wait_until="commit")
    page.get_by_role("heading", name="What is each column").wait_for()
    page.wait_for_timeout(500)  # what could be asked for before the script comes
    held["script"].continue_()
    page.wait_for_load_state()
    wait_until(lambda: page.evaluate("1") and "counts" in held)
    page.get_by_role("link", name="Link", exact=True).click()
    page.get_by_role("heading", name="Which records").wait_for()
    with page.expect_response("**/data?*counts*"):
        held["counts"].continue_()
    page.wait_for_load_state("networkidle")
    assert page.get_by_role("heading", name="Which records").count() == 1
    page.route("**/release", lambda route: held.setdefault("release", route))
    page.get_by_role("link", name="Release", exact=True).click()
    page.get_by_role("link", name="Attack", exact=True).click()
    page.get_by_role("heading", name="What would an intruder find").wait_for()
    with page.expect_response("**/release"):
        held["release"].continue_()
    page.wait_for_load_state("networkidle")
    assert page.get_by_role("heading", name="What would an intruder find").count() == 1
    assert page.url.endswith("/attack")
    page.get_by_role("link", name="Data", exact=True).click()
    counted(page)


def test_a_slow_edit_does_not_bring_back_the_place_that_was_left(
    context: Any, bench: Workbench, file: Path
) -> None:
    page = entered(context, bench)
    counted(page)
    held: dict[str, Any] = {}
    page.route("**/role", lambda route: held.setdefault("role", route))
    page.get_by_label("Role zip").select_option("sensitive")
    wait_until(lambda: page.evaluate("1") and "role" in held)
    page.get_by_role("link", name="Link", exact=True).click()
    page.get_by_role("heading", name="Which records").wait_for()
    assert page.locator("#undo[aria-disabled]").count() == 1
    held["role"].continue_()
    # Only a page that was made after the edit can undo it.
    page.locator("#undo:not([aria-disabled])").wait_for()
    page.wait_for_load_state()
    assert page.get_by_role("heading", name="Which records").count() == 1
    assert page.url.endswith("/link")
    assert "zip" in open_project(file).project.columns.sensitive


def test_the_second_window_reads_until_it_takes_over(
    context: Any, bench: Workbench, file: Path
) -> None:
    first = entered(context, bench)
    counted(first)
    first.get_by_label("Role zip").select_option("sensitive")
    first.get_by_text("Role of zip: sensitive").first.wait_for()
    text = file.read_text()
    second = context.new_page()
    second.goto(f"{bench.origin}/data")
    second.get_by_role("button", name="Take over").wait_for()
    second.get_by_label("Role zip").select_option("insensitive")
    second.locator("#message").get_by_text("Another window edits").wait_for()
    assert file.read_text() == text
    axe_finds_nothing(second, 1280, 390)
    second.get_by_role("button", name="Take over").click()
    second.locator("#message").get_by_text("This window edits").wait_for()
    second.get_by_label("Role zip").select_option("insensitive")
    second.get_by_text("Role of zip: insensitive").first.wait_for()
    first.get_by_label("Role sex").select_option("sensitive")
    first.locator("#message").get_by_text("Another window edits").wait_for()
    assert "sex" in open_project(file).project.columns.quasi_identifiers


def test_a_file_that_was_changed_outside_loses_nothing(
    context: Any, bench: Workbench, file: Path
) -> None:
    page = entered(context, bench)
    counted(page)
    context.expected_faults = 1  # the browser tells of the answer 409
    theirs = file.read_text().replace("[release]", f"# theirs\n#{' a column,' * 30}\n[release]")
    file.write_text(theirs)
    page.get_by_label("Role zip").select_option("sensitive")
    page.get_by_role("heading", name="was changed outside").wait_for()
    page.get_by_text("+# theirs").wait_for()
    assert file.read_text() == theirs
    cut = "[...document.querySelectorAll('.diff')].some(e => e.scrollWidth > e.clientWidth)"
    assert not page.evaluate(cut)
    axe_finds_nothing(page, 1280, 390)
    page.get_by_role("button", name="Keep theirs, and mine too").click()
    page.get_by_role("heading", name="What is each column").wait_for()
    assert "# theirs\n" in file.read_text()
    assert "zip" in open_project(file).project.columns.sensitive


def test_a_file_that_cannot_be_read_is_written_back(
    context: Any, bench: Workbench, file: Path
) -> None:
    page = entered(context, bench)
    counted(page)
    before = file.read_text()
    context.expected_faults = 1
    file.write_text("[project\nname = 'a value'")
    page.goto(f"{bench.origin}/data")
    page.get_by_role("heading", name="cannot be read").wait_for()
    assert "a value" not in page.content()
    axe_finds_nothing(page, 1280, 390)
    page.get_by_role("button", name="Write the last text back").click()
    page.get_by_role("heading", name="What is each column").wait_for()
    assert file.read_text() == before


def test_a_table_that_is_gone_is_said(context: Any, bench: Workbench, file: Path) -> None:
    page = entered(context, bench)
    counted(page)
    (file.parent / "visits.csv").rename(file.parent / "away.csv")
    page.goto(f"{bench.origin}/data")
    page.locator("#message").get_by_text("visits.csv").wait_for()
    axe_finds_nothing(page, 1280, 390)
    (file.parent / "away.csv").rename(file.parent / "visits.csv")
    page.goto(f"{bench.origin}/data")
    counted(page)


def test_a_run_that_is_killed_goes_on(context: Any, bench: Workbench, file: Path) -> None:
    page = entered(context, bench)
    jobs = Jobs(file)
    page.get_by_role("link", name="Link", exact=True).click()
    page.goto(f"{bench.origin}/data")
    page.evaluate(
        """() => fetch("/run", {method: "POST", body: new URLSearchParams(
            {window: sessionStorage.getItem("window"), here: "data"})})"""
    )
    wait_until(lambda: jobs.latest("run") is not None and jobs.latest("run").lines)
    page.reload()
    page.get_by_text("The project runs").wait_for()
    job = jobs.latest("run")
    # At once: a run of so few people is soon over.
    os.killpg(int((job.folder / LOCK).read_text()), signal.SIGKILL)
    page.get_by_text("was ended from outside").wait_for()
    axe_finds_nothing(page, 1280, 390)
    page.get_by_role("button", name="Go on").click()
    wait_until(lambda: job.state is JobState.RUNNING)
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("was stopped").first.wait_for()
    assert job.state is JobState.STOPPED


def test_a_killed_workbench_is_opened_again_as_it_was(
    context: Any, file: Path, tmp_path: Path
) -> None:
    with workbench(tmp_path, [file]) as bench:
        page = entered(context, bench)
        counted(page)
        page.get_by_label("Role zip").select_option("sensitive")
        page.get_by_text("Role of zip: sensitive").first.wait_for()
        page.close()
    context.expected_hosts = 2
    with workbench(tmp_path, [file]) as again:
        page = entered(context, again)
        counted(page)
        page.get_by_role("button", name="Undo").click()
        page.get_by_text("Taken back: Role of zip").wait_for()


def test_a_page_of_another_port_gets_nothing(browser: Any, bench: Workbench) -> None:
    """A neighbour's page in the same browser: by frame, image, form and fetch, with our cookie."""
    context = browser.new_context()
    page = entered(context, bench)
    counted(page)
    with foreign_page(bench) as (port, sent):
        for host in ("127.0.0.1", "localhost", "other.localhost", bench.host.partition(":")[0]):
            foreign = context.new_page()
            foreign.goto(f"http://{host}:{port}/")
            read = foreign.evaluate(
                """origin => fetch(origin + "/data", {credentials: "include"}).then(
                    answer => answer.text(), () => "nothing")""",
                bench.origin,
            )
            assert "birth_year" not in read
            assert all("birth_year" not in frame.content() for frame in foreign.frames)
            with foreign.expect_navigation():
                foreign.evaluate("document.getElementById('f').submit()")
            assert "does not come from a page" in foreign.content()
            foreign.close()
        # Whoever does not know the name is never sent the cookie.
        assert all("sfumato" not in cookie for cookie in sent[:3])
    page.goto(bench.link)
    page.get_by_text("was used, or").wait_for()
    context.close()


def test_forty_columns_of_long_names_fit(context: Any, tmp_path: Path) -> None:
    rng = random.Random(3)
    names = [f"{'Zuständigkeitsbezirk der behandelnden Einrichtung und Abteilung':.70} {n:02d}"
             for n in range(40)]  # fmt: skip
    lines = [";".join(names)]
    lines += [";".join(rng.choice("abcdefgh") for _ in names) for _ in range(300)]
    table = tmp_path / "breit.csv"
    table.write_text("\n".join(lines) + "\n")
    with workbench(tmp_path, [table]) as bench:
        page = entered(context, bench)
        counted(page)
        axe_finds_nothing(page, 1280, 390)
        page.keyboard.press("/")
        page.keyboard.type("07")
        assert page.locator(".column-strip:visible").count() == 1
        assert all("Zust" not in request.url for request in context.asked)


def test_only_the_keyboard_is_needed(context: Any, bench: Workbench, file: Path) -> None:
    page = entered(context, bench)
    counted(page)
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.labels?.[0]?.textContent") == "Role zip":
            break
    else:
        raise AssertionError("the select of zip is not reached")
    page.keyboard.press("s")  # sensitive
    page.get_by_text("Role of zip: sensitive").first.wait_for()
    assert "zip" in open_project(file).project.columns.sensitive


def test_tables_are_chosen_in_the_browser(context: Any, tmp_path: Path) -> None:
    folder = tmp_path / "home"
    folder.mkdir()
    visits(folder / "visits.csv")
    (folder / ".hidden.csv").write_text("a,b\n1,2\n")
    (folder / "link.csv").symlink_to("/etc/hostname")
    with workbench(tmp_path, [folder]) as bench:
        page = context.new_page()
        page.goto(bench.link)
        page.get_by_role("heading", name="From files").wait_for()
        assert page.locator("input[name=file]").count() == 1
        axe_finds_nothing(page, 1280, 390)
        page.get_by_label("visits.csv").check()
        page.get_by_role("button", name="Open", exact=True).click()
        counted(page)
        assert open_project(folder).project.columns.person == "patient"


def test_a_page_without_places_is_shown_whole(context: Any, bench: Workbench) -> None:
    context.expected_faults = 3  # what is not there, asked for by htmx and by its address
    page = entered(context, bench)
    counted(page)
    page.locator(".brand").click()
    page.get_by_role("heading", name="From files").wait_for()
    assert page.url.endswith("/start")
    page.get_by_role("link", name="Back to the open project").click()
    counted(page)
    page.evaluate("document.querySelector('nav a').setAttribute('href', '/nothing')")
    page.locator("nav a").first.click()
    page.wait_for_url("**/nothing")
    page.locator("h1").wait_for()
    page.goto(f"{bench.origin}/data")
    counted(page)
    page.evaluate("document.getElementById('undo').form.action = '/nothing'")
    page.evaluate("document.getElementById('undo').form.requestSubmit()")
    page.get_by_role("heading", name="What is each column").wait_for(state="detached")
    assert page.locator("h1").count() == 1


def test_three_tables_wait_for_their_keys(context: Any, tmp_path: Path) -> None:
    """A wrong key is found by what it refers to, and taken back."""
    rng, folder = random.Random(3), tmp_path / "tables"
    folder.mkdir()
    people = [f"P{number:03d}" for number in range(80)]
    born = [f"{each},{rng.randint(1930, 2005)},{rng.choice('mf')}" for each in people]
    (folder / "patients.csv").write_text("patient_id,birth_year,sex\n" + "\n".join(born) + "\n")
    for name, column, values in (("visits", "cost", range(20, 900)), ("drugs", "dose", (50, 100))):
        rows = [f"{n},{each},{rng.choice(values)}" for n, each in enumerate(2 * people)]
        head = f"{name[:-1]}_id,patient_id,{column}\n"
        (folder / f"{name}.csv").write_text(head + "\n".join(rows) + "\n")
    file = folder / "sfumato.toml"
    with workbench(tmp_path, sorted(folder.glob("*.csv"))) as bench:
        page = entered(context, bench)
        asked = page.locator(".question h2")
        asked.get_by_text("drugs.patient_id").wait_for()
        axe_finds_nothing(page, 1280, 390)
        page.set_viewport_size({"width": 1280, "height": 900})
        page.get_by_role("link", name="Sign", exact=True).click()
        page.locator("#message").get_by_text("Say first").wait_for()
        page.locator(".question summary").click()
        page.get_by_label("Which column says it instead").select_option("dose")
        page.get_by_role("button", name="Answer No").click()
        page.locator(".question").get_by_text("Found there: 0 of 160 records").wait_for()
        assert "patient_id" in open_project(file).project.columns.tables["drugs"].direct_identifiers
        page.get_by_role("button", name="Undo").click()
        for name in ("drugs", "visits"):
            asked.get_by_text(f"{name}.patient_id").wait_for()
            page.locator(".question").get_by_text("Found there: 160 of 160 records").wait_for()
            page.get_by_role("button", name="Yes").click()
            asked.get_by_text(f"{name}.patient_id").wait_for(state="detached")
        page.get_by_role("link", name="visits", exact=True).click()
        page.get_by_label("Role cost").select_option("event")
        page.get_by_text("Role of cost: event").first.wait_for()
        assert open_project(file).project.columns.tables["visits"].events["cost"].kind == "amount"
        page.get_by_role("link", name="Sign", exact=True).click()
        page.get_by_role("heading", name="Who answers for it").wait_for()
