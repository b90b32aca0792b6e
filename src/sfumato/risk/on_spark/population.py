"""Risks of a file on Spark as a sample: estimated here, from its classes or their sizes."""

from __future__ import annotations

import secrets
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sfumato.engines.embedded.counts import LARGEST_SPACE
from sfumato.engines.spark.counts import PERSONS, RECORDS
from sfumato.engines.spark.names import CLASS, quasi_identifier
from sfumato.engines.spark.table import SparkTable
from sfumato.risk.population.estimate import Estimator
from sfumato.risk.population.estimated import estimated_population
from sfumato.risk.population.estimators import estimator_named
from sfumato.risk.population.given import Given
from sfumato.risk.population.names import AUTO
from sfumato.risk.population.of_file import (
    order_of_keys,
    population_in_classes,
    population_size,
)
from sfumato.risk.population.sample import SampleClasses
from sfumato.risk.population.weighted import Weighted
from sfumato.risk.result import Risk

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]

MOST_CLASSES = 1 << 22
"""Classes whose keys and sizes come here; of more, only the numbers of each size do."""
BY_NUMBERS = (
    "the classes are too many to look at their values: estimated from the numbers of classes of "
    "each size"
)


def population_on_spark(
    risk: Risk,
    table: SparkTable,
    classes: DataFrame,
    given: Given,
    estimator: str,
    seed: int | None,
    *,
    most_classes: int = MOST_CLASSES,
) -> Risk:
    """Add the risks of the file as a sample of a population whose size is known.

    Up to ``most_classes`` the classes come here, in the order in which the embedded engine has
    them, so that the same seed gives the same numbers in both. Of more classes, the numbers of
    classes of each size say what there is to say; estimators that read the classes' values have
    none then, and ``auto`` extrapolates the sizes alone.

    Parameters
    ----------
    risk
        The measures of the file.
    table
        The file.
    classes
        What `classes_on_spark` gave for it.
    given
        The population's number of persons, or the sampling fraction.
    estimator
        Name of the estimator.
    seed
        Seed of the draws; drawn where not given.
    most_classes
        Classes that come here, at most.

    Raises
    ------
    InputError
        If the population is smaller than the file, or the estimator has no value for it.
    """
    persons = population_size(given, risk.persons)
    population = population_in_classes(persons, risk.shape.held, risk.persons)
    if risk.classes <= most_classes:
        sample, records = _with_keys(table, classes, population)
    else:
        shape = risk.shape
        sample = SampleClasses(shape.persons, population, times=shape.classes)
        records = shape.records
    names = tuple(column.name for column in table.quasi_identifiers)
    auto = estimator == AUTO
    chosen: Estimator = Weighted(0.0) if auto else estimator_named(estimator, names)
    used = secrets.randbits(32) if seed is None else seed
    found = estimated_population(records, sample, persons, chosen, risk.threshold, used, auto=auto)
    if sample.times is not None:
        found = replace(found, path=(BY_NUMBERS, *found.path))
    return replace(risk, population=found, marketer=found.marketer, journalist=found.journalist)


def _with_keys(
    table: SparkTable, classes: DataFrame, population: int
) -> tuple[SampleClasses, Ints]:
    """The classes with their keys, ascending, and the number of records of each."""
    domains = tuple(column.domain.size + 1 for column in table.quasi_identifiers)
    packed = prod(domains) <= LARGEST_SPACE
    names = [quasi_identifier(place) for place in range(len(domains))]
    found = classes.select(*([CLASS] if packed else names), PERSONS, RECORDS).toArrow()
    if packed:
        keys = _unpacked(found[CLASS].to_numpy(), domains)
    else:
        keys = np.column_stack([found[name].to_numpy() + 1 for name in names]).astype(np.int32)
    order = order_of_keys(keys, domains)
    sample = SampleClasses(found[PERSONS].to_numpy()[order], population, keys[order], domains)
    return sample, found[RECORDS].to_numpy()[order]


def _unpacked(packed: Ints, domains: tuple[int, ...]) -> Codes:
    """Codes of every quasi-identifier, missing ones 0."""
    keys = np.empty((len(packed), len(domains)), dtype=np.int32)
    for place in range(len(domains) - 1, -1, -1):
        packed, keys[:, place] = np.divmod(packed, domains[place])
    return keys
