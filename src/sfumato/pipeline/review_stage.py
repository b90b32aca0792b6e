"""How possible matches are reviewed in a project: the stage ``review``, and answers kept on."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sfumato.core.declaration import Place, Progress
from sfumato.core.errors import InputError
from sfumato.core.number_text import counted
from sfumato.linkage import linkage_files
from sfumato.linkage.earlier_linkage import read_earlier
from sfumato.linkage.match_decisions import read_decisions
from sfumato.pipeline.project_folder import LINK, REVIEW, ProjectFolder, copy_private, shell_path
from sfumato.pipeline.project_model import Review, Reviewers, Unanswered
from sfumato.pipeline.stage import Made, Stage, Waiting
from sfumato.review import review_project
from sfumato.review.hints import evidence_of
from sfumato.review.review_decisions import DECISIONS, Decisions, decisions_table
from sfumato.review.review_forecast import SimulatedWorker, frequencies_of
from sfumato.review.review_journal import LOCK, answers_in, journals_in, records_hash
from sfumato.review.review_project import index_of, review_of
from sfumato.review.review_settings import plain_settings
from sfumato.review.review_sources import ORDER, from_linkage
from sfumato.review.worker_state import WorkerState
from sfumato.table.table_files import write_table

_ANSWER = ("worker", "answer", "time")
_KEPT = (review_project.LEFT, review_project.RIGHT, *_ANSWER)
"""Columns of the file of kept answers: hashes of the two records, and the answer."""
WORKER = "simulated"
WARNING = "the answers about possible matches are a simulated worker's, no person looked at them"
_TIME = datetime(2000, 1, 1, tzinfo=UTC)
"""When it answered: always the same, so that the same pairs give the same persons."""
_SURE, _RATHER = 0.98, 0.9
"""Probabilities from which an answer is of high, and of medium confidence."""


def _decisions_file(place: ProjectFolder) -> Path:
    """Where the answers of a review in the web application are expected."""
    review = place.project.review
    return place.at(review.decisions or review.folder / DECISIONS)


def _possible(place: ProjectFolder) -> int:
    """Number of possible matches."""
    return int(pq.read_metadata(place.of_stage(LINK) / linkage_files.REVIEW).num_rows)


def _settings(place: ProjectFolder) -> dict[str, Any]:
    review = place.project.review
    return {
        "by": review.by.value,
        "unanswered": review.unanswered.value,
        "certainty": review.certainty,
        "rules": review.settings.model_dump(mode="json"),
    }


def _kept_file(place: ProjectFolder) -> Path:
    """Where answers about pairs of earlier linkages are kept."""
    folder = place.at(place.project.review.folder)
    return folder.with_name(f"{folder.name}.kept.parquet")


def _files(place: ProjectFolder) -> dict[str, Place]:
    if place.project.review.by is Reviewers.SIMULATED:
        return {}
    if place.project.review.by is Reviewers.APPLICATION:
        file = _decisions_file(place)
        return {"review.decisions": file} if file.is_file() else {}
    folder, kept = place.at(place.project.review.folder), _kept_file(place)
    files: dict[str, Place] = {f"review.folder/{path.name}": path for path in journals_in(folder)}
    return {**files, "review.kept": kept} if kept.is_file() else files


def _pairs_of(place: ProjectFolder) -> review_project.Project:
    """All possible matches, under the project's rules."""
    # One seed for all: the same linkage must give the same pairs in the same order.
    return from_linkage(
        place.of_stage(LINK), np.random.default_rng(ORDER), settings=place.project.review.settings
    )


def _carried_and_left(place: ProjectFolder) -> tuple[pa.Table, review_project.Project | None]:
    """Answers given before, about pairs that still read the same; the other pairs, if any."""
    project = _pairs_of(place)
    carried = carried_answers(project, _kept_file(place))
    answered = set(carried[review_project.PAIR].to_pylist())
    if not answered:
        return carried, project
    left = pa.array([pair not in answered for pair in project.pair_ids])
    if not pc.any(left).as_py():
        return carried, None
    return carried, replace(project, pairs=project.pairs.filter(left))


