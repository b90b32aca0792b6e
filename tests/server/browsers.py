"""Debian's Chromium, driven by the tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from conftest import missing
from patience import PATIENCE

QUICK = (
    "--no-sandbox",
    "--disable-gpu",
    "--in-process-gpu",
    "--js-flags=--no-opt --single-threaded",
)
"""Fewer processes, and no script compiled twice: a page lives for a second or two."""
OPTIONS = (
    *QUICK,
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)


@contextmanager
def browser(chromium: Path, profile: Path, **options: Any) -> Iterator[Any]:
    """A browser with a profile in a folder: the context of playwright.

    Everything on its pages that the console calls an error is in `context.faults`.
    """
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("no playwright; install the dependency group 'test'")
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            profile,
            executable_path=chromium,
            args=list(OPTIONS),
            ignore_default_args=["--disable-back-forward-cache"],
            viewport={"width": 1280, "height": 900},
            **options,
        )
        context.set_default_timeout(1000 * PATIENCE)
        faults: list[str] = []
        context.on("console", lambda said: said.type == "error" and faults.append(said.text))
        context.on("weberror", lambda error: faults.append(str(error.error)))
        context.faults = faults
        try:
            yield context
        finally:
            context.close()


@contextmanager
def launched(chromium: Path) -> Iterator[Any]:
    """A browser without a profile, whose contexts know nothing of each other."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("no playwright; install the dependency group 'test'")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(QUICK))
        yield browser
        browser.close()


def log_in(page: Any, address: str, name: str, password: str) -> None:
    """Log in by the page for it."""
    page.goto(f"{address}/login")
    page.fill("input[name=name]", name)
    page.fill("input[name=password]", password)
    with page.expect_navigation():  # a click may return before the next page is there
        page.click("main button")
