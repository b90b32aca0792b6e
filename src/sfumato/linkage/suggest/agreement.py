"""How often true matches agree, at first sight: what blocking rules are chosen by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.linkage.spec.blocking import Part
from sfumato.linkage.spec.kinds import ColumnKind
from sfumato.linkage.values import Floats

Bools = npt.NDArray[np.bool_]

MATCHES = 20_000
"""True matches that are imagined."""

_WHOLE = {
    ColumnKind.GIVEN_NAME: 0.75,
    ColumnKind.SURNAME: 0.8,
    ColumnKind.FULL_NAME: 0.65,
    ColumnKind.DATE: 0.9,
    ColumnKind.POSTCODE: 0.8,
    ColumnKind.PHONE: 0.65,
    ColumnKind.IDENTIFIER: 0.88,
    ColumnKind.EMAIL: 0.65,
    ColumnKind.ADDRESS: 0.6,
    ColumnKind.CATEGORY: 0.92,
    ColumnKind.NUMBER: 0.8,
}
"""Share of true matches whose values are equal, by kind."""

_NOT_ANOTHER = 0.9
"""Share of matches whose values are not wholly different, as after a move or a marriage."""

_IN_PART: dict[ColumnKind, tuple[tuple[str, float], ...]] = {
    ColumnKind.GIVEN_NAME: (("3", 0.5), ("sound", 0.5), ("1", 0.7)),
    ColumnKind.SURNAME: (("4", 0.4), ("sound", 0.5), ("2", 0.6)),
    ColumnKind.POSTCODE: (("area", 0.5),),
    ColumnKind.ADDRESS: (("6", 0.5), ("first", 0.4)),
    ColumnKind.PHONE: (("-4", 0.2),),
    ColumnKind.IDENTIFIER: (("4", 0.4), ("-4", 0.4)),
    ColumnKind.EMAIL: (("user", 0.3),),
}
"""What can be taken of a value, and in which share of the matches that differ it is equal."""

_OF_DATES = ("year", "month", "day")
_OF_FULL = {"first": 0.78, "last": 0.82}


@dataclass(frozen=True)
class Atom:
    """A part that rules can be made of.

    Attributes
    ----------
    part
        The part.
    agrees
        Whether it agrees in each imagined match; shape (matches,).
    """

    part: Part
    agrees: Bools


def imagine(
    columns: Sequence[tuple[str, ColumnKind, float]], rng: np.random.Generator
) -> list[Atom]:
    """The parts that rules can be made of, and imagined matches in which they agree or not.

    Records differ in quality: the errors of one match in all columns are multiplied by a number
    that is drawn from an exponential distribution of mean 1.

    Parameters
    ----------
    columns
        Name, kind and share of filled values of each column.
    rng
        Where chance comes from.
    """
    quality = rng.exponential(size=MATCHES)
    atoms: list[Atom] = []
    for name, kind, filled in columns:
        there = rng.random(MATCHES) < filled
        there &= rng.random(MATCHES) < filled
        there &= rng.random(MATCHES) < _NOT_ANOTHER**quality
        parts = _parts(kind, quality, rng)
        atoms += [Atom(Part(name, take), there & agrees) for take, agrees in parts.items()]
    return atoms


def _parts(kind: ColumnKind, quality: Floats, rng: np.random.Generator) -> dict[str, Bools]:
    """By what is taken of the value, whether it agrees in each match."""

    def agrees(share: float) -> Bools:
        return rng.random(MATCHES) < share**quality

    near = rng.random(MATCHES)
    if kind is ColumnKind.DATE:
        parts = {take: agrees(_WHOLE[kind] ** (1 / 3)) for take in _OF_DATES}
        return {"": np.logical_and.reduce(list(parts.values())), **parts}
    if kind is ColumnKind.FULL_NAME:
        halves = {take: agrees(share) for take, share in _OF_FULL.items()}
        whole = halves["first"] & halves["last"]
        return {"": whole, **halves, "sound": halves["last"] | (near < 0.5)}
    whole = agrees(_WHOLE[kind])
    return {"": whole, **{take: whole | (near < share) for take, share in _IN_PART.get(kind, ())}}
