"""Hits of a kind of guessing that has no closed form: the guessing repeated."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.risk.population.match_distribution import MatchDistribution

Ints = npt.NDArray[np.int64]


def simulated_hits(
    once: Callable[[np.random.Generator], int], rng: np.random.Generator, rounds: int = 200
) -> MatchDistribution:
    """The distribution of the hits of an attack that is repeated with other random choices.

    For one-to-one guessing where ranges overlap, so that classes are not independent. The
    standard error of the mean is that of the hits divided by the root of the rounds; the 97.5 %
    end is the order statistic, above which another round lies with probability at most
    (0.025 rounds + 1) / (rounds + 1), 3 % at 200 rounds.

    Parameters
    ----------
    once
        One round: the number of right guesses.
    rng
        Random numbers, handed to ``once``.
    rounds
        How often.

    Raises
    ------
    InputError
        If there is no round.
    """
    if rounds < 1:
        raise InputError("parameter rounds", "must be at least 1", found="a smaller number")
    return of_rounds(np.array([once(rng) for _ in range(rounds)], dtype=np.int64))


def of_rounds(hits: Ints) -> MatchDistribution:
    """The distribution that some rounds show.

    Parameters
    ----------
    hits
        The right guesses of each round, at least one.
    """
    low = int(hits.min())
    return MatchDistribution(
        mean=float(hits.mean()),
        variance=float(hits.var()),
        low=low,
        probabilities=np.bincount(hits - low) / len(hits),
    )
