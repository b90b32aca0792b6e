"""Streets, suburbs and towns: words in lower case, the usual ones shortened."""

from __future__ import annotations

from sfumato.linkage.standardise.text import plain_sql, spaced_sql

SHORT = (
    ("st", "street|saint"),
    ("rd", "road"),
    ("ave", "avenue|av"),
    ("dr", "drive"),
    ("pl", "place"),
    ("cres", "crescent|cr"),
    ("cct", "circuit"),
    ("ct", "court"),
    ("tce", "terrace"),
    ("ln", "lane"),
    ("sq", "square"),
    ("mt", "mount"),
)
"""Short words, and the words that they stand for."""


def address_sql(column: str) -> str:
    """Part of an address in lower case, as SQL: ``12, High Street`` is ``12 high st``.

    Parameters
    ----------
    column
        The address, as SQL.
    """
    letters = f"regexp_replace({plain_sql(column)}, '''', '', 'g')"
    text = spaced_sql(f"regexp_replace({letters}, '[^\\p{{L}}\\p{{N}}]', ' ', 'g')")
    for short, words in SHORT:
        text = f"regexp_replace({text}, '\\b({words})\\b', '{short}', 'g')"
    return text
