"""The forms of accounts."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.password_validation import validate_password
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from sfumato.review.review_settings import NO_LIMIT
from sfumato.server.accounts.backend import LONGEST_NAME, LONGEST_PASSWORD, plain_name
from sfumato.server.accounts.sessions import INVITATION_DAYS
from sfumato.server.config import Role
from sfumato.server.store.models import Account, Project, ProjectState

NEW_RULE = _("At least 12 characters; a sentence is easy to keep in mind.")


class Name(forms.CharField):
    """A name to log in with."""

    def __init__(self, label: str = _("Name")) -> None:
        super().__init__(
            label=label,
            min_length=2,
            max_length=LONGEST_NAME,
            widget=forms.TextInput(attrs={"autocomplete": "username", "spellcheck": "false"}),
        )

    def clean(self, value: Any) -> str:
        """The name as it is stored."""
        return plain_name(super().clean(value))


class NewName(Name):
    """A name that nobody has yet; ``taken`` is said where somebody does."""

    def __init__(self, taken: str, label: str = _("Name")) -> None:
        super().__init__(label)
        self._taken = taken

    def clean(self, value: Any) -> str:
        """The name as it is stored."""
        name = super().clean(value)
        if Account.objects.filter(name=name).exists():
            raise forms.ValidationError(self._taken)
        return name


class Password(forms.CharField):
    """A password, as it was typed."""

    def __init__(self, label: str, *, new: bool = False, help_text: str = "") -> None:
        attrs = {"autocomplete": "new-password" if new else "current-password"}
        super().__init__(
            label=label,
            # Blanks are part of a password, at its ends, too.
            strip=False,
            max_length=LONGEST_PASSWORD,
            help_text=help_text,
            widget=forms.PasswordInput(attrs=attrs),
        )


class Code(forms.CharField):
    """A code of an authenticator app."""

    def __init__(self) -> None:
        super().__init__(
            label=_("Code"),
            max_length=20,
            help_text=_("Six digits from your app, or a recovery code. Each works once."),
            widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "class": "mono"}),
        )


class Budget(forms.FloatField):
    """A share of KAPR, ``None`` for no limit.

    No limit is asked for in words: a field that somebody forgot must not lift one.
    """

    def __init__(self, label: str, help_text: str = _("From 0 to 1, or: {word}.")) -> None:
        super().__init__(
            label=label,
            min_value=0.0,
            max_value=1.0,
            help_text=format_lazy(help_text, word=NO_LIMIT),
            widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}),
        )

    def clean(self, value: Any) -> float | None:
        """The share, or ``None`` where no limit is asked for in words."""
        if " ".join(str(value).split()).casefold() == NO_LIMIT:
            return None
        share: float = super().clean(value)
        return share


class LoginForm(forms.Form):
    """Name and password."""

    name = Name()
    password = Password(_("Password"))


class CodeForm(forms.Form):
    """A code of an authenticator app."""

    code = Code()


class FreshForm(forms.Form):
    """What somebody proves again who they are with."""

    def __init__(self, account: Account, data: Any = None) -> None:
        super().__init__(data)
        if account.has_usable_password():
            self.fields["password"] = Password(_("Password"))
        if account.totp:
            self.fields["code"] = Code()


class NewPasswordForm(forms.Form):
    """A new password, twice."""

    new = Password(_("New password"), new=True, help_text=NEW_RULE)
    again = Password(_("The same again"), new=True)

    def clean_new(self) -> str:
        """The password, if it is a good one."""
        password = str(self.cleaned_data["new"])
        validate_password(password)
        return password

    def clean(self) -> dict[str, Any]:
        """Both, if they are the same."""
        cleaned: dict[str, Any] = super().clean() or {}
        if "new" in cleaned and "again" in cleaned and cleaned["new"] != cleaned["again"]:
            self.add_error("again", _("The two passwords differ."))
        return cleaned


class ChangePasswordForm(NewPasswordForm):
    """The present password and a new one."""

    present = Password(_("Present password"))
    field_order = ("present", "new", "again")


class NewAccountForm(NewPasswordForm):
    """Name and password of a new account."""

    name = NewName(_("Another account has this name; choose another."))
    field_order = ("name", "new", "again")


ROLES = {
    Role.CUSTODIAN: _("custodian"),
    Role.MANAGER: _("manager"),
    Role.WORKER: _("worker"),
    Role.AUDITOR: _("auditor"),
}
"""What each role is called."""
DUTIES = {
    Role.CUSTODIAN: _("owns data: grants, purges, keeps accounts"),
    Role.MANAGER: _("creates projects and opens their queues"),
    Role.WORKER: _("decides pairs"),
    Role.AUDITOR: _("reads the audit log"),
}
"""What each role is for."""


class Roles(forms.MultipleChoiceField):
    """Roles, each with a box to tick."""

    def __init__(self) -> None:
        super().__init__(
            label=_("Roles"),
            choices=[
                (str(role), format_lazy("{}: {}", ROLES[role], DUTIES[role])) for role in Role
            ],
            widget=forms.CheckboxSelectMultiple,
            error_messages={"required": _("Tick one role at least.")},
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
    """

    days = forms.IntegerField(
        label=_("Days for which the link works"), min_value=1, max_value=90, initial=INVITATION_DAYS
    )

    def __init__(self, custodian: Account, data: object = None) -> None:
        super().__init__(data)
        self.fields["project"] = forms.ModelChoiceField(
            label=_("Project to take part in"),
            queryset=Project.objects.filter(custodian=custodian, state=ProjectState.OPEN).order_by(
                "title"
            ),
            required=False,
            empty_label=_("none"),
        )
        self.fields["project"].label_from_instance = lambda project: project.title


class NamedAccountForm(RolesForm):
    """An account without a password, for somebody whom the organisation's login names."""

    name = NewName(
        _("Another account has this name."), _("Name, as the organisation's login gives it")
    )
    field_order = ("name", "roles")
