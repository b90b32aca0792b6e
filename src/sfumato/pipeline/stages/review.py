"""The stage ``review``: what people answered about possible matches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sfumato.core.errors import InputError
from sfumato.core.progress import Progress
from sfumato.linkage.earlier import read_earlier
from sfumato.linkage.files import IDENTIFYING, MODEL, REVIEW, SPEC
from sfumato.linkage.files import PAIRS as LINK_PAIRS
from sfumato.linkage.persons.decisions import read_decisions
from sfumato.pipeline.project.linking import Review, Reviewers, Unanswered
from sfumato.pipeline.stages.carried import carried_answers, keep_answers
from sfumato.pipeline.stages.copies import copy_private
from sfumato.pipeline.stages.link import LINK
from sfumato.pipeline.stages.place import REVIEW as NAME
from sfumato.pipeline.stages.place import Place, shown
from sfumato.pipeline.stages.stage import Made, Stage, Waiting
from sfumato.review.decisions.export import DECISIONS, decisions_table
from sfumato.review.project.folder import PAIRS, PROJECT, RECORDS, load_project, write_project
from sfumato.review.project.from_linkage import from_linkage
from sfumato.review.project.project import PAIR
from sfumato.review.project.project import Project as Pairs
from sfumato.review.terminal.answers import answers_in
from sfumato.review.terminal.fingerprint import records_hash
from sfumato.review.terminal.journal import LOCK, journals_in
from sfumato.review.terminal.opened import ORDER
from sfumato.table.table_files import write_table


def decisions_file(place: Place) -> Path:
    """Where the answers of a review in the web application are expected.

    Parameters
    ----------
    place
        The project.
    """
    review = place.project.review
    return place.at(review.decisions or review.folder / DECISIONS)


def _possible(place: Place) -> int:
    """Number of possible matches."""
    return int(pq.read_metadata(place.of_stage(LINK) / REVIEW).num_rows)


def _settings(place: Place) -> dict[str, Any]:
    review = place.project.review
    return {
        "by": review.by.value,
        "unanswered": review.unanswered.value,
        "certainty": review.certainty,
        "rules": review.settings.model_dump(mode="json"),
    }


def kept_file(place: Place) -> Path:
    """Where answers about pairs of earlier linkages are kept.

    Parameters
    ----------
    place
        The project.
    """
    folder = place.at(place.project.review.folder)
    return folder.with_name(f"{folder.name}.kept.parquet")


def _files(place: Place) -> dict[str, Path]:
    if place.project.review.by is Reviewers.SIMULATED:
        return {}
    if place.project.review.by is Reviewers.APPLICATION:
        file = decisions_file(place)
        return {"review.decisions": file} if file.is_file() else {}
    folder, kept = place.at(place.project.review.folder), kept_file(place)
    files = {f"review.folder/{path.name}": path for path in journals_in(folder)}
    return {**files, "review.kept": kept} if kept.is_file() else files


@dataclass(frozen=True)
class Wanted:
    """What people are asked at the terminal.

    Attributes
    ----------
    carried
        Answers that they gave before, about pairs that still read the same.
    project
        The other pairs; ``None`` where there is none.
    """

    carried: pa.Table
    project: Pairs | None


def _pairs_of(place: Place) -> Pairs:
    """All possible matches, under the project's rules."""
    return from_linkage(
        place.of_stage(LINK),
        np.random.default_rng(ORDER),
        settings=place.project.review.settings,
    )


def _wanted(place: Place) -> Wanted:
    project = _pairs_of(place)
    carried = carried_answers(project, kept_file(place))
    known = set(carried[PAIR].to_pylist())
    if not known:
        return Wanted(carried, project)
    others = pa.array([pair not in known for pair in project.pair_ids])
    if not pc.any(others).as_py():
        return Wanted(carried, None)
    return Wanted(carried, replace(project, pairs=project.pairs.filter(others)))


def _earlier(_place: Place) -> dict[str, tuple[str, ...]]:
    return {LINK: (LINK_PAIRS, REVIEW, IDENTIFYING, MODEL, SPEC)}


def _prepare(place: Place) -> None:
    """Make the folder that people review in at a terminal.

    Raises
    ------
    InputError
        If the one that is there was begun with other rules, or is something else.
    """
    review = place.project.review
    if review.by is not Reviewers.TERMINAL or not _possible(place):
        return
    folder, wanted = place.at(review.folder), _wanted(place).project
    if (folder / PROJECT).is_file():
        there = load_project(folder)
        if wanted is not None and _same_pairs(there, wanted):
            if there.settings == wanted.settings:
                return
            if journals_in(folder):
                raise InputError(
                    "section [review]",
                    "must be the one that the review was begun with",
                    found="other rules",
                    advice=f"set them back, or move the folder {folder.name} away",
                )
        keep_answers(answers_in(folder, there), there, kept_file(place))
        _put_aside(folder)
        wanted = _wanted(place).project
    if wanted is not None:
        write_project(wanted, folder)


