"""The trials of a search: each point once, two at a time, until the time or the number is up."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from threading import Event

from sfumato.core.progress import Progress
from sfumato.kernels.threads import one_by_one
from sfumato.pipeline.tune.point import Point
from sfumato.pipeline.tune.trial import Setting, Trial, try_point

WORTH_THREADS = 50_000
"""Records from which trials run beside each other."""


class SearchEnded(Exception):  # noqa: N818
    """No more trials: the number or the time is used up."""


class _GivenUp(Exception):  # noqa: N818
    """A trial that was under way when the time was up."""


class Trials:
    """What was tried, and the best of it.

    Parameters
    ----------
    setting
        What all trials share.
    most
        Most trials; ``None`` for any number.
    seconds
        Most seconds; ``None`` for any.
    progress
        Told the share of the trials, or of the time, that is used.
    """

    def __init__(
        self, setting: Setting, most: int | None, seconds: float | None, progress: Progress
    ) -> None:
        self.setting = setting
        self.most = most
        self.seconds = seconds
        self.started = time.monotonic()
        self.done: list[Trial] = []
        self.best: Trial | None = None
        self._progress = progress
        self._known: dict[Point, Trial] = {}
        self._stop = Event()
        # Trials of small files hold the interpreter's lock, so that two would only wait.
        self._beside = setting.table.records > WORTH_THREADS

    @property
    def elapsed(self) -> float:
        """Seconds since the search began."""
        return time.monotonic() - self.started

    def known(self, point: Point) -> bool:
        """Whether a point was tried.

        Parameters
        ----------
        point
            The point.
        """
        return point in self._known

    def run(self, points: Sequence[Point], stage: str) -> list[Trial]:
        """Try points, those that are known not again.

        Parameters
        ----------
        points
            What to try.
        stage
            The part of the search that asks.

        Returns
        -------
        list of Trial
            One for each point.

        Raises
        ------
        SearchEnded
            If the number or the time is used up; what was tried until then is kept.
        """
        fresh = [each for each in dict.fromkeys(points) if each not in self._known]
        allowed = fresh
        if self.most is not None:
            allowed = fresh[: max(self.most - len(self.done), 0)]
        tasks = [
            partial(self._tried, each, len(self.done) + place, stage)
            for place, each in enumerate(allowed, 1)
        ]
        if tasks and self._over():
            raise SearchEnded
        given_up = False
        ended = False
        try:
            for trial in one_by_one(tasks, alone=not self._beside):
                given_up |= trial is None
                if trial is not None:
                    self._keep(trial)
            ended = True
        finally:
            if not ended:
                self._stop.set()
        self._tell()
        if len(allowed) < len(fresh) or given_up:
            raise SearchEnded
        return [self._known[each] for each in points]

    def _keep(self, trial: Trial) -> None:
        self.done.append(trial)
        self._known[trial.point] = trial
        if trial.met and (self.best is None or trial.loss < self.best.loss):
            self.best = trial

    def _tried(self, point: Point, number: int, stage: str) -> Trial | None:
        def check(_stage: str, _share: float) -> None:
            if self._stop.is_set() or (self.done and self._over()):
                raise _GivenUp

        try:
            return try_point(self.setting, point, number, stage, check)
        except _GivenUp:
            return None

    def _over(self) -> bool:
        return self.seconds is not None and self.elapsed > self.seconds and bool(self.done)

    def _tell(self) -> None:
        shares = [0.0]
        if self.most is not None:
            shares.append(len(self.done) / self.most)
        if self.seconds is not None:
            shares.append(self.elapsed / self.seconds)
        self._progress("tune", min(max(shares), 1.0))
