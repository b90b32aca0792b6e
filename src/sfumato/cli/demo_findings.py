"""What the demo found, beside the generator's truth, and which of its files to open."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sfumato.core.arrays import Bools, Ints
from sfumato.core.number_text import counted, percentage, share_text, wrapped
from sfumato.linkage.linkage_files import LINKED as LINKED_FILE
from sfumato.linkage.linkage_files import LINKED_SCHEMA, PAIRS, PERSONS
from sfumato.linkage.linkage_quality import Rates, quality_of_pairs
from sfumato.pipeline import demo_project, project_folder
from sfumato.reports.adversaries import ATTACK_TITLES
from sfumato.review.review_decisions import DECISIONS

if TYPE_CHECKING:
    from sfumato.pipeline.run import Status

_MATCH, _TWIN = "match", "twin"
_WIDTH = 90
"""Signs of a line of text, which pages show."""
_MEASURES = {
    "classes": "classes",
    "sample_uniques": "classes with only one person",
    "pid_k": "fewest people in a class (pid_k)",
    "max_gidr": "a record's best guess at its person (max_gidr)",
    "avg_gidr": "the same, averaged over classes (avg_gidr)",
    "marketer": "people found by a register (marketer)",
    "h_affiliation": "a diagnosis learned about a person (h_affiliation)",
}
"""What is shown before and after the release; the first three are counts."""
_COUNTS = ("classes", "sample_uniques", "pid_k")
_LEADING = ("sample_uniques", "pid_k", "marketer")
"""Those of them that a screen shows."""
_FIRST = ("output/reports/report.html", "output/release/release.csv")
"""The files that a screen names."""
_ATTACKS = ("exact_free", "probabilistic", "multi_record", "events_2", "inference", "row_order")
"""The attacks that are shown, beside those that found too much; the report has all of them."""
_OUTPUTS = {
    "reports/report.html": "the report of the project, to read and sign: open it first",
    "reports/report.pdf": "the same, to print",
    "public/report.html": "the same without what must stay inside: it may be published",
    "reports/linked.html": "how good the linkage is after the review",
    "reports/release.html": "what the release gives away, before and after",
    "reports/attack.html": "what the intruder found in it",
    "release/release.csv": "the release: it goes to its recipients",
}
"""What the last stage makes, as far as it is there."""


@dataclass(frozen=True)
class LinkageTruth:
    """What a linkage and its review found, and what is true.

    Found persons are true persons plus splits minus merges.

    Attributes
    ----------
    persons
        Number of true persons.
    splits
        Persons found beyond the first among the records of one true person, summed.
    merges
        True persons beyond the first among the records of one person found, summed.
    inferred, reviewed
        Precision and recall of the persons, over all pairs of records within them: as they were
        linked, and after the review.
    wrong
        Number of pairs called a match in the end that are of two persons.
    twins, namesakes
        How many of these are between twins, and between a senior and a junior of one name.
    answers, right_answers
        Number of answers of the review, and of right ones.
    """

    persons: int
    splits: int
    merges: int
    inferred: Rates
    reviewed: Rates
    wrong: int
    twins: int
    namesakes: int
    answers: int
    right_answers: int


@dataclass(frozen=True)
class _Pairs:
    """Candidate pairs by places of their records in the truth."""

    names: pa.ChunkedArray
    left: Ints
    right: Ints
    match: Bools


def against_the_truth(place: project_folder.ProjectFolder) -> LinkageTruth:
    """Hold the linkage of the demo's project, which has run, against the truth."""
    truth = demo_project.truth_of(place)
    link, linked, review = map(
        place.of_stage, (project_folder.LINK, project_folder.LINKED, project_folder.REVIEW)
    )
    person = pc.dictionary_encode(truth["person"]).combine_chunks().indices.to_numpy()
    by_score = _pairs(link / PAIRS, truth)
    # Where nobody answered anything, the linkage by score holds in the end.
    after = _pairs(linked / PAIRS, truth) if (linked / PAIRS).is_file() else by_score
    wrong = after.match & (person[after.left] != person[after.right])
    twin = np.asarray(pc.equal(truth["relation"], _TWIN))
    namesake = np.asarray(pc.not_equal(truth["relation"], "")) & ~twin
    found = _found(linked / PERSONS, truth)
    # As many as pairs of a found and a true person: what is more than either are splits and
    # merges.
    together = len(np.unique(np.column_stack([found, person]), axis=0))
    count = len(np.unique(person))
    answers, right = _answers(review / DECISIONS, by_score, person)
    return LinkageTruth(
        persons=count,
        splits=together - count,
        merges=together - len(np.unique(found)),
        inferred=quality_of_pairs(_found(link / PERSONS, truth), person).rates,
        reviewed=quality_of_pairs(found, person).rates,
        wrong=int(np.count_nonzero(wrong)),
        twins=int(np.count_nonzero(wrong & twin[after.left] & twin[after.right])),
        namesakes=int(np.count_nonzero(wrong & namesake[after.left] & namesake[after.right])),
        answers=answers,
        right_answers=right,
    )


