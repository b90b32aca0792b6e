"""What each attribute that a worker may see is, and how it may be shown."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator


class AttributeKind(StrEnum):
    """How an attribute's characters are compared, masked and counted (001, Section 3.2)."""

    FIXED = "fixed-length string"
    """A number of a person; every value has the same layout."""
    VARIABLE = "variable-length string"
    """A name or an address; spaces count as characters."""
    DATE = "date"
    """A date; its separators are no characters."""
    CATEGORY = "categorical"
    """One unit: masked or full, never partial."""


class NamePart(StrEnum):
    """Which half of a name an attribute is; the two halves may be swapped in a record."""

    GIVEN = "given"
    FAMILY = "family"


class DateOrder(StrEnum):
    """The order in which a date is displayed."""

    YEAR_MONTH_DAY = "year-month-day"
    DAY_MONTH_YEAR = "day/month/year"
    MONTH_DAY_YEAR = "month/day/year"


class Attribute(BaseModel):
    """One attribute that a worker may see.

    Parameters
    ----------
    name
        Its name: the column in every table, and the heading on the page.
    kind
        What it holds.
    case_sensitive, accent_sensitive
        Whether ``a`` and ``A``, ``e`` and ``é`` are different characters.
    name_part
        Given or family name, where a swap of the two is looked for.
    date_order
        For dates: the order in which they are displayed and read where they do not say.
    rarity
        Whether a masked value shows how rare it is.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    name: Annotated[str, Field(min_length=1)]
    kind: AttributeKind
    case_sensitive: bool = False
    accent_sensitive: bool = False
    name_part: NamePart | None = None
    date_order: DateOrder = DateOrder.YEAR_MONTH_DAY
    rarity: bool = False

    @model_validator(mode="after")
    def _options_fit_kind(self) -> Attribute:
        if self.name_part is not None and self.kind is not AttributeKind.VARIABLE:
            raise ValueError("'name_part' is for variable-length strings only")
        return self


def names_of(attributes: tuple[Attribute, ...]) -> tuple[int, int] | None:
    """Places of the given and the family name, where there is one of each.

    Parameters
    ----------
    attributes
        The attributes of a project.
    """
    parts = [each.name_part for each in attributes]
    count = Counter(parts)
    if count[NamePart.GIVEN] != 1 or count[NamePart.FAMILY] != 1:
        return None
    return parts.index(NamePart.GIVEN), parts.index(NamePart.FAMILY)
