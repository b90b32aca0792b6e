"""Where a project is opened, and what all places share: undo, the window that edits, jobs."""

from __future__ import annotations

from pathlib import Path

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from sfumato.core.errors import SfumatoError
from sfumato.pipeline.project_text import PROJECT_FILE
from sfumato.server.workbench.bench import DESK, Bench
from sfumato.server.workbench.frame import PLACES, may_edit, project_view

TABLES = (".csv", ".tsv", ".txt", ".parquet", ".xlsx", ".dta", ".sav")
"""Ends of the names of files that can be chosen as tables."""
MOST_LISTED = 500
"""Entries of a folder that are listed."""


@require_GET
def enter(request: HttpRequest) -> HttpResponse:
    """The page that takes the token of the link; it holds nothing."""
    return render(request, "workbench/enter.html")


@require_GET
def first(request: HttpRequest) -> HttpResponse:
    """The open project, or the start."""
    return HttpResponseRedirect(reverse("data" if DESK.bench is not None else "start"))


@require_GET
def start(request: HttpRequest) -> HttpResponse:
    """Choose a project, or files to make one of."""
    return render(request, "workbench/start.html", {"chosen": _listed(request), "desk": DESK})


def _listed(request: HttpRequest) -> dict[str, object]:
    """What a folder holds, by numbers: addresses name no file."""
    folders = DESK.folders or (Path.cwd(),)
    try:
        folder = folders[int(request.GET.get("folder", "0"))]
    except (ValueError, IndexError):
        folder = folders[0]
    return {"folder": folder, "files": list(enumerate(files_in(folder)))}


def files_in(folder: Path) -> list[Path]:
    """The tables and projects in a folder: no dotfiles, and no links, which lead elsewhere."""
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return []
    found = (
        path for path in entries
        if not path.name.startswith(".") and not path.is_symlink() and path.is_file()
        and (path.suffix.lower() in TABLES or path.name == PROJECT_FILE)
    )  # fmt: skip
    return list(found)[:MOST_LISTED]


@require_POST
def open_file(request: HttpRequest) -> HttpResponse:
    """Open a project that was chosen by its number."""
    folder = (DESK.folders or (Path.cwd(),))[0]
    files = files_in(folder)
    try:
        DESK.open(files[int(request.POST.get("file", ""))])
    except (ValueError, IndexError):
        return HttpResponseRedirect(reverse("start"))
    except SfumatoError as error:
        parts = {"chosen": _listed(request), "desk": DESK, "reason": str(error)}
        return render(request, "workbench/start.html", parts)
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
    here = request.POST.get("here", "data")
    return HttpResponseRedirect(reverse(here if here in PLACES else "data"))


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
    edits = bench.window.claim(request.POST.get("window", ""))
    here = request.POST.get("here", "data")
    return render(request, "workbench/window.html", {"edits": edits, "here": here})


@require_POST
@project_view("release")
def run(request: HttpRequest, bench: Bench) -> HttpResponse:
    """Run the project in the background."""
    if may_edit(request, bench):
        bench.jobs.start("run", bench.revision)
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
        bench.jobs.resume(job)
        bench.tell(_("It goes on."))
    return _back(request)
