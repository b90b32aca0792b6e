"""The audit log: entries are added, and everything done to them afterwards is found."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from typing import Any

import pytest
from server.clinic import account

from sfumato.core.errors import InputError

COUNT = 12


def _fill(count: int = COUNT) -> Any:
    from sfumato.server.audit_log import append

    carol = account("carol", "custodian")  # the first entry
    for number in range(1, count):
        append(carol, f"act {number % 3}", f"project {number}", {"cost": number / 7, "é": "ü"})
    return carol


def _entries() -> Any:
    from sfumato.server.store.models import AuditEntry

    return AuditEntry.objects.order_by("number")


def _check(against: Any = None) -> Any:
    from sfumato.server.audit_log import verify

    return verify(against)


def _head() -> Any:
    from sfumato.server.audit_log import head

    return head()


def test_an_empty_log_is_whole() -> None:
    verdict = _check()
    assert (verdict.whole, verdict.entries, str(verdict.head)) == (True, 0, "0:" + "0" * 64)


def test_a_log_is_whole_and_its_head_is_the_last_entry() -> None:
    carol = _fill()
    verdict = _check()
    assert (verdict.whole, verdict.entries) == (True, COUNT)
    assert verdict.head == _head()
    last = _entries().last()
    assert (last.number, last.actor, last.digest) == (COUNT, carol.pseudonym, verdict.head.digest)
    assert json.loads(last.detail) == {"cost": (COUNT - 1) / 7, "é": "ü"}


def test_an_entry_goes_with_the_transaction_that_it_tells_of() -> None:
    from django.db import transaction

    from sfumato.server.audit_log import append

    def fails() -> None:
        with transaction.atomic():
            append(None, "act", "project 1")
            raise ZeroDivisionError

    _fill(2)
    with pytest.raises(ZeroDivisionError):
        fails()
    append(None, "act", "project 2")
    assert [entry.number for entry in _entries()] == [1, 2, 3]
    assert _check().whole


def test_entries_of_many_threads_form_one_chain() -> None:
    from django.db import connections

    from sfumato.server.audit_log import append

    def work() -> None:
        for _ in range(10):
            append(None, "act", "project 1")
        connections.close_all()

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [entry.number for entry in _entries()] == list(range(1, 61))
    assert _check().whole


FIELDS = ("time", "actor", "action", "resource", "detail", "previous", "digest", "signature")


@pytest.mark.parametrize("number", [1, 6, COUNT])
@pytest.mark.parametrize("field", FIELDS)
def test_a_changed_field_is_found(field: str, number: int) -> None:
    _fill()
    entry = _entries().get(number=number)
    value = getattr(entry, field)
    changed = ("1" if value[:1] != "1" else "2") + value[1:]
    _entries().filter(number=number).update(**{field: changed})
    verdict = _check()
    assert not verdict.whole
    assert f"entry {number}" in verdict.fault
    assert verdict.entries == number - 1


def test_text_moved_from_one_field_to_the_next_is_found() -> None:
    _fill()
    _entries().filter(number=4).update(action="act", resource="0project 3")
    assert "entry 4 was changed" in _check().fault


def _delete_first() -> None:
    _entries().filter(number=1).delete()


def _delete_middle() -> None:
    _entries().filter(number=5).delete()


def _delete_and_renumber() -> None:
    from django.db.models import F

    _entries().filter(number=5).delete()
    for number in range(6, COUNT + 1):
        _entries().filter(number=number).update(number=F("number") - 1)


def _exchange() -> None:
    _entries().filter(number=5).update(number=100)
    _entries().filter(number=6).update(number=5)
    _entries().filter(number=100).update(number=6)


def _repeat_last() -> None:
    entry = _entries().last()
    entry.number += 1
    entry.save(force_insert=True)


@pytest.mark.parametrize(
    "tamper", [_delete_first, _delete_middle, _delete_and_renumber, _exchange, _repeat_last]
)
def test_left_out_moved_and_repeated_entries_are_found(tamper: Callable[[], None]) -> None:
    _fill()
    tamper()
    assert not _check().whole


def test_a_log_that_was_cut_off_is_found_by_a_head_that_was_kept() -> None:
    _fill()
    kept = _head()
    assert _check(kept).whole
    _entries().filter(number__gt=9).delete()
    assert _check().whole, "what is left is a whole log"
    verdict = _check(kept)
    assert re.findall(r"\d+", verdict.fault) == ["9", "12"]


def test_an_emptied_log_is_found_by_a_head_that_was_kept() -> None:
    _fill()
    kept = _head()
    _entries().delete()
    assert not _check(kept).whole


def test_a_log_that_went_on_fits_a_head_that_was_kept() -> None:
    from sfumato.server.audit_log import append

    _fill()
    kept = _head()
    append(None, "act", "project 1")
    assert _check(kept).whole


def _rewrite(key: bytes, since: int) -> None:
    """Change an entry and make every digest and signature from it on anew."""
    from sfumato.core.chain import START, digest_of, keyed

    previous = START
    for entry in _entries():
        if entry.number == since:
            entry.resource = "project 99"
        if entry.number >= since:
            entry.previous = previous
            entry.digest = digest_of(
                entry.number, entry.time, entry.actor, entry.action, entry.resource, entry.detail,
                previous,
            )  # fmt: skip
            entry.signature = keyed(key)(bytes.fromhex(entry.digest)).hex()
            entry.save()
        previous = entry.digest


def test_a_log_rewritten_with_another_key_is_found() -> None:
    _fill()
    _rewrite(b"another key", 7)
    assert re.findall(r"\d+", _check().fault) == ["7"]


def test_a_log_rewritten_with_the_right_key_is_found_by_a_head_that_was_kept() -> None:
    from django.conf import settings

    _fill()
    kept = _head()
    _rewrite(settings.SFUMATO_KEYS.chaining, 7)
    assert _check().whole, "it cannot be told without the head"
    assert re.findall(r"\d+", _check(kept).fault) == ["12"]


def test_a_rewritten_log_that_went_on_is_found_at_the_head_that_was_kept() -> None:
    from django.conf import settings

    from sfumato.server.audit_log import append

    _fill()
    kept = _head()
    append(None, "act", "project 1")
    _rewrite(settings.SFUMATO_KEYS.chaining, 2)
    assert re.findall(r"\d+", _check(kept).fault) == ["12"]


def test_a_head_is_read_as_it_was_printed() -> None:
    from sfumato.server.audit_log import parse_head

    _fill()
    assert parse_head(f" {_head()}\n") == _head()


@pytest.mark.parametrize(
    "text", ["", "12", "12:abc", "x:" + "0" * 64, "1:" + "g" * 64, "-1:" + "0" * 64]
)
def test_what_is_no_head_is_refused(text: str) -> None:
    from sfumato.server.audit_log import parse_head

    with pytest.raises(InputError, match="must be a head"):
        parse_head(text)
