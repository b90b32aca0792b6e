"""Stages and what they wait for, as lines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sfumato.pipeline.run import StageState, Status
    from sfumato.pipeline.stage import Waiting

WAITING = 3
"""The exit code of a run that waits for people."""
_KILO = 1000


def done_line(state: StageState, names: Sequence[str]) -> str:
    """A stage of a run, in a line.

    Parameters
    ----------
    state
        The stage.
    names
        All stages of the project.
    """
    number = f"{names.index(state.name) + 1}/{len(names)}"
    width = max(map(len, names))
    record = state.record
    if state.waiting is not None:
        return f"{number}  {state.name:<{width}}  waits for {state.waiting.whom}"
    if record is None:
        return f"{number}  {state.name:<{width}}  {state.state.value}"
    spent = f"{record.seconds:.1f} s" if state.ran else "unchanged"
    return f"{number}  {state.name:<{width}}  {spent:>9}  {size(record.bytes):>8}  {record.said}"


def warning_lines(state: StageState) -> list[str]:
    """The warnings of a stage that this run made.

    Parameters
    ----------
    state
        The stage.
    """
    if state.record is None or not state.ran:
        return []
    return [f"Warning: {warning}" for warning in state.record.warnings]


def waiting_lines(waiting: Waiting, file: Path) -> list[str]:
    """What a project waits for, and what to type.

    Parameters
    ----------
    waiting
        What it waits for.
    file
        The project file.
    """
    lines = ["", f"Waiting for the {waiting.whom}: {waiting.what}.", "Type:"]
    return [*lines, *(f"  {each}" for each in waiting.commands), f"  {run_again(file)}"]


def run_again(file: Path) -> str:
    """The command that runs a project.

    Parameters
    ----------
    file
        The project file.
    """
    from sfumato.pipeline.project.load import PROJECT_FILE
    from sfumato.pipeline.project_folder import shell_path

    usual = file.resolve() == Path.cwd() / PROJECT_FILE
    return "sfumato run" if usual else f"sfumato run {shell_path(file)}"


def status_lines(status: Status) -> list[str]:
    """A project as a table.

    Parameters
    ----------
    status
        How far it is.
    """
    rows = [("stage", "state", "seconds", "size", "made (UTC)", "found")]
    for each in status.stages:
        record = each.record
        if record is None:
            rows.append((each.name, each.state.value, "-", "-", "-", ""))
            continue
        made = record.finished[:16].replace("T", " ")
        spent, bytes_ = f"{record.seconds:.1f}", size(record.bytes)
        rows.append((each.name, each.state.value, spent, bytes_, made, record.said))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [f"Project: {status.place.project.about.name}", ""]
    for row in rows:
        cells = [
            cell.rjust(width) if place in (2, 3) else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    if status.waiting is not None:
        return [*lines, *waiting_lines(status.waiting, status.place.file)]
    return lines if status.is_done else [*lines, "", f"Next: {run_again(status.place.file)}"]


def size(count: int) -> str:
    """A number of bytes as people read it.

    Parameters
    ----------
    count
        The number.
    """
    if count < _KILO:
        return f"{count} B"
    value = float(count)
    for unit in ("kB", "MB", "GB"):
        value /= _KILO
        if value < _KILO:
            return f"{value:.1f} {unit}"
    return f"{value / _KILO:.1f} TB"
