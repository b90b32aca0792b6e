"""The desk of review in Chromium: twenty pairs by keyboard, paid cells, a kill in between."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from cli.review_folders import grams, many_pairs
from patience import wait_until
from pipeline.clinics_project import write_project
from server.workbench.test_workbench_journeys import axe_finds_nothing
from server.workbench.workbenches import Workbench, workbench

from sfumato.core.declaration import silent
from sfumato.pipeline.project_folder import open_project
from sfumato.pipeline.run import run
from sfumato.review.review_settings import Settings
from sfumato.review.reviewer_agreement import review_progress

pytestmark = pytest.mark.slow

COUNT, BUDGET = 24, 0.0015


def at_desk(context: Any, bench: Workbench) -> Any:
    """A page of the desk, with pairs."""
    page = context.new_page()
    page.goto(bench.link)
    page.wait_for_url("**/link/desk")
    page.get_by_role("button", name="Show the pairs").press("Enter")
    page.locator(".pair.now").wait_for()
    page.wait_for_load_state()  # keys before the script are lost
    return page


def press(page: Any, key: str) -> None:
    """Press a key, and wait until what it asks for is saved."""
    page.keyboard.press(key)
    wait_until(lambda: page.locator(".pair.unsaved").count() == 0)


def opened_values(folder: Path) -> set[str]:
    """The values of all cells that the journal says are open."""
    records = pq.read_table(folder / "records.parquet").to_pylist()
    pairs = {row["pair"]: row for row in pq.read_table(folder / "pairs.parquet").to_pylist()}
    names, found = ("given_name", "surname", "number"), set[str]()
    for line in journal(folder):
        if line.get("did") == "shown":
            sides = (records[pairs[line["pair"]][side]] for side in ("left", "right"))
            found |= {
                row[name] for row in sides
                for name, mode in zip(names, line["modes"], strict=True) if mode != "0"
            }  # fmt: skip
    return found


def journal(folder: Path) -> list[dict[str, Any]]:
    """The lines of the journal."""
    return [json.loads(line) for line in (folder / "review.state").read_text().splitlines()]


def spent(folder: Path) -> float:
    """KAPR as the journal says it."""
    return float(review_progress(folder, silent)["workers"][0]["kapr"])


def test_twenty_pairs_by_keyboard_and_a_kill(context: Any, tmp_path: Path) -> None:
    """Cells open at their price until the budget is met; nothing is charged twice."""
    folder, values = many_pairs(tmp_path / "batch", COUNT, Settings(budget=BUDGET))
    every = grams(sorted(values))
    with workbench(tmp_path, [folder]) as bench:
        page = at_desk(context, bench)
        assert not [piece for piece in every if piece in page.content()]
        page.keyboard.press("n")
        for number in range(8):  # an answer leads to the next pair
            if number < 2:
                press(page, "Enter")
                wait_until(lambda: len(opened_values(folder)) > 0)
            press(page, str(number % 6 + 1))
        shown = page.content()
        hidden = every - grams(sorted(opened_values(folder)))
        assert opened_values(folder)
        assert not [piece for piece in hidden if piece in shown]
        before = spent(folder)
        lines = len(journal(folder))
        said = bench.said.read_text()
    page.close()  # the process was killed
    context.expected_hosts = 2
    assert 0 < before < BUDGET
    with workbench(tmp_path, [folder]) as bench:
        page = at_desk(context, bench)
        assert page.locator(".pair.decided").count() == 8
        assert spent(folder) == before
        assert len(journal(folder)) == lines
        page.keyboard.press("n")
        for _ in range(2):
            press(page, "6")
        press(page, "u")
        assert page.locator(".pair.decided").count() == 9
        press(page, "6")  # what was undone is in hand again
        page.keyboard.press("n")  # all of this page are answered
        page.wait_for_url("**/link/desk?page=2")
        page.keyboard.press("n")
        refused = 0
        for _ in range(10):
            paid = spent(folder)
            press(page, "Enter")
            refused += spent(folder) == paid
            press(page, "1")
        assert refused > 0
        assert spent(folder) <= BUDGET
        axe_finds_nothing(page, 1280, 390)
        page.get_by_role("button", name="Leave the desk").click()
        page.get_by_role("button", name="Show the pairs").wait_for()
        axe_finds_nothing(page, 1280, 390)
        said += bench.said.read_text()
    decided = review_progress(folder, silent)["workers"][0]["decided"]
    assert decided == 20
    sent = [f"{request.url} {request.post_data or ''}" for request in context.asked]
    assert not [piece for piece in every if any(piece in each for each in (*sent, said))]


def test_the_doubtful_pairs_of_a_project(context: Any, tmp_path: Path) -> None:
    """From the link place to the desk, and back with the answers."""
    folder = tmp_path / "project"
    folder.mkdir()
    write_project(folder)
    run(open_project(folder), until="link")
    with workbench(tmp_path, [folder]) as bench:
        page = context.new_page()
        page.goto(bench.link)
        page.wait_for_url("**/data")
        page.get_by_role("link", name="Link", exact=True).click()
        page.get_by_role("button", name="Review them here").click()
        page.get_by_role("link", name="Review them").click()
        page.get_by_role("button", name="Show the pairs").click()
        page.locator(".pair.now").wait_for()
        page.wait_for_load_state()
        pairs = int(re.findall(r"of (\d+) decided", page.locator("#standing").inner_text())[0])
        for _ in range(pairs):
            press(page, "1")
            if not page.locator(".pair.undecided").count() and page.locator("[rel=next]").count():
                page.locator("[rel=next]").first.click()
                page.locator(".pair.now.undecided").wait_for()
                page.wait_for_load_state()
        axe_finds_nothing(page, 1280, 390)
        page.set_viewport_size({"width": 1280, "height": 900})
        page.get_by_role("button", name="Leave the desk").click()
        page.get_by_role("button", name="Use the answers").click()
        answers = folder / "stages" / "linked" / "measured.json"
        wait_until(answers.is_file)
    measured = json.loads((folder / "stages" / "review" / "measured.json").read_text())
    assert measured["answered"] == measured["possible_matches"] == pairs
