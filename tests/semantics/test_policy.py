from __future__ import annotations

import logging
from pathlib import Path

import pytest
from semantics.policies import EXAMPLE

from sfumato.core.errors import InputError
from sfumato.semantics.policy import (
    Severity,
    check_policy,
    errors_for,
    load_policy,
)
from sfumato.semantics.policy_terms import Policy


def test_the_example_is_read_and_its_paths_are_located(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(EXAMPLE)
    policy = load_policy(tmp_path / "policy.toml")
    hospital = policy.databases["Hospital A"]
    assert hospital.k == 3
    assert list(hospital.quasi_identifiers) == ["birth", "sex", "ethnicity"]
    assert hospital.quasi_identifiers["sex"].hierarchy == tmp_path / "sex.csv"
    assert policy.requests["diabetes"].linkage == "A with B"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"databases": {"A": {"k": 0}}}, "databases.A.k"),
        ({"databases": {"A": {"k": "secret-7"}}}, "must be a whole number"),
        ({"databases": {"A": {"key": 3}}}, "databases.A.key: is no known field"),
        ({"linkages": {"L": {}}}, "linkages.L.from: is missing"),
        ({"requests": {"R": {"role": "x"}}}, "requests.R.linkage: is missing"),
        ({"databases": {"A": {"authenticates": ["x", "x"]}}}, "each name must be there once"),
        ({"roles": ["two\nlines"]}, "one line of printable text"),
        ({"measure": "hide"}, "measure"),
    ],
)
def test_another_form_is_refused(fields: dict[str, object], words: str) -> None:
    with pytest.raises(InputError) as caught:
        Policy(**fields)
    assert words in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("p.toml", "[roles\n", "must be TOML; found an error at line 1"),
    ],
)
def test_a_file_that_is_none_is_refused(
    tmp_path: Path, name: str, text: str, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / name).write_text(text)
    with caplog.at_level(logging.DEBUG), pytest.raises(InputError) as caught:
        load_policy(tmp_path / name)
    assert words in str(caught.value)
    assert "canary" not in str(caught.value) + caplog.text


def said(policy: Policy, severity: Severity = Severity.ERROR) -> str:
    return "\n".join(str(each) for each in check_policy(policy) if each.severity is severity)


def changed(**fields: object) -> Policy:
    """The example with hierarchies, and one section's entries changed."""
    policy = load(EXAMPLE)
    for section, entries in fields.items():
        old = policy.setdefault(section, {})
        if isinstance(entries, dict):
            for name, entry in entries.items():
                old[name] = {**old.get(name, {}), **entry} if isinstance(entry, dict) else entry
        else:
            policy[section] = entries
    return Policy(**policy)


def load(text: str) -> dict[str, dict[str, dict[str, object]]]:
    import tomllib

    loaded = tomllib.loads(text)
    for database in loaded["databases"].values():
        for name in database["quasi_identifiers"]:
            database["quasi_identifiers"][name] = {"hierarchy": {"widths": [5.0]}}
    return loaded


def test_the_example_has_nothing_wrong() -> None:
    assert check_policy(changed()) == ()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (
            {"requests": {"diabetes": {"role": "Clinican"}}},
            "role 'Clinican' is not in the policy. Perhaps 'clinician' is meant.",
        ),
        ({"requests": {"diabetes": {"linkage": "C"}}}, "linkage 'C' is not in the policy"),
        ({"requests": {"diabetes": {"purpose": "fun"}}}, "purpose 'fun' is not in the policy"),
        ({"requests": {"diabetes": {"purpose": None}}}, "does not say for what purpose"),
        (
            {"databases": {"Pharmacy B": {"purposes": ["audit"]}}, "purposes": {"audit": ""}},
            "request 'diabetes': database 'Pharmacy B' may not be linked for its purpose",
        ),
        (
            {"databases": {"Hospital A": {"authenticates": []}}},
            "none of the databases of linkage 'A with B' authenticates role 'clinician'",
        ),
        ({"databases": {"Hospital A": {"k": None}}}, "database 'Hospital A': it has no k"),
        (
            {"databases": {"Hospital A": {"quasi_identifiers": ["birth"]}}},
            "quasi-identifier 'birth' has no hierarchy",
        ),
        (
            {"databases": {"Hospital A": {"quasi_identifiers": {"birth": "gone.csv"}}}},
            "the hierarchy's file of 'birth' is not there",
        ),
        (
            {"databases": {"Hospital A": {"quasi_identifiers": {}}}},
            "nothing would be generalised for the roles",
        ),
        (
            {
                "databases": {
                    "Hospital A": {"quasi_identifiers": {"sex": {"hierarchy": {"lengths": [1]}}}}
                }
            },
            "databases 'Hospital A' and 'Pharmacy B' give it different hierarchies",
        ),
        (
            {
                "databases": {
                    "Hospital A": {
                        "quasi_identifiers": {"sex": {"hierarchy": {"widths": [5.0]}, "weight": 2}}
                    }
                }
            },
            "give it different weights",
        ),
        ({"linkages": {"A with B": {"from": ["Hospital A", "C"]}}}, "database 'C' is not in"),
        ({"linkages": {"empty": {"from": []}}}, "linkage 'empty': it links no database"),
        ({"databases": {"Hospital A": {"authenticates": ["nurse"]}}}, "role 'nurse' is not in"),
        ({"rules": ["gone.lp"]}, "the rules' file gone.lp is not there"),
    ],
)
def test_contradictions_are_said_in_plain_words(fields: dict[str, object], words: str) -> None:
    assert words in said(changed(**fields))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"databases": {"Pharmacy B": {"k": 1}}}, "its k is 1, which hides no person"),
        ({"roles": {"nurse": ""}}, "role 'nurse': no database authenticates it"),
        ({"databases": {"C": {"k": 2}}}, "database 'C': no linkage links it"),
        ({"linkages": {"other": {"from": ["Pharmacy B"]}}}, "no request asks for it"),
        ({"linkages": {"other": {"from": ["Pharmacy B"]}}}, "authenticates anybody"),
        ({"requests": {"diabetes": {"requester": ""}}}, "it does not say who asks"),
    ],
)
def test_gaps_are_warnings(fields: dict[str, object], words: str) -> None:
    policy = changed(**fields)
    assert said(policy) == ""
    assert words in said(policy, Severity.WARNING)


def test_errors_of_another_request_do_not_concern_this_one() -> None:
    policy = changed(
        databases={"C": {"quasi_identifiers": {"age": {}}}},
        linkages={"with C": {"from": ["Hospital A", "C"]}},
        requests={
            "other": {"role": "clinician", "linkage": "with C", "purpose": "research"},
        },
    )
    assert errors_for(policy, "diabetes") == ()
    assert len(errors_for(policy, "other")) == 2
