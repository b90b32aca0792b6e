"""Where a page may be written, what it needs beyond the core, and how it becomes a PDF."""

from __future__ import annotations

import importlib
import io
import json
import logging
import os
from contextlib import redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sfumato.core.atomic import check_target
from sfumato.core.errors import InputError
from sfumato.core.optional_packages import install_command

HTML, PDF, JSON = ".html", ".pdf", ".json"
NEEDED = ("altair", "jinja2", "vl_convert")
"""What the pages need beyond the core; the extra ``report`` brings them."""
_ENDINGS = "must end in .html (a page, with its JSON beside it) or .json"
_PROJECT_ENDINGS = "must end in .html, .pdf (each with its JSON beside it) or .json"
_PDF_ADVICE = (
    "run: {}, and where Pango is missing: apt install libpango-1.0-0 "
    "libpangoft2-1.0-0 libharfbuzz-subset0; or write the .html and print it from a browser"
)


def check_report_path(path: str | os.PathLike[str]) -> None:
    """Refuse a path that no report can be written to, before work starts.

    Parameters
    ----------
    path
        Where a report is to be written.
    """
    _check(Path(path), (HTML, JSON), _ENDINGS)


def check_project_path(path: Path, audience: str) -> None:
    """The same for a version of a project's report, or of a dossier."""
    _check(path, (HTML, PDF, JSON), _PROJECT_ENDINGS, audience)


def _check_twin(twin: Path, audience: str | None) -> None:
    """Refuse a page whose JSON would replace something else than that of the same report."""
    if not twin.exists():
        return
    try:
        about = json.loads(twin.read_text(encoding="utf-8"))["report"]
        written, found = "sfumato" in about, f"the {about['audience']} version"
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        written, found = False, "another file"
    if not written or (audience and about["audience"] != audience):
        raise InputError(
            "path of the report",
            "must not have a JSON file of its name beside it but that of the same report",
            found=found,
            advice="choose another name, or move the file away",
        )


def _check(target: Path, endings: tuple[str, ...], rule: str, audience: str | None = None) -> None:
    suffix = target.suffix.lower()
    if suffix not in endings:
        raise InputError(
            "path of the report", rule, found=f"the ending {suffix}" if suffix else "no ending"
        )
    if not target.parent.is_dir():
        raise InputError(
            "path of the report",
            "must be in a folder that exists",
            advice="create the folder, or choose another one",
        )
    check_target(target)
    check_target(target.with_suffix(JSON))
    if suffix != JSON:
        _check_twin(target.with_suffix(JSON), audience)
    if suffix != JSON and any(find_spec(name) is None for name in NEEDED):
        raise InputError(
            "a report as a page",
            "needs the extra 'report', which is not installed",
            advice=f"run: {install_command('report')}",
        )


def can_make_pdf() -> bool:
    """Whether WeasyPrint and the libraries that it needs are there."""
    try:
        _weasyprint()
    except InputError:
        return False
    return True


def pdf_of(page: str) -> bytes:
    """A page as PDF, as it prints: by WeasyPrint, without a browser, in vector pictures."""
    weasyprint = _weasyprint()
    logging.getLogger("weasyprint").setLevel(logging.CRITICAL)  # what only browsers understand
    # Nothing may be loaded, neither from the network nor from a file.
    nothing = weasyprint.urls.URLFetcher(allowed_protocols=())
    made: bytes = weasyprint.HTML(string=page, url_fetcher=nothing).write_pdf()
    return made


def _weasyprint() -> Any:
    try:
        with redirect_stdout(io.StringIO()):  # where it prints that Pango is missing
            importlib.import_module("weasyprint.urls")
            return importlib.import_module("weasyprint")
    except ImportError:
        found = "WeasyPrint is not installed"
    # Pango is looked for when WeasyPrint is imported.
    except OSError:
        found = "WeasyPrint does not find Pango"
    advice = _PDF_ADVICE.format(install_command("pdf"))
    raise InputError("a report as PDF", "needs the extra 'pdf'", found=found, advice=advice)
