"""The workbench in Firefox: from a file to a signature, a reload in a search, a foreign page."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import missing
from server.firefox import Tab, firefox
from server.workbench.conftest import signable
from server.workbench.workbenches import Workbench, foreign_page, workbench

from sfumato.core.signatures import Decision, check_signature
from sfumato.pipeline.project_folder import open_project

pytestmark = pytest.mark.slow


@pytest.fixture
def tab(tmp_path: Path) -> Iterator[Tab]:
    """A page of Firefox, whose console has no error at the end."""
    program = shutil.which("firefox-esr")
    if program is None:
        missing("no Firefox; install Debian's firefox-esr")
    with firefox(Path(program), tmp_path / "profile") as made:
        yield made
        assert made.faults == []


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that can be signed."""
    return signable(tmp_path, monkeypatch)


@pytest.fixture
def bench(file: Path, tmp_path: Path) -> Iterator[Workbench]:
    """A workbench with it."""
    with workbench(tmp_path, [file]) as made:
        yield made


def entered(tab: Tab, bench: Workbench) -> None:
    """Bring the token; the cookie holds, though the address is not encrypted."""
    tab.goto(bench.link)
    tab.text("What is each column")
    tab.until("document.querySelector('.alone-bar')")


def test_from_a_file_to_a_signature(tab: Tab, bench: Workbench, file: Path, tmp_path: Path) -> None:
    entered(tab, bench)
    tab.click("link", "Release")
    tab.click("button", "Try what can be promised")
    tab.until("document.querySelectorAll('[data-dot]').length > 1")
    # A reload does not lose what was tried, nor end it.
    before = tab.says("document.querySelectorAll('[data-dot]').length")
    tab.reload()
    tab.until(f"document.querySelectorAll('[data-dot]').length >= {before}")
    tab.text("Try them again")
    assert tab.says("document.querySelectorAll('[data-dot]').length") >= before
    tab.click("button", "Promise 11")
    tab.text("At least 11 people look alike")
    assert open_project(file).project.release.pid_k == 11  # type: ignore[attr-defined]
    tab.click("link", "Sign")
    tab.text("Who answers for it?")
    tab.click("button", "Run")
    tab.text("Decide")
    tab.fill("Its name", "anna")
    tab.click("button", "Make")
    tab.text("Its fingerprint")
    for label, text in (
        ("Who gets it", "university"),
        ("Who signs: role (name)", "officer (Anna)"),
        ("Why", "contract 17"),
    ):
        tab.fill(label, text)
    tab.click("button", "Sign and hand over")
    tab.text("Released to university, and signed.")
    output = file.parent / "output"
    public = tmp_path / "config" / "sfumato" / "signing-keys" / "anna.pub"
    checked = check_signature(output / "signature.json", public)
    assert (checked.is_known, checked.fault) == (True, "")
    assert checked.statement.decision is Decision.RELEASED


def test_a_page_of_another_port_gets_nothing(tab: Tab, bench: Workbench) -> None:
    entered(tab, bench)
    with foreign_page(bench) as (port, sent):
        for host in ("127.0.0.1", "localhost", bench.host.partition(":")[0]):
            # Not by a command, which ends with an error where a frame is refused.
            tab.says(f"void (location.href = 'http://{host}:{port}/')")
            tab.until(f"location.host === '{host}:{port}' && document.getElementById('f')")
            read = tab.says(
                f"fetch({bench.origin!r} + '/data', {{credentials: 'include'}}).then("
                "answer => answer.text(), () => 'nothing')"
            )
            assert read == "nothing"
            tab.says("document.getElementById('f').submit()")
            tab.text("does not come from a page")
        assert all("sfumato" not in cookie for cookie in sent[:2])
    tab.faults.clear()  # the browser tells of what it did not let the page read
    tab.goto(bench.link)
    tab.text("was used, or")
