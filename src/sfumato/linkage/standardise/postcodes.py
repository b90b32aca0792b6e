"""Postcodes: capitals and digits."""

from __future__ import annotations


def postcode_sql(column: str) -> str:
    """A postcode without spaces, as SQL: ``sw1a 1aa`` is ``SW1A1AA``.

    The four digits behind an American one are left out, and so are leading zeros, which a
    column that was once read as numbers has lost.

    Parameters
    ----------
    column
        The postcode, as SQL.
    """
    whole = f"regexp_replace(upper(trim({column})), '[.]0+$', '')"
    whole = f"regexp_replace({whole}, '^(\\d{{5}})-?\\d{{4}}$', '\\1')"
    text = f"regexp_replace({whole}, '[^A-Z0-9]', '', 'g')"
    return f"nullif(regexp_replace({text}, '^0+(\\d+)$', '\\1'), '')"
