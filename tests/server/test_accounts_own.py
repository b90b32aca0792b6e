"""One's own account: password, second factor, sessions, fresh logins, single sign-on."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from typing import Any

import pytest
from server.people import (
    NEW,
    PASSWORD,
    actions,
    changed,
    code_of,
    log_in,
    logged_in,
    person,
    quick_hashes,
    secret_on,
    visitor,
    who,
    with_second_factor,
)

__all__ = ["quick_hashes"]


def test_a_changed_password_ends_the_other_sessions_only() -> None:
    person("wanda", "worker")
    here, elsewhere = logged_in("wanda"), logged_in("wanda")
    answer = here.post("/account/password", {"present": PASSWORD, "new": NEW, "again": NEW})
    assert answer["Location"] == "/account"
    assert who(here) == "wanda"
    assert who(elsewhere) == ""
    assert log_in("wanda")[1].status_code == 200
    assert log_in("wanda", NEW)[1].status_code == 302
    assert "change password" in actions()


def test_the_present_password_is_asked_for_and_throttled() -> None:
    person("wanda", "worker")
    client = logged_in("wanda")
    for _ in range(5):
        answer = client.post("/account/password", {"present": "no", "new": NEW, "again": NEW})
        assert b"not your present password" in answer.content
    answer = client.post("/account/password", {"present": PASSWORD, "new": NEW, "again": NEW})
    assert answer.status_code == 429


def test_the_second_factor_is_on_once_its_code_was_given() -> None:
    wanda = person("wanda", "worker")
    client = logged_in("wanda")
    other = logged_in("wanda")
    secret = secret_on(client.get("/account/second-factor"))
    assert secret_on(client.get("/account/second-factor")) == secret, "reloading keeps it"
    code = code_of(secret)
    wrong = f"{(int(code) + 1) % 10**6:06}"
    assert client.post("/account/second-factor", {"code": wrong}).status_code == 200
    wanda.refresh_from_db()
    assert not wanda.totp
    assert len(recovery_in(client.post("/account/second-factor", {"code": code}))) == 10
    wanda.refresh_from_db()
    assert secret not in bytes(wanda.totp), "it is encrypted"
    assert who(other) == ""
    assert log_in("wanda")[1]["Location"].startswith("/login/code")
    assert "turn second factor on" in actions()


def recovery_in(answer: Any) -> list[str]:
    """The recovery codes that a page shows once."""
    return re.findall(r"<li>([a-z2-7]{5}-[a-z2-7]{5})</li>", answer.content.decode())


def test_a_recovery_code_counts_once_and_new_ones_end_the_earlier() -> None:
    wanda = person("wanda", "worker")
    client = logged_in("wanda")
    with_second_factor(wanda)
    first = recovery_in(client.post("/account/recovery"))
    assert len(set(first)) == 10
    wanda.refresh_from_db()
    assert not [code for code in first if code.replace("-", "") in repr(wanda.recovery)]
    for code, status in ((first[0], 302), (first[0], 200), (f" {first[1].upper()} ", 302)):
        other, _ = log_in("wanda")
        assert other.post("/login/code", {"code": code}).status_code == status
    second = recovery_in(client.post("/account/recovery"))
    other, _ = log_in("wanda")
    assert other.post("/login/code", {"code": first[2]}).status_code == 200
    assert other.post("/login/code", {"code": second[0]}).status_code == 302
    assert {"make recovery codes", "use recovery code"} <= set(actions())
    client.post("/account/second-factor/off")
    wanda.refresh_from_db()
    assert wanda.recovery == []


def test_a_recovery_code_that_was_written_into_the_database_counts_for_nothing() -> None:
    from sfumato.server.accounts.backend import new_recovery

    wanda = person("wanda", "worker")
    with_second_factor(wanda)
    [code, *_] = new_recovery(wanda)
    client, _ = log_in("wanda")
    wanda.save(update_fields=["recovery"])
    assert client.post("/login/code", {"code": code}).status_code == 409
    assert who(client) == ""


def test_a_role_that_needs_a_second_factor_does_nothing_without(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from django.conf import settings

    own = replace(server, second_factor="custodian, manager")
    monkeypatch.setattr(settings, "SFUMATO", own)
    carol = person("carol", "custodian", "worker")
    person("wanda", "worker")
    client = logged_in("carol")
    for path in ("/projects", "/accounts", "/account", "/audit"):
        assert client.get(path)["Location"] == "/account/second-factor"
    assert client.post(f"/accounts/{carol.pseudonym}/roles")["Location"].endswith("second-factor")
    assert logged_in("wanda").get("/projects").status_code == 200
    secret = secret_on(client.get("/account/second-factor"))
    assert client.get("/account/second-factor/image").status_code == 200
    assert client.post("/account/second-factor", {"code": code_of(secret)}).status_code == 200
    assert client.get("/accounts").status_code == 200


def test_who_lacks_a_second_factor_comes_back_from_a_provider_of_the_same_site(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from django.conf import settings

    monkeypatch.setattr(settings, "SFUMATO", replace(server, second_factor="worker"))
    person("wanda", "worker")
    # From another site no session is sent; from a neighbour it is.
    answer = logged_in("wanda").get("/oidc/callback?code=some&state=other")
    assert answer.status_code == 200
    assert b"/oidc/finish?code=some" in answer.content


def test_the_qr_code_is_an_image_of_this_session_only() -> None:
    person("wanda", "worker")
    client = logged_in("wanda")
    assert client.get("/account/second-factor/image").status_code == 404
    page = client.get("/account/second-factor")
    image = client.get("/account/second-factor/image")
    assert image["Content-Type"] == "image/svg+xml"
    assert image["Cache-Control"] == "no-store"
    assert b"<svg" in image.content
    assert secret_on(page) not in image.content
    assert visitor().get("/account/second-factor/image").status_code == 302


def test_the_secret_in_the_session_is_encrypted() -> None:
    person("wanda", "worker")
    client = logged_in("wanda")
    secret = secret_on(client.get("/account/second-factor"))
    import base64

    assert base64.b64encode(secret).decode() not in repr(dict(client.session))
    assert base64.b32encode(secret).decode() not in repr(dict(client.session))


def test_a_secret_is_of_one_account_only() -> None:
    from cryptography.exceptions import InvalidTag

    from sfumato.server.accounts.backend import unseal_secret

    wanda, will = person("wanda", "worker"), person("will", "worker")
    with_second_factor(wanda)
    with pytest.raises(InvalidTag):
        unseal_secret(wanda.totp, will)


def test_the_second_factor_can_be_turned_off() -> None:
    wanda = person("wanda", "worker")
    client = logged_in("wanda")
    with_second_factor(wanda)
    assert client.get("/account/second-factor/off").status_code == 200
    assert client.post("/account/second-factor/off").status_code == 302
    wanda.refresh_from_db()
    assert not wanda.totp


def test_other_sessions_can_be_ended() -> None:
    person("wanda", "worker")
    person("will", "worker")
    here, elsewhere, somebody = logged_in("wanda"), logged_in("wanda"), logged_in("will")
    here.post("/account/sessions")
    assert (who(here), who(elsewhere), who(somebody)) == ("wanda", "", "will")


FRESH_PAGES = ("/account/second-factor", "/account/second-factor/off")


@pytest.mark.parametrize("path", FRESH_PAGES)
def test_what_matters_needs_a_fresh_proof(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wanda = person("wanda", "worker")
    client = logged_in("wanda")
    if path.endswith("off"):
        with_second_factor(wanda)
    assert client.get(path).status_code == 200
    now = time.time()
    monkeypatch.setattr("sfumato.server.accounts.views.time.time", lambda: now + 301)
    for answer in (client.get(path), client.post(path)):
        assert answer["Location"].startswith("/fresh?next=%2Faccount")


def test_a_proof_asks_for_all_that_a_login_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    wanda = person("wanda", "worker")
    client = logged_in("wanda")
    secret = with_second_factor(wanda)
    now = time.time() + 301
    monkeypatch.setattr("sfumato.server.accounts.views.time.time", lambda: now)
    goal = {"next": "/account/second-factor/off"}
    assert client.post("/fresh", {**goal, "password": PASSWORD}).status_code == 200
    wrong = {**goal, "password": "a wrong password", "code": code_of(secret)}
    assert client.post("/fresh", wrong).status_code == 200
    right = {**goal, "password": PASSWORD, "code": code_of(secret)}
    before = client.cookies["sessionid"].value
    assert client.post("/fresh", right)["Location"] == goal["next"]
    assert client.cookies["sessionid"].value != before
    assert client.get(goal["next"]).status_code == 200
    assert "prove identity" in actions()


def test_proofs_are_throttled() -> None:
    person("wanda", "worker")
    client = logged_in("wanda")
    for _ in range(5):
        client.post("/fresh", {"password": "a wrong password"})
    assert client.post("/fresh", {"password": PASSWORD}).status_code == 429


@pytest.fixture
def by_header(server: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The server behind a proxy that names people."""
    from django.conf import settings

    own = replace(server, url="https://review.example", trusted_header="X-Remote-User")
    monkeypatch.setattr(settings, "SFUMATO", own)
    return own


