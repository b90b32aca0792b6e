"""The forms with which a manager deals work and invites workers."""

from __future__ import annotations

from typing import Any

from django import forms

from sfumato.server.accounts.links import INVITATION_DAYS
from sfumato.server.store.models import Account, Dealt, Project, Role


def workers_for(project: Project) -> list[Account]:
    """Those who may get pairs: every worker but the manager, who resolves conflicts.

    Parameters
    ----------
    project
        The project.
    """
    active = Account.objects.filter(is_active=True).exclude(pk=project.manager_id).order_by("name")
    return [each for each in active if each.has_role(Role.WORKER)]


class Workers(forms.ModelMultipleChoiceField):
    """Workers, each with a box to tick.

    Parameters
    ----------
    workers
        Who may be ticked.
    label
        What stands above.
    """

    def __init__(self, workers: list[Account], label: str) -> None:
        super().__init__(
            label=label,
            queryset=Account.objects.filter(pk__in=[each.pk for each in workers]).order_by("name"),
            to_field_name="pseudonym",
            widget=forms.CheckboxSelectMultiple,
            error_messages={"required": "Tick one worker at least."},
        )

    def label_from_instance(self, obj: Account) -> str:
        """The name.

        Parameters
        ----------
        obj
            The worker.
        """
        return str(obj.name)


class DealForm(forms.Form):
    """Who gets pairs, and how.

    Parameters
    ----------
    project
        The project.
    data
        What was entered.
    """

    overlap = forms.IntegerField(
        label="Workers who decide each pair",
        min_value=1,
        max_value=20,
        help_text="With two or more, agreement can be told, and conflicts show.",
    )
    gold_share = forms.FloatField(
        label="Share of gold pairs",
        min_value=0.0,
        max_value=0.5,
        help_text="Of all pairs that a worker gets; it needs pairs of known truth.",
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    together = forms.BooleanField(
        label="Pairs that share a record go to the same workers",
        required=False,
        help_text="Fewer workers see a record, but those see it oftener.",
    )

    def __init__(self, project: Project, data: Any = None) -> None:
        workers = workers_for(project)
        super().__init__(
            data,
            initial={
                "workers": [each.pseudonym for each in workers],
                "overlap": project.overlap,
                "gold_share": round(project.gold_share, 4),
            },
        )
        self.fields["workers"] = Workers(workers, "Workers")
        self.order_fields(["workers"])


class TakeBackForm(forms.Form):
    """From whom the undecided pairs are taken, and who gets them.

    Parameters
    ----------
    project
        The project.
    data
        What was entered.
    """

    def __init__(self, project: Project, data: Any = None) -> None:
        super().__init__(data, prefix="back")
        holders = Dealt.objects.filter(project=project, taken_back__isnull=True, answer=0)
        self.fields["worker"] = forms.ModelChoiceField(
            label="Undecided pairs of",
            queryset=Account.objects.filter(pk__in=holders.values("worker")).order_by("name"),
            to_field_name="pseudonym",
            empty_label=None,
        )
        self.fields["worker"].label_from_instance = lambda account: account.name
        self.fields["others"] = Workers(workers_for(project), "Give them to")
        self.fields["others"].required = False
        self.fields["others"].help_text = "Nobody ticked: they wait until you deal again."


class InviteWorkerForm(forms.Form):
    """An invitation to work on a project."""

    days = forms.IntegerField(
        label="Days for which the link works", min_value=1, max_value=90, initial=INVITATION_DAYS
    )
