"""The pages of the custodian: grants and purges, with their forms."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from sfumato.server.accounts.views import require_fresh
from sfumato.server.custodian import project_grants
from sfumato.server.custodian.project_grants import purge
from sfumato.server.error_pages import problem
from sfumato.server.live.live_projects import Stop
from sfumato.server.permissions import Action, decide
from sfumato.server.store.models import Account, Allowance, Grant, GrantKind, Project, ProjectState


class Budget(forms.FloatField):
    """A share of KAPR; empty for no limit."""

    def __init__(self) -> None:
        super().__init__(
            label="New budget (KAPR)",
            min_value=0.0,
            max_value=1.0,
            required=False,
            help_text="From 0 to 1, higher than it is now. Empty for no limit.",
            widget=forms.NumberInput(attrs={"step": "any"}),
        )


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
        self.fields["budget"] = Budget()
        self.fields["worker"].label_from_instance = lambda account: (
            f"{account.name}: {limit(budgets.get(account.pk))} now"
        )


class ProjectBudgetForm(forms.Form):
    """A higher budget for all workers together."""

    prefix = "project"
    budget = Budget()


class KForm(forms.Form):
    """A lower k.

    Parameters
    ----------
    k
        The present one.
    """

    prefix = "lower"

    def __init__(self, k: int, data: Any = None) -> None:
        super().__init__(data)
        self.fields["k"] = forms.IntegerField(
            label="New k",
            min_value=1,
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


def limit(budget: float | None) -> str:
    """A budget in words.

    Parameters
    ----------
    budget
        KAPR, ``None`` for no limit.
    """
    return "no limit" if budget is None else f"{budget:g}"


View = Callable[..., HttpResponse]


def projects_view(action: Action, back: str = "") -> Callable[[View], View]:
    """A view that gets the project, for somebody who may do something with it and is fresh.

    Who does not take part in the project does not get to know that there is one.

    Parameters
    ----------
    back
        Name of the project's page to come back to after the proof, where the view is none.
    """

    def decorator(view: View) -> View:
        @wraps(view)
        @require_fresh(back=back)
        def guarded(
            request: HttpRequest, project_id: UUID, *args: Any, **kwargs: Any
        ) -> HttpResponse:
            project = Project.objects.filter(pk=project_id).first()
            if project is None or not decide(request.user, Action.SEE_PROJECT, project).allowed:
                return problem(request, 404)
            permission = decide(request.user, action, project)
            if not permission.allowed:
                return problem(request, 403, permission.reason)
            return view(request, project, *args, **kwargs)

        return guarded

    return decorator


Forms = dict[str, Any]


@require_http_methods(["GET", "POST"])
@projects_view(Action.GRANT)
def grants_page(request: HttpRequest, project: Project) -> HttpResponse:
    """What is granted in a project, and forms to grant more."""
    asked = request.POST.get("grant", "") if request.method == "POST" else ""
    shown = _forms(project, asked, request.POST)
    form = shown.get(asked)
    if form is not None and form.is_valid():
        try:
            messages.success(request, _GRANT[asked](request, project, form.cleaned_data))
        except Stop as error:
            return problem(request, error.status, error.reason)
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
        "given": [(each, _told(each), project_grants.is_revocable(each)) for each in given],
    }
    return render(request, "custodian/grants.html", context)


@require_POST
@projects_view(Action.GRANT, back="grants")
def revoke_page(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    """Take a grant back.

    Parameters
    ----------
    number
        Number of the grant.
    """
    try:
        project_grants.revoke(request.user, project.pk, number)
    except Stop as error:
        return problem(request, error.status, error.reason)
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


def _told(grant: Grant) -> str:
    """What was granted, in words."""
    if grant.kind == GrantKind.IDENTITY_EXPORT:
        return f"one export of identities, until {grant.expires:%Y-%m-%d %H:%M} UTC"
    before, after = grant.detail[project_grants.BEFORE], grant.detail[project_grants.AFTER]
    if grant.kind == GrantKind.K:
        return f"k from {before} to {after}"
    whose = grant.to.name if grant.to else "the project"
    return f"budget of {whose} from {limit(before)} to {limit(after)}"


@require_http_methods(["GET", "POST"])
@projects_view(Action.PURGE_PROJECT)
def purge_page(request: HttpRequest, project: Project) -> HttpResponse:
    """Destroy a project, after its title was typed."""
    form = PurgeForm(project.title, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            purge(request.user, project.pk)
        except Stop as error:
            return problem(request, error.status, error.reason)
        messages.success(request, "The project is purged. Nobody can read its data any more.")
        return redirect("/projects")
    return render(request, "custodian/purge.html", {"project": project, "form": form})
