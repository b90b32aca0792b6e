"""New keys in the place of the server's: what goes on under them, what does not."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidTag
from server.clinic import stored
from server.people import logged_in, person, quick_hashes, who, with_second_factor
from server.test_heads import restored, set_back

from sfumato.core.errors import InputError

__all__ = ["quick_hashes"]


def _rotate() -> dict[str, str]:
    from sfumato.server import heads

    return heads.rotate()


def _keys() -> Any:
    from django.conf import settings

    return settings.SFUMATO_KEYS


def _with(monkeypatch: pytest.MonkeyPatch, keys: Any) -> None:
    """Be a process that has other keys."""
    from django.conf import settings

    monkeypatch.setattr(settings, "SFUMATO_KEYS", keys)


def _scene() -> Any:
    """A project with a note, and somebody with a second factor."""
    from sfumato.server.live import worker_actions

    carol, mark, will = (
        person(name, role)
        for name, role in (("carol", "custodian"), ("mark", "manager"), ("will", "worker"))
    )
    project, _ = stored(people=(carol, mark, will))
    token = project.dealt.first().token
    worker_actions.show_pair(will, project.pk, token)
    worker_actions.write_note(will, project.pk, token, "a note")
    with_second_factor(carol)
    project.refresh_from_db()
    return project


def _whole() -> None:
    from sfumato.server.audit_log import verify

    verdict = verify()
    assert (verdict.fault, verdict.differences) == ("", ())


def _fault() -> str:
    """What is wrong with the log, read from its start, as the check and as a request read it."""
    from sfumato.server.audit_log import verify
    from sfumato.server.proofs import forget, proofs

    forget()
    proofs().follow()
    assert proofs().fault == verify().fault
    return proofs().fault


def test_the_log_is_whole_across_new_keys_and_goes_on() -> None:
    from sfumato.server import heads
    from sfumato.server.audit_log import append, head
    from sfumato.server.store.models import AuditEntry

    _scene()
    for _ in range(2):
        before = _keys().names()
        told = _rotate()
        now = _keys().names()
        assert set(told) == set(now) == {"wrapping", "signing", "session"}
        assert not set(before.values()) & set(now.values())
        detail = json.loads(AuditEntry.objects.filter(action="replace keys").last().detail)
        for name, text in told.items():
            assert (before[name] in text, now[name] in text) == (True, True)
            assert detail[name] == text
        _whole()
        heads.keep()
        kept = heads.kept()
        assert kept is not None
        assert kept.head == head()
        append(None, "act", "project 1")
        assert _fault() == ""


def test_what_was_sealed_is_sealed_by_the_new_key_alone() -> None:
    from sfumato.server.accounts.backend import unseal_secret
    from sfumato.server.live import live_projects
    from sfumato.server.live.live_projects import key_of
    from sfumato.server.store.models import Account

    old = _keys()
    project = _scene()
    key = key_of(project)
    secret = unseal_secret(
        Account.objects.get(name="carol").totp, Account.objects.get(name="carol")
    )
    _rotate()
    project.refresh_from_db()
    carol = Account.objects.get(name="carol")
    assert key_of(project) == key
    assert unseal_secret(carol.totp, carol) == secret
    only, purpose = replace(_keys(), old_wrapping=()), live_projects._key_purpose(project.pk)
    assert only.unwrap(bytes(project.wrapped_key), purpose) == key
    with pytest.raises(InvalidTag):
        old.unwrap(bytes(project.wrapped_key), purpose)


def test_budgets_still_find_their_people() -> None:
    old = _keys()
    _scene()
    _rotate()
    assert _keys().fingerprint_of(b"a source") == old.fingerprint_of(b"a source")


def test_whoever_has_logged_in_logs_in_again() -> None:
    person("wanda", "worker")
    client = logged_in("wanda")
    assert who(client) == "wanda"
    _rotate()
    assert who(client) == ""


def test_a_server_that_still_runs_adds_nothing_under_the_old_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from sfumato.server.audit_log import append
    from sfumato.server.error_pages import Stop
    from sfumato.server.store.models import AuditEntry

    old = _keys()
    _scene()
    _rotate()
    count = AuditEntry.objects.count()
    with monkeypatch.context() as patch:
        _with(patch, old)
        with pytest.raises(Stop):
            append(None, "act", "project 1")
    assert AuditEntry.objects.count() == count
    _whole()


def _forge(old: Any) -> None:
    """Add an entry under the key of before, as whoever stole it would in the database."""
    from sfumato.core.chain import keyed, next_row
    from sfumato.server.audit_log import FIELDS, head
    from sfumato.server.store.models import AuditEntry

    told = ("", "act", "project 1", "{}")
    row = next_row(head(), told, keyed(old.chaining))
    AuditEntry.objects.create(**dict(zip(FIELDS, row, strict=True)))


def test_a_stolen_old_key_adds_nothing() -> None:
    from sfumato.server.proofs import proofs

    old = _keys()
    _scene()
    _rotate()
    proofs().follow()
    _forge(old)
    proofs().follow()
    assert "not signed" in proofs().fault
    assert "not signed" in _fault()


def test_a_stolen_old_key_adds_nothing_after_an_entry_whose_signature_it_made() -> None:
    from sfumato.core.chain import keyed
    from sfumato.server import heads
    from sfumato.server.audit_log import verify
    from sfumato.server.proofs import proofs
    from sfumato.server.store.models import AuditEntry

    old = _keys()
    _scene()
    _rotate()
    heads.keep()
    last = AuditEntry.objects.order_by("number").last()
    signature = keyed(old.chaining)(bytes.fromhex(last.digest)).hex()
    AuditEntry.objects.filter(pk=last.pk).update(signature=signature)
    _forge(old)
    proofs().follow()
    assert "not signed" in proofs().fault
    heads.check_kept()  # its digest is there
    assert "replaced" in verify().fault
    with pytest.raises(InputError, match="replaced"):
        _rotate()


def test_a_stolen_old_key_rewrites_nothing_of_before() -> None:
    from server.test_audit import _rewrite

    from sfumato.server.store.models import AuditEntry

    old = _keys()
    _scene()
    _rotate()
    numbers = list(AuditEntry.objects.order_by("number").values_list("number", flat=True))
    last = AuditEntry.objects.order_by("number").last()
    kept = AuditEntry.objects.filter(pk=last.pk).values().get()
    _rewrite(old.chaining, 3)
    AuditEntry.objects.filter(pk=last.pk).update(**kept)
    assert f"entry {numbers[-1]} does not follow" in _fault()


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.key")}


def test_rows_that_differ_get_no_new_keys(server: Any) -> None:
    from sfumato.server.store.models import Project

    _scene()
    before = _files(server.keys)
    Project.objects.update(title="another")
    with pytest.raises(InputError, match="1 rows that differ"):
        _rotate()
    assert _files(server.keys) == before


@pytest.mark.parametrize("step", range(9))
def test_no_key_is_lost_where_it_is_cut_short(
    server: Any, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    from django.conf import settings

    from sfumato.server.heads import check_current
    from sfumato.server.vault import load_keys

    project = _scene()
    old = _keys()
    left = [step]

    def cut(usual: Any) -> Any:
        def one(*given: Any, **named: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
            return usual(*given, **named)

        return one

    with monkeypatch.context() as patch:
        # For each key one is made and linked, then the old one is linked, then comes the new one.
        patch.setattr(os, "link", cut(os.link))
        patch.setattr(Path, "replace", cut(Path.replace))
        with pytest.raises(KeyboardInterrupt):
            _rotate()
    settings.SFUMATO_KEYS = load_keys(server.keys)
    assert old.signing in _keys().signings
    assert old.wrapping in (*_keys().old_wrapping, _keys().wrapping)
    project.refresh_from_db()
    _whole()
    if _keys().signing != old.signing:
        with pytest.raises(InputError, match="audit rotate"):
            check_current()
    _rotate()
    check_current()
    _whole()


def test_new_keys_of_which_the_log_says_nothing_are_not_gone_on_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The machine stopped after the files were written, before the database had the entry."""
    from sfumato.server import heads
    from sfumato.server.audit_log import verified
    from sfumato.server.live.live_projects import key_of

    project, old = _scene(), _keys()
    heads.keep()
    key = key_of(project)
    with monkeypatch.context() as patch:
        patch.setattr(heads.audit_log, "append", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            _rotate()
    project.refresh_from_db()
    heads.check_kept()
    assert verified(None).whole
    assert key_of(project) == key
    with pytest.raises(InputError, match="audit rotate"):
        heads.check_current()
    told = _rotate()
    assert old.names()["signing"] in told["signing"]
    heads.check_current()
    _whole()


def test_an_older_copy_goes_on_under_the_keys_of_today() -> None:
    from sfumato.server.heads import check_current
    from sfumato.server.live.live_projects import key_of
    from sfumato.server.store.models import AuditEntry

    project = _scene()
    key = key_of(project)
    with set_back():
        before = _keys().names()
        for _ in range(2):
            _rotate()
    project.refresh_from_db()
    assert key_of(project) == key
    assert restored() == 0
    check_current()
    project.refresh_from_db()
    assert key_of(project) == key
    (entry,) = AuditEntry.objects.filter(action="replace keys")
    told = json.loads(entry.detail)["signing"]
    assert (before["signing"] in told, _keys().names()["signing"] in told) == (True, True)


def test_an_older_copy_whose_rows_were_changed_is_not_stated_anew() -> None:
    from sfumato.server import heads
    from sfumato.server.store.models import Account

    _scene()
    with set_back():
        _rotate()
    Account.objects.filter(name="will").update(name="walter")
    with pytest.raises(InputError, match="1 rows that differ"):
        heads.restore()
