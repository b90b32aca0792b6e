"""The class-count estimators by their names."""

from __future__ import annotations

from sfumato.risk.population.class_counts.estimator import ClassCountEstimator
from sfumato.risk.population.class_counts.hybrids import Hybrid, HybridVldb
from sfumato.risk.population.class_counts.pitman import PitmanCount
from sfumato.risk.population.class_counts.shlosser import Sh3, Shlosser
from sfumato.risk.population.class_counts.smoothed_jackknife import SmoothedJackknife
from sfumato.risk.population.class_counts.unsmoothed_jackknife import Duj1, Duj2, Duj2a

CLASS_COUNTS: dict[str, ClassCountEstimator] = {
    estimator.name: estimator
    for estimator in (
        Duj1(),
        Duj2(),
        Duj2a(),
        Shlosser(),
        Sh3(),
        SmoothedJackknife(),
        HybridVldb(),
        Hybrid(),
        PitmanCount(),
    )
}
"""Every class-count estimator, by its name on the command line and in the report."""
