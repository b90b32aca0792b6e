"""Releases of the example clinic for the tests of the ledger."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.hierarchies import Hierarchy
from sfumato.semantics.associations import Association, Item
from sfumato.semantics.request_ledger import RequestLedger
from sfumato.semantics.requested_content import (
    Members,
    NotedAssociation,
    ReleaseEntry,
    noted,
    shown_tuples,
)

LANGUAGE = Hierarchy.from_columns(
    [
        ["7101 Cantonese", "7104 Mandarin", "5203 Hindi", "1201 English"],
        ["71 Chinese", "71 Chinese", "52 Indo-Aryan", "12 English"],
    ],
    "hierarchy file language.csv",
)
ETHNICITY = Hierarchy.from_columns(
    [["6101 Chinese", "6102 Taiwanese", "7103 Indian"], ["61 Asian", "61 Asian", "71 South"]],
    "hierarchy file ethnicity.csv",
)
HIERARCHIES = {"language": LANGUAGE, "ethnicity": ETHNICITY}
CODES = np.array([[1, 0], [1, 0], [0, 1], [2, 2], [3, -1], [3, 2]], dtype=np.int32)
LEVELS = np.array([[0, 1], [0, 1], [1, 1], [1, 0], [2, 0], [2, 0]], dtype=np.int8)
PERSONS = ["anna", "bert", "carl", "dora", "emil", "anna"]


def entry(**changes: Any) -> ReleaseEntry:
    """A release of six records of five persons."""
    tuples, _ = shown_tuples(
        HIERARCHIES, CODES, LEVELS, persons=np.unique(PERSONS, return_inverse=True)[1]
    )
    made = ReleaseEntry(
        requester="R. Searcher",
        role="researcher",
        request="diabetes",
        purpose="study of diabetes",
        linkage="clinic-registry",
        policy_hash="ab" * 32,
        schema='person = "patient"',
        k=2,
        quasi_identifiers=("language", "ethnicity"),
        individuals=5,
        manifest_hash="cd" * 32,
        file_hashes={"release.csv": "ef" * 32},
        figures={"LA": {"risk": 1 / 3, "sse_sst": 12.5}, "SLA": {"risk": 0.25, "sse_sst": None}},
        tuples=tuples,
    )
    return replace(made, **changes)


def members() -> Members:
    """Who is in which tuple of `entry`."""
    _, tuple_of = shown_tuples(HIERARCHIES, CODES, LEVELS)
    return Members(PERSONS, tuple_of)


def association(language: int = 1) -> NotedAssociation:
    """Mandarin, or another language, tells Chinese."""
    said = Association((Item("language", 0, language),), Item("ethnicity", 0, 0), 0.1, 0.95)
    return noted(said, HIERARCHIES)


def opened(folder: Path, **options: Any) -> RequestLedger:
    """The ledger of a test."""
    options.setdefault("make", True)
    return RequestLedger.open(folder / "book" / "ledger.sqlite", folder / "keys", **options)
