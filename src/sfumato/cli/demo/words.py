"""What the demo found, for the screen."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from shutil import which
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from sfumato.cli.demo.files import files_of
from sfumato.pipeline.demo_project import CLINICS, G_BALANCE, H_AFFILIATION
from sfumato.pipeline.project_folder import ATTACK, LINK, LINKED, RELEASE, REVIEW, shell_path
from sfumato.reports.adversaries import ATTACK_TITLES

if TYPE_CHECKING:
    from sfumato.cli.demo.truth import LinkageTruth
    from sfumato.pipeline.run import Status

WIDTH = 90
"""Characters in a line of text."""
_MEASURES = {
    "classes": "equivalence classes",
    "sample_uniques": "classes with only one person",
    "pid_k": "fewest persons in a class (pid_k)",
    "max_gidr": "a record's best guess at its person (max_gidr)",
    "avg_gidr": "the same, averaged over classes (avg_gidr)",
    "marketer": "persons matched by a register (marketer)",
    "h_affiliation": "a diagnosis learned about a person (h_affiliation)",
}
"""What is shown before and after the release; the first three are counts."""
_COUNTS = ("classes", "sample_uniques", "pid_k")
_ATTACKS = ("exact_free", "probabilistic", "multi_record", "inference", "row_order")
"""The attacks that are shown, beside those that found too much; the report has all of them."""


def told(status: Status, truth: LinkageTruth) -> str:
    """The demo in a page: linkage and review beside the truth, release, attack, files.

    Parameters
    ----------
    status
        The project, run to its end.
    truth
        Its linkage held against the truth.
    """
    measured = {name: status.measured(name) or {} for name in (LINK, REVIEW, LINKED)}
    parts = (
        _of_linkage(measured, truth),
        _of_release(status.measured(RELEASE) or {}),
        _of_attack(status.measured(ATTACK) or {}),
        _of_files(status),
    )
    return "\n".join(line for part in parts for line in ("", *part))


def _of_linkage(measured: dict[str, dict[str, Any]], truth: LinkageTruth) -> list[str]:
    link, found = measured[LINK], measured[LINKED]["persons"]["count"]
    expected = link["expected"]
    rows = [
        ("matches that are right (precision)",
         *map(_fine, (expected["precision"], truth.by_score.precision, truth.matches.precision))),
        ("pairs of one person that match (recall)",
         *map(_fine, (expected["recall"], truth.by_score.recall, truth.matches.recall))),
    ]  # fmt: skip
    patients = sum(link["records"][name] for name in CLINICS)
    matches, possible = (link["outcomes"][name] for name in ("match", "possible_match"))
    said = [
        f"Linked: {patients:,} patients of two clinics are {found:,} persons, by a proposed",
        f"specification and without labels. Matches: {matches:,}; possible matches, which were",
        f"reviewed: {possible:,}. {_reviewed(measured[REVIEW], truth)}",
    ]
    errors = [
        f"Truly {truth.persons:,} persons: two taken for one {truth.merges:,} times, one for two",
        f"{truth.splits:,} times.",
    ]
    if truth.wrong:
        errors += [
            f"Wrong matches: {truth.wrong:,}; twins are {truth.twins:,} of them, a senior and a",
            f"junior {truth.namesakes:,}. The model does not expect that two persons share an",
            "address, a telephone and a name: have pairs checked by people, who can.",
        ]
    table = _table(rows, "expected", "true", "reviewed")
    return [*_filled(said), "", *table, "", *_filled(errors, "  ")]


def _reviewed(review: dict[str, Any], truth: LinkageTruth) -> str:
    if not truth.answers:
        return ""
    worker = review["workers"][0]
    apart = "; records of the others stay apart" if truth.answers < worker["pairs"] else ""
    return (
        f"A simulated worker, who judges by the model, answered {truth.answers:,} of them, "
        f"{truth.right_answers:,} rightly{apart}. It saw "
        f"{worker['characters']:.1%} of the characters, at a KAPR of {worker['kapr']:.4f} from a "
        f"budget of {worker['budget']:g}."
    )


def _of_release(release: dict[str, Any]) -> list[str]:
    before, loss = release["before"], release["utility"]
    rows = [
        (said, _number(before[name], name in _COUNTS), _number(release[name], name in _COUNTS))
        for name, said in _MEASURES.items()
    ]
    said = [
        f"Released: {release['records']:,} visits of these {release['persons']:,} persons. Asked",
        f"for: g_balance >= {G_BALANCE} and h_affiliation <= {H_AFFILIATION} in every class.",
    ]
    lost = f"ncp {loss['ncp']:.1%}, mean error of a value (ane) {loss['ane']:.3f}"
    table = _table(rows, "before", "after")
    return [*_filled(said), "", *table, "", f"  Information lost: {lost}"]


def _of_attack(attack: dict[str, Any]) -> list[str]:
    rows = [
        (
            _title(each["attack"]),
            *(_number(each[name]) for name in ("success", "predicted", "allowed", "baseline")),
        )
        for each in attack["attacks"]
        if each["attack"].partition(":")[0] in _ATTACKS or each["broken"]
    ]
    said = [
        "Attacked: an intruder who knows the exact quasi-identifiers of everybody in the release",
        "guesses whose each record is. How many guesses are right: as found, as predicted by the",
        "release's own measures, at most while chance explains it, and without the release:",
    ]
    verdict = f"  {attack['verdict']}"
    table = _table(rows, "found", "predicted", "at most", "without")
    return [*_filled(said), "", *table, "", verdict]


def _title(attack: str) -> str:
    """What the report of the attack calls it."""
    name, _, column = attack.partition(":")
    return f"{ATTACK_TITLES.get(name, name)}: {column}" if column else ATTACK_TITLES.get(name, name)


def _of_files(status: Status) -> list[str]:
    place = status.place
    files = files_of(status)
    width = max(map(len, files))
    program = "sfumato" if which("sfumato") else sys.argv[0]
    return [
        f"In {shell_path(place.folder)}:",
        "",
        *(f"  {name:<{width}}  {what}" for name, what in files.items()),
        "",
        f"Go on: change {place.file.name}, then type: {program} run {shell_path(place.folder)}",
    ]


def _fine(value: float) -> str:
    """A share in percent with two decimals; all of them only where it is all of them."""
    return ">99.99%" if 0.99995 <= value < 1 else f"{value:.2%}"


def _number(value: Any, count: bool = False) -> str:
    """A count, or a share in percent; a measure with its interval by its value."""
    if isinstance(value, dict):
        value = value["value"]
    if value is None:
        return "-"
    return f"{value:,}" if count else f"{value:.1%}"


def _filled(sentences: list[str], indent: str = "") -> list[str]:
    text = " ".join(" ".join(sentences).split())
    return wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent)


def _table(rows: Sequence[tuple[str, ...]], *heads: str) -> list[str]:
    width = max(len(name) for name, *_ in rows)
    return [
        "  ".join((f"  {name:<{width}}", *(f"{each:>9}" for each in values)))
        for name, *values in [("", *heads), *rows]
    ]
