"""Postcodes, numbers of persons, telephone numbers, e-mail addresses."""

from __future__ import annotations

from sfumato.linkage.model.levels.level import Level, equal, left, rest, right, similar, within
from sfumato.linkage.spec.postcode_area import area_sql


def postcode_levels(name: str) -> list[Level]:
    """Levels of postcodes.

    Parameters
    ----------
    name
        The column.
    """
    area = f"{area_sql(left(name))} = {area_sql(right(name))}"
    return [
        Level("equal", equal(name), 0.8, 0.002),
        Level("one character differs", within(name, 1, length=4), 0.06, 0.005),
        Level("same area", area, 0.04, 0.02),
        rest(0.1, 0.97),
    ]


def identifier_levels(name: str) -> list[Level]:
    """Levels of numbers of persons and telephones.

    Parameters
    ----------
    name
        The column.
    """
    return [
        Level("equal", equal(name), 0.88, 1e-5),
        Level("one character differs", within(name, 1, length=5), 0.05, 1e-5),
        Level("two characters differ", within(name, 2, length=7), 0.01, 1e-4),
        rest(0.06, 0.999),
    ]


def email_levels(name: str) -> list[Level]:
    """Levels of e-mail addresses.

    Parameters
    ----------
    name
        The column.
    """
    one, other = (f"split_part({side}, '@', 1)" for side in (left(name), right(name)))
    return [
        Level("equal", equal(name), 0.72, 1e-5),
        Level("same before the @", f"{one} = {other} AND length({one}) > 3", 0.05, 1e-4),
        Level("similar", f"{within(name, 2)} OR {similar(name, 0.94)}", 0.08, 1e-3),
        rest(0.15, 0.999),
    ]
