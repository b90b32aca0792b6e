"""The report on a release on request, as plain values and as a page."""

from __future__ import annotations

from datetime import date
from importlib.metadata import version
from typing import Any

from sfumato.reports.linkage.environment import environment
from sfumato.semantics.requested import RequestedRelease

TITLE = "A release on request"


def requested_content(
    release: RequestedRelease, title: str | None, made: date, audience: str
) -> dict[str, Any]:
    """The report as plain values.

    Parameters
    ----------
    release
        The release.
    title
        Its title.
    made
        The day that it bears.
    audience
        Who may read it.
    """
    about = {
        "title": title or TITLE,
        "date": made.isoformat(),
        "about": "release on request",
        "audience": audience,
        "sfumato": version("sfumato"),
    }
    return {"report": about, **release.to_json()}


def draw_requested(release: RequestedRelease, title: str, made: date) -> str:
    """The report as one HTML page.

    Parameters
    ----------
    release
        The release.
    title
        What stands above it.
    made
        The day that it bears.
    """
    found = release.to_json()
    manifest = [
        (section, [(name, _text(value)) for name, value in pairs.items()])
        for section, pairs in _sections(found["manifest"])
    ]
    return (
        environment()
        .get_template("requested.html")
        .render(
            title=title,
            made=made,
            version=version("sfumato"),
            found=found,
            manifest=manifest,
            associations=[each for each in found["changes"] if each["association"]],
            between=[each for each in found["changes"] if not each["association"]],
        )
    )


def _sections(manifest: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The manifest's sections, that of each database on its own."""
    found = []
    for name, pairs in manifest.items():
        if name == "databases":
            found += [(f"database {each}", fields) for each, fields in pairs.items()]
        else:
            found.append((name, pairs))
    return found


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
