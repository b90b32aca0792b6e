"""Figure 2's simulation: relative errors of estimators in samples of a known population."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.risk.population.estimation import EstimationFailedError
from sfumato.risk.population.population_estimates import estimator_named
from sfumato.studies.dankar_el_emam.compared import LOG_LINEAR
from sfumato.studies.dankar_el_emam.data.population import Population

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Errors:
    """Relative errors of estimators in samples of one population at one fraction.

    Attributes
    ----------
    fraction
        The sampling fraction.
    of
        Relative error (λ̂ - λ) / λ (Equation 3) by estimator, shape (samples,); an estimator
        with fewer samples has the first ones of the others. NaN where it has no value.
    """

    fraction: float
    of: Mapping[str, Floats]

    def shared(self, names: Sequence[str]) -> dict[str, Floats]:
        """The errors of some estimators in the samples that all of them had a value for.

        Parameters
        ----------
        names
            The estimators.
        """
        fewest = min(len(self.of[name]) for name in names)
        stacked = np.array([self.of[name][:fewest] for name in names])
        kept = np.isfinite(stacked).all(axis=0)
        return dict(zip(names, stacked[:, kept], strict=True))


def searched(repetitions: int, every: int) -> int:
    """How many of the samples the log-linear search runs on: one in ``every``, at least one."""
    return -(-repetitions // every)


def simulate(
    population: Population,
    fraction: float,
    estimators: Sequence[str],
    repetitions: int,
    *,
    seed: Sequence[int],
    every: int = 1,
    done: Callable[[float], None] = lambda _share: None,
) -> Errors:
    """Draw samples and estimate the marketer risk of each.

    Parameters
    ----------
    population
        The population.
    fraction
        Share of it that each sample has.
    estimators
        Names of the estimators.
    repetitions
        Number of samples.
    seed
        Numbers that the draws of this population and fraction depend on. The same sample is
        drawn for every set of estimators.
    every
        The log-linear search runs on one in so many samples.
    done
        Told the share of the samples that is done.
    """
    searches = searched(repetitions, every)
    errors: dict[str, list[float]] = {name: [] for name in estimators}
    for number in range(repetitions):
        draws, *own = np.random.SeedSequence([*seed, number]).spawn(1 + len(estimators))
        sample, real = population.draw(fraction, np.random.default_rng(draws))
        for name, source in zip(estimators, own, strict=True):
            if name == LOG_LINEAR and number >= searches:
                continue
            try:
                found = estimator_named(name).estimate(sample, np.random.default_rng(source))
                errors[name].append(found.marketer / real - 1)
            except EstimationFailedError:
                errors[name].append(float("nan"))
        done((number + 1) / repetitions)
    return Errors(fraction, {name: np.array(each) for name, each in errors.items()})
