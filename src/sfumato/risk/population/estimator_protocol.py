"""What estimators read of a sample, and what they say of its population."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np

from sfumato.core.arrays import Codes, Floats, Ints
from sfumato.core.errors import InputError, SfumatoError
from sfumato.core.extensions import Extension, extension, extension_names
from sfumato.risk.population.sampled_clusters import SampledClusters

AUTO = "auto"
ESTIMATORS = (AUTO, "accumulation")


@dataclass(frozen=True, eq=False)
class SampleClasses:
    """The equivalence classes of a sample, in persons.

    Where there are too many of them for one machine, each entry stands for classes of one size,
    as many as ``times`` says; then there are no keys.

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
        estimate of F_j; of an entry for several, the mean of theirs. ``None`` where everybody
        was drawn with the same probability.
    clusters
        The clusters that were drawn; ``None`` where persons were drawn one by one.
    times
        Number of classes that each entry of ``sizes`` stands for; ``None`` for one each.
    """

    sizes: Ints
    population: int
    keys: Codes | None = None
    domains: tuple[int, ...] = ()
    weighted: Floats | None = None
    times: Ints | None = None
    clusters: SampledClusters | None = None

    def __post_init__(self) -> None:
        if not len(self.sizes):
            raise InputError("the sample", "must have a class", found="none")
        if self.population < self.n:
            raise InputError(
                "parameter population",
                "must have at least as many people as the sample",
                found="fewer",
                accepted=f"{self.n:,} or more",
            )

    @cached_property
    def n(self) -> int:
        """Number of persons of the sample, counted once in each class that they are in."""
        return int(self.sizes.sum() if self.times is None else self.sizes @ self.times)

    @property
    def classes(self) -> int:
        """d, the number of classes of the sample."""
        return len(self.sizes) if self.times is None else int(self.times.sum())

    @cached_property
    def each(self) -> Ints:
        """Number of classes that each entry of ``sizes`` stands for; shape (classes,)."""
        return np.ones(len(self.sizes), dtype=np.int64) if self.times is None else self.times

    @cached_property
    def alone(self) -> int:
        """f_1, the number of persons who are alone in their class of the sample."""
        return int(self.each[self.sizes == 1].sum())

    @property
    def fraction(self) -> float:
        """The sampling fraction π = n / N."""
        return self.n / self.population

    @cached_property
    def counts_of_sizes(self) -> tuple[Ints, Ints]:
        """The class sizes i that occur, ascending, and the number of classes f_i of each."""
        return counts_of(self.sizes, self.times)


def counts_of(sizes: Ints, times: Ints | None) -> tuple[Ints, Ints]:
    """The sizes that occur, ascending, and how often; each stands for one class, or for more."""
    if times is None:
        own, classes = np.unique(sizes, return_counts=True)
        return own, classes.astype(np.int64)
    own, place = np.unique(sizes, return_inverse=True)
    classes = np.zeros(len(own), dtype=np.int64)
    # Added as integers: bincount would add as floating numbers, which are not exact beyond 2^53.
    np.add.at(classes, place, times)
    return own, classes


def most_shown(size: int, fraction: float) -> int:
    """The most persons of a class that a sample shows."""
    mean = size * fraction
    # Eight deviations of a Poisson variable, and 20
    # for small means: more are less likely than 1e-14.
    return min(size, int(mean + 8 * np.sqrt(mean) + 20))


@dataclass(frozen=True, eq=False)
class Estimate:
    """What one estimator says; ``None`` where it says nothing.

    Attributes
    ----------
    marketer
        λ, the expected share of the sample's persons whom an intruder with a register matches
        correctly (paper 004, Theorem 1); in (0, 1].
    unique_matches
        τ2, the expected number of correct matches among the sample uniques: Σ 1/F_j.
    inverse_sizes
        E[1/F_j] of each class of the sample, shape (classes,), in (0, 1 / f_j].
    low, high
        Ends of an interval that holds the realised λ of the sample in 95 % of cases, where the
        estimator has one of its own.
    foretold
        Gives the probability of each class by a model that lacks the class's own persons, shape
        (classes,), where the estimator has one.
    followed
        How much of what comes again comes because of the cells' own persons; in [0, 1].
    apart
        Of the classes of each size that occurs, the share whose persons do not gather there but
        stand apart, shape (sizes,); where some follow others.
    """

    estimator: str
    marketer: float
    class_count: float | None = None
    expected_uniques: float | None = None
    unique_matches: float | None = None
    inverse_sizes: Floats | None = None
    low: float | None = None
    high: float | None = None
    foretold: Callable[[], Floats] | None = None
    followed: float = 0.0
    apart: Floats | None = None
    path: tuple[str, ...] = field(default=())

    @classmethod
    def of_census(cls, name: str, sample: SampleClasses) -> Estimate:
        """The measures of a sample that is its population."""
        alone = float(sample.alone)
        return cls(
            estimator=name,
            marketer=sample.classes / sample.n,
            class_count=float(sample.classes),
            expected_uniques=alone,
            unique_matches=alone,
            inverse_sizes=1.0 / sample.sizes,
        )


class EstimationFailedError(SfumatoError):
    """An estimator has no value for this sample; the message says why and is publishable."""


class Estimator(Protocol):
    """One way from a sample to its population."""

    @property
    def name(self) -> str:
        """Its name on the command line and in the report."""

    def estimate(self, sample: SampleClasses, rng: np.random.Generator) -> Estimate:
        """What it says of the population; EstimationFailedError where it has no value."""


def check_estimator(name: str) -> None:
    """Refuse a name that no estimator has, neither ours nor another package's."""
    if name not in ESTIMATORS and extension("estimator", name) is None:
        raise InputError(
            "parameter estimator",
            "must be the name of an estimator; published ones err more, and are peers of the study "
            "of Dankar and El Emam and of the benchmarks now",
            accepted=", ".join((*ESTIMATORS, *extension_names("estimator"))),
        )


class AddedEstimator:
    """An estimator of another package: what it says is checked, and its errors say no values."""

    def __init__(self, added: Extension) -> None:
        self.name = added.name
        self._added = added
        with added.at_work():
            self._own: Estimator = added.part()

    def estimate(self, sample: SampleClasses, rng: np.random.Generator) -> Estimate:
        """See `Estimator`: λ, the ends of its interval and τ1; the rest follows from our model.

        Raises
        ------
        EstimationFailedError
            If λ or an end is no share, λ is not between its ends, or τ1 is more than are alone.
        """
        with self._added.at_work():
            said = self._own.estimate(sample, rng)
            low, middle, high = (
                float(said.marketer if end is None else end)
                for end in (said.low, said.marketer, said.high)
            )
            # Who is alone in the file is taken to be alone in the population where nothing is said.
            alone = float(sample.alone if said.expected_uniques is None else said.expected_uniques)
        if not (0 < low <= middle <= high <= 1 and 0 <= alone <= sample.alone):
            raise EstimationFailedError(
                f"The {self._added} gives numbers that cannot be: a share beyond its interval, or "
                "more uniques than the file has."
            )
        return Estimate(self.name, middle, expected_uniques=alone, low=low, high=high)
