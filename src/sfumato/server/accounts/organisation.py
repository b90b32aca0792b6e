"""Logging in at one's organisation, by OpenID Connect.

A person is the provider's issuer and what it calls them, its ``sub``: never a name or an address,
which change hands. What they may do comes from links and entries of this server alone.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable
from functools import cache
from typing import Any
from urllib.parse import urlencode

from authlib.common.errors import AuthlibBaseError
from authlib.integrations.django_client import OAuth
from django.conf import settings
from django.contrib import messages
from django.core import signing
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.http import require_GET
from joserfc.errors import JoseError
from requests import RequestException

from sfumato.server.accounts import sessions
from sfumato.server.accounts.backend import LONGEST_NAME, plain_name
from sfumato.server.accounts.views import MINUTES, PENDING, is_fresh, next_page
from sfumato.server.audit_log import append
from sfumato.server.config import ServerConfig, oidc_secret
from sfumato.server.error_pages import Stop, problem
from sfumato.server.proofs import check_proved, check_stated, proofs
from sfumato.server.stated_rows import stated
from sfumato.server.store.models import Account

_BY = "organisation"
"""What the log says that somebody logged in by."""
_SECONDS = 600
_TIMEOUT = 10
"""Seconds that the provider has to answer a request of this server."""
_CLOCKS = 60
"""Seconds by which the provider's clock may be behind."""
_LEFT = gettext_lazy(
    "The login at your organisation was not finished, or has expired. Begin again."
)
_UNPROVED = gettext_lazy("Your organisation did not prove who you are. Begin again.")

Claims = dict[str, Any]
Arrival = Callable[[HttpRequest, Claims, "dict[str, Any]"], HttpResponse]


@cache
def _provider(config: ServerConfig) -> Any:
    secret = oidc_secret(config)
    return OAuth().register(
        "organisation",
        client_id=config.oidc_client,
        client_secret=secret or None,
        server_metadata_url=f"{config.oidc.rstrip('/')}/.well-known/openid-configuration",
        client_kwargs={
            "scope": "openid profile",
            "code_challenge_method": "S256",
            "default_timeout": _TIMEOUT,
            **({} if secret else {"token_endpoint_auth_method": "none"}),
        },
    )


def _asked(ask: Callable[[Any], Any]) -> Any:
    """What the provider answers."""
    try:
        return ask(_provider(settings.SFUMATO))
    except RequestException:
        raise Stop(
            503, gettext("Your organisation's login does not answer. Try again later.")
        ) from None
    except (AuthlibBaseError, JoseError, RuntimeError, KeyError, ValueError):
        raise Stop(403, _UNPROVED) from None


@require_GET
def leave(request: HttpRequest) -> HttpResponse:
    """Send somebody to the provider."""
    config, purpose = settings.SFUMATO, request.GET.get("for", "login")
    if not config.oidc or purpose not in _ARRIVALS:
        return problem(request, 404)
    more = {"prompt": "login", "max_age": "0"} if purpose == "fresh" else {}
    if config.oidc_second_factor:
        more["acr_values"] = config.oidc_second_factor
    back = f"{config.address}/oidc/callback"
    begun = _asked(lambda provider: provider.create_authorization_url(back, **more))
    kept = {name: begun[name] for name in ("state", "nonce", "code_verifier")}
    kept |= {"for": purpose, "next": next_page(request), "link": request.GET.get("link", "")}
    # Of somebody whom another site sends here nobody is known.
    kept["who"] = request.user.pk
    answer = HttpResponseRedirect(begun["url"])
    answer.set_cookie(
        _cookie(),
        signing.dumps({**kept, "began": time.time()}, salt=_BY),
        max_age=_SECONDS,
        secure=config.behind_tls,
        httponly=True,
        samesite="Lax",
    )
    return answer


def _cookie() -> str:
    """Name of the cookie that remembers what somebody is at the provider for."""
    # With the prefix no other server of the domain can set it for us.
    return "__Host-oidc" if settings.SFUMATO.behind_tls else "oidc"


@require_GET
def come_back(request: HttpRequest) -> HttpResponse:
    """Go on from a page of this server: to a request from another site no session is sent."""
    given = {name: request.GET.get(name, "") for name in ("code", "state")}
    return render(request, "accounts/come_back.html", {"goal": f"/oidc/finish?{urlencode(given)}"})


@require_GET
def finish(request: HttpRequest) -> HttpResponse:
    """Do what somebody went to the provider for."""
    try:
        kept = signing.loads(request.COOKIES.get(_cookie(), ""), salt=_BY, max_age=_SECONDS)
    except signing.BadSignature:
        return problem(request, 400, _LEFT)
    given, code = request.GET.get("state", ""), request.GET.get("code", "")
    # Who sends somebody here with a code of their own does not know the state.
    if not code or not hmac.compare_digest(given.encode(), kept["state"].encode()):
        return problem(request, 400, _LEFT)
    answer = _ARRIVALS[kept["for"]](request, _claims(code, kept), kept)
    answer.delete_cookie(_cookie(), samesite="Lax")
    return answer


