"""One trial: make the release of a point, measure it, hold it against the thresholds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, isfinite
from typing import Any

import numpy as np

from sfumato.core.errors import ConstraintsNotMetError, InputError
from sfumato.core.progress import Progress
from sfumato.pipeline.tune.columns import changed_table
from sfumato.pipeline.tune.point import Point
from sfumato.pipeline.tune.targets import PRESENCE, Target
from sfumato.release.make import make_release
from sfumato.release.manifest import Manifest
from sfumato.release.options import Options
from sfumato.release.result import Release
from sfumato.release.utility.normalized_error import normalized_error
from sfumato.risk.disclosure_risk import Risk
from sfumato.risk.risk_thresholds import Held, Preset
from sfumato.risk.threshold_checks import hold
from sfumato.table.table import Table

LOSSES = ("ane", "ncp")


@dataclass(frozen=True, eq=False)
class Setting:
    """What all trials share.

    Attributes
    ----------
    table
        The encoded file.
    presets
        The thresholds, by who states them.
    targets
        The thresholds with what keeps them.
    loss
        ``ane`` or ``ncp``.
    seed
        Seed of every release.
    options
        What is the same in every release: the form of its values, when a record is at risk.
    register, population
        The population's persons, or their number.
    """

    table: Table
    presets: tuple[Preset, ...]
    targets: tuple[Target, ...]
    loss: str
    seed: int
    options: Options
    register: Table | None = None
    population: int | None = None

    def manifest(self, point: Point) -> Manifest:
        """What repeats the release of a point.

        Parameters
        ----------
        point
            The point.
        """
        cut = None if point.recoding != "local" else self.options.cut
        options = replace(self.options, cut=cut, **point.options())
        return Manifest(
            options, point.constraints(), self.seed, False, "", population=self.population
        )


@dataclass(frozen=True)
class Trial:
    """What a point gave.

    Attributes
    ----------
    number
        1 for the first trial.
    stage
        The part of the search that asked for it.
    point
        What was tried.
    held
        Its measures beside the thresholds; empty where there is no release.
    loss, ane, ncp
        Its loss: the one that is sought least, and both of them. A record that is left out
        counts as lost in full, and so does a column.
    records_left_out
        Share of the records that are not released.
    classes
        Number of equivalence classes.
    reached
        What the release keeps by itself, by the name of the knob that would ask for it.
    failures, helps
        Why there is no release, and what would help.
    """

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

    @property
    def made(self) -> bool:
        """Whether there is a release."""
        return not self.failures

    @cached_property
    def met(self) -> bool:
        """Whether every threshold is met, estimates over their whole interval."""
        return self.made and all(_kept(each) for each in self.held)

    @cached_property
    def promised(self) -> bool:
        """Whether every measure that is held was counted, not estimated."""
        return all(each.promised for each in self.held)

    @cached_property
    def excess(self) -> float:
        """The largest measure over its limit (limit over measure for a least one)."""
        return max(map(ratio, self.held), default=0.0) if self.made else inf

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        measured = {
            "loss": self.loss,
            "ane": self.ane,
            "ncp": self.ncp,
            "records_left_out": self.records_left_out,
            "classes": self.classes,
            "excess": self.excess if isfinite(self.excess) else None,
            "measures": {each.label: each.value for each in self.held},
        }
        return {
            "trial": self.number,
            "stage": self.stage,
            **self.point.to_json(),
            "met": self.met,
            "promised": self.promised,
            **(measured if self.made else {"failures": list(self.failures)}),
        }


def _kept(held: Held) -> bool:
    return held.met and held.met_over_interval is not False


def ratio(held: Held) -> float:
    """A measure over its limit, an estimate at its worse end; at most 1 where it is met.

    Parameters
    ----------
    held
        The measure.
    """
    least = held.bound == "at least"
    worst = held.low if least else held.high
    value = held.value if worst is None else worst
    over, under = (held.limit, value) if least else (value, held.limit)
    nothing = 1.0 if over <= 0 else inf
    found = over / under if under > 0 else nothing
    return min(found, 1.0) if _kept(held) else max(found, 1.0)


def try_point(setting: Setting, point: Point, number: int, stage: str, progress: Progress) -> Trial:
    """Make the release of a point and measure it.

    Parameters
    ----------
    setting
        What all trials share.
    point
        What to try.
    number, stage
        Which trial it is.
    progress
        Told how far the work is.

    Raises
    ------
    InputError
        If the file has values that a constraint cannot speak about.
    """
    table, register = changed_table(setting.table, point.change), setting.register
    if register is not None:
        register = changed_table(register, point.change)
    try:
        release = make_release(table, setting.manifest(point), None, progress, register)
    except ConstraintsNotMetError as error:
        return Trial(number, stage, point, failures=error.failures, helps=error.options)
    except InputError as error:
        if not (point.change or point.options()):
            raise
        return Trial(number, stage, point, failures=(str(error),))
    ane, ncp = losses(setting.table, release)
    return Trial(
        number,
        stage,
        point,
        held=held_of(setting, release),
        loss=ane if setting.loss == "ane" else ncp,
        ane=ane,
        ncp=ncp,
        records_left_out=release.utility.suppressed_records_share,
        classes=release.risk.classes,
        reached=_reached(release),
    )


def losses(table: Table, release: Release) -> tuple[float, float]:
    """ANE and NCP by the weights of the original schema, what is left out counting in full.

    ANE is over the kept records; each record that is left out counts as 1, as in NCP. A column
    that is not released has the ANE of one class, and an NCP of 1.

    Parameters
    ----------
    table
        The encoded original.
    release
        A release of it.
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


def held_of(setting: Setting, release: Release) -> tuple[Held, ...]:
    """The measures of a release beside the thresholds.

    Parameters
    ----------
    setting
        What all trials share.
    release
        The release.
    """
    risk: Risk = release.risk
    against = release.population
    if against is not None:
        risk = replace(risk, marketer=against.marketer)
    found: list[Held] = []
    for preset in setting.presets:
        inside = tuple(each for each in preset.thresholds if each.measure != PRESENCE)
        if inside:
            found += hold(risk, replace(preset, thresholds=inside)).held
        for each in preset.thresholds:
            high = None if against is None else against.presence_high
            if each.measure == PRESENCE and high is not None:
                kind = each.kind
                found.append(
                    Held(
                        preset.name,
                        preset.source,
                        preset.evidence,
                        PRESENCE,
                        "",
                        kind.bound.value,
                        kind.scale.value,
                        each.limit,
                        None,
                        high.value,
                    )
                )
    return tuple(found)


def _reached(release: Release) -> tuple[tuple[str, float], ...]:
    risk = release.risk
    marketer = risk.marketer
    found: dict[str, float] = {
        "g_balance": risk.g_balance.value,
        "k": risk.k,
        "pid_k": risk.pid_k,
        "marketer": marketer.value,
        "shared_counts": risk.count_k,
    }
    if release.population is not None:
        against = release.population.marketer
        found["marketer"] = against.value if against.high is None else against.high
    of = risk.sensitive.values()
    if of:
        found["h_affiliation"] = max(each.h_affiliation.value for each in of)
        found["l"] = min(each.l_distinct for each in of)
        found["t_closeness"] = max(each.t_closeness.value for each in of)
    return tuple(found.items())
