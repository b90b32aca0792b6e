"""Risks of a file on Spark as a sample: estimated here, from its classes or their sizes."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.engines.embedded.counts import LARGEST_SPACE
from sfumato.engines.spark.counts import PERSONS, RECORDS
from sfumato.engines.spark.names import CLASS, quasi_identifier
from sfumato.engines.spark.table import SparkTable
from sfumato.risk.disclosure_risk import Risk
from sfumato.risk.on_spark.weights import (
    OF_WEIGHTS,
    TIMES,
    WEIGHTED,
    of_near_weight,
    share_of_classes,
    weighted_classes,
)
from sfumato.risk.population.estimation import AUTO, Estimator, SampleClasses
from sfumato.risk.population.population_estimates import (
    estimated_population,
    estimator_named,
    order_of_keys,
)
from sfumato.risk.population.population_size import (
    Given,
    population_by_weights,
    population_in_classes,
    population_size,
)
from sfumato.risk.population.sampling_weights import Weighted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]

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
    classes of each size, and of nearly the same mean weight, say what there is to say;
    estimators that read the classes' values have none then, and ``auto`` extrapolates the sizes
    alone.

    Parameters
    ----------
    risk
        The measures of the file.
    table
        The file.
    classes
        What `classes_on_spark` gave for it.
    given
        The population's number of persons, the sampling fraction, or the column of weights
        that ``table`` was opened with.
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
    shape, held = risk.shape, risk.shape.held
    counted = classes if given.weights is None else weighted_classes(table)
    if risk.classes <= most_classes:
        found = _with_keys(table, counted)
    elif given.weights is not None:
        found = _of_table(of_near_weight(counted).toArrow())
    else:
        found = _Collected(shape.persons, shape.records, shape.classes)
    if found.weighted is None:
        persons = population_size(given, risk.persons)
    else:
        persons = population_by_weights(found.total, held, risk.persons)
    sample = SampleClasses(
        found.sizes,
        population_in_classes(persons, held, risk.persons),
        found.keys,
        found.domains,
        found.weighted,
        found.times,
    )
    names = tuple(column.name for column in table.quasi_identifiers)
    auto = estimator == AUTO
    chosen: Estimator = Weighted(found.between) if auto else estimator_named(estimator, names)
    used = secrets.randbits(32) if seed is None else seed
    own = estimated_population(
        found.records, sample, persons, chosen, risk.threshold, used, auto=auto
    )
    if sample.times is not None:
        own = replace(own, path=(BY_NUMBERS, *own.path))
    return risk.with_population(own)


@dataclass(frozen=True, eq=False)
class _Collected:
    """Classes, or numbers of them, that came here; as `SampleClasses` has them."""

    sizes: Ints
    records: Ints
    times: Ints | None = None
    weighted: Floats | None = None
    between: float = 0.0
    keys: Codes | None = None
    domains: tuple[int, ...] = ()

    @property
    def total(self) -> float:
        """The sum of the weights."""
        weighted = np.zeros(0) if self.weighted is None else self.weighted
        return float(weighted.sum() if self.times is None else weighted @ self.times)


def _of_table(found: pa.Table) -> _Collected:
    """Classes without their keys."""
    weighted = WEIGHTED in found.column_names
    return _Collected(
        found[PERSONS].to_numpy(),
        found[RECORDS].to_numpy(),
        found[TIMES].to_numpy() if TIMES in found.column_names else None,
        found[WEIGHTED].to_numpy() if weighted else None,
        share_of_classes(found) if weighted else 0.0,
    )


def _with_keys(table: SparkTable, classes: DataFrame) -> _Collected:
    """The classes with their keys, ascending."""
    domains = tuple(column.domain.size + 1 for column in table.quasi_identifiers)
    is_packed = prod(domains) <= LARGEST_SPACE
    names = [CLASS] if is_packed else [quasi_identifier(place) for place in range(len(domains))]
    own = [name for name in classes.columns if name in {*names, PERSONS, RECORDS, *OF_WEIGHTS}]
    found = classes.select(*own).toArrow()
    if is_packed:
        keys = _unpacked(found[CLASS].to_numpy(), domains)
    else:
        keys = np.column_stack([found[name].to_numpy() + 1 for name in names]).astype(np.int32)
    order = order_of_keys(keys, domains)
    return replace(_of_table(found.take(pa.array(order))), keys=keys[order], domains=domains)


def _unpacked(packed: Ints, domains: tuple[int, ...]) -> Codes:
    """Codes of every quasi-identifier, missing ones 0."""
    keys = np.empty((len(packed), len(domains)), dtype=np.int32)
    for place in range(len(domains) - 1, -1, -1):
        packed, keys[:, place] = np.divmod(packed, domains[place])
    return keys
