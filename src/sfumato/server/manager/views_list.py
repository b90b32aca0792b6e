"""The projects that somebody may see."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.decorators import login_required
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from sfumato.server.manager.uploads import sweep
from sfumato.server.permissions.rules import Action, decide
from sfumato.server.store.models import Account, Dealt, Project, ProjectState


@dataclass(frozen=True)
class Line:
    """A project as the list shows it.

    Attributes
    ----------
    project
        The project.
    manages, owns, works, purges
        Whether whoever looks is its manager, its custodian who may grant, one of its workers,
        and may destroy it.
    decided, dealt
        Numbers of pairs: of this worker, for a manager and a custodian of all.
    """

    project: Project
    manages: bool
    owns: bool
    works: bool
    purges: bool
    decided: int
    dealt: int

    @property
    def share(self) -> int:
        """Decided pairs in percent."""
        return round(100 * self.decided / self.dealt) if self.dealt else 0


@require_GET
@login_required
def projects(request: HttpRequest) -> HttpResponse:
    """Every project that one may see, the open ones first.

    Parameters
    ----------
    request
        The request.
    """
    sweep()
    actor = request.user
    mine = Q(manager=actor) | Q(custodian=actor) | Q(members__account=actor)
    found = Project.objects.filter(mine).distinct().select_related("manager", "custodian")
    order = {ProjectState.OPEN: 0, ProjectState.CLOSED: 1, ProjectState.PURGED: 2}
    seen = [each for each in found if decide(actor, Action.SEE_PROJECT, each).allowed]
    seen.sort(key=lambda each: (order[each.state], each.title.casefold()))
    context = {
        "lines": [_line(actor, each) for each in seen],
        "creates": decide(actor, Action.CREATE_PROJECT).allowed,
    }
    return render(request, "manager/projects.html", context)


def _line(actor: Account, project: Project) -> Line:
    manages = decide(actor, Action.SEE_PROGRESS, project).allowed
    owns = decide(actor, Action.GRANT, project).allowed
    works = decide(actor, Action.WORK, project).allowed
    purges = decide(actor, Action.PURGE_PROJECT, project).allowed
    dealt = Dealt.objects.filter(project=project, taken_back__isnull=True)
    if not (manages or project.custodian_id == actor.pk):
        dealt = dealt.filter(worker=actor)
    counts = dealt.aggregate(dealt=Count("pk"), decided=Count("pk", filter=~Q(answer=0)))
    return Line(project, manages, owns, works, purges, counts["decided"], counts["dealt"])
