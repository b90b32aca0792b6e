"""Find an account for its name and password."""

from __future__ import annotations

from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.hashers import make_password
from django.http import HttpRequest

from sfumato.server.store.models import Account


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
        """The active account with this key, if there is one."""
        return Account.objects.filter(pk=user_id, is_active=True).first()
