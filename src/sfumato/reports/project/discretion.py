"""How exactly a number is told: as it is inside, coarsely where anybody may read it."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from math import ceil, floor
from typing import Any

FEWEST = 10
"""Counts below this are told as fewer than this, zero included."""
_STEPS = (0.1, 0.25, 0.5)
"""Ends of what a largest chance is told by, above which it would name a small class."""
_EXACT, _HALF = 1e-9, 0.5


class Audience(StrEnum):
    """Who may read a report."""

    INTERNAL = "internal"
    """Whoever signs it: exact numbers, hashes, seeds."""
    PUBLIC = "public"
    """Anybody: coarse numbers, nothing that helps to find a person or to undo the release."""


class Internal:
    """Tells every number as it is."""

    audience = Audience.INTERNAL

    @property
    def is_public(self) -> bool:
        """Whether anybody may read the report."""
        return self.audience is Audience.PUBLIC

    def count(self, value: Any) -> Any:
        """A number of records, persons or pairs.

        Parameters
        ----------
        value
            The number; an estimate as an object with its interval.
        """
        return self._each(value, self._count)

    def share(self, value: Any, of: float | None) -> Any:
        """A share of a number of records, persons or pairs; outside nothing of a few of them.

        Parameters
        ----------
        value
            In [0, 1].
        of
            What it is a share of; ``None`` where that is not known.
        """
        return self._each(value, lambda one: self._share(one, of))

    def chance(self, value: Any, most: float = 1.0) -> Any:
        """A largest chance: that of the class where it is largest.

        Parameters
        ----------
        value
            In [0, 1].
        most
            What it is at most by promises that are told.
        """
        return self._each(value, lambda one: self._chance(one, most))

    def mean(self, value: Any) -> Any:
        """A share that is an average over many.

        Parameters
        ----------
        value
            In [0, 1].
        """
        return self._each(value, self._mean)

    def number(self, value: Any) -> Any:
        """Any other number.

        Parameters
        ----------
        value
            The number.
        """
        return self._each(value, self._number)

    def _each(self, value: Any, tell: Callable[[float], Any]) -> Any:
        if not isinstance(value, dict):
            return None if value is None else tell(value)
        told = {key: tell(value[key]) for key in ("value", "low", "high") if _is_number(value, key)}
        return told | {key: value[key] for key in self._beside if value.get(key)}

    _beside: tuple[str, ...] = ("estimator", "why")

    def _count(self, value: float) -> Any:
        return value

    def _share(self, value: float, _of: float | None) -> Any:
        return value

    def _chance(self, value: float, _most: float) -> Any:
        return value

    def _mean(self, value: float) -> Any:
        return value

    def _number(self, value: float) -> Any:
        return value


class Public(Internal):
    """Tells numbers so coarsely that none is that of a few persons."""

    audience = Audience.PUBLIC
    _beside = ("estimator",)

    def _count(self, value: float) -> Any:
        return {"fewer_than": FEWEST} if value < FEWEST else round(value)

    def _share(self, value: float, of: float | None) -> Any:
        least = 0.01 if not of else max(0.01, min(1.0, ceil(100 * FEWEST / of) / 100))
        if least >= _HALF:
            return None
        if value < least:
            return {"below": least}
        if value > 1 - least:
            return {"above": round(1 - least, 2)}
        return {"about": round(value, 2)}

    def _chance(self, value: float, most: float) -> Any:
        if value <= _STEPS[0]:
            return {"at_most": max(1, ceil(100 * value - _EXACT)) / 100}
        for step in _STEPS:
            if value <= step + _EXACT:
                closer = most if value <= most + _EXACT else 1.0
                return {"at_most": min(step, ceil(100 * closer - _EXACT) / 100)}
        return {"more_than": _STEPS[-1]}

    def _mean(self, value: float) -> Any:
        return self._share(value, None)

    def _number(self, value: float) -> Any:
        return floor(100 * value) / 100 if value < 100 else round(value)


def discretion(audience: Audience) -> Internal:
    """How numbers are told to somebody.

    Parameters
    ----------
    audience
        Who reads the report.
    """
    return Public() if audience is Audience.PUBLIC else Internal()


def _is_number(value: dict[str, Any], key: str) -> bool:
    return isinstance(value.get(key), (int, float))
