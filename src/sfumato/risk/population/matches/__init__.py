"""How many of the disclosed records an intruder with a register matches correctly."""

from sfumato.risk.population.matches.distribution import MatchDistribution
from sfumato.risk.population.matches.one_class import class_matches
from sfumato.risk.population.matches.total import matches

__all__ = ["MatchDistribution", "class_matches", "matches"]
