"""The classes of a sample, as estimators read them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SampleClasses:
    """The equivalence classes of a sample, in persons.

    Attributes
    ----------
    sizes
        f_j, the number of persons of each class, at least 1; shape (classes,).
    population
        N, the number of persons of the population; at least the sample's ``n``.
    keys
        Code of every quasi-identifier in every class, shape (classes, quasi-identifiers);
        ``None`` where only the sizes are known.
    domains
        Number of values that each quasi-identifier can have, shape (quasi-identifiers,); a
        code is below it.
    weighted
        Sum over the persons of a class of their sampling weights, shape (classes,): an
        estimate of F_j; ``None`` where everybody was drawn with the same probability.

    Raises
    ------
    InputError
        If the population is smaller than the sample, or the sample is empty.
    """

    sizes: Ints
    population: int
    keys: npt.NDArray[np.int32] | None = None
    domains: tuple[int, ...] = ()
    weighted: Floats | None = None

    def __post_init__(self) -> None:
        if not len(self.sizes):
            raise InputError("the sample", "must have a class", found="none")
        if self.population < self.n:
            raise InputError(
                "parameter population",
                "must have at least as many persons as the sample",
                found="fewer",
                accepted=f"{self.n:,} or more",
            )

    @cached_property
    def n(self) -> int:
        """Number of persons of the sample, counted once in each class that they are in."""
        return int(self.sizes.sum())

    @property
    def classes(self) -> int:
        """d, the number of classes of the sample."""
        return len(self.sizes)

    @property
    def fraction(self) -> float:
        """The sampling fraction π = n / N."""
        return self.n / self.population

    @cached_property
    def counts_of_sizes(self) -> tuple[Ints, Ints]:
        """The class sizes i that occur, ascending, and the number of classes f_i of each."""
        sizes, classes = np.unique(self.sizes, return_counts=True)
        return sizes, classes.astype(np.int64)
