"""A session of a review: begun or gone on with under its rules, or judged by simulated workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.core.declaration import Progress
from sfumato.core.errors import InputError
from sfumato.review import review_journal
from sfumato.review.disclosure_account import Review
from sfumato.review.hints import evidence_of
from sfumato.review.review_forecast import CERTAINTIES, Point, trade_off
from sfumato.review.review_journal import same_rules
from sfumato.review.review_project import ID, LEFT, RIGHT, SOURCE, Project, index_of, review_of
from sfumato.review.review_settings import Settings, plain_settings
from sfumato.review.review_sources import OpenedFolder, open_folder, read_text_table, with_gold
from sfumato.review.terminal_session import Session
from sfumato.review.worker_state import CombinedState

LATER = frozenset({"budget", "hints"})
"""What may be another at a later start."""


def begin(
    folder: Path,
    opened: OpenedFolder,
    worker: str,
    given: Mapping[str, Any],
    seed: int | None,
    progress: Progress,
) -> Session:
    """A worker's session in a folder, from the journal where there is one.

    Parameters
    ----------
    folder
        The folder, which is locked.
    given
        The settings that the command line gives.
    seed
        Of the order of the pairs, at the first start.

    Raises
    ------
    InputError
        If the command line gives other rules than hold, or the journal is of another review.
    """
    project = opened.project
    path = review_journal.journal_path(folder, worker)
    written = review_journal.read_journal(path)
    records = review_journal.records_hash(project.records)
    if written is None:
        rules = _first_rules(opened.rules, given)
        order = np.random.default_rng(seed).permutation(project.pair_ids).tolist()
        pairs = tuple(project.clusters.together(order))
        first = review_journal.Beginning(worker, rules, pairs, records)
    else:
        first = written.beginning
        review_journal.check_same(first, project.pair_ids, records, path.name)
        _check_order(seed)
        budget = review_journal.budget_of(first, written.entries)
        kept = first.settings.model_copy(update={"budget": budget})
        rules = _rules_again(kept, opened.rules, given)
    review = review_of(project, rules, index_of(project, rules, progress))
    journal = review_journal.Journal(path, first)
    # So that the journal says under which budget each cell was opened.
    if rules.budget != review_journal.budget_of(journal.beginning, journal.entries):
        journal.add(review_journal.NewBudget(rules.budget, datetime.now(UTC)))
    evidence = evidence_of(project) if rules.hints else None
    number_of = {pair: number for number, pair in enumerate(project.pair_ids)}
    combined = _others(folder, first, review, number_of)
    return Session(review, project.pair_ids, journal, evidence, combined, clusters=project.clusters)


def _check_order(seed: int | None) -> None:
    if seed is not None:
        raise InputError(
            "option --seed",
            "must come with the first start",
            found="a review that has begun",
            advice="leave it out: the order of the pairs is kept",
        )


def _others(
    folder: Path, own: review_journal.Beginning, review: Review, number_of: Mapping[str, int]
) -> CombinedState | None:
    """What the other workers have been shown, where the project has a budget."""
    if review.settings.project_budget is None:
        return None
    combined = CombinedState(review)
    for path in review_journal.journals_in(folder):
        written = review_journal.read_journal(path)
        # One's own is counted by the session itself.
        if written is None or written.beginning.worker == own.worker:
            continue
        if same_rules(written.beginning, own):
            review_journal.restored(review, number_of, written.beginning, written.entries, combined)
    return combined


def _first_rules(of_project: Settings | None, given: Mapping[str, Any]) -> Settings:
    """The rules of a first start.

    Parameters
    ----------
    of_project
        Those of the project, which nobody changes here; ``None`` where there is none.

    Raises
    ------
    InputError
        If the command line gives others than the project's.
    """
    if of_project is None:
        return Settings(**given)
    for name, value in given.items():
        if getattr(of_project, name) != value:
            raise _other(name, "must be the project's", "a project's rules are its manager's")
    return of_project


def _rules_again(kept: Settings, of_project: Settings | None, given: Mapping[str, Any]) -> Settings:
    """The rules of a later start.

    Parameters
    ----------
    kept
        Those that held at the end of the last one.
    of_project
        Those of the project; ``None`` where there is none.

    Raises
    ------
    InputError
        If the command line gives others than were kept, and not such as may change.
    """
    for name, value in given.items():
        fixed = of_project is not None or name not in LATER
        if fixed and getattr(kept, name) != value:
            raise _other(
                name,
                "must be that of the first start",
                "leave it out; or review in another folder, with another --worker",
            )
    return kept.model_copy(update={name: given[name] for name in given if name in LATER})


def _other(name: str, rule: str, advice: str) -> InputError:
    return InputError(f"parameter {name}", rule, found="another", advice=advice)


_PERSONS = ("clinic", "patient", "person")
"""The columns of the demo's truth: a record's source, its id, whose it is."""


def simulated_in(
    folder: Path,
    truth: Path | None,
    certainties: Sequence[float] | None,
    given: Mapping[str, Any],
    progress: Progress,
) -> tuple[tuple[Point, ...], dict[str, Any]]:
    """The curve of a folder's pairs, and what it is of.

    Parameters
    ----------
    folder
        What ``sfumato link`` wrote, or a project.
    truth
        A file of known truth.
    certainties
        At which workers stop opening cells.
    given
        Rules in place of the project's or the default ones.

    Raises
    ------
    InputError
        If the folder has no model, or the truth is none of its records.
    """
    opened = open_folder(folder)
    project = opened.project
    evidence = evidence_of(project)
    if evidence is None:
        raise InputError(
            f"folder {folder.name or folder}",
            "must have a linkage's model, by which simulated workers judge",
            found="none",
        )
    rules = _rules(opened, given)
    known = _truth(project, truth)
    review = review_of(project, rules, index_of(project, rules, progress))
    asked = tuple(sorted(set(certainties))) if certainties else CERTAINTIES
    points = trade_off(review, range(review.pairs), evidence, known or None, asked, progress)
    facts = {
        "pairs": review.pairs,
        "known_truth": len(known),
        "settings": plain_settings(rules, without={"hints", "project_budget"}),
    }
    return points, facts


def _rules(opened: OpenedFolder, given: Mapping[str, Any]) -> Settings:
    """The rules; a budget of all workers together is not one of a simulated worker."""
    rules = opened.rules or Settings()
    return rules.model_copy(update={"project_budget": None, **given})


def _truth(project: Project, path: Path | None) -> dict[int, bool]:
    """By number of the pair, whether its records are one person's."""
    number_of = {pair: number for number, pair in enumerate(project.pair_ids)}
    known = {number_of[pair]: same for pair, same in project.gold.items()}
    if path is None:
        return known
    table = read_text_table(path, f"file {path.name}")
    if set(_PERSONS) <= set(table.column_names):
        return known | _by_persons(project, table, path)
    return known | _by_pairs(project, table)


def _by_pairs(project: Project, table: pa.Table) -> dict[int, bool]:
    _, same = with_gold(project.records, project.pairs, table)
    number_of = {pair: number for number, pair in enumerate(project.pair_ids)}
    return {number_of[pair]: truth for pair, truth in same.items() if pair in number_of}


def _by_persons(project: Project, table: pa.Table, path: Path) -> dict[int, bool]:
    sources, ids, persons = (table[name].to_pylist() for name in _PERSONS)
    person_of = dict(zip(zip(sources, ids, strict=True), persons, strict=True))
    records = zip(project.records[SOURCE].to_pylist(), project.records[ID].to_pylist(), strict=True)
    of = [person_of.get(record) for record in records]
    left, right = (np.asarray(project.pairs[side]).tolist() for side in (LEFT, RIGHT))
    known = {
        number: of[one] == of[two]
        for number, (one, two) in enumerate(zip(left, right, strict=True))
        if of[one] is not None and of[two] is not None
    }
    if not known:
        raise InputError(
            f"file {path.name}", "must be about the folder's records", found="none of them"
        )
    return known
