"""An interval for estimators that have none of their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sfumato.risk.population.estimate import Estimate
from sfumato.risk.population.sample import SampleClasses
from sfumato.risk.population.subsamples import SubsampleCheck

STANDARD_DEVIATIONS = 1.96


def with_interval(
    estimate: Estimate, sample: SampleClasses, check: SubsampleCheck | None
) -> Estimate:
    """Give an estimate the interval that its errors on subsamples suggest.

    On the logarithm of λ: 1.96 standard deviations, the scatter on subsamples shrunk to the
    sample's size by sqrt(π), and the mean error on subsamples for the bias; the two add up as
    squares. It is for the realised λ, as the errors are. An estimate that has an interval, or
    whose estimator could not be checked, stays as it is.

    Parameters
    ----------
    estimate
        What the estimator said of the sample.
    sample
        The classes.
    check
        How it did on subsamples.
    """
    if estimate.low is not None or check is None:
        return estimate
    noise = STANDARD_DEVIATIONS * check.scatter * np.sqrt(sample.fraction)
    width = float(np.hypot(noise, check.error))
    least = sample.classes / sample.population
    most = least + 1 - sample.fraction
    low = float(np.clip(estimate.marketer * np.exp(-width), least, most))
    high = float(np.clip(estimate.marketer * np.exp(width), least, most))
    return replace(estimate, low=min(low, estimate.marketer), high=max(high, estimate.marketer))
