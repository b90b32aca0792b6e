"""What the templates of a linkage's pages are filled by."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined

from sfumato.reports import numbers


def environment() -> Environment:
    """The templates' environment, with filters for numbers."""
    made = Environment(
        loader=PackageLoader("sfumato.reports"),
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
    return made
