"""What an intruder knows about the persons of a register."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class KnownColumn:
    """A column of the register: its distinct values, and which row has which.

    Attributes
    ----------
    name
        The column.
    texts
        The distinct values as they are written; ``None`` where the intruder does not know.
    numbers
        The same as numbers, dates as days since 1970-01-01; NaN where it is neither.
    codes
        The place of each row's value in ``texts``, shape (rows,).
    """

    name: str
    texts: tuple[str | None, ...]
    numbers: Floats
    codes: Ints


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What an intruder knows about the persons of a register.

    Attributes
    ----------
    persons
        Number of register persons.
    person
        Register person of each row, 0 to persons - 1 in order of appearance, shape (rows,).
    quasi_identifiers
        The quasi-identifiers of the schema that the intruder knows.
    others
        Every other column of the register.
    counts
        How many records each person has in the release, shape (persons,), where the intruder
        knows that.
    """

    persons: int
    person: Ints
    quasi_identifiers: tuple[KnownColumn, ...]
    others: tuple[KnownColumn, ...]
    counts: Ints | None = None
