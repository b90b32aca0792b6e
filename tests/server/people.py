"""Accounts with passwords, and browsers that log in as people do."""

from __future__ import annotations

import base64
import re
import time
from typing import Any

import pytest

PASSWORD = "a sentence to keep in mind"
NEW = "another sentence to keep"
STATE = "state"
"""What the tests themselves have the audit log state; see `said`."""


def person(name: str, *roles: str, password: str = PASSWORD) -> Any:
    """An account with a password."""
    from sfumato.server.store.models import Account

    account = Account.objects.make(name, password, list(roles))
    said(account)
    return account


def said(row: Any, *names: str) -> None:
    """Write an entry that states a row, or some of its columns, as a view would have."""
    from sfumato.server.audit_log import append
    from sfumato.server.stated_rows import stated

    append(None, STATE, "a row", rows=[stated(row, *names)])


def changed(row: Any, **values: Any) -> Any:
    """A row that was changed as a view would have, with an entry that states it."""
    for name, value in values.items():
        setattr(row, name, value)
    row.save()
    said(row, *(row._meta.get_field(name).attname for name in values))
    return row


def visitor(**headers: str) -> Any:
    """A browser in which nobody has logged in."""
    from django.test import Client

    return Client(SERVER_NAME="localhost", **headers)


def log_in(name: str, password: str = PASSWORD, client: Any = None, **data: str) -> Any:
    """A browser in which somebody has logged in, and the answer."""
    client = client or visitor()
    answer = client.post("/login", {"name": name, "password": password, **data})
    return client, answer


def logged_in(name: str) -> Any:
    """A browser in which somebody has logged in."""
    client, answer = log_in(name)
    assert answer.status_code == 302, answer.content
    return client


def who(client: Any) -> str:
    """Who has logged in, as the start of every page says; "" for nobody."""
    answer = client.get("/account")
    if answer.status_code != 200:
        return ""
    found = re.search(r'<a href="/account">([^<]*)</a>', answer.content.decode())
    return found.group(1) if found else ""


def link_in(answer: Any) -> str:
    """The path of the link that a page shows once."""
    found = re.search(r"/link/[\w-]+", answer.content.decode())
    assert found, answer.content
    return found.group()


def actions() -> list[str]:
    """Actions in the audit log, in their order, but those of the tests themselves."""
    from sfumato.server.store.models import AuditEntry

    entries = AuditEntry.objects.order_by("number").exclude(action=STATE)
    return list(entries.values_list("action", flat=True))


def code_of(secret: bytes, step: int = 0) -> str:
    """The code that an app shows now, or some steps away."""
    from cryptography.hazmat.primitives.hashes import SHA1
    from cryptography.hazmat.primitives.twofactor.totp import TOTP

    return TOTP(secret, 6, SHA1(), 30).generate(time.time() + 30 * step).decode()


def secret_on(answer: Any) -> bytes:
    """The secret that the page shows as text."""
    found = re.search(r'class="secret">([A-Z2-7 ]+)<', answer.content.decode())
    assert found
    text = found.group(1).replace(" ", "")
    return base64.b32decode(text + "=" * (-len(text) % 8))


def with_second_factor(account: Any) -> bytes:
    """Turn an account's second factor on, and give its secret."""
    from sfumato.server.accounts.backend import new_secret, seal_secret

    secret = new_secret()
    account.totp = seal_secret(secret, account)
    account.save()
    said(account, "totp")
    return secret


@pytest.fixture(autouse=True)
def quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passwords are hashed with little memory; what is slow by intention is slow here as well."""
    quicken(monkeypatch)


def quicken(patch: pytest.MonkeyPatch) -> None:
    """Hash passwords with little memory."""
    from django.contrib.auth.hashers import Argon2PasswordHasher

    patch.setattr(Argon2PasswordHasher, "memory_cost", 64)
    patch.setattr(Argon2PasswordHasher, "time_cost", 1)
    patch.setattr(Argon2PasswordHasher, "parallelism", 1)
