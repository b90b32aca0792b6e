"""The language of blocking rules: ``surname:4`` is the first four letters of a surname.

A rule is a list of parts; two records are compared if all parts of a rule are equal. A part is
the name of a column, or a name, a colon, and what is taken of the value:

=====================  ==========================================================================
``surname``            the whole value
``surname:4``          its first four characters; a shorter value counts as it is
``phone:-4``           its last four characters
``surname:sound``      its first letter and the next three consonants
``name:first``         the given names of a full name, the first word of another text
``name:last``          the surname of a full name, the last word of another text
``dob:year``           the year of a date; also ``dob:month`` and ``dob:day``
``postcode:area``      the area of a postcode, as in the comparison
``email:user``         what stands before the @; also ``email:domain``
=====================  ==========================================================================
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sfumato.linkage.spec.columns import given_of, quoted, sql_name, surname_of
from sfumato.linkage.spec.kinds import ColumnKind
from sfumato.linkage.spec.postcode_area import area_sql

_LENGTH = re.compile(r"-?[1-9][0-9]?")
_TEXTS = {
    ColumnKind.GIVEN_NAME,
    ColumnKind.SURNAME,
    ColumnKind.FULL_NAME,
    ColumnKind.ADDRESS,
    ColumnKind.CATEGORY,
}
_TAKES: dict[str, tuple[set[ColumnKind], str]] = {
    "sound": (
        _TEXTS,
        "left({x}, 1) || left(regexp_replace(substr({x}, 2), '[aeiouyhw \\d]', '', 'g'), 3)",
    ),
    "first": (_TEXTS, "split_part({x}, ' ', 1)"),
    "last": (_TEXTS, "split_part({x}, ' ', -1)"),
    "year": ({ColumnKind.DATE}, "substr({x}, 1, 4)"),
    "month": ({ColumnKind.DATE}, "substr({x}, 6, 2)"),
    "day": ({ColumnKind.DATE}, "substr({x}, 9, 2)"),
    "area": ({ColumnKind.POSTCODE}, ""),
    "user": ({ColumnKind.EMAIL}, "split_part({x}, '@', 1)"),
    "domain": ({ColumnKind.EMAIL}, "split_part({x}, '@', 2)"),
}


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a blocking rule.

    Attributes
    ----------
    column
        Name of the column.
    take
        What is taken of its value, ``""`` for all.
    """

    column: str
    take: str = ""

    def __str__(self) -> str:
        """As it is written in a rule."""
        return f"{self.column}:{self.take}" if self.take else self.column


def parse_part(text: str) -> Part:
    """A part from its text; what follows the last colon is taken of the value.

    Parameters
    ----------
    text
        Such as ``"surname:4"``.

    Raises
    ------
    ValueError
        If it names no column, or asks for something that there is not.
    """
    column, colon, take = text.rpartition(":")
    if not colon:
        column, take = text, ""
    if not column.strip() or (colon and not take):
        raise ValueError("a part of a blocking rule must be a column, or a column:what")
    if take and take not in _TAKES and not _LENGTH.fullmatch(take):
        raise ValueError(
            f"a part of a blocking rule may take: a number of characters, {', '.join(_TAKES)}"
        )
    return Part(column, take)


def fits(part: Part, kind: ColumnKind) -> bool:
    """Whether the part can be taken of values of a kind."""
    return part.take not in _TAKES or kind in _TAKES[part.take][0]


def part_sql(part: Part, kind: ColumnKind, side: str = "") -> str:
    """The part of a standardised value, as an expression of DuckDB's SQL.

    Parameters
    ----------
    part
        The part.
    kind
        What its column holds.
    side
        The record whose value it is, ``"l"`` or ``"r"``; none for that of a single table.
    """
    name, take = sql_name(part.column), part.take
    if kind is ColumnKind.FULL_NAME and take in {"first", "last"}:
        name, take = (given_of if take == "first" else surname_of)(name), ""
    elif kind is ColumnKind.FULL_NAME and take:
        name = surname_of(name)
    column = f"{side}.{quoted(name)}" if side else quoted(name)
    if not take:
        return column
    if take == "area":
        return area_sql(column)
    if take in _TAKES:
        return _TAKES[take][1].format(x=column)
    length = int(take)
    return f"left({column}, {length})" if length > 0 else f"right({column}, {-length})"
