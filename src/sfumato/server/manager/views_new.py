"""Create a project: upload, look at what is proposed and at five masked pairs, create."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_POST

from sfumato.core.declaration import silent
from sfumato.core.errors import InputError
from sfumato.review.review_forecast import outlook
from sfumato.review.review_project import index_of, review_of
from sfumato.review.review_settings import PROPOSED, Attribute, Settings
from sfumato.server.accounts.views import allowed
from sfumato.server.error_pages import problem
from sfumato.server.live.new_projects import make_project
from sfumato.server.manager import forms as entered
from sfumato.server.manager import uploads
from sfumato.server.manager.dealing import keep_linkage
from sfumato.server.permissions import Action

_TOO_LARGE = (
    f"Files of {uploads.MOST_BYTES >> 20} MiB together can be uploaded. A person who runs "
    "the server can make a project of larger ones: sfumato review create."
)


@csrf_exempt
@require_http_methods(["GET", "POST"])
@allowed(Action.CREATE_PROJECT)
def new(request: HttpRequest) -> HttpResponse:
    """Upload the files of a linkage, or two tables.

    Files are received into memory; that must be said before the request is read, and so before
    Django's middleware checks where it comes from: the inner view has that check.
    """
    # Before anything reads the request: handlers cannot be changed after that.
    handler = uploads.InMemory(request)
    request.upload_handlers = [handler]
    answer: HttpResponse = _new(request)
    return problem(request, 413, _TOO_LARGE) if handler.too_large else answer


@csrf_protect
def _new(request: HttpRequest) -> HttpResponse:
    kinds: dict[str, type[Any]] = {"linkage": entered.LinkageForm, "tables": entered.TablesForm}
    forms: dict[str, Any] = {name: kind(prefix=name) for name, kind in kinds.items()}
    asked = request.POST.get("kind", "") if request.method == "POST" else ""
    if asked in kinds:
        form = forms[asked] = kinds[asked](request.POST, request.FILES, prefix=asked)
        if form.is_valid():
            upload = form.cleaned_data["upload"]
            try:
                uploads.propose(upload)
            except InputError as error:
                form.add_error(None, f"{error} {_advice(upload, error)}".strip())
            else:
                uploads.keep_upload(request.session, upload)
                return redirect("new_settings")
    context = {"forms": forms, "most": uploads.MOST_BYTES >> 20}
    return render(request, "manager/new.html", context, status=400 if asked else 200)


@require_http_methods(["GET", "POST"])
@allowed(Action.CREATE_PROJECT)
def settings_page(request: HttpRequest) -> HttpResponse:
    """What is shown, by which rules, and what they would do. Nothing is stored yet."""
    upload = uploads.kept_upload(request.session)
    if upload is None:
        messages.warning(request, "Upload the files again: they are kept for one hour.")
        return redirect("new")
    proposal = uploads.propose(upload)
    data = request.POST if request.method == "POST" else None
    columns = [
        entered.AttributeForm(
            attribute, shown=attribute.name in proposal.shown, data=data, number=number
        )
        for number, attribute in enumerate(proposal.attributes)
    ]
    rules = entered.RulesForm(request.user, data)
    valid = data is None or all([*(column.is_valid() for column in columns), rules.is_valid()])
    # Looking does not create: what the rules would do has to be seen first.
    create = data is not None and data.get("go") == "create"
    seen = create and valid and _was_shown(request, columns, rules)
    if seen:
        try:
            return _created(request, upload, columns, rules)
        except InputError as error:
            rules.add_error(None, str(error))
    # A title is asked for only when the project is made.
    if data is not None and not create:
        rules.errors.pop("title", None)
    context = {
        "proposal": proposal,
        "linkage": upload.kind == uploads.LINKAGE,
        "columns": columns,
        "rules": rules,
        "to_look_at": create and valid and not seen,
        **_foreseen(upload, proposal, columns, rules),
    }
    wrong = create and (seen or not valid)
    return render(request, "manager/settings.html", context, status=400 if wrong else 200)


@require_POST
@allowed(Action.CREATE_PROJECT)
def cancel(request: HttpRequest) -> HttpResponse:
    """Give an upload up."""
    uploads.drop_upload(request.session)
    messages.success(request, "The files were removed; nothing was stored.")
    return redirect("projects")


def _advice(upload: uploads.Upload, error: InputError) -> str:
    """What to do where pairs name no records: mostly the column of ids was not recognised."""
    if upload.kind == uploads.LINKAGE or "must name records" not in error.rule:
        return ""
    return "Name the column of ids, if the tables have one with another header."


def _foreseen(
    upload: uploads.Upload,
    proposal: uploads.Proposal,
    columns: list[entered.AttributeForm],
    rules: entered.RulesForm,
) -> dict[str, Any]:
    """Masked pairs with what is entered so far, and what the rules would do to all; or why not."""
    settings: Settings | None = PROPOSED
    if not rules.is_bound:
        attributes = tuple(
            attribute for attribute in proposal.attributes if attribute.name in proposal.shown
        )
    elif all(column.is_valid() for column in columns):
        attributes = entered.attributes_of_forms(columns)
        settings = rules.cleaned_data.get("settings")
    else:
        return {"reason": "Correct the columns first."}
    if not 0 < len(attributes) <= entered.MOST_SHOWN:
        return {"reason": f"Show one column at least, and {entered.MOST_SHOWN} at most."}
    under = settings or PROPOSED
    try:
        project = uploads.build(upload, attributes, under)
        review = review_of(project, under, index_of(project, under, silent))
    except InputError as error:
        return {"reason": str(error)}
    # The same seed, so that a change of rules shows in the same pairs.
    rng = np.random.default_rng(upload.seed)
    found: dict[str, Any] = {"pairs": uploads.preview(review, rng)}
    if settings is not None:
        found |= {
            "outlook": outlook(review, rng),
            "total": review.pairs,
            "under": settings,
            "seen": _digest(attributes, settings),
        }
    return found


def _was_shown(
    request: HttpRequest, columns: list[entered.AttributeForm], rules: entered.RulesForm
) -> bool:
    """Whether what these columns and rules would do is what the page showed."""
    asked = _digest(entered.attributes_of_forms(columns), rules.cleaned_data["settings"])
    return request.POST.get("seen") == asked


def _digest(attributes: Sequence[Attribute], settings: Settings) -> str:
    """Which columns and rules it was that the manager was shown the effect of."""
    said = repr([each.model_dump(mode="json") for each in (*attributes, settings)])
    return hashlib.sha256(said.encode()).hexdigest()


def _created(
    request: HttpRequest,
    upload: uploads.Upload,
    columns: list[entered.AttributeForm],
    rules: entered.RulesForm,
) -> HttpResponse:
    given = rules.cleaned_data
    attributes = entered.attributes_of_forms(columns)
    if not 0 < len(attributes) <= entered.MOST_SHOWN:
        raise InputError(
            "the columns shown", f"must be one at least and {entered.MOST_SHOWN} at most"
        )
    project = uploads.build(upload, attributes, given["settings"])
    made = make_project(
        project,
        title=given["title"],
        custodian=given["custodian"],
        manager=request.user,
        page_size=given["page_size"],
        overlap=given["overlap"],
        gold_share=given["gold_share"],
    )
    if upload.kind == uploads.LINKAGE:
        keep_linkage(made, upload.files)
    # At last: if the project could not be made, the files need not be sent again.
    uploads.drop_upload(request.session)
    messages.success(
        request,
        "The project is made. Its queue opens once its custodian accepts the rules.",
    )
    return redirect(reverse("manage", args=[made.pk]))
