"""People at the workbench, in Chromium: what they click, and what is in the project file then."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import missing
from server.browsers import launched
from server.workbench.conftest import project
from server.workbench.workbenches import entered, workbench

from sfumato.pipeline.project_folder import open_project

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser(chromium: Path) -> Iterator[Any]:
    """A browser for all journeys."""
    with launched(chromium) as found:
        yield found


def axe_finds_nothing(page: Any, *widths: int) -> None:
    """Hold a page against axe at some widths."""
    try:
        from axe_playwright_python import sync_playwright as axe
    except ImportError:
        missing("no axe; install the dependency group 'test'")
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        violations = axe.Axe().run(page).response["violations"]
        assert [(each["id"], each["nodes"][0]["html"]) for each in violations] == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width


def test_a_role_is_changed_and_taken_back(browser: Any, tmp_path: Path) -> None:
    file = project(tmp_path / "project")
    before = file.read_text()
    with workbench(tmp_path, [file]) as bench:
        context = browser.new_context()
        faults: list[str] = []
        context.on("console", lambda said: said.type == "error" and faults.append(said.text))
        page = entered(context, bench)
        select = page.get_by_label("Role zip")
        select.focus()
        select.select_option("sensitive")
        page.get_by_text("Role of zip: sensitive").first.wait_for()
        assert page.evaluate("document.activeElement.id") == select.get_attribute("id")
        assert "zip" in open_project(file).project.columns.sensitive
        assert "# a comment of mine" in file.read_text()
        axe_finds_nothing(page, 1280, 390)
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Undo").click()
        page.get_by_text("Taken back").wait_for()
        assert file.read_text() == before
        assert faults == []
        context.close()
