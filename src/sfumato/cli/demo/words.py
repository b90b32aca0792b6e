"""What the demo found, for the screen."""

from __future__ import annotations

import sys
from pathlib import Path
from shutil import which
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from sfumato.cli.demo.asked import G_BALANCE, H_AFFILIATION, LINKAGE
from sfumato.linkage.files import LINKED, LINKED_SCHEMA, REPORT, REVIEW
from sfumato.linkage.outcomes.thresholds import MATCH, POSSIBLE_MATCH

if TYPE_CHECKING:
    from sfumato.cli.demo.truth import LinkageTruth
    from sfumato.linkage.links import Links
    from sfumato.release.result import Release

WIDTH = 90
"""Characters in a line of text."""


def told(links: Links, truth: LinkageTruth, release: Release, folder: Path) -> str:
    """The demo in a page: the linkage beside the truth, the release, the files.

    Parameters
    ----------
    links
        The linkage.
    truth
        The same held against the truth.
    release
        The release of the linked file.
    folder
        Where the files are.
    """
    parts = (_of_linkage(links, truth), _of_release(release), _of_files(links.seed, folder))
    return "\n".join(line for part in parts for line in ("", *part))


def _of_linkage(links: Links, truth: LinkageTruth) -> list[str]:
    matches, possible = (
        np.count_nonzero(links.outcomes == each) for each in (MATCH, POSSIBLE_MATCH)
    )
    precision, recall = links.quality
    found = links.settled.persons.count
    rows = [
        ("matches that are right (precision)",
         f"{precision.value:.2%}", f"{truth.matches.precision:.2%}"),
        ("pairs of one person that match (recall)",
         f"{recall.value:.2%}", f"{truth.matches.recall:.2%}"),
    ]  # fmt: skip
    said = [
        f"Linked: {links.records.count:,} patients of two clinics are {found:,} persons, by a",
        "suggested specification and without labels.",
        f"Matches: {matches:,}; possible matches, which wait for clerical review: {possible:,}.",
    ]
    errors = [
        f"Truly {truth.persons:,} persons: two taken for one {truth.merges:,} times, one for two",
        f"{truth.splits:,} times.",
    ]
    if truth.wrong:
        errors += [
            f"Wrong matches: {truth.wrong:,}; twins are {truth.twins:,} of them, a senior and a",
            f"junior {truth.namesakes:,}. The model does not expect that two persons share an",
            "address, a telephone and a name: have pairs checked by hand.",
        ]
    return [*_filled(said), "", *_table(rows, "expected", "true"), "", *_filled(errors, "  ")]


def _of_release(release: Release) -> list[str]:
    before, after, loss = release.risk_before, release.risk, release.utility
    icd9_before, icd9_after = before.sensitive["icd9"], after.sensitive["icd9"]
    rows = [
        ("equivalence classes", f"{before.classes:,}", f"{after.classes:,}"),
        ("classes with only one person", f"{before.sample_uniques:,}", f"{after.sample_uniques:,}"),
        ("fewest persons in a class (pid_k)", f"{before.pid_k:,}", f"{after.pid_k:,}"),
        ("a record's best guess at its person (max_gidr)",
         f"{before.max_gidr.value:.1%}", f"{after.max_gidr.value:.1%}"),
        ("the same, averaged over classes (avg_gidr)",
         f"{before.avg_gidr.value:.1%}", f"{after.avg_gidr.value:.1%}"),
        ("persons matched by a register (marketer)",
         f"{before.marketer.value:.1%}", f"{after.marketer.value:.1%}"),
        ("a diagnosis learned about a person (h_affiliation)",
         f"{icd9_before.h_affiliation.value:.1%}", f"{icd9_after.h_affiliation.value:.1%}"),
    ]  # fmt: skip
    said = [
        f"Released: {before.records:,} visits of these {before.persons:,} persons. Asked for:",
        f"g_balance >= {G_BALANCE} and h_affiliation <= {H_AFFILIATION} in every class.",
    ]
    lost = f"  Information lost: ncp {loss.ncp:.1%}, mean error of a value (ane) {loss.ane:.3f}"
    return [*_filled(said), "", *_table(rows, "before", "after"), "", lost]


def _of_files(seed: int, folder: Path) -> list[str]:
    linked, schema = f"{LINKAGE}/{LINKED}", f"{LINKAGE}/{LINKED_SCHEMA}"
    files = {
        "report.html": "the report on the release, to read and sign: open it in a browser",
        f"{LINKAGE}/{REPORT}": "the report on the linkage",
        f"{LINKAGE}/{REVIEW}": "the possible matches, for those who decide them",
        linked: "the linked visits: random person ids, no names",
        "release.csv": "their release",
        "release.toml": "what repeats the release; keep it inside",
        "truth.csv": "who is who, beside the two clinics' tables",
        schema: "what each linked column is: read it, change it, and release again:",
    }
    width = max(map(len, files))
    program = "sfumato" if which("sfumato") else sys.argv[0]
    again = [
        f"{program} anonymize {folder / linked} --schema {folder / schema} \\",
        f"    --g-balance {G_BALANCE} --h-affiliation {H_AFFILIATION} --seed {seed} \\",
        f"    --output {folder / 'release.csv'}",
    ]
    return [
        f"In {folder}:",
        "",
        *(f"  {name:<{width}}  {what}" for name, what in files.items()),
        "",
        *(f"  {line}" for line in again),
    ]


def _filled(sentences: list[str], indent: str = "") -> list[str]:
    text = " ".join(sentences)
    return wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent)


def _table(rows: list[tuple[str, str, str]], one: str, other: str) -> list[str]:
    width = max(len(name) for name, *_ in rows)
    return [
        f"  {name:<{width}}  {first:>8}  {second:>8}"
        for name, first, second in [("", one, other), *rows]
    ]
