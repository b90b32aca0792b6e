"""The page in a browser: no network, no error, no overflow, and a PDF to sign."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

WIDTH = 1280
PROBE = """<script>addEventListener("load", () => {
  const root = document.documentElement;
  document.body.dataset.over = root.scrollWidth - root.clientWidth;
  document.body.dataset.width = innerWidth;
  document.body.dataset.wider = [...document.querySelectorAll("main *, header *")]
    .filter(e => e.getBoundingClientRect().right > document.body.getBoundingClientRect().right + 1)
    .map(e => e.tagName).join(" ");
})</script></body>"""


def _run(chromium: Path, folder: Path, page: Path, *options: str) -> tuple[str, str]:
    command = [
        str(chromium),
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-extensions",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        "--enable-logging=stderr",
        "--allow-file-access-from-files",
        f"--user-data-dir={folder / 'profile'}",
        f"--window-size={WIDTH},1000",
        *options,
        page.as_uri(),
    ]
    run = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=True, cwd=folder
    )
    return run.stdout, run.stderr


@pytest.mark.parametrize("kind", ["page", "assessment_page"])
def test_it_fits_and_prints(
    kind: str, chromium: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    source: str = request.getfixturevalue(kind)
    page = tmp_path / "report.html"
    page.write_text(source, encoding="utf-8")
    picture, pdf = tmp_path / "page.png", tmp_path / "page.pdf"
    _, said = _run(chromium, tmp_path, page, f"--screenshot={picture}")
    assert "CONSOLE" not in said
    assert picture.read_bytes().startswith(b"\x89PNG")
    _, said = _run(chromium, tmp_path, page, f"--print-to-pdf={pdf}", "--no-pdf-header-footer")
    assert "CONSOLE" not in said
    printed = pdf.read_bytes()
    assert printed.startswith(b"%PDF")
    sheets = re.findall(rb"/MediaBox \[0 0 ([0-9.]+) ([0-9.]+)\]", printed)
    assert sheets
    for width, height in sheets:
        assert float(width) == pytest.approx(595, abs=2)
        assert float(height) == pytest.approx(842, abs=2)

    policy = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
    assert policy.search(source)
    page.write_text(policy.sub("", source).replace("</body>", PROBE), encoding="utf-8")
    loaded, said = _run(chromium, tmp_path, page, "--dump-dom")
    assert "CONSOLE" not in said
    assert f'data-width="{WIDTH}"' in loaded
    assert 'data-over="0"' in loaded
    assert 'data-wider=""' in loaded
