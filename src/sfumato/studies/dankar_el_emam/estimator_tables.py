"""Table 1 and Figure 2 of Dankar and El Emam 2010, and what Section 3 says of its estimators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from sfumato.studies.dankar_el_emam.marketer_samples import (
    ADULT_4,
    ARGUS,
    ESTIMATORS,
    LABELS,
    LOG_LINEAR,
    NEGATIVE_BINOMIAL,
    OF_THE_PAPER,
    DataSet,
    Errors,
    Floats,
    Population,
    search_samples,
)
from sfumato.studies.study_document import Cell, Column, Grid, Section, columns


class PublishedRow(NamedTuple):
    """A row of Table 1."""

    name: str
    persons: int
    quasi_identifiers: tuple[tuple[str, int], ...]
    """Each quasi-identifier and the number of values that it has."""
    marketer: float
    """λ, the actual marketer risk."""


FARS = PublishedRow(
    "FARS: fatal crashes, department of transportation",
    27_529,
    (("year", 21), ("age", 99), ("race", 19), ("drinking level", 4)),
    0.229,
)
ADULT = PublishedRow(
    "Adult: US census",
    30_162,
    (("age", 72), ("education", 16), ("race", 5), ("gender", 2)),
    0.104,
)
EMERGENCY = PublishedRow(
    "Emergency department at a children's hospital",
    25_470,
    (("postal code, 2 characters", 105), ("age", 42), ("gender", 2)),
    0.033,
)
NIDAY = PublishedRow(
    "Niday: provincial birth registry",
    57_679,
    (
        ("postal code, 3 characters", 678),
        ("month of birth", 7),
        ("maternal age", 42),
        ("gender", 2),
    ),
    0.687,
)
PHARMACY = PublishedRow(
    "Pharmacy: prescriptions for inpatients of a children's hospital",
    3_507,
    (("gender", 2), ("age", 22), ("postal code, 3 characters", 154), ("length of stay", 89)),
    0.75,
)
TABLE_1 = (FARS, ADULT, EMERGENCY, NIDAY, PHARMACY)
FRACTIONS = (0.1, 0.3, 0.5, 0.7, 0.9)
"""The sampling fractions of Figure 2 (Section 2.5)."""
REPETITIONS = 2_500
"""Samples drawn at each fraction (Section 2.5)."""


def table_1_section(populations: Mapping[DataSet, Population]) -> Section:
    """Table 1 as printed, with what the data at hand gives, and the study's own populations.

    Parameters
    ----------
    populations
        The populations at hand.
    """
    adult = populations.get(ADULT_4)
    at_hand = (
        "Of the paper's five data sets only Adult is public: its row is computed again."
        if adult
        else "Of the paper's five data sets only Adult is public, and it is not at hand here."
    )
    return Section(
        "Table 1: the data sets",
        (
            (
                f"{at_hand} The three health data sets are not public, nor is the extract of "
                "FARS that the paper used. λ is the number of equivalence classes over n "
                "(Theorem 1, all disclosed)."
            ),
            f"Populations of Figure 2 here: {'; '.join(each.remark for each in populations)}.",
        ),
        (
            Grid(
                "table_1",
                "Table 1: marketer risk λ of the paper's data sets",
                columns(
                    "data=Data set; quasi_identifiers=Quasi-identifiers (values); "
                    "persons_published=n, printed; persons=n; classes=Classes; "
                    "marketer_published=λ, printed; marketer=λ .4"
                ),
                tuple(_printed_rows(adult)),
            ),
            Grid(
                "populations",
                "The populations of Figure 2 here",
                columns(
                    "data=Data set; quasi_identifiers=Quasi-identifiers (values); persons=n; "
                    "classes=Classes; marketer=λ .4"
                ),
                tuple(
                    (data.key, _named(zip(data.columns, found.values, strict=True)), *_sizes(found))
                    for data, found in populations.items()
                ),
            ),
        ),
    )


def _printed_rows(adult: Population | None) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    for printed in TABLE_1:
        persons, classes, marketer = _sizes(adult if printed is ADULT else None)
        rows.append(
            (
                printed.name,
                _named(printed.quasi_identifiers),
                printed.persons,
                persons,
                classes,
                printed.marketer,
                marketer,
            )
        )
    return rows


def _sizes(population: Population | None) -> tuple[int | None, int | None, float | None]:
    if population is None:
        return None, None, None
    return population.persons, population.classes, population.marketer


def _named(values: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name} ({number})" for name, number in values)


Simulated = Mapping[DataSet, Sequence[Errors]]
"""The errors of each population, by fraction ascending."""
PLOT = "figure_2"


def figure_2_section(simulated: Simulated, repetitions: int, seed: int) -> Section:
    """The mean relative errors and their scatter, a table per population.

    Parameters
    ----------
    simulated
        The errors.
    repetitions
        Samples at each fraction.
    seed
        The seed of the draws.
    """
    return Section(
        "Figure 2: relative error of the estimators",
        (
            (
                f"{_samples(simulated, repetitions)} Seed {seed}; the paper drew "
                f"{REPETITIONS:,}. The relative error is (λ̂ − λ) / λ (Equation 3), λ being what "
                "the sample's marketer risk really is; below 0 an estimator makes the data look "
                "less risky than it is."
            ),
            *_failures(simulated),
        ),
        tuple(_error_grid(data, errors) for data, errors in simulated.items()),
        (PLOT,),
    )


def grid_name(data: DataSet) -> str:
    """Name of a population's table, as ``figure_2_adult_4_qis``.

    Parameters
    ----------
    data
        The population.
    """
    return f"{PLOT}_{data.key.lower().replace(',', '').replace(' ', '_')}"


def mean_error(errors: Floats) -> float | None:
    """The mean over the samples with a value; ``None`` where there is none.

    Parameters
    ----------
    errors
        Relative errors, NaN for no value.
    """
    valued = errors[np.isfinite(errors)]
    return float(valued.mean()) if len(valued) else None


def mean_error_rows(simulated: Simulated) -> dict[str, list[dict[str, Any]]]:
    """The points of Figure 2 by population: estimator, fraction, mean relative error in %."""
    return {
        data.key: [
            {"estimator": LABELS[name], "fraction": errors.fraction, "error": 100 * mean}
            for errors in of_fractions
            for name, each in errors.of.items()
            if (mean := mean_error(each)) is not None
        ]
        for data, of_fractions in simulated.items()
    }


def _scatter(errors: Floats) -> float | None:
    valued = errors[np.isfinite(errors)]
    return float(valued.std(ddof=1)) if len(valued) > 1 else None


def _error_grid(data: DataSet, of_fractions: Sequence[Errors]) -> Grid:
    fractions = "".join(
        f"; mean_{errors.fraction:g}={errors.fraction:g} +.1%; sd_{errors.fraction:g}=sd .1%"
        for errors in of_fractions
    )
    rows = []
    for name in of_fractions[0].of:
        row: list[Cell] = [LABELS[name]]
        for errors in of_fractions:
            row += [mean_error(errors.of[name]), _scatter(errors.of[name])]
        rows.append((*row, len(of_fractions[0].of[name])))
    return Grid(
        grid_name(data),
        f"{data.key}: mean relative error and standard deviation in %, by sampling fraction",
        columns(f"estimator=Estimator{fractions}; samples=Samples"),
        tuple(rows),
    )


def _samples(simulated: Simulated, repetitions: int) -> str:
    text = f"{repetitions:,} random samples at each fraction."
    fewer = {
        data.key: search_samples(repetitions, data.search_every)
        for data, errors in simulated.items()
        if search_samples(repetitions, data.search_every) < repetitions
        if LOG_LINEAR in errors[0].of
    }
    if not fewer:
        return text
    listed = ", ".join(f"{samples} of them on {key}" for key, samples in fewer.items())
    return (
        f"{text} The log-linear search, which is slow (it fits models for every class size), ran "
        f"on fewer: {listed}."
    )


def _failures(simulated: Simulated) -> tuple[str, ...]:
    failed = [
        f"{LABELS[name]} on {data.key}: {number}"
        for data, of_fractions in simulated.items()
        for name in of_fractions[0].of
        if (number := sum(int(np.isnan(errors.of[name]).sum()) for errors in of_fractions))
    ]
    return (f"Samples without a value, left out of the means: {'; '.join(failed)}.",) * bool(failed)


CONFIDENCE = 0.975
"""Of the one side of a paired t-test at 5 %."""


class Comparison(NamedTuple):
    """The paper's three estimators on the same samples of one population and fraction."""

    data: str
    fraction: float
    samples: int
    errors: Mapping[str, float]
    """Mean relative error by estimator."""
    lowest: bool
    """Whether the log-linear search has the mean nearest to 0."""
    significant: bool | None
    """Whether its |error| is significantly below both others'; ``None`` without two samples."""


