"""Section 3's statement about the log-linear approach, and the rank of each estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy import special

from sfumato.studies.dankar_el_emam.compared import (
    ARGUS,
    ESTIMATORS,
    LABELS,
    LOG_LINEAR,
    NEGATIVE_BINOMIAL,
    OF_THE_PAPER,
)
from sfumato.studies.dankar_el_emam.simulate import Errors, Floats
from sfumato.studies.dankar_el_emam.tables.figure_2 import Simulated
from sfumato.studies.study import Cell, Column, Grid, Section

CONFIDENCE = 0.975
"""Of the one side of a paired t-test at 5 %."""


class Compared(NamedTuple):
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


def compare(data: str, errors: Errors) -> Compared | None:
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
    return Compared(
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
    compared: Sequence[Compared], ranks: Sequence[tuple[str, float, dict[str, int]]]
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


def _claim_grid(compared: Sequence[Compared]) -> Grid:
    names = (LOG_LINEAR, ARGUS, NEGATIVE_BINOMIAL)
    return Grid(
        "section_3",
        "The paper's three estimators on the same samples: mean relative error in %",
        (
            Column("data", "Population"),
            Column("fraction", "Fraction", 1),
            Column("samples", "Samples"),
            *(
                Column(name.replace("-", "_"), LABELS[name], 1, percent=True, signed=True)
                for name in names
            ),
            Column("lowest", "Log-linear lowest"),
            Column("significant", "Significant"),
        ),
        tuple(
            (
                row.data,
                row.fraction,
                row.samples,
                *(row.errors[name] for name in names),
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
            Column("population", "Population"),
            Column("fraction", "Fraction", 1),
            *(Column(name.replace("-", "_"), LABELS[name]) for name in ESTIMATORS),
        ),
        tuple(rows),
    )
