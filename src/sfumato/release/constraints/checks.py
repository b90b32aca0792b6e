"""Checks of the parameters of constraints."""

from __future__ import annotations

from numbers import Integral, Real

from sfumato.core.errors import InputError


def share(name: str, value: object, *, zero: bool, one: bool) -> float:
    """A number in [0, 1], its ends included as said.

    Raises
    ------
    InputError
        If it is not a number, or outside.
    """
    accepted = f"a number in {'[' if zero else '('}0, 1{']' if one else ')'}"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputError(
            f"parameter {name}",
            "must be a number",
            found=type(value).__name__,
            accepted=accepted,
        )
    number = float(value)
    inside = (number > 0 or (zero and number == 0)) and (number < 1 or (one and number == 1))
    if not inside:
        raise InputError(f"parameter {name}", "must be a share", accepted=accepted)
    return number


def count(name: str, value: object, least: int) -> int:
    """A whole number of at least ``least``.

    Raises
    ------
    InputError
        If it is not a whole number, or smaller.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise InputError(
            f"parameter {name}",
            "must be a whole number",
            accepted=f"{least} or more",
        )
    return int(value)


def exactly_one(names: str, *values: object) -> None:
    """Check that one of several ways to state a threshold is used.

    Raises
    ------
    InputError
        If none or more than one is given.
    """
    if sum(value is not None for value in values) != 1:
        raise InputError(f"parameters {names}", "state the same threshold", advice="give one")
