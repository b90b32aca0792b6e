"""Accounts, their roles, one-time links, attempts to log in."""

from __future__ import annotations

import secrets
from enum import StrEnum
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models


class Role(StrEnum):
    """What a person may be; one person may be several."""

    CUSTODIAN = "custodian"
    MANAGER = "manager"
    WORKER = "worker"
    AUDITOR = "auditor"


def new_pseudonym() -> str:
    """A random name that says nothing of its owner."""
    return "w" + secrets.token_hex(4)


class Accounts(BaseUserManager["Account"]):
    """Makes accounts."""

    def make(self, name: str, password: str | None, roles: list[str], **fields: Any) -> Account:
        """A new account; without a password only a trusted header logs it in.

        Parameters
        ----------
        name
            What its owner logs in with.
        password
            The password.
        roles
            The roles.
        **fields
            Further fields.
        """
        account = Account(name=name, roles=sorted(roles), **fields)
        account.set_password(password)
        account.save()
        return account


class Account(AbstractBaseUser):
    """A person who may log in.

    Attributes
    ----------
    name
        What its owner logs in with.
    pseudonym
        How decisions, the audit log and exports name it.
    roles
        Its roles.
    totp
        Encrypted secret of its second factor, empty without one.
    totp_used
        Number of the last time step whose code was used, so that no code is used twice.
    """

    name = models.CharField(max_length=150, unique=True)
    pseudonym = models.CharField(max_length=16, unique=True, default=new_pseudonym)
    roles = models.JSONField(default=list)
    is_active = models.BooleanField(default=True)
    totp = models.BinaryField(default=b"")
    totp_used = models.BigIntegerField(default=0)
    created = models.DateTimeField(auto_now_add=True)

    USERNAME_FIELD = "name"

    objects = Accounts()

    class Meta:
        """Its table."""

        db_table = "account"

    def has_role(self, role: str) -> bool:
        """Whether it has a role."""
        return role in self.roles


class Link(models.Model):
    """A link that may be used once: the set-up of the server, an invitation, a new password.

    Attributes
    ----------
    token
        SHA-256 of the link's random part, which is stored nowhere.
    roles
        Roles that its user gets.
    project
        Project that its user becomes a member of.
    account
        Whose password it sets, for a reset.
    """

    token = models.CharField(max_length=64, unique=True)
    purpose = models.CharField(
        max_length=16,
        choices=[("setup", "set-up"), ("invitation", "invitation"), ("reset", "new password")],
    )
    roles = models.JSONField(default=list)
    project = models.ForeignKey("Project", null=True, on_delete=models.CASCADE)
    account = models.ForeignKey(Account, null=True, on_delete=models.CASCADE, related_name="resets")
    made_by = models.ForeignKey(Account, null=True, on_delete=models.PROTECT, related_name="+")
    expires = models.DateTimeField()
    used = models.DateTimeField(null=True)

    class Meta:
        """Its table."""

        db_table = "link"


class LoginAttempt(models.Model):
    """An attempt to prove who one is that failed, for throttling.

    Attributes
    ----------
    subject
        Keyed digest of what it counts for: a name, a browser that its owner used, an account.
    address
        Keyed digest of where it came from, if it counts for that as well.
    """

    subject = models.CharField(max_length=64, db_index=True)
    address = models.CharField(max_length=64, db_index=True)
    time = models.DateTimeField(auto_now_add=True)

    class Meta:
        """Its table."""

        db_table = "login_attempt"
