"""The Poisson log-linear estimators with their search for a model (paper 004, Section 2.4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from typing import Literal

import numpy as np

from sfumato.core.arrays import Floats
from sfumato.risk.population import estimator_protocol as protocol
from sfumato.risk.population.inverse_sizes import poisson
from studies.dankar_el_emam import log_linear_search
from studies.dankar_el_emam.contingency_table import Cells, Lookup, cells_of, column_names
from studies.dankar_el_emam.log_linear_fit import Fitted, Fitter, TooManyCellsError

SearchMode = Literal["per-size", "uniques", "independence", "all-two-way"]

SEARCHED_CELLS = 200_000
"""Largest table that a model may need to be offered in a search."""
SEARCH_TOLERANCE = 0.05
"""Largest difference of a margin, in persons, of the fits in a search."""
FILLED_CELLS = 2_000_000
"""Largest table that the model with all two-way terms may need."""
UNIQUES: log_linear_search.Band = (1,)
DRAWS = 200_000
"""Draws for the number of missed classes, where the table is too large to sum over."""


def of_inverse_sizes(
    name: str,
    sample: protocol.SampleClasses,
    inverse_sizes: Floats,
    alone: Floats | float,
    class_count: float | None = None,
    path: tuple[str, ...] = (),
) -> protocol.Estimate:
    """λ = Σ f E[1/F] / n, and over the sample uniques τ2 = Σ E[1/F] and τ1 = Σ P(F = 1).

    Paper 004, Theorem 1.

    Parameters
    ----------
    name
        The estimator's name.
    sample
        The classes of the sample.
    inverse_sizes
        E[1/F | f] of each class, shape (classes,).
    alone
        P(F = 1 | f = 1) of each class, shape (classes,), read only where f = 1; or one for
        all.
    class_count
        The number of classes of the population that the model took.
    path
        How it was reached, in publishable words.
    """
    unique = sample.sizes == 1
    every = np.broadcast_to(np.asarray(alone, dtype=np.float64), unique.shape)
    return protocol.Estimate(
        estimator=name,
        marketer=float((sample.each * sample.sizes) @ inverse_sizes) / sample.n,
        class_count=class_count,
        expected_uniques=float((every * sample.each)[unique].sum()),
        unique_matches=float((inverse_sizes * sample.each)[unique].sum()),
        inverse_sizes=inverse_sizes,
        path=path,
    )


@dataclass(frozen=True)
class LogLinear:
    """E[1/F] of every class of the sample under a log-linear model of its cells.

    F - f ~ Poisson((1 - π) μ / π) with μ the fitted mean of the cell in the sample. Everybody is
    taken to be drawn with the same probability π = n / N; samples with unequal weights are
    refused.

    Attributes
    ----------
    search
        ``per-size``: a search for a model for each class size; ``uniques``: one search by the fit
        to the sample uniques, and its model for all classes; ``independence`` and
        ``all-two-way``: that model.
    """

    search: SearchMode = "per-size"

    @property
    def name(self) -> str:
        """Its name on the command line and in the report."""
        return "log-linear" if self.search == "per-size" else f"log-linear-{self.search}"

    def estimate(
        self, sample: protocol.SampleClasses, rng: np.random.Generator
    ) -> protocol.Estimate:
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
            If the classes have no keys, weights differ, or the model has too many cells.
        """
        cells = cells_of(sample)
        names = column_names(cells.variables)
        path: tuple[str, ...]
        if sample.n == sample.population:
            means, path = np.zeros(sample.classes), ("the sample is the population",)
        elif self.search == "independence" or cells.variables == 1:
            model = Fitter(cells, SEARCHED_CELLS).fit(log_linear_search.INDEPENDENCE)
            means, path = model.means(cells.codes), ("independence",)
        elif self.search == "all-two-way":
            means, path = _all_two_way(cells).means(cells.codes), ("all two-way terms",)
        else:
            means, paths = self._searched(cells, sample, rng)
            path = tuple(step.in_words(names) for step in paths)
        unseen = means * (1 - sample.fraction) / sample.fraction
        return of_inverse_sizes(
            self.name, sample, poisson(sample.sizes, unseen), np.exp(-unseen), path=path
        )

    def _searched(
        self, cells: Cells, sample: protocol.SampleClasses, rng: np.random.Generator
    ) -> tuple[Floats, list[log_linear_search.Path]]:
        """The mean of each cell under the model found for its size, and the searches."""
        fitter = Fitter(cells, SEARCHED_CELLS, SEARCH_TOLERANCE)
        bands = (
            [UNIQUES]
            if self.search == "uniques"
            else log_linear_search.bands_of(*sample.counts_of_sizes)
        )
        paths = log_linear_search.Search(
            fitter, log_linear_search.evidence_of(cells, rng), bands, sample.fraction
        ).paths()
        if self.search == "uniques":
            return fitter.fit(paths[0].model).means(cells.codes), paths
        means = np.empty(sample.classes)
        for path in paths:
            sized = (sample.sizes >= path.band[0]) & (sample.sizes <= path.band[-1])
            means[sized] = fitter.fit(path.model).means(cells.codes[sized])
        return means, paths