def _claims(code: str, kept: dict[str, Any]) -> Claims:
    """What the provider says of a person, signed for this server and this login."""
    config = settings.SFUMATO

    def ask(provider: Any) -> Claims:
        token = provider.fetch_access_token(
            code=code,
            redirect_uri=f"{config.address}/oidc/callback",
            code_verifier=kept["code_verifier"],
        )
        known = {
            "iss": {"essential": True, "values": [config.oidc]},
            "aud": {"essential": True, "values": [config.oidc_client]},
        }
        claims = provider.parse_id_token(token, nonce=kept["nonce"], claims_options=known)
        if claims is None:  # no token that says who it is
            raise Stop(403, _UNPROVED)
        return {**claims, "sub": str(claims["sub"])}

    claims: Claims = _asked(ask)
    return claims


def _identity(claims: Claims) -> str:
    """A keyed digest of who somebody is: a copy of the database names nobody."""
    text = f"identity {claims['iss']}\n{claims['sub']}"
    return str(settings.SFUMATO_KEYS.fingerprint_of(text.encode()))


def _known(claims: Claims) -> Account | None:
    """The account of a person, as the log states it."""
    account = Account.objects.filter(identity=_identity(claims)).first()
    if account is not None:
        proofs().follow()
        check_proved(account)
    return account


def _is_second_factor(claims: Claims) -> bool:
    """Whether the provider asked for what the administrator counts as a second factor."""
    wanted = settings.SFUMATO.oidc_second_factor
    return bool(wanted) and claims.get("acr") == wanted


def _begin(
    request: HttpRequest, account: Account, claims: Claims, kept: dict[str, Any]
) -> HttpResponse:
    assured, goal = _is_second_factor(claims), kept["next"]
    if account.totp and not assured:
        request.session.cycle_key()
        request.session[PENDING] = [account.pk, time.time(), _BY]
        return redirect("/login/code?" + urlencode({"next": goal}))
    # They may have logged in there days ago: that proves nothing about now.
    sessions.begin_session(request, account, _BY, fresh=False)
    request.session[sessions.ASSURED] = assured
    return redirect(goal)


def _log_in(request: HttpRequest, claims: Claims, kept: dict[str, Any]) -> HttpResponse:
    account = _known(claims)
    if account is None or not account.is_active:
        why = "No account here is yours. Ask the custodian of the data for a link."
        return problem(request, 403, why)
    return _begin(request, account, claims, kept)


def _use_link(request: HttpRequest, claims: Claims, kept: dict[str, Any]) -> HttpResponse:
    """Use an invitation: with the account that somebody has, or with a new one."""
    try:
        with transaction.atomic():
            found = sessions.find_link(kept["link"], lock=True)
            if found is None or found.account_id is not None:
                raise Stop(404, _LEFT)
            account = _known(claims)
            if account is None:
                name, identity = _free_name(claims), _identity(claims)
                account = sessions.make_account(name, None, [], identity=identity)
            elif not account.is_active:
                raise Stop(
                    403, gettext("Your account here is deactivated. Ask the custodian of the data.")
                )
            sessions.spend_link(found, account)
    # The name, or this person's account by another link, was made between look and writing.
    except IntegrityError:
        raise Stop(
            409, gettext("Another account was made at this moment. Open the link again.")
        ) from None
    return _begin(request, account, claims, kept)


def _free_name(claims: Claims) -> str:
    """A name that nobody has yet, as the provider shows them to others."""
    given = claims.get("preferred_username") or claims.get("name") or "person"
    name, number = plain_name(str(given))[: LONGEST_NAME - 8] or "person", 1
    free = name
    while Account.objects.filter(name=free).exists():
        number += 1
        free = f"{name} {number}"
    return free


def _prove(request: HttpRequest, claims: Claims, kept: dict[str, Any]) -> HttpResponse:
    """Count a login that somebody has just done again as a proof that it is still they."""
    account, proved = _known(claims), claims.get("auth_time")
    # Without the time, the provider may have asked for nothing.
    fresh = isinstance(proved, (int, float)) and proved >= kept["began"] - _CLOCKS
    if not request.user.is_authenticated or account != request.user or not fresh:
        raise Stop(403, _UNPROVED)
    assured = _is_second_factor(claims)
    if request.user.totp and not assured:
        raise Stop(403, gettext("Your account has a second factor here: prove it by its code."))
    request.session.cycle_key()
    request.session[sessions.FRESH] = time.time()
    append(request.user, "prove identity", sessions.resource_of(request.user))
    return redirect(kept["next"])


def _connect(request: HttpRequest, claims: Claims, kept: dict[str, Any]) -> HttpResponse:
    """Have somebody's account open by their organisation's login, too."""
    began = request.user.is_authenticated and request.user.pk == kept["who"]
    if not began or not is_fresh(request):
        why = f"Log in, prove that it is you, and connect within {MINUTES} minutes."
        raise Stop(403, why)
    account = request.user
    try:
        with transaction.atomic():
            check_stated(account, "identity")
            account.identity = _identity(claims)
            account.save(update_fields=["identity"])
            rows = [stated(account, "identity")]
            append(account, "connect login", sessions.resource_of(account), rows=rows)
    except IntegrityError:
        why = "This login of your organisation opens another account already."
        raise Stop(409, why) from None
    messages.success(request, gettext("Your organisation's login opens this account from now on."))
    return redirect("/account")


_ARRIVALS: dict[str, Arrival] = {
    "login": _log_in,
    "link": _use_link,
    "fresh": _prove,
    "connect": _connect,
}
"""What somebody goes to the provider for."""
