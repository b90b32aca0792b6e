"""The pages of the custodian: grants and purges, with their forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from sfumato.review.review_settings import NO_LIMIT
from sfumato.server.accounts.forms import Budget
from sfumato.server.accounts.views import of_project
from sfumato.server.custodian import project_grants
from sfumato.server.custodian.project_grants import limit, purge
from sfumato.server.permissions import Action
from sfumato.server.store.models import Account, Allowance, Grant, GrantKind, Project, ProjectState


def new_budget() -> Budget:
    """The field for a budget that is raised."""
    help_text = f"From 0 to 1, higher than it is now; or: {NO_LIMIT}."
    return Budget("New budget (KAPR)", help_text)


class WorkerBudgetForm(forms.Form):
    """A higher budget for a worker."""

    def __init__(self, project: Project, data: Any = None) -> None:
        super().__init__(data, prefix="worker")
        allowances = Allowance.objects.filter(project=project, budget__isnull=False)
        budgets = dict(allowances.values_list("worker", "budget"))
        workers = Account.objects.filter(pk__in=list(budgets)).order_by("name")
        self.fields["worker"] = forms.ModelChoiceField(
            label="Worker", queryset=workers, to_field_name="pseudonym", empty_label=None
        )
        self.fields["budget"] = new_budget()
        self.fields["worker"].label_from_instance = lambda account: (
            f"{account.name}: {limit(budgets.get(account.pk))} now"
        )


class ProjectBudgetForm(forms.Form):
    """A higher budget for all workers together."""

    prefix = "project"
    budget = new_budget()


class KForm(forms.Form):
    """A lower k."""

    prefix = "lower"

    def __init__(self, k: int, data: Any = None) -> None:
        super().__init__(data)
        self.fields["k"] = forms.IntegerField(
            label="New k",
            min_value=1,
            # The field must be valid where k is 1 already and no lower one exists.
            max_value=max(1, k - 1),
            help_text=f"It is {k} now. Rows may then be left with fewer records like theirs.",
        )


class IdentityExportForm(forms.Form):
    """One export of identities."""

    prefix = "export"
    hours = forms.IntegerField(
        label="Hours for which it holds", min_value=1, max_value=24 * 14, initial=24
    )


class PurgeForm(forms.Form):
    """The title of the project, typed by whoever destroys it."""

    typed = forms.CharField(
        label="Title of the project",
        max_length=200,
        help_text="Type it as it stands above.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, title: str, data: Any = None) -> None:
        super().__init__(data)
        self._title = title

    def clean_typed(self) -> str:
        """The title, if it is this project's.

        Raises
        ------
        ValidationError
            If it is not.
        """
        typed = str(self.cleaned_data["typed"])
        if typed.strip() != self._title.strip():
            raise forms.ValidationError("This is not the project's title.")
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
        "k": project.settings["k"],
        "project_budget": limit(project.settings.get(project_grants.PROJECT_BUDGET)),
        "can_raise_project": project.settings.get(project_grants.PROJECT_BUDGET) is not None,
        "can_raise_worker": Allowance.objects.filter(
            project=project, budget__isnull=False
        ).exists(),
        "open": project.state == ProjectState.OPEN,
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
    messages.success(request, "The grant is revoked.")
    return redirect("grants", project_id=project.pk)


def _forms(project: Project, asked: str, data: Any) -> Forms:
    """All forms, the one that was sent with what was entered."""
    made: dict[str, Callable[[Any], forms.Form]] = {
        "worker": lambda entered: WorkerBudgetForm(project, entered),
        "project": ProjectBudgetForm,
        "k": lambda entered: KForm(project.settings["k"], entered),
        "export": IdentityExportForm,
    }
    return {name: make(data if name == asked else None) for name, make in made.items()}


def _worker(request: HttpRequest, project: Project, given: Forms) -> str:
    project_grants.raise_budget(request.user, project.pk, given["worker"], given["budget"])
    return f"The budget of {given['worker'].name} is {limit(given['budget'])} now."


def _project(request: HttpRequest, project: Project, given: Forms) -> str:
    project_grants.raise_project_budget(request.user, project.pk, given["budget"])
    return f"The budget of the project is {limit(given['budget'])} now."


def _k(request: HttpRequest, project: Project, given: Forms) -> str:
    project_grants.lower_k(request.user, project.pk, given["k"])
    return f"k is {given['k']} now."


def _export(request: HttpRequest, project: Project, given: Forms) -> str:
    grant = project_grants.allow_identity_export(request.user, project.pk, given["hours"])
    until = f"{grant.expires:%Y-%m-%d %H:%M} UTC"
    return f"{project.manager.name} may export identities once, until {until}."


_GRANT: dict[str, Callable[[HttpRequest, Project, Forms], str]] = {
    "worker": _worker,
    "project": _project,
    "k": _k,
    "export": _export,
}


def _grant_in_words(grant: Grant) -> str:
    """What was granted, in words."""
    if grant.kind == GrantKind.IDENTITY_EXPORT:
        return f"one export of identities, until {grant.expires:%Y-%m-%d %H:%M} UTC"
    before, after = grant.detail[project_grants.BEFORE], grant.detail[project_grants.AFTER]
    if grant.kind == GrantKind.K:
        return f"k from {before} to {after}"
    whose = grant.to.name if grant.to else "the project"
    return f"budget of {whose} from {limit(before)} to {limit(after)}"


@require_http_methods(["GET", "POST"])
@of_project(Action.PURGE_PROJECT, fresh_from="")
def purge_page(request: HttpRequest, project: Project) -> HttpResponse:
    """Destroy a project, after its title was typed."""
    form = PurgeForm(project.title, request.POST or None)
    if request.method == "POST" and form.is_valid():
        purge(request.user, project.pk)
        messages.success(request, "The project is purged. Its data cannot be read any more.")
        return redirect("/projects")
    return render(request, "custodian/purge.html", {"project": project, "form": form})
