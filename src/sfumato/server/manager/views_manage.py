"""A project's page: progress, disclosure, agreement, and what its manager can do."""

from __future__ import annotations

from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from sfumato.server.custodian.grants import identity_grant
from sfumato.server.manager.access import of_project
from sfumato.server.manager.linked import has_linkage
from sfumato.server.manager.progress import Progress, progress_of
from sfumato.server.manager.quality import Quality, quality_of, told
from sfumato.server.manager.words import rules_in_words
from sfumato.server.permissions.rules import Action, decide
from sfumato.server.store.models import Project, ProjectState


@require_GET
@of_project(Action.SEE_PROJECT)
def manage(request: HttpRequest, project: Project) -> HttpResponse:
    """The project's page; a worker is led to the pairs, a custodian to the grants.

    Parameters
    ----------
    request
        The request.
    project
        The project.
    """
    if not decide(request.user, Action.SEE_PROGRESS, project).allowed:
        if decide(request.user, Action.WORK, project).allowed:
            return redirect("work", project_id=project.pk)
        if decide(request.user, Action.GRANT, project).allowed:
            return redirect("grants", project_id=project.pk)
        return redirect("projects")
    context = {
        "project": project,
        "open": project.state == ProjectState.OPEN,
        "closed": project.state == ProjectState.CLOSED,
        "purged": project.state == ProjectState.PURGED,
        "rules": rules_in_words(project),
    }
    if project.state != ProjectState.PURGED:
        context |= _progress(project)
    if project.state == ProjectState.CLOSED:
        context |= {"linked": has_linkage(project), "grant": identity_grant(project)}
    return render(request, "manager/manage.html", context)


@require_GET
@of_project(Action.SEE_PROGRESS)
def progress_fragment(request: HttpRequest, project: Project) -> HttpResponse:
    """The part of the page that changes while workers work, for the page's own script.

    Parameters
    ----------
    request
        The request.
    project
        The project.
    """
    if project.state == ProjectState.PURGED:
        return HttpResponse(status=204)
    return render(request, "manager/progress.html", {"project": project, **_progress(project)})


Told = tuple[str, str]


def _progress(project: Project) -> dict[str, object]:
    progress, quality = progress_of(project), quality_of(project)
    names = {each.pseudonym: each.name for each in progress.workers}
    return {
        "progress": progress,
        "lines": [
            (each, told(quality.gold[each.pseudonym].share), quality.gold[each.pseudonym].answered)
            if each.pseudonym in quality.gold
            else (each, told(None), 0)
            for each in progress.workers
        ],
        "quality": quality,
        "agreement": _agreement(quality, names),
        "unresolved": quality.conflicts - quality.resolved,
        "now": datetime.now().astimezone(),
        "ready": _ready(progress, quality),
    }


def _agreement(quality: Quality, names: dict[str, str]) -> list[tuple[str, str, Told, Told]]:
    """Lines of the table: who, pairs in common, same or different, six points in order."""
    lines = [
        (
            "All workers (Krippendorff's α)",
            f"{quality.everyone.pairs:,}",
            told(quality.everyone.sides),
            told(quality.everyone.ordinal),
        )
    ]
    for each in quality.twos:
        one, two = (names.get(worker, worker) for worker in each.workers)
        title = f"{one} and {two} (Cohen's κ)"
        lines.append((title, f"{each.pairs:,}", told(each.sides), told(each.quadratic)))
    return lines


def _ready(progress: Progress, quality: Quality) -> list[str]:
    """What is still open, before a project is closed."""
    left = []
    if progress.waiting:
        left.append(f"{progress.waiting:,} pairs are dealt to nobody")
    if progress.wanted > progress.decided:
        left.append(f"{progress.wanted - progress.decided:,} decisions are still to be made")
    if quality.conflicts > quality.resolved:
        left.append(f"{quality.conflicts - quality.resolved:,} conflicts are not resolved")
    return left
