"""Telephone numbers: their last nine digits."""

from __future__ import annotations

from sfumato.linkage.standardise.text import not_repeated_sql

DIGITS = 9
"""Digits that are kept: what stands before them is the country's code or a trunk prefix."""
FEWEST = 5
"""A number of fewer digits is missing."""


def phone_sql(column: str) -> str:
    """The last nine digits of a telephone number, as SQL.

    ``+44 20 7946 0018`` and ``020 7946 0018`` are ``079460018``.

    Parameters
    ----------
    column
        The number, as SQL.
    """
    whole = f"regexp_replace({column}, '[.]0+$|(?i:\\s*(ext|x)[. ]*\\d+$)', '')"
    digits = f"right(regexp_replace({whole}, '[^0-9]', '', 'g'), {DIGITS})"
    return not_repeated_sql(f"CASE WHEN length({digits}) >= {FEWEST} THEN {digits} END", FEWEST)
