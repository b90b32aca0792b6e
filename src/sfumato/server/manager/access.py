"""Views of a manager on a project."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse

from sfumato.core.errors import InputError
from sfumato.server.accounts.fresh import require_fresh
from sfumato.server.errors import problem
from sfumato.server.live.stop import Stop
from sfumato.server.permissions.rules import Action, decide
from sfumato.server.store.models import Project

View = Callable[..., HttpResponse]


def of_project(action: Action) -> Callable[[View], View]:
    """A view that gets the project, for somebody who may do something with it.

    Who does not take part in the project does not get to know that there is one.

    Parameters
    ----------
    action
        What.
    """

    def decorator(view: View) -> View:
        @wraps(view)
        @login_required
        def guarded(
            request: HttpRequest, project_id: UUID, *args: Any, **kwargs: Any
        ) -> HttpResponse:
            project = Project.objects.filter(pk=project_id).first()
            if project is None or not decide(request.user, Action.SEE_PROJECT, project).allowed:
                return problem(request, 404)
            permission = decide(request.user, action, project)
            if not permission.allowed:
                return problem(request, 403, permission.reason)
            try:
                return view(request, project, *args, **kwargs)
            except Stop as stop:
                return problem(request, stop.status, stop.reason)
            except InputError as error:
                return problem(request, 400, str(error))

        return guarded

    return decorator


def of_project_fresh(action: Action) -> Callable[[View], View]:
    """The same for somebody who proved a moment ago who they are.

    Parameters
    ----------
    action
        What.
    """

    def decorator(view: View) -> View:
        return require_fresh(back="manage")(of_project(action)(view))

    return decorator
