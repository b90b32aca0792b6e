"""What the log-linear estimators take from a sample, and what they refuse."""

from __future__ import annotations

import numpy as np

from sfumato.risk.population.estimate import EstimationFailedError
from sfumato.risk.population.log_linear.cells import Cells, observed_cells
from sfumato.risk.population.sample import SampleClasses


def cells_of(sample: SampleClasses) -> Cells:
    """The observed cells of a sample.

    Parameters
    ----------
    sample
        The classes, with their keys.

    Raises
    ------
    EstimationFailedError
        If there are no keys, or not everybody was drawn with the same probability.
    """
    if sample.keys is None or not sample.keys.shape[1]:
        raise EstimationFailedError(
            "a log-linear model needs the quasi-identifiers of the classes, not only their sizes"
        )
    if sample.weighted is not None:
        weights = sample.weighted / sample.sizes
        if not np.allclose(weights, weights[0]):
            raise EstimationFailedError(
                "a log-linear model takes everybody to be drawn with the same probability, and "
                "the weights differ"
            )
    return observed_cells(sample.keys, sample.sizes)


def column_names(columns: tuple[str, ...], variables: int) -> tuple[str, ...]:
    """Names for the path of a search.

    Parameters
    ----------
    columns
        Names of the quasi-identifiers, or none.
    variables
        Number of quasi-identifiers.

    Raises
    ------
    EstimationFailedError
        If there are names, but not one for each.
    """
    if columns and len(columns) != variables:
        raise EstimationFailedError("parameter columns must name every quasi-identifier")
    return columns or tuple(f"quasi-identifier {number}" for number in range(1, variables + 1))
