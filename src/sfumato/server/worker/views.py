"""The pages of a worker, and the fragments that a click changes."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from sfumato.core.errors import InputError
from sfumato.core.phrases import spoken
from sfumato.server.error_pages import Stop, problem
from sfumato.server.live import worker_actions as actions
from sfumato.server.store.models import EventKind
from sfumato.server.worker import drawn_pages

View = Callable[..., HttpResponse]


def wants_json(request: HttpRequest) -> bool:
    """Whether the page's own script asks."""
    return "application/json" in request.headers.get("Accept", "")


def workers_view(view: View) -> View:
    """A view for somebody who has logged in, that answers where a request goes no further."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            if wants_json(request):
                return problem(request, 401, gettext("Log in again; then it can be sent again."))
            return redirect("/login?" + urlencode({"next": request.path}))
        try:
            return view(request, *args, **kwargs)
        except Stop as error:
            return problem(request, error.status, error.reason)
        # What is wrong with its files is not for workers: it may hold a name or a value.
        except InputError:
            return problem(request, 500, gettext("The project cannot be read. Tell its manager."))

    return guarded


def number_in(name: str, given: str | None) -> int:
    """A whole number that a request names."""
    digits = (given or "").removeprefix("-")
    # `isdigit` alone takes signs that `int` does not; nine digits fit every column.
    if not digits.isascii() or not digits.isdigit() or len(digits) > 9:
        raise Stop(400, gettext("The %(name)s must be a whole number.") % {"name": name})
    return int(given or "")


def pair_fragment(
    request: HttpRequest, project_id: UUID, drawing: drawn_pages.Drawing, page: int | None = None
) -> SafeString:
    """A pair as it stands on its worker's page.

    Parameters
    ----------
    page
        Number of the page, for a browser that runs no script; ``None`` in an answer to one.
    """
    address = f"{reverse('work', args=[project_id])}/{drawing.view.token}"
    return drawn_pages.draw_form(drawing, address, get_token(request), page)


@require_GET
@workers_view
def work(request: HttpRequest, project_id: UUID) -> HttpResponse:
    """A page of pairs; without a number the first with a pair that is still to be decided."""
    asked = request.GET.get("page")
    page = actions.show_page(request.user, project_id, number_in("page", asked) if asked else None)
    context = {
        "project_id": project_id,
        "page": page,
        "meters": drawn_pages.meters_fragment(drawn_pages.meters(page.standing)),
        "pairs": [
            pair_fragment(request, project_id, each, page.number)
            for each in (
                drawn_pages.draw_pair(pair, page.standing, exact=page.exact) for pair in page.pairs
            )
        ],
        "address": reverse("work", args=[project_id]),
        "more": reverse("work_next", args=[project_id]),
        **drawn_pages.legend(),
    }
    return render(request, "worker/work.html", context)


@require_POST
@workers_view
def next_pair(request: HttpRequest, project_id: UUID) -> HttpResponse:
    """The next pair of the queue, for the page's own script, which asks before it is needed."""
    answer = actions.next_pair(request.user, project_id)
    if answer is None:
        return JsonResponse({"ok": True, "pair": ""})
    return fragment(request, project_id, answer)


@require_GET
@workers_view
def pair(request: HttpRequest, project_id: UUID, token: str) -> HttpResponse:
    """One pair as it shows now, for the page's own script after a lost connection."""
    if not wants_json(request):
        return redirect(reverse("work", args=[project_id]))
    return fragment(request, project_id, actions.show_pair(request.user, project_id, token))


def fragment(request: HttpRequest, project_id: UUID, answer: actions.Answer) -> HttpResponse:
    """The answer to the page's own script: the pair and the meters, drawn anew."""
    drawing, *others = (
        drawn_pages.draw_pair(each, answer.standing, exact=answer.exact)
        for each in (answer.pair, *answer.others)
    )
    forms = {each.view.token: pair_fragment(request, project_id, each) for each in others}
    pair = pair_fragment(request, project_id, drawing)
    return JsonResponse(drawn_pages.body_of(drawing, pair, forms, answer.standing, refused(answer)))


def refused(answer: actions.Answer) -> str:
    """Why nothing was opened, in a worker's words; ``""`` where something was."""
    return drawn_pages.why_not(answer.refusal, repriced=answer.repriced)


Verb = Callable[[HttpRequest, UUID, str], actions.Answer]
MOST_ATTRIBUTES = 64
# A plain decimal number: neither infinity nor words that `float` would take.
_COST = re.compile(r"[0-9]{1,6}\.[0-9]{1,20}")


@require_POST
@workers_view
def change(request: HttpRequest, project_id: UUID, token: str, verb: str) -> HttpResponse:
    """Do something with a pair."""
    if verb not in VERBS:
        raise Stop(404, gettext("There is no such action."))
    answer = VERBS[verb](request, project_id, token)
    if wants_json(request):
        return fragment(request, project_id, answer)
    reason = refused(answer)
    if reason:
        told = {"place": answer.pair.place, "reason": spoken(reason)}
        messages.error(request, gettext("Pair %(place)s: not opened, %(reason)s.") % told)
    page = request.POST.get("page", "")
    query = f"?page={number_in('page', page)}" if page else ""
    return redirect(reverse("work", args=[project_id]) + query + f"#pair-{token}")


def _open(request: HttpRequest, project_id: UUID, token: str) -> actions.Answer:
    places, _, rest = request.POST.get("open", "").partition(":")
    mode, _, cost = rest.partition(":")
    if cost and not _COST.fullmatch(cost):
        raise Stop(400, gettext("The cost must be a number."))
    parts = places.split(",")
    if len(parts) > MOST_ATTRIBUTES:
        raise Stop(400, gettext("Name the attributes to open, each once."))
    attributes = [number_in("attribute", part) for part in parts]
    told = float(cost) if cost else None
    return actions.open_cells(
        request.user, project_id, token, attributes, number_in("mode", mode), told
    )


def _decide(request: HttpRequest, project_id: UUID, token: str) -> actions.Answer:
    decision = number_in("answer", request.POST.get("answer"))
    return actions.decide_pair(request.user, project_id, token, decision)


def _mark(kind: EventKind) -> Verb:
    return lambda request, project_id, token: actions.mark(request.user, project_id, token, kind)


def _note(request: HttpRequest, project_id: UUID, token: str) -> actions.Answer:
    return actions.write_note(request.user, project_id, token, request.POST.get("note", ""))


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
