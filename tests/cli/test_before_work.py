"""What needs no data to be refused is refused before any is read: here there is none to read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.conftest import Run
from semantics.requests import write_example

SCHEMA = """
person = "patient"
sensitive = ["icd9"]
[quasi_identifiers]
age = "numeric"
"""
MANIFEST = "[release]\noutput_sha256 = 'of another file'\n"
PROJECT = """
[project]
name = "clinic"
seed = 1
[sources.visits]
file = "gone.csv"
[schema]
{schema}
[release]
{release}
[outputs]
folder = "{folder}"
"""
DATA = ("gone.csv", "--schema", "schema.toml")
ANONYMIZE = ("anonymize", *DATA, "--k", "2", "--output")
REQUEST = ("anonymize", *DATA, "--policy", "one.toml", "--request", "diabetes")
LOCAL = ("--local", "Hospital A=gone.csv", "--output", "new/out.csv")
KEY = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A schema, a policy, a folder with the manifest of another release; a file called ``file``."""
    write_example(tmp_path)
    (tmp_path / "schema.toml").write_text(SCHEMA, encoding="utf-8")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "release.toml").write_text(MANIFEST, encoding="utf-8")
    (tmp_path / "new").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "link.key").write_text(KEY, encoding="ascii")
    (tmp_path / "link.key").chmod(0o600)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    yield tmp_path
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*ANONYMIZE, "no/out.csv"), "output out.csv must be in a folder that exists"),
        ((*ANONYMIZE, "new"), "output new must be a file"),
        ((*ANONYMIZE, "taken/out.csv"), "must not take the place of the release.toml"),
        ((*ANONYMIZE, "taken/out.csv", "--seed", "1"), "must not take the place of the release"),
        ((*ANONYMIZE, "new/out.csv", "--report", "no/r.html"), "path of the report must be in"),
        ((*ANONYMIZE, "new/out.csv", "--pseudonym-key", "schema.toml"), "a file of its own"),
        ((*REQUEST, *LOCAL[:2], "--output", "taken/out.csv"), "must not take the place of the"),
        ((*REQUEST, *LOCAL, "--report", "no/r.html"), "path of the report must be in"),
        ((*REQUEST, *LOCAL, "--pseudonym-key", "one.toml"), "must be a file of its own"),
        ((*REQUEST, *LOCAL, "--ledger", "file", "--keys", "keys"), "must"),
        ((*REQUEST, *LOCAL, "--keys", "keys"), "option --keys needs --ledger beside it"),
        ((*ANONYMIZE, "new/out.csv", "--keys", "keys"), "option --keys needs --ledger beside it"),
        (("assess", *DATA, "--report", "no/r.json"), "path of the report must be in a folder"),
        (
            ("assess", *DATA, "--population", "99", "--record-risks", "no/r.csv"),
            "output r.csv must be in a folder that exists",
        ),
        (("tune", *DATA, "--preset", "k-5", "--report", "no/r.html"), "must"),
        (("tune", *DATA, "--preset", "k-5", "--write-schema", "no/s.toml"), "must"),
        (("attack", *DATA, "--report", "no/r.html"), "path of the report must be in a folder"),
        (("link", "gone.csv", "lost.csv", "-o", "file"), "output file must be a folder"),
        (("link", "gone.csv", "lost.csv", "-o", "taken"), "output taken must be a new or empty"),
        (("link", "suggest", "gone.csv", "lost.csv", "-o", "no/link.toml"), "must be in a folder"),
        (
            ("link", "encode", "gone.csv", "--key-file", "link.key", "-o", "no/a.encoded"),
            "output a.encoded must be in a folder",
        ),
        (("init", "gone.csv", "-o", "file"), "output file must not be there yet"),
        (("init", "gone.csv", "--g-balance", "2"), "release.g_balance: must be a share"),
        (("init", "gone.csv", "lost.csv", "--pid-k", "0"), "release.pid_k: must be"),
        (("init", "gone.csv", "--preset", "none"), "release: 'presets' must"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else "",
)
def test_a_refusal_reads_no_data(run: Run, folder: Path, words: tuple[str, ...], said: str) -> None:
    done = run(*words)
    assert (done.code, done.out) == (1, "")
    assert said in done.err
    assert "gone" not in done.err


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"folder": "no/output"}, "output output must be in a folder that exists"),
        ({"folder": "file"}, "output file must be a folder"),
        ({"folder": "full"}, "outputs.folder must not hold a folder release that no run has made"),
        ({"release": "k = 2\npseudonym_key = 'no.key'"}, "pseudonym_key is not there"),
        ({"release": "k = 2\npseudonym_key = 'gone'"}, "release.pseudonym_key must be a file of"),
        ({"schema": SCHEMA.replace("sens", "insens"), "release": "h_affiliation = 0.5"},
         "promise h_affiliation needs a sensitive attribute"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)  # fmt: skip
def test_a_run_is_refused_before_its_first_stage(
    run: Run, folder: Path, tmp_path_factory: pytest.TempPathFactory, parts: dict[str, str],
    said: str,
) -> None:  # fmt: skip
    place = tmp_path_factory.mktemp("project")
    (place / "full" / "release").mkdir(parents=True)
    (place / "file").touch()
    (place / "gone").write_text(KEY, encoding="ascii")
    text = PROJECT.format(**{"schema": SCHEMA, "release": "k = 2", "folder": "output", **parts})
    text = text.replace("[quasi_identifiers]", "[schema.quasi_identifiers]")
    if "'gone'" in text:
        text = text.replace("gone.csv", "gone")
    (place / "sfumato.toml").write_text(text, encoding="utf-8")
    done = run("run", place / "sfumato.toml")
    assert (done.code, done.out) == (1, "")
    assert said in done.err
    assert "gone.csv" not in done.err