def ranks_section(simulated: Simulated) -> Section:
    """Whether the paper's statement holds here, and how all estimators rank.

    Parameters
    ----------
    simulated
        The errors.
    """
    compared = [
        row
        for data, of_fractions in simulated.items()
        for errors in of_fractions
        if (row := compare(data.key, errors)) is not None
    ]
    ranks = all_ranks(simulated)
    return Section(
        "Section 3: is the log-linear approach the best?",
        (
            (
                "The paper: the log-linear modelling approach has a significantly lower relative "
                "error than Argus and Bethlehem et al.'s (negative binomial) estimator, across all "
                f"sampling fractions and data sets. {_verdict(compared, ranks)}"
            ),
            (
                "Errors here are of the same samples for each estimator: those that the log-linear "
                "search ran on. Significant: its absolute error is lower than both others' in a "
                "paired t-test at 5 %; empty where there are too few samples to test. Ranks that "
                "differ by less than the scatter of the means are chance."
            ),
        ),
        (_claim_grid(compared), _rank_grid(ranks)),
    )


def compare(data: str, errors: Errors) -> Comparison | None:
    """The paper's three estimators on the samples that all have; ``None`` if there is none.

    Parameters
    ----------
    data
        Name of the population.
    errors
        The errors at one fraction.
    """
    shared = errors.shared(OF_THE_PAPER)
    samples = len(shared[LOG_LINEAR])
    if not samples:
        return None
    means = {name: float(each.mean()) for name, each in shared.items()}
    return Comparison(
        data,
        errors.fraction,
        samples,
        means,
        rank_of(means)[LOG_LINEAR] == 1,
        _lower_than_both(shared) if samples > 1 else None,
    )


