"""Release: how it stands."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from sfumato.server.workbench.bench import Bench
from sfumato.server.workbench.frame import page, project_view


@require_GET
@project_view("release")
def release(request: HttpRequest, bench: Bench) -> HttpResponse:
    """How it stands."""
    return page(request, bench, "release", "workbench/release.html", status_now=bench.status())
