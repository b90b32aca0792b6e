"""E[1/F | f]: the expected inverse of a class's size in the population, given the sample's."""

from sfumato.risk.population.expected_inverse.argus import argus
from sfumato.risk.population.expected_inverse.confluent import confluent
from sfumato.risk.population.expected_inverse.negative_binomial import negative_binomial
from sfumato.risk.population.expected_inverse.poisson import poisson

__all__ = ["argus", "confluent", "negative_binomial", "poisson"]
