"""Probabilistic matching of the released classes with the register, by Splink."""

from sfumato.intruder.attacks.probabilistic.probabilistic import Probabilistic, probabilistic

__all__ = ["Probabilistic", "probabilistic"]
