"""What the how-to pages show runs as it stands, and prints what they say it prints."""

from __future__ import annotations

import pyarrow.csv as csv
import pytest
from doc_blocks import blocks, read, run_page, run_sh
from made_households import households

from sfumato.examples import generate_clinics, write_clinics

PAGES = (
    "marketing",
    "colluding_researchers",
    "breach_notification",
    "series",
    "dates",
    "tune",
    "two_releases",
)

ELSEWHERE = {
    "workbench": "a browser; tests of the workbench",
    "lost_key": "no code",
    "from_r": "test_other_languages.py",
    "from_stata": "test_other_languages.py",
    "tables": "a database; cli/test_databases.py",
    "sign": "keys and a project; tests of signatures",
    "spark_clusters": "clusters of other people",
    "run_server": "a server's installation; server/test_serve.py",
    "two_clerks": "a keyboard, and a server; cli/test_review.py",
}
"""Pages that are not run here, and what runs them."""


def visits(folder):
    write_clinics(generate_clinics(300, rng=1), folder)


def release(folder):
    visits(folder)
    (folder / "release").mkdir()
    promises = "--g-balance 0.8 --output release/visits.csv"
    run_sh(f"sfumato anonymize visits.csv --schema schema.toml {promises}", folder)


def survey(folder):
    csv.write_csv(households(200, 1), folder / "survey.csv")
    page = (folder / "page").read_text(encoding="utf-8")
    schema = page.partition("```toml\n")[2].partition("```")[0]
    (folder / "schema.toml").write_text(schema, encoding="utf-8")


def project(folder):
    """A project that was run, with what the page states of its recipient."""
    visits(folder)
    run_sh("sfumato init visits.csv --g-balance 0.8 && sfumato run", folder)
    page = (folder / "page").read_text(encoding="utf-8")
    stated = page.partition("```toml\n")[2].partition("```")[0]
    with (folder / "sfumato.toml").open("a", encoding="utf-8") as file:
        file.write(f"\n{stated}")


COMMANDS = {
    "dossier": project,
    "choose_promise": visits,
    "promise_unkept": visits,
    "households": survey,
    "verify": release,
}
"""Pages of commands on files that the reader has, and what makes such files."""


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_a_page_runs_and_prints_what_it_says(name, tmp_path, monkeypatch, project_root):
    monkeypatch.chdir(tmp_path)
    assert run_page(project_root / "docs" / "howto" / f"{name}.md", tmp_path) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_commands_run_on_files_of_the_reader(name, tmp_path, project_root):
    page = project_root / "docs" / "howto" / f"{name}.md"
    (tmp_path / "page").write_text(page.read_text(encoding="utf-8"), encoding="utf-8")
    COMMANDS[name](tmp_path)
    shown = [code for kind, code in blocks(page) if kind == "sh"]
    # A project and a ledger have pages of their own.
    runs = [code for code in shown if not code.startswith(("sfumato accept", "sfumato ledger"))]
    assert runs
    for code in runs:
        run_sh(code, tmp_path)


def test_every_page_is_listed(project_root):
    folder = project_root / "docs" / "howto"
    assert sorted(page.stem for page in folder.glob("*.md")) == sorted(
        [*PAGES, *COMMANDS, *ELSEWHERE, "index"]
    )
    index = (folder / "index.md").read_text(encoding="utf-8")
    assert all(f"\n{name}\n" in index for name in [*PAGES, *COMMANDS, *ELSEWHERE])


def test_the_numbers_of_an_output_are_told_from_its_words():
    assert read("matches: 1,417 (82% to 9.5e-05)") == (
        ["matches:", "#", "(#%", "to", "#)"],
        [1417.0, 82.0, 9.5e-05],
    )
