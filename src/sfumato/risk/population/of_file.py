"""From an encoded file and what is known of its population to the population's risks."""

from __future__ import annotations

import secrets
from dataclasses import replace
from math import prod

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.engines.embedded.counts import LARGEST_SPACE, group
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
    n = int(summary.persons.sum())
    persons = _persons(table, given, weighted, n)
    quasi = table.quasi_identifiers
    keys = np.column_stack([column.codes[summary.first_row] + 1 for column in quasi])
    domains = tuple(column.domain.size + 1 for column in quasi)
    order = order_of_keys(keys, domains)
    sample = SampleClasses(
        sizes=summary.persons[order],
        population=population_in_classes(persons, n, table.persons),
        keys=keys[order].astype(np.int32),
        domains=domains,
        weighted=None if weighted is None else weighted[order],
    )
    chosen: Estimator = estimator_named(estimator, tuple(column.name for column in quasi))
    if estimator == AUTO:
        chosen = Weighted(between)
    found = estimated_population(
        summary.records[order], sample, persons, chosen, threshold, seed, auto=estimator == AUTO
    )
    inverse = np.empty(len(order))
    inverse[order] = found.inverse_sizes
    return replace(found, inverse_sizes=inverse, class_records=summary.records, class_of=class_of)


def order_of_keys(keys: Codes, domains: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """The classes by their keys, ascending: the order in which every engine's estimators see them.

    Parameters
    ----------
    keys
        Code of every quasi-identifier in every class, shape (classes, quasi-identifiers).
    domains
        Number of codes of each quasi-identifier.
    """
    if prod(domains) > LARGEST_SPACE:
        return np.lexsort(keys.T[::-1])
    packed = np.zeros(len(keys), dtype=np.int64)
    for codes, size in zip(keys.T, domains, strict=True):
        packed = packed * size + codes
    return np.argsort(packed, kind="stable")


def population_in_classes(persons: int, held: int, of_file: int) -> int:
    """N, each person counted in as many classes as the file's persons are in.

    Parameters
    ----------
    persons
        Number of persons of the population.
    held
        Number of persons of the file, each counted in every class that they are in.
    of_file
        Number of persons of the file.
    """
    return max(round(persons * held / of_file), held)


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


def _persons(table: Table, given: Given, weighted: Floats | None, held: int) -> int:
    """N, in persons."""
    if weighted is None:
        return population_size(given, table.persons)
    return population_by_weights(float(weighted.sum()), held, table.persons)


def population_by_weights(weights: float, held: int, persons: int) -> int:
    """N, in persons, from sampling weights.

    Parameters
    ----------
    weights
        Sum of the weights of the file's persons, in every class that they are in.
    held
        Number of these persons.
    persons
        Number of persons of the file.

    Raises
    ------
    InputError
        If the population is larger than any.
    """
    return max(_at_most("parameter weights", weights * persons / held), persons)


def population_size(given: Given, persons: int) -> int:
    """N, in persons, from a number or a sampling fraction.

    Parameters
    ----------
    given
        One of the two.
    persons
        Number of persons of the file.

    Raises
    ------
    InputError
        If the population is smaller than the file, or larger than any.
    """
    if given.fraction is not None:
        return _at_most("parameter fraction", persons / given.fraction)
    size = given.size or 0
    if size < persons:
        raise InputError(
            "parameter population",
            "must have at least as many persons as the file",
            found="fewer",
            accepted=f"{persons:,} or more",
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
