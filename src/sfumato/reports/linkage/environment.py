"""What the templates of the pages are filled by."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from sfumato.core.measure import ESTIMATED
from sfumato.reports import numbers

TEMPLATES = Path(__file__).resolve().parent.parent / "templates"


def environment() -> Environment:
    """The templates' environment, with filters for numbers and the word for estimates."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "count": numbers.count,
        "number": numbers.number,
        "percent": numbers.percent,
    }
    made.globals["ESTIMATED"] = ESTIMATED
    return made
