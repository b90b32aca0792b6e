"""The number of classes of the population, by a Poisson log-linear model of the sample."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np

from sfumato.risk.population.estimate import Estimate
from sfumato.risk.population.log_linear.cells import Cells, Floats, Lookup
from sfumato.risk.population.log_linear.criterion import MISSED
from sfumato.risk.population.log_linear.estimator import SEARCH_TOLERANCE, SEARCHED_CELLS, UNIQUES
from sfumato.risk.population.log_linear.evidence import (
    ENUMERATED,
    AllCells,
    empty_cells,
    evidence_of,
    spread_uniforms,
)
from sfumato.risk.population.log_linear.fit import Fitted, Fitter
from sfumato.risk.population.log_linear.sample_cells import cells_of, column_names
from sfumato.risk.population.log_linear.search import INDEPENDENCE, Search
from sfumato.risk.population.sample import SampleClasses

DRAWS = 200_000
"""Draws for the number of missed classes, where the table is too large to sum over."""


@dataclass(frozen=True)
class LogLinearCount:
    """J̃, and marketer risk as J̃ / N, from the expected number of classes that were missed.

    J̃ = d + Σ over the empty cells of P(F > 0 | f = 0) = 1 - exp(-(1 - π) λ), λ = μ / π. Everybody
    is taken to be drawn with the same probability π = n / N.

    Attributes
    ----------
    search
        ``missed``: a search by the fit to that sum, with the coefficients that have its direction
        (`goodness.of_direction` for size 0); ``uniques``: by the fit to the sample uniques;
        ``independence``: that model.
    columns
        Names of the quasi-identifiers for the path; empty for their numbers.
    """

    search: Literal["missed", "uniques", "independence"] = "missed"
    columns: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its name on the command line and in the report."""
        kind = "" if self.search == "missed" else f"-{self.search}"
        return f"log-linear-count{kind}"

    def estimate(self, sample: SampleClasses, rng: np.random.Generator) -> Estimate:
        """What the model says of the population behind the sample.

        Parameters
        ----------
        sample
            The classes, with their keys.
        rng
            Source of the draws from the fitted models, where the table is too large for sums
            over all its cells.

        Raises
        ------
        EstimationFailedError
            If the classes have no keys, or weights differ.
        """
        cells = cells_of(sample)
        names = column_names(self.columns, cells.variables)
        if sample.n == sample.population:
            missed, path = 0.0, ["the sample is the population"]
        else:
            model, path = self._model(cells, names, sample.fraction, rng)
            missed, error = missed_classes(cells, model, sample.fraction, rng)
            path.append(f"{missed:,.0f} classes missed")
            if error:
                path[-1] += f", from {DRAWS:,} draws, standard error {error:,.1f}"
        count = min(sample.classes + missed, float(sample.population))
        return Estimate(
            self.name, marketer=count / sample.population, class_count=count, path=tuple(path)
        )

    def _model(
        self, cells: Cells, names: tuple[str, ...], fraction: float, rng: np.random.Generator
    ) -> tuple[Fitted, list[str]]:
        fitter = Fitter(cells, SEARCHED_CELLS, SEARCH_TOLERANCE)
        if self.search == "independence" or cells.variables == 1:
            return fitter.fit(INDEPENDENCE), ["independence"]
        bands = [MISSED if self.search == "missed" else UNIQUES]
        path = Search(fitter, evidence_of(cells, rng), bands, fraction).paths()[0]
        return fitter.fit(path.model), [path.in_words(names)]


def missed_classes(
    cells: Cells, model: Fitted, fraction: float, rng: np.random.Generator
) -> tuple[float, float]:
    """The expected number of classes of the population that the sample lacks.

    Parameters
    ----------
    cells
        The observed cells.
    model
        The fitted model.
    fraction
        π, the sampling fraction.
    rng
        Source of the draws, where the table is too large to sum over.

    Returns
    -------
    tuple[float, float]
        The number, and the standard error that it has from the draws (0 where it has none).
    """
    odds = (1 - fraction) / fraction
    if cells.grid <= ENUMERATED:
        sizes, means, _ = AllCells(cells).judge(model)
        return float(_present(odds * means[sizes == 0]).sum()), 0.0
    means, weights = empty_cells(model, Lookup(cells), spread_uniforms(cells.variables, DRAWS, rng))
    each = np.zeros(DRAWS)
    each[: len(means)] = weights * _present(odds * means) * DRAWS
    return float(each.mean()), float(each.std()) / sqrt(DRAWS)


def _present(unseen: Floats) -> Floats:
    """P(F > 0 | f = 0) where the unseen persons of a cell have this mean."""
    return -np.expm1(-unseen)
