"""The pages of the manager: projects, queues, conflicts, exports."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import Case, Count, Q, QuerySet, When
from django.db.models.functions import Lower
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from sfumato.core.number_text import counted, percent
from sfumato.linkage.question_order import ENOUGH
from sfumato.reports.disclosure_report import draw_disclosure
from sfumato.review.review_decisions import Answer, Conflict, find_conflicts
from sfumato.review.worker_state import REFUSED
from sfumato.server.accounts.sessions import invite
from sfumato.server.accounts.views import of_project
from sfumato.server.audit_log import append
from sfumato.server.config import Role
from sfumato.server.custodian.project_grants import identity_grant, use_identity_grant
from sfumato.server.error_pages import Stop
from sfumato.server.live.conflict_resolution import open_conflict, resolve, show_conflict
from sfumato.server.live.live_projects import locked
from sfumato.server.manager import dealing, project_figures
from sfumato.server.manager.forms import InviteWorkerForm, QueueForm, TakeBackForm
from sfumato.server.manager.uploads import sweep
from sfumato.server.permissions import Action, decide, know_member
from sfumato.server.proofs import check_stated, is_consented
from sfumato.server.stated_rows import Stated, stated
from sfumato.server.store.models import Account, Dealt, Member, Project, ProjectState, Resolution
from sfumato.server.worker.drawn_pages import draw_pair, meters, meters_fragment
from sfumato.server.worker.views import number_in

LONGEST_TITLE = Project._meta.get_field("title").max_length  # noqa: SLF001 - as Django documents it
LINES = 50
"""Projects on a page of the list: a screen or two, and what is counted of them stays little."""


@dataclass(frozen=True)
class Line:
    """A project as the list shows it.

    Attributes
    ----------
    manages, owns, works, purges, signs
        Whether whoever looks is its manager, its custodian who may grant, one of its workers,
        may destroy it, and has to answer a proposal.
    decided, dealt
        Numbers of pairs: of this worker, for a manager and a custodian of all.
    """

    project: Project
    manages: bool
    owns: bool
    works: bool
    purges: bool
    signs: bool
    decided: int
    dealt: int

    @property
    def share(self) -> int:
        """Decided pairs in percent."""
        return round(100 * self.decided / self.dealt) if self.dealt else 0


@require_GET
@login_required
def projects(request: HttpRequest) -> HttpResponse:
    """The projects that one may see, the open ones first, a page of them at a time."""
    # Here, as many pages lead to it: uploads go after an hour even if nobody makes another one.
    sweep()
    # SQLite refuses long patterns, PostgreSQL the NUL; no title has either.
    asked = request.GET.get("search", "").replace("\0", "").strip()[:LONGEST_TITLE]
    actor = request.user
    shown = Paginator(_of(actor).filter(title__icontains=asked), LINES)
    part = shown.get_page(request.GET.get("page"))
    context = {
        "lines": _lines(actor, list(part)),
        "part": part,
        "search": asked,
        "searchable": asked or shown.num_pages > 1,
        "creates": decide(actor, Action.CREATE_PROJECT).allowed,
    }
    return render(request, "manager/projects.html", context)


def _of(actor: Account) -> QuerySet[Project]:
    """The projects that somebody may see, as `Action.SEE_PROJECT` has it, in order."""
    mine = Q(members__account=actor) & ~Q(state=ProjectState.PURGED)
    if actor.has_role(Role.MANAGER):
        mine |= Q(manager=actor)
    if actor.has_role(Role.CUSTODIAN):
        mine |= Q(custodian=actor)
    states = (ProjectState.OPEN, ProjectState.CLOSED, ProjectState.PURGED)
    order = Case(*(When(state=state, then=at) for at, state in enumerate(states)))
    found = Project.objects.filter(mine).distinct().select_related("manager", "custodian")
    return found.annotate(place=order, name=Lower("title")).order_by("place", "name", "pk")


def _lines(actor: Account, projects: list[Project]) -> list[Line]:
    """Lines of the list, by as many queries for many projects as for one."""
    dealt = Dealt.objects.filter(project__in=projects, taken_back__isnull=True)
    numbers = {"dealt": Count("pk"), "decided": Count("pk", filter=~Q(answer=0))}
    whole, own = (
        {row["project"]: row for row in pairs.values("project").annotate(**numbers)}
        for pairs in (dealt, dealt.filter(worker=actor))
    )
    of_members = Member.objects.filter(account=actor, project__in=projects)
    members = set(of_members.values_list("project", flat=True))
    proposed = Project.objects.filter(
        pk__in=[each.pk for each in projects], proposals__state="open"
    )
    waiting = set(proposed.values_list("pk", flat=True))
    lines = []
    for project in projects:
        know_member(project, actor, is_member=project.pk in members)
        try:
            decide(actor, Action.SEE_PROJECT, project)
        except Stop:
            continue  # a row that nobody stated shows nothing, and hides no other
        manages, owns, works, purges = (
            decide(actor, action, project).allowed
            for action in (Action.SEE_PROGRESS, Action.GRANT, Action.WORK, Action.PURGE_PROJECT)
        )
        signs = project.pk in waiting and decide(actor, Action.CONSENT, project).allowed
        counted = whole if manages or project.custodian_id == actor.pk else own
        row = counted.get(project.pk, {"decided": 0, "dealt": 0})
        may = manages, owns, works, purges, signs
        lines.append(Line(project, *may, row["decided"], row["dealt"]))
    return lines


@require_GET
@of_project(Action.SEE_PROJECT)
def manage(request: HttpRequest, project: Project) -> HttpResponse:
    """The project's page; a worker is led to the pairs, a custodian to the grants."""
    if not decide(request.user, Action.SEE_PROGRESS, project).allowed:
        if decide(request.user, Action.WORK, project).allowed:
            return redirect("work", project_id=project.pk)
        if decide(request.user, Action.GRANT, project).allowed:
            return redirect("grants", project_id=project.pk)
        return redirect("projects")
    context = {
        "project": project,
        "open": project.state == ProjectState.OPEN,
        "closed": project.state == ProjectState.CLOSED,
        "purged": project.state == ProjectState.PURGED,
        "rules": project_figures.rules_in_words(project),
        "consented": is_consented(project),
    }
    if project.state != ProjectState.PURGED:
        context |= _progress(project)
    if project.state == ProjectState.CLOSED:
        context |= {"linked": dealing.has_linkage(project.pk), "grant": identity_grant(project)}
    return render(request, "manager/manage.html", context)


