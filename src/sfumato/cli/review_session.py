"""Begin a session of a review, or go on with it, under the rules that hold."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.core.errors import InputError
from sfumato.core.shared_options import Progress
from sfumato.review.hints.evidence import evidence_of
from sfumato.review.settings import Settings
from sfumato.review.state.combined import CombinedState
from sfumato.review.state.review import Review
from sfumato.review.terminal.entries import Beginning, NewBudget
from sfumato.review.terminal.fingerprint import records_hash
from sfumato.review.terminal.journal import Journal, journal_path, journals_in, read_journal
from sfumato.review.terminal.opened import OpenedFolder, index_of, review_of, same_rules
from sfumato.review.terminal.session import Session
from sfumato.review.terminal.standing import budget_of, check_same, restored

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
    opened
        What it holds.
    worker
        The pseudonym.
    given
        The settings that the command line gives.
    seed
        Of the order of the pairs, at the first start.
    progress
        Told how far it is.

    Raises
    ------
    InputError
        If the command line gives other rules than hold, or the journal is of another review.
    """
    project = opened.project
    path = journal_path(folder, worker)
    written = read_journal(path)
    records = records_hash(project.records)
    if written is None:
        rules = _first_rules(opened.rules, given)
        order = np.random.default_rng(seed).permutation(len(project.pair_ids)).tolist()
        pairs = tuple(project.pair_ids[number] for number in order)
        first = Beginning(worker, rules, pairs, records)
    else:
        first = written.beginning
        check_same(first, project.pair_ids, records, path.name)
        _check_order(seed)
        budget = budget_of(first, written.entries)
        kept = first.settings.model_copy(update={"budget": budget})
        rules = _rules_again(kept, opened.rules, given)
    review = review_of(project, rules, index_of(project, rules, progress))
    journal = Journal(path, first)
    if rules.budget != budget_of(journal.beginning, journal.entries):
        journal.add(NewBudget(rules.budget, datetime.now(UTC)))
    evidence = evidence_of(project) if rules.hints else None
    number_of = {pair: number for number, pair in enumerate(project.pair_ids)}
    combined = _others(folder, first, review, number_of)
    return Session(review, project.pair_ids, journal, evidence, combined)


def _check_order(seed: int | None) -> None:
    if seed is not None:
        raise InputError(
            "option --seed",
            "must come with the first start",
            found="a review that has begun",
            advice="leave it out: the order of the pairs is kept",
        )


def _others(
    folder: Path, own: Beginning, review: Review, number_of: Mapping[str, int]
) -> CombinedState | None:
    """What the other workers have been shown, where the project has a budget."""
    if review.settings.project_budget is None:
        return None
    combined = CombinedState(review)
    for path in journals_in(folder):
        written = read_journal(path)
        if written is None or written.beginning.worker == own.worker:
            continue
        if same_rules(written.beginning, own):
            restored(review, number_of, written.beginning, written.entries, combined)
    return combined


def _first_rules(of_project: Settings | None, given: Mapping[str, Any]) -> Settings:
    """The rules of a first start.

    Parameters
    ----------
    of_project
        Those of the project, which nobody changes here; ``None`` where there is none.
    given
        The settings that the command line gives.

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
    given
        The settings that the command line gives.

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
