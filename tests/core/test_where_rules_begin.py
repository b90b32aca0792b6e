"""Lengths of keys and pseudonyms, and from where on columns are counted."""

from __future__ import annotations

import base64

import pytest

from sfumato.core.number_text import named
from sfumato.core.secret_keys import keyed_pseudonyms


def test_a_keyed_pseudonym_has_120_bits_in_24_characters() -> None:
    [told] = keyed_pseudonyms(["a"], b"k" * 32)
    assert (len(told), 8 * len(base64.b32decode(told.upper()))) == (24, 120)


@pytest.mark.parametrize(("columns", "counted"), [(5, False), (6, True)])
def test_six_columns_are_counted_and_not_named(columns: int, counted: bool) -> None:
    assert str(named([f"c{n}" for n in range(columns)])).startswith(str(columns)) is counted