def _through_proxy(name: str) -> Any:
    return visitor(HTTP_X_FORWARDED_FOR="10.0.0.1", HTTP_X_REMOTE_USER=name)


def test_nobody_is_believed_a_header_by_default() -> None:
    person("wanda", "worker")
    assert who(_through_proxy("wanda")) == ""


@pytest.mark.usefixtures("by_header")
def test_the_proxy_names_who_has_logged_in() -> None:
    person("wanda", "worker")
    person("will", "worker")
    client = _through_proxy("wanda")
    assert who(client) == "wanda"
    assert actions() == ["log in"]
    client.defaults["HTTP_X_REMOTE_USER"] = "will"
    assert who(client) == "will", "the header counts, not the session"
    del client.defaults["HTTP_X_REMOTE_USER"]
    assert who(client) == ""


@pytest.mark.usefixtures("by_header")
def test_the_header_counts_only_where_it_came_through_the_proxy() -> None:
    person("wanda", "worker")
    assert who(visitor(HTTP_X_REMOTE_USER="wanda")) == ""


@pytest.mark.usefixtures("by_header")
def test_the_header_makes_nobody_and_revives_nobody() -> None:
    person("wanda", "worker")
    from sfumato.server.store.models import Account

    Account.objects.update(is_active=False)
    assert who(_through_proxy("wanda")) == ""
    assert who(_through_proxy("unknown")) == ""
    assert Account.objects.count() == 1


