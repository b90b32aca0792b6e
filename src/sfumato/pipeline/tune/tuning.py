"""How a release is tuned: what is asked, and the parts of the search one after the other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import Any, Unpack

from sfumato.core import declaration
from sfumato.core.errors import InputError
from sfumato.pipeline.project_folder import LINKED, ProjectFolder
from sfumato.pipeline.tune.limits import check_measurable, target_of
from sfumato.pipeline.tune.trials import SearchEnded, Setting, Trial, Trials
from sfumato.pipeline.tune.tune_search import Search, Space
from sfumato.pipeline.tune.tuned import Tuned
from sfumato.pipeline.tune_options import Circumstances, Searching, TuneOptions
from sfumato.release.anonymize import check_table
from sfumato.release.population_register import check_population
from sfumato.release.release_options import ANALYSTS, Loss, Options
from sfumato.risk.register_presence import open_register
from sfumato.risk.risk_thresholds import Preset, Threshold
from sfumato.risk.risk_thresholds import thresholds as presets_of
from sfumato.risk.verdict import PUBLIC, Limits, check_answers
from sfumato.schema import Schema
from sfumato.table.classification import open_classified

ASKED = "asked"
"""Name of the preset of one's own thresholds."""
USUAL_TRIALS, UNDER_LIMITS = 100, 10
"""Trials where nobody says how many: about 100 releases, as limits take some ten of each."""


@declaration.keywords(Searching, Circumstances)
def tune(
    data: Any,
    schema: Schema,
    thresholds: Mapping[str, float] | None = None,
    *,
    progress: declaration.Progress = declaration.silent,
    told: Callable[[Trial], None] = lambda _trial: None,
    tried: Iterable[Trial] = (),
    **options: Unpack[TuneOptions],
) -> Tuned:
    """Search the constraints and options that lose least under thresholds of the release.

    A threshold that a constraint states exactly (a highest risk, a smallest class) is asked as
    that constraint; for the others the loosest limit of each constraint that meets them is
    found, then a part of one is exchanged for another, and it is searched nearby. Every trial is a
    release that is made and measured; the file is encoded once. Where limits are named, or no
    thresholds, each of them keeps the limits, too, as ``anonymize`` with `Limits` does: no
    intruder's row is above its limit, but for what was accepted; with a population, a register or a
    household the stranger's alone is searched for. See ``docs/reference/tune.md``.

    Parameters
    ----------
    data
        A dataframe, or the path of a file.
    schema
        What each column is.
    thresholds
        Limits by the name of their measure, for example ``{"max_gidr": 0.2, "marketer": 0.05}``.
    progress
        Told how far the work is, within each trial, too. What it raises ends the search;
        `KeyboardInterrupt` gives the best point until then.
    told
        Told of each trial as soon as it is made.
    tried
        Trials that an earlier search of the same data told of: they are not made again, so that
        a search that was ended goes on.

    Returns
    -------
    Tuned
        The best point found; where the search is interrupted (Ctrl-C), the best until then.

    Raises
    ------
    InputError
        If the data does not fit the schema, or a parameter is out of range.
    """
    searching, given = declaration.taken(options, Searching, Circumstances)
    loss, register, population = searching.loss, given.register, given.population
    of_everybody = register is not None or population is not None
    _check_loss(loss, of_everybody=of_everybody, columns=searching.columns)
    check_one_table(schema)
    check_answers(given.accepted, schema.further)
    making = Options(
        values=given.values,
        threshold=given.threshold,
        unclassified=given.unclassified,
        loss=None if of_everybody else loss,
    )
    asked = _presets(thresholds, given.presets)
    judged_by = Limits(given.limits) if isinstance(given.limits, str) else given.limits
    if judged_by is None and not asked:
        judged_by = PUBLIC
    kept = judged_by
    if judged_by is not None and (of_everybody or schema.household is not None):
        # Limits are searched for in a file alone; of a population, the stranger's by thresholds.
        asked, kept = (*asked, _of_stranger(judged_by, of_everybody=of_everybody)), None
    limits = [threshold for preset in asked for threshold in preset.thresholds]
    check_measurable(
        limits,
        sensitive=bool(schema.sensitive),
        household=schema.household is not None,
        register=register is not None,
        population=of_everybody,
    )
    targets = [target_of(limit, making.threshold) for limit in limits]
    table = open_classified(
        data, schema, making.unclassified, **declaration.layout_of(given), progress=progress
    )
    # Limits are kept by plans of their own, beside which the search changes less.
    allowed = replace(
        searching,
        cap_records=searching.cap_records and kept is None,
        recoding=searching.recoding and loss not in ANALYSTS and not of_everybody and kept is None,
    )
    space = Space.of(targets, table, cap=allowed.cap_records)
    promises = space.plain(space.enough).constraints()
    check_table(table, making, promises)
    check_population(promises, making, register=register is not None, population=population)
    setting = Setting(
        table=table,
        presets=asked,
        loss=loss,
        seed=declaration.drawn_seed(given.seed),
        options=making,
        register=None if register is None else open_register(register, table.schema),
        population=population,
        limits=kept,
        accepted=tuple(given.accepted),
    )
    most = searching.trials
    if most is None and searching.time_limit is None:
        most = USUAL_TRIALS if kept is None else UNDER_LIMITS
    trials = Trials(setting, most, searching.time_limit, progress, told, tried)
    stopped = "found"
    try:
        Search(trials, space, allowed).run()
    except SearchEnded:
        stopped = "trials" if most is not None and len(trials.done) >= most else "time"
    except KeyboardInterrupt:
        stopped = "interrupted"
    return Tuned(
        best=trials.best,
        trials=tuple(trials.done),
        setting=setting,
        declared=schema,
        suppress=searching.suppress,
        stopped=stopped,
        seconds=trials.elapsed,
        files={
            "data": _path(data),
            "schema": None,
            "register": _path(register) or (None if register is None else "REGISTER"),
            "output": None,
        },
        layout=declaration.layout_of(given),
        limits=judged_by or PUBLIC,
    )


