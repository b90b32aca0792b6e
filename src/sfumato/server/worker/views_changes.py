"""What a worker does with a pair: open, decide, withdraw, skip, flag, note."""

from __future__ import annotations

import re
from collections.abc import Callable
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from sfumato.server.live.deciding import decide_pair, mark, write_note
from sfumato.server.live.opening import Answer, open_cells
from sfumato.server.live.stop import Stop
from sfumato.server.store.models import EventKind
from sfumato.server.worker.requests import number_in, wants_json, workers_view
from sfumato.server.worker.views_page import fragment, refused

Verb = Callable[[HttpRequest, UUID, str], Answer]
MOST_ATTRIBUTES = 64
_COST = re.compile(r"[0-9]{1,6}\.[0-9]{1,20}")


@require_POST
@workers_view
def change(request: HttpRequest, project_id: UUID, token: str, verb: str) -> HttpResponse:
    """Do something with a pair.

    Parameters
    ----------
    request
        The request.
    project_id
        The project.
    token
        The pair's id on the worker's page.
    verb
        What to do: one of `VERBS`.

    Raises
    ------
    Stop
        If there is no such verb, or what the form says cannot be understood.
    """
    if verb not in VERBS:
        raise Stop(404, "There is no such action.")
    answer = VERBS[verb](request, project_id, token)
    if wants_json(request):
        return fragment(request, project_id, answer)
    reason = refused(answer)
    if reason:
        messages.error(request, f"Pair {answer.pair.place}: not opened, {reason}.")
    page = request.POST.get("page", "")
    query = f"?page={number_in('page', page)}" if page else ""
    return redirect(reverse("work", args=[project_id]) + query + f"#pair-{token}")


def _open(request: HttpRequest, project_id: UUID, token: str) -> Answer:
    places, _, rest = request.POST.get("open", "").partition(":")
    mode, _, cost = rest.partition(":")
    if cost and not _COST.fullmatch(cost):
        raise Stop(400, "The cost must be a number.")
    parts = places.split(",")
    if len(parts) > MOST_ATTRIBUTES:
        raise Stop(400, "Name the attributes to open, each once.")
    attributes = [number_in("attribute", part) for part in parts]
    told = float(cost) if cost else None
    return open_cells(request.user, project_id, token, attributes, number_in("mode", mode), told)


def _decide(request: HttpRequest, project_id: UUID, token: str) -> Answer:
    decision = number_in("answer", request.POST.get("answer"))
    return decide_pair(request.user, project_id, token, decision)


def _mark(kind: EventKind) -> Verb:
    return lambda request, project_id, token: mark(request.user, project_id, token, kind)


def _note(request: HttpRequest, project_id: UUID, token: str) -> Answer:
    return write_note(request.user, project_id, token, request.POST.get("note", ""))


VERBS: dict[str, Verb] = {
    "open": _open,
    "decide": _decide,
    "withdraw": _mark(EventKind.WITHDRAWN),
    "skip": _mark(EventKind.SKIPPED),
    "flag": _mark(EventKind.FLAGGED),
    "unflag": _mark(EventKind.UNFLAGGED),
    "note": _note,
}
"""What can be done with a pair."""
