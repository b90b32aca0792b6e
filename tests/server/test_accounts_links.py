"""One-time links: the first account, invitations, new passwords."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from server.clinic import staff, stored
from server.people import (
    NEW,
    PASSWORD,
    actions,
    changed,
    link_in,
    log_in,
    logged_in,
    person,
    quick_hashes,
    said,
    visitor,
    who,
)

__all__ = ["quick_hashes"]

ACCOUNT = {"name": "first", "new": NEW, "again": NEW}


def _setup(server: Any) -> str:
    from sfumato.server.serve import setup_link

    return str(setup_link(server).removeprefix(server.address))


def test_the_setup_link_makes_the_first_account_once(server: Any) -> None:
    path = _setup(server)
    client = visitor()
    assert client.get(path).status_code == 200
    assert client.post(path, ACCOUNT)["Location"] == "/"
    assert who(client) == "first"
    from sfumato.server.store.models import Account

    assert Account.objects.get().roles == ["custodian", "manager"]
    other = visitor()
    assert other.get(path).status_code == 404
    assert other.post(path, {**ACCOUNT, "name": "second"}).status_code == 404
    assert Account.objects.count() == 1
    assert actions() == ["make set-up link", "make account", "use link", "log in"]
    assert _setup(server) == "", "no second set-up"


def test_a_link_that_many_use_at_once_makes_one_account(server: Any) -> None:
    from concurrent.futures import ThreadPoolExecutor

    from django.db import connections

    from sfumato.server.store.models import Account

    path = _setup(server)

    def use(number: int) -> int:
        status: int = visitor().post(path, {**ACCOUNT, "name": f"person {number}"}).status_code
        connections.close_all()
        return status

    with ThreadPoolExecutor(6) as pool:
        answers = sorted(pool.map(use, range(6)))
    assert answers == [302] + [404] * 5
    assert Account.objects.count() == 1


def test_a_new_start_makes_the_earlier_setup_link_useless(server: Any) -> None:
    first, second = _setup(server), _setup(server)
    assert visitor().get(first).status_code == 404
    assert visitor().get(second).status_code == 200


def test_the_database_has_no_link_that_could_be_used(server: Any) -> None:
    token = _setup(server).rpartition("/")[2]
    from sfumato.server.store.models import Link

    assert token not in repr(list(Link.objects.values_list()))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"again": "something else"}, "The two passwords differ."),
        ({"new": "short", "again": "short"}, "too short"),
        ({"new": "password1234", "again": "password1234"}, "too common"),
        ({"name": ""}, "required"),
        ({"name": "x"}, "at least 2"),
        ({"name": "x\x00y"}, "Null characters"),
    ],
    ids=["differ", "short", "common", "no name", "short name", "null"],
)
def test_what_is_wrong_with_a_new_account_is_said(
    server: Any, changed: dict[str, str], said: str
) -> None:
    path = _setup(server)
    client = visitor()
    answer = client.post(path, {**ACCOUNT, **changed})
    assert answer.status_code == 200
    assert said in answer.content.decode()
    assert client.post(path, ACCOUNT).status_code == 302, "the link still works"


def _invitation(**data: Any) -> str:
    from sfumato.server.store.models import Account

    if not Account.objects.filter(name="carol").exists():
        person("carol", "custodian")
    client = logged_in("carol")
    return link_in(client.post("/accounts/invite", {"roles": ["worker"], "days": 7, **data}))


def test_an_invitation_gives_the_roles_that_were_ticked() -> None:
    path = _invitation(roles=["worker", "auditor"])
    client = visitor()
    assert client.post(path, {**ACCOUNT, "name": "wanda"}).status_code == 302
    from sfumato.server.store.models import Account

    assert Account.objects.get(name="wanda").roles == ["auditor", "worker"]
    assert visitor().get(path).status_code == 404
    assert "invite" in actions()


def test_an_invitation_cannot_be_asked_for_more_than_it_gives() -> None:
    path = _invitation()
    visitor().post(path, {**ACCOUNT, "name": "wanda", "roles": ["custodian"], "is_active": "0"})
    from sfumato.server.store.models import Account

    assert Account.objects.get(name="wanda").roles == ["worker"]


def test_an_invitation_ends_in_time() -> None:
    path = _invitation()
    from django.utils import timezone

    from sfumato.server.store.models import Link

    Link.objects.update(expires=timezone.now() - timedelta(seconds=1))
    assert visitor().get(path).status_code == 404
    assert visitor().post(path, ACCOUNT).status_code == 404


def test_an_invitation_can_be_taken_back() -> None:
    path = _invitation()
    from sfumato.server.store.models import Link

    client = logged_in("carol")
    client.post(f"/accounts/invitations/{Link.objects.get().pk}/take-back")
    assert visitor().get(path).status_code == 404
    assert "take back invitation" in actions()


def test_an_invitation_of_somebody_who_is_deactivated_is_useless() -> None:
    path = _invitation()
    from sfumato.server.store.models import Account

    Account.objects.update(is_active=False)
    assert visitor().get(path).status_code == 404


def test_a_name_that_somebody_has_is_refused_and_the_link_stays() -> None:
    path = _invitation()
    client = visitor()
    answer = client.post(path, {**ACCOUNT, "name": " carol "})
    assert b"Another account has this name" in answer.content
    assert client.post(path, {**ACCOUNT, "name": "wanda"}).status_code == 302


def test_who_has_an_account_takes_part_with_it() -> None:
    custodian, manager, _ = staff()
    custodian.set_password("a sentence to keep in mind")
    changed(custodian, password=custodian.password)
    project, _ = stored(people=(custodian, manager, person("will", "worker")))
    path = _invitation(project=str(project.pk))
    wanda = person("wendy", "auditor")
    client = logged_in("wendy")
    assert b"Take part as wendy" in client.get(path).content
    assert client.post(path, {"join": "1"}).status_code == 302
    wanda.refresh_from_db()
    assert wanda.roles == ["auditor", "worker"]
    assert project.members.filter(account=wanda).exists()
    assert visitor().get(path).status_code == 404


def test_joining_needs_a_login() -> None:
    path = _invitation()
    assert visitor().post(path, {"join": "1"}).status_code == 403


def test_an_invitation_to_a_project_that_is_closed_is_useless() -> None:
    custodian, manager, _ = staff()
    custodian.set_password("a sentence to keep in mind")
    changed(custodian, password=custodian.password)
    project, _ = stored(people=(custodian, manager, person("will", "worker")))
    path = _invitation(project=str(project.pk))
    changed(project, state="closed")
    assert visitor().get(path).status_code == 404


def test_a_new_password_ends_the_old_one_and_all_sessions() -> None:
    person("carol", "custodian")
    wanda = person("wanda", "worker")
    theirs, client = logged_in("wanda"), logged_in("carol")
    first = link_in(client.post(f"/accounts/{wanda.pseudonym}/reset"))
    path = link_in(client.post(f"/accounts/{wanda.pseudonym}/reset"))
    assert visitor().get(first).status_code == 404, "only the last link works"
    assert who(theirs) == "wanda", "until it is used"
    old = visitor().post(path, {"new": PASSWORD, "again": PASSWORD})
    assert (old.status_code, who(theirs)) == (200, "wanda"), "the old one is what may be known"
    answer = visitor().post(path, {"new": NEW, "again": NEW})
    assert answer["Location"] == "/login"
    assert who(theirs) == ""
    assert log_in("wanda")[1].status_code == 200
    assert log_in("wanda", NEW)[1].status_code == 302
    assert visitor().get(path).status_code == 404
    assert {"reset password", "use link"} <= set(actions())


def test_a_reset_link_makes_no_account_and_keeps_the_second_factor() -> None:
    from server.people import with_second_factor

    person("carol", "custodian")
    wanda = person("wanda", "worker")
    with_second_factor(wanda)
    path = link_in(logged_in("carol").post(f"/accounts/{wanda.pseudonym}/reset"))
    visitor().post(path, {"name": "other", "new": NEW, "again": NEW, "join": "1"})
    visitor().post(path, {"name": "other", "new": NEW, "again": NEW})
    from sfumato.server.store.models import Account

    assert not Account.objects.filter(name="other").exists()
    assert log_in("wanda", NEW)[1]["Location"].startswith("/login/code")


def _confirmed_by_the_custodian(project: Any, client: Any, address: str) -> None:
    """What a second person confirms goes out until they take it back, or the row is forged."""
    from django.utils import timezone

    from sfumato.server.store.models import Grant, GrantKind

    fields = {"project": project, "kind": GrantKind.RESET, "to": project.manager}
    until = timezone.now() + timedelta(hours=5)
    forged = Grant.objects.create(by=project.custodian, expires=until, **fields)
    assert client.post(address).status_code == 409
    forged.delete()
    grants = f"/projects/{project.pk}/grants"
    assert client.post(grants, {"grant": "reset"}).status_code == 403, "not by the manager"
    carol = logged_in("carol")
    assert b'value="reset"' in carol.get(grants).content
    assert carol.post(grants, {"grant": "reset"}).status_code == 302
    assert client.post(address).status_code == 200
    grant = Grant.objects.get()
    assert carol.post(f"{grants}/{grant.pk}/revoke").status_code == 302
    assert client.post(address).status_code == 409


def test_who_was_reset_exports_nothing_for_a_day() -> None:
    from sfumato.server.accounts.sessions import reset_link
    from sfumato.server.store.models import Link

    mark = person("mark", "manager")
    project, _ = stored(people=(person("carol", "custodian"), mark, person("will", "worker")))
    changed(project, state="closed")
    path = reset_link(None, mark).partition("8321")[2]
    assert visitor().post(path, {"new": NEW, "again": NEW}).status_code == 302
    client, _ = log_in("mark", NEW)
    address = f"/projects/{project.pk}/export/decisions"
    assert client.post(address).status_code == 409
    used = Link.objects.get(purpose="reset")
    _confirmed_by_the_custodian(project, client, address)
    # The row alone is no proof.
    Link.objects.filter(pk=used.pk).delete()
    assert client.post(address).status_code == 409
    used.save()
    changed(used, used=used.used - timedelta(hours=25))
    assert client.post(address).status_code == 200
    assert b'value="reset"' not in logged_in("carol").get(f"/projects/{project.pk}/grants").content


def test_nobody_confirms_a_reset_of_their_own() -> None:
    from django.utils import timezone

    from sfumato.server.store.models import Link

    carol, mark = person("carol", "custodian"), person("mark", "manager")
    project, _ = stored(people=(carol, mark, person("will", "worker")))
    now = timezone.now()
    made = {"purpose": "reset", "account": mark, "expires": now, "used": now, "token": "a" * 64}
    by_carol = Link.objects.create(made_by=carol, **made)
    said(by_carol)
    client, grants = logged_in("carol"), f"/projects/{project.pk}/grants"
    assert client.post(grants, {"grant": "reset"}).status_code == 403
    # Nor does whoever was reset as well: one person may have both passwords.
    changed(by_carol, made_by=None)
    said(Link.objects.create(made_by=None, **made | {"account": carol, "token": "b" * 64}))
    assert client.post(grants, {"grant": "reset"}).status_code == 403
    assert not project.grants.exists()


def test_without_a_reset_there_is_nothing_to_confirm() -> None:
    people = person("carol", "custodian"), person("mark", "manager"), person("will", "worker")
    project, _ = stored(people=people)
    grants = f"/projects/{project.pk}/grants"
    assert logged_in("carol").post(grants, {"grant": "reset"}).status_code == 409
