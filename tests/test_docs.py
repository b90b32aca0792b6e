"""What the other pages of the documentation show runs as it stands; no block is forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest
from doc_blocks import blocks, page_of, run_page, run_python, run_sh
from doc_data import PREPARED

import sfumato as sf
from sfumato.examples import generate_clinics, write_clinics

WHOLE = {"recipe": 1, "arx": 2, "sdcmicro": 1, "splink": 1, "semantics": 0}
"""Pages that need nothing but themselves, and how many of their outputs are compared."""

ELSEWHERE = {
    "README": "test_readme.py",
    "installation": "test_wheel.py, but for what make dist does; of bundles test_bundle.py",
    "tutorial": "test_readme.py",
    "linkage": "test_readme.py, but for four command lines that have … or names in capitals",
    "policy": "semantics/test_policy_docs.py",
    "howto": "test_howto.py",
}
"""Pages whose blocks another test runs."""

NOT_RUN = {
    "known_events_release": "releases that search; tests/release/test_event_protection.py",
    "profile": "questions at a terminal; tests/cli/test_profile.py",
    "review": "20,000 persons, and a keyboard; tests/cli/test_review.py",
    "server": "a server's installation; tests/server/test_serve.py",
    "spark": "a session; tests/release/on_spark and tests/cli/test_anonymize_on_spark.py",
    "spark_clusters": "clusters of other people",
    "studies": "a minute each, with public data; studies/tests",
    "tune": "minutes of search; tests/pipeline/test_tune_command.py and howto/tune.md",
}
"""Pages with blocks that no test runs, and why."""

KEYS = "/etc/sfumato/ledger-keys"
"""Where the pages keep keys; the tests keep them in their own folder."""


@pytest.mark.parametrize("name", WHOLE)
def test_pages_that_need_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, project_root: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_page(page_of(project_root, name), tmp_path) == WHOLE[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", PREPARED)
def test_pages_that_take_data_for_given(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, project_root: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"sf": sf, **PREPARED[name](tmp_path)}
    page = page_of(project_root, name)
    codes = [code for kind, code in blocks(page) if kind == "python"]
    assert codes
    for code in codes:
        run_python(code.replace(KEYS, "keys"), names)


@pytest.mark.slow
def test_the_command_that_attacks_a_file(tmp_path: Path, project_root: Path) -> None:
    """With a seed: by chance one run in a hundred finds more than is measured."""
    write_clinics(generate_clinics(200, rng=1), tmp_path)
    options = "--schema schema.toml --g-balance 0.8 --ends snapped --seed 1 --output out.csv"
    make = f"sfumato anonymize visits.csv {options}"
    first = next(code for kind, code in blocks(page_of(project_root, "attack")) if kind == "sh")
    run_sh(f"{make}\n{first.strip()} --seed 1", tmp_path)
    assert (tmp_path / "attack.html").exists()


def test_no_page_is_forgotten(project_root: Path) -> None:
    known = {*WHOLE, *PREPARED, *ELSEWHERE, *NOT_RUN}
    pages = [project_root / "README.md", *(project_root / "docs").rglob("*.md")]
    for page in pages:
        shown = [code for kind, code in blocks(page) if kind in {"python", "sh"}]
        if not all(code.startswith(("make ", "pip install ")) for code in shown):
            name = "howto" if page.parent.name == "howto" else page.stem
            assert name in known, f"who runs what {page.name} shows?"
