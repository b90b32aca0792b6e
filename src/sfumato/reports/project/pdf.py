"""A page as PDF, by WeasyPrint: no browser, no network, vector pictures."""

from __future__ import annotations

import importlib
import io
import logging
from contextlib import redirect_stdout
from typing import Any

from sfumato.core.errors import InputError

_ADVICE = (
    'run: pip install "sfumato[pdf]", and where Pango is missing: apt install libpango-1.0-0 '
    "libpangoft2-1.0-0 libharfbuzz-subset0; or write the .html and print it from a browser"
)


def can_make_pdf() -> bool:
    """Whether WeasyPrint and the libraries that it needs are there."""
    try:
        _weasyprint()
    except InputError:
        return False
    return True


def pdf_of(page: str) -> bytes:
    """A page as PDF, as it prints.

    Parameters
    ----------
    page
        A self-contained HTML page.

    Raises
    ------
    InputError
        If WeasyPrint or Pango is not installed.
    """
    weasyprint = _weasyprint()
    logging.getLogger("weasyprint").setLevel(logging.CRITICAL)  # what only browsers understand
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
    except OSError:
        found = "WeasyPrint does not find Pango"
    raise InputError("a report as PDF", "needs the extra 'pdf'", found=found, advice=_ADVICE)
