"""The report of a stage, in the form that the project asks for."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sfumato.pipeline.project.outputs import ReportForm
from sfumato.pipeline.stages.place import Place
from sfumato.reports import report
from sfumato.reports.report_files import NEEDED

PAGE, TWIN = "report.html", "report.json"
"""The report of a stage: the page where it is asked for, and the same as JSON."""
LACKING = (
    'The report is JSON only: a page needs the extra "report"; run: pip install "sfumato[report]"'
)


def form_of(place: Place) -> ReportForm:
    """The form in which reports are written here.

    Parameters
    ----------
    place
        The project.
    """
    if any(find_spec(name) is None for name in NEEDED):
        return ReportForm.JSON
    return place.project.outputs.report


def lacking(place: Place) -> tuple[str, ...]:
    """A warning where pages are asked for and cannot be drawn.

    Parameters
    ----------
    place
        The project.
    """
    return (LACKING,) if form_of(place) is not place.project.outputs.report else ()


def write_report(result: Any, place: Place, folder: Path, title: str) -> None:
    """Write the report of a stage.

    Parameters
    ----------
    result
        What `sfumato.report` takes.
    place
        The project.
    folder
        The folder of the stage, as it is being made.
    title
        What it is about; without the project's name, which may change while the stage stays.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    name = PAGE if form_of(place) is ReportForm.HTML else TWIN
    report(result, folder / name, title=title)
