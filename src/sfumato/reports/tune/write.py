"""Write what a search found as HTML and JSON."""

from __future__ import annotations

import json
import os
from datetime import UTC, date, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sfumato.core.atomic import all_or_none, write_text
from sfumato.reports.write import INTERNAL, check_report_path

TITLE = "What a release costs under thresholds"


def write_tuned(
    found: dict[str, Any],
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    made: date | None = None,
) -> Path:
    """Write a page with its JSON beside it, or the JSON alone, whole or not at all.

    Parameters
    ----------
    found
        What the search found, as plain values.
    path
        A ``.html`` or a ``.json`` file.
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
        If the path ends otherwise, its folder cannot be written, or the extra ``report`` is not
        installed.
    """
    check_report_path(path)
    target = Path(path)
    day = made or datetime.now(tz=UTC).astimezone().date()
    about = {
        "title": title or TITLE,
        "date": day.isoformat(),
        "about": "search under thresholds",
        "audience": INTERNAL,
        "sfumato": version("sfumato"),
    }
    text = json.dumps({"report": about} | found, indent=2, ensure_ascii=False, allow_nan=False)
    if target.suffix.lower() == ".html":
        from sfumato.reports.tune.page import draw_tuned

        page = draw_tuned(found, about["title"], day)
        with all_or_none():
            write_text(target.with_suffix(".json"), f"{text}\n")
            write_text(target, page)
    else:
        write_text(target, f"{text}\n")
    return target
