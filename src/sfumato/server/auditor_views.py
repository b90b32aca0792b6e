"""The pages of the auditor: the log, read and verified."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from sfumato.core.errors import InputError
from sfumato.server import heads
from sfumato.server.accounts.views import allowed
from sfumato.server.audit_log import append, parse_head, verified
from sfumato.server.error_pages import problem
from sfumato.server.permissions import Action
from sfumato.server.proofs import REFUSED
from sfumato.server.stated_rows import ROWS
from sfumato.server.store.models import Account, AuditEntry, Project


class FilterForm(forms.Form):
    """What is looked for; the choices are what the log has."""

    actor = forms.ChoiceField(label="Who", required=False)
    action = forms.ChoiceField(label="What", required=False)
    project = forms.ChoiceField(label="Project", required=False)
    since = forms.DateField(
        label="From", required=False, widget=forms.DateInput(attrs={"type": "date"})
    )
    until = forms.DateField(
        label="To", required=False, widget=forms.DateInput(attrs={"type": "date"})
    )

    def __init__(self, data: Any = None) -> None:
        super().__init__(data)
        names = dict(Account.objects.values_list("pseudonym", "name"))
        actors = _distinct("actor")
        self.fields["actor"].choices = [("", "anybody")] + [
            (each or "server", f"{names[each]} ({each})" if each in names else each or "the server")
            for each in actors
        ]
        self.fields["action"].choices = [("", "anything")] + [
            (each, each) for each in _distinct("action")
        ]
        self.fields["project"].choices = [("", "any")] + [
            (str(key), title)
            for key, title in Project.objects.order_by("title").values_list("pk", "title")
        ]


def entries(asked: dict[str, Any]) -> QuerySet[AuditEntry]:
    """The entries that fit, newest first."""
    found = AuditEntry.objects.order_by("-number")
    if asked.get("actor"):
        found = found.filter(actor="" if asked["actor"] == "server" else asked["actor"])
    if asked.get("action"):
        found = found.filter(action=asked["action"])
    if asked.get("project"):
        name = f"project {asked['project']}"
        found = found.filter(Q(resource=name) | Q(resource__startswith=f"{name}/"))
    if asked.get("since"):
        found = found.filter(time__gte=asked["since"].isoformat())
    if asked.get("until"):
        # Times are compared as texts, up to the first moment of the next day.
        found = found.filter(time__lt=(asked["until"] + timedelta(days=1)).isoformat())
    return found


_SHOWN = 400
"""Letters of a detail that the list shows at most."""


def details(text: str) -> list[tuple[str, str]]:
    """The details of an entry as names and texts."""
    try:
        found = json.loads(text)
    except ValueError:
        return [("unreadable", text)]
    if not isinstance(found, dict):
        return [("unreadable", text)]
    # Which rows were written is for the check; who reads it all has the download.
    told = [(name, _plain(value)) for name, value in found.items() if name != ROWS]
    return [(name, text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…") for name, text in told]


def readable(resource: str, titles: Mapping[str, str]) -> str:
    """What an entry is about, with the title of its project beside the start of its id."""
    name, _, rest = resource.partition("/")
    kind, _, key = name.partition(" ")
    if kind != "project" or key not in titles:
        return resource
    return f"{titles[key]} ({key[:8]})" + (f": {rest.replace('/', ', ')}" if rest else "")


def json_lines(found: QuerySet[AuditEntry]) -> Iterator[str]:
    """Entries as lines of JSON, oldest first, with all that is needed to check them."""
    # As they are stored, so that digests can be made again from them.
    for entry in found.order_by("number").values().iterator(chunk_size=2000):
        yield json.dumps(entry, sort_keys=True) + "\n"


def _distinct(field: str) -> list[str]:
    return list(AuditEntry.objects.order_by(field).values_list(field, flat=True).distinct())


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


ON_A_PAGE = 100


@require_GET
@allowed(Action.READ_AUDIT_LOG)
def audit(request: HttpRequest) -> HttpResponse:
    """The log, newest first, with what is looked for."""
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
    context = {
        "form": form,
        "page": page,
        "rows": rows,
        "query": asked.urlencode(),
        "refused": AuditEntry.objects.filter(action=REFUSED).count(),
        "refusals": urlencode({"action": REFUSED}),
    }
    return render(request, "auditor/audit.html", context)


@require_http_methods(["GET", "POST"])
@allowed(Action.READ_AUDIT_LOG)
def check(request: HttpRequest) -> HttpResponse:
    """Check the whole log, against a head that was kept elsewhere where one is given."""
    verdict, wrong, own = None, "", heads.kept()
    kept = request.POST.get("against", "").strip()
    if request.method == "POST":
        try:
            verdict = verified(
                request.user, parse_head(kept) if kept else (own.head if own else None)
            )
        except InputError:
            wrong = "This is no head: a number, a colon, 64 hexadecimal digits."
    context = {"verdict": verdict, "wrong": wrong, "kept": kept, "own": own}
    return render(request, "auditor/check.html", context)


@require_POST
@allowed(Action.READ_AUDIT_LOG)
def download(request: HttpRequest) -> HttpResponse:
    """The entries that are looked for as JSON lines; the download is an entry itself."""
    form = FilterForm(request.POST)
    if not form.is_valid():
        return problem(request, 400)
    last = append(request.user, "download audit log", "audit log")
    # Up to the entry of the download: the file stays the same while others are added.
    found = entries(form.cleaned_data).filter(number__lte=last.number)
    answer = StreamingHttpResponse(json_lines(found), content_type="application/x-ndjson")
    answer["Content-Disposition"] = 'attachment; filename="audit.jsonl"'
    return answer
