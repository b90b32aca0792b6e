"""Where a project is opened, and what all places share: undo, the window that edits, jobs."""

from __future__ import annotations

from pathlib import Path

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from sfumato.core.errors import SfumatoError
from sfumato.pipeline.demo_project import write_demo_project
from sfumato.pipeline.project_text import PROJECT_FILE
from sfumato.server.workbench.bench import DESK, Bench, recent_projects
from sfumato.server.workbench.frame import may_edit, place_in, project_view, run_of
from sfumato.server.workbench.release_dots import dots_key

TABLES = (".csv", ".tsv", ".txt", ".parquet", ".xlsx", ".dta", ".sav")
"""Ends of the names of files that can be chosen as tables."""
DEMO = "sfumato-demo"
MOST_LISTED = 500
"""Entries of a folder that are listed."""


@require_GET
def enter(request: HttpRequest) -> HttpResponse:
    """The page that takes the token of the link; it holds nothing."""
    return render(request, "workbench/enter.html")


@require_GET
def first(request: HttpRequest) -> HttpResponse:
    """The open project, the folder that is reviewed, or the start."""
    alone = "start" if DESK.alone is None else "desk"
    return HttpResponseRedirect(reverse(alone if DESK.bench is None else "data"))


@require_GET
def start(request: HttpRequest) -> HttpResponse:
    """Choose a project, or files to make one of."""
    return _start(request)


def _start(request: HttpRequest, reason: str = "") -> HttpResponse:
    folder = DESK.here
    folders, files = entries_of(folder)
    parts = {
        "folder": folder, "folders": folders, "files": files, "up": DESK.can_go_up,
        "recent": recent_projects(), "bench": DESK.bench, "reason": reason,
    }  # fmt: skip
    return render(request, "workbench/start.html", parts)


def entries_of(folder: Path) -> tuple[list[Path], list[Path]]:
    """The folders, tables and projects in a folder: nothing hidden, and no links."""
    try:
        entries = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError:
        return [], []
    # A link could lead out of the folders that may be looked at.
    real = [path for path in entries if not path.is_symlink()]
    files = [
        path for path in real
        if path.is_file() and (path.suffix.lower() in TABLES or path.name == PROJECT_FILE)
    ]  # fmt: skip
    folders = [path for path in real if path.is_dir()]
    return folders[:MOST_LISTED], files[:MOST_LISTED]


def _numbered(items: list[Path], numbers: list[str]) -> list[Path]:
    """What is meant by numbers: no address and no form names a path."""
    return [
        items[int(number)] for number in numbers if number.isdecimal() and int(number) < len(items)
    ]


@require_POST
def go_to(request: HttpRequest) -> HttpResponse:
    """Look at a folder of those that are listed, or at the one above."""
    wanted = request.POST.get("folder", "")
    if wanted == "up" and DESK.can_go_up:
        DESK.here = DESK.here.parent
    else:
        DESK.here = next(iter(_numbered(entries_of(DESK.here)[0], [wanted])), DESK.here)
    return HttpResponseRedirect(reverse("start"))


@require_POST
def open_files(request: HttpRequest) -> HttpResponse:
    """Open the project that is chosen, or one of the tables that are."""
    chosen = _numbered(entries_of(DESK.here)[1], request.POST.getlist("file"))
    return _opened(request, chosen)


@require_POST
def open_recent(request: HttpRequest) -> HttpResponse:
    """Open a project that was open before."""
    return _opened(request, _numbered(recent_projects(), request.POST.getlist("recent")))


@require_POST
def open_demo(request: HttpRequest) -> HttpResponse:
    """Open a project of made-up data, in a folder of its own."""
    folder = DESK.here / DEMO
    if not folder.exists():
        try:
            write_demo_project(folder)
        except SfumatoError as error:
            return _start(request, str(error))
    return _opened(request, [folder])


def _opened(request: HttpRequest, files: list[Path]) -> HttpResponse:
    if not files:
        return _start(request, _("Choose a file first."))
    try:
        DESK.open_any(files)
    except SfumatoError as error:
        return _start(request, str(error))
    return HttpResponseRedirect(reverse("data"))


@require_POST
@project_view("data")
def undo(request: HttpRequest, bench: Bench) -> HttpResponse:
    """Take back the last edit."""
    if may_edit(request, bench):
        words = bench.edits.undo()
        bench.tell(_("Taken back: %s") % words if words else _("There is nothing to take back."))
    return _back(request)


@require_POST
@project_view("data")
def redo(request: HttpRequest, bench: Bench) -> HttpResponse:
    """Make again what was taken back last."""
    if may_edit(request, bench):
        words = bench.edits.redo()
        bench.tell(_("Made again: %s") % words if words else _("Nothing was taken back."))
    return _back(request)


def _back(request: HttpRequest) -> HttpResponse:
    return HttpResponseRedirect(reverse(place_in(request.POST)))


@require_POST
@project_view("data")
def take_over(request: HttpRequest, bench: Bench) -> HttpResponse:
    """Edit in this window from now on; the other one reads."""
    bench.window.claim(request.POST.get("window", ""), take_over=True)
    bench.tell(_("This window edits now. The other one reads."))
    return _back(request)


@require_POST
def take_back(request: HttpRequest) -> HttpResponse:
    """Write the last text of a project that can be read again."""
    bench = DESK.bench
    if bench is not None and may_edit(request, bench):
        try:
            bench.edits.take_back(
                int(request.POST.get("number", "0")), _("taken back from outside")
            )
        except (SfumatoError, ValueError) as error:
            bench.tell(str(error), bad=True)
    return HttpResponseRedirect(reverse("data"))


@require_POST
@project_view("data")
def window(request: HttpRequest, bench: Bench) -> HttpResponse:
    """A window's sign of life, and whether it edits."""
    if request.POST.get("leave"):
        bench.window.leave(request.POST.get("window", ""))
        return HttpResponse(status=204)
    edits = bench.window.claim(request.POST.get("window", ""))
    parts = {"edits": edits, "here": place_in(request.POST)}
    return render(request, "workbench/window.html", parts)


@require_GET
@project_view("release")
def job(request: HttpRequest, bench: Bench) -> HttpResponse:
    """How the run stands, for a page that shows it."""
    parts = run_of(bench, place_in(request.GET), polled=True)
    return render(request, "workbench/job.html", parts)


@require_POST
@project_view("release")
def run(request: HttpRequest, bench: Bench) -> HttpResponse:
    """Run the project in the background."""
    if may_edit(request, bench):
        until = request.POST.get("until", "")
        # What a run makes is of what is there then: each stage holds itself against its inputs.
        bench.jobs.start("run", bench.edits.sha(), {"until": until} if until else {})
        bench.tell(_("The project runs. You can go on; the pages show how far it is."))
    return _back(request)


@require_POST
@project_view("release")
def stop_job(request: HttpRequest, bench: Bench, job_id: str) -> HttpResponse:
    """End a job; what it told stays."""
    job = bench.jobs.job(job_id)
    if job is not None and may_edit(request, bench):
        bench.jobs.stop(job)
        bench.tell(_("Stopped. What was made stays."))
    return _back(request)


@require_POST
@project_view("release")
def resume_job(request: HttpRequest, bench: Bench, job_id: str) -> HttpResponse:
    """Go on with a job that was stopped or killed."""
    job = bench.jobs.job(job_id)
    if job is not None and may_edit(request, bench):
        # A run holds each stage against its inputs, and edits the project file by itself.
        now = dots_key(bench.place) if job.kind == "dots" else job.revision
        bench.jobs.resume(job, now)
        bench.tell(_("It goes on."))
    return _back(request)
