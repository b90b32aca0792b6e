"""How often a kind of guessing hits, if what is claimed were true."""

from sfumato.intruder.referee.distributions.free import binomial_hits, free_hits
from sfumato.intruder.referee.distributions.one_to_one import one_to_one_hits, poisson_hits
from sfumato.intruder.referee.distributions.shares import share_hits
from sfumato.intruder.referee.distributions.simulated import of_rounds, simulated_hits
from sfumato.risk.population.match_distribution import MatchDistribution

__all__ = [
    "MatchDistribution",
    "binomial_hits",
    "free_hits",
    "of_rounds",
    "one_to_one_hits",
    "poisson_hits",
    "share_hits",
    "simulated_hits",
]
