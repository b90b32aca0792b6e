"""Tune a release: search the constraints that lose least under thresholds."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from sfumato.core.declaration import Count, Share
from sfumato.core.errors import InputError
from sfumato.core.progress import Progress, silent
from sfumato.core.shared_options import drawn_seed
from sfumato.pipeline.tune.moves import Allowed
from sfumato.pipeline.tune.point import Point
from sfumato.pipeline.tune.result import Tuned
from sfumato.pipeline.tune.search import search
from sfumato.pipeline.tune.space import space_of
from sfumato.pipeline.tune.targets import check_parts, target_of
from sfumato.pipeline.tune.trial import LOSSES, Setting
from sfumato.pipeline.tune.trials import SearchEnded, Trials
from sfumato.release.coded_ends import check_ends
from sfumato.release.options import Options
from sfumato.release.population.known import check_population
from sfumato.risk.register_presence import open_register
from sfumato.risk.risk_thresholds import Preset, Threshold
from sfumato.risk.risk_thresholds import thresholds as presets_of
from sfumato.schema import Schema
from sfumato.table.classification import open_classified

ASKED = "asked"
"""Name of the preset of one's own thresholds."""
USUAL_TRIALS = 100


def tune(  # noqa: PLR0913
    data: Any,
    schema: Schema,
    thresholds: Mapping[str, float] | None = None,
    *,
    presets: Sequence[str | Preset] = (),
    loss: str = "ane",
    register: Any = None,
    population: int | None = None,
    trials: int | None = None,
    time_limit: float | None = None,
    suppress: float = 0.02,
    cap_records: bool = True,
    recoding: bool = True,
    columns: bool = False,
    values: str = "range",
    threshold: float = 0.2,
    unclassified: str = "refuse",
    seed: int | None = None,
    delimiter: str | None = None,
    progress: Progress = silent,
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
    presets
        Names of built-in presets, or presets, whose thresholds are to be met too.
    loss
        What is to be least: ``"ane"`` or ``"ncp"``. A record that is left out counts as lost in
        full in both.
    register, population
        The population that the file's persons come from, or their number, as in
        `sfumato.anonymize`.
    trials
        Most releases that are tried; 100 where neither this nor a time is given. The same seed
        and number find the same point on every machine.
    time_limit
        Most seconds of the search. What is found then depends on the machine.
    suppress
        The largest share of persons that may be suppressed; 0 for nobody.
    cap_records
        Whether the records of a person may be capped.
    recoding
        Whether one level of each hierarchy for all records is tried too.
    columns
        Whether the schema may be changed: weights, coarser hierarchies, columns left out.
    values
        The form of released quasi-identifiers, as in `sfumato.anonymize`.
    threshold
        Risk above which a record counts as at risk, in (0, 1].
    unclassified
        What becomes of columns that the schema does not name, as in `sfumato.anonymize`.
    seed
        Seed of the search and of every release; drawn when not given.
    delimiter
        The separator of a CSV file; found by itself when not given.
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
    options = Options(
        values=values,  # type: ignore[arg-type]
        threshold=threshold,
        unclassified=unclassified,  # type: ignore[arg-type]
    )
    _check(loss, trials, time_limit, suppress)
    asked = _presets(thresholds, presets)
    limits = [each for preset in asked for each in preset.thresholds]
    check_parts(
        limits,
        sensitive=bool(schema.sensitive),
        household=schema.household is not None,
        register=register is not None,
    )
    targets = tuple(target_of(each, threshold) for each in limits)
    table = open_classified(
        data, schema, options.unclassified, delimiter=delimiter, progress=progress
    )
    check_ends(table, options)
    allowed = Allowed(suppress, cap_records, recoding, columns)
    space = space_of(targets, table, cap=cap_records)
    promises = Point.of(space.enough, distance=space.distance).constraints()
    check_population(promises, options, register=register is not None, population=population)
    setting = Setting(
        table=table,
        presets=asked,
        targets=targets,
        loss=loss,
        seed=drawn_seed(seed),
        options=options,
        register=None if register is None else open_register(register, table.schema),
        population=population,
    )
    if trials is None and time_limit is None:
        trials = USUAL_TRIALS
    tried = Trials(setting, trials, time_limit, progress)
    rng = np.random.default_rng(setting.seed)
    stopped = "found"
    try:
        search(tried, space, allowed, rng)
    except SearchEnded:
        stopped = "trials" if trials is not None and len(tried.done) >= trials else "time"
    except KeyboardInterrupt:
        stopped = "interrupted"
    return Tuned(
        best=tried.best,
        trials=tuple(tried.done),
        setting=setting,
        declared=schema,
        suppress=suppress,
        stopped=stopped,
        seconds=tried.elapsed,
        files={
            "data": _path(data),
            "schema": None,
            "register": _path(register) or (None if register is None else "REGISTER"),
            "output": None,
        },
        delimiter=delimiter,
    )


def _presets(
    thresholds: Mapping[str, float] | None, presets: Sequence[str | Preset]
) -> tuple[Preset, ...]:
    """All thresholds, one's own first.

    Raises
    ------
    InputError
        If there is none, one is unknown, or a limit is out of its range.
    """
    own = tuple(Threshold(name, limit) for name, limit in (thresholds or {}).items())
    given = presets_of(*presets) if presets else ()
    found = ((Preset(ASKED, own),) if own else ()) + tuple(given)
    if not any(each.thresholds for each in found):
        raise InputError(
            "the search",
            "must be given a threshold",
            found="none",
            advice="give one, for example {'max_gidr': 0.2} or --threshold max_gidr=0.2",
        )
    return tuple(each for each in found if each.thresholds)


def _check(loss: str, trials: object, time_limit: object, suppress: object) -> None:
    if loss not in LOSSES:
        raise InputError(
            "parameter loss", "must be one of the known words", accepted=", ".join(LOSSES)
        )
    if trials is not None:
        Count(1).check("parameter trials", trials)
    if time_limit is not None:
        number = isinstance(time_limit, Real) and not isinstance(time_limit, bool)
        if not number or not 0 < float(time_limit) < float("inf"):  # type: ignore[arg-type]
            raise InputError(
                "parameter time_limit", "must be a number of seconds", accepted="more than 0"
            )
    Share(zero=True, one=False).check("parameter suppress", suppress)


def _path(data: object) -> str | os.PathLike[str] | None:
    return data if isinstance(data, (str, os.PathLike)) else None