def check_one_table(schema: Schema) -> None:
    """Refuse tables of a database, which a release of each trial would be made of."""
    if schema.tables:
        raise InputError(
            "tune",
            "searches among the releases of one table",
            found=f"{len(schema.tables)} tables",
            advice="try promises with 'sfumato anonymize FOLDER --pid-k K --known-events 2:RISK'",
        )


def asked_by_project(place: ProjectFolder) -> tuple[declaration.Place, Schema, dict[str, Any]]:
    """The table of a project, its schema, and what else its file says of a search.

    Raises
    ------
    InputError
        If its records are not linked yet, or a policy decides about the release.
    """
    project = place.project
    if project.policy is not None:
        raise InputError(
            "section [policy]",
            "decides about the release, which leaves nothing to search",
            advice="name a table and its schema instead of the project",
        )
    if not all(
        (place.of_stage(LINKED) / name).exists() for name in place.data_stages().get(LINKED, ())
    ):
        raise InputError(
            "the project", "must be linked before it is tuned", advice="'sfumato run' links it"
        )
    data, layout = place.data
    asked = project.release
    register = None if asked.register_file is None else place.at(asked.register_file)
    said = {"register": register, "population": asked.population, "seed": project.about.seed}
    judged = {"limits": project.judged_by, "accepted": project.answers}
    return data, place.released_schema(), {**said, **judged, **layout}


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
    thresholds: Mapping[str, float] | None, presets: Sequence[str | Preset]
) -> tuple[Preset, ...]:
    """All thresholds, one's own first."""
    own = tuple(Threshold(name, limit) for name, limit in (thresholds or {}).items())
    found = (Preset(ASKED, own), *(presets_of(*presets) if presets else ()))
    return tuple(each for each in found if each.thresholds)


def _of_stranger(limits: Limits, *, of_everybody: bool) -> Preset:
    """The thresholds that keep the stranger below limits."""
    # Of n people who fit each is found with a chance of 1 / n; they are counted in the population.
    alike = Threshold("k_map" if of_everybody else "pid_k", ceil(1 / limits.person - 1e-9))
    return Preset(limits.preset, (alike, Threshold("marketer", limits.found)))


def _path(data: object) -> str | os.PathLike[str] | None:
    # A URL of a database has a password.
    named = isinstance(data, (str, os.PathLike)) and not declaration.is_database(data)
    return data if named else None  # type: ignore[return-value]
