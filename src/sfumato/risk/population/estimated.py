"""Risks of a sample whose population is estimated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.risk.population.accumulation import Accumulation
from sfumato.risk.population.accumulation.estimator import known
from sfumato.risk.population.estimate import Estimate, EstimationFailedError, Estimator
from sfumato.risk.population.intervals import STANDARD_DEVIATIONS, with_interval
from sfumato.risk.population.matches import matches
from sfumato.risk.population.per_class import PerClass
from sfumato.risk.population.result import PopulationRisk
from sfumato.risk.population.sample import SampleClasses
from sfumato.risk.population.subsamples import SubsampleCheck, check_on_subsamples
from sfumato.risk.population.uniques.registry import UNIQUES_MODELS
from sfumato.risk.population.words import reason

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

SHAPE = 2.0
"""By how much more the ends of λ count for the number of small classes."""
SUBSAMPLES = 10
"""Subsamples on which the estimator is checked."""
SLOW = ("log-linear", "log-linear-uniques", "log-linear-all-two-way", "log-linear-count")
FEW_SUBSAMPLES = 3
"""The same for estimators that search."""


def estimated_population(
    records: Ints,
    sample: SampleClasses,
    persons: int,
    estimator: Estimator,
    threshold: float,
    seed: int,
    *,
    auto: bool,
) -> PopulationRisk:
    """Estimate the risks of a file from its classes.

    Parameters
    ----------
    records
        Number of records of each class, shape (classes,).
    sample
        The classes, in the same order.
    persons
        N, the number of persons of the population.
    estimator
        What estimates λ.
    threshold
        Risk above which a record counts as at risk.
    seed
        Seed of the draws.
    auto
        Whether the estimator was left to us.

    Returns
    -------
    PopulationRisk
        Classes in the order of the sample, without ``class_of``.

    Raises
    ------
    InputError
        If the estimator has no value for this file.
    """
    rng = np.random.default_rng(seed)
    check = None
    if sample.n == sample.population:
        estimate = known(sample, estimator.name)
    else:
        estimate = _estimated(estimator, sample, rng)
        repeats = FEW_SUBSAMPLES if estimator.name in SLOW else SUBSAMPLES
        check = check_on_subsamples(estimator, sample, rng, repeats)
        estimate = with_interval(estimate, sample, check)
    return _Assembly(records, sample, _completed(estimate, sample, rng), threshold).result(
        persons, check, seed, reason(estimator.name, check, auto=auto)
    )


def _estimated(estimator: Estimator, sample: SampleClasses, rng: np.random.Generator) -> Estimate:
    try:
        return estimator.estimate(sample, rng)
    except EstimationFailedError as error:
        raise InputError(
            "parameter estimator",
            f"must have a value for this file: {error}",
            advice="take 'auto' or another estimator",
        ) from None


def _completed(estimate: Estimate, sample: SampleClasses, rng: np.random.Generator) -> Estimate:
    """Fill in τ1 and τ2 where the estimator gives λ and the class count only."""
    alone = float(sample.alone)
    fraction = sample.fraction
    if estimate.unique_matches is None and fraction < 1:
        classes = estimate.marketer * sample.population
        matched = fraction * (classes - sample.classes) / (1 - fraction)
        estimate = replace(estimate, unique_matches=float(np.clip(matched, 0.0, alone)))
    if estimate.population_uniques is None:
        other = Accumulation().estimate(replace(sample, weighted=None), rng)
        found = other.population_uniques or 0.0
        limit = alone if estimate.unique_matches is None else estimate.unique_matches
        estimate = replace(estimate, population_uniques=min(found, limit))
    return estimate


class _Assembly:
    """The measures that follow from one estimate."""

    def __init__(
        self, records: Ints, sample: SampleClasses, estimate: Estimate, threshold: float
    ) -> None:
        self.records, self.sample, self.estimate = records, sample, estimate
        self.threshold = threshold
        self.low = estimate.marketer if estimate.low is None else estimate.low
        self.high = estimate.marketer if estimate.high is None else estimate.high
        self.classes = None if sample.n == sample.population else PerClass(sample)
        ends = (estimate.marketer, self.low, self.high)
        self.shifts = [0.0 if self.classes is None else self.classes.shift(end) for end in ends]

    def result(
        self,
        persons: int,
        check: SubsampleCheck | None,
        seed: int,
        why: str,
    ) -> PopulationRisk:
        """Everything together."""
        estimate, n = self.estimate, self.sample.n
        inverse = self._inverse_sizes()
        average = float(inverse @ self.records) / int(self.records.sum())
        self.why = why
        counted = self._count("class_count", estimate.class_count, self.sample.population)
        return PopulationRisk(
            population=persons,
            sampling_fraction=self.sample.fraction,
            marketer=self._scaled("marketer", estimate.marketer, 1.0),
            journalist=self._journalist(),
            population_average_risk=self._scaled("population_average_risk", average, 1.0),
            population_records_at_risk=self._records_at_risk(),
            population_uniques=self._uniques(),
            unique_matches=self._unique_matches(),
            class_count=counted,
            expected_matches=self._scaled("expected_matches", estimate.marketer * n, n),
            one_to_one=matches(self.sample.sizes, 1.0 / inverse, times=self.sample.times),
            free=matches(
                self.sample.sizes, 1.0 / inverse, one_to_one=False, times=self.sample.times
            ),
            inverse_sizes=inverse,
            class_records=self.records,
            class_of=None,
            population_uniques_by_model=_by_model(self.sample),
            check=check,
            path=estimate.path,
            seed=seed,
        )

    def _measure(self, name: str, values: tuple[float, float, float]) -> Measure:
        value, low, high = values
        return Measure(
            name, value, min(low, value), max(high, value), self.estimate.estimator, self.why
        )

    def _scaled(self, name: str, value: float, most: float) -> Measure:
        """A measure that is proportional to λ, and at most ``most``."""
        low, high = (end / self.estimate.marketer for end in (self.low, self.high))
        value = min(value, most)
        return self._measure(name, (value, value * low, min(value * high, most)))

    def _count(self, name: str, value: float | None, population: int) -> Measure | None:
        if value is None:
            return None
        return self._measure(name, (value, self.low * population, self.high * population))

    def _inverse_sizes(self) -> Floats:
        if self.estimate.inverse_sizes is not None:
            return self.estimate.inverse_sizes
        if self.classes is None:
            return 1.0 / self.sample.sizes
        return self.classes.inverse_sizes(self.shifts[0])

    def _at_most(self, size: int, weights: Floats) -> tuple[float, float, float]:
        """Expected sum of weights over the classes with F_j <= size, and its two ends.

        Weights are those of all classes that an entry stands for.
        """
        if self.classes is None:
            sure = float(weights[self.sample.sizes <= size].sum())
            return sure, sure, sure
        sums = [float(weights @ self.classes.at_most(size, shift)) for shift in self.shifts]
        return sums[0], sums[1], sums[2]

    def _realised(self, size: int, weights: Floats) -> tuple[float, float, float]:
        """As `_at_most`, the ends for the sum that this file really has.

        The share of small classes follows from the shape of the distribution of F, of which λ
        fixes only one number: what the ends of λ change in it counts `SHAPE` times. Each class
        has F_j <= size or not, which scatters the sum besides; the two add up as squares.
        """
        middle, low, high = self._at_most(size, weights)
        if self.classes is None:
            return middle, low, high
        chances = self.classes.at_most(size, self.shifts[0])
        squares = weights * weights / self.sample.each
        scatter = float(np.sqrt(squares @ (chances * (1 - chances))))
        noise = STANDARD_DEVIATIONS * scatter
        below = float(np.hypot(SHAPE * (middle - low), noise))
        above = float(np.hypot(SHAPE * (high - middle), noise))
        return middle, max(middle - below, 0.0), min(middle + above, float(weights.sum()))

    def _records_at_risk(self) -> Measure:
        largest = int(np.ceil(1 / self.threshold - 1e-9)) - 1
        shares = self.records / int(self.records.sum())
        return self._measure("population_records_at_risk", self._realised(largest, shares))

    def _uniques(self) -> Measure:
        value = float(self.estimate.population_uniques or 0.0)
        middle, low, high = self._realised(1, self.sample.each.astype(np.float64))
        scale = value / middle if middle > 0 else 0.0
        most = float(self.sample.alone)
        return self._measure("population_uniques", (value, low * scale, min(high * scale, most)))

    def _unique_matches(self) -> Measure:
        value = float(self.estimate.unique_matches or 0.0)
        most = float(self.sample.alone)
        if self.sample.fraction == 1:
            return self._measure("unique_matches", (value, value, value))
        ratio = self.sample.fraction / (1 - self.sample.fraction)
        low, high = (
            float(np.clip(ratio * (end * self.sample.population - self.sample.classes), 0.0, most))
            for end in (self.low, self.high)
        )
        return self._measure("unique_matches", (value, low, high))

    def _journalist(self) -> Measure:
        """1 over the size that the smallest class has: likely, at most, at least."""
        weights = self.sample.each.astype(np.float64)
        likely, sure, possible = np.log(2.0), -np.log(0.05), -np.log(0.95)
        size = int(self.sample.sizes.min())
        ends: dict[float, float] = {}
        if self.classes is None:
            ends = dict.fromkeys((likely, sure, possible), 1 / size)
        while len(ends) < 3:
            expected = self._at_most(size, weights)
            for level, number in ((likely, 0), (sure, 1), (possible, 2)):
                if expected[number] >= level:
                    ends.setdefault(level, 1 / size)
            if size >= self.sample.sizes.min() / self.sample.fraction * 4:
                for level in (likely, sure, possible):
                    ends.setdefault(level, 1 / size)
            size = max(size + 1, int(size * 1.1))
        measure = self._measure("journalist", (ends[likely], ends[sure], ends[possible]))
        return replace(measure, threshold=self.threshold)


def _by_model(sample: SampleClasses) -> dict[str, float | str]:
    """Population uniques by the models that users of other tools know, or why there are none."""
    found: dict[str, float | str] = {}
    for name, model in UNIQUES_MODELS.items():
        try:
            found[name] = model.uniques(sample).uniques
        except EstimationFailedError as error:
            found[name] = f"no value: {error}"
    return found
