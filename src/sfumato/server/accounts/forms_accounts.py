"""The forms with which a custodian invites, and changes what others may do."""

from __future__ import annotations

from django import forms
from django.db.models import QuerySet

from sfumato.server.accounts.forms import Name
from sfumato.server.accounts.links import INVITATION_DAYS
from sfumato.server.store.models import Account, Project, ProjectState, Role

DUTIES = {
    Role.CUSTODIAN: "owns data: grants, purges, keeps accounts",
    Role.MANAGER: "creates projects and deals the work",
    Role.WORKER: "decides pairs",
    Role.AUDITOR: "reads the audit log",
}
"""What each role is for."""


class Roles(forms.MultipleChoiceField):
    """Roles, each with a box to tick."""

    def __init__(self) -> None:
        super().__init__(
            label="Roles",
            choices=[(str(role), f"{role}: {duty}") for role, duty in DUTIES.items()],
            widget=forms.CheckboxSelectMultiple,
            error_messages={"required": "Tick one role at least."},
        )


class RolesForm(forms.Form):
    """What somebody may be."""

    roles = Roles()


class InviteForm(RolesForm):
    """An invitation.

    Parameters
    ----------
    custodian
        Who invites; the projects are those of their data.
    data
        What was entered.
    """

    days = forms.IntegerField(
        label="Days for which the link works", min_value=1, max_value=90, initial=INVITATION_DAYS
    )

    def __init__(self, custodian: Account, data: object = None) -> None:
        super().__init__(data)
        self.fields["project"] = forms.ModelChoiceField(
            label="Project to take part in",
            queryset=_open_projects(custodian),
            required=False,
            empty_label="none",
        )
        self.fields["project"].label_from_instance = _title


class NamedAccountForm(RolesForm):
    """An account without a password, for somebody whom the organisation's login names."""

    name = Name("Name, as the organisation's login gives it")
    field_order = ("name", "roles")

    def clean_name(self) -> str:
        """The name, if nobody has it.

        Raises
        ------
        ValidationError
            If somebody has.
        """
        name = str(self.cleaned_data["name"])
        if Account.objects.filter(name=name).exists():
            raise forms.ValidationError("Somebody has this name.")
        return name


def _open_projects(custodian: Account) -> QuerySet[Project]:
    return Project.objects.filter(custodian=custodian, state=ProjectState.OPEN).order_by("title")


def _title(project: Project) -> str:
    return str(project.title)
