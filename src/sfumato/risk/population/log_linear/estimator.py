"""Marketer risk by a Poisson log-linear model of the sample (paper 004, Section 2.4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from sfumato.risk.population.estimate import Estimate, EstimationFailedError
from sfumato.risk.population.expected_inverse import poisson
from sfumato.risk.population.log_linear.cells import Cells, Floats
from sfumato.risk.population.log_linear.criterion import Band
from sfumato.risk.population.log_linear.evidence import evidence_of
from sfumato.risk.population.log_linear.fit import Fitted, Fitter, TooManyCellsError
from sfumato.risk.population.log_linear.sample_cells import cells_of, column_names
from sfumato.risk.population.log_linear.search import INDEPENDENCE, Path, Search, bands_of
from sfumato.risk.population.sample import SampleClasses

SearchMode = Literal["per-size", "uniques", "independence", "all-two-way"]

SEARCHED_CELLS = 200_000
SEARCH_TOLERANCE = 0.05
"""Largest difference of a margin, in persons, of the fits in a search."""
"""Largest table that a model may need to be offered in a search."""
FILLED_CELLS = 2_000_000
"""Largest table that the model with all two-way terms may need."""
UNIQUES: Band = (1,)


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
    columns
        Names of the quasi-identifiers for the path; empty for their numbers.
    """

    search: SearchMode = "per-size"
    columns: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its name on the command line and in the report."""
        return "log-linear" if self.search == "per-size" else f"log-linear-{self.search}"

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
            If the classes have no keys, weights differ, or the model has too many cells.
        """
        cells = cells_of(sample)
        names = column_names(self.columns, cells.variables)
        path: tuple[str, ...]
        if sample.n == sample.population:
            means, path = np.zeros(sample.classes), ("the sample is the population",)
        elif self.search == "independence" or cells.variables == 1:
            model = Fitter(cells, SEARCHED_CELLS).fit(INDEPENDENCE)
            means, path = model.means(cells.codes), ("independence",)
        elif self.search == "all-two-way":
            means, path = _all_two_way(cells).means(cells.codes), ("all two-way terms",)
        else:
            means, paths = self._searched(cells, sample, rng)
            path = tuple(step.in_words(names) for step in paths)
        return _of_means(self.name, sample, means, path)

    def _searched(
        self, cells: Cells, sample: SampleClasses, rng: np.random.Generator
    ) -> tuple[Floats, list[Path]]:
        """The mean of each cell under the model found for its size, and the searches."""
        fitter = Fitter(cells, SEARCHED_CELLS, SEARCH_TOLERANCE)
        bands = [UNIQUES] if self.search == "uniques" else bands_of(*sample.counts_of_sizes)
        paths = Search(fitter, evidence_of(cells, rng), bands, sample.fraction).paths()
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
        raise EstimationFailedError(
            f"the model with all two-way terms needs more than {FILLED_CELLS:,} cells"
        ) from None


def _of_means(name: str, sample: SampleClasses, means: Floats, path: tuple[str, ...]) -> Estimate:
    """The risk of every class, from the fitted mean of its cell."""
    unseen = means * (1 - sample.fraction) / sample.fraction
    inverse = poisson(sample.sizes, unseen)
    unique = sample.sizes == 1
    return Estimate(
        estimator=name,
        marketer=float(sample.sizes @ inverse) / sample.n,
        population_uniques=float(np.exp(-unseen[unique]).sum()),
        unique_matches=float(inverse[unique].sum()),
        inverse_sizes=inverse,
        path=path,
    )
