"""Who signs in: names, passwords, second factors, and how many attempts are left.

Few attempts may fail in a while. Strangers are counted by the name that they try and by their
address. Neither keeps out who is known: somebody who has logged in is counted by their account, and
a browser in which somebody logged in before by a device cookie, for that name alone
(https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import io
import math
import os
import secrets
import time
import unicodedata
from datetime import timedelta

import regex
import segno
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP
from django.conf import settings
from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from sfumato.core.phrases import Listed, Phrase, Plural
from sfumato.server.audit_log import append
from sfumato.server.error_pages import Stop, problem
from sfumato.server.proofs import check_proved, check_stated, proofs
from sfumato.server.stated_rows import stated
from sfumato.server.store.models import Account, LoginAttempt
from sfumato.server.store.statements import ask, columns, instance

_UNSEEN = regex.compile(r"\p{Bidi_Control}")
LONGEST_NAME, LONGEST_PASSWORD = 150, 200
"""Letters of a name and of a password at most."""


def plain_name(text: str) -> str:
    """A name as it is stored: the same however its letters were typed."""
    # NFKC makes letters that were composed in different ways the same. A mark that turns the
    # direction would turn what stands around the name.
    return " ".join(_UNSEEN.sub("", unicodedata.normalize("NFKC", text)).split())


def digest_of_token(token: str) -> str:
    """What is stored of a token: its SHA-256 in hexadecimal digits."""
    return hashlib.sha256(token.encode()).hexdigest()


WINDOW = timedelta(minutes=15)
"""How long a failed attempt counts."""
PER_SUBJECT, PER_ADDRESS = 5, 20
"""Failed attempts that are let through in that time."""
_KNOWN = timedelta(days=180)
"""How long a browser is known after somebody logged in."""


def begin_attempt(request: HttpRequest, name: str) -> tuple[LoginAttempt, int]:
    """Note an attempt before it is tried, and the seconds to wait where it may not be tried.

    It counts as failed until it is taken back, so that attempts at the same time count as well.
    Names and addresses are stored as keyed digests.
    """
    # Nothing else cleans up: the table would only grow.
    LoginAttempt.objects.filter(time__lt=timezone.now() - WINDOW).delete()
    subject, address = _counted_for(request, name)
    attempt = LoginAttempt.objects.create(subject=subject, address=address)
    wait = _wait(attempt, "subject", PER_SUBJECT)
    if address:
        wait = max(wait, _wait(attempt, "address", PER_ADDRESS))
    if wait:
        attempt.delete()
    return attempt, wait


def forget_attempts(attempt: LoginAttempt) -> None:
    """Count no attempt any more of those that count for the same as one that was right."""
    # A right password says nothing of the address: others behind it may still be guessing.
    LoginAttempt.objects.filter(subject=attempt.subject).delete()


def forget_name(name: str) -> None:
    """Count no stranger's attempt at a name any more: its owner has a new password."""
    LoginAttempt.objects.filter(subject=_digest("name", name)).delete()


def know_browser(answer: HttpResponse, name: str) -> HttpResponse:
    """An answer by which the browser is known when the same person logs in again."""
    answer.set_signed_cookie(
        _device_cookie(name),
        secrets.token_urlsafe(16),
        max_age=_KNOWN,
        # Only the login needs it: other pages never see the cookie.
        path="/login",
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Strict",
    )
    return answer


def too_many(request: HttpRequest, wait: int) -> HttpResponse:
    """The answer to an attempt that was not tried.

    Parameters
    ----------
    wait
        Seconds to wait.
    """
    minutes = math.ceil(wait / 60)
    again = Plural("Try again in {n} minute.", "Try again in {n} minutes.", minutes, n=minutes)
    until = Phrase("Until then no password is tried, not even the right one.")
    answer = problem(request, 429, Listed((again, until), " "))
    answer["Retry-After"] = str(wait)
    return answer


def address_digest(request: HttpRequest) -> str:
    """Where a request comes from, as the audit log has it: a keyed digest."""
    # Enough to see that two entries are of one place, and no address can be found from it.
    return _digest("address", _address(request))[:16]


def _wait(attempt: LoginAttempt, field: str, limit: int) -> int:
    now = timezone.now()
    same = {field: getattr(attempt, field), "time__gte": now - WINDOW}
    others = LoginAttempt.objects.filter(**same).exclude(pk=attempt.pk).order_by("-time")
    times = list(others.values_list("time", flat=True)[:limit])
    if len(times) < limit:
        return 0
    # Fewer attempts than the limit let another one in: the oldest of them decides how long to
    # wait.
    return max(1, math.ceil((times[-1] + WINDOW - now).total_seconds()))


def _counted_for(request: HttpRequest, name: str) -> tuple[str, str]:
    """The subject and the address of an attempt; no address where the client is known."""
    if request.user.is_authenticated:
        return _digest("account", name), ""
    # A cookie for another name does not open: it could try names without being counted.
    device = request.get_signed_cookie(_device_cookie(name), "", max_age=_KNOWN)
    if device:
        return _digest("device", f"{device} {name}"), ""
    return _digest("name", name), _digest("address", _address(request))


def _device_cookie(name: str) -> str:
    """The cookie's name; its signature holds for no other name."""
    return "device-" + _digest("device", name)[:16]


def _address(request: HttpRequest) -> str:
    return str(request.META.get("REMOTE_ADDR", ""))


