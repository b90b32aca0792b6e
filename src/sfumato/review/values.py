"""The values that rendering, anonymity sets and costs pass on.

`Shown`, `Comparison` hold data and never leave the server; a `RenderedPair` is what leaves it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sfumato.review.modes import Mode

Positions = frozenset[int]
"""Places of characters in a value, from 0, separators not counted."""


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
    status
        How they compare.
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
    kind
        What it is.
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
    name
        The attribute.
    mode
        How much of it is shown.
    marks
        What is said of the difference.
    rows
        The cells of row 1 and of row 2.
    rarity
        Per row, how rare the value is, where that is shown.
    more
        The modes that would show more than this one.
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
            self.missingness or other.missingness,
            self.length or other.length,
            self.rarity or other.rarity,
            self.twice or other.twice,
            self.positions | other.positions,
        )


Knowledge = tuple[Seen, ...]
"""What is disclosed of one record: per attribute."""
