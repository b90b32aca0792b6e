"""What a search found, how far its point is from the thresholds, and the command that makes it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

from sfumato.core.declaration import Layout, LayoutGiven, declared, fields_of
from sfumato.core.measure import ESTIMATED
from sfumato.core.number_text import share_text, wrapped
from sfumato.pipeline.tune.limits import Promise, promise_options
from sfumato.pipeline.tune.point import Point, changed_schema
from sfumato.pipeline.tune.trials import Setting, Trial, ratio, release_of, worst_value
from sfumato.reports.report_files import write_tuned
from sfumato.risk.risk_thresholds import Held
from sfumato.risk.verdict import PUBLIC, Acceptance, Limits, Linkage, Verdict, judged_again
from sfumato.schema import Schema, schema_to_dict

Name = str | os.PathLike[str]
STOPPED = {
    "found": "nothing better was found for long",
    "trials": "the number of trials was used up",
    "time": "the time was used up",
    "interrupted": "it was interrupted",
}
EXHAUSTED = "everything that the search knows was tried"
_UNNAMED: dict[str, Name] = {"data": "DATA", "schema": "SCHEMA", "output": "release.csv"}
MOST_SUPPRESSED = 0.2
"""Share of persons from which it is no longer advised to suppress more."""


@dataclass(frozen=True, eq=False, repr=False)
class Tuned:
    """The point of least loss that meets the thresholds, and everything that was tried.

    Attributes
    ----------
    best
        The point that is chosen; ``None`` where no trial met every threshold.
    trials
        Every trial, in the order in which they were asked for.
    setting
        What all trials share.
    declared
        The schema that was given.
    suppress
        The largest share of persons that might be suppressed.
    stopped
        Why the search ended: ``found``, ``trials``, ``time`` or ``interrupted``.
    seconds
        How long it took.
    files
        The names of data, schema, register and output, for the command.
    layout
        How the file is laid out, as far as it was given.
    limits
        What the verdict of the chosen point is held against.
    linkage
        How good the linkage is that the file's persons come from, where there was one.
    """

    best: Trial | None
    trials: tuple[Trial, ...]
    setting: Setting
    declared: Schema
    suppress: float
    stopped: str
    seconds: float
    files: dict[str, Name | None]
    layout: LayoutGiven = field(default_factory=LayoutGiven)
    limits: Limits = PUBLIC
    linkage: Linkage | None = None

    @cached_property
    def verdict(self) -> Verdict | None:
        """What four intruders find in the release of the chosen point.

        It is made once more where no limits were searched for.
        """
        chosen = self.chosen
        if chosen is None:
            return None
        judged = (self.limits, self.setting.accepted)
        if chosen.verdict is None:
            return release_of(self.setting, chosen.point).judged(*judged, self.linkage).verdict
        return judged_again(chosen.verdict.to_json(), *judged, linkage=self.linkage)

    @property
    def chosen(self) -> Trial | None:
        """The best point, else the nearest one."""
        return self.best if self.best is not None else self.nearest

    @property
    def nearest(self) -> Trial | None:
        """The trial that comes nearest to the thresholds; ``None`` without any release."""
        made = [trial for trial in self.trials if trial.made]
        return min(made, key=lambda each: (each.excess, each.loss), default=None)

    @property
    def met(self) -> bool:
        """Whether a point meets every threshold."""
        return self.best is not None

    @property
    def loss(self) -> str:
        """What is least of the chosen point: where limits are kept, the detail that is lost."""
        return self.setting.loss.value if self.setting.limits is None else "detail"

    @property
    def promised(self) -> bool:
        """Whether everything that the chosen point is held by was counted, not estimated."""
        return self.chosen is None or self.chosen.promised

    @property
    def constraints(self) -> tuple[Promise | Limits | Acceptance, ...]:
        """The promises of the chosen point, for `sfumato.anonymize`; its limits among them."""
        if self.chosen is None:
            return ()
        if self.setting.limits is None:
            return self.chosen.point.constraints()
        return (*self.chosen.point.promises, self.setting.limits, *self.setting.accepted)

    @property
    def options(self) -> dict[str, Any]:
        """The options of the chosen point, for `sfumato.anonymize`."""
        point = Point(()) if self.chosen is None else self.chosen.point
        return self.setting.options_of(point) | {"seed": self.setting.seed}

    @property
    def schema(self) -> Schema:
        """The schema of the chosen point; the one that was given where no column is changed."""
        change = None if self.chosen is None else self.chosen.point.change
        return changed_schema(self.declared, change) if change else self.declared

    @property
    def frontier(self) -> tuple[Trial, ...]:
        """The trials that none beats in both risk and loss, lowest risk first."""
        return frontier_of(self.trials)

    @property
    def frontiers(self) -> dict[str, tuple[Trial, ...]]:
        """Of each measure, the trials of least loss at its value, the other thresholds met."""
        held = () if self.chosen is None else self.chosen.held
        return {
            each.label: frontier_of_measure(self.trials, place) for place, each in enumerate(held)
        }

    @property
    def problems(self) -> tuple[str, ...]:
        """Which thresholds cannot be met; empty where all are."""
        if self.met:
            return ()
        nearest = self.nearest
        if nearest is None:
            return self.trials[0].failures if self.trials else ("Nothing was tried.",)
        found = []
        for place, held in enumerate(nearest.held):
            best = min((trial.held[place] for trial in self.trials if trial.made), key=ratio)
            if ratio(best) > 1:
                found.append(
                    f"{_limit(held)}: no release that was tried meets it; the best has "
                    f"{held.printed(worst_value(best))}."
                )
        if not found:
            found = [
                f"{_limit(held)}: can be met, but not together with the others; the nearest point "
                f"has {held.printed(worst_value(held))}."
                for held in nearest.held
                if ratio(held) > 1
            ]
        failed = next((trial.failures for trial in self.trials if trial.stage == "start"), ())
        return (*found, *failed)

    @property
    def helps(self) -> tuple[str, ...]:
        """What would help where they cannot be met."""
        if self.met:
            return ()
        found = []
        if self.nearest is not None:
            wider = [
                f"{held.label} {held.bound} {worst_value(held):.4g}"
                for held in self.nearest.held
                if ratio(held) > 1
            ]
            number = self.nearest.number
            found.append(f"ask for {' and '.join(wider)}: the nearest point, trial {number}")
        found += next((trial.helps for trial in self.trials if trial.helps), ())
        if self.suppress < MOST_SUPPRESSED:
            found.append(f"allow more people to be suppressed than {share_text(self.suppress)}")
        if self.stopped != "found":
            found.append("try more: a larger number of trials, or more time")
        return tuple(found)

    def with_files(self, **files: Name | None) -> Tuned:
        """The same, its command naming other files.

        Parameters
        ----------
        **files
            Names of ``data``, ``schema``, ``register`` or ``output``.
        """
        return replace(self, files=self.files | files)

    @property
    def _in_one_line(self) -> bool:
        """Whether a command line says it: acceptances and limits of one's own it cannot name."""
        kept = self.setting.limits
        return kept is None or (kept == Limits(kept.preset) and not self.setting.accepted)

    @property
    def section(self) -> dict[str, Any]:
        """The keys under ``[release]`` of a project file that make the chosen release."""
        if self.best is None:
            return {}
        kept = {} if self.setting.limits is None else {"promise_limits": True}
        return kept | asked_of(self.setting, self.best.point)

    def command(
        self,
        data: Name | None = None,
        schema: Name | None = None,
        output: Name | None = None,
        register: Name | None = None,
    ) -> str:
        """The command line that makes the chosen release; empty where there is none.

        Parameters
        ----------
        data, schema
            Files, where they are not those that were tuned.
        output
            Where the release goes.
        register
            The population's file, likewise.
        """
        if self.best is None or not self._in_one_line:
            return ""
        given = {"data": data, "schema": schema, "output": output, "register": register}
        named = _UNNAMED | {name: file for name, file in self.files.items() if file}
        named |= {name: file for name, file in given.items() if file}
        return anonymize_command(self.setting, self.best.point, named, self.layout)

    def report(self, path: Name, *, title: str | None = None, made: date | None = None) -> Path:
        """Write a page with the frontier and all trials, and its JSON beside it.

        Parameters
        ----------
        path
            A ``.html`` file (its ``.json`` twin gets the same name), or a ``.json`` file.
        title
            Title of the page.
        made
            The day that it bears; today when not given.

        Returns
        -------
        Path
            The file that was asked for.

        Raises
        ------
        InputError
            If the path ends otherwise, its folder cannot be written, or the extra ``report`` is
            not installed.
        """
        return write_tuned(self.to_json(), self.verdict, path, title=title, made=made)

    def to_json(self) -> dict[str, Any]:
        """Plain values; trials are named by their number."""
        best, nearest = self.best, self.nearest
        changed = self.chosen is not None and bool(self.chosen.point.change)
        held = () if self.chosen is None else self.chosen.held
        return {
            **fields_of(self, "met promised"),
            "loss": self.loss,
            **fields_of(self.setting.table, "records persons"),
            "seed": self.setting.seed,
            **fields_of(self, "stopped seconds"),
            "thresholds": [
                {"preset": preset.name, "measure": threshold.measure, "limit": threshold.limit}
                | ({} if threshold.above is None else {"above": threshold.above})
                for preset in self.setting.presets
                for threshold in preset.thresholds
            ],
            "best": None if best is None else best.to_json(),
            "nearest": None if best is not None or nearest is None else nearest.to_json(),
            "held": [each.to_json() | {"scale": each.scale} for each in held],
            "verdict": None if self.verdict is None else self.verdict.to_json(),
            "command": self.command(),
            "release": self.section,
            "schema": schema_to_dict(self.schema) if changed else None,
            "problems": list(self.problems),
            "helps": list(self.helps),
            "frontier": [each.number for each in self.frontier],
            "frontiers": {
                name: [each.number for each in front] for name, front in self.frontiers.items()
            },
            "trials": [trial.to_json() for trial in self.trials],
        }

    def __str__(self) -> str:
        """The chosen point, its measures, and why the search ended."""
        lines = [self._verdict()]
        chosen = self.chosen
        if chosen is not None:
            point = wrapped(chosen.words(), "  ", "  ")
            lines += ["", *point, "", *wrapped(self._lost(chosen), "  ", "  ")]
            rows = (each.row() for each in chosen.held)
            lines += [f"  {row.meaning}  [{row.value}]" for row in rows]
        if self.problems:
            lines += ["", "What stands in the way:", *(f"- {problem}" for problem in self.problems)]
        if self.helps:
            lines += ["What would help:", *(f"- {each}" for each in self.helps)]
        if self.verdict is not None:
            lines += ["", str(self.verdict)]
        return "\n".join(lines)

    def __repr__(self) -> str:
        chosen = self.chosen
        found = "nothing" if chosen is None else f"{chosen.words()!r}, loss={chosen.loss:.4g}"
        return f"Tuned({found}, met={self.met}, trials={len(self.trials)})"

    def _verdict(self) -> str:
        stopped = STOPPED[self.stopped] if self.met or self.stopped != "found" else EXHAUSTED
        tried = f"{len(self.trials)} in {self.seconds:.1f} s; {stopped}"
        if self.best is not None:
            every = " and ".join(
                name
                for name, there in (
                    ("limit", self.setting.limits is not None),
                    ("threshold", bool(self.best.held)),
                )
                if there
            )
            kept = f"Meets every {every}"
            if not self.promised:
                kept = f"{ESTIMATED.capitalize()}: keeps every {every}"
            return f"{kept}: trial {self.best.number} of {tried}."
        if self.nearest is None:
            return f"No release can be made: trials {tried}."
        return f"No trial meets every threshold; nearest is trial {self.nearest.number} of {tried}."

    def _lost(self, trial: Trial) -> str:
        others = {"ane": trial.ane, "ncp": trial.ncp}
        others.pop(self.loss, None)
        beside = ", ".join(f"{name} {value:.4g}" for name, value in others.items())
        lost = f"Loss, {self.loss}: {trial.loss:.4g}"
        if self.loss == "detail":
            lost = f"Detail lost: {share_text(trial.loss)}"
        return (
            f"{lost} ({beside}); left out: {share_text(trial.records_left_out)} of the records; "
            f"classes: {trial.classes:,}"
        )