def _pairs(path: Path, truth: pa.Table) -> _Pairs:
    table = pq.read_table(path)
    left, right = (_places(table, f"source_{end}", f"id_{end}", truth) for end in "lr")
    return _Pairs(table["pair"], left, right, np.asarray(pc.equal(table["outcome"], _MATCH)))


def _found(path: Path, truth: pa.Table) -> Ints:
    """The person found of each record of the truth."""
    table = pq.read_table(path)
    found = np.empty(truth.num_rows, dtype=np.int64)
    person = pc.dictionary_encode(table["person"]).combine_chunks().indices.to_numpy()
    found[_places(table, "source", "id", truth)] = person
    return found


def _answers(path: Path, pairs: _Pairs, person: Ints) -> tuple[int, int]:
    """Number of answers about candidate pairs, and of right ones."""
    if not path.is_file():
        return 0, 0
    table = pq.read_table(path, columns=["pair", "answer"])
    place = pc.index_in(table["pair"], pairs.names).to_numpy()
    same = person[pairs.left[place]] == person[pairs.right[place]]
    right = (table["answer"].to_numpy() > 0) == same
    return len(right), int(np.count_nonzero(right))


def _places(table: pa.Table, source: str, name: str, truth: pa.Table) -> Ints:
    """ProjectFolder in the truth of each record that a table names by its source and its id."""
    known = _keys(truth["clinic"], truth["patient"])
    places: Ints = pc.index_in(_keys(table[source], table[name]), known).to_numpy()
    return places


def _keys(source: pa.ChunkedArray, name: pa.ChunkedArray) -> pa.ChunkedArray:
    text = pa.string()
    # A tab is in no name and in no number.
    return pc.binary_join_element_wise(source.cast(text), name.cast(text), "\t")


def findings(status: Status, truth: LinkageTruth) -> str:
    """The demo in a page: linkage and review beside the truth, release, attack, files.

    Parameters
    ----------
    status
        The project, run to its end.
    truth
        Its linkage held against the truth.
    """
    measured = {
        name: status.measured(name) or {}
        for name in (project_folder.LINK, project_folder.REVIEW, project_folder.LINKED)
    }
    parts = (
        _of_linkage(measured, truth),
        _of_release(status.measured(project_folder.RELEASE) or {}),
        _of_attack(status.measured(project_folder.ATTACK) or {}),
        _of_files(status),
    )
    return "\n".join(line for part in parts for line in ("", *part))


def brief_findings(status: Status) -> str:
    """The demo in a few lines: what the release changes."""
    release = status.measured(project_folder.RELEASE) or {}
    return "\n".join(("", *_table(_before_and_after(release, _LEADING), "before", "after")))


def brief_end(status: Status, truth: LinkageTruth) -> str:
    """The linkage by the truth, which files to open, and how to go on."""
    right, there = (
        share_text(share) for share in (truth.reviewed.precision, truth.reviewed.recall)
    )
    known = [
        f"By the made-up truth, which only a demo knows: {right} of the pairs joined are right,",
        f"{there} of the true pairs are joined.",
    ]
    folder = project_folder.shell_path(status.place.folder)
    every = _files_of(status)
    files = {f"{folder}/{name}": every[name] for name in _FIRST if name in every}
    width = max(map(len, files), default=0)
    return "\n".join(
        (
            *_filled(known),
            "",
            *(f"{name:<{width}}  {what}" for name, what in files.items()),
            _goes_on(status),
        )
    )


def _of_linkage(measured: dict[str, dict[str, Any]], truth: LinkageTruth) -> list[str]:
    link, found = measured[project_folder.LINK], measured[project_folder.LINKED]["persons"]["count"]
    rows = [
        (
            f"{says} ({name})",
            *(percentage(link["persons"][name][part], 2) for part in ("low", "value", "high")),
            *(percentage(getattr(each, name), 2) for each in (truth.inferred, truth.reviewed)),
        )
        for name, says in (
            ("precision", "pairs joined that are right"),
            ("recall", "true pairs that are joined"),
        )
    ]
    patients = sum(link["records"][name] for name in demo_project.CLINICS)
    matches, possible = (link["outcomes"][name] for name in ("match", "possible_match"))
    said = [
        f"Linked: {patients:,} patients of two clinics are {counted(found, 'person')}, by a",
        f"proposed specification and without labels. Matches: {matches:,}; possible matches,",
        f"which were reviewed: {possible:,}. {_reviewed(measured[project_folder.REVIEW], truth)}",
    ]
    errors = [
        f"Truly {counted(truth.persons, 'person')}: two taken for one",
        f"{counted(truth.merges, 'time')}, one for two {counted(truth.splits, 'time')}.",
    ]
    if truth.wrong:
        errors += [
            f"Wrong matches: {truth.wrong:,}; twins are {truth.twins:,} of them, a senior and a",
            f"junior {truth.namesakes:,}. They share an address, a telephone and a name; people",
            "who check pairs can know more.",
        ]
    table = _table(rows, "from", "expected", "to", "true", "reviewed")
    return [*_filled(said), "", *table, "", *_filled(errors, "  ")]


