"""What a search found: the best point, the frontier, every trial."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from sfumato.core.measure import ESTIMATED
from sfumato.pipeline.tune.advice import helps, nearest_of, problems
from sfumato.pipeline.tune.columns import changed_schema
from sfumato.pipeline.tune.command import anonymize_command
from sfumato.pipeline.tune.frontier import frontier_of, frontier_of_measure
from sfumato.pipeline.tune.point import Promise
from sfumato.pipeline.tune.trial import Setting, Trial
from sfumato.release.options import Options
from sfumato.reports.report_files import write_tuned
from sfumato.risk.risk_thresholds import Held
from sfumato.schema import Schema, schema_to_dict

Name = str | os.PathLike[str]
STOPPED = {
    "found": "nothing better was found for long",
    "trials": "the number of trials was used up",
    "time": "the time was used up",
    "interrupted": "it was interrupted",
}
EXHAUSTED = "everything that the search knows was tried"


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
    delimiter
        The separator of the file, where it was given.
    """

    best: Trial | None
    trials: tuple[Trial, ...]
    setting: Setting
    declared: Schema
    suppress: float
    stopped: str
    seconds: float
    files: dict[str, Name | None]
    delimiter: str | None = None

    @property
    def chosen(self) -> Trial | None:
        """The best point, else the nearest one."""
        return self.best if self.best is not None else self.nearest

    @property
    def nearest(self) -> Trial | None:
        """The trial that comes nearest to the thresholds; ``None`` without any release."""
        return nearest_of(self.trials)

    @property
    def met(self) -> bool:
        """Whether a point meets every threshold."""
        return self.best is not None

    @property
    def promised(self) -> bool:
        """Whether everything that the chosen point is held by was counted, not estimated."""
        return self.chosen is None or self.chosen.promised

    @property
    def constraints(self) -> tuple[Promise, ...]:
        """The promises of the chosen point, for `sfumato.anonymize`."""
        return () if self.chosen is None else self.chosen.point.constraints()

    @property
    def options(self) -> dict[str, Any]:
        """The options of the chosen point, for `sfumato.anonymize`."""
        fixed, usual = self.setting.options, Options()
        found: dict[str, Any] = {} if self.chosen is None else self.chosen.point.options()
        if fixed.values is not usual.values:
            found["values"] = fixed.values.value
        if fixed.threshold != usual.threshold:
            found["threshold"] = fixed.threshold
        if fixed.unclassified is not usual.unclassified:
            found["unclassified"] = fixed.unclassified.value
        if self.setting.population is not None:
            found["population"] = self.setting.population
        return found | {"seed": self.setting.seed}

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
        return () if self.met else problems(self.trials, self.nearest)

    @property
    def helps(self) -> tuple[str, ...]:
        """What would help where they cannot be met."""
        if self.met:
            return ()
        cut_short = self.stopped != "found"
        return helps(self.trials, self.nearest, self.suppress, cut_short=cut_short)

    def with_files(self, **files: Name | None) -> Tuned:
        """The same, its command naming other files.

        Parameters
        ----------
        **files
            Names of ``data``, ``schema``, ``register`` or ``output``.
        """
        return replace(self, files=self.files | files)

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
        if self.best is None:
            return ""
        return anonymize_command(
            self.setting,
            self.best.point,
            data=data or self.files["data"] or "DATA",
            schema=schema or self.files["schema"] or "SCHEMA",
            output=output or self.files["output"] or "release.csv",
            register=register or self.files["register"],
            delimiter=self.delimiter,
        )

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
        return write_tuned(self.to_json(), path, title=title, made=made)

    def to_json(self) -> dict[str, Any]:
        """Plain values; trials are named by their number."""
        best, nearest = self.best, self.nearest
        changed = self.chosen is not None and bool(self.chosen.point.change)
        held = () if self.chosen is None else self.chosen.held
        return {
            "met": self.met,
            "promised": self.promised,
            "loss": self.setting.loss,
            "records": self.setting.table.records,
            "persons": self.setting.table.persons,
            "seed": self.setting.seed,
            "stopped": self.stopped,
            "seconds": self.seconds,
            "thresholds": [
                {"preset": preset.name, "measure": each.measure, "limit": each.limit}
                | ({} if each.above is None else {"above": each.above})
                for preset in self.setting.presets
                for each in preset.thresholds
            ],
            "best": None if best is None else best.to_json(),
            "nearest": None if best is not None or nearest is None else nearest.to_json(),
            "held": [each.to_json() | {"scale": each.scale} for each in held],
            "command": self.command(),
            "schema": schema_to_dict(self.schema) if changed else None,
            "problems": list(self.problems),
            "helps": list(self.helps),
            "frontier": [each.number for each in self.frontier],
            "frontiers": {
                name: [each.number for each in front] for name, front in self.frontiers.items()
            },
            "trials": [each.to_json() for each in self.trials],
        }

    def __str__(self) -> str:
        """The chosen point, its measures, and why the search ended."""
        lines = [self._verdict()]
        chosen = self.chosen
        if chosen is not None:
            lines += ["", f"  {chosen.point.words()}", "", f"  {self._lost(chosen)}"]
            lines += [f"  {_held_line(each)}" for each in chosen.held]
        if self.problems:
            lines += ["", "What stands in the way:", *(f"- {each}" for each in self.problems)]
        if self.helps:
            lines += ["What would help:", *(f"- {each}" for each in self.helps)]
        return "\n".join(lines)

    def __repr__(self) -> str:
        chosen = self.chosen
        found = "nothing" if chosen is None else f"{chosen.point.words()!r}, loss={chosen.loss:.4g}"
        return f"Tuned({found}, met={self.met}, trials={len(self.trials)})"

    def _verdict(self) -> str:
        stopped = STOPPED[self.stopped] if self.met or self.stopped != "found" else EXHAUSTED
        tried = f"{len(self.trials)} trials in {self.seconds:.1f} s; {stopped}"
        if self.best is not None:
            kept = "Meets every threshold"
            if not self.promised:
                kept = f"{ESTIMATED.capitalize()}: keeps every threshold"
            return f"{kept}: trial {self.best.number} of {tried}."
        if self.nearest is None:
            return f"No release can be made: {tried}."
        return f"No trial meets every threshold; nearest is {self.nearest.number} of {tried}."

    def _lost(self, trial: Trial) -> str:
        other = "ncp" if self.setting.loss == "ane" else "ane"
        return (
            f"loss: {self.setting.loss} {trial.loss:.4g} ({other} {getattr(trial, other):.4g}), "
            f"{100 * trial.records_left_out:.3g} % of the records left out, "
            f"{trial.classes:,} classes"
        )


def _held_line(held: Held) -> str:
    line = held.row()
    return f"{line.meaning}  [{line.value}]"
