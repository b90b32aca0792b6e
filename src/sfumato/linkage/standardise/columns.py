"""The standardised columns of a specification, each as SQL over the identifying half."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sfumato.linkage.spec.columns import given_of, quoted, sql_name, surname_of
from sfumato.linkage.spec.kinds import ColumnKind
from sfumato.linkage.spec.model import ComparedColumn
from sfumato.linkage.standardise.addresses import address_sql
from sfumato.linkage.standardise.categories import category_sql
from sfumato.linkage.standardise.emails import email_sql
from sfumato.linkage.standardise.identifiers import identifier_sql
from sfumato.linkage.standardise.names import (
    full_name_sql,
    given_in_full_sql,
    given_name_sql,
    surname_in_full_sql,
    surname_sql,
)
from sfumato.linkage.standardise.numbers import number_sql
from sfumato.linkage.standardise.phones import phone_sql
from sfumato.linkage.standardise.postcodes import postcode_sql

_BY_KIND: dict[ColumnKind, Callable[[str], str]] = {
    ColumnKind.GIVEN_NAME: given_name_sql,
    ColumnKind.SURNAME: surname_sql,
    ColumnKind.FULL_NAME: full_name_sql,
    ColumnKind.POSTCODE: postcode_sql,
    ColumnKind.PHONE: phone_sql,
    ColumnKind.IDENTIFIER: identifier_sql,
    ColumnKind.EMAIL: email_sql,
    ColumnKind.ADDRESS: address_sql,
    ColumnKind.CATEGORY: category_sql,
    ColumnKind.NUMBER: number_sql,
}


@dataclass(frozen=True, slots=True)
class Compared:
    """One comparison: a column, or one of the two names in a column of full names.

    Attributes
    ----------
    name
        How it is called: the column's SQL name, with ``_given`` or ``_surname`` for parts of a
        full name.
    kind
        What it holds.
    term_frequency
        Whether agreement on a rare value counts more; ``None`` leaves it to the kind.
    column
        Name of the specification's column that it comes from.
    """

    name: str
    kind: ColumnKind
    term_frequency: bool | None
    column: str


def comparisons_of(name: str, column: ComparedColumn) -> tuple[Compared, ...]:
    """The comparisons of a column: one, two of a full name, none where it is not compared.

    Parameters
    ----------
    name
        Its name.
    column
        What the specification says of it.
    """
    own = sql_name(name)
    if not column.compare:
        return ()
    if column.kind is ColumnKind.FULL_NAME:
        parts = ((given_of(own), ColumnKind.GIVEN_NAME), (surname_of(own), ColumnKind.SURNAME))
        return tuple(Compared(part, kind, column.term_frequency, name) for part, kind in parts)
    return (Compared(own, column.kind, column.term_frequency, name),)


def standardised_sql(kind: ColumnKind, column: str) -> str:
    """A standardised value, as SQL; dates have a file of their own.

    Parameters
    ----------
    kind
        What the column holds, not a date.
    column
        Its value as it came, as SQL.
    """
    return _BY_KIND[kind](column)


def parts_sql(name: str) -> dict[str, str]:
    """The two names in a standardised full name: name of the part, and SQL."""
    own = quoted(name)
    return {given_of(name): given_in_full_sql(own), surname_of(name): surname_in_full_sql(own)}
