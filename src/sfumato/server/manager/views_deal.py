"""Deal pairs, deal them again, take them back; invite workers; close the project."""

from __future__ import annotations

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from sfumato.core.errors import InputError
from sfumato.server.accounts.links import invite
from sfumato.server.audit.append import append
from sfumato.server.live.memory import lock_of
from sfumato.server.live.stop import Stop
from sfumato.server.manager.access import of_project
from sfumato.server.manager.dealing import deal_pairs, deal_pairs_again, take_pairs_back
from sfumato.server.manager.forms_deal import DealForm, InviteWorkerForm, TakeBackForm
from sfumato.server.manager.progress import progress_of
from sfumato.server.permissions.rules import Action, decide
from sfumato.server.store.models import Project, ProjectState, Role


@require_http_methods(["GET", "POST"])
@of_project(Action.DEAL)
def deal_page(request: HttpRequest, project: Project) -> HttpResponse:
    """Deal what is not dealt; take undecided pairs back or give them to others.

    Parameters
    ----------
    request
        The request.
    project
        The project.
    """
    asked = request.POST.get("do", "") if request.method == "POST" else ""
    form = DealForm(project, request.POST if asked == "deal" else None)
    back = TakeBackForm(project, request.POST if asked == "back" else None)
    wrong = form if asked == "deal" else back
    try:
        if asked == "deal" and form.is_valid():
            given = form.cleaned_data
            count = deal_pairs(
                request.user,
                project,
                list(given["workers"]),
                given["overlap"],
                given["gold_share"],
                together=given["together"],
            )
            said = f"{count:,} pairs were dealt." if count else "There was nothing to deal."
            messages.success(request, said)
            return redirect("manage", project_id=project.pk)
        if asked == "back" and back.is_valid():
            messages.success(request, _taken(request, project, back))
            return redirect("manage", project_id=project.pk)
    except InputError as error:
        wrong.add_error(None, str(error))
    context = {"project": project, "form": form, "back": back, "progress": progress_of(project)}
    return render(request, "manager/deal.html", context, status=400 if wrong.errors else 200)


@require_http_methods(["GET", "POST"])
@of_project(Action.INVITE)
def invite_page(request: HttpRequest, project: Project) -> HttpResponse:
    """Invite a worker; the link is shown once, in the answer itself.

    Parameters
    ----------
    request
        The request.
    project
        The project.
    """
    form = InviteWorkerForm(request.POST or None)
    address = ""
    if request.method == "POST" and form.is_valid():
        days = form.cleaned_data["days"]
        address = invite(request.user, [Role.WORKER], project, days)
    context = {"project": project, "form": form, "address": address}
    return render(request, "manager/invite.html", context)


@require_POST
@of_project(Action.CLOSE_PROJECT)
def close(request: HttpRequest, project: Project) -> HttpResponse:
    """Close the project: nothing is opened or decided any more, and exports begin.

    Parameters
    ----------
    request
        The request.
    project
        The project.

    Raises
    ------
    Stop
        If it was closed meanwhile.
    """
    with lock_of(project.pk), transaction.atomic():
        locked = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        permission = decide(request.user, Action.CLOSE_PROJECT, locked)
        if not permission.allowed:
            raise Stop(409, permission.reason)
        locked.state, locked.closed = ProjectState.CLOSED, timezone.now()
        locked.save(update_fields=["state", "closed"])
        append(request.user, "close project", f"project {project.pk}")
    messages.success(request, "The project is closed. Its decisions can be exported.")
    return redirect("manage", project_id=project.pk)


def _taken(request: HttpRequest, project: Project, back: TakeBackForm) -> str:
    given = back.cleaned_data
    others = list(given["others"])
    if others:
        count = deal_pairs_again(request.user, project, given["worker"], others)
        return f"{count:,} pairs of {given['worker'].name} were given to others."
    count = take_pairs_back(request.user, project, given["worker"])
    return f"{count:,} pairs of {given['worker'].name} were taken back."
