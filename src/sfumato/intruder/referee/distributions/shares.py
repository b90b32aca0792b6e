"""Hits among the members of classes of which a largest share is claimed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.fft import irfft, next_fast_len, rfft

from sfumato.core.errors import InputError
from sfumato.risk.population.match_distribution import MatchDistribution

Ints = npt.NDArray[np.int64]
_TOLERANCE = 1e-9


def largest_number(sizes: Ints, share: float) -> Ints:
    """The most members of each class in keeping with a largest share, floor(share * size).

    Parameters
    ----------
    sizes
        Members of each class.
    share
        The largest share that is claimed.
    """
    return np.asarray(np.floor(sizes * share + _TOLERANCE), dtype=np.int64)


def share_hits(sizes: Ints, drawn: Ints, share: float) -> MatchDistribution:
    """The most hits that a claimed largest share allows, over classes.

    If no more than a share p of the n members of a class are alike (records of one person,
    persons with one value), a guess that is the same for a of them, whoever they are, is right
    for at most a hypergeometric number: a of n drawn, floor(p n) of them right. With a = n it is
    floor(p n), without chance. Summed over classes by Fourier transforms, exact but for rounding
    (1e-12). O(distinct (n, a) times a log a).

    Parameters
    ----------
    sizes
        n, members of each class, shape (classes,).
    drawn
        a, members of each class for whom the guess is made, shape (classes,).
    share
        p, the largest share that is claimed.

    Raises
    ------
    InputError
        If more members are drawn than there are.
    """
    sizes, drawn = np.asarray(sizes, dtype=np.int64), np.asarray(drawn, dtype=np.int64)
    if np.any((drawn > sizes) | (drawn < 0)):
        raise InputError("the drawn", "must be members of their class", found="more than those")
    alike = largest_number(sizes, share)
    sure = (drawn == sizes) | (alike == 0) | (alike >= sizes)
    shift = int(np.minimum(alike, drawn)[sure].sum())
    left = np.column_stack([sizes, alike, drawn])[~sure]
    if not len(left):
        return MatchDistribution(float(shift), 0.0, shift, np.ones(1))
    kinds, times = np.unique(left, axis=0, return_counts=True)
    most = int((np.minimum(kinds[:, 1], kinds[:, 2]) * times).sum())
    from scipy.stats import hypergeom

    length = next_fast_len(most + 1, real=True)
    product = np.ones(length // 2 + 1, dtype=np.complex128)
    for (size, right, taken), count in zip(kinds, times, strict=True):
        one = hypergeom.pmf(np.arange(min(right, taken) + 1), size, right, taken)
        product *= rfft(one, length) ** int(count)
    chances = np.clip(irfft(product, length)[: most + 1], 0.0, 1.0)
    counts = np.arange(most + 1)
    mean = float(chances @ counts)
    variance = float(chances @ (counts - mean) ** 2)
    return MatchDistribution(shift + mean, variance, shift, np.asarray(chances, dtype=np.float64))
