"""Tune: the constraints and options that lose least under thresholds, found by a search."""

from sfumato.pipeline.tune.tuned import Tuned
from sfumato.pipeline.tune.tuning import tune

__all__ = ["Tuned", "tune"]
