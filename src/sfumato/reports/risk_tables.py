"""The tables of measures: of the file, original beside release, and of the population behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from math import exp
from typing import Any

import numpy as np

from sfumato.core.measure import REGISTER, Measure
from sfumato.core.number_text import MANY_COLUMNS, NONE, count, counted, percent
from sfumato.core.phrases import Listed, Phrase, Sentence, listed
from sfumato.reports.printed_numbers import interval, measured, position, quoted
from sfumato.reports.promise_words import PromiseLine, bounded
from sfumato.risk.disclosure_risk import Risk, most_told
from sfumato.risk.known_events import KnownEventRisk
from sfumato.risk.measure_table import (
    IN_POPULATION,
    MEANINGS,
    minimal_unique_meaning,
    recursive_meaning,
)
from sfumato.risk.population.match_distribution import MatchDistribution
from sfumato.risk.population.population_risk import PopulationRisk
from sfumato.risk.risk_thresholds import Bound

_REIDENTIFICATION = ("prosecutor", "journalist", "marketer", "average_risk", "records_at_risk")
POPULATION_SHARES = (
    "marketer", "journalist", "population_average_risk", "population_records_at_risk",
)  # fmt: skip
_POPULATION_COUNTS = ("expected_matches", "unique_matches", "expected_uniques", "class_count")
# The limits in use are among them: 0.2, 0.09 (EMA policy 0070), 0.05 (cells of 20 people).
BANDS = (1.0, 0.5, 1 / 3, 0.2, 0.09, 0.05, 0.01, 0.0)
"""Lower ends of the bands of risk, descending; the first is the risk 1 itself, where counted."""
_MODELS = {"pitman": "Pitman", "zayatz": "Zayatz", "snb": "SNB", "dankar": "Dankar et al. 2012"}
_MOST_BARS = 120
"""Most bars of a distribution."""
_OF_MANY = ("h_affiliation", "avg_gsar", "l_distinct", "t_closeness")
"""Measures of each sensitive attribute where there are many; the rest stand in the JSON."""


@dataclass(frozen=True, slots=True)
class MeasureCell:
    """A printed value and the place it comes from."""

    value: str
    where: str = ""


@dataclass(frozen=True, slots=True)
class MeasureLine:
    """One line of a table of measures.

    Attributes
    ----------
    name
        Name of the measure, as in the code, the docs and the command line.
    cells
        One for each file: the original and the release, or the assessed file alone.
    limit
        What it is held against, or an empty text.
    met
        Whether the last file keeps that; ``None`` where there is nothing to keep.
    promised
        Whether that was asked of the release, or is for orientation.
    """

    name: str
    meaning: str
    cells: tuple[MeasureCell, ...]
    limit: str = ""
    met: bool | None = None
    promised: bool = False


@dataclass(frozen=True, slots=True)
class MeasureGroup:
    """Lines of a table under one heading."""

    title: str
    note: str
    lines: tuple[MeasureLine, ...]


def worst_first(risk: Risk) -> list[str]:
    """The sensitive attributes, by the largest and then the mean share of one value in a class."""
    own = risk.sensitive
    shares = {name: (each.h_affiliation.value, each.avg_gsar.value) for name, each in own.items()}
    return sorted(shares, key=shares.__getitem__, reverse=True)


@dataclass(frozen=True)
class RiskTables:
    """The tables of measures of a release beside its original, or of an assessed file.

    Attributes
    ----------
    risks
        The original and the release, or the assessed file alone.
    promises
        What was asked of the release, by the measure that is bounded and the attribute.
    """

    risks: tuple[Risk, ...]
    promises: Mapping[tuple[str, str], PromiseLine]

    @property
    def groups(self) -> list[MeasureGroup]:
        """The measures of whole files, grouped by the question that they answer."""
        sizes = ("records", "persons", "classes", "k", "pid_k")
        uniques = ("sample_uniques", "sample_unique_records")
        counting = ("exposed_persons", "max_count_risk", "avg_count_risk")
        return [
            MeasureGroup(
                Phrase("How large are the classes?"),
                "",
                tuple(self._count(name) for name in (*sizes, *uniques)),
            ),
            MeasureGroup(
                Phrase("Whose record is it? (several records per person)"),
                "",
                (
                    self._measure("g_balance", share=False),
                    self._measure("max_gidr"),
                    self._measure("avg_gidr"),
                ),
            ),
            MeasureGroup(
                Phrase("Can a person be found? (counting people)"),
                "",
                tuple(self._measure(name) for name in _REIDENTIFICATION),
            ),
            MeasureGroup(
                Phrase("The same by an intruder who knows the exact number of records, too"),
                Phrase("Kartal & Li 2016: records are counted in the class, under one pseudonym."),
                (self._count("count_k"), *(self._measure(name) for name in counting)),
            ),
            MeasureGroup(
                Phrase("The same counting records, as tools do that know no people"),
                Phrase("They understate the risk where people have several records."),
                tuple(self._by_records(name) for name in _REIDENTIFICATION),
            ),
            *self._households(),
            *self._special_uniques(),
            *self._presence(),
        ]

    @property
    def sensitive(self) -> list[MeasureGroup]:
        """The measures of each sensitive attribute, one group per attribute, the worst first."""
        own = self.risks[-1].sensitive
        short = len(own) >= MANY_COLUMNS
        return [
            MeasureGroup(name, "", tuple(self._attribute(name, short=short)))
            for name in worst_first(self.risks[-1])
        ]

    def _count(self, name: str) -> MeasureLine:
        cells = [
            MeasureCell(count(getattr(risk, name)), position(getattr(risk, f"{name}_where", None)))
            for risk in self.risks
        ]
        return MeasureLine(name, MEANINGS[name], tuple(cells), *self._limit(name))

    def _measure(self, name: str, *, share: bool = True) -> MeasureLine:
        measures = [getattr(risk, name) for risk in self.risks]
        last = self.risks[-1]
        meaning = MEANINGS[name]
        if last.population is not None:
            meaning = IN_POPULATION.get(name, meaning)
        if name == "records_at_risk":
            meaning = Phrase("{meaning} of {limit}", meaning=meaning, limit=percent(last.threshold))
        limit = self._limit(name) if (name, "") in self.promises else _oriented(measures[-1])
        return MeasureLine(name, meaning, _cells(measures, share), *limit)

    def _by_records(self, name: str) -> MeasureLine:
        measures = [getattr(risk.by_records, name) for risk in self.risks]
        return MeasureLine(f"{name}_by_records", "", _cells(measures, True))

    def _attribute(self, attribute: str, *, short: bool) -> Iterator[MeasureLine]:
        """The measures of an attribute; short, those of one table of many and what is promised."""
        promised = {measure for measure, _ in self.promises}
        for line in self._measures_of(attribute):
            if not short or line.name in _OF_MANY or line.name in promised:
                yield line

    def _measures_of(self, attribute: str) -> Iterator[MeasureLine]:
        own = [risk.sensitive[attribute] for risk in self.risks]

        def line(name: str, *, share: bool = False) -> MeasureLine:
            cells = _cells([getattr(each, name) for each in own], share)
            return MeasureLine(name, MEANINGS[name], cells, *self._limit(name, attribute))

        yield line("h_affiliation", share=True)
        yield line("avg_gsar", share=True)
        distinct = [
            MeasureCell(count(each.l_distinct), position(each.l_distinct_where)) for each in own
        ]
        limit = self._limit("l_distinct", attribute)
        yield MeasureLine("l_distinct", MEANINGS["l_distinct"], tuple(distinct), *limit)
        yield line("l_entropy")
        for l in sorted(own[-1].recursive):  # noqa: E741
            cells = _cells([each.recursive[l] for each in own], False)
            yield MeasureLine(f"recursive_{l}", recursive_meaning(l), cells)
        yield line("t_closeness")
        if all(each.t_closeness_ordered is not None for each in own):
            yield line("t_closeness_ordered")

    def _limit(self, measure: str, attribute: str = "") -> tuple[str, bool | None, bool]:
        line = self.promises.get((measure, attribute))
        if line is None:
            return "", None, False
        return line.required, line.met, True

    def _households(self) -> Iterator[MeasureGroup]:
        own = [risk.household for risk in self.risks if risk.household is not None]
        # Both files or none: each line has a cell for either.
        if len(own) < len(self.risks):
            return
        cells = tuple(MeasureCell(count(each.households)) for each in own)
        lines = [MeasureLine("households", MEANINGS["households"], cells)]
        for name in ("max_household_risk", "avg_household_risk", "households_at_risk"):
            measures = [getattr(each, name) for each in own]
            limit = _oriented(measures[-1])
            lines.append(MeasureLine(name, MEANINGS[name], _cells(measures, True), *limit))
        note = Phrase("As if people were found independently of each other.")
        yield MeasureGroup(Phrase("Can a person of a household be found?"), note, tuple(lines))
        alike = tuple(MeasureCell(count(each.household_k)) for each in own)
        limit = self._limit("household_k")
        lines = [MeasureLine("household_k", MEANINGS["household_k"], alike, *limit)]
        for name in ("max_composition_risk", "avg_composition_risk"):
            measures = [getattr(each, name) for each in own]
            lines.append(MeasureLine(name, MEANINGS[name], _cells(measures, True)))
        note = Phrase(
            "Where a release shows who lives together, which it does under household_k only."
        )
        yield MeasureGroup(Phrase("Can a household be found by its members?"), note, tuple(lines))

    def _special_uniques(self) -> Iterator[MeasureGroup]:
        own = self.risks[-1].special_uniques
        if own is None:
            return
        where = own.highest_where[0][0] if own.highest_where else None
        lines = [
            ("special_uniques", MEANINGS["special_uniques"], own.special_uniques, None),
            *(
                (f"minimal_uniques_{k}", minimal_unique_meaning(k), n, None)
                for k, n in own.minimal_uniques.items()
            ),
            ("highest_suda_score", MEANINGS["highest_suda_score"], own.highest_suda_score, where),
        ]
        most = max(own.contribution, key=own.contribution.__getitem__)
        yield MeasureGroup(
            Phrase("Who stands out by few quasi-identifiers already?"),
            Phrase(
                "The column “{column}” is part of {share} of the scores of all combinations (SUDA, "
                "Elliot et al. 2002).",
                column=most,
                share=percent(own.contribution[most]),
            ),
            tuple(
                MeasureLine(name, meaning, (MeasureCell(count(value), position(place)),))
                for name, meaning, value, place in lines
            ),
        )

    def _presence(self) -> Iterator[MeasureGroup]:
        own = self.risks[-1].presence
        if own is None:
            return
        cells = {
            "population": (MeasureCell(count(own.population)),),
            "presence_low": _cells([own.presence_low], True),
            "presence_high": _cells([own.presence_high], True),
            "strangers": (MeasureCell(count(own.strangers)),),
        }
        yield MeasureGroup(
            Phrase("Who of the population is in the file?"),
            Phrase(
                "δ-presence (Nergiz et al. 2007), among people who agree on all quasi-identifiers."
            ),
            tuple(MeasureLine(name, MEANINGS[name], cell) for name, cell in cells.items()),
        )


@dataclass(frozen=True, slots=True)
class EventTables:
    """What the section about known events says.

    Attributes
    ----------
    persons
        The people whom it is about, as printed.
    lines
        By number of known events and how they are drawn: that in words; the share of people found
        in each file, and its interval; of the last one learned from, alone, 95th percentile.
    numbers
        The numbers of events that the columns of ``by_number`` stand for.
    by_number
        By the number of events that persons have: it, the persons, and the share of them found, at
        random and by the most telling events.
    """

    sentences: tuple[str, ...]
    persons: str
    lines: tuple[tuple[str, tuple[tuple[str, str], ...], tuple[str, ...]], ...]
    numbers: tuple[int, ...]
    by_number: tuple[tuple[str, str, tuple[tuple[str, str], ...]], ...]


def event_tables(risks: Sequence[Risk]) -> EventTables | None:
    """The section about known events; ``None`` where no column tells one.

    Parameters
    ----------
    risks
        The original and the release, or the assessed file alone.
    """
    own = risks[-1].known_events
    if own is None:
        return None
    lines = []
    for each in own.risks:
        events = counted(each.m, "event")
        if each.drawn == "random":
            known = Phrase("{events}, at random", events=events)
        else:
            known = Phrase("{events}, the most telling", events=events)
        founds = [
            None if risk.known_events is None else risk.known_events.of(each.m, each.drawn).found
            for risk in risks
        ]
        cells = [
            ("–", "") if one is None else (percent(one.value), interval(one.low, one.high))
            for one in founds
        ]
        more = (percent(each.learned.value), percent(each.alone.value), percent(each.p95.value))
        lines.append((known, tuple(cells), more))
    numbers = tuple(risk.m for risk in own.risks if risk.drawn == "random")
    return EventTables(
        tuple(_event_sentences(risks[-1], own.risks)),
        count(own.persons),
        tuple(lines),
        numbers,
        tuple(
            (
                each.words,
                count(each.persons),
                tuple(
                    (percent(each.found[m]), percent(each.worst[m]))
                    if m in each.found
                    else ("–",) * 2
                    for m in numbers
                ),
            )
            for each in own.by_number
        ),
    )


def column_lines(risk: Risk) -> list[tuple[str, tuple[str, ...], str]]:
    """By column, the worst first: its name, who is found by it, what it tells."""
    worst = sorted(risk.columns, key=lambda column: column.found or 0, reverse=True)
    return [
        (
            column.column,
            tuple(
                "–" if share is None else percent(share)
                for share in (column.found, column.without, column.alone, column.person)
            ),
            Listed(
                Phrase("“{column}” {share}", column=name, share=percent(share))
                for name, share in most_told(column)
            )
            or NONE,
        )
        for column in worst
    ]


def _event_sentences(risk: Risk, risks: Sequence[KnownEventRisk]) -> Iterator[str]:
    own = risk.known_events
    assert own is not None
    columns: str = Phrase("{n} columns together", n=len(own.columns))
    if len(own.columns) < MANY_COLUMNS:
        columns = listed([quoted(name) for name in own.columns])
    yield Phrase(
        "The intruder knows the quasi-identifiers of a person and some of the person’s events: "
        "what {columns} show in a record, each different one once. People with fewer events are "
        "known by all of theirs.",
        columns=columns,
    )
    if not own.named:
        yield Phrase("No events are named. List under [events] what may be known.")
    if own.counts:
        yield Phrase("How many records the person has is known, too.")
    else:
        yield Phrase("The number of the person’s records is not taken as known.")
    drawn = [each for each in risks if not each.exact]
    if drawn:
        fewest = min(each.persons for each in drawn)
        yield Phrase(
            "Intervals (95 %): at least {fewest} of {people} people drawn, seed {seed}, or the "
            "most telling events looked for step by step.",
            fewest=count(fewest),
            people=count(own.persons),
            seed=own.seed,
        )


def _cells(measures: Sequence[Measure], share: bool) -> tuple[MeasureCell, ...]:
    return tuple(
        MeasureCell(measured(measure, share), position(measure.where)) for measure in measures
    )


def _oriented(measure: Measure) -> tuple[str, bool | None, bool]:
    if measure.threshold is None:
        return "", None, False
    return bounded(Bound.AT_MOST, percent(measure.threshold)), measure.met, False


@dataclass(frozen=True, slots=True)
class EstimateLine:
    """A measure of the population with its interval, as printed."""

    name: str
    meaning: str
    value: str
    interval: str


@dataclass(frozen=True, slots=True)
class RiskBand:
    """Records whose risk in the population lies between two ends.

    Attributes
    ----------
    low, high
        The ends, ``low`` included, ``high`` only where it is 1 too.
    share
        Share of the records.
    """

    label: str
    low: float
    high: float
    records: int
    share: float


@dataclass(frozen=True, slots=True)
class PopulationTables:
    """What the section about the population says.

    Attributes
    ----------
    counted
        Whether the population is at hand.
    mappings
        By kind of mapping, the expected number of correct matches and the likely ones.
    models
        Population uniques by model, or why a model has none.
    """

    counted: bool
    sentences: tuple[str, ...]
    shares: tuple[EstimateLine, ...]
    counts: tuple[EstimateLine, ...]
    mappings: tuple[tuple[str, str, str], ...]
    bands: tuple[RiskBand, ...]
    models: tuple[tuple[str, str], ...]
    path: tuple[str, ...]


def population_tables(risk: Risk) -> PopulationTables | None:
    """The section about the population; ``None`` where nothing is known of it."""
    own = risk.population
    if own is None:
        return None
    return PopulationTables(
        counted=own.marketer.estimator == REGISTER,
        sentences=tuple(_sentences(risk, own)),
        shares=_estimates(own, POPULATION_SHARES, share=True),
        counts=_estimates(own, _POPULATION_COUNTS, share=False),
        mappings=(
            _mapping(Phrase("no two people matched to the same one (one-to-one)"), own.one_to_one),
            _mapping(Phrase("each person matched by itself (free)"), own.free),
        ),
        bands=risk_bands(own),
        models=tuple(
            (_MODELS.get(name, name), found if isinstance(found, str) else count(round(found)))
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
            {name: each for name, each in asdict(band).items() if name != "label"}
            for band in risk_bands(own)
        ],
        "matches": {"one_to_one": match_bars(own.one_to_one), "free": match_bars(own.free)},
    }


def risk_bands(own: PopulationRisk) -> tuple[RiskBand, ...]:
    """The records by their chance to be found in the population, highest first."""
    risks, records = own.inverse_sizes, own.class_records
    whole = int(records.sum())
    found = []
    above = np.zeros(len(risks), dtype=bool)
    # An estimated chance is never certain.
    ends = BANDS if own.marketer.estimator == REGISTER else BANDS[1:]
    for place, low in enumerate(ends):
        # A risk on the end of a band must not fall below it by rounding.
        inside = (risks >= low - 1e-12) & ~above
        above |= inside
        high = ends[place - 1] if place else 1.0
        number = int(records[inside].sum())
        found.append(RiskBand(_band(low, high), low, high, number, number / whole))
    return tuple(found)


def _band(low: float, high: float) -> str:
    if low == 1:
        return Phrase("{share}: found for certain", share=percent(1))
    if low == 0:
        return Phrase("below {share}", share=percent(high))
    if high < 1:
        return Phrase("{low} to below {high}", low=percent(low), high=percent(high))
    return Phrase("{share} and more", share=percent(low))


def match_bars(of: MatchDistribution) -> list[dict[str, float]]:
    """Probabilities of counts of correct matches, neighbouring counts put together.

    Parameters
    ----------
    of
        How the number of correct matches scatters.
    """
    # One try in a thousand is left out: long tails would make the bars too thin.
    first, last = of.quantile(0.0005), of.quantile(0.9995)
    # As many bars as a picture can show: neighbouring counts are put together.
    width = max(1, -(-(last - first + 1) // _MOST_BARS))
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


def _estimates(
    own: PopulationRisk, names: Sequence[str], *, share: bool
) -> tuple[EstimateLine, ...]:
    show = percent if share else _whole
    measures: list[Measure | None] = [getattr(own, name) for name in names]
    return tuple(
        EstimateLine(
            measure.name,
            IN_POPULATION.get(measure.name, MEANINGS[measure.name]),
            show(measure.value),
            interval(measure.low, measure.high, show),
        )
        for measure in measures
        if measure is not None
    )


def _whole(value: float) -> str:
    return count(round(value, 1) if value < 100 else round(value))


def _mapping(name: str, of: MatchDistribution) -> tuple[str, str, str]:
    low, high = of.quantiles()
    return name, _whole(of.mean), Phrase("{low} to {high}", low=count(low), high=count(high))


def _sentences(risk: Risk, own: PopulationRisk) -> Iterator[str]:
    share = percent(own.sampling_fraction)
    yield Phrase(
        "The file’s {people} people are {share} of a population of {all}.",
        people=count(risk.persons),
        share=share,
        all=count(own.population),
    )
    shown = risk.shape.held
    if shown > risk.persons:
        yield Phrase(
            "A person with records in several classes counts in each of them, in the file and in "
            "the population: {shown} in place of {people} people.",
            shown=count(shown),
            people=count(risk.persons),
        )
    marketer = own.marketer
    if marketer.estimator == REGISTER:
        yield Phrase(
            "The population is at hand as a register; every number here was counted in it."
        )
        return
    yield Phrase(
        "Only its size is known, so the numbers are estimates. {why}",
        why=Sentence("{begin}.", begin=marketer.why),
    )
    yield Phrase("Intervals are meant to hold the true number of this file in 95 of 100 files.")
    if own.check is not None:
        # The scatter is of logarithms: this is what it means as a share.
        scatter = exp(own.check.scatter) - 1
        yield Phrase(
            "From one subsample to the next it scattered by {share}.", share=percent(scatter)
        )
    if own.seed is not None:
        yield Phrase("Seed of the draws: {seed}.", seed=own.seed)
