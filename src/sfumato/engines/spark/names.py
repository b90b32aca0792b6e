"""Names of the columns that an encoded file has on Spark."""

from __future__ import annotations

from sfumato.schema import Schema

PERSON = "sfumato_person"
TIE = "sfumato_tie"
HOUSEHOLD = "sfumato_household"
NODE = "sfumato_node"
CLASS = "sfumato_class"
WEIGHT = "sfumato_weight"

OWN = "sfumato_"
"""How the names of all these columns begin."""


def quasi_identifier(place: int) -> str:
    """The column of codes of a quasi-identifier, by its place in the schema."""
    return f"{OWN}q{place}"


def sensitive(place: int) -> str:
    """The column of codes of a sensitive attribute, by its place in the schema."""
    return f"{OWN}s{place}"


def code_columns(schema: Schema) -> list[str]:
    """All columns of codes, in the schema's order."""
    return [
        *map(quasi_identifier, range(len(schema.quasi_identifiers))),
        *map(sensitive, range(len(schema.sensitive))),
    ]
