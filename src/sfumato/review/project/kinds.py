"""Proposals of what each attribute is, from its kind in the linkage, its name and its values."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.review.attributes import Attribute, AttributeKind, DateOrder, NamePart
from sfumato.table.schema_guess import CATEGORY_WORDS, WORDS, named, words_of

LOOKED_AT = 20_000
"""Records whose values are looked at."""
FEW = 60
"""Different values up to which text looks like a category."""
MOSTLY = 0.8
"""Share of values that must look like a kind."""

_OF_LINKAGE = {
    "given name": AttributeKind.VARIABLE,
    "surname": AttributeKind.VARIABLE,
    "full name": AttributeKind.VARIABLE,
    "date": AttributeKind.DATE,
    "postcode": AttributeKind.FIXED,
    "phone": AttributeKind.FIXED,
    "identifier": AttributeKind.FIXED,
    "email": AttributeKind.VARIABLE,
    "address": AttributeKind.VARIABLE,
    "category": AttributeKind.CATEGORY,
    "number": AttributeKind.FIXED,
}
_GIVEN = "given forename forenames firstname givenname fname christian vorname prenom"
_FAMILY = "surname surnames family lastname familyname lname sname nachname"
_PART_ALONE = {"first": "given name", "last": "surname"}
_ABOUT_A_PERSON = (
    "first last middle dob- birth- born sex gender zip- postcode postal plz city town suburb "
    "village state county country province municipality house unit flat street address social soc"
)
_FREE_TEXT = "note notes comment comments remark remarks narrative freetext letter"
_CODES = "zip- postcode postal plz ssn nhs nhi mrn medicare passport licence license soc phone"
_DATE = r"^\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})|^\s*(19|20)\d{6}\s*$"


def about_a_person(name: str) -> bool:
    """Whether a column is, by its name, about who a person is, and no free text.

    Parameters
    ----------
    name
        The column's name.
    """
    words = words_of(name)
    if named(words, _FREE_TEXT):
        return False
    if named(words, WORDS["direct"]):
        return True
    return named(words, _ABOUT_A_PERSON) and not named(words, WORDS["sensitive"])


def proposed_attributes(
    records: pa.Table,
    names: tuple[str, ...],
    kinds: Mapping[str, str] | None = None,
    day_first: Mapping[str, bool] | None = None,
) -> tuple[Attribute, ...]:
    """What each column is: by its kind in the linkage, else by its name and its values.

    The first given name and the first surname are the two parts of the name, and show how rare
    they are.

    Parameters
    ----------
    records
        The records, with columns of text.
    names
        The columns.
    kinds
        By column, its kind in the linkage.
    day_first
        By column of dates, whether the day stands before the month, where that is known.
    """
    kinds, day_first = kinds or {}, day_first or {}
    found: list[Attribute] = []
    parts: set[NamePart] = set()
    for name in names:
        values = pc.drop_null(records[name].slice(0, LOOKED_AT))
        word = kinds.get(name) or _by_name(name)
        kind = _OF_LINKAGE.get(word) or _by_values(name, values)
        part = {"given name": NamePart.GIVEN, "surname": NamePart.FAMILY}.get(word)
        if part in parts:
            part = None
        elif part is not None:
            parts.add(part)
        order = DateOrder.YEAR_MONTH_DAY
        if kind is AttributeKind.DATE:
            order = _date_order(values, day_first.get(name))
        found.append(
            Attribute(
                name=name, kind=kind, name_part=part, rarity=part is not None, date_order=order
            )
        )
    return tuple(found)


def _by_name(name: str) -> str:
    """The kind of a name's part, in the linkage's words; ``""`` for other columns."""
    words = words_of(name)
    if named(words, "birth- date dob-"):
        return ""
    if named(words, _GIVEN):
        return "" if named(words, _FAMILY) else "given name"
    if named(words, _FAMILY):
        return "surname"
    if len(words) == 1 or named(words, "name names"):
        return next((_PART_ALONE[word] for word in words if word in _PART_ALONE), "")
    return ""


def _by_values(name: str, values: pa.ChunkedArray) -> AttributeKind:
    words = words_of(name)
    if not len(values):
        return AttributeKind.VARIABLE
    if _share(pc.match_substring_regex(values, _DATE)) >= MOSTLY:
        return AttributeKind.DATE
    if named(words, CATEGORY_WORDS):
        return AttributeKind.CATEGORY
    lengths = pc.utf8_length(values)
    alike = pc.mode(lengths)[0]["count"].as_py() / len(values)
    digits = _share(pc.match_substring_regex(values, r"\d"))
    if digits >= MOSTLY and (alike >= MOSTLY or named(words, _CODES)):
        return AttributeKind.FIXED
    distinct = pc.count_distinct(values).as_py()
    if distinct <= FEW and distinct * 10 <= len(values) and not named(words, WORDS["direct"]):
        return AttributeKind.CATEGORY
    return AttributeKind.VARIABLE


def _date_order(values: pa.ChunkedArray, day_first: bool | None) -> DateOrder:
    """The order in which most dates stand; where they do not say, the day comes first."""
    if not len(values) or _share(pc.match_substring_regex(values, r"^\s*\d{4}")) >= MOSTLY / 2:
        return DateOrder.YEAR_MONTH_DAY
    if day_first is None:
        first = _share(pc.match_substring_regex(values, r"^\s*(1[3-9]|[23]\d)[-/.]"))
        second = _share(pc.match_substring_regex(values, r"^\s*\d{1,2}[-/.](1[3-9]|[23]\d)[-/.]"))
        day_first = first >= second
    return DateOrder.DAY_MONTH_YEAR if day_first else DateOrder.MONTH_DAY_YEAR


def _share(which: pa.ChunkedArray) -> float:
    return float(pc.mean(which).as_py() or 0.0)
