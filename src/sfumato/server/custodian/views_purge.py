"""The page on which a custodian destroys a project."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from sfumato.server.custodian.access import projects_view
from sfumato.server.custodian.forms import PurgeForm
from sfumato.server.custodian.purge import purge
from sfumato.server.errors import problem
from sfumato.server.live.stop import Stop
from sfumato.server.permissions.rules import Action
from sfumato.server.store.models import Project


@require_http_methods(["GET", "POST"])
@projects_view(Action.PURGE_PROJECT)
def purge_page(request: HttpRequest, project: Project) -> HttpResponse:
    """Destroy a project, after its title was typed.

    Parameters
    ----------
    request
        The request.
    project
        The project.
    """
    form = PurgeForm(project.title, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            purge(request.user, project.pk)
        except Stop as error:
            return problem(request, error.status, error.reason)
        messages.success(request, "The project is purged. Nobody can read its data any more.")
        return redirect("/projects")
    return render(request, "custodian/purge.html", {"project": project, "form": form})
