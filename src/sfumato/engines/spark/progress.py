"""How far Spark is with what this thread has asked it for."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from sfumato.core.optional_packages import spark_errors
from sfumato.core.shared_options import Progress, silent

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INTERVAL = 0.25
"""Seconds between two looks."""
_OF_GROUP = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")


@contextmanager
def watched(
    session: SparkSession,
    progress: Progress,
    stage: str,
    low: float = 0.0,
    high: float = 1.0,
    *,
    jobs: int = 1,
) -> Iterator[None]:
    """Tell how far the jobs of a block are, from ``low`` to ``high``; an interrupt ends them.

    Parameters
    ----------
    session
        The session whose actions the block runs, in this thread.
    progress
        Told the share of tasks that are done, between the two, never less than before; from
        another thread while the block runs.
    stage
        The name of the stage.
    low, high
        Shares of the stage at the start and at the end of the block.
    jobs
        How many jobs of Spark the block takes, about.

    Yields
    ------
    None
        While the block runs.

    Raises
    ------
    KeyboardInterrupt
        If the block is interrupted, once its jobs are cancelled.
    """
    context = session.sparkContext
    group = f"sfumato-{secrets.token_hex(8)}"
    before = [context.getLocalProperty(name) for name in _OF_GROUP]
    context.setJobGroup(group, f"sfumato: {stage}", interruptOnCancel=True)
    over = Event()
    watcher = Thread(
        target=_watch,
        args=(context.statusTracker(), group, jobs, over, _between(progress, stage, low, high)),
        daemon=True,
    )
    if progress is not silent:
        watcher.start()
    try:
        yield
    except KeyboardInterrupt:
        context.cancelJobGroup(group)
        raise
    finally:
        over.set()
        if watcher.ident is not None:
            watcher.join()
        for name, value in zip(_OF_GROUP, before, strict=True):
            context.setLocalProperty(name, value)
    progress(stage, high)


def _between(progress: Progress, stage: str, low: float, high: float) -> Any:
    return lambda share: progress(stage, low + (high - low) * share)


def _watch(tracker: Any, group: str, jobs: int, over: Event, tell: Any) -> None:
    told = 0.0
    while not over.wait(INTERVAL):
        try:
            share = _done(tracker, group, jobs)
        except spark_errors():
            return
        if share > told:
            told = share
            tell(share)


def _done(tracker: Any, group: str, jobs: int) -> float:
    """Share of the work that is done, each job counting the same."""
    known = tracker.getJobIdsForGroup(group)
    return sum(_of_job(tracker, job) for job in known) / max(jobs, len(known))


def _of_job(tracker: Any, job: int) -> float:
    """Share of the tasks of a job that are done; stages that are skipped have none."""
    info = tracker.getJobInfo(job)
    if info is None:
        return 0.0
    if info.status == "SUCCEEDED":
        return 1.0
    stages = [tracker.getStageInfo(stage) for stage in info.stageIds]
    tasks = sum(stage.numTasks for stage in stages if stage is not None)
    done = sum(stage.numCompletedTasks for stage in stages if stage is not None)
    return float(done / tasks) if tasks else 0.0
