"""Write the report of a project: HTML or PDF with its JSON twin, all whole or none."""

from __future__ import annotations

import json
from collections.abc import Collection
from datetime import date
from importlib.util import find_spec
from pathlib import Path

from sfumato.core.atomic import all_or_none, atomic_path, check_target, write_text
from sfumato.core.errors import InputError
from sfumato.reports.project.content import project_content
from sfumato.reports.project.discretion import Audience
from sfumato.reports.project.results import ProjectResults

HTML, PDF, JSON = ".html", ".pdf", ".json"
ALL = (HTML, PDF, JSON)
NEEDED = ("altair", "jinja2", "vl_convert")


def check_project_path(path: Path) -> None:
    """Refuse a path that no report of a project can be written to.

    Parameters
    ----------
    path
        Where it is to be written.

    Raises
    ------
    InputError
        If the path ends otherwise, its folder does not exist, or a page is asked for and an extra
        is not installed.
    """
    suffix = path.suffix.lower()
    if suffix not in ALL:
        raise InputError(
            "path of the report",
            "must end in .html, .pdf (each with its JSON beside it) or .json",
            found=f"the ending {suffix}" if suffix else "no ending",
        )
    if not path.parent.is_dir():
        raise InputError(
            "path of the report",
            "must be in a folder that exists",
            advice="create the folder, or choose another one",
        )
    check_target(path)
    check_target(path.with_suffix(JSON))
    if suffix != JSON and any(find_spec(name) is None for name in NEEDED):
        raise InputError(
            "a report as a page",
            "needs the extra 'report', which is not installed",
            advice='run: pip install "sfumato[report]"',
        )


def write_project(
    results: ProjectResults,
    path: Path,
    *,
    audience: Audience,
    made: date,
    title: str | None = None,
    forms: Collection[str] = (),
) -> None:
    """Write one version of the report.

    Parameters
    ----------
    results
        What the project found.
    path
        Where to write; its JSON twin gets the same name.
    audience
        Who may read it.
    made
        The day that it bears.
    title
        Its title; the project's name when not given.
    forms
        Endings of further forms beside the path's, drawn from the same page.

    Raises
    ------
    InputError
        If a file cannot be written, or what a form needs is not installed.
    """
    for form in (path.suffix.lower(), *forms):
        check_project_path(path.with_suffix(form))
    wanted = {path.suffix.lower(), *forms, JSON}
    content = project_content(results, audience, title, made)
    page = ""
    if wanted & {HTML, PDF}:
        from sfumato.reports.project.page import draw_project  # needs the extra

        page = draw_project(content)
    printed = b""
    if PDF in wanted:
        from sfumato.reports.project.pdf import pdf_of

        printed = pdf_of(page)
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    with all_or_none():
        if PDF in wanted:
            with atomic_path(path.with_suffix(PDF)) as making:
                making.write_bytes(printed)
        write_text(path.with_suffix(JSON), f"{text}\n")
        if HTML in wanted:
            write_text(path.with_suffix(HTML), page)
