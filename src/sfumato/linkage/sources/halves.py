"""Which columns of a source are its identifying half, and which its analytic half."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sfumato.core.errors import InputError
from sfumato.linkage.spec.columns import sql_name
from sfumato.schema import Schema
from sfumato.schema.roles import RECIPE_SOURCE
from sfumato.table.schema_guess import WORDS, named, words_of

_PLACES = "country county state region city town district province suburb"


@dataclass(frozen=True)
class Halves:
    """How the columns of a source are separated.

    Attributes
    ----------
    compared
        The specification's columns that the source has: name and header.
    beside
        Other direct identifiers, for people who look at a pair: name in the identifying half,
        and header.
    analytic
        Headers of the rest.
    """

    compared: Mapping[str, str]
    beside: Mapping[str, str]
    analytic: tuple[str, ...]


def separate(
    headers: Sequence[str],
    compared: Mapping[str, str],
    id_header: str | None,
    schema: Schema | None,
) -> Halves:
    """Separate a source's columns: what identifies a person, and what is analysed.

    Direct identifiers are in the identifying half even if they are not compared: those of the
    schema, and without a schema columns whose name says so. The id of a record is in neither.

    Parameters
    ----------
    headers
        Names of the source's columns.
    compared
        The specification's columns that it has: name and header.
    id_header
        The header of its ids.
    schema
        What its columns are, where that is known.

    Raises
    ------
    InputError
        If a sensitive column is to be compared.
    """
    sensitive = set() if schema is None else {sql_name(name) for name in schema.sensitive}
    for header in compared.values():
        if sql_name(header) in sensitive:
            raise InputError(
                f"column '{header}'",
                "must not be compared",
                found="a sensitive column of the schema",
                advice="leave it out of the specification's columns",
            )
    taken = {sql_name(name) for name in compared}
    beside: dict[str, str] = {}
    analytic = []
    for header in headers:
        if header == id_header or header in compared.values():
            continue
        if not _identifies(header, schema):
            analytic.append(header)
        elif sql_name(header) and sql_name(header) not in taken:
            beside[sql_name(header)] = header
            taken.add(sql_name(header))
    return Halves(compared, beside, tuple(analytic))


def _identifies(header: str, schema: Schema | None) -> bool:
    own = sql_name(header)
    if schema is not None and own in {sql_name(name) for name in schema.columns()}:
        people = {schema.person, schema.household, *schema.direct_identifiers} - {None}
        people.update(schema.roles().get(RECIPE_SOURCE, ()))
        return own in {sql_name(str(name)) for name in people}
    words = words_of(header)
    if numbers_a_person(header):
        return True
    return named(words, WORDS["direct"]) and not named(words, _PLACES)


def numbers_a_person(header: str) -> bool:
    """Whether a column is, by its name, the number of a person with the state."""
    words = set(words_of(header))
    return {"soc", "sec"} <= words or {"social", "security"} <= words
