"""The area of a postcode."""

from __future__ import annotations


def area_sql(column: str) -> str:
    """The area of a standardised postcode, as SQL.

    The outward code of a British postcode (``SW1A1AA``: ``SW1A``) or the first three characters
    of a Canadian one; of a postcode of digits all but the last two.

    Parameters
    ----------
    column
        The postcode, as SQL.
    """
    return (
        f"CASE WHEN regexp_matches({column}, '[A-Z]') AND length({column}) > 4 "
        f"THEN left({column}, length({column}) - 3) "
        f"WHEN length({column}) > 3 THEN left({column}, length({column}) - 2) "
        f"ELSE {column} END"
    )
