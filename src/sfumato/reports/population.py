"""The population behind a file: what is known of it, what was estimated, how surely."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import exp
from typing import Any

import numpy as np

from sfumato.core.measure import REGISTER, Measure
from sfumato.release.result import Release
from sfumato.reports.numbers import count, percent
from sfumato.risk.disclosure_risk import Risk
from sfumato.risk.measure_table import IN_POPULATION, MEANINGS
from sfumato.risk.population.match_distribution import MatchDistribution
from sfumato.risk.population.population_risk import PopulationRisk

SHARES = ("marketer", "journalist", "population_average_risk", "population_records_at_risk")
COUNTS = ("expected_matches", "unique_matches", "population_uniques", "class_count")
BANDS = (1.0, 0.5, 1 / 3, 0.2, 0.09, 0.05, 0.01, 0.0)
"""Lower ends of the bands of risk, descending; the first is the risk 1 itself, where counted."""
MODELS = {"pitman": "Pitman", "zayatz": "Zayatz", "snb": "SNB", "dankar": "Dankar et al. 2012"}
MOST_BARS = 120
"""Most bars of a distribution."""


@dataclass(frozen=True, slots=True)
class Estimated:
    """One line of the table: a measure with its interval."""

    name: str
    meaning: str
    value: str
    interval: str


@dataclass(frozen=True, slots=True)
class Band:
    """Records whose risk in the population lies between two ends.

    Attributes
    ----------
    label
        The ends, in words.
    low, high
        The ends, ``low`` included, ``high`` only where it is 1 too.
    records
        Number of records.
    share
        Share of the records.
    """

    label: str
    low: float
    high: float
    records: int
    share: float


@dataclass(frozen=True, slots=True)
class Mapping:
    """One line of the table of correct matches."""

    name: str
    mean: str
    likely: str


@dataclass(frozen=True, slots=True)
class PopulationPart:
    """What the section about the population says.

    Attributes
    ----------
    counted
        Whether the population is at hand.
    sentences
        Size, sampling fraction, estimator, interval, check.
    shares, counts
        The measures.
    mappings
        The number of correct matches by kind of mapping.
    bands
        The records by risk.
    models
        Population uniques by model, or why a model has none.
    path
        The steps of a search.
    """

    counted: bool
    sentences: tuple[str, ...]
    shares: tuple[Estimated, ...]
    counts: tuple[Estimated, ...]
    mappings: tuple[Mapping, ...]
    bands: tuple[Band, ...]
    models: tuple[tuple[str, str], ...]
    path: tuple[str, ...]


def population_part(risk: Risk) -> PopulationPart | None:
    """The section about the population; ``None`` where nothing is known of it.

    Parameters
    ----------
    risk
        What was measured.
    """
    own = risk.population
    if own is None:
        return None
    return PopulationPart(
        counted=own.marketer.estimator == REGISTER,
        sentences=tuple(_sentences(risk, own)),
        shares=tuple(_estimated(each, True) for each in _measures(own, SHARES)),
        counts=tuple(_estimated(each, False) for each in _measures(own, COUNTS)),
        mappings=(
            _mapping("no two persons matched to the same one (one-to-one)", own.one_to_one),
            _mapping("each person matched by itself (free)", own.free),
        ),
        bands=bands(own),
        models=tuple(
            (MODELS.get(name, name), found if isinstance(found, str) else count(round(found)))
            for name, found in own.population_uniques_by_model.items()
        ),
        path=own.path,
    )


def population_json(risk: Risk) -> dict[str, Any] | None:
    """What the section says beyond the assessment itself, as plain values."""
    own = risk.population
    if own is None:
        return None
    return {
        "counted": own.marketer.estimator == REGISTER,
        "estimator": own.marketer.estimator,
        "why": own.marketer.why,
        "records_by_risk": [
            {"low": each.low, "high": each.high, "records": each.records, "share": each.share}
            for each in bands(own)
        ],
        "matches": {
            "one_to_one": distribution(own.one_to_one),
            "free": distribution(own.free),
        },
    }


def population_assumed(release: Release | None, risk: Risk) -> str:
    """Which population the numbers speak about, in a paragraph.

    Parameters
    ----------
    release
        The release; ``None`` for an assessment.
    risk
        What was measured of it.
    """
    own = risk.population
    if own is None and release is not None and release.population is not None:
        return (
            f"The file is a sample of {count(release.population.persons)} persons. The marketer "
            f"risk of the release against them: {release.population.marketer.why}. All other "
            "measures take the file as its own population."
        )
    if own is None:
        return (
            f"The file is taken as its own population: its {count(risk.persons)} persons are all "
            "there are. Where it is a sample and the intruder cannot know who is in it, the "
            "journalist and marketer risks are overstated."
        )
    rest = (
        "prosecutor, average_risk and records_at_risk take the person to be known to be in the "
        "file, as they would be without a population."
    )
    if own.marketer.estimator == REGISTER:
        return (
            f"The file is a sample of the {count(own.population)} persons of a register, and the "
            "intruder is taken to hold it, with the quasi-identifiers written as there. Nothing "
            f"is estimated; {rest}"
        )
    return (
        f"The file is taken as a random sample of {count(own.population)} persons; where chances "
        "differ, the weights say how. The intruder is taken to hold a register of all of them. "
        "If the sample is not random (one hospital’s patients, volunteers), the estimates may "
        f"be off by more than their intervals; {rest}"
    )


def bands(own: PopulationRisk) -> tuple[Band, ...]:
    """The records by their chance to be found in the population, highest first."""
    risks, records = own.inverse_sizes, own.class_records
    whole = int(records.sum())
    found = []
    above = np.zeros(len(risks), dtype=bool)
    ends = BANDS if own.marketer.estimator == REGISTER else BANDS[1:]
    for place, low in enumerate(ends):
        inside = (risks >= low - 1e-12) & ~above
        above |= inside
        high = ends[place - 1] if place else 1.0
        number = int(records[inside].sum())
        found.append(Band(_band(low, high), low, high, number, number / whole))
    return tuple(found)


def _band(low: float, high: float) -> str:
    if low == 1:
        return f"{percent(1)}: found for certain"
    if low == 0:
        return f"below {percent(high)}"
    return f"{percent(low)} to below {percent(high)}" if high < 1 else f"{percent(low)} and more"


def distribution(of: MatchDistribution) -> list[dict[str, float]]:
    """Probabilities of counts of correct matches, neighbouring counts put together.

    Parameters
    ----------
    of
        How the number of correct matches scatters.
    """
    first, last = of.quantile(0.0005), of.quantile(0.9995)
    width = max(1, -(-(last - first + 1) // MOST_BARS))
    edges = [*range(first, last + 1, width), last + 1]
    sums = np.concatenate([[0.0], np.cumsum(of.probabilities)])
    return [
        {
            "low": low,
            "high": high - 1,
            "probability": float(sums[high - of.low] - sums[low - of.low]),
        }
        for low, high in pairwise(edges)
        if high > low
    ]


def _measures(own: PopulationRisk, names: tuple[str, ...]) -> list[Measure]:
    found = [getattr(own, name) for name in names]
    return [each for each in found if each is not None]


def _estimated(measure: Measure, share: bool) -> Estimated:
    show = percent if share else _whole
    interval = ""
    if measure.low is not None and measure.high is not None and measure.low < measure.high:
        interval = f"{show(measure.low)} to {show(measure.high)}"
    meaning = IN_POPULATION.get(measure.name, MEANINGS[measure.name])
    return Estimated(measure.name, meaning, show(measure.value), interval)


def _whole(value: float) -> str:
    return count(round(value, 1) if value < 100 else round(value))


def _mapping(name: str, of: MatchDistribution) -> Mapping:
    low, high = of.quantiles()
    return Mapping(name, _whole(of.mean), f"{count(low)} to {count(high)}")


def _sentences(risk: Risk, own: PopulationRisk) -> Iterator[str]:
    share = percent(own.sampling_fraction)
    yield (
        f"The file’s {count(risk.persons)} persons are {share} of a population of "
        f"{count(own.population)}."
    )
    shown = risk.shape.held
    if shown > risk.persons:
        yield (
            "A person with records in several classes counts in each of them, in the file and in "
            f"the population: {count(shown)} in place of {count(risk.persons)} persons."
        )
    marketer = own.marketer
    if marketer.estimator == REGISTER:
        yield "The population is at hand as a register; every number here was counted in it."
        return
    why = f"{marketer.why[:1].upper()}{marketer.why[1:]}"
    yield f"Only its size is known, so the numbers are estimates. {why}."
    yield "Intervals are meant to hold the true number of this file in 95 of 100 files."
    if own.check is not None:
        scatter = exp(own.check.scatter) - 1
        yield f"From one subsample to the next it scattered by {percent(scatter)}."
    if own.seed is not None:
        yield f"Seed of the draws: {own.seed}."
