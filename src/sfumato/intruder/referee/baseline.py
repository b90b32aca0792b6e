"""Success of random guessing, exactly."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.core.measure import Measure
from sfumato.intruder.referee.units import Owners

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def random_persons(owners: Owners, unit: Ints) -> Measure:
    """Expected success of naming a person of the register at random for each unit.

    Parameters
    ----------
    owners
        Who the units are.
    unit
        The units of the attempts.
    """
    value = float(owners.chance(unit).mean()) if len(unit) else 0.0
    return Measure("baseline", value, why="a person of the register, drawn at random")


def random_units(owners: Owners, person: Ints) -> Measure:
    """Expected success of naming a unit of the file at random for each person.

    Parameters
    ----------
    owners
        Who the units are.
    person
        The persons of the attempts.
    """
    value = float(owners.chance_of_person(person).mean()) if len(person) else 0.0
    return Measure("baseline", value, why="a person of the file, drawn at random")


def most_frequent_value(has_it: Bools) -> Measure:
    """Success of guessing the most frequent value of the whole file for every target.

    Parameters
    ----------
    has_it
        Whether each target has that value.
    """
    value = float(np.mean(has_it)) if len(has_it) else 0.0
    return Measure("baseline", value, why="the value that most persons of the file have")
