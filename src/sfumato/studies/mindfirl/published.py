"""Tables 2-5 of paper 001 (Section 4.3) as printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from sfumato.review.modes import Mode

COLUMNS = (
    ("Mary", "Mark", "Mary", "Mary"),
    ("08/09/1964", "08/09/1964", "09/08/1964", "09/08/1964"),
    ("Hispanic", "Hispanic", "Black", "Black"),
)
"""Table 2: name, date of birth and race of the records 1 to 4; the income is not displayed."""
PAIRS = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
"""The records of each pair, counted from 0."""

_DISCLOSED = (
    *["1/4, 0, 0"] * 2,
    *["0, 2/8, 0"] * 4,
    *["1/4, 2/8, 0"] * 4,
    *["0, 0, 0"] * 2,
)
_MORE, _LESS = Fraction(1, 12), Fraction(1, 24)


@dataclass(frozen=True)
class Printed:
    """One of the tables.

    Attributes
    ----------
    number
        The table; the text calls all three Table 5.
    sets
        K of each row.
    shares
        p of each row, as printed; the columns of Table 5 and of the last pair are lost.
    values
        The value of each row, scaled by 1/(n·d).
    score
        KAPR.
    """

    number: int
    sets: tuple[int, ...]
    shares: tuple[str, ...]
    values: tuple[Fraction, ...]
    score: Fraction


TABLES: Mapping[Mode, Printed] = MappingProxyType(
    {
        Mode.MASKED: Printed(3, (4,) * 12, ("0, 0, 0",) * 12, (Fraction(0),) * 12, Fraction(0)),
        Mode.PARTIAL: Printed(
            4,
            (3, 1, 1, 2, 1, 2, 1, 2, 1, 2, 3, 3),
            _DISCLOSED,
            (
                *(Fraction(1, 432), Fraction(1, 144)),
                *(Fraction(1, 144), Fraction(1, 288)) * 2,
                *(Fraction(1, 72), Fraction(1, 144)) * 2,
                *(Fraction(0), Fraction(0)),
            ),
            Fraction(31, 432),
        ),
        Mode.FULL: Printed(
            5,
            (1, 1, 1, 2, 1, 2, 1, 2, 1, 2, 2, 2),
            ("1, 1, 1",) * 12,
            (_MORE, _MORE, *(_MORE, _LESS) * 4, _LESS, _LESS),
            Fraction(3, 4),
        ),
    }
)
EXAMPLE_K = 1
"""k of the example."""
EXCEEDED = 5
"""A k that the four records of the example cannot keep."""
EXCEEDED_SCORE = Fraction(15, 4)
"""The formula's KAPR of the full state with that k, against Property 4.3."""