@require_GET
@of_project(Action.SEE_PROGRESS)
def progress_fragment(request: HttpRequest, project: Project) -> HttpResponse:
    """The part of the page that changes while workers work, for the page's own script."""
    if project.state == ProjectState.PURGED:
        return HttpResponse(status=204)
    return render(request, "manager/progress.html", {"project": project, **_progress(project)})


ValueAndInterval = tuple[str, str]


def _progress(project: Project) -> dict[str, object]:
    progress, quality = project_figures.progress_of(project), project_figures.quality_of(project)
    names = {worker.pseudonym: worker.name for worker in progress.workers}
    return {
        "progress": progress,
        "lines": [
            (
                worker,
                project_figures.value_and_interval(quality.gold[worker.pseudonym].share),
                quality.gold[worker.pseudonym].answered,
            )
            if worker.pseudonym in quality.gold
            else (worker, project_figures.value_and_interval(None), 0)
            for worker in progress.workers
        ],
        "quality": quality,
        "drifted": [(names.get(who, who), after) for who, after in quality.drifted.items()],
        "agreement": _agreement(quality, names),
        "may_change": "" if (share := dealing.share_open(project.pk)) is None else percent(share),
        "ends": percent(ENOUGH),
        "unresolved": quality.conflicts - quality.resolved,
        "now": datetime.now().astimezone(),
        "ready": _ready(progress, quality),
    }


def _agreement(
    quality: project_figures.Quality, names: dict[str, str]
) -> list[tuple[str, str, ValueAndInterval, ValueAndInterval]]:
    """Lines of the table: who, pairs in common, same or different, six points in order."""
    shown = project_figures.value_and_interval
    return [
        (each.who, f"{each.pairs:,}", shown(each.sides), shown(each.points))
        for each in project_figures.agreement_of(quality, names)
    ]


def _ready(progress: project_figures.Progress, quality: project_figures.Quality) -> list[str]:
    """What is still open, before a project is closed."""
    left = []
    if progress.waiting:
        left.append(f"{counted(progress.waiting, 'pair waits', 'pairs wait')} in the queue")
    if progress.wanted > progress.decided:
        missing = progress.wanted - progress.decided
        left.append(f"{counted(missing, 'decision is', 'decisions are')} still to be made")
    if quality.conflicts > quality.resolved:
        open_ones = quality.conflicts - quality.resolved
        left.append(f"{counted(open_ones, 'conflict is', 'conflicts are')} not resolved")
    return left


