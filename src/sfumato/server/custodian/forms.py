"""The forms of a custodian."""

from __future__ import annotations

from typing import Any

from django import forms

from sfumato.server.store.models import Account, Allowance, Project


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
    """A higher budget for a worker.

    Parameters
    ----------
    project
        The project.
    data
        What was entered.
    """

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
    data
        What was entered.
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
    """The title of the project, typed by whoever destroys it.

    Parameters
    ----------
    title
        The title.
    data
        What was entered.
    """

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
