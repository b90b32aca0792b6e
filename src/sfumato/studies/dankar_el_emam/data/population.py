"""A data set as the population that samples are drawn from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.engines.embedded.counts import group
from sfumato.risk.population.estimation import SampleClasses
from sfumato.schema import Schema
from sfumato.table.door import open_table

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Population:
    """The equivalence classes of a population, one record per person.

    Attributes
    ----------
    sizes
        F_j, the number of persons of each class; shape (classes,).
    keys
        Code of every quasi-identifier in every class, 0 where it is missing; shape (classes,
        quasi-identifiers).
    domains
        Number of values that each quasi-identifier can have, missing included.
    values
        Number of values that each quasi-identifier has.
    """

    sizes: Ints
    keys: npt.NDArray[np.int32]
    domains: tuple[int, ...]
    values: tuple[int, ...]

    @property
    def persons(self) -> int:
        """N, the number of persons."""
        return int(self.sizes.sum())

    @property
    def classes(self) -> int:
        """The number of equivalence classes."""
        return len(self.sizes)

    @property
    def marketer(self) -> float:
        """λ of the whole population disclosed: classes / N (Theorem 1 with n = N)."""
        return self.classes / self.persons

    def draw(self, fraction: float, rng: np.random.Generator) -> tuple[SampleClasses, float]:
        """A simple random sample, and its λ = (1/n) Σ f_j / F_j as it really is.

        Parameters
        ----------
        fraction
            Share of the persons who are drawn, without replacement; at least one person is.
        rng
            Draws them.
        """
        persons = max(1, round(fraction * self.persons))
        drawn = rng.multivariate_hypergeometric(self.sizes, persons, method="marginals")
        seen = drawn > 0
        sizes = drawn[seen]
        sample = SampleClasses(sizes, self.persons, self.keys[seen], self.domains)
        return sample, float((sizes / self.sizes[seen]).sum()) / persons


def population_of(data: object, columns: tuple[str, ...]) -> Population:
    """Count the classes of a file or a table of one record per person.

    Parameters
    ----------
    data
        A path or a table.
    columns
        The quasi-identifiers.

    Raises
    ------
    InputError
        If the data cannot be read or lacks a column.
    """
    table = open_table(data, Schema(quasi_identifiers=columns), keep_source=False)
    codes = [column.codes for column in table.quasi_identifiers]
    values = [column.domain.size for column in table.quasi_identifiers]
    class_of, classes = group(codes, values)
    first = np.unique(class_of, return_index=True)[1]
    return Population(
        sizes=np.bincount(class_of, minlength=classes).astype(np.int64),
        keys=np.column_stack([each[first] + 1 for each in codes]).astype(np.int32),
        domains=tuple(size + 1 for size in values),
        values=tuple(values),
    )
