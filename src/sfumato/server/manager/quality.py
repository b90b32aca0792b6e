"""How far workers agree and how often they are right, with plots; worked out now and then."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from sfumato.core.measure import Measure
from sfumato.review.review_decisions import Accuracy, Answer, accuracy, find_conflicts
from sfumato.review.reviewer_agreement import (
    AllWorkers,
    TwoWorkers,
    agreement_of_all,
    agreement_of_each_two,
)
from sfumato.server.manager.decisions import decisions_of, generator, truth_of
from sfumato.server.manager.plots import Plot, plots_of
from sfumato.server.manager.progress import last_change
from sfumato.server.store.models import Project, Resolution

LONGER = 15
"""It is worked out again after so many times the time that it takes."""
MOST_KEPT = 16
"""Number of projects for which it is kept."""
MOST_TWOS, MOST_SHARED = 6, 2_000
"""Twos of workers, and pairs that several answered, up to which there are intervals."""


@dataclass(frozen=True)
class Quality:
    """How good the decisions are.

    Attributes
    ----------
    twos, everyone
        How far each two workers agree, and all of them.
    gold
        By pseudonym, how often a worker is right about gold pairs.
    answers
        By the answer in words, how often it stands.
    conflicts, resolved
        Numbers of pairs with answers of both sides, and of those that are resolved.
    plots
        Plots, none where nothing can draw them.
    made
        When it was worked out.
    """

    twos: tuple[TwoWorkers, ...]
    everyone: AllWorkers
    gold: dict[str, Accuracy]
    answers: dict[str, int]
    conflicts: int
    resolved: int
    plots: tuple[Plot, ...]
    made: datetime


@dataclass(frozen=True)
class _Kept:
    """What was worked out, of which version, from when to when."""

    version: tuple[int, int]
    begun: float
    ended: float
    quality: Quality

    def holds(self) -> bool:
        """Whether it is so young that the time it takes is not spent again."""
        return time.monotonic() - self.ended < LONGER * (self.ended - self.begun)


_guard = threading.Lock()
_kept: dict[UUID, _Kept] = {}


def quality_of(project: Project) -> Quality:
    """How good the decisions of a project are, now, or a moment ago where it takes long.

    Parameters
    ----------
    project
        The project, not purged.

    Raises
    ------
    InputError
        If a file of the project is missing or was changed.
    """
    resolved = Resolution.objects.filter(pair__project=project).exclude(answer=0).count()
    version = last_change(project), resolved
    kept = _kept.get(project.pk)
    if kept is not None and (kept.version == version or kept.holds() or _guard.locked()):
        return kept.quality
    with _guard:
        kept = _kept.get(project.pk)
        if kept is not None and kept.version == version:
            return kept.quality
        begun = time.monotonic()
        made = work_out(project)
        if len(_kept) > MOST_KEPT:
            _kept.clear()
        _kept[project.pk] = _Kept(version, begun, time.monotonic(), made)
        return made


def work_out(project: Project, *, with_plots: bool = True) -> Quality:
    """How good the decisions of a project are, now.

    Parameters
    ----------
    project
        The project, not purged.
    with_plots
        Whether plots are drawn.

    Raises
    ------
    InputError
        If a file of the project is missing or was changed.
    """
    decisions = decisions_of(project)
    shared = sum(len(each) > 1 for each in decisions.answers.values())
    twos = agreement_of_each_two(decisions)
    if twos and len(twos) <= MOST_TWOS and shared <= MOST_SHARED:
        twos = agreement_of_each_two(decisions, generator())
    given = Counter(answer for each in decisions.answers.values() for answer in each.values())
    answers = {answer.words: given[answer] for answer in sorted(Answer)}
    conflicts = find_conflicts(decisions)
    quality = Quality(
        twos,
        agreement_of_all(decisions, generator() if shared <= MOST_SHARED else None),
        accuracy(decisions, truth_of(project)),
        answers,
        len(conflicts),
        sum(each.resolution is not None for each in conflicts),
        (),
        datetime.now().astimezone(),
    )
    return replace(quality, plots=plots_of(project, answers)) if with_plots else quality


def told(measure: Measure | None) -> tuple[str, str]:
    """A number, and its interval.

    Parameters
    ----------
    measure
        The number.
    """
    if measure is None:
        return "not defined", ""
    if measure.low is None or measure.high is None:
        return f"{measure.value:.2f}", ""
    return f"{measure.value:.2f}", f"{measure.low:.2f} to {measure.high:.2f}"
