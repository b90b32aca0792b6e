"""Sign: how it stands."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from sfumato.server.workbench.bench import Bench
from sfumato.server.workbench.frame import page, project_view


@require_GET
@project_view("sign")
def sign(request: HttpRequest, bench: Bench) -> HttpResponse:
    """How it stands."""
    return page(request, bench, "sign", "workbench/sign.html", status_now=bench.status())
