"""The start: each role has a page of its own to begin on."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET

from sfumato.server.store.models import Account, Project, ProjectState, Role


@require_GET
@login_required
def start(request: HttpRequest) -> HttpResponse:
    """Go to the page that somebody begins on.

    Parameters
    ----------
    request
        The request.
    """
    return redirect(_page_of(request.user))


def _page_of(account: Account) -> str:
    roles = set(account.roles)
    if roles & {Role.CUSTODIAN, Role.MANAGER}:
        return "/projects"
    if Role.WORKER in roles:
        open_ones = Project.objects.filter(members__account=account, state=ProjectState.OPEN)
        ids = list(open_ones.values_list("pk", flat=True)[:2])
        return f"/projects/{ids[0]}/pairs" if len(ids) == 1 else "/projects"
    return "/audit" if Role.AUDITOR in roles else "/account"
