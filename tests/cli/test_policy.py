from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from semantics.policies import EXAMPLE

Of = Callable[..., tuple[int, str]]


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    for name in ("birth", "sex", "ascceg", "ascl"):
        (tmp_path / f"{name}.csv").write_text("a;*\nb;*\n")
    file = tmp_path / "policy.toml"
    file.write_text(EXAMPLE)
    return file


@pytest.fixture
def of_policy(run: Callable[..., Any]) -> Callable[..., tuple[int, str]]:
    """Run ``sfumato policy``: the exit code and what is printed."""

    def call(*words: str | Path) -> tuple[int, str]:
        done = run("policy", *words)
        return done.code, done.out

    return call


def test_a_sound_policy(of_policy: Of, policy: Path) -> None:
    code, said = of_policy("check", policy)
    assert (code, said.count("\n")) == (0, 1)


def test_contradictions_end_with_exit_code_1(of_policy: Of, policy: Path) -> None:
    policy.write_text(EXAMPLE.replace('role = "clinician"', 'role = "nurse"'))
    code, said = of_policy("check", policy)
    assert code == 1
    assert re.search(r"Error: request 'diabetes': role 'nurse' .* Add", said)
    assert said.splitlines()[-1] == "Errors: 2; warnings: 0."
    code, said = of_policy("check", policy, "--json")
    assert {each["severity"] for each in json.loads(said)} == {"error"}


def test_a_rules_file_that_cannot_run_is_a_finding(
    of_policy: Of, policy: Path, tmp_path: Path
) -> None:
    (tmp_path / "site.lp").write_text("a :- \n b b.\n")
    code, said = of_policy("check", policy, "--rules", tmp_path / "site.lp")
    assert code == 1
    assert "rules file site.lp" in said
    assert "line 2" in said


def test_explain_names_rules_and_facts(of_policy: Of, policy: Path, tmp_path: Path) -> None:
    code, said = of_policy("explain", policy, "diabetes")
    assert code == 0
    assert "k: 3\nQuasi-identifiers of Hospital A: birth, sex, ethnicity\n" in said
    assert "by rules.lp, line 7: Rule 2. The k of a linkage is the largest of them." in said
    (tmp_path / "site.lp").write_text("% Five at least.\nhas_linkage_k(L, 5) :- linkage(L).\n")
    code, said = of_policy("explain", policy, "diabetes", "--rules", tmp_path / "site.lp", "--json")
    explained = json.loads(said)
    assert explained["k"] == 5
    assert explained["why"][0]["rules"][0]["file"] == "site.lp"
    assert explained["why"][0]["rules"][0]["title"] == "Five at least."


def test_a_refused_request_ends_with_exit_code_2(of_policy: Of, policy: Path) -> None:
    policy.write_text(EXAMPLE.replace('role = "clinician"', 'role = "nurse"'))
    code, said = of_policy("explain", policy, "diabetes")
    assert code == 2
    assert "Refused: " in said
