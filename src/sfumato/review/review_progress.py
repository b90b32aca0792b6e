"""What the journals of a folder come to: progress, agreement and answers."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from sfumato.core.shared_options import Progress
from sfumato.review.anonymity_index import Index
from sfumato.review.review_decisions import Decisions, History, accuracy, find_conflicts
from sfumato.review.review_journal import (
    Written,
    budget_of,
    check_same,
    journals_in,
    read_journal,
    records_hash,
    restored,
)
from sfumato.review.review_project import Project
from sfumato.review.reviewer_agreement import agreement_of_all, agreement_of_each_two
from sfumato.review.terminal_session import (
    index_of,
    open_folder,
    plain,
    plain_accuracy,
    plain_settings,
    review_of,
    same_rules,
)
from sfumato.review.worker_state import CombinedState, WorkerState


def begun_in(folder: Path, progress: Progress) -> dict[str, Any]:
    """Progress, KAPR, characters, accuracy and agreement, as plain values.

    Parameters
    ----------
    folder
        What ``sfumato link`` wrote, or a project.
    progress
        Told how far it is.

    Raises
    ------
    InputError
        If a journal is damaged, or of another review.
    """
    project = open_folder(folder).project
    records = records_hash(project.records)
    journals = []
    for path in journals_in(folder):
        written = read_journal(path)
        if written is not None:
            check_same(written.beginning, project.pair_ids, records, path.name)
            journals.append(written)
    result: dict[str, Any] = {
        "pairs": len(project.pair_ids),
        "gold": len(project.gold),
        "workers": [],
        "combined_kapr": None,
        "agreement": None,
        "each_two": [],
        "conflicts": 0,
    }
    if not journals:
        return result
    index = index_of(project, journals[0].beginning.settings, progress)
    several = len(journals) > 1
    combined = _combined(journals, project, index) if several else None
    states = [_restored(written, project, index, combined) for written in journals]
    everything = Decisions.of(each for _, own in states for each in own.values())
    right = accuracy(everything, project.gold)
    for written, (state, own) in zip(journals, states, strict=True):
        result["workers"].append(_worker(written, state, own, right))
    result["conflicts"] = len(find_conflicts(everything))
    if combined is not None:
        result["combined_kapr"] = combined.score
    if several:
        every = agreement_of_all(everything)
        result["agreement"] = {
            "pairs": every.pairs,
            "answers": every.answers,
            **{name: plain(getattr(every, name)) for name in ("sides", "points", "ordinal")},
        }
        result["each_two"] = [
            {
                **{name: asdict(each)[name] for name in ("workers", "pairs", "same_side", "equal")},
                **{
                    name: plain(getattr(each, name))
                    for name in ("sides", "points", "linear", "quadratic")
                },
            }
            for each in agreement_of_each_two(everything)
        ]
    return result


def _worker(
    written: Written, state: WorkerState, own: dict[str, History], right: dict[str, Any]
) -> dict[str, Any]:
    now, worker = [each.present for each in own.values()], written.beginning.worker
    settings = plain_settings(written.beginning.settings, without={"budget"})
    found = right.get(worker)
    return {
        "worker": worker,
        "pairs": len(state.pairs),
        "shown": len(state.account.shown),
        "decided": sum(each.answer is not None for each in now),
        "skipped": sum(each.skipped for each in now),
        "flagged": sum(each.flag is not None for each in now),
        "kapr": state.score,
        "budget": budget_of(written.beginning, written.entries),
        "characters": state.characters,
        "accuracy": {"answered": 0} if found is None else plain_accuracy(found),
        "settings": settings,
    }


def _combined(journals: list[Written], project: Project, index: Index) -> CombinedState | None:
    """The state that all are added to; ``None`` where their rules differ."""
    first = journals[0].beginning
    if all(same_rules(first, each.beginning) for each in journals):
        return CombinedState(review_of(project, first.settings, index))
    return None


def _restored(
    written: Written, project: Project, index: Index, combined: CombinedState | None
) -> tuple[WorkerState, dict[str, History]]:
    number_of = {pair: number for number, pair in enumerate(project.pair_ids)}
    settings = written.beginning.settings
    own = CombinedState(review_of(project, settings, index)) if combined is None else combined
    review = review_of(project, settings, index)
    return restored(review, number_of, written.beginning, written.entries, own)