def _earlier(_place: ProjectFolder) -> dict[str, tuple[str, ...]]:
    return {
        LINK: (
            linkage_files.PAIRS,
            linkage_files.REVIEW,
            linkage_files.IDENTIFYING,
            linkage_files.MODEL,
            linkage_files.SPEC,
        )
    }


def _prepare(place: ProjectFolder) -> None:
    """Make the folder that people review in at the desk."""
    review = place.project.review
    if review.by is not Reviewers.DESK or not _possible(place):
        return
    folder, (_, left) = place.at(review.folder), _carried_and_left(place)
    if (folder / review_project.PROJECT).is_file():
        there = review_project.load_project(folder)
        if left is not None and _same_pairs(there, left):
            if there.settings == left.settings:
                return
            if journals_in(folder):
                raise InputError(
                    "section [review]",
                    "must be the one that the review was begun with",
                    found="other rules",
                    advice=f"set them back, or move the folder {folder.name} away",
                )
        # Before the folder goes: answers about records that still read the same hold on.
        _keep_answers(answers_in(folder, there), there, _kept_file(place))
        _put_aside(folder)
        _, left = _carried_and_left(place)
    if left is not None:
        review_project.write_project(left, folder)


def _same_pairs(one: review_project.Project, other: review_project.Project) -> bool:
    return set(one.pair_ids) == set(other.pair_ids) and records_hash(one.records) == records_hash(
        other.records
    )


def _put_aside(folder: Path) -> None:
    """Keep a review of other pairs, with its answers, under another name; drop one without."""
    if not journals_in(folder):
        for name in (review_project.PROJECT, review_project.RECORDS, review_project.PAIRS, LOCK):
            (folder / name).unlink(missing_ok=True)
        if not any(folder.iterdir()):
            folder.rmdir()
            return
    number = 1
    while folder.with_name(f"{folder.name}.earlier-{number}").exists():
        number += 1
    folder.rename(folder.with_name(f"{folder.name}.earlier-{number}"))


def _waits(place: ProjectFolder) -> Waiting | None:
    possible = _possible(place)
    review = place.project.review
    if not possible or review.by is Reviewers.SIMULATED:
        return None
    if review.by is Reviewers.APPLICATION:
        return _waits_for_file(place, possible)
    folder, (_, left) = place.at(review.folder), _carried_and_left(place)
    if left is None:
        return None
    possible, answered = len(left.of_linkage), 0
    if (folder / review_project.PROJECT).is_file():
        pairs = review_project.load_project(folder)
        answered = len(set(answers_in(folder, pairs).answers) & left.of_linkage)
    begun = bool(journals_in(folder))
    if possible == answered or (begun and review.unanswered is Unanswered.APART):
        return None
    return _waiting(answered, possible, f"sfumato open {shell_path(place.file)}")


def _waits_for_file(place: ProjectFolder, possible: int) -> Waiting | None:
    review, file, answered = place.project.review, _decisions_file(place), 0
    if file.is_file():
        answered = _answered(place, file)
        if answered >= possible or review.unanswered is Unanswered.APART:
            return None
    link = shell_path(place.of_stage(LINK))
    return _waiting(
        answered,
        possible,
        f"sfumato review create {link}{_rules(review)}",
        "sfumato serve",
        f"sfumato review export ID --output {shell_path(file)}",
    )


def _waiting(answered: int, possible: int, *commands: str) -> Waiting:
    count = possible - answered
    what = f"no answer to {count:,} of {counted(possible, 'possible match')}"
    return Waiting("reviewers", what, count, commands)


def _rules(review: Review) -> str:
    """The rules as options of ``sfumato review create``."""
    plain = review.model_dump(mode="json")
    words = f" --k {review.k}" + (" --budget 1" if review.budget is None else "")
    for key in ("budget", "project_budget", "costs", "mask_width", "policy", "start"):
        if key in review.model_fields_set and plain[key] is not None:
            words += f" --{key.replace('_', '-')} {plain[key]}"
    return f"{words} --hints" if review.hints else words


