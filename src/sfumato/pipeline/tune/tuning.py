"""How a release is tuned: what is asked, and the parts of the search one after the other."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import ceil, inf, log
from typing import Any, Unpack

import numpy as np

from sfumato.core.declaration import (
    Progress,
    drawn_seed,
    is_database,
    keywords,
    layout_of,
    silent,
    taken,
)
from sfumato.core.errors import InputError
from sfumato.pipeline.tune.limits import CAP, COUNTS, KNOBS, check_measurable, rounded, target_of
from sfumato.pipeline.tune.line_search import Bisection, Space, exchange, in_pairs, run_together
from sfumato.pipeline.tune.point import Allowed, Point
from sfumato.pipeline.tune.refinement import Refinement, moves_of
from sfumato.pipeline.tune.trials import SearchEnded, Setting, Trial, Trials
from sfumato.pipeline.tune.tuned import Tuned
from sfumato.pipeline.tune_options import Circumstances, Searching, TuneOptions
from sfumato.release.anonymize import check_table
from sfumato.release.population_register import check_population
from sfumato.release.release_options import ANALYSTS, Loss, Options, Recoding
from sfumato.risk.register_presence import open_register
from sfumato.risk.risk_thresholds import Preset, Threshold
from sfumato.risk.risk_thresholds import thresholds as presets_of
from sfumato.risk.verdict import PUBLIC, Limits
from sfumato.schema import Schema
from sfumato.table.classification import open_classified
from sfumato.table.table import Table

ASKED = "asked"
"""Name of the preset of one's own thresholds."""
USUAL_TRIALS = 100
STEPS = 8
OUT_STEPS, LOOSER, LEAST_HOPE = 4, 0.25, 0.93
"""Steps with something left out, how much looser the constraint may be there than without, and
what part of the loss that might save."""
CAPS, NEARLY_ALL = 7, 0.97
"""Caps that are tried, and the share of the persons whom the strictest leaves as they are."""
SUPPRESSED = (0.04, 0.1, 0.3)
"""Parts of the largest share that may be suppressed."""
RELAXED_STEPS = 6
FACTORS = (0.5, 0.75, 1.5, 2.0)
"""Other limits, of those that are asked, whose loss the frontier shows."""
WORTH_A_FRONTIER = 40
"""Fewest trials of a search that looks at other limits too."""


@keywords(Searching, Circumstances)
def tune(
    data: Any,
    schema: Schema,
    thresholds: Mapping[str, float] | None = None,
    *,
    progress: Progress = silent,
    **options: Unpack[TuneOptions],
) -> Tuned:
    """Search the constraints and options that lose least under thresholds of the release.

    A threshold that a constraint states exactly (a highest risk, a smallest class) is asked as
    that constraint; for the others the loosest limit of each constraint that meets them is
    found, then a part of one is exchanged for another, and it is searched nearby. Every trial is a
    release that is made and measured; the file is encoded once. See ``docs/tune.md``.

    Parameters
    ----------
    data
        A dataframe, or the path of a file.
    schema
        What each column is.
    thresholds
        Limits by the name of their measure, for example ``{"max_gidr": 0.2, "marketer": 0.05}``.
    progress
        Told how far the work is.

    Returns
    -------
    Tuned
        The best point found; where the search is interrupted (Ctrl-C), the best until then.

    Raises
    ------
    InputError
        If the data does not fit the schema, or a parameter is out of range.
    """
    searching, given = taken(options, Searching, Circumstances)
    loss, register, population = searching.loss, given.register, given.population
    of_everybody = register is not None or population is not None
    _check_loss(loss, of_everybody=of_everybody, columns=searching.columns)
    making = Options(
        values=given.values,
        threshold=given.threshold,
        unclassified=given.unclassified,
        loss=None if of_everybody else loss,
    )
    judged_by = Limits(given.limits) if isinstance(given.limits, str) else given.limits
    asked = _presets(thresholds, given.presets, judged_by, of_everybody=of_everybody)
    limits = [each for preset in asked for each in preset.thresholds]
    check_measurable(
        limits,
        sensitive=bool(schema.sensitive),
        household=schema.household is not None,
        register=register is not None,
        population=of_everybody,
    )
    targets = [target_of(each, making.threshold) for each in limits]
    table = open_classified(
        data, schema, making.unclassified, **layout_of(given), progress=progress
    )
    space = Space.of(targets, table, cap=searching.cap_records)
    promises = space.plain(space.enough).constraints()
    check_table(table, making, promises)
    check_population(promises, making, register=register is not None, population=population)
    setting = Setting(
        table=table,
        presets=asked,
        loss=loss,
        seed=drawn_seed(given.seed),
        options=making,
        register=None if register is None else open_register(register, table.schema),
        population=population,
    )
    most = searching.trials
    if most is None and searching.time_limit is None:
        most = USUAL_TRIALS
    tried = Trials(setting, most, searching.time_limit, progress)
    allowed = Allowed(
        searching.suppress,
        searching.cap_records,
        searching.recoding and loss not in ANALYSTS,
        searching.columns,
    )
    stopped = "found"
    try:
        _Search(tried, space, allowed).run()
    except SearchEnded:
        stopped = "trials" if most is not None and len(tried.done) >= most else "time"
    except KeyboardInterrupt:
        stopped = "interrupted"
    return Tuned(
        best=tried.best,
        trials=tuple(tried.done),
        setting=setting,
        declared=schema,
        suppress=searching.suppress,
        stopped=stopped,
        seconds=tried.elapsed,
        files={
            "data": _path(data),
            "schema": None,
            "register": _path(register) or (None if register is None else "REGISTER"),
            "output": None,
        },
        layout=layout_of(given),
        limits=judged_by or PUBLIC,
    )


