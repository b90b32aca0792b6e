"""``sfumato anonymize --policy``, with the ledger's commands in between."""

from __future__ import annotations

import csv
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import RELEASED, Run
from few_cases import fast_first
from semantics.requests import opened, write_example
from server.forked import on_small_disk

WORDS = ("anonymize", "linked.csv", "--schema", "schema.toml", "--request", "diabetes")
LOCAL = ("--local", "Hospital A=hospital.csv")
BOOK = ("--ledger", "book/ledger.sqlite", "--keys", "keys")
ASSOCIATION = "language Chinese languages -> ethnicity Chinese"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "book").mkdir()
    opened(tmp_path).close()
    return write_example(tmp_path)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_two_times_with_a_decision_between(run: Run, folder: Path) -> None:
    (folder / "first").mkdir()
    first = run(*WORDS, *LOCAL, *BOOK, "--policy", "one.toml", "--output", "first/one.csv")
    # What the rules require is kept; what intruders find decides the exit code.
    assert first.code == 2, first.err
    assert "k = 3 in Hospital A  born, sex, ethnicity" in first.out
    assert "Rule 4." in first.out
    assert "release 2" in first.err
    listed = json.loads(run("ledger", "associations", "list", "--json", *BOOK).out)
    (known,) = [
        each["id"]
        for each in listed
        if [term["label"] for term in each["if"]] == ["Chinese languages"]
        and each["then"]["label"] == "Chinese"
    ]
    words = ("--note", "a reader sees it", "--by", "carol")
    assert run("ledger", "associations", "accept", known, *words, *BOOK).code == 0
    asked = ("--policy", "two.toml", "--output", "two.csv", "--report", "two.html", "--json")
    second = run(*WORDS, *LOCAL, *BOOK, *asked)
    assert second.code == 2, second.err
    found = json.loads(second.out)
    assert {each["intruder"]: each["state"] for each in found["verdict"]["rows"]} == {
        "stranger": "above",
        "acquaintance": "above",
        "insider": "above",
        "recipient": "above",
    }
    assert found["changes"][0]["association"] == known
    assert found["changes"][0]["tuples"] == 1
    assert found["figures"]["SLA"]["risk"] < found["figures"]["LA"]["risk"]
    (alice,) = [each for each in rows(folder / "two.csv") if each["drug"] == "metformin"]
    assert (alice["ethnicity"], alice["language"]) == ("Asian", "*")
    page = (folder / "two.html").read_text(encoding="utf-8")
    for said in ("Dr. Who", "clinician", "Rule 7.", known, "Chinese languages", "Hospital A"):
        assert said in page
    assert json.loads((folder / "two.json").read_text())["changes"] == found["changes"]
    assert "http" not in page.replace("http-equiv", "")
    assert run("ledger", "verify", *BOOK).code == 0
    shown = json.loads(run("ledger", "list", "--json", *BOOK).out)
    assert [each["figures"]["SLA"]["risk"] for each in shown][1] == found["figures"]["SLA"]["risk"]
    assert not {"Alice", "1975"} & set(re.findall(r"\w+", page + second.err))
    assert str(folder) not in page + second.err


def test_a_site_rule_changes_what_is_released(run: Run, folder: Path) -> None:
    (folder / "site.lp").write_text("has_linkage_k(Ln, 4) :- linkage(Ln).\n", encoding="utf-8")
    asked = (*WORDS, *LOCAL, "--policy", "one.toml", "--json")
    for name in ("plain", "site"):
        (folder / name).mkdir()
    plain = json.loads(run(*asked, "--output", "plain/out.csv").out)
    site = json.loads(run(*asked, "--site-rules", "site.lp", "--output", "site/out.csv").out)
    assert (plain["k"], site["k"]) == (3, 4)
    assert site["figures"]["SLA"]["smallest_match"] >= 4


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--policy", "one.toml", *LOCAL, "--k", "3"), "option --k beside it"),
        (("--policy", "one.toml"), "none of 'Hospital A'"),
        (("--policy", "one.toml", "--local", "Hospital A"), "NAME=FILE"),
        (("--policy", "one.toml", *LOCAL, *LOCAL), "once"),
        (("--policy", "no.toml", *LOCAL), "policy file no.toml"),
        (LOCAL, "needs --policy"),
        (("--policy", "one.toml", *LOCAL, "--request", "stranger"), "visitor"),
    ],
)
def test_refused(run: Run, folder: Path, words: tuple[str, ...], said: str) -> None:
    asked = WORDS[:-2] if "--request" in words else WORDS
    result = run(*asked, *words, *BOOK, "--output", "out.csv")
    assert result.code == 1
    assert said in result.err
    assert not (folder / "out.csv").exists()
    with opened(folder) as ledger:
        assert ledger.releases() == []