def _answered(place: ProjectFolder, file: Path) -> int:
    """Number of possible matches that a file of answers has an answer to, not taken back."""
    folder = place.of_stage(LINK)
    # Refuses answers to another linkage before they are counted.
    read_decisions(file, read_earlier(folder).pairs)
    table = pq.read_table(file, columns=["pair", "withdrawn"])
    held = table.filter(pc.invert(table["withdrawn"]))["pair"]
    wanted = pq.read_table(folder / linkage_files.REVIEW, columns=["pair"])["pair"]
    return len(set(held.to_pylist()) & set(wanted.to_pylist()))


def _make(place: ProjectFolder, making: Path, progress: Progress) -> Made:
    review, possible = place.project.review, _possible(place)
    measured: dict[str, Any] = {"by": review.by.value, "possible_matches": possible}
    if not possible:
        return Made(measured | {"answered": 0}, "no possible match to look at")
    warnings: tuple[str, ...] = ()
    if review.by is Reviewers.APPLICATION:
        file = _decisions_file(place)
        answered = _answered(place, file)
        # A copy: the stage keeps what it was made of, whatever becomes of the file.
        copy_private(file, making / DECISIONS)
    else:
        if review.by is Reviewers.SIMULATED:
            warnings = (WARNING,)
            table, found = _simulated_review(_pairs_of(place), review.certainty, progress)
        else:
            table, found = _at_the_desk(place, progress)
        write_table(table, making / DECISIONS)
        held = table.filter(pc.invert(table["withdrawn"]))[review_project.PAIR]
        answered = pc.count_distinct(held).as_py()
        measured |= found
    return Made(
        measured | {"answered": answered},
        f"{answered:,} of {counted(possible, 'possible match')} answered",
        warnings,
    )


def _at_the_desk(place: ProjectFolder, progress: Progress) -> tuple[pa.Table, dict[str, Any]]:
    """The answers of people, those carried over included, and what was shown to them."""
    from sfumato.review.reviewer_agreement import review_progress  # costs a start's time

    folder, (carried, left) = place.at(place.project.review.folder), _carried_and_left(place)
    measured: dict[str, Any] = {"carried": len(carried)}
    if left is None:
        return carried, measured
    pairs = review_project.load_project(folder)
    answers = decisions_table(answers_in(folder, pairs), pairs.of_linkage)
    return pa.concat_tables([carried, answers]), review_progress(folder, progress) | measured


def _simulated_review(
    project: review_project.Project, certainty: float, progress: Progress
) -> tuple[pa.Table, dict[str, Any]]:
    """The answers of a simulated worker who sees renderings only, and what it was shown.

    Parameters
    ----------
    certainty
        It opens cells until the probability of its answer is at least this, in [0.5, 1].
    """
    evidence = evidence_of(project)
    if evidence is None:
        raise InputError(
            "section [review]", "needs a linkage's model for a simulated worker", found="none"
        )
    review = review_of(project, project.settings, index_of(project, project.settings, progress))
    worker = WorkerState(review, range(review.pairs))
    judge = SimulatedWorker(evidence, frequencies_of(review.index.database), certainty)
    judged = [judge.judge(worker, pair) for pair in range(review.pairs)]
    said = {
        pair: _answer(belief)
        for pair, belief in zip(project.pair_ids, judged, strict=True)
        if belief is not None
    }
    columns = {
        "pair": list(said),
        "worker": [WORKER] * len(said),
        "answer": list(said.values()),
        "time": [_TIME] * len(said),
        "withdrawn": np.zeros(len(said), dtype=np.bool_),
    }
    form = decisions_table(Decisions(), frozenset()).schema
    return pa.table(columns, schema=form), _measured(project, worker, len(said))


def _answer(belief: float) -> int:
    """From -3, surely different, to 3, surely the same."""
    sure = max(belief, 1 - belief)
    size = 3 if sure >= _SURE else 2 if sure >= _RATHER else 1
    return size if belief >= 0.5 else -size


