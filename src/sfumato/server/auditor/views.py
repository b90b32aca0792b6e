"""The audit log, for auditors."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from sfumato.core.errors import InputError
from sfumato.server.audit.append import append
from sfumato.server.audit.verify import parse_head, verify
from sfumato.server.auditor.reading import FilterForm, details, entries, json_lines, readable
from sfumato.server.errors import problem
from sfumato.server.permissions.rules import Action, decide
from sfumato.server.store.models import Account, Project

ON_A_PAGE = 100
View = Callable[[HttpRequest], HttpResponse]


def _auditors_view(view: View) -> View:
    @wraps(view)
    @login_required
    def guarded(request: HttpRequest) -> HttpResponse:
        permission = decide(request.user, Action.READ_AUDIT_LOG)
        if not permission.allowed:
            return problem(request, 403, permission.reason)
        return view(request)

    return guarded


@require_GET
@_auditors_view
def audit(request: HttpRequest) -> HttpResponse:
    """The log, newest first, with what is looked for.

    Parameters
    ----------
    request
        The request.
    """
    form = FilterForm(request.GET)
    found = entries(form.cleaned_data if form.is_valid() else {})
    page = Paginator(found, ON_A_PAGE).get_page(request.GET.get("page"))
    names = dict(Account.objects.values_list("pseudonym", "name"))
    titles = {str(key): title for key, title in Project.objects.values_list("pk", "title")}
    rows = [
        (each, names.get(each.actor, ""), readable(each.resource, titles), details(each.detail))
        for each in page
    ]
    asked = request.GET.copy()
    asked.pop("page", None)
    context = {"form": form, "page": page, "rows": rows, "query": asked.urlencode()}
    return render(request, "auditor/audit.html", context)


@require_http_methods(["GET", "POST"])
@_auditors_view
def check(request: HttpRequest) -> HttpResponse:
    """Check the whole log, against a head that was kept elsewhere where one is given.

    Parameters
    ----------
    request
        The request.
    """
    verdict, wrong = None, ""
    kept = request.POST.get("against", "").strip()
    if request.method == "POST":
        try:
            verdict = verify(parse_head(kept) if kept else None)
        except InputError:
            wrong = "This is no head: a number, a colon, 64 hexadecimal digits."
    context = {"verdict": verdict, "wrong": wrong, "kept": kept}
    return render(request, "auditor/check.html", context)


@require_POST
@_auditors_view
def download(request: HttpRequest) -> HttpResponse:
    """The entries that are looked for as JSON lines; the download is an entry itself.

    Parameters
    ----------
    request
        The request.
    """
    form = FilterForm(request.POST)
    if not form.is_valid():
        return problem(request, 400)
    last = append(request.user, "download audit log", "audit log")
    found = entries(form.cleaned_data).filter(number__lte=last.number)
    answer = StreamingHttpResponse(json_lines(found), content_type="application/x-ndjson")
    answer["Content-Disposition"] = 'attachment; filename="audit.jsonl"'
    return answer
