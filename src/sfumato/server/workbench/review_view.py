"""The desk: one person answers doubtful pairs, shown masked, and opens cells at their price."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import wraps
from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from sfumato.core.declaration import declared
from sfumato.core.errors import InputError, SfumatoError
from sfumato.pipeline.project_folder import LINK, REVIEW, ProjectFolder
from sfumato.pipeline.project_model import Reviewers
from sfumato.pipeline.run import run_lock, stages_of
from sfumato.review.review_decisions import REASONS, Answer, FlagReason
from sfumato.review.review_journal import journal_path
from sfumato.review.review_session import OpenReview, Session, has_rules
from sfumato.review.review_settings import CHOSEN, PROPOSED, Costs, MaskWidth, Settings
from sfumato.server.error_pages import problem
from sfumato.server.workbench.bench import DESK, Bench, Message
from sfumato.server.workbench.frame import edited, loads_by_itself, page, project_view
from sfumato.server.workbench.project_edits import table_at
from sfumato.server.worker import drawn_pages

ON_A_PAGE = 10
"""Pairs on a page."""
AT_ONCE = 0.3
"""Seconds of opening without a page that says how far it is: what takes so long seems at once."""
_ROUNDING = 1e-12
"""Costs travel as texts and back: less than this is no higher price."""
_REASONS = tuple((reason.name, words) for reason, words in REASONS.items())
View = Callable[..., HttpResponse]


def desk_view(view: View) -> View:
    """A view of the desk, of the project that is open or of a folder alone."""
    of_project = project_view("desk")(view)

    @wraps(view)
    def answer(request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponse:
        if DESK.bench is not None or DESK.alone is None:
            return of_project(request, *arguments, **named)
        try:
            return view(request, None, *arguments, **named)
        except SfumatoError as error:
            return _asked(request, None, str(error))

    return answer


def _shown(request: HttpRequest, bench: Bench | None, said: str = "", **parts: Any) -> HttpResponse:
    if bench is not None:
        return page(request, bench, "link", "workbench/desk.html", **parts)
    message = Message(said, bad=True) if said else None
    name = DESK.alone.name if DESK.alone is not None else ""
    parts |= {"bench": None, "message": message, "project_name": name}
    return render(request, "workbench/desk.html", parts)


def _asked(request: HttpRequest, bench: Bench | None, said: str = "") -> HttpResponse:
    """The page that asks who reviews."""
    ruled = bench is not None or (DESK.alone is not None and has_rules(DESK.alone))
    return _shown(
        request, bench, said, worker=OpenReview.worker, ruled=ruled, budget=PROPOSED.budget,
        rules=[each for each in declared(Settings, only=CHOSEN) if each.name != "budget"],
    )  # fmt: skip


@require_GET
@desk_view
def desk(request: HttpRequest, bench: Bench | None) -> HttpResponse:
    """A page of pairs; without a number the first with a pair that is still to be answered."""
    review = DESK.review
    if review is None:
        return _asked(request, bench)
    if review.opens:
        return _shown(request, bench, opening=review.told)
    with ExitStack() as unless_shown:
        unless_shown.callback(DESK.leave_review)
        review.check()
        # The script of the desk begins with a whole page.
        whole = loads_by_itself(request)
        parts = {} if whole else _page(review, request.GET.get("page", ""))
        unless_shown.pop_all()
    if whole:
        return HttpResponse(headers={"HX-Refresh": "true"})
    return _shown(
        request, bench, alone=True, address=reverse("desk"), **parts, **drawn_pages.legend()
    )


def _page(review: OpenReview, asked: str) -> dict[str, Any]:
    """A page of pairs, shown and charged."""
    with review.lock:
        session = review.session()
        pages = -(-len(session.tasks) // ON_A_PAGE)
        first = session.undecided(-1) or 0
        number = int(asked[:9]) - 1 if asked.isdecimal() else first // ON_A_PAGE
        places = _places(session, min(max(number, 0), pages - 1) * ON_A_PAGE)
        for place in places:  # before any costs are told
            session.show(place)
        rules = session.review.settings
        shown = {
            "title": _("Doubtful pairs"),
            "names": [attribute.name for attribute in session.review.attributes],
            "number": places[0] // ON_A_PAGE + 1,
            "pages": pages,
            "exact": rules.costs is Costs.EXACT,
            "fixed": rules.mask_width is MaskWidth.FIXED,
            "hints": rules.hints,
        }
        pairs = [_drawn(session, place, page=places[0] // ON_A_PAGE + 1) for place in places]
        standing = drawn_pages.meters_fragment(drawn_pages.meters(session.standing()))
    return {"page": shown, "pairs": pairs, "meters": standing}


def _places(session: Session, place: int) -> range:
    """The places of the page that a place is on."""
    first = place // ON_A_PAGE * ON_A_PAGE
    return range(first, min(first + ON_A_PAGE, len(session.tasks)))


def _drawn(session: Session, place: int, page: int | None = None) -> str:
    exact = session.review.settings.costs is Costs.EXACT
    drawing = drawn_pages.draw_pair(session.view(place), session.standing(), exact=exact)
    return drawn_pages.draw_form(drawing, f"{reverse('desk')}/{place}", "", page, _REASONS)


@require_POST
@desk_view
def open_desk(request: HttpRequest, bench: Bench | None) -> HttpResponse:
    """Begin to review, or go on."""
    if bench is not None:
        if bench.made(LINK) is None:
            raise InputError("the tables", "must be linked first")
        folder = prepared(bench.place)
    else:
        assert DESK.alone is not None
        folder = DESK.alone
    worker, given = request.POST.get("worker", "").strip(), rules_in(request.POST)
    if worker and journal_path(folder, worker).is_file():
        given = {name: value for name, value in given.items() if name == "budget"}
    review = OpenReview(folder, worker, given)
    DESK.leave_review()
    review.start(wait=AT_ONCE)
    DESK.review = review
    return HttpResponseRedirect(reverse("desk"))


def rules_in(given: Mapping[str, str]) -> dict[str, Any]:
    """The rules that a form gives; what is left empty is as it was, or usual.

    Raises
    ------
    InputError
        If one is no value of its rule.
    """
    rules = {}
    for rule in declared(Settings, only=CHOSEN):
        text = given.get(rule.name, "").strip()
        if not text:
            continue
        try:
            number = rule.type(text.replace(",", ".")) if rule.type in (int, float) else text
        except ValueError:
            raise InputError(
                f"the rule '{rule.name}'", "must be a number", accepted=rule.accepted
            ) from None
        rules[rule.name] = rule.check(text == "yes" if rule.type is bool else number)
    return rules


def prepared(place: ProjectFolder) -> Path:
    """The folder of a project's review, made where it is not there.

    Raises
    ------
    InputError
        If no pair is left to be answered, or the project runs.
    """
    (stage,) = (each for each in stages_of(place) if each.name == REVIEW)
    with run_lock(place.stages):
        stage.prepare(place)
    folder = place.at(place.project.review.folder)
    if not has_rules(folder):
        raise InputError("the review", "must have pairs without an answer", found="none")
    return folder


@require_POST
@desk_view
def leave_desk(request: HttpRequest, bench: Bench | None) -> HttpResponse:
    """Give the folder back; everything is kept."""
    DESK.leave_review()
    return HttpResponseRedirect(reverse("desk" if bench is None else "link"))


@require_POST
@project_view("link")
def review_here(request: HttpRequest, bench: Bench) -> HttpResponse:
    """Let people answer the doubtful pairs at this desk."""

    def change(document: Any) -> None:
        table_at(document, "review")["by"] = Reviewers.DESK.value

    return edited(request, bench, change, _("People review the doubtful pairs here"), to="link")


Verb = Callable[[Session, int, Mapping[str, str]], object]


def _open(session: Session, place: int, form: Mapping[str, str]) -> str:
    asked, _colon, told = form["open"].rpartition(":")
    for cost in session.view(place).costs:
        if drawn_pages.opening_text(cost.opening) != asked:
            continue
        # A page may be older than openings of the same records in other pairs.
        if not cost.cost <= float(told) + _ROUNDING:
            return drawn_pages.why_not(None, repriced=True)
        return drawn_pages.why_not(session.open(place, cost.opening))
    return ""  # open already: the same was sent twice


VERBS: dict[str, Verb] = {
    "open": _open,
    "decide": lambda session, place, form: session.decide(place, Answer(int(form["answer"]))),
    "withdraw": lambda session, place, _form: session.withdraw(place),
    "skip": lambda session, place, _form: session.skip(place),
    "flag": lambda session, place, form: session.flag(place, FlagReason[form["reason"]]),
    "unflag": lambda session, place, _form: session.remove_flag(place),
}
"""What can be done with a pair."""


@require_POST
def change_pair(request: HttpRequest, place: int, verb: str) -> HttpResponse:
    """Do something with a pair; it is in the journal before the answer shows it."""
    review = DESK.review
    if review is None:
        return problem(request, 409, _("The desk was left. Load the page again."))
    with review.lock:
        try:
            session = review.session()
            said = VERBS[verb](session, _places(session, place)[place % ON_A_PAGE], request.POST)
        except (KeyError, ValueError, IndexError):
            return problem(request, 400)
        except SfumatoError as error:
            review.forget()
            return problem(request, 500, str(error))
        refused = said if isinstance(said, str) else ""
        if "application/json" not in request.headers.get("Accept", ""):
            number = place // ON_A_PAGE + 1
            return HttpResponseRedirect(f"{reverse('desk')}?page={number}#pair-{place}")
        return JsonResponse(_body(session, place, refused))


def _body(session: Session, place: int, refused: str) -> dict[str, Any]:
    standing, exact = session.standing(), session.review.settings.costs is Costs.EXACT
    others = session.beside(place, _places(session, place))
    forms = {str(other): _drawn(session, other) for other in others}
    drawing = drawn_pages.draw_pair(session.view(place), standing, exact=exact)
    return drawn_pages.body_of(drawing, _drawn(session, place), forms, standing, refused)