def test_the_policy_needs_a_request(run: Run, folder: Path) -> None:
    words = ("anonymize", "linked.csv", "--schema", "schema.toml", "--policy", "one.toml")
    result = run(*words, *LOCAL, "--output", "out.csv")
    assert result.code == 1
    assert "needs --request" in result.err


def test_inputs_are_not_written_over(run: Run, folder: Path) -> None:
    before = (folder / "hospital.csv").read_bytes()
    result = run(*WORDS, *LOCAL, "--policy", "one.toml", "--output", "hospital.csv")
    assert result.code == 1
    assert (folder / "hospital.csv").read_bytes() == before


def test_a_ledger_in_the_environment_notes_other_releases_as_drafts(
    run: Run, folder: Path, monkeypatch: Any
) -> None:
    monkeypatch.setenv("SFUMATO_LEDGER", str(folder / "book" / "ledger.sqlite"))
    monkeypatch.setenv("SFUMATO_LEDGER_KEYS", str(folder / "keys"))
    words = ("anonymize", "linked.csv", "--schema", "schema.toml", "--k", "2")
    assert run(*words, "--output", "out.csv").code in RELEASED
    (draft,) = json.loads(run("ledger", "remembered", "--json").out)
    assert (draft["file"], draft["to"]) == ("out.csv", [])


@pytest.mark.slow
def test_a_lower_k_and_padded_local_data_need_a_grant(run: Run, folder: Path) -> None:
    asked = (*WORDS, *LOCAL, *BOOK, "--policy", "one.toml")
    for name in "abcd":
        (folder / name).mkdir()
    assert run(*asked, "--output", "a/out.csv").code == 2
    policy = (folder / "one.toml").read_text(encoding="utf-8")
    (folder / "one.toml").write_text(policy.replace("k = 3", "k = 2"), encoding="utf-8")
    lower = run(*asked, "--output", "b/out.csv")
    assert lower.code == 1
    assert re.search(r"must keep the k .*, 3", lower.err)
    said = ("--linkage", "A with B", "--note", "the law", "--by", "carol", *BOOK)
    assert run("ledger", "grant", *said, "--k", "2").code == 0
    assert run(*asked, "--output", "b/out.csv").code == 2
    hospital = (folder / "hospital.csv").read_text(encoding="utf-8")
    invented = hospital.splitlines()[-1].replace(hospital.splitlines()[-1].split(",")[0], "Zoe")
    (folder / "hospital.csv").write_text(f"{hospital}{invented}\n", encoding="utf-8")
    padded = run(*asked, "--output", "c/out.csv")
    assert padded.code == 1
    assert "database 'Hospital A' must" in padded.err
    assert not (folder / "c" / "out.csv").exists()
    assert run("ledger", "grant", *said, "--local", "Hospital A=hospital.csv").code == 0
    assert run(*asked, "--output", "d/out.csv").code == 2


def test_a_ledger_is_not_made_by_a_mistyped_path(run: Run, folder: Path) -> None:
    wrong = ("--ledger", "book/legder.sqlite", "--keys", "keys")
    for words in (
        (*WORDS, *LOCAL, "--policy", "one.toml"),
        ("anonymize", "linked.csv", "--schema", "schema.toml", "--k", "2"),
    ):
        made = run(*words, *wrong, "--output", "out.csv")
        assert made.code == 1
        assert "ledger create" in made.err
    assert not (folder / "out.csv").exists()
    assert not (folder / "book" / "legder.sqlite").exists()


@pytest.mark.skipif(os.name != "posix", reason="limits the size of files")
@pytest.mark.parametrize("full", fast_first(1, ["release.toml", "out.html"]))
def test_a_disk_that_is_full_behind_the_release(full: str, run: Run, folder: Path) -> None:
    """Neither the release nor its manifest and report are there."""
    words = (*WORDS, *LOCAL, "--policy", "one.toml", "--output")
    for name in ("whole", "small"):
        (folder / name).mkdir()
    done = run(*words, "whole/out.csv", "--report", "whole/out.html")
    assert done.code == 2, done.err
    # Drawn numbers make a page some characters longer or shorter.
    size = int(0.9 * (folder / "whole" / full).stat().st_size)
    assert (folder / "whole" / "out.csv").stat().st_size < size
    words = (*words, "small/out.csv", "--report", "small/out.html")
    small = on_small_disk(size, *words, cwd=folder)
    assert (small.returncode, small.stdout) == (1, "")
    assert "file too large" in small.stderr
    assert list((folder / "small").iterdir()) == []
