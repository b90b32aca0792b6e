"""Numbers of persons: capitals and digits."""

from __future__ import annotations

from sfumato.linkage.standardise.text import not_repeated_sql

UNKNOWN_FROM = 5
"""Length from which one character again and again stands for an unknown number."""


def identifier_sql(column: str) -> str:
    """A number of a person without separators and leading zeros, as SQL.

    Parameters
    ----------
    column
        The number, as SQL.
    """
    whole = f"regexp_replace(upper({column}), '[.]0+$', '')"
    text = f"regexp_replace({whole}, '[^\\p{{L}}\\p{{N}}]', '', 'g')"
    text = f"nullif(regexp_replace({text}, '^0+(\\d+)$', '\\1'), '')"
    return not_repeated_sql(text, UNKNOWN_FROM)
