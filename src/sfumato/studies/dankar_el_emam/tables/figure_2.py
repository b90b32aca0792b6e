"""Figure 2: mean relative error of each estimator over the sampling fraction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sfumato.studies.dankar_el_emam.compared import LABELS, LOG_LINEAR
from sfumato.studies.dankar_el_emam.data.data_set import DataSet
from sfumato.studies.dankar_el_emam.published import REPETITIONS
from sfumato.studies.dankar_el_emam.simulate import Errors, Floats, searched
from sfumato.studies.study import Cell, Column, Grid, Section

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
        tuple(_grid(data, errors) for data, errors in simulated.items()),
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


def _scatter(errors: Floats) -> float | None:
    valued = errors[np.isfinite(errors)]
    return float(valued.std(ddof=1)) if len(valued) > 1 else None


def _grid(data: DataSet, of_fractions: Sequence[Errors]) -> Grid:
    columns = [Column("estimator", "Estimator")]
    for errors in of_fractions:
        said = f"{errors.fraction:g}"
        columns.append(Column(f"mean_{said}", said, 1, percent=True, signed=True))
        columns.append(Column(f"sd_{said}", "sd", 1, percent=True))
    rows = []
    for name in of_fractions[0].of:
        row: list[Cell] = [LABELS[name]]
        for errors in of_fractions:
            row += [mean_error(errors.of[name]), _scatter(errors.of[name])]
        rows.append((*row, len(of_fractions[0].of[name])))
    return Grid(
        grid_name(data),
        f"{data.key}: mean relative error and standard deviation in %, by sampling fraction",
        (*columns, Column("samples", "Samples")),
        tuple(rows),
    )


def _samples(simulated: Simulated, repetitions: int) -> str:
    text = f"{repetitions:,} random samples at each fraction."
    fewer = {
        data.key: searched(repetitions, data.every)
        for data, errors in simulated.items()
        if searched(repetitions, data.every) < repetitions
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
