"""A worker's page of pairs."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from sfumato.review.review_settings import Mark, Rarity
from sfumato.server.live.opening import Answer, show_page, show_pair
from sfumato.server.worker.drawing import REFUSED, draw_pair
from sfumato.server.worker.fragments import meters_fragment, pair_fragment
from sfumato.server.worker.marks import MEANING, draw_mark, draw_rarity
from sfumato.server.worker.meters import meters
from sfumato.server.worker.requests import number_in, wants_json, workers_view


@require_GET
@workers_view
def work(request: HttpRequest, project_id: UUID) -> HttpResponse:
    """A page of pairs; without a number the first with a pair that is still to be decided.

    Parameters
    ----------
    request
        The request.
    project_id
        The project.
    """
    asked = request.GET.get("page")
    page = show_page(request.user, project_id, number_in("page", asked) if asked else None)
    context = {
        "project_id": project_id,
        "page": page,
        "meters": meters_fragment(meters(page.standing)),
        "pairs": [
            pair_fragment(
                request,
                project_id,
                draw_pair(each, page.standing, exact=page.exact),
                page.number,
            )
            for each in page.pairs
        ],
        "legend": [(draw_mark(mark), MEANING[mark]) for mark in Mark],
        "bands": [(draw_rarity(band), band.value) for band in Rarity],
    }
    return render(request, "worker/work.html", context)


@require_GET
@workers_view
def pair(request: HttpRequest, project_id: UUID, token: str) -> HttpResponse:
    """One pair as it shows now, for the page's own script after a lost connection.

    Parameters
    ----------
    request
        The request.
    project_id
        The project.
    token
        The pair's id on the worker's page.
    """
    if not wants_json(request):
        return redirect(reverse("work", args=[project_id]))
    return fragment(request, project_id, show_pair(request.user, project_id, token))


def fragment(request: HttpRequest, project_id: UUID, answer: Answer) -> HttpResponse:
    """The answer to the page's own script: the pair and the meters, drawn anew.

    Parameters
    ----------
    request
        The request.
    project_id
        The project.
    answer
        What happened.
    """
    drawing, *others = (
        draw_pair(each, answer.standing, exact=answer.exact)
        for each in (answer.pair, *answer.others)
    )
    body = {
        "ok": True,
        "token": answer.pair.token,
        "pair": pair_fragment(request, project_id, drawing),
        "others": {each.view.token: pair_fragment(request, project_id, each) for each in others},
        "standing": meters_fragment(meters(answer.standing)),
        "decided": drawing.state == "decided",
        "said": drawing.said,
        "refused": refused(answer),
    }
    return JsonResponse(body)


def refused(answer: Answer) -> str:
    """Why nothing was opened, in a worker's words; ``""`` where something was.

    Parameters
    ----------
    answer
        What happened.
    """
    if answer.repriced:
        return "it costs more now; its cost is shown anew"
    return REFUSED[answer.refusal.reason] if answer.refusal else ""
