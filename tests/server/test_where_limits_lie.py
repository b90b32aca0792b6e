"""Limits of accounts, sessions and uploads: each is shown on both of its sides."""

from __future__ import annotations

import base64
import json
import time
from types import SimpleNamespace
from typing import Any

import pytest


def test_ten_recovery_codes_of_48_bits_are_given_out(server: Any) -> None:
    from sfumato.server.accounts.backend import new_recovery

    codes = new_recovery(SimpleNamespace(recovery=[]))
    raw = [base64.b32decode(f"{code.replace('-', '').upper()}======") for code in codes]
    assert [8 * len(each) for each in raw] == [48] * 10


def test_a_secret_of_a_second_factor_is_as_long_as_its_hash() -> None:
    """RFC 4226, section 4: 160 bits are recommended, as of HMAC-SHA-1."""
    from sfumato.server.accounts.backend import new_secret

    assert 8 * len(new_secret()) == 160


def test_what_is_stored_of_a_session_fills_its_column(server: Any) -> None:
    from django.contrib.sessions.models import Session

    from sfumato.server.accounts.sessions import stored_key

    assert len(stored_key("a")) == Session._meta.get_field("session_key").max_length


@pytest.mark.parametrize(("seconds", "fresh"), [(299, True), (301, False), (-5, False)])
def test_a_proof_is_fresh_for_five_minutes(seconds: int, fresh: bool) -> None:
    from sfumato.server.accounts import sessions, views

    request: Any = SimpleNamespace(session={sessions.FRESH: time.time() - seconds})
    assert views.is_fresh(request) is fresh


def test_a_row_is_stated_in_128_bits(server: Any) -> None:
    from sfumato.server.stated_rows import _digest

    assert 4 * len(_digest("row")) == 128


@pytest.mark.parametrize(("letters", "cut"), [(400, False), (401, True)])
def test_the_list_of_the_log_shows_400_letters_of_a_detail(letters: int, cut: bool) -> None:
    from sfumato.server.auditor_views import details

    [(_, told)] = details(json.dumps({"a": "x" * letters}))
    assert told == "x" * 400 + "…" * cut


@pytest.mark.parametrize(("letters", "cut"), [(38, False), (39, True)])
def test_a_difference_tells_forty_letters_of_a_value(letters: int, cut: bool) -> None:
    from sfumato.server.replay import _text

    assert _text("x" * letters).endswith("...") is cut


@pytest.mark.parametrize(("rows", "refused"), [(5_000_000, False), (5_000_001, True)])
def test_a_file_has_five_million_rows_at_most(rows: int, refused: bool) -> None:
    from sfumato.core.errors import InputError
    from sfumato.server.manager.uploads import _check_rows

    try:
        _check_rows("file", rows)
    except InputError:
        assert refused
    else:
        assert not refused


@pytest.mark.parametrize(("points", "shown"), [(300, 300), (301, 151), (3_000, 300)])
def test_a_line_has_300_points_at_most_and_the_last_one(points: int, shown: int) -> None:
    from sfumato.server.manager.project_figures import _fewer

    found = _fewer([*range(points)])
    assert (len(found), found[-1]) == (shown, points - 1)


@pytest.mark.parametrize(("ago", "holds"), [(14, True), (16, False)])
def test_what_takes_a_second_is_worked_out_again_after_fifteen(ago: int, holds: bool) -> None:
    from sfumato.server.manager.project_figures import _Kept

    now = time.monotonic()
    kept = _Kept((1, 1), now - ago - 1, now - ago, SimpleNamespace())  # type: ignore[arg-type]
    assert kept.holds() is holds
