"""Categories: words in lower case."""

from __future__ import annotations

from sfumato.linkage.standardise.text import plain_sql, spaced_sql

_SEX = (("male", "m"), ("man", "m"), ("female", "f"), ("woman", "f"))


def category_sql(column: str) -> str:
    """A category in lower case without punctuation, as SQL; ``Female`` and ``F`` are ``f``.

    Parameters
    ----------
    column
        The category, as SQL.
    """
    text = spaced_sql(f"regexp_replace({plain_sql(column)}, '[^\\p{{L}}\\p{{N}}+<>]', ' ', 'g')")
    words = " ".join(f"WHEN '{word}' THEN '{letter}'" for word, letter in _SEX)
    return f"CASE {text} {words} ELSE {text} END"
