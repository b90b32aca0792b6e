"""What a review may show of each attribute, and the values that its parts pass on.

`Shown`, `Comparison` hold data and never leave the server; a `RenderedPair` is what leaves it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from sfumato.core.declaration import Count, Parameter, Share
from sfumato.core.phrases import Phrase


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
    case_sensitive, accent_sensitive
        Whether ``a`` and ``A``, ``e`` and ``é`` are different characters.
    name_part
        Given or family name, where a swap of the two is looked for.
    date_order
        For dates: the order in which they are displayed and read where they do not say.
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
    """Places of the given and the family name, where there is one of each."""
    parts = [attribute.name_part for attribute in attributes]
    count = Counter(parts)
    # With two given names nobody could say which one was swapped.
    if count[NamePart.GIVEN] != 1 or count[NamePart.FAMILY] != 1:
        return None
    return parts.index(NamePart.GIVEN), parts.index(NamePart.FAMILY)


class Mode(IntEnum):
    """How much of an attribute a pair shows; more only ever follows less (001, Section 3.2)."""

    MASKED = 0
    """Every character is masked; marks say where the two values differ."""
    PARTIAL = 1
    """The characters in which the two values differ are disclosed."""
    FULL = 2
    """Every character is disclosed."""


class Policy(StrEnum):
    """Which records are in a row's anonymity set."""

    PAPER = "paper"
    """Those that agree with what this row alone discloses, lengths and rarity aside."""
    CONSISTENT = "consistent"
    """Those that agree with all that this worker has seen of the record, in whatever pair."""


class Floor(StrEnum):
    """What becomes of a disclosure that would leave an anonymity set below k."""

    REFUSE = "refuse"
    REPORT = "report"
    """It is allowed, and KAPR may exceed 1."""


class Costs(StrEnum):
    """What is shown as the cost of an opening before it."""

    BOUND = "bound"
    """The dearest cost over all values consistent with what this worker sees."""
    EXACT = "exact"
    """The paper's cost; it tells how frequent the hidden value is."""


class MaskWidth(StrEnum):
    """How wide a masked value is drawn."""

    TRUE = "true"
    """As wide as it is: lengths and the places of edits show."""
    FIXED = "fixed"
    """Always as wide: neither shows until characters are disclosed."""


NO_LIMIT = "no limit"
"""Asked for in words where a form or a file has no other way: what is left out lifts no limit."""


