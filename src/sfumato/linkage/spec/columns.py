"""Names of columns: in headers, in a specification, in SQL."""

from __future__ import annotations

import re
import unicodedata

RESERVED = frozenset(
    {"record", "source", "source_dataset", "unique_id", "match_key", "match_weight"}
)
"""Names that the tables of a linkage use themselves."""


def sql_name(name: str) -> str:
    """A name in lower-case ASCII letters, digits and underscores.

    Headers and names of a specification that have the same one are the same column:
    ``" Given-Name"`` and ``given_name``. A name without such letters has the empty one.

    Parameters
    ----------
    name
        The header or name.
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "_", plain).strip("_")


def quoted(name: str) -> str:
    """A name as an identifier of SQL."""
    return '"' + name.replace('"', '""') + '"'


def given_of(name: str) -> str:
    """The SQL name of the given names in a column of full names."""
    return f"{name}_given"


def surname_of(name: str) -> str:
    """The SQL name of the surname in a column of full names."""
    return f"{name}_surname"
