"""Find an account for its name and password."""

from __future__ import annotations

from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.hashers import make_password
from django.http import HttpRequest

from sfumato.server.store.models import Account
from sfumato.server.store.statements import ask, columns, instance

_COLUMNS = ("id", "password", "name", "pseudonym", "roles", "is_active", "totp", "totp_used")
_ACTIVE = f"""
SELECT {columns(_COLUMNS, "a")} FROM account a
WHERE a.id = %s AND a.is_active = %s"""  # noqa: S608 - made of names of columns


class AccountBackend(BaseBackend):
    """Accounts with argon2 passwords; an unknown name takes as long as a wrong password."""

    def authenticate(
        self, request: HttpRequest | None, name: str = "", password: str = ""
    ) -> Account | None:
        """The active account with this name and password, if there is one.

        Parameters
        ----------
        request
            The request.
        name, password
            What was entered.
        """
        account = Account.objects.filter(name=name).first()
        if account is None:
            make_password(password)
            return None
        if account.check_password(password) and account.is_active:
            return account
        return None

    def get_user(self, user_id: int) -> Account | None:
        """The active account with this key, if there is one; each request asks for it."""
        (rows,) = ask((_ACTIVE, [user_id, True]))
        return instance(Account, _COLUMNS, rows[0]) if rows else None