def _same_pairs(one: Pairs, other: Pairs) -> bool:
    return set(one.pair_ids) == set(other.pair_ids) and records_hash(one.records) == records_hash(
        other.records
    )


def _put_aside(folder: Path) -> None:
    """Keep a review of other pairs, with its answers, under another name; drop one without."""
    if not journals_in(folder):
        for name in (PROJECT, RECORDS, PAIRS, LOCK):
            (folder / name).unlink(missing_ok=True)
        if not any(folder.iterdir()):
            folder.rmdir()
            return
    number = 1
    while folder.with_name(f"{folder.name}.earlier-{number}").exists():
        number += 1
    folder.rename(folder.with_name(f"{folder.name}.earlier-{number}"))


def _waits(place: Place) -> Waiting | None:
    possible = _possible(place)
    review = place.project.review
    if not possible or review.by is Reviewers.SIMULATED:
        return None
    if review.by is Reviewers.APPLICATION:
        return _waits_for_file(place, possible)
    folder, left = place.at(review.folder), _wanted(place).project
    if left is None:
        return None
    possible, answered = len(left.of_linkage), 0
    if (folder / PROJECT).is_file():
        pairs = load_project(folder)
        answered = len(set(answers_in(folder, pairs).answers) & left.of_linkage)
    begun = bool(journals_in(folder))
    if possible == answered or (begun and review.unanswered is Unanswered.APART):
        return None
    return Waiting(
        "reviewers",
        f"{possible - answered:,} of {possible:,} possible matches have no answer",
        possible - answered,
        (f"sfumato review play {shown(folder)}",),
    )


def _waits_for_file(place: Place, possible: int) -> Waiting | None:
    review, file, answered = place.project.review, decisions_file(place), 0
    if file.is_file():
        answered = _answered(place, file)
        if answered >= possible or review.unanswered is Unanswered.APART:
            return None
    link = shown(place.of_stage(LINK))
    return Waiting(
        "reviewers",
        f"{possible - answered:,} of {possible:,} possible matches have no answer",
        possible - answered,
        (
            f"sfumato review create {link}{_rules(review)}",
            "sfumato serve",
            f"sfumato review export ID --output {shown(file)}",
        ),
    )


def _rules(review: Review) -> str:
    """The rules as options of ``sfumato review create``."""
    plain = review.model_dump(mode="json")
    words = f" --k {review.k}" + (" --budget 1" if review.budget is None else "")
    for key in ("budget", "project_budget", "costs", "mask_width", "policy", "start"):
        if key in review.model_fields_set and plain[key] is not None:
            words += f" --{key.replace('_', '-')} {plain[key]}"
    return f"{words} --hints" if review.hints else words


def _answered(place: Place, file: Path) -> int:
    """Number of possible matches that a file of answers has an answer to, not taken back."""
    folder = place.of_stage(LINK)
    read_decisions(file, read_earlier(folder).pairs)
    table = pq.read_table(file, columns=["pair", "withdrawn"])
    held = table.filter(pc.invert(table["withdrawn"]))["pair"]
    wanted = pq.read_table(folder / REVIEW, columns=["pair"])["pair"]
    return len(set(held.to_pylist()) & set(wanted.to_pylist()))


def _make(place: Place, making: Path, progress: Progress) -> Made:
    review, possible = place.project.review, _possible(place)
    measured: dict[str, Any] = {"by": review.by.value, "possible_matches": possible}
    if not possible:
        return Made(measured | {"answered": 0}, "no possible match to look at")
    warnings: tuple[str, ...] = ()
    if review.by is Reviewers.APPLICATION:
        file = decisions_file(place)
        answered = _answered(place, file)
        copy_private(file, making / DECISIONS)
    else:
        if review.by is Reviewers.SIMULATED:
            from sfumato.pipeline.stages import simulated  # costs a start's time

            warnings = (simulated.WARNING,)
            pairs = _pairs_of(place)
            table, found = simulated.simulated_review(pairs, review.certainty, progress)
        else:
            table, found = _at_the_terminal(place, progress)
        write_table(table, making / DECISIONS)
        held = table.filter(pc.invert(table["withdrawn"]))[PAIR]
        answered = pc.count_distinct(held).as_py()
        measured |= found
    return Made(
        measured | {"answered": answered},
        f"{answered:,} of {possible:,} possible matches have an answer",
        warnings,
    )


def _at_the_terminal(place: Place, progress: Progress) -> tuple[pa.Table, dict[str, Any]]:
    """The answers of people, those carried over included, and what was shown to them."""
    from sfumato.review.terminal.begun import begun_in  # costs a start's time

    folder, wanted = place.at(place.project.review.folder), _wanted(place)
    carried: dict[str, Any] = {"carried": len(wanted.carried)}
    if wanted.project is None:
        return wanted.carried, carried
    pairs = load_project(folder)
    answers = decisions_table(answers_in(folder, pairs), pairs.of_linkage)
    return pa.concat_tables([wanted.carried, answers]), begun_in(folder, progress) | carried


STAGE = Stage(
    NAME, _settings, _make, files=_files, earlier=_earlier, prepare=_prepare, waits=_waits
)
