"""Associations that a reader of earlier releases could learn, and decisions on them."""

from sfumato.semantics.associations.association import Association, Associations, Item
from sfumato.semantics.associations.decide import accept, reject
from sfumato.semantics.associations.mine import mine
from sfumato.semantics.associations.shown import Shown

__all__ = [
    "Association",
    "Associations",
    "Item",
    "Shown",
    "accept",
    "mine",
    "reject",
]
