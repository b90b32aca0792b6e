"""What all kinds of text have in common: case, accents, spaces."""

from __future__ import annotations

_LETTERS = (("ß", "ss"), ("æ", "ae"), ("œ", "oe"))
_FROM, _TO = "øłđðıþ", "olddit"


def plain_sql(column: str) -> str:
    """A text in lower case without accents, as SQL.

    Parameters
    ----------
    column
        The text, as SQL.
    """
    text = f"strip_accents(lower({column}))"
    for letter, letters in _LETTERS:
        text = f"replace({text}, '{letter}', '{letters}')"
    text = f"translate({text}, '{_FROM}', '{_TO}')"
    ascii_only = f"strlen({column}) = length({column})"
    return f"CASE WHEN {ascii_only} THEN lower({column}) ELSE {text} END"


def spaced_sql(text: str) -> str:
    """A text with single spaces between its words and none around them; empty is missing."""
    single = f"regexp_replace({text}, '\\s+', ' ', 'g')"
    return f"nullif(trim({single}), '')"


def not_repeated_sql(text: str, length: int) -> str:
    """A text, missing where it is one character again and again: 0000000, 9999999.

    Parameters
    ----------
    text
        The text, as SQL.
    length
        Length from which that means that nobody knew it.
    """
    repeated = f"replace({text}, left({text}, 1), '') = ''"
    return f"CASE WHEN length({text}) >= {length} AND {repeated} THEN NULL ELSE {text} END"
