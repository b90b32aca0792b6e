"""Addresses of e-mail: lower case."""

from __future__ import annotations


def email_sql(column: str) -> str:
    """An e-mail address in lower case, as SQL; text without an @ is missing.

    Parameters
    ----------
    column
        The address, as SQL.
    """
    text = f"regexp_replace(lower({column}), '\\s|^mailto:|[<>]', '', 'g')"
    return f"CASE WHEN contains({text}, '@') THEN {text} END"
