"""The frame of every page: places, strip, message line; and what becomes of a click."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from sfumato.core.errors import SfumatoError
from sfumato.core.number_text import share_text
from sfumato.pipeline.project_folder import RELEASE, shell_path
from sfumato.risk.verdict import Verdict
from sfumato.server.workbench.bench import COUNTED, DESK, ESTIMATE, Bench
from sfumato.server.workbench.column_figures import tables_of
from sfumato.server.workbench.jobs import JobState
from sfumato.server.workbench.project_edits import Change, ChangedOutsideError
from sfumato.server.workbench.questions import open_keys

PLACES = {
    "data": gettext_lazy("Data"),
    "link": gettext_lazy("Link"),
    "release": gettext_lazy("Release"),
    "attack": gettext_lazy("Attack"),
    "sign": gettext_lazy("Sign"),
}
"""The five places, by the names of their addresses."""
View = Callable[..., HttpResponse]


def shows_its_place(answer: Callable[[HttpRequest], HttpResponse]) -> View:
    """A middleware that answers who loads the address of a form again."""

    def answered(request: HttpRequest) -> HttpResponse:
        found = answer(request)
        if request.method == "GET" and found.status_code == 405:
            # A page that answered a form has its address: loaded again it is the form's place.
            return HttpResponseRedirect(reverse(place_in({"here": request.path.split("/")[1]})))
        return found

    return answered


@dataclass(frozen=True)
class StripFigure:
    """A figure of the strip, before the release and of it.

    Attributes
    ----------
    label
        What it says.
    before, now
        As text; ``""`` where it is not known.
    kind
        What both are: *counted*, *rough*, *sample*, *estimate*.
    """

    label: str
    before: str
    now: str
    kind: str


def project_view(place: str) -> Callable[[View], View]:
    """A view of a place, which is given the open project; what it refuses is said."""

    def made(view: View) -> View:
        @wraps(view)
        def answer(request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponse:
            bench = DESK.bench
            if bench is None:
                return HttpResponseRedirect(reverse("start"))
            try:
                if bench.edits.notice():
                    bench.tell(_("The project file was changed outside. These are its figures."))
                if bench.tables_changed():
                    bench.tell(_("A table was changed outside. These are its figures now."))
                waits = open_keys(bench.place) and place != "data"
            except SfumatoError as error:
                return unreadable(request, bench, error)
            if waits:
                bench.tell(_("Say first whether the tables belong together so."))
                return HttpResponseRedirect(reverse("data"))
            try:
                return view(request, bench, *arguments, **named)
            except SfumatoError as error:
                bench.tell(str(error), bad=True)
                if request.method == "POST":
                    return HttpResponseRedirect(reverse(place_in(request.POST, place)))
                return page(request, bench, place, "workbench/refused.html")

        return answer

    return made


def page(
    request: HttpRequest, bench: Bench, place: str, template: str, status: int = 200, **parts: Any
) -> HttpResponse:
    """A page of a place within the frame."""
    by_itself = loads_by_itself(request)
    message = bench.saying(by_itself)
    if not by_itself:  # Else the page that follows a click would have lost what the click did.
        bench.shown, bench.message = message, None
    # Values are hidden again when their place is left.
    bench.shows_rows &= place == "release"
    if place != "data":
        bench.shows_values.clear()
    framed = {
        "bench": bench,
        "here": place,
        "places": [(name, reverse(name), label) for name, label in PLACES.items()],
        "strip": strip(bench),
        "message": message,
        "expected": bench.edits.sha(),
        "undone_next": bench.edits.undone_next,
        "redone_next": bench.edits.redone_next,
        "shell": command_of(bench, place),
        "python": python_of(bench),
        "project_name": bench.place.project.about.name,
        **run_of(bench, place),
    }
    return render(request, template, framed | parts, status=status)


def run_of(bench: Bench, here: str, *, polled: bool = False) -> dict[str, Any]:
    """How the run stands that was started last, as the frame shows it.

    Parameters
    ----------
    polled
        Whether a page asks that shows a run: once it is over the page is drawn anew.
    """
    job = bench.jobs.latest("run")
    state = None if job is None else job.state
    if job is None or state is JobState.DONE:
        return {"job": None, "job_over": polled, "here": here}
    line, names = "", list(bench.place.stage_names)
    for each in [each for each in job.lines if "share" in each][-1:]:
        name = each["stage"].partition(":")[0]
        line = _("%(stage)s, stage %(at)s of %(all)s; this step: %(share)s") % {
            "stage": name,
            "at": names.index(name) + 1 if name in names else "–",
            "all": len(names),
            "share": share_text(each["share"]),
        }
    over = polled and state is not JobState.RUNNING
    return {"job": job, "job_state": state, "job_line": line, "job_over": over, "here": here}


def place_in(given: Mapping[str, str], usual: str = "data") -> str:
    """The place that a form or a part of a page says it stands on."""
    here = given.get("here", usual)
    return here if here in PLACES else usual


def a_year_on() -> date:
    """The day until which an answer counts where no other is chosen."""
    return datetime.now(UTC).date() + timedelta(days=365)


def loads_by_itself(request: HttpRequest) -> bool:
    """Whether a page asks for a part of itself, and nobody has clicked."""
    return "HX-Request" in request.headers and "HX-Boosted" not in request.headers


def edited(
    request: HttpRequest,
    bench: Bench,
    change: Change,
    words: str,
    to: str,
    about: str = "",
) -> HttpResponse:
    """Change the project file as a form asks, and show the page again.

    Parameters
    ----------
    words
        What is done, without a value of the data.
    to
        The name of the address that is shown then.
    about
        The field beside which a refusal is said.
    """
    back = HttpResponseRedirect(to if to.startswith("/") else reverse(to))
    if not may_edit(request, bench):
        return back
    try:
        bench.edits.edit(
            change,
            expected=request.POST.get("expected", ""),
            words=words,
            force=request.POST.get("force") == "mine",
        )
    except ChangedOutsideError as conflict:
        repeated = {
            name: value for name, value in request.POST.items() if name not in ("expected", "force")
        }
        return page(
            request, bench, "data", "workbench/conflict.html",
            status=409, conflict=conflict, repeated=repeated, action=request.path, back=back.url,
            words=words,
        )  # fmt: skip
    except SfumatoError as error:
        bench.tell(str(error), bad=True, about=about)
    else:
        bench.tell(words)
    return back


def may_edit(request: HttpRequest, bench: Bench) -> bool:
    """Whether the window that sends a form edits the project; if not, that is said."""
    if bench.window.claim(request.POST.get("window", "")):
        return True
    bench.tell(_("Another window edits this project. This one reads: take over to edit."), bad=True)
    return False


def unreadable(request: HttpRequest, bench: Bench, error: SfumatoError) -> HttpResponse:
    """The page of a project that cannot be read: what is wrong, and the texts that it had."""
    pasts = bench.edits.pasts()
    return render(
        request,
        "workbench/unreadable.html",
        {"reason": str(error), "last": pasts[-2] if len(pasts) > 1 else None, "bench": bench},
        status=409,
    )


def strip(bench: Bench) -> list[StripFigure]:
    """The figures that never leave the page, of this revision alone."""
    verdict = bench.status().verdict
    table = tables_of(bench)[0]
    # Of several tables nobody knows the people before they are linked.
    is_known = table.is_read and not bench.place.project.is_linked
    known, kind = (table.alone.value, table.alone.kind) if is_known else (None, COUNTED)
    people, alone = ("", "") if known is None or not known.people else (
        f"{known.people:,}", share_text(known.alone / known.people)
    )  # fmt: skip
    released = "" if verdict is None else f"{verdict.people:,}"
    release = bench.made(RELEASE) or {}
    # An older run noted that of the quasi-identifiers alone.
    lost = release.get("detail_lost", (release.get("utility") or {}).get("ncp"))
    return [
        StripFigure(_("people"), people, released, kind),
        StripFigure(_("alone"), alone, "", kind),
        StripFigure(_("found by a stranger"), "", *_found(verdict, "stranger")),
        StripFigure(_("found by an insider"), "", *_found(verdict, "insider")),
        StripFigure(_("detail lost"), "", "" if lost is None else share_text(float(lost)), COUNTED),
    ]


def _found(verdict: Verdict | None, intruder: str) -> tuple[str, str]:
    """People found by an intruder, and what kind of figure that is: of drawn people an estimate."""
    findings = None if verdict is None else verdict.row(intruder).findings
    if findings is None:
        return "", COUNTED
    return share_text(findings.found.value), COUNTED if findings.drawn is None else ESTIMATE


def command_of(bench: Bench, place: str) -> str:
    """What does the same as a place on the command line."""
    file = shell_path(bench.file)
    stage = {"data": "assess", "link": "linked", "release": "release", "attack": "attack"}
    until = f" --until {shlex.quote(stage[place])}" if place in stage else ""
    return f"sfumato run {file}{until}"


def python_of(bench: Bench) -> str:
    """What opens the same project in Python."""
    return (
        "from sfumato.pipeline.project_folder import open_project\n"
        "from sfumato.pipeline.run import run\n"
        f"run(open_project({str(bench.file)!r}))"
    )