class Settings(BaseModel):
    """The rules of a review.

    Those of `CHOSEN` are options of ``sfumato review`` and keys of a project file's ``[review]``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    k: Annotated[
        int, Parameter("Records that what is disclosed must fit at least.", "NUMBER", Count(1))
    ] = 1
    k_floor: Annotated[
        Floor, Parameter("What becomes of a disclosure that would leave less than k.")
    ] = Floor.REFUSE
    policy: Annotated[
        Policy,
        Parameter(
            "Which records count as fitting: by all that was seen of the record (consistent), or "
            "by its row alone, as in the paper."
        ),
    ] = Policy.CONSISTENT
    costs: Annotated[
        Costs,
        Parameter(
            "Costs before opening: the most by what shows (bound), or the exact ones, which tell "
            "how frequent a hidden value is."
        ),
    ] = Costs.BOUND
    mask_width: Annotated[
        MaskWidth, Parameter("Masked values as wide as they are (true), or all alike.")
    ] = MaskWidth.TRUE
    start: Annotated[Mode, Parameter("How much shows of each pair at first.")] = Mode.MASKED
    budget: Annotated[
        float | None,
        Parameter(
            "KAPR that each worker may spend, from 0 to 1; 1 is no limit. Another one at a later "
            "start holds from then on and is recorded; what was spent stays spent.",
            "KAPR",
            Share(zero=True, one=True),
        ),
    ] = 0.2
    """In the trade-off that docs/reference/review.md shows it holds all that hints name."""
    project_budget: Annotated[
        float | None,
        Parameter(
            "KAPR that all workers together may spend, from 0 to 1.",
            "KAPR",
            Share(zero=True, one=True),
            usual="no limit",
        ),
    ] = None
    hints: Annotated[
        bool,
        Parameter(
            "Say which cell to open next; may be another at a later start.",
            option="--hints/--no-hints",
        ),
    ] = False
    rare_below: Annotated[
        int, Parameter("Fewer records than this are called rare.", "NUMBER", Count(2))
    ] = 5
    common_from: Annotated[
        int, Parameter("From so many records on a value is called common.", "NUMBER", Count(2))
    ] = 50

    @field_validator("budget", "project_budget", mode="before")
    @classmethod
    def _unlimited_in_words(cls, given: object) -> object:
        # TOML has no null, and a field that is left out means the default.
        return None if given == NO_LIMIT else given

    @model_validator(mode="after")
    def _bands_in_order(self) -> Settings:
        # Between the two a value is uncommon; a value must not be rare and common at once.
        if self.common_from < self.rare_below:
            raise ValueError("'common_from' must not be below 'rare_below'")
        return self


CHOSEN = ("k", "budget", "project_budget", "costs", "mask_width", "policy", "start", "hints")
"""What is chosen on a command line or in a project file; the web application knows all."""
PROPOSED = Settings()
"""What is proposed for a new project: every cell can be opened, and the budget is the limit."""


Positions = frozenset[int]
"""Places of characters in a value, from 0, separators not counted."""


def plain_settings(settings: Settings, *, without: set[str]) -> dict[str, Any]:
    """Rules as plain values, in the words of the command line."""
    plain_ = settings.model_dump(mode="json", exclude=without)
    return plain_ | {"start": settings.start.name.lower()}


@dataclass(frozen=True, slots=True)
class Shown:
    """A value as it would be displayed in full; a missing value is no `Shown` but ``None``.

    Attributes
    ----------
    characters
        What counts as its characters: graphemes; a category is one character.
    layout
        In the order of display: the place of a character, or the text of a separator.
    folded
        The characters as they are compared: case and accents removed where they do not count.
    """

    characters: tuple[str, ...]
    layout: tuple[int | str, ...]
    folded: tuple[str, ...]


class Status(StrEnum):
    """How the two values of a pair compare."""

    IDENTICAL = "identical"
    SIMILAR = "similar"
    """They differ in some characters, which partial disclosure shows."""
    DIFFERENT = "entirely different"
    MISSING_LEFT = "missing in row 1"
    MISSING_RIGHT = "missing in row 2"
    MISSING_BOTH = "missing in both rows"


class Mark(StrEnum):
    """What a masked pair says of the difference of two values."""

    IDENTICAL = "identical"
    DIFFERENT = "entirely different"
    MISSING = "missing"
    INSERTED = "inserted"
    """Row 2 has characters that row 1 has not."""
    DELETED = "deleted"
    """Row 1 has characters that row 2 has not."""
    SUBSTITUTED = "substituted"
    TRANSPOSED = "transposed"
    DAY_MONTH_SWAP = "day and month swapped"
    DAY = "day differs"
    MONTH = "month differs"
    YEAR = "year differs"
    NAME_SWAP = "given and family name swapped"


MEANING: Mapping[Mark, str] = {
    Mark.IDENTICAL: Phrase("identical"),
    Mark.DIFFERENT: Phrase("entirely different"),
    Mark.MISSING: Phrase("a value is missing"),
    Mark.INSERTED: Phrase("row 2 has more characters"),
    Mark.DELETED: Phrase("row 1 has more characters"),
    Mark.SUBSTITUTED: Phrase("characters replaced"),
    Mark.TRANSPOSED: Phrase("neighbours exchanged"),
    Mark.DAY_MONTH_SWAP: Phrase("day and month exchanged"),
    Mark.DAY: Phrase("the day differs"),
    Mark.MONTH: Phrase("the month differs"),
    Mark.YEAR: Phrase("the year differs"),
    Mark.NAME_SWAP: Phrase("given and family name exchanged"),
}
"""What each mark says, on a page."""
MODES: Mapping[Mode, str] = {
    Mode.MASKED: Phrase("masked"),
    Mode.PARTIAL: Phrase("partly"),
    Mode.FULL: Phrase("in full"),
}
"""How much shows, in words."""


class Rarity(StrEnum):
    """How many records of the database have a value, in bands."""

    RARE = "rare"
    UNCOMMON = "uncommon"
    COMMON = "common"


@dataclass(frozen=True, slots=True)
class Comparison:
    """How the two values of one attribute of a pair differ; the same in every mode.

    Attributes
    ----------
    left, right
        The values of row 1 and row 2, ``None`` where missing.
    differing
        Per row, the places of the characters that differ from the other row's; empty unless
        the status is similar or entirely different.
    marks
        What is said of the difference, in the order of the enumeration.
    edits
        Per row, the places at which each kind of edit is marked: pairs of mark and place.
    """

    left: Shown | None
    right: Shown | None
    status: Status
    differing: tuple[Positions, Positions]
    marks: tuple[Mark, ...]
    edits: tuple[tuple[tuple[Mark, int], ...], tuple[tuple[Mark, int], ...]]


class CellKind(StrEnum):
    """What one cell of a rendering is."""

    EQUAL = "equal"
    """A masked character that the other row has too: ``*``."""
    DIFFERING = "differing"
    """A masked character that the other row has not: ``@`` in row 1, ``&`` in row 2."""
    MASKED = "masked"
    """A masked character of which nothing is said."""
    CHARACTER = "disclosed character"
    SEPARATOR = "separator"
    """A separator of a date; no character."""
    MISSING = "missing"
    """There is no value: ``?``."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a rendering.

    Attributes
    ----------
    text
        The character or separator; ``""`` for every other kind.
    edit
        The edit marked at it, where there is one and lengths show.
    """

    kind: CellKind
    text: str = ""
    edit: Mark | None = None


@dataclass(frozen=True, slots=True)
class RenderedAttribute:
    """One attribute of a pair as it may be shown; nothing else of the values is in it.

    Attributes
    ----------
    rows
        The cells of row 1 and of row 2.
    rarity
        Per row, how rare the value is, where that is shown.
    """

    name: str
    mode: Mode
    marks: tuple[Mark, ...]
    rows: tuple[tuple[Cell, ...], tuple[Cell, ...]]
    rarity: tuple[Rarity | None, Rarity | None]
    more: tuple[Mode, ...]


RenderedPair = tuple[RenderedAttribute, ...]
"""A pair as it may be shown: its attributes in order."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a row discloses of one attribute of its record, beside the record's own value.

    A record is consistent with it if, where it has a value, it has the same number of characters
    (where `length`), is in the same rarity band (where `rarity`), has a value that occurs at
    least twice in the database (where `twice`), and has the same character at each of the
    `positions`; and if it has no value where that shows (`missingness`).
    """

    missingness: bool = False
    length: bool = False
    rarity: bool = False
    twice: bool = False
    positions: Positions = frozenset()

    def __or__(self, other: Seen) -> Seen:
        """What two rows of one record disclose together."""
        return Seen(
            # A worker remembers: what either row shows is known of the record.
            self.missingness or other.missingness,
            self.length or other.length,
            self.rarity or other.rarity,
            self.twice or other.twice,
            self.positions | other.positions,
        )


Knowledge = tuple[Seen, ...]
"""What is disclosed of one record: per attribute."""