def _all_two_way(cells: Cells) -> Fitted:
    try:
        return Fitter(cells, FILLED_CELLS).fit(tuple(combinations(range(cells.variables), 2)))
    except TooManyCellsError:
        raise protocol.EstimationFailedError(
            f"the model with all two-way terms needs more than {FILLED_CELLS:,} cells"
        ) from None


@dataclass(frozen=True)
class LogLinearCount:
    """J̃, and marketer risk as J̃ / N, from the expected number of classes that were missed.

    J̃ = d + Σ over the empty cells of P(F > 0 | f = 0) = 1 - exp(-(1 - π) λ), λ = μ / π. Everybody
    is taken to be drawn with the same probability π = n / N.

    Attributes
    ----------
    search
        ``missed``: a search by the fit to that sum, with the coefficients that have its direction
        (`of_direction` for size 0); ``uniques``: by the fit to the sample uniques;
        ``independence``: that model.
    """

    search: Literal["missed", "uniques", "independence"] = "missed"

    @property
    def name(self) -> str:
        """Its name on the command line and in the report."""
        kind = "" if self.search == "missed" else f"-{self.search}"
        return f"log-linear-count{kind}"

    def estimate(
        self, sample: protocol.SampleClasses, rng: np.random.Generator
    ) -> protocol.Estimate:
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
        names = column_names(cells.variables)
        if sample.n == sample.population:
            missed, path = 0.0, ["the sample is the population"]
        else:
            model, path = self._model(cells, names, sample.fraction, rng)
            missed, error = missed_classes(cells, model, sample.fraction, rng)
            path.append(f"{missed:,.0f} classes missed")
            if error:
                path[-1] += f", from {DRAWS:,} draws, standard error {error:,.1f}"
        count = min(sample.classes + missed, float(sample.population))
        return protocol.Estimate(
            self.name, marketer=count / sample.population, class_count=count, path=tuple(path)
        )

    def _model(
        self, cells: Cells, names: tuple[str, ...], fraction: float, rng: np.random.Generator
    ) -> tuple[Fitted, list[str]]:
        fitter = Fitter(cells, SEARCHED_CELLS, SEARCH_TOLERANCE)
        if self.search == "independence" or cells.variables == 1:
            return fitter.fit(log_linear_search.INDEPENDENCE), ["independence"]
        bands = [log_linear_search.MISSED if self.search == "missed" else UNIQUES]
        path = log_linear_search.Search(
            fitter, log_linear_search.evidence_of(cells, rng), bands, fraction
        ).paths()[0]
        return fitter.fit(path.model), [path.in_words(names)]


def missed_classes(
    cells: Cells, model: Fitted, fraction: float, rng: np.random.Generator
) -> tuple[float, float]:
    """The expected number of classes of the population that the sample lacks.

    Parameters
    ----------
    cells
        The observed cells.
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
    if cells.grid <= log_linear_search.ENUMERATED:
        sizes, means, _ = log_linear_search.AllCells(cells).judge(model)
        return float(_present(odds * means[sizes == 0]).sum()), 0.0
    means, weights = log_linear_search.empty_cells(
        model, Lookup(cells), log_linear_search.spread_uniforms(cells.variables, DRAWS, rng)
    )
    each = np.zeros(DRAWS)
    each[: len(means)] = weights * _present(odds * means) * DRAWS
    return float(each.mean()), float(each.std()) / sqrt(DRAWS)


def _present(unseen: Floats) -> Floats:
    """P(F > 0 | f = 0) where the unseen persons of a cell have this mean."""
    return -np.expm1(-unseen)
