"""What the report on a linkage says of itself."""

from __future__ import annotations

from datetime import date
from importlib.metadata import version
from typing import Any

from sfumato.linkage.encodings.unit.links import EncodedLinks
from sfumato.linkage.links import Links
from sfumato.reports.linkage.plain import encoded_linkage_json, linkage_json

TITLE = "Linkage of records"


def linkage_content(
    links: Links | EncodedLinks, title: str | None, made: date, audience: str
) -> dict[str, Any]:
    """The report on a linkage as plain values.

    Parameters
    ----------
    links
        The linkage.
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
        "about": "linkage",
        "audience": audience,
        "sfumato": version("sfumato"),
    }
    if isinstance(links, EncodedLinks):
        return {"report": about, **encoded_linkage_json(links)}
    return {"report": about, **linkage_json(links)}
