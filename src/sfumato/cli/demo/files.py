"""The files of the demo that are worth opening, and what each is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.linkage.files import LINKED as LINKED_FILE
from sfumato.linkage.files import LINKED_SCHEMA
from sfumato.pipeline.demo_project import TRUTH
from sfumato.pipeline.project_folder import LINKED, REPORT

if TYPE_CHECKING:
    from pathlib import Path

    from sfumato.pipeline.run import Status

_OUTPUTS = {
    "reports/report.html": "the report of the project, to read and sign: open it first",
    "reports/report.pdf": "the same, to print",
    "public/report.html": "the same without what must stay inside: it may be published",
    "reports/link.html": "how good the linkage is, as its model expects",
    "reports/release.html": "what the release gives away, before and after",
    "reports/attack.html": "what the intruder found in it",
    "release/release.csv": "the release: it goes to whom it is for",
}
"""What the last stage makes, as far as it is there."""


def files_of(status: Status) -> dict[str, str]:
    """Files by their paths from the demo's folder, each with what it is.

    Parameters
    ----------
    status
        The project, run to its end.
    """
    place = status.place
    made = {_from(place.folder, place.of_stage(REPORT) / name): _OUTPUTS[name] for name in _OUTPUTS}
    found = {name: what for name, what in made.items() if (place.folder / name).is_file()}
    linked = place.of_stage(LINKED)
    return found | {
        _from(place.folder, linked / LINKED_FILE): "the linked visits: random person ids, no names",
        _from(place.folder, linked / LINKED_SCHEMA): "what each linked column is",
        place.file.name: "the project file, with comments",
        TRUTH: "who is who, beside the two clinics' tables",
    }


def _from(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix()