def _measured(project: review_project.Project, worker: WorkerState, decided: int) -> dict[str, Any]:
    return {
        "pairs": len(project.pair_ids),
        "gold": 0,
        "workers": [
            {
                "worker": WORKER,
                "pairs": len(worker.pairs),
                "shown": len(worker.account.shown),
                "decided": decided,
                "skipped": 0,
                "flagged": 0,
                "kapr": worker.score,
                "budget": project.settings.budget,
                "characters": worker.characters,
                "accuracy": {"answered": 0},
                "settings": plain_settings(project.settings, without={"budget"}),
            }
        ],
        "combined_kapr": None,
        "agreement": None,
        "each_two": [],
        "conflicts": 0,
    }


REVIEW_STAGE = Stage(
    REVIEW, _settings, _make, files=_files, earlier=_earlier, prepare=_prepare, waits=_waits
)


def _keep_answers(answers: Decisions, project: review_project.Project, file: Path) -> None:
    """Keep the answers of a review by what its records read, beside those kept before.

    Parameters
    ----------
    file
        Where they are kept.
    """
    table = decisions_table(answers, project.of_linkage)
    table = table.filter(pc.invert(table["withdrawn"]))
    hashes = _hashes(project)
    left, right = (
        [hashes[pair][side] for pair in table[review_project.PAIR].to_pylist()] for side in (0, 1)
    )
    texts = {
        review_project.LEFT: pa.array(left, pa.string()),
        review_project.RIGHT: pa.array(right, pa.string()),
    }
    now = pa.table({**texts, **{name: table[name] for name in _ANSWER}})
    before = _kept(file)
    both = now if before is None else pa.concat_tables([before, now])
    # An answer that was kept before must not count twice.
    rows = list(dict.fromkeys(tuple(row.values()) for row in both.to_pylist()))
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(_KEPT)
    arrays = [
        pa.array(column, both.schema.field(name).type)
        for name, column in zip(_KEPT, columns, strict=True)
    ]
    write_table(pa.table(arrays, names=list(_KEPT)), file)


def carried_answers(project: review_project.Project, file: Path) -> pa.Table:
    """The kept answers about a project's pairs whose two records read as they did.

    Parameters
    ----------
    file
        Where answers are kept.
    """
    empty = decisions_table(Decisions(), frozenset())
    kept = _kept(file)
    if kept is None:
        return empty
    pair_of = {}
    for pair, (left, right) in _hashes(project).items():
        # The records of a pair may change places in another linkage.
        pair_of[left, right] = pair_of[right, left] = pair
    named = zip(
        kept[review_project.LEFT].to_pylist(), kept[review_project.RIGHT].to_pylist(), strict=True
    )
    pairs = pa.array([pair_of.get(each) for each in named], pa.string())
    columns = {
        review_project.PAIR: pairs,
        **{name: kept[name] for name in _ANSWER},
        "withdrawn": pa.array(np.zeros(len(kept), dtype=np.bool_)),
    }
    there = pa.table(columns).filter(pc.is_valid(pairs))
    return there.select(empty.column_names).cast(empty.schema)


def _hashes(project: review_project.Project) -> dict[str, tuple[str, str]]:
    """By pair, a hash of all that each of its two records says."""
    numbers = [
        np.asarray(project.pairs[side]) for side in (review_project.LEFT, review_project.RIGHT)
    ]
    names = project.records.column_names
    sides = [
        [_hash(names, row) for row in project.records.take(pa.array(number)).to_pylist()]
        for number in numbers
    ]
    return dict(zip(project.pair_ids, zip(*sides, strict=True), strict=True))


def _hash(names: list[str], row: dict[str, str | None]) -> str:
    text = json.dumps([[name, row[name]] for name in names], ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _kept(file: Path) -> pa.Table | None:
    if not file.is_file():
        return None
    try:
        table = pq.read_table(file)
    except (pa.ArrowException, OSError, ValueError):
        table = None
    if table is None or table.column_names != list(_KEPT):
        raise InputError(f"file {file.name}", "must be one that 'sfumato run' wrote")
    return table
