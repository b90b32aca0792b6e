from __future__ import annotations

import logging
from pathlib import Path

import pytest
from hypothesis import given
from semantics.policies import EXAMPLE, example, policies

from sfumato.core.errors import InputError
from sfumato.semantics.policy import (
    Severity,
    check_policy,
    dump_policy,
    errors_for,
    load_policy,
    relocated,
)
from sfumato.semantics.policy_terms import Policy

ILL_TYPED = """
@prefix sf: <urn:sfumato:policy#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
<urn:a> a sf:Database ; rdfs:label "A" ; sf:hasAnonymity [ sf:hasAnoReq "canary"^^xsd:integer ] .
"""


def in_order(policy: Policy) -> str:
    return policy.model_dump_json()


@given(policies)
def test_a_policy_survives_toml_and_turtle(tmp_path: Path, policy: Policy) -> None:
    for form in ("toml", "ttl"):
        file = tmp_path / f"policy.{form}"
        file.write_text(dump_policy(policy, form), encoding="utf-8", newline="")
        again = load_policy(file, locate=False)
        assert again == policy
        assert in_order(again) == in_order(policy)


def test_the_example_is_read_and_its_paths_are_located(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(EXAMPLE)
    policy = load_policy(tmp_path / "policy.toml")
    hospital = policy.databases["Hospital A"]
    assert hospital.k == 3
    assert list(hospital.quasi_identifiers) == ["birth", "sex", "ethnicity"]
    assert hospital.quasi_identifiers["sex"].hierarchy == tmp_path / "sex.csv"
    assert policy.requests["diabetes"].linkage == "A with B"


def test_toml_is_written_with_comments() -> None:
    text = dump_policy(example())
    assert "# Requests: who asks for which linkage." in text
    assert "k = 3 # individuals that a tuple must match at least" in text


def test_paths_follow_a_file_into_another_folder(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(EXAMPLE)
    policy = load_policy(tmp_path / "policy.toml", locate=False)
    moved = relocated(policy, tmp_path, tmp_path / "exchange")
    assert moved.databases["Hospital A"].quasi_identifiers["sex"].hierarchy == Path("../sex.csv")


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
        ("p.ttl", "<a> <b> .\n", "must be Turtle; found an error in line 1"),
        ("p.ttl", "<urn:a> <urn:sfumato:policy#hasQi> 1 .", "found sf:hasQi"),
        ("p.ttl", ILL_TYPED + "<urn:b> a sf:Database ; rdfs:label 'A' .", "two Databases named"),
        (
            "p.ttl",
            "@prefix sf: <urn:sfumato:policy#> . <urn:a> a sf:Database ; sf:hasAnonymity [] .",
            "must have one rdfs:label",
        ),
        (
            "p.ttl",
            ILL_TYPED,
            "databases.A.k: must be a whole number",
        ),
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


def test_turtle_without_lists_is_read_in_the_order_of_labels(tmp_path: Path) -> None:
    (tmp_path / "p.ttl").write_text(
        """
        @prefix sf: <urn:sfumato:policy#> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        <urn:b> a sf:Database ; rdfs:label "B" ; sf:hasAnonymity [ sf:hasAnoReq 2 ;
          sf:hasQI [ rdfs:label "sex" ; sf:hierarchy "sex.csv" ], [ rdfs:label "age" ] ] .
        <urn:a> a sf:Database ; rdfs:label "A" ; sf:authenticate <urn:r> .
        <urn:r> a sf:Role ; rdfs:label "clinician" .
        <urn:l> a sf:Linkage ; rdfs:label "L" ; sf:linkFrom <urn:b>, <urn:a> .
        """
    )
    policy = load_policy(tmp_path / "p.ttl")
    assert list(policy.databases) == ["A", "B"]
    assert list(policy.databases["B"].quasi_identifiers) == ["age", "sex"]
    assert policy.linkages["L"].from_ == ("A", "B")
    assert policy.databases["A"].authenticates == ("clinician",)


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
        ({"databases": {"Pharmacy B": {"k": 1}}}, "its k is 1, which hides nobody"),
        ({"roles": {"nurse": ""}}, "role 'nurse': no database authenticates it"),
        ({"databases": {"C": {"k": 2}}}, "database 'C': no linkage links it"),
        ({"linkages": {"other": {"from": ["Pharmacy B"]}}}, "nobody asks for it"),
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