@require_http_methods(["GET", "POST"])
@of_project(Action.DEAL)
def queue_page(request: HttpRequest, project: Project) -> HttpResponse:
    """Open the queue to workers; take undecided pairs back."""
    asked = request.POST.get("do", "") if request.method == "POST" else ""
    progress = project_figures.progress_of(project)
    pairs = progress.pairs + progress.gold
    form = QueueForm(project, pairs, request.POST if asked == "open" else None)
    back = TakeBackForm(project, request.POST if asked == "back" else None)
    wrong = form if asked == "open" else back
    if asked == "open" and form.is_valid():
        dealing.open_queue(request.user, project, **form.cleaned_data)
        messages.success(request, "The queue is open to them.")
        return redirect("manage", project_id=project.pk)
    if asked == "back" and back.is_valid():
        worker = back.cleaned_data["worker"]
        count = dealing.take_pairs_back(request.user, project, worker)
        messages.success(request, f"Of {worker.name} taken back: {counted(count, 'pair')}.")
        return redirect("manage", project_id=project.pk)
    context = {"project": project, "form": form, "back": back, "progress": progress}
    return render(request, "manager/queue.html", context, status=400 if wrong.errors else 200)


@require_http_methods(["GET", "POST"])
@of_project(Action.INVITE)
def invite_page(request: HttpRequest, project: Project) -> HttpResponse:
    """Invite a worker; the link is shown once, in the answer itself."""
    form = InviteWorkerForm(request.POST or None)
    address = ""
    if request.method == "POST" and form.is_valid():
        days = form.cleaned_data["days"]
        address = invite(request.user, [Role.WORKER], project, days)
    context = {"project": project, "form": form, "address": address}
    return render(request, "manager/invite.html", context)


@require_POST
@of_project(Action.CLOSE_PROJECT)
def close(request: HttpRequest, project: Project) -> HttpResponse:
    """Close the project: nothing is opened or decided any more, and exports begin.

    What is still open is lost: whoever closes it all the same says of what, as it is then.
    """
    with locked(request.user, Action.CLOSE_PROJECT, project.pk, 409) as open_one:
        progress = project_figures.progress_of(open_one)
        left = "; ".join(_ready(progress, project_figures.quality_of(open_one)))
        closes = left in ("", request.POST.get("anyway"))
        if closes:
            check_stated(open_one, "state")
            open_one.state, open_one.closed = ProjectState.CLOSED, timezone.now()
            open_one.save(update_fields=["state", "closed"])
            # In the transaction: no project is closed without its entry.
            rows = [stated(open_one, "state", "closed")]
            append(request.user, "close project", f"project {project.pk}", rows=rows)
    if not closes:
        messages.error(request, f"Not closed: {left}. Tick that this may be lost.")
        return redirect(reverse("manage", args=[project.pk]) + "#close")
    messages.success(request, "The project is closed. Its decisions can be exported.")
    return redirect("manage", project_id=project.pk)


PARQUET = "application/vnd.apache.parquet"


@require_POST
@of_project(Action.EXPORT_DECISIONS, fresh_from="manage")
def export_decisions(request: HttpRequest, project: Project) -> HttpResponse:
    """``decisions.parquet``, which ``sfumato link apply`` takes."""
    data = project_figures.decisions_bytes(project)
    return _exported(request, project, "export decisions", data, "decisions.parquet", PARQUET)


@require_POST
@of_project(Action.EXPORT_DECISIONS, fresh_from="manage")
def export_report(request: HttpRequest, project: Project) -> HttpResponse:
    """The disclosure report, as a page or as JSON."""
    disclosure = project_figures.disclosure_of(project)
    if request.POST.get("form") == "json":
        text, name, kind = json.dumps(disclosure.to_json(), indent=2), "json", "application/json"
    else:
        try:
            text, name, kind = draw_disclosure(disclosure), "html", "text/html; charset=utf-8"
        except ImportError:
            raise Stop(409, 'The report needs the extra "report" on the server.') from None
    name = f"disclosure.{name}"
    return _exported(request, project, "export report", text.encode(), name, kind)


