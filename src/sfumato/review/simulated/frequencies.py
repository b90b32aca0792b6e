"""How frequent values are, as somebody who knows the population would know it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sfumato.review.anonymity.database import Database
from sfumato.review.values import Rarity


@dataclass(frozen=True)
class Frequencies:
    """What agreement on a value says beyond agreement on any value.

    Attributes
    ----------
    of_value
        Per attribute and value in full: log of average probability of agreeing by chance over
        the value's own share.
    of_band
        The same per attribute and rarity band.
    """

    of_value: tuple[Mapping[str, float], ...]
    of_band: tuple[Mapping[Rarity, float], ...]


def frequencies_of(database: Database) -> Frequencies:
    """The frequencies of a database's values, as a list of names would tell them.

    A value of share f is agreed on by one person's two records with probability f, by two
    persons' with f², all values together with S = Σf²: log(S / f) is what it adds.

    Parameters
    ----------
    database
        The records.
    """
    values, bands = zip(
        *(_of(database, place) for place in range(len(database.attributes))), strict=True
    )
    return Frequencies(tuple(values), tuple(bands))


def _of(database: Database, place: int) -> tuple[dict[str, float], dict[Rarity, float]]:
    first = int(database.base[place])
    codes = database.codes[:, place]
    held = codes[codes >= 0] - first
    if not len(held):
        return {}, {}
    share = np.bincount(held, minlength=len(database.texts[place])) / len(held)
    chance = float(np.sum(share**2))
    records = np.unique(held, return_index=True)[1]
    rows = np.flatnonzero(codes >= 0)[records]
    of_value, in_band = {}, {band: [0.0, 0.0] for band in Rarity}
    for code, row in zip(np.unique(held).tolist(), rows.tolist(), strict=True):
        value, band = database.value(row, place), database.rarity(row, place)
        if value is None or band is None:
            continue
        part = float(share[code])
        of_value["".join(_full(value.layout, value.characters))] = math.log(chance / part)
        in_band[band][0] += part
        in_band[band][1] += part**2
    of_band = {
        band: math.log(match / (other / chance))
        for band, (match, other) in in_band.items()
        if other
    }
    return of_value, of_band


def _full(layout: tuple[int | str, ...], characters: tuple[str, ...]) -> list[str]:
    return [characters[each] if isinstance(each, int) else each for each in layout]
