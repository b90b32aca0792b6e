"""The parts of a worker's page that every click draws anew: the pair, and the meters."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from uuid import UUID

from django.http import HttpRequest
from django.middleware.csrf import get_token
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from sfumato.server.worker.drawing import Drawing
from sfumato.server.worker.meters import Meter

FRAGMENTS = Path(__file__).resolve().parent.parent / "pages" / "fragments"


def pair_fragment(
    request: HttpRequest, project_id: UUID, drawing: Drawing, page: int | None = None
) -> SafeString:
    """A pair as it stands on its worker's page.

    Parameters
    ----------
    request
        The request.
    project_id
        The project.
    drawing
        The pair.
    page
        Number of the page, for a browser that runs no script; ``None`` in an answer to one.
    """
    address = f"{reverse('work', args=[project_id])}/{drawing.view.token}"
    html = _template("pair.html").render(
        pair=drawing, address=address, csrf=get_token(request), page=page
    )
    return mark_safe(html)  # noqa: S308 - the template escapes


def meters_fragment(meters: Sequence[Meter]) -> SafeString:
    """The meters on top of a page.

    Parameters
    ----------
    meters
        The meters.
    """
    html = _template("meters.html").render(meters=meters)
    return mark_safe(html)  # noqa: S308 - the template escapes


@cache
def _template(name: str) -> Template:
    """A template, compiled once; Django's own are worked through node by node each time."""
    environment = Environment(
        loader=FileSystemLoader(FRAGMENTS),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
    )
    environment.filters["begin"] = _begin
    return environment.get_template(name)


def _begin(text: str) -> str:
    """A text as a sentence begins."""
    return text[:1].upper() + text[1:]
