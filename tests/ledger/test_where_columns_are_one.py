"""From where on two columns of two releases are one, and how a ledger's file names itself."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from semantics.ledgers import opened

from sfumato.ledger import overlap
from sfumato.ledger.fitting_kinds import drawn
from sfumato.ledger.sketches import Shown

NOBODY = np.empty(0, dtype=np.int64)


def column(values, *, constant=True, name="a"):
    digests = np.asarray(values, dtype=np.uint32)
    return SimpleNamespace(digests=digests, constant=constant, name=name, shown=Shown.UNCHANGED)


@pytest.mark.parametrize(("same", "one"), [(91, True), (89, False)])
def test_columns_that_agree_on_nine_of_ten_persons_are_one(same, one):
    everybody = np.arange(100)
    other = column(np.where(everybody < same, everybody, everybody + 1_000))
    assert overlap._one_column(column(everybody), other, everybody, everybody) is one


@pytest.mark.parametrize(("shared", "one"), [(4, True), (3, False)])
def test_columns_that_share_a_fifth_of_their_histories_are_one(shared, one):
    own = column(np.arange(19), constant=False)
    other = column(np.arange(19) + 19 - shared, constant=False)
    assert overlap._one_column(own, other, NOBODY, NOBODY) is one


@pytest.mark.parametrize(("shared", "expected"), [(10, True), (9, False)])
def test_persons_in_common_are_expected_where_half_of_the_values_are(shared, expected):
    own, other = column(np.arange(20)), column(np.arange(20) + 20 - shared)
    assert overlap._is_expected([(own, other)]) is expected


@pytest.mark.parametrize(("moved", "one"), [(8, True), (12, False)])
def test_columns_of_one_shape_differ_in_a_tenth_of_the_persons_at_most(moved, one):
    own = np.repeat(np.arange(25), 4)
    other = np.where(np.arange(100) < moved, 24, own)
    assert overlap._is_of_one_shape(column(own), column(other + 100)) is one


def test_forty_thousand_persons_are_looked_at():
    assert len(drawn(40_000)) == len(drawn(100_000)) == 40_000


def test_a_ledger_says_in_its_first_bytes_what_it_is(tmp_path: Path) -> None:
    """https://sqlite.org/fileformat.html: the version at byte 60, the application's id at 68."""
    with opened(tmp_path):
        pass
    head = (tmp_path / "book" / "ledger.sqlite").read_bytes()[:72]
    assert head[68:] == b"SfLg"
    assert int.from_bytes(head[60:64], "big") == 1
