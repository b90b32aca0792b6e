"""What a custodian does with accounts."""

from __future__ import annotations

from typing import Any

import pytest
from server.clinic import stored
from server.people import (
    NEW,
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
    with_second_factor,
)

__all__ = ["quick_hashes"]


def test_the_list_has_everybody() -> None:
    person("carol", "custodian")
    person("wanda", "worker").is_active = False
    page = logged_in("carol").get("/accounts").content.decode()
    assert "carol" in page
    assert "wanda" in page


def test_deactivating_ends_sessions_and_reactivating_does_not_revive_them() -> None:
    person("carol", "custodian")
    wanda = person("wanda", "worker")
    theirs, client = logged_in("wanda"), logged_in("carol")
    assert client.post(f"/accounts/{wanda.pseudonym}/deactivate").status_code == 302
    assert who(theirs) == ""
    assert log_in("wanda")[1].status_code == 200
    assert client.post(f"/accounts/{wanda.pseudonym}/reset").status_code == 409
    assert client.post(f"/accounts/{wanda.pseudonym}/reactivate").status_code == 302
    assert who(theirs) == "", "the session is over"
    assert log_in("wanda")[1].status_code == 302
    assert {"deactivate", "reactivate"} <= set(actions())


def test_roles_are_set_and_hold_at_once() -> None:
    person("carol", "custodian")
    wanda = person("wanda", "worker")
    theirs, client = logged_in("wanda"), logged_in("carol")
    assert theirs.get("/audit").status_code == 403
    client.post(f"/accounts/{wanda.pseudonym}/roles", {"roles": ["auditor"]})
    assert theirs.get("/audit").status_code == 200
    client.post(f"/accounts/{wanda.pseudonym}/roles", {"roles": ["owner"]})
    client.post(f"/accounts/{wanda.pseudonym}/roles", {})
    wanda.refresh_from_db()
    assert wanda.roles == ["auditor"]
    assert actions().count("set roles") == 1


@pytest.mark.parametrize(
    "verb", ["roles", "deactivate", "reactivate", "reset", "lost-second-factor"]
)
def test_nobody_changes_their_own_account_here(verb: str) -> None:
    carol = person("carol", "custodian")
    answer = logged_in("carol").post(f"/accounts/{carol.pseudonym}/{verb}", {"roles": ["auditor"]})
    assert answer.status_code == 403
    assert b"own account" in answer.content
    carol.refresh_from_db()
    assert (carol.is_active, carol.roles) == (True, ["custodian"])


def test_a_lost_second_factor_is_turned_off() -> None:
    person("carol", "custodian")
    wanda = person("wanda", "worker")
    with_second_factor(wanda)
    logged_in("carol").post(f"/accounts/{wanda.pseudonym}/lost-second-factor")
    assert log_in("wanda")[1]["Location"] == "/"
    assert "turn second factor off" in actions()


def _refused(by: str, account: Any) -> str:
    """Why both resets of an account are refused; "" where they are done."""
    answers = [
        logged_in(by).post(f"/accounts/{account.pseudonym}/{verb}")
        for verb in ("lost-second-factor", "reset")
    ]
    assert len({answer.status_code == 403 for answer in answers}) == 1
    return answers[-1].content.decode() if answers[-1].status_code == 403 else ""


@pytest.mark.parametrize("role", ["auditor", "manager"])
def test_nobody_resets_who_has_a_role_that_they_have_not(role: str) -> None:
    person("carol", "custodian")
    person("clara", "custodian", role)
    anna = person("anna", role, "worker")
    assert role in _refused("carol", anna)
    assert "account reset" in logged_in("carol").get(f"/accounts/{anna.pseudonym}").content.decode()
    assert not _refused("clara", anna)


def test_nobody_resets_who_takes_part_where_they_are_no_custodian() -> None:
    from sfumato.server.store.models import Member

    carol = person("carol", "custodian", "manager")
    person("clara", "custodian", "manager")
    will, wanda = person("will", "worker"), person("wanda", "worker")
    mark = person("mark", "manager")
    project, _ = stored(people=(carol, mark, will))
    said(Member.objects.create(project=project, account=wanda))
    for account in (mark, will, wanda):
        assert _refused("clara", account)
    assert _refused("clara", carol), "a custodian of a project"
    assert _refused("carol", mark), "who manages what carol may grant to"
    assert not _refused("carol", wanda)
    # Rows of the database say nothing: the log states who takes part.
    Member.objects.all().delete()
    assert _refused("clara", will)
    changed(project, state="purged")
    assert not _refused("clara", mark)
    assert not _refused("clara", will)


def test_a_reset_link_counts_only_while_its_maker_may_reset() -> None:
    person("carol", "custodian")
    wanda = person("wanda", "worker")
    made = link_in(logged_in("carol").post(f"/accounts/{wanda.pseudonym}/reset"))
    changed(wanda, roles=["auditor", "worker"])
    assert visitor().post(made, {"new": NEW, "again": NEW}).status_code == 404
    assert log_in("wanda")[1].status_code == 302, "by the password that there was"
    changed(wanda, roles=["worker"])
    assert visitor().post(made, {"new": NEW, "again": NEW}).status_code == 302


def test_an_unknown_account_is_not_there() -> None:
    person("carol", "custodian")
    client = logged_in("carol")
    assert client.get("/accounts/wffffffff").status_code == 404
    assert client.post("/accounts/wffffffff/deactivate").status_code == 404
