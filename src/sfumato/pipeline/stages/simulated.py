"""A review by a simulated worker, to try a project out before people spend time on it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.core.errors import InputError
from sfumato.core.progress import Progress
from sfumato.review.decisions.decisions import Decisions
from sfumato.review.decisions.export import decisions_table
from sfumato.review.hints.evidence import evidence_of
from sfumato.review.project.project import Project
from sfumato.review.simulated.frequencies import frequencies_of
from sfumato.review.simulated.worker import SimulatedWorker
from sfumato.review.state.worker import WorkerState
from sfumato.review.terminal.measures import plain_settings
from sfumato.review.terminal.opened import index_of, review_of

WORKER = "simulated"
WARNING = "the answers about possible matches are a simulated worker's, nobody looked at them"
_TIME = datetime(2000, 1, 1, tzinfo=UTC)
"""When it answered: always the same, so that the same pairs give the same persons."""
_SURE, _RATHER = 0.98, 0.9
"""Probabilities from which an answer is of high, and of medium confidence."""


def simulated_review(
    project: Project, certainty: float, progress: Progress
) -> tuple[pa.Table, dict[str, Any]]:
    """The answers of a simulated worker who sees renderings only, and what it was shown.

    Parameters
    ----------
    project
        The records, the pairs and the rules.
    certainty
        It opens cells until the probability of its answer is at least this, in [0.5, 1].
    progress
        Told how far it is.

    Returns
    -------
    tuple
        The columns of a file of answers, and the measures of ``sfumato review status``.

    Raises
    ------
    InputError
        If the linkage has no model, by which a simulated worker judges.
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


def _measured(project: Project, worker: WorkerState, decided: int) -> dict[str, Any]:
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
