"""What the stages of a project made, for whoever writes about all of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.pipeline.kept.record import StageRecord, read_measured, read_record
from sfumato.pipeline.stages.place import Place
from sfumato.pipeline.stages.reported import TWIN


@dataclass(frozen=True)
class StageResult:
    """What a stage made.

    Attributes
    ----------
    name
        The stage.
    folder
        Its folder.
    record
        What it was made from, when, how long and how large.
    measured
        All that it measured: ``to_json()`` of what `sfumato.link`, `sfumato.assess`,
        `sfumato.anonymize` or the attack gave; no value of the data.
    """

    name: str
    folder: Path
    record: StageRecord
    measured: dict[str, Any]

    @property
    def twin(self) -> dict[str, Any] | None:
        """The stage's own report as JSON; ``None`` where it writes none."""
        try:
            twin = json.loads((self.folder / TWIN).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return None
        return twin if isinstance(twin, dict) else None

    def to_json(self) -> dict[str, Any]:
        """Record, measures, and what the stage's own report adds to them, as plain values."""
        about = (self.twin or {}).get("report", {})
        return {"record": self.record.to_json(), "measured": self.measured, "about": about}


def results_of(place: Place, names: tuple[str, ...]) -> dict[str, StageResult]:
    """What stages of a project made, by their names in that order; those that did not are left out.

    Parameters
    ----------
    place
        The project.
    names
        The stages.
    """
    found = {}
    for name in names:
        folder = place.of_stage(name)
        record, measured = read_record(folder), read_measured(folder)
        if record is not None and measured is not None:
            found[name] = StageResult(name, folder, record, measured)
    return found