def rank_of(errors: Mapping[str, float]) -> dict[str, int]:
    """Rank by absolute error, 1 for the least; equal ones share the better rank.

    Parameters
    ----------
    errors
        Relative errors by estimator.
    """
    return {
        name: 1 + sum(abs(other) < abs(error) for other in errors.values())
        for name, error in errors.items()
    }


def _lower_than_both(shared: Mapping[str, Floats]) -> bool:
    """Whether the paired differences of |errors| lie below 0 by a t-test."""
    own = np.abs(shared[LOG_LINEAR])
    return all(_below(own - np.abs(shared[other])) for other in (ARGUS, NEGATIVE_BINOMIAL))


def _below(differences: Floats) -> bool:
    samples = len(differences)
    limit = float(special.stdtrit(samples - 1, CONFIDENCE)) / samples**0.5
    return bool(differences.mean() < -limit * differences.std(ddof=1))


def _verdict(
    compared: Sequence[Comparison], ranks: Sequence[tuple[str, float, dict[str, int]]]
) -> str:
    if not compared:
        return "No sample here tells."
    lowest = sum(row.lowest for row in compared)
    tested = [row for row in compared if row.significant is not None]
    significant = sum(bool(row.significant) for row in tested)
    holds = "does not hold" if lowest < len(compared) else "holds"
    text = (
        f"Of these three this {holds} here: it has the lowest error in {lowest} of "
        f"{len(compared)} combinations of population and fraction"
    )
    if tested:
        text += f", significantly in {significant} of the {len(tested)} that can be tested"
    first = sum(each[LOG_LINEAR] == 1 for _data, _fraction, each in ranks)
    return f"{text}. Of all {len(ESTIMATORS)} estimators here it is the best in {first}."


def _claim_grid(compared: Sequence[Comparison]) -> Grid:
    return Grid(
        "section_3",
        "The paper's three estimators on the same samples: mean relative error in %",
        (
            *columns("data=Population; fraction=Fraction .1; samples=Samples"),
            *(
                Column(name.replace("-", "_"), LABELS[name], 1, percent=True, signed=True)
                for name in OF_THE_PAPER
            ),
            *columns("lowest=Log-linear lowest; significant=Significant"),
        ),
        tuple(
            (
                row.data,
                row.fraction,
                row.samples,
                *(row.errors[name] for name in OF_THE_PAPER),
                row.lowest,
                row.significant,
            )
            for row in compared
        ),
    )


def all_ranks(simulated: Simulated) -> list[tuple[str, float, dict[str, int]]]:
    """Population, fraction, and the rank of each estimator on the samples that all have.

    Parameters
    ----------
    simulated
        The errors.
    """
    rows = []
    for data, of_fractions in simulated.items():
        for errors in of_fractions:
            shared = errors.shared(ESTIMATORS)
            if len(shared[LOG_LINEAR]):
                means = {name: float(each.mean()) for name, each in shared.items()}
                rows.append((data.key, errors.fraction, rank_of(means)))
    return rows


def _rank_grid(ranks: Sequence[tuple[str, float, dict[str, int]]]) -> Grid:
    rows: list[tuple[Cell, ...]] = [(data, p, *each.values()) for data, p, each in ranks]
    if ranks:
        means = (np.mean([each[name] for _data, _p, each in ranks]) for name in ESTIMATORS)
        rows.append(("mean rank", None, *(round(float(mean), 1) for mean in means)))
    return Grid(
        "ranks",
        "Rank of each estimator by absolute mean relative error, the same samples for all",
        (
            *columns("population=Population; fraction=Fraction .1"),
            *(Column(name.replace("-", "_"), LABELS[name]) for name in ESTIMATORS),
        ),
        tuple(rows),
    )
