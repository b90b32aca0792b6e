"""What the how-to pages show runs as it stands, and prints what they say it prints."""

from __future__ import annotations

import pytest
from doc_blocks import read, run_page

PAGES = (
    "marketing",
    "colluding_researchers",
    "breach_notification",
    "fraud_economics",
    "dates",
    "tune",
    "two_releases",
)

ELSEWHERE = {
    "from_r": "test_other_languages.py",
    "from_stata": "test_other_languages.py",
    "spark_clusters": "clusters of other people",
}
"""Pages that are not run here, and what runs them."""


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_a_page_runs_and_prints_what_it_says(name, tmp_path, monkeypatch, project_root):
    monkeypatch.chdir(tmp_path)
    assert run_page(project_root / "docs" / "howto" / f"{name}.md", tmp_path) >= 2


def test_every_page_is_listed(project_root):
    folder = project_root / "docs" / "howto"
    assert sorted(page.stem for page in folder.glob("*.md")) == sorted([*PAGES, *ELSEWHERE, "index"])
    index = (folder / "index.md").read_text(encoding="utf-8")
    assert all(f"\n{name}\n" in index for name in [*PAGES, *ELSEWHERE])


def test_the_numbers_of_an_output_are_told_from_its_words():
    assert read("matches: 1,417 (82% to 9.5e-05)") == (
        ["matches:", "#", "(#%", "to", "#)"],
        [1417.0, 82.0, 9.5e-05],
    )
