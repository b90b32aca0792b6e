"""Parts of addresses, categories, and numbers such as those of houses."""

from __future__ import annotations

from sfumato.linkage.model.levels.level import Level, equal, left, rest, right, similar, within


def address_levels(name: str) -> list[Level]:
    """Levels of streets, suburbs and towns.

    Parameters
    ----------
    name
        The column.
    """
    slips = f"{similar(name, 0.8)} AND {within(name, 2, length=7)}"
    near = f"{similar(name, 0.92)} OR ({slips})"
    return [
        Level("equal", equal(name), 0.7, 0.005),
        Level("similar", near, 0.13, 0.002),
        Level("somewhat similar", similar(name, 0.8), 0.04, 0.01),
        rest(0.13, 0.98),
    ]


def category_levels(name: str) -> list[Level]:
    """Levels of categories.

    Parameters
    ----------
    name
        The column.
    """
    return [
        Level("equal", equal(name), 0.93, 0.3),
        rest(0.07, 0.7),
    ]


def number_levels(name: str) -> list[Level]:
    """Levels of numbers.

    Parameters
    ----------
    name
        The column.
    """
    one, other = (f"TRY_CAST({side} AS DOUBLE)" for side in (left(name), right(name)))
    near = f"abs({one} - {other}) <= 1 OR ({within(name, 1, length=2)})"
    return [
        Level("equal", equal(name), 0.84, 0.02),
        Level("one apart, or one character differs", near, 0.06, 0.06),
        rest(0.1, 0.92),
    ]