def _limit(held: Held) -> str:
    return f"{held.label} {held.bound} {held.printed(held.limit)}"


def frontier_of(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """The trials with the least loss at their worst measure or a lower one, lowest risk first.

    Risk is the largest measure over its limit: at most 1 where all thresholds are met.
    """
    return _front([(trial.excess, trial) for trial in trials if trial.made])


def frontier_of_measure(trials: Sequence[Trial], place: int) -> tuple[Trial, ...]:
    """The trials of least loss at a measure or a better one, of those that meet the others.

    Parameters
    ----------
    place
        Place of the measure in `Trial.held`.
    """

    def meets_others(trial: Trial) -> bool:
        return all(ratio(held) <= 1 for at, held in enumerate(trial.held) if at != place)

    def risk(held: Held) -> float:
        return -held.value if held.bound == "at least" else held.value

    made = (each for each in trials if each.made)
    return _front([(risk(each.held[place]), each) for each in made if meets_others(each)])


def _front(pairs: list[tuple[float, Trial]]) -> tuple[Trial, ...]:
    front: list[Trial] = []
    for _, trial in sorted(pairs, key=lambda pair: (pair[0], pair[1].loss, pair[1].number)):
        if not front or trial.loss < front[-1].loss:
            front.append(trial)
    return tuple(front)


def asked_of(setting: Setting, point: Point) -> dict[str, Any]:
    """What is asked for a point, by its options of ``sfumato anonymize`` with underscores."""
    # Without a promise no release is made; limits are one.
    promises = point.constraints() if setting.limits is None else point.promises
    options: dict[str, Any] = {}
    for promise in promises:
        options |= promise_options(promise)
    return options | setting.options_of(point)


def anonymize_command(
    setting: Setting, point: Point, files: Mapping[str, Name], layout: LayoutGiven | None = None
) -> str:
    """A line for a shell that makes the release of a point, its words quoted where they need it.

    Parameters
    ----------
    setting
        What all trials share.
    files
        ``data``, ``schema`` and ``output``, and ``register`` where there is one.
    layout
        How the file is laid out, as far as it was given.
    """
    paths = {name: _path_word(file) for name, file in files.items()}
    words = ["sfumato", "anonymize", paths["data"], "--schema", paths["schema"]]
    words += ["--output", paths["output"]]
    options = asked_of(setting, point)
    if setting.limits is not None:
        words += ["--promise-limits", "--limits", setting.limits.preset]
    for name, value in options.items():
        words += [f"--{name.replace('_', '-')}", _number(value)]
    if "register" in paths:
        words += ["--register", paths["register"]]
    for each in declared(Layout):
        value = (layout or {}).get(each.key)
        if isinstance(value, bool):
            words.append(each.option.split("/")[not value])
        elif value is not None:
            words += [each.option, value if isinstance(value, str) else _listed(value)]
    return shlex.join([*words, "--seed", str(setting.seed)])


def _listed(value: object) -> str:
    return ",".join(value) if isinstance(value, Sequence) else str(value)


def _number(value: object) -> str:
    return repr(value) if isinstance(value, float) else str(value)


def _path_word(path: Name) -> str:
    """A file's name that no command takes for an option."""
    text = os.fspath(path)
    return f"./{text}" if text.startswith("-") else text
