"""Make a stage: its folder, with its record, whole or not at all."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path

from sfumato.core.atomic import write_text
from sfumato.core.atomic_folder import atomic_folder
from sfumato.core.progress import Progress
from sfumato.pipeline.current import Depends, check_unchanged, depends, outputs_in
from sfumato.pipeline.kept.record import MEASURED, StageRecord, read_record
from sfumato.pipeline.stages.place import Place
from sfumato.pipeline.stages.stage import Made, Stage
from sfumato.release.manifest import versions


def make_stage(place: Place, stage: Stage, now: Depends, progress: Progress) -> StageRecord:
    """Make a stage in its folder.

    Parameters
    ----------
    place
        The project; nobody else runs it, and the stages before this one are made.
    stage
        The stage.
    now
        What it depends on.
    progress
        Told how far it is.

    Returns
    -------
    StageRecord
        Its record.

    Raises
    ------
    SfumatoError
        If it cannot be made, or what it reads was changed meanwhile; then its folder is as it
        was before.
    """
    folder = place.of_stage(stage.name)
    started = time.monotonic()
    before = read_record(folder)
    with atomic_folder(folder, without=() if before is None else before.outputs) as making:
        made = stage.make(place, making, progress)
        check_unchanged(now.inputs, depends(place, stage).inputs)
        _write_measured(made, making)
        record = StageRecord(
            stage=stage.name,
            key=now.key,
            settings=now.settings,
            inputs=now.inputs,
            outputs=outputs_in(making),
            said=made.said,
            warnings=made.warnings,
            seed=made.seed,
            finished=datetime.now(UTC).isoformat(timespec="seconds"),
            seconds=round(time.monotonic() - started, 3),
            versions=versions(),
        )
        record.write(making)
    return record


def _write_measured(made: Made, making: Path) -> None:
    text = json.dumps(_finite(made.measured), indent=2, ensure_ascii=False, allow_nan=False)
    write_text(making / MEASURED, f"{text}\n")


def _finite(value: object) -> object:
    """The same plain values, with ``None`` for numbers that JSON does not know."""
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(each) for each in value]
    if isinstance(value, float) and (value != value or abs(value) == float("inf")):  # noqa: PLR0124
        return None
    return value
