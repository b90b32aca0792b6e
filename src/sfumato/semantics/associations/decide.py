"""The custodian's decisions on associations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sfumato.core.errors import InputError
from sfumato.semantics.associations.association import Associations, State


def accept(associations: Associations, numbers: Iterable[int], note: str = "") -> Associations:
    """The associations with some of them accepted: a reader is taken to know them.

    Parameters
    ----------
    associations
        All associations.
    numbers
        Which, counted from 1.
    note
        Why.

    Raises
    ------
    InputError
        If a number is not that of an association.
    """
    return _decided(associations, numbers, State.ACCEPTED, note)


def reject(associations: Associations, numbers: Iterable[int], note: str = "") -> Associations:
    """The associations with some of them rejected: no secret, or noise.

    Parameters
    ----------
    associations
        All associations.
    numbers
        Which, counted from 1.
    note
        Why.

    Raises
    ------
    InputError
        If a number is not that of an association.
    """
    return _decided(associations, numbers, State.REJECTED, note)


def _decided(
    associations: Associations, numbers: Iterable[int], state: State, note: str
) -> Associations:
    chosen = set(numbers)
    if chosen - set(range(1, len(associations) + 1)):
        raise InputError(
            "number of an association",
            "must be one of those found",
            accepted=f"1 to {len(associations)}" if len(associations) else "none: none was found",
        )
    return Associations(
        tuple(
            replace(one, state=state, note=note) if number in chosen else one
            for number, one in enumerate(associations, 1)
        )
    )