def _digest(kind: str, text: str) -> str:
    return str(settings.SFUMATO_KEYS.fingerprint_of(f"login {kind} {text}".encode()))


DIGITS, STEP = 6, 30
"""Digits of a code, and seconds for which it is shown."""
# As long as SHA-1's output, as RFC 4226 recommends.
_SECRET_BYTES = 20
_ISSUER = "sfumato"


def new_secret() -> bytes:
    """A random secret."""
    return os.urandom(_SECRET_BYTES)


def seal_secret(secret: bytes, account: Account) -> bytes:
    """A secret as it is stored: encrypted, for this account only."""
    return bytes(settings.SFUMATO_KEYS.wrap(secret, _purpose(account)))


def unseal_secret(sealed: bytes, account: Account) -> bytes:
    """A secret that was stored."""
    return bytes(settings.SFUMATO_KEYS.unwrap(bytes(sealed), _purpose(account)))


def secret_text(secret: bytes) -> str:
    """A secret to be typed into an app, in groups of four letters."""
    text = base64.b32encode(secret).decode().rstrip("=")
    return " ".join(text[at : at + 4] for at in range(0, len(text), 4))


def qr_code(secret: bytes, account: Account) -> bytes:
    """A secret to be scanned by an app, as an SVG image."""
    stream = io.BytesIO()
    address = _totp(secret).get_provisioning_uri(account.name, _ISSUER)
    # Always on white: dark modes would turn the code around, which few apps read.
    segno.make(address, error="m").save(stream, kind="svg", scale=5, border=3, light="white")
    return stream.getvalue()


def step_of(secret: bytes, code: str, after: int = 0) -> int:
    """Number of the time step that a code is of, 0 if it is of none near the present.

    Parameters
    ----------
    after
        Number of the last step whose code was used.
    """
    totp, now = _totp(secret), int(time.time()) // STEP
    entered = "".join(code.split()).encode()
    # One step to either side: clocks of telephones are off, and typing takes time.
    for step in (now - 1, now, now + 1):
        if step > after and hmac.compare_digest(totp.generate(step * STEP), entered):
            return step
    return 0


RECOVERY_CODES = 10
"""Codes that are given out at a time, as Google does."""
# 48 bits each, which nobody tries out at five attempts in a quarter of an hour.
_RECOVERY_BYTES = 6


def new_recovery(account: Account) -> list[str]:
    """New recovery codes in place of those that there were; the account is not saved."""
    drawn = (os.urandom(_RECOVERY_BYTES) for _ in range(RECOVERY_CODES))
    codes = [base64.b32encode(each).decode().rstrip("=").lower() for each in drawn]
    account.recovery = [_digest("recovery", code) for code in codes]
    return [f"{code[:5]}-{code[5:]}" for code in codes]


def _use_recovery(account: Account, code: str) -> bool:
    digest = _digest("recovery", "".join(code.split()).replace("-", "").lower())
    with transaction.atomic():
        # Of two requests with the same code at the same time one finds it gone.
        check_stated(account, "recovery")
        if digest not in account.recovery:
            return False
        account.recovery = [each for each in account.recovery if each != digest]
        account.save(update_fields=["recovery"])
        told = {"left": len(account.recovery)}
        rows = [stated(account, "recovery")]
        append(account, "use recovery code", f"account {account.pseudonym}", told, rows=rows)
    return True


def use_code(account: Account, code: str) -> bool:
    """Whether a code of the app, or a recovery code, is right; none is right twice."""
    if not "".join(code.split()).isdecimal():
        return _use_recovery(account, code)
    step = step_of(unseal_secret(account.totp, account), code, account.totp_used)
    if not step:
        return False
    # In one statement: of two requests with the same code at the same time one updates no row.
    unused = Account.objects.filter(pk=account.pk, totp_used__lt=step)
    return bool(unused.update(totp_used=step))


def _totp(secret: bytes) -> TOTP:
    return TOTP(secret, DIGITS, SHA1(), STEP)  # noqa: S303 - what all apps know


def _purpose(account: Account) -> bytes:
    return f"second factor of {account.pseudonym}".encode()


_COLUMNS = ("id", "password", "name", "pseudonym", "roles", "is_active", "totp", "totp_used")
_ACTIVE = f"""
SELECT {columns(_COLUMNS, "a")} FROM account a
WHERE a.id = %s AND a.is_active = %s"""  # noqa: S608 - made of names of columns


class AccountBackend(BaseBackend):
    """Accounts with argon2 passwords; an unknown name takes as long as a wrong password."""

    def authenticate(
        self, request: HttpRequest | None, name: str = "", password: str = ""
    ) -> Account | None:
        """The active account with this name and password, if there is one."""
        account = Account.objects.filter(name=name).first()
        if account is None:
            # As much work as for a name that exists: else the time would tell which do.
            make_password(password)
            return None
        if account.check_password(password) and account.is_active:
            proofs().follow()
            check_proved(account)
            return account
        return None

    def get_user(self, user_id: int) -> Account | None:
        """The active account with this key, if there is one; each request asks for it."""
        (rows,) = ask((_ACTIVE, [user_id, True]))
        if not rows:
            return None
        account = instance(Account, _COLUMNS, rows[0])
        # Here, as every request that somebody is in comes by: what follows goes by this log.
        proofs().follow()
        try:
            check_proved(account)
        except Stop:
            return None  # why is said where they log in again
        return account
