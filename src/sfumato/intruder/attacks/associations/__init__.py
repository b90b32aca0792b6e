"""Refine generalised cells by associations that an earlier release shows."""

from sfumato.intruder.attacks.associations.attack import Refined, by_associations
from sfumato.intruder.attacks.associations.mine import Association, mine

__all__ = ["Association", "Refined", "by_associations", "mine"]
