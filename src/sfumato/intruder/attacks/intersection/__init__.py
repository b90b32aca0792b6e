"""Two releases that the targets are known to be in."""

from sfumato.intruder.attacks.intersection.intersect import Intersection, intersect

__all__ = ["Intersection", "intersect"]
