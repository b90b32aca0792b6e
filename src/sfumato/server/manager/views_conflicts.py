"""Pairs about which workers disagree, or that they flagged: a list, and one to be resolved."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from sfumato.review.review_decisions import Answer, Conflict, find_conflicts
from sfumato.server.live.resolving import open_conflict, resolve, show_conflict
from sfumato.server.manager.access import of_project
from sfumato.server.manager.decisions import decisions_of
from sfumato.server.permissions.rules import Action
from sfumato.server.store.models import Account, Dealt, Project, Resolution
from sfumato.server.worker.drawing import REFUSED, draw_pair
from sfumato.server.worker.fragments import meters_fragment
from sfumato.server.worker.meters import meters
from sfumato.server.worker.requests import number_in


@require_GET
@of_project(Action.RESOLVE)
def conflicts(request: HttpRequest, project: Project) -> HttpResponse:
    """All conflicts, those that are not resolved first, the widest apart first; flagged pairs.

    Parameters
    ----------
    request
        The request.
    project
        The project.
    """
    names = _names(project)
    lines = [
        (int(each.pair), int(each.pair) + 1, _answers(each, names), each)
        for each in find_conflicts(decisions_of(project))
    ]
    left = sum(each.resolution is None for *_, each in lines)
    flagged = _flagged(project, {number for number, *_ in lines})
    context = {"project": project, "lines": lines, "left": left, "flagged": flagged}
    return render(request, "manager/conflicts.html", context)


@require_GET
@of_project(Action.RESOLVE)
def conflict(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    """One conflict, as its manager may see it.

    Parameters
    ----------
    request
        The request.
    project
        The project.
    number
        Number of the pair.
    """
    shown = show_conflict(request.user, project, number)
    found = find_conflicts(decisions_of(project))
    others = [int(each.pair) for each in found if each.resolution is None]
    context = {
        "project": project,
        "number": number,
        "pair": draw_pair(shown.view, shown.standing, exact=shown.exact),
        "meters": meters_fragment(meters(shown.standing)[:2]),
        "answers": _of_pair(project, number),
        "flags": _flags(project).get(number, []),
        "next": next((other for other in others if other != number), None),
        "attributes": len(project.attributes),
    }
    return render(request, "manager/conflict.html", context)


@require_POST
@of_project(Action.RESOLVE)
def conflict_open(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    """Open cells of a conflict.

    Parameters
    ----------
    request
        The request.
    project
        The project.
    number
        Number of the pair.
    """
    places, _, mode = request.POST.get("open", "").partition(":")
    attributes = [number_in("attribute", part) for part in places.split(",")[:64]]
    shown = open_conflict(request.user, project, number, attributes, number_in("mode", mode))
    if shown.refusal is not None:
        messages.error(request, f"Not opened: {REFUSED[shown.refusal.reason]}.")
    return redirect("conflict", project_id=project.pk, number=number)


@require_POST
@of_project(Action.RESOLVE)
def conflict_resolve(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    """Decide a conflict, or let the workers' answers hold again.

    Parameters
    ----------
    request
        The request.
    project
        The project.
    number
        Number of the pair.
    """
    answer = number_in("answer", request.POST.get("answer"))
    resolve(request.user, project, number, answer)
    said = f"resolved: {Answer(answer).words}" if answer else "open again"
    messages.success(request, f"Pair {number + 1} is {said}.")
    if not answer:
        return redirect("conflict", project_id=project.pk, number=number)
    left = (each for each in find_conflicts(decisions_of(project)) if each.resolution is None)
    following = next(left, None)
    if following is None:
        return redirect("conflicts", project_id=project.pk)
    return redirect(reverse("conflict", args=[project.pk, int(following.pair)]))


def _flags(project: Project) -> dict[int, list[str]]:
    """By pair, the workers who ask the manager to look, and whether they wrote a note.

    That there is one, never what it says: a note may repeat what its worker paid to see.
    """
    flags: dict[int, list[str]] = {}
    asked = Dealt.objects.filter(project=project, flagged=True).order_by("worker__name")
    for number, name, note in asked.values_list("pair__number", "worker__name", "note"):
        flags.setdefault(number, []).append(f"{name}, who wrote a note" if note else name)
    return flags


def _flagged(
    project: Project, conflicts: set[int]
) -> list[tuple[int, int, list[str], list[tuple[str, str, bool]], str]]:
    """Flagged pairs that are no conflicts: number, place, by whom, answers, resolution."""
    resolved = Resolution.objects.filter(pair__project=project).exclude(answer=0)
    answers = dict(resolved.values_list("pair__number", "answer"))
    return [
        (
            number,
            number + 1,
            who,
            _of_pair(project, number),
            Answer(answers[number]).words if number in answers else "",
        )
        for number, who in sorted(_flags(project).items())
        if number not in conflicts
    ]


def _of_pair(project: Project, number: int) -> list[tuple[str, str, bool]]:
    dealt = Dealt.objects.filter(project=project, pair__number=number).exclude(answer=0)
    return [
        (name, Answer(answer).words, answer > 0)
        for name, answer in dealt.order_by("worker__name").values_list("worker__name", "answer")
    ]


def _names(project: Project) -> dict[str, str]:
    return dict(Account.objects.filter(dealt__project=project).values_list("pseudonym", "name"))


def _answers(conflict: Conflict, names: dict[str, str]) -> list[tuple[str, str, bool]]:
    return sorted(
        (names.get(worker, worker), answer.words, answer.same)
        for worker, answer in conflict.answers.items()
    )
