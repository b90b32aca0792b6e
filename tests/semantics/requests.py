"""The running example of paper 002 as files: Hospital A, Pharmacy B, a clinician, two times."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import sfumato as sf
from sfumato.semantics.request_ledger import RequestLedger
from sfumato.semantics.requested_release import RequestedRelease, anonymize_requested

HOSPITAL = """name,born,sex,ethnicity,language
Ashly,1972,F,Chinese,Mandarin
Alice,1975,F,Chinese,Mandarin
Jessica,1978,F,Chinese,English
Jack,1965,M,Mongolian,Mandarin
Emma,1962,F,Irish,English
Tom,1984,M,Irish,English
Ann,1988,F,English,English
Paul,1983,M,English,English
"""
LINKED_OF = {"Alice": "metformin", "Tom": "insulin", "Emma": "statin"}
HIERARCHIES = {
    "born": [
        f"{year};{(year - 1) // 10 * 10 + 1}-{(year - 1) // 10 * 10 + 10};"
        f"{'1960-1980' if year <= 1980 else '1981-2000'};*"
        for year in range(1961, 2001)
    ],
    "sex": ["F;*", "M;*"],
    "ethnicity": [
        "Chinese;Asian;*",
        "Mongolian;Asian;*",
        "Irish;European;*",
        "English;European;*",
    ],
    "language": ["Mandarin;Chinese languages;*", "English;Germanic;*"],
}
POLICY = """
roles = ["clinician"]
purposes = ["research"]

[databases."Hospital A"]
k = {k}
authenticates = ["clinician"]

[databases."Hospital A".quasi_identifiers]
born = "born.csv"
sex = "sex.csv"
ethnicity = "ethnicity.csv"
{more}

[databases."Pharmacy B"]
k = 2

[databases."Pharmacy B".quasi_identifiers]
born = "born.csv"
sex = "sex.csv"

[linkages."A with B"]
from = ["Hospital A", "Pharmacy B"]

[requests.diabetes]
role = "clinician"
linkage = "A with B"
purpose = "research"
requester = "Dr. Who"

[requests.stranger]
role = "visitor"
linkage = "A with B"
purpose = "research"
"""
LANGUAGE = 'language = { hierarchy = "language.csv", weight = 10 }'
SCHEMA = """
person = "name"
sensitive = ["drug"]

[quasi_identifiers]
born = "categorical"
sex = "categorical"
ethnicity = "categorical"

[quasi_identifiers.language]
kind = "categorical"
hierarchy = "language.csv"
weight = 10
"""


def write_example(folder: Path) -> Path:
    """All files of the example; the policies of time 1 and time 2 as ``one.toml``, ``two.toml``."""
    for name, lines in HIERARCHIES.items():
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "hospital.csv").write_text(HOSPITAL, encoding="utf-8")
    head, *rows = HOSPITAL.splitlines()
    linked = [
        f"{row},{LINKED_OF[row.split(',')[0]]}" for row in rows if row.split(",")[0] in LINKED_OF
    ]
    (folder / "linked.csv").write_text("\n".join([f"{head},drug", *linked, ""]), encoding="utf-8")
    (folder / "schema.toml").write_text(SCHEMA, encoding="utf-8")
    (folder / "one.toml").write_text(POLICY.format(k=3, more=""), encoding="utf-8")
    (folder / "two.toml").write_text(POLICY.format(k=3, more=LANGUAGE), encoding="utf-8")
    return folder


def opened(folder: Path) -> RequestLedger:
    """The ledger of the example."""
    return RequestLedger.open(folder / "book" / "ledger.sqlite", folder / "keys", make=True)


def release(
    folder: Path, policy: str, ledger: RequestLedger | None = None, **options: Any
) -> RequestedRelease:
    """The clinician's release under one of the policies."""
    asked: dict[str, Any] = {
        "policy": folder / policy,
        "request": "diabetes",
        "local": {"Hospital A": folder / "hospital.csv"},
        "seed": 1,
        "keep_order": True,
    }
    schema = sf.load_schema(folder / "schema.toml")
    return anonymize_requested(folder / "linked.csv", schema, ledger=ledger, **(asked | options))
