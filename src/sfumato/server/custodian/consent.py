"""Rules of a project, which its manager proposes and its custodian accepts or declines.

Nothing is dealt, shown or charged but under rules that were accepted; other rules are another
proposal. Each step is an entry of the audit log, and what counts is the entry.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from sfumato.review.review_settings import NO_LIMIT, Settings
from sfumato.server.accounts.forms import Budget
from sfumato.server.accounts.views import of_project
from sfumato.server.audit_log import append
from sfumato.server.custodian.project_grants import set_budget, settings_in_words
from sfumato.server.error_pages import Stop
from sfumato.server.live.live_projects import locked
from sfumato.server.permissions import Action
from sfumato.server.proofs import check_stated, is_consented
from sfumato.server.stated_rows import Stated, stated
from sfumato.server.store.models import Account, Allowance, Project, Proposal, ProposalState

_PROPOSED = ("k", "budget", "project_budget")
"""Rules that may change while a project is open; what else was shown would be of other ones."""
_STATES = {
    ProposalState.OPEN: gettext_lazy("open"),
    ProposalState.ACCEPTED: gettext_lazy("accepted"),
    ProposalState.DECLINED: gettext_lazy("declined"),
    ProposalState.WITHDRAWN: gettext_lazy("withdrawn"),
    ProposalState.REPLACED: gettext_lazy("replaced"),
}
LONGEST_REASON = Proposal._meta.get_field("reason").max_length  # noqa: SLF001 - as Django has it


def propose(by: Account, project_id: UUID, **changes: Any) -> Proposal:
    """Propose other rules of a project, in place of a proposal that is open.

    Parameters
    ----------
    **changes
        By name, the settings that are to be others than now.
    """
    with locked(by, Action.PROPOSE, project_id) as project:
        check_stated(project, "settings")
        rules = Settings.model_validate({**project.settings, **changes}).model_dump(mode="json")
        last = project.proposals.order_by("pk").last()
        rows = _replaced(project, ProposalState.OPEN)
        proposal = Proposal.objects.create(
            project=project,
            by=by,
            to=project.custodian,
            rules=rules,
            about=last.about if last else {},
        )
        where = f"project {project_id}/proposal {proposal.pk}"
        append(by, "propose rules", where, {"rules": rules}, rows=[*rows, stated(proposal)])
        return proposal


def answer(
    by: Account, project_id: UUID, number: int, *, accepts: bool, reason: str = ""
) -> Proposal:
    """Accept a proposal, decline it, or withdraw from one that was accepted.

    Parameters
    ----------
    number
        Its key.
    reason
        Why it is declined or withdrawn.
    """
    with locked(by, Action.CONSENT, project_id) as project:
        proposals = Proposal.objects.select_for_update(no_key=True)
        proposal = proposals.filter(project=project, pk=number).first()
        if proposal is None:
            raise Stop(404, _("There is no such proposal."))
        check_stated(proposal)
        holds = proposal.pk == project.consent
        if proposal.state != ProposalState.OPEN and (accepts or not holds):
            raise Stop(409, _("This proposal is answered, or another took its place. Look again."))
        if not accepts and not reason:
            raise Stop(409, _("Say why."))
        if accepts:
            rows, done = _accepted(project, proposal), ProposalState.ACCEPTED
        elif holds:
            rows, done = _set(project, consent=None), ProposalState.WITHDRAWN
        else:
            rows, done = [], ProposalState.DECLINED
        proposal.state, proposal.reason, proposal.answered = done, reason, timezone.now()
        proposal.save(update_fields=["state", "reason", "answered"])
        rows.append(stated(proposal, "state", "reason", "answered"))
        append(by, f"{done} rules", f"project {project_id}/proposal {number}", rows=rows)
        return proposal


def _accepted(project: Project, proposal: Proposal) -> list[Stated]:
    """The rules hold from now on, and so does the budget of workers who have that of before."""
    before, rules = project.settings, proposal.rules
    rows = _replaced(project, ProposalState.ACCEPTED)
    if before.get("budget") != rules.get("budget"):
        mine = Allowance.objects.select_for_update().filter(project=project)
        for allowance in mine.filter(budget=before.get("budget")):
            check_stated(allowance)
            rows.append(set_budget(allowance, rules.get("budget")))
    return [*rows, *_set(project, settings=rules, consent=proposal.pk)]


def _set(project: Project, **values: Any) -> list[Stated]:
    check_stated(project, "settings", "consent")
    for name, value in values.items():
        setattr(project, name, value)
    project.save(update_fields=list(values))
    return [stated(project, *values)]


def _replaced(project: Project, state: ProposalState) -> list[Stated]:
    """Let the proposals that are in a state give way to another one."""
    rows = []
    for proposal in Proposal.objects.select_for_update(no_key=True).filter(
        project=project, state=state
    ):
        check_stated(proposal)
        proposal.state = ProposalState.REPLACED
        proposal.save(update_fields=["state"])
        rows.append(stated(proposal, "state"))
    return rows


class ProposalForm(forms.Form):
    """Other rules."""

    k = forms.IntegerField(
        label=gettext_lazy("k: the minimum allowed anonymity-set size"),
        min_value=1,
        max_value=1_000_000,
    )
    budget = Budget(gettext_lazy("Budget of each worker (KAPR)"))
    project_budget = Budget(gettext_lazy("Budget of the project (KAPR)"))


class ReasonForm(forms.Form):
    """Why rules are declined or withdrawn."""

    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=LONGEST_REASON,
        help_text=gettext_lazy("The manager reads it. No value of a record."),
    )


@require_http_methods(["GET", "POST"])
@of_project(Action.PROPOSE)
def rules_page(request: HttpRequest, project: Project) -> HttpResponse:
    """The rules that hold, what was proposed, and a form to propose others."""
    now = {name: project.settings.get(name) for name in _PROPOSED}
    initial = {name: NO_LIMIT if value is None else value for name, value in now.items()}
    form = ProposalForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        propose(request.user, project.pk, **form.cleaned_data)
        messages.success(
            request,
            _("Proposed to {name}, who is to accept it.").format(name=project.custodian.name),
        )
        return redirect(request.path)
    return _page(request, project, {"form": form, "proposes": True})


@require_http_methods(["GET", "POST"])
@of_project(Action.CONSENT, fresh_from="")
def consent_page(request: HttpRequest, project: Project) -> HttpResponse:
    """The rules that are proposed, to be accepted or declined; consent to be withdrawn."""
    accepts = request.POST.get("do") == "accept"
    form = ReasonForm(None if accepts or request.method == "GET" else request.POST)
    if accepts or form.is_valid():
        try:
            number = int(request.POST.get("proposal", ""))
        except ValueError:
            raise Stop(400, _("The proposal must be a number.")) from None
        reason = "" if accepts else form.cleaned_data["reason"]
        done = answer(request.user, project.pk, number, accepts=accepts, reason=reason)
        messages.success(request, _("The rules are {state}.").format(state=_STATES[done.state]))
        return redirect(request.path)
    return _page(request, project, {"form": form, "proposes": False})


def _page(request: HttpRequest, project: Project, context: dict[str, Any]) -> HttpResponse:
    given = list(project.proposals.order_by("-pk").select_related("by", "to"))
    for proposal in given:
        check_stated(proposal)
        proposal.told = _STATES[proposal.state]
    open_one = next((each for each in given if each.state == ProposalState.OPEN), None)
    consented = is_consented(project)
    held = next((each for each in given if consented and each.pk == project.consent), None)
    named = dict(settings_in_words(held.rules)) if held else {}
    asked = open_one or held
    context |= {
        "project": project,
        "given": given,
        "open_one": open_one,
        "held": held,
        "asked": asked,
        "rules": [
            (name, value, named.get(name, ""))
            for name, value in (settings_in_words(asked.rules) if asked else ())
        ],
    }
    wrong = context["form"].errors
    return render(request, "custodian/rules.html", context, status=400 if wrong else 200)
