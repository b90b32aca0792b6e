"""Names of persons: letters only, without titles; full names taken apart."""

from __future__ import annotations

from sfumato.linkage.standardise.text import plain_sql, spaced_sql

TITLES = (
    "mr mrs ms miss mx dr doctor prof professor sir dame rev reverend fr father sr sister "
    "herr frau monsieur madame mme mlle senor senora"
)
"""Words before a name that are no part of it."""
SUFFIXES = "jr junior sr senior ii iii iv esq phd md obe mbe"
"""Words behind a name that are no part of it."""

_TITLES = f"^(({'|'.join(TITLES.split())})\\s+)+(\\S)"
_SUFFIXES = f"(\\S)(\\s+({'|'.join(SUFFIXES.split())}))+$"


def _letters_sql(text: str) -> str:
    """Letters and single spaces; a hyphen or full stop parts words, an apostrophe does not."""
    parted = f"regexp_replace({text}, '[-_./,;()0-9]+', ' ', 'g')"
    return spaced_sql(f"regexp_replace({parted}, '[^\\p{{L}}\\p{{M}} ]', '', 'g')")


def _untitled_sql(text: str) -> str:
    return f"regexp_replace({text}, '{_TITLES}', '\\3')"


def given_name_sql(column: str) -> str:
    """Given names in lower case, without titles, as SQL: ``Dr. Anne-Marie`` is ``anne marie``.

    Parameters
    ----------
    column
        The names, as SQL.
    """
    return _untitled_sql(_letters_sql(plain_sql(column)))


def surname_sql(column: str) -> str:
    """A surname in lower case, as SQL: ``O'Brien, Jr.`` is ``obrien``.

    Parameters
    ----------
    column
        The surname, as SQL.
    """
    untitled = _untitled_sql(_letters_sql(plain_sql(column)))
    return f"regexp_replace({untitled}, '{_SUFFIXES}', '\\1')"


def full_name_sql(column: str) -> str:
    """Given names and surname in this order, as SQL: ``Smith, Dr John`` is ``john smith``.

    Parameters
    ----------
    column
        The name, as SQL.
    """
    suffix = f"[,\\s]+({'|'.join(SUFFIXES.split())})[.]?\\s*$"
    without = f"regexp_replace({column}, '{suffix}', '', 'i')"
    return surname_sql(f"regexp_replace({without}, '^([^,]+),(.*[^, ].*)$', '\\2 \\1')")


def given_in_full_sql(name: str) -> str:
    """The given names in a standardised full name: all words but the last; missing if one."""
    return f"nullif(regexp_extract({name}, '^(.*) \\S+$', 1), '')"


def surname_in_full_sql(name: str) -> str:
    """The surname in a standardised full name: its last word."""
    return f"split_part({name}, ' ', -1)"
