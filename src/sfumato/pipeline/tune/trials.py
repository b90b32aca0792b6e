"""How a point is tried: its release is made, measured and held against the thresholds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import inf, isfinite
from threading import Event
from typing import Any, ClassVar

import numpy as np
from pydantic import ConfigDict

from sfumato.core.declaration import Progress, fields_of, silent
from sfumato.core.errors import ConstraintsNotMetError, InputError
from sfumato.kernels.loop_calls import one_by_one
from sfumato.pipeline.tune.limits import AGAINST, limits_reached, promise_words, shown
from sfumato.pipeline.tune.point import Point, changed_table
from sfumato.release.anonymize import anonymize
from sfumato.release.assembly import make_release
from sfumato.release.cures import SEARCH, detail_lost
from sfumato.release.information_loss import normalized_error
from sfumato.release.release_manifest import Manifest
from sfumato.release.release_options import Loss, Options, Recoding
from sfumato.release.release_result import Release
from sfumato.risk.risk_thresholds import Held, Preset
from sfumato.risk.threshold_checks import hold
from sfumato.risk.verdict import Acceptance, Limits, Verdict
from sfumato.table.table import Table

WORTH_THREADS = 50_000
"""Records from which trials run beside each other."""


@dataclass(frozen=True, eq=False)
class Setting:
    """What all trials share.

    Attributes
    ----------
    presets
        The thresholds, by who states them.
    options
        What is the same in every release: the form of its values, when a record is at risk.
    limits
        Limits that every release keeps, and for which what loses least detail is searched.
    accepted
        Who answers for what may be above them.
    """

    table: Table
    presets: tuple[Preset, ...]
    loss: Loss
    seed: int
    options: Options
    register: Table | None = None
    population: int | None = None
    limits: Limits | None = None
    accepted: tuple[Acceptance, ...] = ()

    @property
    def most_records(self) -> int:
        """The most records of a person."""
        return int(np.bincount(self.table.person).max())

    def manifest(self, point: Point) -> Manifest:
        """What repeats the release of a point."""
        local = point.recoding == Recoding.LOCAL
        of_levels: dict[str, Any] = {} if local else {"cut": None, "loss": None}
        options = replace(self.options, **of_levels, **point.options()).with_ends(
            everybody=self.register is not None or self.population is not None
        )
        return Manifest(
            options, point.constraints(), self.seed, False, "", population=self.population
        )

    def options_of(self, point: Point) -> dict[str, Any]:
        """The options of a release that differ from the usual ones, but for its seed."""
        usual = Options()
        fixed: dict[str, Any] = {
            "values": self.options.values.value,
            "threshold": self.options.threshold,
            "unclassified": self.options.unclassified.value,
            "loss": self.options.loss,
        }
        if point.recoding != Recoding.LOCAL:
            del fixed["loss"]
        found = point.options() | {
            name: value for name, value in fixed.items() if value != getattr(usual, name)
        }
        return found if self.population is None else found | {"population": self.population}


@dataclass(frozen=True)
class Trial:
    """What a point gave.

    Attributes
    ----------
    number
        1 for the first trial.
    held
        Its measures beside the thresholds; empty where there is no release.
    loss, ane, ncp
        Its loss: the one that is sought least, and both of them. A record that is left out
        counts as lost in full, and so does a column.
    records_left_out
        Share of the records that are not released.
    reached
        What the release keeps by itself, by the name of the knob that would ask for it.
    plan
        What keeps the limits beside what the point asks, in words; empty without limits.
    verdict
        What intruders find, where limits are kept.
    """

    # Kept in files: a loss may be infinite.
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(ser_json_inf_nan="constants")

    number: int
    stage: str
    point: Point
    held: tuple[Held, ...] = ()
    loss: float = inf
    ane: float = inf
    ncp: float = inf
    records_left_out: float = 0.0
    classes: int = 0
    reached: tuple[tuple[str, float], ...] = ()
    failures: tuple[str, ...] = ()
    helps: tuple[str, ...] = ()
    plan: tuple[str, ...] = ()
    verdict: Verdict | None = field(default=None, compare=False)

    @property
    def made(self) -> bool:
        """Whether there is a release."""
        return not self.failures

    @cached_property
    def met(self) -> bool:
        """Whether every threshold is met, estimates over their whole interval."""
        return self.made and all(map(_kept, self.held))

    @cached_property
    def promised(self) -> bool:
        """Whether every measure that is held was counted, not estimated."""
        return all(each.promised for each in self.held)

    @cached_property
    def excess(self) -> float:
        """The largest measure over its limit (limit over measure for a least one)."""
        return max(map(ratio, self.held), default=0.0) if self.made else inf

    def words(self) -> str:
        """What the point asks, and what else keeps the limits, in one line."""
        return ", ".join((*filter(None, [self.point.words()]), *self.plan)) or "nothing"

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        measured = {
            **fields_of(self, "loss ane ncp records_left_out classes"),
            "excess": self.excess if isfinite(self.excess) else None,
            "measures": {each.label: each.value for each in self.held},
        }
        return {
            "trial": self.number,
            "stage": self.stage,
            **self.point.to_json(),
            **({"plan": list(self.plan)} if self.plan else {}),
            "met": self.met,
            "promised": self.promised,
            **(measured if self.made else {"failures": list(self.failures)}),
        }


def _kept(held: Held) -> bool:
    return held.met and held.met_over_interval is not False


def worst_value(held: Held) -> float:
    """A measure, an estimate at its worse end."""
    end = held.low if held.bound == "at least" else held.high
    return held.value if end is None else end


def ratio(held: Held) -> float:
    """A measure over its limit, an estimate at its worse end; at most 1 where it is met."""
    value = worst_value(held)
    over, under = (held.limit, value) if held.bound == "at least" else (value, held.limit)
    nothing = 1.0 if over <= 0 else inf
    found = over / under if under > 0 else nothing
    return min(found, 1.0) if _kept(held) else max(found, 1.0)


def losses(table: Table, release: Release) -> tuple[float, float]:
    """ANE and NCP by the weights of the original schema, what is left out counting in full.

    ANE is over the kept records; each record that is left out counts as 1, as in NCP. A column
    that is not released has the ANE of one class, and an NCP of 1.
    """
    lost = {each.column: each for each in release.utility.columns}
    ane, ncp, weights = [], [], []
    for column in table.quasi_identifiers:
        weights.append(column.weight)
        if column.name in lost:
            ane.append(lost[column.name].ane)
            ncp.append(lost[column.name].ncp)
        else:
            one = np.zeros(table.records, dtype=np.int32)
            ane.append(float(normalized_error(column, one, 1, table.person)[0]))
            ncp.append(1.0)
    gone = release.utility.suppressed_records_share
    mean = float(np.average(ane, weights=weights))
    return mean * (1 - gone) + gone, float(np.average(ncp, weights=weights))


def _held_of(presets: Sequence[Preset], release: Release) -> tuple[Held, ...]:
    """The measures of a release beside the thresholds."""
    risk, against = release.risk, release.population
    if against is not None:
        risk = replace(risk, marketer=against.marketer)
    found: list[Held] = []
    for preset in presets:
        inside = tuple(each for each in preset.thresholds if each.measure not in AGAINST)
        if inside:
            found += hold(risk, replace(preset, thresholds=inside)).held
        about = (preset.name, preset.source, preset.evidence)
        for each in preset.thresholds:
            own = getattr(against, each.measure) if each.measure in AGAINST and against else None
            if own is not None:
                kind = (each.kind.bound.value, each.kind.scale.value)
                ends = (own.value, own.low, own.high, own.estimator)
                found.append(Held(*about, each.measure, "", *kind, each.limit, None, *ends))
    return tuple(found)


def release_of(setting: Setting, point: Point, progress: Progress = silent) -> Release:
    """The release of a point."""
    table, register = changed_table(setting.table, point.change), setting.register
    if setting.limits is not None:
        options = setting.options_of(point) | {"seed": setting.seed}
        kept = (*point.promises, setting.limits, *setting.accepted)
        release = anonymize(table, table.schema, *kept, progress=progress, **options)
        return release.judged(setting.limits, setting.accepted)
    if register is not None:
        register = changed_table(register, point.change)
    return make_release(table, setting.manifest(point), None, progress, register)


def _plan_of(setting: Setting, point: Point, release: Release) -> tuple[str, ...]:
    """What a release promises and does beyond what a point asks, as its limits need it."""
    asked = setting.manifest(point).options.to_dict()
    beyond = {
        name: value
        for name, value in release.manifest.options.to_dict().items()
        if value != asked.get(name)
    }
    promised = (promise_words(each) for each in release.constraints if each not in point.promises)
    return (*promised, *(f"{name} {shown(value)}" for name, value in beyond.items()))


def _try(setting: Setting, point: Point, number: int, stage: str, progress: Progress) -> Trial:
    """Make the release of a point and measure it."""
    try:
        release = release_of(setting, point, progress)
    except ConstraintsNotMetError as error:
        return Trial(number, stage, point, failures=error.failures, helps=error.options)
    except InputError as error:
        # Only a column or an option that the search chose itself can be given up.
        if not (point.change or point.options()):
            raise
        return Trial(number, stage, point, failures=(str(error),))
    ane, ncp = losses(setting.table, release)
    limited = setting.limits is not None
    return Trial(
        number,
        stage,
        point,
        held=_held_of(setting.presets, release),
        loss=detail_lost(release) if limited else _lost(setting.loss, release, ane, ncp),
        ane=ane,
        ncp=ncp,
        records_left_out=release.utility.suppressed_records_share,
        classes=release.risk.classes,
        reached=limits_reached(release),
        plan=_plan_of(setting, point, release) if limited else (),
        verdict=release.verdict if limited else None,
    )


def _lost(loss: Loss, release: Release, ane: float, ncp: float) -> float:
    """What is to be least, of a release."""
    utility = release.utility
    found = {
        Loss.ANE: ane,
        Loss.NCP: ncp,
        Loss.QUERIES: utility.queries.mean,
        Loss.TABLES: utility.tables,
        Loss.MODELS: utility.models,
    }[loss]
    assert found is not None
    return found


class SearchEnded(Exception):  # noqa: N818
    """No more trials, nor the end of one that is under way: the number or the time is used up."""


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
        Told the share of the trials, or of the time, that is used, also within a trial. What it
        raises ends the search.
    told
        Told of each trial that was made, by the thread that searches.
    before
        Trials of an earlier search of the same, which are not made again.
    """

    def __init__(
        self,
        setting: Setting,
        most: int | None,
        seconds: float | None,
        progress: Progress,
        told: Callable[[Trial], None],
        before: Iterable[Trial],
    ) -> None:
        self.setting = setting
        self.most = most
        self.seconds = seconds
        self.started = time.monotonic()
        self.done: list[Trial] = []
        self.best: Trial | None = None
        self._progress = progress
        self._told = told
        self._told_share = 0.0
        self._before = {each.point: each for each in before}
        self._of_point: dict[Point, Trial] = {}
        # Trials of small files hold the interpreter's lock, so that two would only wait.
        self._alone = setting.table.records <= WORTH_THREADS

    @property
    def elapsed(self) -> float:
        """Seconds since the search began."""
        return time.monotonic() - self.started

    @property
    def releases(self) -> list[Trial]:
        """The trials that made a release."""
        return [each for each in self.done if each.made]

    def run_one(self, point: Point, stage: str) -> Trial:
        """Try a point, as `run` does."""
        return self.run([point], stage)[0]

    def run(self, points: Sequence[Point], stage: str) -> list[Trial]:
        """Try points, each only once.

        Raises
        ------
        SearchEnded
            If the number or the time is used up; what was tried until then is kept.
        """
        fresh = [each for each in dict.fromkeys(points) if each not in self._of_point]
        allowed = fresh
        if self.most is not None:
            allowed = fresh[: max(self.most - len(self.done), 0)]
        stop = Event()
        tasks = [
            partial(self._tried, each, len(self.done) + place, stage, stop)
            for place, each in enumerate(allowed, 1)
        ]
        if tasks and self._is_late():
            raise SearchEnded
        given_up = False
        try:
            for trial in one_by_one(tasks, alone=self._alone):
                given_up |= trial is None
                if trial is not None:
                    self._keep(trial)
        finally:
            stop.set()  # a trial that still runs beside others ends too, so Ctrl-C need not wait
        self._tell()
        if len(allowed) < len(fresh) or given_up:
            raise SearchEnded
        return [self._of_point[each] for each in points]

    def _keep(self, trial: Trial) -> None:
        self.done.append(trial)
        self._of_point[trial.point] = trial
        if trial.point not in self._before:
            self._told(trial)
        if trial.met and (self.best is None or trial.loss < self.best.loss):
            self.best = trial

    def _tried(self, point: Point, number: int, stage: str, stop: Event) -> Trial | None:
        def check(at: str, share: float) -> None:
            if stop.is_set() or self._is_late():
                raise SearchEnded
            # The plans of a trial take most of its time; its other steps begin again with each.
            self._tell(share if at == SEARCH else 0.0)

        if point in self._before:
            return replace(self._before[point], number=number, stage=stage)
        try:
            return _try(self.setting, point, number, stage, check)
        except SearchEnded:
            return None

    def _is_late(self) -> bool:
        """Whether the time is up; something is tried however short it is."""
        return self.seconds is not None and self.elapsed > self.seconds and bool(self.done)

    def _tell(self, of_trial: float = 0.0) -> None:
        """Tell how far the search is, never less than before."""
        shares = [self._told_share]
        if self.most is not None:
            shares.append((len(self.done) + of_trial) / self.most)
        if self.seconds is not None:
            shares.append(self.elapsed / self.seconds)
        self._told_share = min(max(shares), 1.0)
        self._progress("tune", self._told_share)
