"""E[1/F | f] where the persons who were not sampled are Poisson."""

from __future__ import annotations

from sfumato.risk.population.expected_inverse.blocks import Floats, FloatsLike, class_sizes
from sfumato.risk.population.expected_inverse.confluent import confluent


def poisson(sizes: FloatsLike, v: FloatsLike) -> Floats:
    """E[1/F | f] = 1F1(1; f + 1; -v) / f, where F - f is Poisson with mean v.

    Paper 004, Section 2.4.2: v = (1 - π) λ, λ the fitted **population** mean of the cell.

    Parameters
    ----------
    sizes
        f, the sizes of the classes in the sample, at least 1.
    v
        Expected number of persons of the class who are not in the sample, at least 0.

    Returns
    -------
    Floats
        In (0, 1 / f], of the common shape; relative error within a few units of rounding.

    Raises
    ------
    InputError
        If a size is not a whole number of at least 1, or a mean is negative or not finite.
    """
    return confluent(1, sizes, v) / class_sizes(sizes)
