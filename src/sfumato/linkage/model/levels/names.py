"""Given names and surnames: equal, swapped, a nickname, similar, in part."""

from __future__ import annotations

from sfumato.linkage.model.levels.level import Level, equal, left, rest, right, similar, within
from sfumato.linkage.standardise.standardise import FORMAL


def given_name_levels(name: str, surname: str | None, *, formal: bool) -> list[Level]:
    """Levels of given names.

    Parameters
    ----------
    name
        The column.
    surname
        The column of the surname, with which they may have been swapped.
    formal
        Whether there are names that nicknames stand for.
    """
    levels = [Level("equal", equal(name), 0.8, 0.005)]
    if surname is not None:
        levels.append(Level("swapped with the surname", _swapped(name, surname), 0.005, 1e-5))
    if formal:
        levels.append(Level("nickname", equal(name + FORMAL), 0.02, 0.002))
    return [
        *levels,
        Level("similar", _near(name), 0.09, 0.003),
        Level("in part", _in_part(name), 0.02, 0.003),
        Level("somewhat similar", similar(name, 0.8), 0.015, 0.01),
        rest(0.05, 0.97),
    ]


def surname_levels(name: str, given: str | None) -> list[Level]:
    """Levels of surnames. That it was swapped with given names counts in their comparison.

    Parameters
    ----------
    name
        The column.
    given
        The column of the given names.
    """
    levels = [Level("equal", equal(name), 0.82, 0.003)]
    if given is not None:
        swapped = _swapped(given, name)
        levels.append(Level("swapped with given names", swapped, 0.001, 0.001, neutral=True))
    return [
        *levels,
        Level("similar", _near(name), 0.08, 0.002),
        Level("in part", _in_part(name), 0.01, 0.0005),
        Level("somewhat similar", similar(name, 0.8), 0.02, 0.01),
        rest(0.07, 0.98),
    ]


def _near(name: str) -> str:
    slip = f"{similar(name, 0.8)} AND {within(name, 1, length=4)}"
    return f"{similar(name, 0.92)} OR ({slip})"


def _swapped(given: str, surname: str) -> str:
    return (
        f"{left(given)} = {right(surname)} AND {left(surname)} = {right(given)} "
        f"AND {left(given)} <> {left(surname)}"
    )


def _in_part(name: str) -> str:
    """One is the first or last word, or the initial, of the other."""
    one, other = left(name), right(name)
    ways = []
    for short, long in ((one, other), (other, one)):
        ways += [
            f"starts_with({long}, {short} || ' ')",
            f"ends_with({long}, ' ' || {short})",
            f"left({long}, 1) = {short}",
        ]
    return " OR ".join(ways)
