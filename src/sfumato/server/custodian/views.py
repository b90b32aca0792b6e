"""The pages of the custodian: grants and purges, with their forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from sfumato.server.accounts.forms import Budget
from sfumato.server.accounts.sessions import last_reset
from sfumato.server.accounts.views import of_project
from sfumato.server.custodian import project_grants
from sfumato.server.custodian.project_grants import limit, purge
from sfumato.server.permissions import Action
from sfumato.server.store.models import Account, Allowance, Grant, GrantKind, Project, ProjectState


class WorkerBudgetForm(forms.Form):
    """A higher budget for a worker."""

    def __init__(self, project: Project, data: Any = None) -> None:
        super().__init__(data, prefix="worker")
        allowances = Allowance.objects.filter(project=project, budget__isnull=False)
        budgets = dict(allowances.values_list("worker", "budget"))
        workers = Account.objects.filter(pk__in=list(budgets)).order_by("name")
        self.fields["worker"] = forms.ModelChoiceField(
            label=_("Worker"), queryset=workers, to_field_name="pseudonym", empty_label=None
        )
        self.fields["budget"] = Budget(
            _("New budget (KAPR)"), _("From 0 to 1, higher than it is now; or: {word}.")
        )
        self.fields["worker"].label_from_instance = lambda account: _(
            "{name}: {budget} now"
        ).format(name=account.name, budget=limit(budgets.get(account.pk)))


class IdentityExportForm(forms.Form):
    """One export of identities."""

    prefix = "export"
    hours = forms.IntegerField(
        label=gettext_lazy("Hours for which it holds"), min_value=1, max_value=24 * 14, initial=24
    )


class PurgeForm(forms.Form):
    """The title of the project, typed by whoever destroys it."""

    typed = forms.CharField(
        label=gettext_lazy("Title of the project"),
        max_length=200,
        help_text=gettext_lazy("Type it as it stands above."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, title: str, data: Any = None) -> None:
        super().__init__(data)
        self._title = title

    def clean_typed(self) -> str:
        """The title, if it is this project's."""
        typed = str(self.cleaned_data["typed"])
        if typed.strip() != self._title.strip():
            raise forms.ValidationError(_("This is not the project's title."))
        return typed


Forms = dict[str, Any]


@require_http_methods(["GET", "POST"])
@of_project(Action.GRANT, fresh_from="")
def grants_page(request: HttpRequest, project: Project) -> HttpResponse:
    """What is granted in a project, and forms to grant more."""
    asked = request.POST.get("grant", "") if request.method == "POST" else ""
    shown = _forms(project, asked, request.POST)
    form = shown.get(asked)
    if form is not None and form.is_valid():
        messages.success(request, _GRANT[asked](request, project, form.cleaned_data))
        return redirect(request.path)
    given = project.grants.select_related("to", "by").order_by("-created")
    context = {
        "project": project,
        "forms": shown,
        "can_raise_worker": Allowance.objects.filter(
            project=project, budget__isnull=False
        ).exists(),
        "open": project.state == ProjectState.OPEN,
        "reset": last_reset(project.manager),
        "given": [
            (each, _grant_in_words(each), project_grants.is_revocable(each)) for each in given
        ],
    }
    return render(request, "custodian/grants.html", context)


@require_POST
@of_project(Action.GRANT, fresh_from="grants")
def revoke_page(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    """Take a grant back."""
    project_grants.revoke(request.user, project.pk, number)
    messages.success(request, _("The grant is revoked."))
    return redirect("grants", project_id=project.pk)


def _forms(project: Project, asked: str, data: Any) -> Forms:
    """All forms, the one that was sent with what was entered."""
    made: dict[str, Callable[[Any], forms.Form]] = {
        "worker": lambda entered: WorkerBudgetForm(project, entered),
        "export": IdentityExportForm,
        "reset": forms.Form,
    }
    return {name: make(data if name == asked else None) for name, make in made.items()}


def _worker(request: HttpRequest, project: Project, given: Forms) -> str:
    project_grants.raise_budget(request.user, project.pk, given["worker"], given["budget"])
    return _("The budget of {name} is {budget} now.").format(
        name=given["worker"].name, budget=limit(given["budget"])
    )


def _export(request: HttpRequest, project: Project, given: Forms) -> str:
    grant = project_grants.allow_identity_export(request.user, project.pk, given["hours"])
    return _("{name} may export identities once, until {time} UTC.").format(
        name=project.manager.name, time=f"{grant.expires:%Y-%m-%d %H:%M}"
    )


def _reset(request: HttpRequest, project: Project, _given: Forms) -> str:
    project_grants.confirm_reset(request.user, project.pk)
    return _("{name} may export.").format(name=project.manager.name)


_GRANT: dict[str, Callable[[HttpRequest, Project, Forms], str]] = {
    "worker": _worker,
    "export": _export,
    "reset": _reset,
}


_EXPORTS: dict[str, str] = {
    GrantKind.IDENTITY_EXPORT: gettext_lazy("one export of identities, until {time} UTC"),
    GrantKind.RESET: gettext_lazy("exports after a reset of the password, until {time} UTC"),
}


def _grant_in_words(grant: Grant) -> str:
    """What was granted, in words."""
    if grant.kind in _EXPORTS:
        return str(_EXPORTS[grant.kind]).format(time=f"{grant.expires:%Y-%m-%d %H:%M}")
    before, after = grant.detail[project_grants.BEFORE], grant.detail[project_grants.AFTER]
    if grant.kind == GrantKind.K:
        return _("k from {before} to {after}").format(before=before, after=after)
    whose = grant.to.name if grant.to else _("the project")
    return _("budget of {whose} from {before} to {after}").format(
        whose=whose, before=limit(before), after=limit(after)
    )


@require_http_methods(["GET", "POST"])
@of_project(Action.PURGE_PROJECT, fresh_from="")
def purge_page(request: HttpRequest, project: Project) -> HttpResponse:
    """Destroy a project, after its title was typed."""
    form = PurgeForm(project.title, request.POST or None)
    if request.method == "POST" and form.is_valid():
        purge(request.user, project.pk)
        messages.success(request, _("The project is purged. Its data cannot be read any more."))
        return redirect("/projects")
    return render(request, "custodian/purge.html", {"project": project, "form": form})
