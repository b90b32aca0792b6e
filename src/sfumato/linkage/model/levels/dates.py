"""Dates of birth: equal, a slip of the pen, day and month swapped, years apart."""

from __future__ import annotations

from sfumato.linkage.model.levels.level import Level, equal, left, rest, right, within


def date_levels(name: str) -> list[Level]:
    """Levels of dates in ISO form.

    Parameters
    ----------
    name
        The column.
    """
    one, other = left(name), right(name)
    year, month, day = (
        (f"substr({one}, {start}, {size})", f"substr({other}, {start}, {size})")
        for start, size in ((1, 4), (6, 2), (9, 2))
    )
    same_year, same_month, same_day = (f"{a} = {b}" for a, b in (year, month, day))
    swapped = f"{same_year} AND {month[0]} = {day[1]} AND {day[0]} = {month[1]}"
    same = " + ".join(f"CAST({each} AS INTEGER)" for each in (same_year, same_month, same_day))
    years = f"abs(CAST({year[0]} AS INTEGER) - CAST({year[1]} AS INTEGER))"
    return [
        Level("equal", equal(name), 0.9, 0.0002),
        Level("one character differs", within(name, 1), 0.05, 0.001),
        Level("day and month swapped", swapped, 0.005, 0.0002),
        Level("two of day, month and year", f"{same} >= 2", 0.02, 0.005),
        Level("at most one year apart", f"{years} <= 1", 0.005, 0.03),
        Level("at most ten years apart", f"{years} <= 10", 0.01, 0.2),
        rest(0.01, 0.76),
    ]
