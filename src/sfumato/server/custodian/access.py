"""Views of a custodian on a project."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from sfumato.server.accounts.fresh import require_fresh
from sfumato.server.errors import problem
from sfumato.server.permissions.rules import Action, decide
from sfumato.server.store.models import Project

View = Callable[..., HttpResponse]


def projects_view(action: Action, back: str = "") -> Callable[[View], View]:
    """A view that gets the project, for somebody who may do something with it and is fresh.

    Who does not take part in the project does not get to know that there is one.

    Parameters
    ----------
    action
        What.
    back
        Name of the project's page to come back to after the proof, where the view is none.
    """

    def decorator(view: View) -> View:
        @wraps(view)
        @require_fresh(back=back)
        def guarded(
            request: HttpRequest, project_id: UUID, *args: Any, **kwargs: Any
        ) -> HttpResponse:
            project = Project.objects.filter(pk=project_id).first()
            if project is None or not decide(request.user, Action.SEE_PROJECT, project).allowed:
                return problem(request, 404)
            permission = decide(request.user, action, project)
            if not permission.allowed:
                return problem(request, 403, permission.reason)
            return view(request, project, *args, **kwargs)

        return guarded

    return decorator
