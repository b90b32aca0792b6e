"""Release: a promise in words, the releases that were tried for it, and what one of them shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from sfumato.core.errors import ConstraintsNotMetError, InputError
from sfumato.core.number_text import share_text
from sfumato.pipeline.project_folder import RELEASE
from sfumato.pipeline.release_stages import promised
from sfumato.pipeline.signing import records_sha
from sfumato.release.promises.k_anonymity import PidKAnonymity
from sfumato.release.promises.promise import Budget, Constraint
from sfumato.release.release_result import Release
from sfumato.server.workbench import release_dots
from sfumato.server.workbench.bench import Bench
from sfumato.server.workbench.charts import frontier
from sfumato.server.workbench.column_figures import hidden
from sfumato.server.workbench.frame import edited, may_edit, page, project_view
from sfumato.server.workbench.jobs import Job, JobState
from sfumato.server.workbench.project_edits import table_at
from sfumato.server.workbench.release_dots import dots_key
from sfumato.server.workbench.sign_view import required
from sfumato.table.table import Table

PINS = 4
"""Releases that are compared at most."""
SHOWN = 50
"""Rows, and classes, that are shown."""
SIZES = ((1, 4), (5, 10), (11, 19), (20, 49), (50, 0))
"""People in a class, from and to, as classes are counted."""


def promised_people(bench: Bench) -> int | None:
    """The people in every class that the project promises; ``None`` where it says nothing."""
    kept = (each for each in bench.place.project.release.promises)
    return next((each.k for each in kept if isinstance(each, PidKAnonymity)), None)


def sampled(bench: Bench) -> tuple[Table, bool]:
    """The records of some people, all of a small file; and whether they are a sample."""

    def made() -> tuple[Table, bool]:
        table = release_dots.opened(bench.place)
        some = release_dots.sample_of(table)
        return some, some is not table

    found: tuple[Table, bool] = bench.figure("sample", made, of=dots_key(bench.place)).value
    return found


def drawn_release(bench: Bench, people: int) -> Release:
    """A rough release of `sampled`.

    Raises
    ------
    ConstraintsNotMetError
        If there is none.
    """
    found = bench.figure(
        f"rough release {people}",
        lambda: release_dots.drafted(bench.place, sampled(bench)[0], people),
        of=dots_key(bench.place),
    )
    made: Release = found.value
    return made


@dataclass(frozen=True)
class Search:
    """The search for dots, as far as it is of what the project says now."""

    job: Job | None
    dots: list[release_dots.Dot]
    others: bool

    @classmethod
    def of(cls, bench: Bench) -> Search:
        """That of an open project."""
        job = bench.jobs.latest("dots")
        if job is None or job.revision != dots_key(bench.place):
            return cls(None, [], job is not None)
        return cls(job, release_dots.best_known(release_dots.dots_in(job.lines)), others=False)

    @property
    def state(self) -> str:
        """How it stands; empty without one."""
        return "" if self.job is None else self.job.state.value

    @property
    def runs(self) -> bool:
        """Whether more dots come."""
        return self.job is not None and self.job.state is JobState.RUNNING

    @property
    def share(self) -> int:
        """How many of the dots are made, in per cent."""
        return 0 if self.job is None else min(100, 100 * len(self.dots) // len(release_dots.PEOPLE))

    @property
    def impossible(self) -> release_dots.Dot | None:
        """The nearest promise that no release keeps, where none is kept."""
        failed = [each for each in self.dots if each.failed]
        return min(failed, key=lambda dot: dot.people) if len(failed) == len(self.dots) else None

    @property
    def stage(self) -> str:
        """What it does now."""
        told = [line for line in (self.job.lines if self.job else ()) if "stage" in line]
        return str(told[-1]["stage"]) if told else ""


def _parts(bench: Bench) -> dict[str, Any]:
    """What the frontier and its table show."""
    search, pinned, chosen = Search.of(bench), bench.pins, promised_people(bench)
    limit = bench.place.project.judged_by.found
    rows = [
        {
            "dot": dot, "lost": share_text(dot.lost),
            "found": [_found(dot, who) for who in ("stranger", "acquaintance", "insider")],
            "pinned": dot.people in pinned, "chosen": dot.people == chosen,
        }
        for dot in search.dots
    ]  # fmt: skip
    here = next((dot for dot in search.dots if dot.people == chosen), None)
    release = bench.place.project.release
    others = [each for each in promised(bench.place) if not isinstance(each, PidKAnonymity)]
    return {
        "no_search": release_dots.why_not(bench.place),
        "promises_limits": release.promise_limits,
        "others": ", ".join(_plain(each) for each in others),
        "search": search,
        "rows": rows,
        "pins": len(pinned),
        "most_pins": PINS,
        "frontier": frontier(search.dots, limit, chosen, pinned) if search.dots else "",
        "chosen": chosen,
        "here_dot": here,
        "beside": [] if chosen is None or here else list(release_dots.between(search.dots, chosen)),
    }


def _plain(promise: Constraint | Budget) -> str:
    """A promise as the project file says it."""
    told = (f"{key} = {value}" for key, value in promise.parameters().items())
    return f"{promise.name} ({', '.join(told)})"


def _found(dot: release_dots.Dot, intruder: str) -> str:
    share = dot.found.get(intruder)
    return "–" if share is None else share_text(share[0])


@require_GET
@project_view("release")
def release(request: HttpRequest, bench: Bench) -> HttpResponse:
    """The promise, the frontier, and what was made of it."""
    project, record, status = bench.place.project, records_sha(bench.place), bench.status()
    return page(
        request,
        bench,
        "release",
        "workbench/release.html",
        status_now=status,
        made=bench.made(RELEASE) is not None,
        **({} if status.verdict is None else required(bench, status, record)),
        fewest=release_dots.FEWEST,
        most=release_dots.MOST,
        limits=str(project.judged_by),
        controls=project.about.controls,
        **_parts(bench),
    )


@require_GET
@project_view("release")
def dots(request: HttpRequest, bench: Bench) -> HttpResponse:
    """The frontier alone, as it fills."""
    parts = {"bench": bench, "expected": bench.edits.sha(), **_parts(bench)}
    return render(request, "workbench/dots.html", parts)


@require_POST
@project_view("release")
def start_search(request: HttpRequest, bench: Bench) -> HttpResponse:
    """Look for releases by the people in a class."""
    if may_edit(request, bench):
        chosen = promised_people(bench)
        first = [chosen] if chosen else []
        bench.jobs.start("dots", dots_key(bench.place), {"first": first})
    return HttpResponseRedirect(reverse("release"))


@require_POST
@project_view("release")
def promise(request: HttpRequest, bench: Bench) -> HttpResponse:
    """Promise that so many people are in every class."""
    people = _number(request)

    def change(document: Any) -> None:
        table_at(document, "release")["pid_k"] = people

    words = _("At least %(people)s people look alike in every class") % {"people": people}
    return edited(request, bench, change, words, to="release", about="people")


def _number(request: HttpRequest) -> int:
    text = request.POST.get("people", "")
    if not (text.isascii() and text.isdigit() and 1 < int(text) <= 10_000):
        raise InputError("the number of people", "must be a whole number", accepted="2 to 10,000")
    return int(text)


@require_POST
@project_view("release")
def state_controls(request: HttpRequest, bench: Bench) -> HttpResponse:
    """State what binds the recipient, by which the limits are those of a contract; or nothing."""
    said = request.POST.get("controls", "").strip()

    def change(document: Any) -> None:
        about = table_at(document, "project")
        about.pop("controls", None)
        if said:
            about["controls"] = said

    words = _("What binds the recipient is stated") if said else _("Nothing binds the recipient")
    return edited(request, bench, change, words, to="release")


@require_POST
@project_view("release")
def pin(request: HttpRequest, bench: Bench) -> HttpResponse:
    """Compare a release with others, or no longer."""
    people, pinned = _number(request), bench.pins
    if people in pinned:
        pinned.remove(people)
    elif len(pinned) < PINS:
        pinned.append(people)
    else:
        bench.tell(_("Four releases are compared at most: take one away first."), bad=True)
    return HttpResponseRedirect(reverse("release"))


@require_POST
@project_view("release")
def show_values(request: HttpRequest, bench: Bench) -> HttpResponse:
    """Show values of the data on this place, or hide them; that is noted."""
    if bench.shows_rows:
        bench.shows_rows = False
    elif may_edit(request, bench):
        bench.shows_rows = True
        bench.edits.note_shown("release")
    analysis = QueryDict(request.POST.get("analysis", "")).urlencode()
    if analysis:
        return HttpResponseRedirect(f"{reverse('analysis')}?{analysis}")
    return HttpResponseRedirect(reverse("detail", args=[_number(request)]))


@require_GET
@project_view("release")
def detail(request: HttpRequest, bench: Bench, people: int) -> HttpResponse:
    """What a release shows: its classes, and its rows once values are shown."""
    try:
        made = drawn_release(bench, people)
    except ConstraintsNotMetError as error:
        bench.tell(error.failures[0] if error.failures else str(error), bad=True)
        return HttpResponseRedirect(reverse("release"))
    shows, (table, is_sample) = bench.shows_rows, sampled(bench)
    return page(
        request,
        bench,
        "release",
        "workbench/detail.html",
        people=people,
        shows=shows,
        sizes=class_sizes(made),
        rows=before_and_after(made, table) if shows else None,
        columns=list(made.schema.quasi_identifiers),
        classes=f"{made.risk.classes:,}",
        all_records=f"{table.records:,}",
        is_sample=is_sample,
    )


def class_sizes(release: Release) -> list[tuple[str, str]]:
    """How many classes have so many people, small counts hidden."""
    persons = release.risk.own_classes().persons
    counts = [
        int(((persons >= low) & ((persons <= high) if high else True)).sum()) for low, high in SIZES
    ]
    words, gone = [f"{low} – {high}" if high else f"{low} –" for low, high in SIZES], hidden(counts)
    return [(words[at], "…" if at in gone else f"{count:,}") for at, count in enumerate(counts)]


def before_and_after(release: Release, table: Table) -> list[list[tuple[str, str]]]:
    """Cells before and after of the rows that lost most, one of each class."""
    assert release.source_rows is not None
    names = [identifier.name for identifier in table.quasi_identifiers]
    after = release.content.arrow()
    lost, source = np.zeros(len(release.source_rows)), release.source_rows
    shown: dict[str, Mapping[int, str]] = {}
    for column in table.quasi_identifiers:
        cells = after.column(column.name).to_pylist() if column.name in after.column_names else []
        shown[column.name] = {
            at: "" if cell is None else str(cell) for at, cell in enumerate(cells)
        }
        before = column.codes[source]
        same = [
            code >= 0 and column.domain.label(int(code)) == shown[column.name].get(at, "")
            for at, code in enumerate(before)
        ]
        lost += ~np.array(same, dtype=np.bool_)
    order, seen, rows = np.argsort(-lost, kind="stable"), set[tuple[str, ...]](), []
    for at in order.tolist():
        look = tuple(shown[name].get(at, "") for name in names)
        if look in seen:
            continue
        seen.add(look)
        codes = (identifier.codes[source[at]] for identifier in table.quasi_identifiers)
        labels = (
            identifier.domain.label(int(code)) if code >= 0 else ""
            for identifier, code in zip(table.quasi_identifiers, codes, strict=True)
        )
        rows.append(list(zip(labels, look, strict=True)))
        if len(rows) == SHOWN:
            break
    return rows
