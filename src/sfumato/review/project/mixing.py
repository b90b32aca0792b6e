"""Gold pairs mixed into what each worker has."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from sfumato.review.decisions.gold import gold_needed
from sfumato.review.project.dealing import Deal


def mix_gold(dealt: Deal, gold: Collection[str], share: float, rng: np.random.Generator) -> Deal:
    """Mix gold pairs into each worker's pairs at random places, until they make up the share.

    Each worker gets a drawing of his own, of pairs that he does not have. Gold pairs that
    somebody has already count; the order of the others is kept.

    Parameters
    ----------
    dealt
        What has been dealt.
    gold
        Ids of the pairs of known truth.
    share
        Share of gold pairs among all that a worker has, in [0, 1).
    rng
        Source of randomness.

    Raises
    ------
    InputError
        If the share is out of range, or there are too few gold pairs.
    """
    known = set(gold)
    mixed: dict[str, tuple[str, ...]] = {}
    for worker, pairs in dealt.pairs_of.items():
        free = sorted(known - set(pairs))
        has = len(known) - len(free)
        wanted = gold_needed(len(pairs) - has, share, len(known)) - has
        new = rng.choice(len(free), max(wanted, 0), replace=False).tolist()
        mixed[worker] = _mixed(pairs, [free[number] for number in new], rng)
    return Deal(mixed)


def _mixed(pairs: tuple[str, ...], new: list[str], rng: np.random.Generator) -> tuple[str, ...]:
    """Both in one order, the pairs' own kept."""
    count = len(pairs) + len(new)
    places = set(rng.choice(count, len(new), replace=False).tolist())
    one, other = iter(new), iter(pairs)
    return tuple(next(one) if place in places else next(other) for place in range(count))
