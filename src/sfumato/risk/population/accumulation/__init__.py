"""The number of classes of a population, from how classes accumulate in its sample."""

from sfumato.risk.population.accumulation.estimator import Accumulation as Accumulation