def _check_loss(loss: Loss, *, of_everybody: bool, columns: bool) -> None:
    """Refuse what cannot be measured of every release that is tried."""
    if loss in ANALYSTS and (of_everybody or columns):
        raise InputError(
            "parameter loss",
            "must be one that is known of every column, released or not, and of every search",
            found=f"{loss.value} with {'a population' if of_everybody else 'changes of columns'}",
            accepted="ane, ncp",
        )


def _presets(
    thresholds: Mapping[str, float] | None,
    presets: Sequence[str | Preset],
    limits: Limits | None,
    *,
    of_everybody: bool,
) -> tuple[Preset, ...]:
    """All thresholds, one's own first, and what keeps the stranger below the limits.

    What nobody asks is below those of a public release.
    """
    own = tuple(Threshold(name, limit) for name, limit in (thresholds or {}).items())
    found = (Preset(ASKED, own), *(presets_of(*presets) if presets else ()))
    found = tuple(each for each in found if each.thresholds)
    if limits is None and found:
        return found
    limits = limits or PUBLIC
    # Of n people who fit each is found with a chance of 1 / n; they are counted in the population.
    alike = Threshold("k_map" if of_everybody else "pid_k", ceil(1 / limits.person - 1e-9))
    return (*found, Preset(limits.preset, (alike, Threshold("marketer", limits.found))))


def _path(data: object) -> str | os.PathLike[str] | None:
    named = isinstance(data, (str, os.PathLike)) and not is_database(data)  # it has a password
    return data if named else None  # type: ignore[return-value]


