"""The control group: persons of the register who are not in the release."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.core.measure import Measure
from sfumato.intruder.referee.intervals import clopper_pearson
from sfumato.intruder.referee.truth import Truth

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def pinned_outside(person: Ints, truth: Truth) -> Measure | None:
    """Share of the guesses that pin a released record on somebody who is not in the release.

    ``None`` where every register person is in it.

    Parameters
    ----------
    person
        The register person of each attempt.
    truth
        Who is in the release.
    """
    if bool(truth.released.all()) or not len(person):
        return None
    value = float(np.mean(~truth.released[person]))
    return Measure("control", value, why="guesses that name somebody outside the release")


def right_outside(right: Bools) -> Measure | None:
    """How often the same guess is right for persons who look alike but are not in the release.

    ``None`` where there are none of whom the truth is known.

    Parameters
    ----------
    right
        Whether the guess is right for each of them.
    """
    if not len(right):
        return None
    count = int(right.sum())
    low, high = clopper_pearson(count, len(right))
    why = f"the same guess for {len(right)} persons who are not in the release"
    return Measure("control", count / len(right), low, high, "Clopper-Pearson", why)
