"""How each measure is told: its scale, over whom it speaks, and what a share is one of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sfumato.reports.project.discretion import Internal
from sfumato.reports.project.implied import fewest_persons, largest_chance
from sfumato.reports.project.text import COUNT, NUMBER, SHARE

MAXIMUM, AVERAGE, WHOLE = "maximum", "average", "whole file"


@dataclass(frozen=True)
class Told:
    """How a measure is told.

    Attributes
    ----------
    over
        The class that is worst off, everybody on average, or the whole file.
    scale
        ``count``, ``share`` or ``number``.
    of
        What a share of a whole file is a share of, by its name among the measures.
    """

    over: str
    scale: str
    of: str = ""


_WORST, _MEAN = Told(MAXIMUM, SHARE), Told(AVERAGE, SHARE)
_WORST_COUNT, _WHOLE_COUNT = Told(MAXIMUM, COUNT), Told(WHOLE, COUNT)
_WORST_NUMBER = Told(MAXIMUM, NUMBER)
MEASURES = {
    "prosecutor": _WORST,
    "journalist": _WORST,
    "marketer": _MEAN,
    "average_risk": _MEAN,
    "records_at_risk": Told(WHOLE, SHARE, "records"),
    "sample_uniques": _WHOLE_COUNT,
    "k": _WORST_COUNT,
    "pid_k": _WORST_COUNT,
    "max_gidr": _WORST,
    "avg_gidr": _MEAN,
    "g_balance": _WORST_NUMBER,
    "count_k": _WORST_COUNT,
    "max_count_risk": _WORST,
    "avg_count_risk": _MEAN,
    "exposed_persons": Told(WHOLE, SHARE, "persons"),
    "max_household_risk": _WORST,
    "avg_household_risk": _MEAN,
    "households_at_risk": Told(WHOLE, SHARE, "households"),
    "h_affiliation": _WORST,
    "max_gsar": _WORST,
    "avg_gsar": _MEAN,
    "l_distinct": _WORST_COUNT,
    "t_closeness": _WORST_NUMBER,
    "presence_low": _WORST,
    "presence_high": _WORST,
    "population_average_risk": _MEAN,
    "population_records_at_risk": Told(WHOLE, SHARE, "records"),
    "population_uniques": _WHOLE_COUNT,
    "unique_matches": _WHOLE_COUNT,
}
OTHER = Told(MAXIMUM, NUMBER)
"""A measure that is not among them."""


def told_measure(name: str, value: Any, measured: Mapping[str, Any], show: Internal) -> Any:
    """A measure as an audience is told it.

    Parameters
    ----------
    name
        The measure.
    value
        Its value.
    measured
        All that was measured of the file.
    show
        How numbers are told.
    """
    how = MEASURES.get(name, OTHER)
    if how.of:
        return show.share(value, measured.get(how.of))
    if how.scale == COUNT:
        none = name == "sample_uniques" and value == 0 and fewest_persons(measured) > 1
        return 0 if none else show.count(value)
    if how.scale == NUMBER:
        return show.number(value)
    if how.over == MAXIMUM:
        return show.chance(value, largest_chance(name, measured))
    return show.mean(value)


def of_attribute(measured: Mapping[str, Any], name: str, attribute: str) -> Any:
    """A measure of a sensitive attribute, whether one or several were measured.

    Parameters
    ----------
    measured
        What was measured of a file.
    name
        The measure.
    attribute
        The attribute.
    """
    value = measured.get(name)
    if isinstance(value, dict) and "value" not in value:
        return value.get(attribute)
    return value