class _Search:
    """The search of the point of least loss that meets the thresholds.

    First a release that keeps what is needed, and one that keeps what is surely enough; where
    neither can be made, ways to leave something out. Then, for each constraint that can move
    what is not met yet, the loosest limit that meets it; from the best point on, exchanges of
    one constraint for another; and small steps that a model of all trials chooses, and other
    options that a bandit chooses.

    Parameters
    ----------
    trials
        Where points are tried.
    allowed
        What may be changed beside the constraints.
    """

    def __init__(self, trials: Trials, space: Space, allowed: Allowed) -> None:
        self.trials, self.space, self.allowed = trials, space, allowed
        self.setting = trials.setting
        self.like = space.plain({})
        """A point whose options and columns the parts of the search take."""

    def run(self) -> None:
        """Search until nothing better is found for long.

        Raises
        ------
        SearchEnded
            If the number of the trials or the time is used up before.
        """
        trials, allowed = self.trials, self.allowed
        plain = self.space.plain(self.space.needed)
        # Both at once: on large files two trials run beside each other.
        start = trials.run([plain, self.space.plain(self.space.enough)], "start")[0]
        first = start if start.made else self._way_out()
        if first is None:
            self._relax_needed()
            return
        self.space = self.space.from_reached(first, self.setting.most_records)
        if allowed.recoding and self.setting.register is None and not self.like.coarsen_counts:
            trials.run([replace(plain, recoding=Recoding.FULL_DOMAIN.value)], "full-domain")
        if first.met:
            self._leave_some_out(None, first.loss)
        else:
            alone = self._alone()
            enough = next(((each.name, each.high) for each in alone if each.best), None)
            self._leave_some_out(enough, first.loss)
            in_pairs(trials, self.space, {each.name: each.crossing for each in alone}, self.like)
        if trials.best is None:
            self._all_at_once()
        else:
            exchange(trials, self.space)
            self._other_limits(trials.best.point)
        rng = np.random.default_rng(self.setting.seed)
        Refinement(trials, self.space, moves_of(allowed, self.setting), rng).run()

    def _way_out(self) -> Trial | None:
        """Options under which what is needed can be kept, or a cap; the first release of all."""
        trials = self.trials
        trials.run(self._leaving_out(self.space.plain(self.space.needed)), "leave out")
        if trials.releases:
            least = min(trials.releases, key=lambda each: (not each.met, each.loss))
            self.like = least.point.manner
        elif self.allowed.cap:
            self._cap_until_made()
        return next(iter(trials.releases), None)

    def _cap_until_made(self) -> None:
        """Need the loosest cap with which a release can be made, where there is one."""
        cap = KNOBS[CAP]

        def is_made(position: float) -> bool:
            return self.trials.run_one(self.space.point({CAP: position}), "leave out").made

        low, high = cap.position(self.setting.most_records), cap.position(1)
        if not is_made(high):
            return
        while high - low > 0.1:
            middle = (low + high) / 2
            low, high = (low, middle) if is_made(middle) else (middle, high)
        found = {CAP: cap.value(high)}
        self.space = replace(
            self.space, needed=self.space.needed | found, enough=self.space.enough | found
        )

    def _leaving_out(self, point: Point) -> list[Point]:
        """A point with persons or counts left out, and with both."""
        ways = []
        if self.allowed.suppress > 0:
            ways.append(replace(point, suppress=self.allowed.suppress))
        if COUNTS in point.limits:
            ways.append(replace(point, coarsen_counts="drop"))
            if self.allowed.suppress > 0:
                ways.append(replace(ways[-1], suppress=self.allowed.suppress))
        return ways

    def _alone(self) -> list[Bisection]:
        """The loosest limit of each constraint alone that meets the thresholds, best first."""
        space = self.space
        bisections = [
            Bisection(space, name, space.start(name), space.end(name), STEPS, {}, self.like)
            for name in space.movers
            if space.end(name) > space.start(name)
        ]
        run_together(self.trials, bisections, "one constraint")
        bisections.sort(key=lambda each: inf if each.best is None else each.best.loss)
        return [each for each in bisections if each.name != CAP]

    def _leave_some_out(self, alone: tuple[str, float] | None, loosest: float) -> None:
        """The best constraint again, from where it met the thresholds, with caps and suppression.

        Parameters
        ----------
        alone
            The constraint that loses least alone, and its position.
        loosest
            The loss of a release that keeps only what is needed.
        """
        space, trials, suppress = self.space, self.trials, self.allowed.suppress
        base = space.point({}, self.like)
        ways = []
        if self.allowed.cap and CAP not in space.needed:
            ways = [base.at(base.limits | {CAP: cap}) for cap in _caps(self.setting.table)]
        if suppress > 0 and not self.like.suppress:
            ways += [replace(base, suppress=rounded(suppress * each)) for each in SUPPRESSED]
        if alone is None or trials.best is None:
            trials.run(ways, "leave out")
            return
        best, (name, at) = trials.best.loss, alone
        hope = max(min(loosest / best, 1.0), LEAST_HOPE) if best > 0 else 1.0
        bisections = [
            Bisection(
                space,
                name,
                max(space.start(name), at - LOOSER),
                space.end(name),
                OUT_STEPS,
                {CAP: KNOBS[CAP].position(each.limits[CAP])} if CAP in each.limits else {},
                each,
                first=at,
                hope=hope,
            )
            for each in ways
        ]
        run_together(trials, bisections, "leave out")

    def _other_limits(self, best: Point) -> None:
        """What the best point would lose at other limits of what is needed: the frontier."""
        if self.trials.most is not None and self.trials.most < WORTH_A_FRONTIER:
            return
        points = []
        for name, limit in self.space.needed.items():
            if name == CAP or name in self.space.movers:
                continue
            knob = KNOBS[name]
            for factor in FACTORS:
                other = knob.value(knob.position(limit) + log(factor))
                points.append(best.at(best.limits | {name: other}))
        self.trials.run(points, "frontier")

    def _all_at_once(self) -> None:
        """Where no constraint alone was enough: all that is surely enough, with all options."""
        sure, like = self.space.plain(self.space.enough), self.like
        ways = [replace(sure, suppress=like.suppress, coarsen_counts=like.coarsen_counts)]
        self.trials.run(ways + self._leaving_out(sure), "all at once")
        if self.trials.best is not None:
            return

        def turned(part: float) -> Point:
            """Several knobs turned together, from their loose ends to their strict ones."""
            space = self.space
            ends = {name: (space.start(name), space.end(name)) for name in space.movers}
            ends.pop(CAP, None)
            at = {name: start + part * (end - start) for name, (start, end) in ends.items()}
            return space.point(at, like)

        self._halve(turned, "all at once", lambda trial: trial.made and not trial.met)

    def _relax_needed(self) -> None:
        """The nearest releases that can be made: what is needed, each limit made looser alike."""

        def relaxed(part: float) -> Point:
            limits = {
                name: KNOBS[name].value(part * KNOBS[name].position(limit))
                for name, limit in self.space.needed.items()
                if name != CAP
            }
            return self.space.plain(limits)

        self._halve(relaxed, "nearest", lambda trial: trial.made)
        self.trials.run([self.space.plain({})], "nearest")

    def _halve(
        self, point: Callable[[float], Point], stage: str, is_loose: Callable[[Trial], bool]
    ) -> None:
        """Halve the way from a point that is too loose, 0, to one that is too strict, 1."""
        low, high = 0.0, 1.0
        for _ in range(RELAXED_STEPS):
            middle = (low + high) / 2
            trial = self.trials.run_one(point(middle), stage)
            low, high = (middle, high) if is_loose(trial) else (low, middle)


def _caps(table: Table) -> list[int]:
    """Caps between the most records of a person and those of nearly all, by equal factors."""
    counts = np.bincount(table.person)
    most, least = int(counts.max()), max(int(np.quantile(counts, NEARLY_ALL)), 1)
    found = {round(each) for each in np.geomspace(least, most, CAPS + 1)}
    return sorted(found - {most})
