"""The measures that a threshold may speak about, and which side of it is the good one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Bound(StrEnum):
    """The side of a threshold on which a measure has to lie."""

    AT_MOST = "at most"
    AT_LEAST = "at least"


class Scale(StrEnum):
    """What a measure counts in."""

    SHARE = "share"
    COUNT = "count"
    NUMBER = "number"


class Part(StrEnum):
    """The part of an assessment that holds a measure."""

    FILE = "file"
    SENSITIVE = "sensitive"
    HOUSEHOLD = "household"
    PRESENCE = "presence"
    POPULATION = "population"


@dataclass(frozen=True, slots=True)
class Kind:
    """How a measure is held against a threshold.

    Attributes
    ----------
    bound
        The good side.
    scale
        What it counts in.
    part
        Where it is.
    """

    bound: Bound
    scale: Scale
    part: Part = Part.FILE


_SHARES = (
    "prosecutor",
    "journalist",
    "marketer",
    "average_risk",
    "records_at_risk",
    "max_gidr",
    "avg_gidr",
    "exposed_persons",
    "max_count_risk",
    "avg_count_risk",
)
_HOUSEHOLD = ("max_household_risk", "avg_household_risk", "households_at_risk")
_COUNTS = ("k", "pid_k", "count_k")

KINDS: dict[str, Kind] = {
    **dict.fromkeys(_SHARES, Kind(Bound.AT_MOST, Scale.SHARE)),
    **dict.fromkeys(_COUNTS, Kind(Bound.AT_LEAST, Scale.COUNT)),
    "g_balance": Kind(Bound.AT_LEAST, Scale.NUMBER),
    "sample_uniques": Kind(Bound.AT_MOST, Scale.COUNT),
    "h_affiliation": Kind(Bound.AT_MOST, Scale.SHARE, Part.SENSITIVE),
    "max_gsar": Kind(Bound.AT_MOST, Scale.SHARE, Part.SENSITIVE),
    "avg_gsar": Kind(Bound.AT_MOST, Scale.SHARE, Part.SENSITIVE),
    "l_distinct": Kind(Bound.AT_LEAST, Scale.COUNT, Part.SENSITIVE),
    "l_entropy": Kind(Bound.AT_LEAST, Scale.NUMBER, Part.SENSITIVE),
    "t_closeness": Kind(Bound.AT_MOST, Scale.NUMBER, Part.SENSITIVE),
    "t_closeness_ordered": Kind(Bound.AT_MOST, Scale.NUMBER, Part.SENSITIVE),
    **dict.fromkeys(_HOUSEHOLD, Kind(Bound.AT_MOST, Scale.SHARE, Part.HOUSEHOLD)),
    "presence_high": Kind(Bound.AT_MOST, Scale.SHARE, Part.PRESENCE),
    "population_average_risk": Kind(Bound.AT_MOST, Scale.SHARE, Part.POPULATION),
    "population_records_at_risk": Kind(Bound.AT_MOST, Scale.SHARE, Part.POPULATION),
    "population_uniques": Kind(Bound.AT_MOST, Scale.COUNT, Part.POPULATION),
    "expected_matches": Kind(Bound.AT_MOST, Scale.COUNT, Part.POPULATION),
}
"""By the names of the code, the docs, the command line and the report."""

IN_POPULATION = {
    "prosecutor": "journalist",
    "average_risk": "population_average_risk",
    "records_at_risk": "population_records_at_risk",
}
"""The same question where the file is a sample: both are held where a population is known."""
