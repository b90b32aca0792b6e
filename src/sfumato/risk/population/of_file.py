"""From an encoded file and what is known of its population to the population's risks."""

from __future__ import annotations

import secrets

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.engines.embedded.counts import group
from sfumato.risk.classes import ClassSummary
from sfumato.risk.population.estimate import Estimator
from sfumato.risk.population.estimated import estimated_population
from sfumato.risk.population.estimators import estimator_named
from sfumato.risk.population.given import LARGEST, Given
from sfumato.risk.population.names import AUTO
from sfumato.risk.population.result import PopulationRisk
from sfumato.risk.population.sample import SampleClasses
from sfumato.risk.population.weighted import Weighted, share_between
from sfumato.table.table import Table

Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]


def population_of_file(
    table: Table,
    class_of: Codes,
    summary: ClassSummary,
    given: Given,
    *,
    weights: Floats | None = None,
    estimator: str = AUTO,
    threshold: float = 0.2,
    seed: int | None = None,
) -> PopulationRisk:
    """Estimate the risks of a file that is a sample.

    A person with records in several classes counts in each of them, in the file and in the
    population alike: N is multiplied by the classes per person.

    Parameters
    ----------
    table
        The encoded file.
    class_of
        Class of each record, shape (records,).
    summary
        The classes.
    given
        The population's size, or the sampling fraction, or the column of ``weights``.
    weights
        Sampling weight of each record, shape (records,), where a column was given. A person's
        weight in a class is the mean over their records there.
    estimator
        Name of the estimator.
    threshold
        Risk above which a record counts as at risk.
    seed
        Seed of the draws; drawn where not given.

    Raises
    ------
    InputError
        If the population is smaller than the file, there is no such estimator, or it has no
        value for this file.
    """
    if seed is None:
        seed = secrets.randbits(32)
    weighted, between = _weights(table, class_of, summary, weights)
    persons = _persons(table, given, weighted, summary)
    n = int(summary.persons.sum())
    quasi = table.quasi_identifiers
    keys = np.column_stack([column.codes[summary.first_row] + 1 for column in quasi])
    sample = SampleClasses(
        sizes=summary.persons,
        population=max(round(persons * n / table.persons), n),
        keys=keys.astype(np.int32),
        domains=tuple(column.domain.size + 1 for column in quasi),
        weighted=weighted,
    )
    chosen: Estimator = estimator_named(estimator, tuple(column.name for column in quasi))
    if estimator == AUTO:
        chosen = Weighted(between)
    return estimated_population(
        summary, class_of, sample, persons, chosen, threshold, seed, auto=estimator == AUTO
    )


def _weights(
    table: Table, class_of: Codes, summary: ClassSummary, weights: Floats | None
) -> tuple[Floats | None, float]:
    """Sum of the persons' weights in each class, and how much weights go with the classes."""
    if weights is None:
        return None, 0.0
    pair, pairs = group([class_of, table.person], [summary.classes, table.persons])
    mean = np.bincount(pair, weights, pairs) / np.bincount(pair, minlength=pairs)
    of_pair = np.empty(pairs, dtype=np.int64)
    of_pair[pair] = class_of
    weighted: Floats = np.bincount(of_pair, mean, summary.classes).astype(np.float64)
    return weighted, share_between(of_pair, mean)


def _persons(table: Table, given: Given, weighted: Floats | None, summary: ClassSummary) -> int:
    """N, in persons."""
    if given.fraction is not None:
        return _at_most("parameter fraction", table.persons / given.fraction)
    if weighted is not None:
        shown = int(summary.persons.sum())
        persons = float(weighted.sum()) * table.persons / shown
        return max(_at_most("parameter weights", persons), table.persons)
    size = given.size or 0
    if size < table.persons:
        raise InputError(
            "parameter population",
            "must have at least as many persons as the file",
            found="fewer",
            accepted=f"{table.persons:,} or more",
        )
    return size


def _at_most(subject: str, persons: float) -> int:
    if not persons <= LARGEST:
        raise InputError(
            subject,
            "must come to a population of persons",
            found="far more than there can be",
            accepted=f"{LARGEST:,} at most",
        )
    return round(persons)
