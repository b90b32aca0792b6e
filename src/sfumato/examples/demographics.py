"""What made-up patients are called, where they live, what they have; draws from such lists.

The lists themselves stand in ``patients.toml``.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.core.arrays import Floats, Integers


@dataclass(frozen=True, eq=False)
class WeightedChoice:
    """One weighted list of items per stratum, laid out for a single binary search.

    Attributes
    ----------
    edges
        Flat, ascending: stratum s holds its cumulative shares, shifted into (s, s + 1].
    """

    edges: Floats
    items: int

    @classmethod
    def of(cls, weights: npt.ArrayLike) -> WeightedChoice:
        """Lay out weights.

        Parameters
        ----------
        weights
            Not negative, shape (items,) for one stratum or (strata, items); no row is all zero.
        """
        table = np.atleast_2d(np.asarray(weights, dtype=np.float64))
        cumulative = np.cumsum(table, axis=1)
        # By the last sum itself: every stratum then ends at a whole number exactly.
        shares = cumulative / cumulative[:, -1:]
        shares += np.arange(len(table))[:, None]
        return cls(shares.ravel(), table.shape[1])

    def sample(self, count: int, rng: np.random.Generator) -> npt.NDArray[np.int16]:
        """Draw from the first stratum, ``count`` times."""
        return self.draw(np.zeros(count, np.int8), rng)

    def draw(self, strata: Integers, rng: np.random.Generator) -> npt.NDArray[np.int16]:
        """Draw one item for each entry of ``strata``; an item of weight zero never comes."""
        # 24 random bits: adding a stratum's number to them is exact, so no draw can round up
        # into the next stratum.
        points = rng.random(len(strata), dtype=np.float32).astype(np.float64)
        points += strata
        found = np.searchsorted(self.edges, points, side="right")
        found -= strata.astype(found.dtype) * self.items
        return found.astype(np.int16)


def zipf(count: int, shift: float = 0.0, slope: float = 1.0) -> Floats:
    """Zipf-Mandelbrot weights (rank + shift)^-slope of ranks 1 to ``count``, summing to 1."""
    weights = (np.arange(1, count + 1) + shift) ** -slope
    return np.asarray(weights / weights.sum(), dtype=np.float64)


FEMALE = 0
MALE = 1

COHORT_ENDS: tuple[int, ...] = (1950, 1980)
"""Years of birth at which the fashion of given names turns."""

_LISTS = tomllib.loads(Path(__file__).with_name("patients.toml").read_text(encoding="utf-8"))


def _distinct(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text.split()))


GIVEN_NAMES: dict[int, tuple[tuple[str, ...], ...]] = {
    FEMALE: tuple(map(_distinct, _LISTS["given_names"]["female"])),
    MALE: tuple(map(_distinct, _LISTS["given_names"]["male"])),
}
"""Given names by sex, then by cohort of birth, the most frequent first."""

FAMILY_NAMES: tuple[str, ...] = _distinct(_LISTS["family_names"])
"""Family names, the most frequent first."""

NICKNAMES: dict[str, tuple[str, ...]] = {
    name: tuple(short)
    for name, *short in (
        line.split() for line in _LISTS["short_forms"].replace("\n", ";").split(";") if line
    )
}
"""Short forms by given name, the most usual first."""

ZIPS: tuple[str, ...] = tuple(_LISTS["zips_and_weights"].split()[::2])
"""Five digits each, leading zero included."""

ZIP_WEIGHTS: tuple[int, ...] = tuple(map(int, _LISTS["zips_and_weights"].split()[1::2]))
"""How many patients live there, relative to the others; rounded and made up."""

WESTERN_AREA = "413"
"""Telephone area code of the ZIPs below 01400."""

EASTERN_AREAS: tuple[str, ...] = ("617", "508", "978", "781", "774", "339", "857", "351")
"""Telephone area codes of all other ZIPs, the most frequent first."""

OLDEST = 110
"""The highest age, in years, that the tables of weights know."""


@dataclass(frozen=True)
class DiagnosisGroup:
    """Codes that the same people have.

    Attributes
    ----------
    share
        Weight of the whole group at its lowest age, relative to the other groups.
    listing
        One line per code: the code, a space, a short description; the most frequent first.
        Within the group, weights follow Zipf's law by rank.
    ages
        First and last age in completed years, both included.
    sexes
        Who can have them: `FEMALE`, `MALE`.
    growth
        Factor of the group's weight per ten years above its lowest age.
    """

    name: str
    share: float
    listing: str
    ages: tuple[int, int] = (0, OLDEST)
    sexes: tuple[int, ...] = (FEMALE, MALE)
    chronic: bool = False
    growth: float = 1.0

    @property
    def codes(self) -> tuple[tuple[str, str], ...]:
        """The codes with their descriptions, the most frequent first."""
        lines = self.listing.strip().splitlines()
        return tuple((line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in lines)


def _group(entry: dict[str, Any]) -> DiagnosisGroup:
    ages, sexes = entry["ages"], entry.get("sexes", (FEMALE, MALE))
    return DiagnosisGroup(**{**entry, "ages": tuple(ages), "sexes": tuple(sexes)})


GROUPS: tuple[DiagnosisGroup, ...] = tuple(map(_group, _LISTS["diagnoses"]))
"""All groups; a code is in one of them."""

CODES: tuple[str, ...] = tuple(code for group in GROUPS for code, _ in group.codes)
"""All codes, in the order of the groups."""

DESCRIPTIONS: dict[str, str] = {code: text for group in GROUPS for code, text in group.codes}
"""Short description of each code."""


def code_weights(*, chronic: bool) -> Floats:
    """Weights of the codes for each age and sex, shape (2 x (`OLDEST` + 1), codes).

    Row ``2 * age + sex`` (0 female, 1 male) holds share x growth^((age - lowest age) / 10) x
    Zipf(rank) for the codes of the groups that this age and sex can have, and 0 elsewhere. Chronic
    groups do not touch the rows below age 2: those are all zero.
    """
    ages = np.arange(OLDEST + 1)
    table = np.zeros((OLDEST + 1, 2, len(CODES)))
    start = 0
    for group in GROUPS:
        stop = start + len(group.codes)
        if group.chronic == chronic:
            low, high = group.ages
            trend = group.share * group.growth ** ((ages - low) / 10)
            trend[(ages < low) | (ages > high)] = 0.0
            weights = trend[:, None] * zipf(len(group.codes))
            for sex in group.sexes:
                table[:, sex, start:stop] = weights
        start = stop
    return table.reshape(-1, len(CODES))
