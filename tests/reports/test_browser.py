"""The page in a browser: no network, no error, no overflow, and a PDF to sign."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server.browsers import browser

WIDTH = 1280
PROBE = """() => {
  const root = document.documentElement, body = document.body.getBoundingClientRect();
  return {
    over: root.scrollWidth - root.clientWidth,
    width: innerWidth,
    wider: [...document.querySelectorAll("main *, header *")]
      .filter(e => e.getBoundingClientRect().right > body.right + 1)
      .map(e => e.tagName),
  };
}"""


@pytest.fixture(scope="module")
def context(chromium: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A browser."""
    with browser(chromium, tmp_path_factory.mktemp("browser") / "profile") as context:
        yield context


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["page", "assessment_page"])
def test_it_fits_and_prints(
    kind: str, context: Any, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    file = tmp_path / "report.html"
    file.write_text(request.getfixturevalue(kind), encoding="utf-8")
    page = context.new_page()
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda each: asked.append(each.url))
    page.goto(file.as_uri())
    assert page.evaluate(PROBE) == {"over": 0, "width": WIDTH, "wider": []}
    assert page.screenshot().startswith(b"\x89PNG")
    printed = page.pdf(prefer_css_page_size=True)
    page.close()
    assert printed.startswith(b"%PDF")
    sheets = re.findall(rb"/MediaBox \[0 0 ([0-9.]+) ([0-9.]+)\]", printed)
    assert sheets
    for width, height in sheets:
        assert float(width) == pytest.approx(595, abs=2)
        assert float(height) == pytest.approx(842, abs=2)
    assert said == []
    assert [url for url in asked if not url.startswith("data:")] == [file.as_uri()]
