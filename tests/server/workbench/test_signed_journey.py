"""From a CSV file to a signature, in Chromium, by clicks alone."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE
from server.workbench.conftest import signable
from server.workbench.test_workbench_journeys import axe_finds_nothing
from server.workbench.workbenches import entered, workbench

from sfumato.core.signatures import Decision, FileState, check_signature
from sfumato.pipeline.project_folder import open_project

pytestmark = pytest.mark.slow
WIDTHS = (1280, 390)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that can be signed."""
    return signable(tmp_path, monkeypatch)


def searched(page: Any) -> None:
    """Let all that can be promised be tried, with a stop on the way."""
    page.get_by_role("link", name="Release").click()
    page.get_by_role("heading", name="What may leave?").wait_for()
    page.get_by_role("button", name="Try what can be promised").click()
    page.locator("[data-dot]").first.wait_for()
    # In one step: the search may be over before a click comes.
    stop = "[...document.querySelectorAll('button')].find(e => e.textContent === 'Stop')?.click()"
    page.evaluate(stop)
    page.get_by_role("button", name="Go on").or_(
        page.get_by_role("button", name="Try them again")
    ).wait_for()
    stopped = page.locator("[data-dot]").count()
    assert stopped >= 1
    if page.get_by_role("button", name="Go on").count():
        page.get_by_role("button", name="Go on").click()
        page.get_by_role("button", name="Try them again").wait_for(timeout=1000 * PATIENCE)
    assert page.locator("[data-dot]").count() >= max(stopped, 8)
    # One stop of the keyboard, and arrows from there.
    first = page.locator("[data-dot]").first
    first.focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") != first.get_attribute("id")


def test_from_a_file_to_a_signature(browser: Any, file: Path, tmp_path: Path) -> None:
    with workbench(tmp_path, [file]) as bench:
        context = browser.new_context()
        context.set_default_timeout(1000 * PATIENCE)
        faults: list[str] = []
        asked: list[str] = []
        context.on("console", lambda said: said.type == "error" and faults.append(said.text))
        context.on("request", lambda request: asked.append(request.url))
        page = entered(context, bench)
        searched(page)
        page.get_by_role("button", name="Pin 11").click()
        page.get_by_role("button", name="Pinned 11").wait_for()
        page.get_by_role("button", name="Promise 11").click()
        page.get_by_text("At least 11 people look alike").first.wait_for()
        assert open_project(file).project.release.pid_k == 11  # type: ignore[attr-defined]
        assert "# a comment of mine" in file.read_text()
        # The dots rest on all but this number.
        assert page.locator("[data-dot]").count() >= 8
        axe_finds_nothing(page, *WIDTHS)

        page.get_by_role("link", name="Look inside 11").click()
        page.get_by_role("button", name="Show values").wait_for()
        assert page.locator("del").count() == 0
        page.get_by_role("button", name="Show values").click()
        page.locator("del").first.wait_for()
        axe_finds_nothing(page, *WIDTHS)
        page.get_by_role("link", name="Attack").click()
        page.get_by_role("heading", name="What would an intruder find?").wait_for()
        page.get_by_role("link", name="Release").click()
        page.get_by_role("link", name="Look inside 11").click()
        page.get_by_role("button", name="Show values").wait_for()  # hidden again

        page.get_by_role("link", name="Back to the releases").click()
        page.get_by_role("link", name="My analysis").click()
        page.get_by_label("Of (mean, regression)").select_option(label="charge")
        page.get_by_label("sex").check()
        page.get_by_role("button", name="Compare").click()
        page.get_by_text("Estimates with 95 % intervals").wait_for()
        assert page.get_by_role("rowheader", name="group 1").count() == 1
        axe_finds_nothing(page, *WIDTHS)

        page.get_by_role("link", name="Sign").click()
        page.get_by_text("Release and reports are made of what is there now.").wait_for()
        assert page.get_by_role("button", name="Sign and hand over").count() == 0
        page.get_by_role("button", name="Run").click()
        end = time.monotonic() + PATIENCE
        while not page.get_by_role("heading", name="Decide").count():
            assert time.monotonic() < end
            time.sleep(0.5)
            page.goto(f"{bench.origin}/sign")
        page.get_by_role("link", name="Attack").click()
        page.get_by_text("Predicted").first.wait_for()
        axe_finds_nothing(page, *WIDTHS)
        page.get_by_role("link", name="Sign").click()
        page.get_by_label("Its name").fill("anna")
        page.get_by_role("button", name="Make", exact=True).click()
        page.get_by_text("Its fingerprint").wait_for()
        page.get_by_label("Who gets it").fill("university")
        page.get_by_label("Who signs").fill("officer (Anna)")
        page.get_by_label("Why").fill("contract 17")
        axe_finds_nothing(page, *WIDTHS)
        page.get_by_role("button", name="Sign and hand over").click()
        page.get_by_text("Released to university, and signed.").wait_for()
        axe_finds_nothing(page, *WIDTHS)
        assert page.get_by_role("button", name="Sign and hand over").count() == 0
        assert page.get_by_role("button", name="Undo").get_attribute("aria-disabled") == "true"
        assert faults == []
        log = bench.said.read_text()
    for value in ("Clara", "P0001", "250.1", "charge"):
        assert not any(value in url for url in asked)
        assert value not in log
    assert all(url.startswith(bench.origin) for url in asked)

    # The receiver: the release, its signature, and the public key by another way.
    mail = tmp_path / "mail"
    shutil.copytree(file.parent / "output" / "release", mail / "release")
    shutil.copy(file.parent / "output" / "signature.json", mail)
    checked = check_signature(mail, tmp_path / "config" / "sfumato" / "signing-keys" / "anna.pub")
    assert (checked.is_known, checked.is_measured, checked.fault) == (True, True, "")
    assert checked.statement.decision is Decision.RELEASED
    assert checked.files["release/release.csv"] is FileState.UNCHANGED
