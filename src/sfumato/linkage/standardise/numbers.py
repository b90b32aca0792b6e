"""Numbers, such as those of houses: without leading zeros; letters stay."""

from __future__ import annotations


def number_sql(column: str) -> str:
    """A number without leading zeros or a decimal part of zeros, as SQL: ``007.0`` is ``7``.

    Parameters
    ----------
    column
        The number, as SQL.
    """
    text = f"regexp_replace(lower({column}), '\\s', '', 'g')"
    text = f"regexp_replace({text}, '[.]0+$', '')"
    return f"nullif(regexp_replace({text}, '^0+(\\d)', '\\1'), '')"
