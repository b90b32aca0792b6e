"""The page on which a custodian grants, and sees what was granted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from sfumato.server.custodian import grants
from sfumato.server.custodian.access import projects_view
from sfumato.server.custodian.forms import (
    IdentityExportForm,
    KForm,
    ProjectBudgetForm,
    WorkerBudgetForm,
    limit,
)
from sfumato.server.errors import problem
from sfumato.server.live.stop import Stop
from sfumato.server.permissions.rules import Action
from sfumato.server.store.models import Allowance, Grant, GrantKind, Project, ProjectState

Forms = dict[str, Any]


@require_http_methods(["GET", "POST"])
@projects_view(Action.GRANT)
def grants_page(request: HttpRequest, project: Project) -> HttpResponse:
    """What is granted in a project, and forms to grant more.

    Parameters
    ----------
    request
        The request.
    project
        The project.
    """
    asked = request.POST.get("grant", "") if request.method == "POST" else ""
    shown = _forms(project, asked, request.POST)
    form = shown.get(asked)
    if form is not None and form.is_valid():
        try:
            messages.success(request, _GRANT[asked](request, project, form.cleaned_data))
        except Stop as error:
            return problem(request, error.status, error.reason)
        return redirect(request.path)
    given = project.grants.select_related("to", "by").order_by("-created")
    context = {
        "project": project,
        "forms": shown,
        "k": project.settings["k"],
        "project_budget": limit(project.settings.get(grants.PROJECT_BUDGET)),
        "can_raise_project": project.settings.get(grants.PROJECT_BUDGET) is not None,
        "can_raise_worker": Allowance.objects.filter(
            project=project, budget__isnull=False
        ).exists(),
        "open": project.state == ProjectState.OPEN,
        "given": [(each, _told(each), grants.is_revocable(each)) for each in given],
    }
    return render(request, "custodian/grants.html", context)


@require_POST
@projects_view(Action.GRANT, back="grants")
def revoke_page(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    """Take a grant back.

    Parameters
    ----------
    request
        The request.
    project
        The project.
    number
        Number of the grant.
    """
    try:
        grants.revoke(request.user, project.pk, number)
    except Stop as error:
        return problem(request, error.status, error.reason)
    messages.success(request, "The grant is revoked.")
    return redirect("grants", project_id=project.pk)


def _forms(project: Project, asked: str, data: Any) -> Forms:
    """All forms, the one that was sent with what was entered."""
    made: dict[str, Callable[[Any], forms.Form]] = {
        "worker": lambda entered: WorkerBudgetForm(project, entered),
        "project": ProjectBudgetForm,
        "k": lambda entered: KForm(project.settings["k"], entered),
        "export": IdentityExportForm,
    }
    return {name: make(data if name == asked else None) for name, make in made.items()}


def _worker(request: HttpRequest, project: Project, given: Forms) -> str:
    grants.raise_budget(request.user, project.pk, given["worker"], given["budget"])
    return f"The budget of {given['worker'].name} is {limit(given['budget'])} now."


def _project(request: HttpRequest, project: Project, given: Forms) -> str:
    grants.raise_project_budget(request.user, project.pk, given["budget"])
    return f"The budget of the project is {limit(given['budget'])} now."


def _k(request: HttpRequest, project: Project, given: Forms) -> str:
    grants.lower_k(request.user, project.pk, given["k"])
    return f"k is {given['k']} now."


def _export(request: HttpRequest, project: Project, given: Forms) -> str:
    grant = grants.allow_identity_export(request.user, project.pk, given["hours"])
    until = f"{grant.expires:%Y-%m-%d %H:%M} UTC"
    return f"{project.manager.name} may export identities once, until {until}."


_GRANT: dict[str, Callable[[HttpRequest, Project, Forms], str]] = {
    "worker": _worker,
    "project": _project,
    "k": _k,
    "export": _export,
}


def _told(grant: Grant) -> str:
    """What was granted, in words."""
    if grant.kind == GrantKind.IDENTITY_EXPORT:
        return f"one export of identities, until {grant.expires:%Y-%m-%d %H:%M} UTC"
    before, after = grant.detail[grants.BEFORE], grant.detail[grants.AFTER]
    if grant.kind == GrantKind.K:
        return f"k from {before} to {after}"
    whose = grant.to.name if grant.to else "the project"
    return f"budget of {whose} from {limit(before)} to {limit(after)}"
