"""The second factor: codes of an authenticator app (RFC 6238)."""

from __future__ import annotations

import base64
import hmac
import io
import os
import time

import segno
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP
from django.conf import settings

from sfumato.server.store.models import Account

DIGITS, STEP = 6, 30
"""Digits of a code, and seconds for which it is shown."""
_SECRET_BYTES = 20
_ISSUER = "sfumato"


def new_secret() -> bytes:
    """A random secret."""
    return os.urandom(_SECRET_BYTES)


def seal_secret(secret: bytes, account: Account) -> bytes:
    """A secret as it is stored: encrypted, for this account only.

    Parameters
    ----------
    secret
        The secret.
    account
        Whose.
    """
    return bytes(settings.SFUMATO_KEYS.wrap(secret, _purpose(account)))


def unseal_secret(sealed: bytes, account: Account) -> bytes:
    """A secret that was stored.

    Parameters
    ----------
    sealed
        What `seal_secret` gave.
    account
        Whose.
    """
    return bytes(settings.SFUMATO_KEYS.unwrap(bytes(sealed), _purpose(account)))


def secret_text(secret: bytes) -> str:
    """A secret to be typed into an app, in groups of four letters.

    Parameters
    ----------
    secret
        The secret.
    """
    text = base64.b32encode(secret).decode().rstrip("=")
    return " ".join(text[at : at + 4] for at in range(0, len(text), 4))


def qr_code(secret: bytes, account: Account) -> bytes:
    """A secret to be scanned by an app, as an SVG image.

    Parameters
    ----------
    secret
        The secret.
    account
        Whose.
    """
    stream = io.BytesIO()
    address = _totp(secret).get_provisioning_uri(account.name, _ISSUER)
    segno.make(address, error="m").save(stream, kind="svg", scale=5, border=3, light="white")
    return stream.getvalue()


def step_of(secret: bytes, code: str, after: int = 0) -> int:
    """Number of the time step that a code is of, 0 if it is of none near the present.

    Parameters
    ----------
    secret
        The secret.
    code
        What was entered.
    after
        Number of the last step whose code was used.
    """
    totp, now = _totp(secret), int(time.time()) // STEP
    entered = "".join(code.split()).encode()
    for step in (now - 1, now, now + 1):
        if step > after and hmac.compare_digest(totp.generate(step * STEP), entered):
            return step
    return 0


def use_code(account: Account, code: str) -> bool:
    """Whether a code is right; no code is right twice.

    Parameters
    ----------
    account
        Whose.
    code
        What was entered.
    """
    step = step_of(unseal_secret(account.totp, account), code, account.totp_used)
    if not step:
        return False
    unused = Account.objects.filter(pk=account.pk, totp_used__lt=step)
    return bool(unused.update(totp_used=step))


def _totp(secret: bytes) -> TOTP:
    return TOTP(secret, DIGITS, SHA1(), STEP)  # noqa: S303 - what all apps know


def _purpose(account: Account) -> bytes:
    return f"second factor of {account.pseudonym}".encode()