@pytest.mark.usefixtures("by_header")
def test_the_header_is_no_fresh_proof() -> None:
    from sfumato.server.accounts.sessions import make_account

    make_account("wanda", None, ["custodian"])
    client = _through_proxy("wanda")
    assert client.get("/account/second-factor")["Location"].startswith("/fresh")
    page = client.get("/fresh?next=/account/second-factor")
    assert b"second factor" in page.content
    assert client.post("/fresh", {"next": "/account/second-factor"}).status_code == 200
    assert client.get("/account/second-factor").status_code == 302


@pytest.mark.usefixtures("by_header")
def test_a_custodian_makes_accounts_without_a_password() -> None:
    person("carol", "custodian")
    client = _through_proxy("carol")
    answer = client.post("/accounts/named", {"name": "wanda", "roles": ["worker"]})
    assert answer["Location"] == "/accounts"
    assert who(_through_proxy("wanda")) == "wanda"
    assert log_in("wanda", "")[1].status_code == 200


def test_accounts_without_a_password_are_for_single_sign_on_only() -> None:
    person("carol", "custodian")
    assert logged_in("carol").get("/accounts/named").status_code == 404


def _has_an_organisation(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server's people log in at a provider, which says one stranger of everybody."""
    from django.conf import settings

    from sfumato.server.accounts import organisation

    own = replace(server, oidc="https://login.example.org", oidc_client="us")
    monkeypatch.setattr(settings, "SFUMATO", own)
    begun = {"state": "s", "nonce": "n", "code_verifier": "v", "url": own.oidc}
    monkeypatch.setattr(organisation, "_asked", lambda _ask: begun)
    claims = {"iss": own.oidc, "sub": "a stranger"}
    monkeypatch.setattr(organisation, "_claims", lambda _code, _kept: claims)


@pytest.mark.parametrize("began", ["wanda", "will", ""])
def test_only_who_began_to_connect_a_login_connects_it(
    server: Any, monkeypatch: pytest.MonkeyPatch, began: str
) -> None:
    """Somebody else in the same browser began it, or a link of another site."""
    _has_an_organisation(server, monkeypatch)
    will, _ = person("will", "worker"), person("wanda", "worker")
    first = logged_in(began) if began else visitor()
    assert first.get("/oidc/login?for=connect").status_code == 302
    client = logged_in("will")
    client.cookies["oidc"] = first.cookies["oidc"].value
    answer = client.get("/oidc/finish?code=c&state=s")
    will.refresh_from_db()
    assert (answer.status_code, bool(will.identity)) == (
        (302, True) if began == "will" else (403, False)
    )


def _comes_back(client: Any, path: str) -> Any:
    assert client.get(path).status_code == 302
    return client.get("/oidc/finish?code=c&state=s")


@pytest.mark.parametrize("unseen", ["_known", "_free_name"])
def test_of_two_invitations_that_are_used_at_once_one_makes_an_account(
    server: Any, monkeypatch: pytest.MonkeyPatch, unseen: str
) -> None:
    """The second looks before the first has written: for the person, or for the name."""
    from sfumato.server.accounts import organisation
    from sfumato.server.accounts.sessions import invite
    from sfumato.server.store.models import Account, Link

    _has_an_organisation(server, monkeypatch)
    carol = person("carol", "custodian")
    tokens = [invite(carol, ["worker"]).rpartition("/")[2] for _ in range(2)]
    answer = _comes_back(visitor(), f"/oidc/login?for=link&link={tokens[0]}")
    assert answer.status_code == 302
    stranger = Account.objects.get(identity__gt="")
    if unseen == "_free_name":
        changed(stranger, identity="")
    earlier = {"_known": None, "_free_name": stranger.name}[unseen]
    monkeypatch.setattr(organisation, unseen, lambda _claims: earlier)
    answer = _comes_back(visitor(), f"/oidc/login?for=link&link={tokens[1]}")
    assert answer.status_code == 409
    assert Account.objects.count() == 2
    assert Link.objects.filter(used=None).count() == 1, "the link can be opened again"


def test_a_login_that_opens_an_account_is_connected_to_no_other(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    _has_an_organisation(server, monkeypatch)
    will, wanda = person("will", "worker"), person("wanda", "worker")
    path = "/oidc/login?for=connect"
    assert _comes_back(logged_in("will"), path).status_code == 302
    assert _comes_back(logged_in("will"), path).status_code == 302, "it is theirs already"
    assert _comes_back(logged_in("wanda"), path).status_code == 409
    for account in (will, wanda):
        account.refresh_from_db()
    assert (bool(will.identity), wanda.identity) == (True, "")


def test_a_provider_that_does_not_say_who_it_is_lets_nobody_in(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from types import SimpleNamespace

    from sfumato.server.accounts import organisation
    from sfumato.server.error_pages import Stop

    answers = SimpleNamespace(
        fetch_access_token=lambda **_given: {"access_token": "some"},
        parse_id_token=lambda *_given, **_named: None,
    )
    monkeypatch.setattr(organisation, "_provider", lambda _config: answers)
    with pytest.raises(Stop) as stopped:
        organisation._claims("code", {"code_verifier": "v", "nonce": "n"})
    assert stopped.value.status == 403