def _reviewed(review: dict[str, Any], truth: LinkageTruth) -> str:
    if not truth.answers:
        return ""
    worker = review["workers"][0]
    apart = "; records of the others stay apart" if truth.answers < worker["pairs"] else ""
    return (
        f"A simulated worker, who judges by the model, answered {truth.answers:,} of them, "
        f"{truth.right_answers:,} rightly{apart}. It saw "
        f"{percentage(worker['characters'])} of the characters, at a KAPR of "
        f"{worker['kapr']:.4f} from a budget of {worker['budget']:g}."
    )


def _of_release(release: dict[str, Any]) -> list[str]:
    rows = _before_and_after(release, tuple(_MEASURES))
    before = release["before"]
    two = "people found by two visits (found_2)"
    rows.append((two, _two_events(before), _two_events(release)))
    loss = release["utility"]
    k, h = demo_project.FEWEST, demo_project.H_AFFILIATION
    said = [
        f"Released: {release['records']:,} visits of these {release['persons']:,} people. Asked",
        f"for: {k} people with about as many visits in every class, h_affiliation <= {h}, and",
        f"known_events: two visits known to within 3 days find at most 1 in {k}.",
    ]
    lost = f"ncp {percentage(loss['ncp'])}, mean error of a value (ane) {loss['ane']:.3f}"
    table = _table(rows, "before", "after")
    return [*_filled(said), "", *table, "", f"  Detail lost in the quasi-identifiers alone: {lost}"]


def _before_and_after(release: dict[str, Any], names: Sequence[str]) -> list[tuple[str, ...]]:
    """What measures say before and after the release."""
    both = (release["before"], release)
    return [
        (_MEASURES[name], *(_number(each[name], name in _COUNTS) for each in both))
        for name in names
    ]


def _two_events(measures: dict[str, Any]) -> str:
    """The share of people found by an intruder who knows two of their events."""
    told = {
        (measure["m"], measure["drawn"]): measure["found"] for measure in measures["known_events"]
    }
    return _number(told[2, "random"])


def _of_attack(attack: dict[str, Any]) -> list[str]:
    rows = [
        (
            _title(each["attack"]),
            *(_number(each[name]) for name in ("success", "predicted", "allowed", "baseline")),
        )
        for each in attack["attacks"]
        # Those that matter most, and whatever went wrong.
        if each["attack"].partition(":")[0] in _ATTACKS or each["broken"]
    ]
    said = [
        "Attacked: an intruder who knows the exact quasi-identifiers of everybody in the release",
        "guesses the person of each record. How many guesses are right: as found, as predicted by",
        "the release's own measures, at most while chance explains it, and without the release:",
    ]
    table = _table(rows, "found", "predicted", "at most", "without")
    return [*_filled(said), "", *table, "", *_filled([attack["sentence"]], "  ")]


def _title(attack: str) -> str:
    """What the report of the attack calls it."""
    name, _, column = attack.partition(":")
    return f"{ATTACK_TITLES.get(name, name)}: {column}" if column else ATTACK_TITLES.get(name, name)


def _of_files(status: Status) -> list[str]:
    place = status.place
    files = _files_of(status)
    width = max(map(len, files))
    return [
        f"In {project_folder.shell_path(place.folder)}:",
        "",
        *(f"  {name:<{width}}  {what}" for name, what in files.items()),
        "",
        _goes_on(status),
    ]


def _goes_on(status: Status) -> str:
    """What to change, and what to type then."""
    # Started as a module, the program has no name that can be typed.
    program = "sfumato" if which("sfumato") else sys.argv[0]
    folder = project_folder.shell_path(status.place.folder)
    return f"Go on: change {status.place.file.name}, then type: {program} run {folder}"


def _number(value: Any, count: bool = False) -> str:
    """A count, or a share in percent; a measure with its interval by its value."""
    if isinstance(value, dict):
        value = value["value"]
    if value is None:
        return "-"
    return f"{value:,}" if count else percentage(value)


def _filled(sentences: list[str], indent: str = "") -> list[str]:
    text = " ".join(" ".join(sentences).split())
    return wrapped(text, indent, indent, _WIDTH)


def _table(rows: Sequence[tuple[str, ...]], *heads: str) -> list[str]:
    width = max(len(name) for name, *_ in rows)
    return [
        "  ".join((f"  {name:<{width}}", *(f"{value:>9}" for value in values)))
        for name, *values in [("", *heads), *rows]
    ]


def _files_of(status: Status) -> dict[str, str]:
    """Files by their paths from the demo's folder, each with what it is."""
    place = status.place
    made = {
        _from(place.folder, place.of_stage(project_folder.REPORT) / name): _OUTPUTS[name]
        for name in _OUTPUTS
    }
    found = {name: what for name, what in made.items() if (place.folder / name).is_file()}
    linked = place.of_stage(project_folder.LINKED)
    return found | {
        _from(place.folder, linked / LINKED_FILE): "the linked visits: random person ids, no names",
        _from(place.folder, linked / LINKED_SCHEMA): "what each linked column is",
        place.file.name: "the project file, with comments",
        demo_project.TRUTH: "who is who, beside the two clinics' tables",
    }


def _from(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix()
