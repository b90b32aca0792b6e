"""Accuracy against disclosure of a project, by a simulated worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.core.errors import InputError
from sfumato.core.shared_options import Progress
from sfumato.review.hints.evidence import Evidence
from sfumato.review.modes import Mode
from sfumato.review.simulated.frequencies import Frequencies, frequencies_of
from sfumato.review.simulated.worker import SimulatedWorker
from sfumato.review.state.opening import Opening, Refusal
from sfumato.review.state.review import Review
from sfumato.review.state.worker import WorkerState

CERTAINTIES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.999, 1.0)
"""The certainties at which the worker stops opening cells."""


@dataclass(frozen=True, slots=True)
class Point:
    """One point of the curve.

    Attributes
    ----------
    certainty
        At which the worker stopped opening cells; ``None`` where everything was opened.
    kapr
        KAPR of all that was shown.
    characters
        Share of the characters that were disclosed.
    same_as_full
        Share of the answers that were the same as with everything disclosed.
    accuracy
        Share of the answers that were right, ``None`` where the truth is not known.
    judged
        Pairs that were judged; fewer than all where the budget or the floor refused to show one.
    """

    certainty: float | None
    kapr: float
    characters: float
    same_as_full: float
    accuracy: float | None
    judged: int


def trade_off(
    review: Review,
    pairs: Sequence[int],
    evidence: Evidence,
    truth: Mapping[int, bool] | None = None,
    certainties: Sequence[float] = CERTAINTIES,
    progress: Progress | None = None,
) -> tuple[Point, ...]:
    """Accuracy against disclosure: one point per certainty, and one with everything disclosed.

    Parameters
    ----------
    review
        The pairs and the rules; budget and floor hold for the simulated worker, too.
    pairs
        Numbers of the pairs to judge.
    evidence
        What agreement on each attribute says.
    truth
        By pair, whether its records are one person's.
    certainties
        The certainties at which the worker stops opening cells, each in [0.5, 1].
    progress
        Told how far it is.

    Raises
    ------
    InputError
        If a certainty is none, or there is no pair.
    """
    if not pairs or any(not 0.5 <= each <= 1 for each in certainties):
        raise InputError("a simulated review", "must have pairs, and certainties in [0.5, 1]")
    frequencies = frequencies_of(review.index.database)
    full, disclosed = _with_everything(review, pairs, evidence, frequencies)
    points = []
    for step, certainty in enumerate(certainties):
        if progress is not None:
            progress("simulating workers", step / len(certainties))
        worker = WorkerState(review, pairs)
        judge = SimulatedWorker(evidence, frequencies, certainty)
        answers = {pair: judge.judge(worker, pair) for pair in pairs}
        points.append(_point(certainty, worker, answers, full, truth))
    return (*points, _point(None, disclosed, full, full, truth))


def _with_everything(
    review: Review, pairs: Sequence[int], evidence: Evidence, frequencies: Frequencies
) -> tuple[dict[int, float | None], WorkerState]:
    worker, judge = WorkerState(review, pairs), SimulatedWorker(evidence, frequencies, 0.5)
    everything = Opening(tuple(range(len(review.attributes))), Mode.FULL)
    answers: dict[int, float | None] = {}
    for pair in pairs:
        answers[pair] = None
        if not isinstance(worker.show(pair), Refusal):
            worker.open(pair, everything)
            answers[pair] = judge.belief(worker.render(pair))
    return answers, worker


def _point(
    certainty: float | None,
    worker: WorkerState,
    answers: Mapping[int, float | None],
    full: Mapping[int, float | None],
    truth: Mapping[int, bool] | None,
) -> Point:
    said = {pair: each >= 0.5 for pair, each in answers.items() if each is not None}
    alike = [
        said[pair] == (each >= 0.5)
        for pair, each in full.items()
        if pair in said and each is not None
    ]
    right = None if truth is None else [said[p] == truth[p] for p in said if p in truth]
    return Point(
        certainty,
        worker.score,
        worker.characters,
        float(np.mean(alike)) if alike else 0.0,
        float(np.mean(right)) if right else None,
        len(said),
    )