@require_POST
@of_project(Action.EXPORT_LINKED, fresh_from="manage")
def export_linked(request: HttpRequest, project: Project) -> HttpResponse:
    """The linked de-identified file, its persons settled with the decisions."""
    data = dealing.linked_file(project, project_figures.decisions_bytes(project))
    return _exported(request, project, "export linked", data, "linked.parquet", PARQUET)


@require_POST
@of_project(Action.EXPORT_IDENTITIES, fresh_from="manage")
def export_identities(request: HttpRequest, project: Project) -> HttpResponse:
    """The decisions with both records of each pair; it uses the custodian's grant up."""
    # The grant is used up only if there is an export: one that fails leaves it.
    with transaction.atomic():
        grant = use_identity_grant(project)
        data = project_figures.identities_bytes(project)
        rows, name = [stated(grant, "used")], "identities.parquet"
        return _exported(request, project, "export identities", data, name, PARQUET, rows)


def _exported(
    request: HttpRequest,
    project: Project,
    action: str,
    data: bytes,
    name: str,
    kind: str,
    rows: Sequence[Stated] = (),
) -> HttpResponse:
    told = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    append(request.user, action, f"project {project.pk}", told, rows=rows)
    answer = HttpResponse(data, content_type=kind)
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


@require_GET
@of_project(Action.RESOLVE)
def conflicts(request: HttpRequest, project: Project) -> HttpResponse:
    """All conflicts, those that are not resolved first, the widest apart first; flagged pairs.

    Their answers are not shown before the manager's own: it is to be another reading. One that is
    changed afterwards is marked.
    """
    workers = Account.objects.filter(dealt__project=project)
    names = dict(workers.values_list("pseudonym", "name"))
    lines = [
        (int(each.pair), int(each.pair) + 1, _answers(each, names) if each.resolution else [], each)
        for each in find_conflicts(project_figures.decisions_of(project))
    ]
    left = sum(each.resolution is None for *_, each in lines)
    flagged = _flagged(project, {number for number, *_ in lines})
    context = {"project": project, "lines": lines, "left": left, "flagged": flagged}
    context["changed"] = project_figures.changed_afterwards(project)
    return render(request, "manager/conflicts.html", context)


@require_GET
@of_project(Action.RESOLVE)
def conflict(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    """One conflict, as its manager may see it."""
    shown = show_conflict(request.user, project, number)
    found = find_conflicts(project_figures.decisions_of(project))
    others = [int(each.pair) for each in found if each.resolution is None]
    context = {
        "project": project,
        "number": number,
        "pair": draw_pair(shown.view, shown.standing, exact=shown.exact),
        "meters": meters_fragment(meters(shown.standing)[:2]),
        "answers": _of_pair(project, number) if shown.view.answer else [],
        "flags": _flags(project).get(number, []),
        "next": next((other for other in others if other != number), None),
        "attributes": len(project.attributes),
    }
    return render(request, "manager/conflict.html", context)


@require_POST
@of_project(Action.RESOLVE)
def conflict_open(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    """Open cells of a conflict."""
    places, _, mode = request.POST.get("open", "").partition(":")
    attributes = [number_in("attribute", part) for part in places.split(",")[:64]]
    shown = open_conflict(request.user, project, number, attributes, number_in("mode", mode))
    if shown.refusal is not None:
        messages.error(request, f"Not opened: {REFUSED[shown.refusal.reason]}.")
    return redirect("conflict", project_id=project.pk, number=number)


@require_POST
@of_project(Action.RESOLVE)
def conflict_resolve(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    """Decide a conflict, or let the workers' answers hold again."""
    answer = number_in("answer", request.POST.get("answer"))
    resolve(request.user, project, number, answer)
    said = f"resolved: {Answer(answer).words}" if answer else "open again"
    messages.success(request, f"Pair {number + 1} is {said}.")
    if not answer:
        return redirect("conflict", project_id=project.pk, number=number)
    left = (
        each
        for each in find_conflicts(project_figures.decisions_of(project))
        if each.resolution is None
    )
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
        # Whether it is empty is seen without the key.
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
            _of_pair(project, number) if number in answers else [],
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


def _answers(conflict: Conflict, names: dict[str, str]) -> list[tuple[str, str, bool]]:
    return sorted(
        (names.get(worker, worker), answer.words, answer.same)
        for worker, answer in conflict.answers.items()
    )
