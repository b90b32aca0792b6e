"""From the classes of a sample to those of its population, along the accumulation curve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit

from sfumato.risk.population.accumulation.baseline import classes_and_growth
from sfumato.risk.population.accumulation.rarefaction import Rarefaction

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

AHEAD = 41
"""Points of the curve between the sample and the population."""
DAMPING = 0.4
"""How fast the trend fades, per factor e of the number of persons."""
EDGE = 1e-9


@dataclass(frozen=True, eq=False)
class Reach:
    """How far the classes go from the sample to the population; each of shape (samples,).

    Attributes
    ----------
    classes
        Number of classes of the population.
    growth
        d log D / d log m at the population: the share of classes that have one person.
    leverage
        By how much log(classes) changes if the logit of the growth changes by 1 all the way.
    trend
        log of classes over the classes without a trend.
    """

    classes: Floats
    growth: Floats
    leverage: Floats
    trend: Floats


class Extrapolation:
    """The accumulation curve of samples of one size from one population.

    The growth s(m) = d log D(m) / d log m of the number of classes is known up to the sample:
    rarefaction gives it without error of its own. Beyond it, the difference of its logit from
    that of the baseline goes on as it last went, ever less (a damped trend), and
    D(N) = d exp(∫ s d log m).

    Parameters
    ----------
    sizes
        Class sizes that may occur.
    n, population
        Number of persons of the sample and of the population.
    probabilities
        The baseline: what `cell_probabilities` drew.
    """

    def __init__(self, sizes: Ints, n: int, population: int, probabilities: Floats) -> None:
        distance = float(np.log(population / n))
        self._half = distance / 2
        self._rarefaction = Rarefaction(sizes, np.exp([0.0, -self._half]))
        self._ahead = np.linspace(0.0, distance, AHEAD)
        _, behind = classes_and_growth(probabilities, n * np.exp([0.0, -self._half]))
        _, ahead = classes_and_growth(probabilities, n * np.exp(self._ahead))
        self._behind, self._baseline = _logit(behind), _logit(ahead)

    def reach(self, counts: Floats) -> Reach:
        """Where a sample with ``counts`` classes of each size leads; counts (sizes, samples)."""
        apart = _logit(self._rarefaction.growth(counts)) - self._behind[:, None]
        slope: Floats = (apart[0] - apart[1]) / self._half
        level = self._baseline[:, None] + apart[0]
        faded = -np.expm1(-DAMPING * self._ahead) / DAMPING
        growth = expit(level + faded[:, None] * slope)
        distance = self._integral(growth)
        classes: Floats = self._rarefaction.classes(counts)[0] * np.exp(distance)
        return Reach(
            classes=classes,
            growth=growth[-1],
            leverage=self._integral(growth * (1 - growth)),
            trend=distance - self._integral(expit(level)),
        )

    def _integral(self, values: Floats) -> Floats:
        return np.asarray(np.trapezoid(values, self._ahead, axis=0))


def _logit(share: Floats) -> Floats:
    logits: Floats = logit(np.clip(share, EDGE, 1 - EDGE))
    return logits
