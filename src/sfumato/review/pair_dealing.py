"""Who gets which pairs, in which order, with pairs of known truth among them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from sfumato.core.arrays import Ints
from sfumato.core.errors import InputError
from sfumato.review.review_decisions import gold_needed


@dataclass(frozen=True, eq=False)
class Deal:
    """Which pairs each worker has, in the order in which they are shown.

    Nothing in it says which of them are gold pairs.
    """

    pairs_of: Mapping[str, tuple[str, ...]]


def deal(
    pairs: Sequence[str],
    workers: Sequence[str],
    each: int,
    rng: np.random.Generator,
    *,
    groups: Sequence[int] | None = None,
    earlier: Deal | None = None,
) -> Deal:
    """Deal each pair to some of the workers, who get equally many, in a random order.

    Without groups, the workers' numbers of pairs differ by one at most. Pairs of a group go to
    the same workers and stand together in their order, so that fewer workers see a record, but
    those see it oftener; the numbers of pairs then differ by the largest group at most.

    Parameters
    ----------
    each
        How many workers get each pair.
    groups
        The group of each pair, as `of_one_record` finds them.
    earlier
        What has been dealt; it is added to, and who has less gets more.
    """
    _check(pairs, workers, each, earlier)
    have = {} if earlier is None else dict(earlier.pairs_of)
    blocks_of: dict[str, list[list[str]]] = {worker: [] for worker in workers}
    load = np.array([len(have.get(worker, ())) for worker in workers], dtype=np.int64)
    for block in _blocks(pairs, groups, rng):
        for number in _least(load, each, rng):
            blocks_of[workers[number]].append(block)
            load[number] += len(block)
    for worker, blocks in blocks_of.items():
        # An order for each worker: neither fatigue nor learning falls on the same pairs.
        order = rng.permutation(len(blocks)).tolist()
        have[worker] = (*have.get(worker, ()), *(pair for n in order for pair in blocks[n]))
    return Deal(have)


def deal_again(
    dealt: Deal,
    pairs: Sequence[str],
    workers: Sequence[str],
    rng: np.random.Generator,
    *,
    seen: Mapping[str, Collection[str]] | None = None,
) -> Deal:
    """Deal each of some pairs to one more worker who has not had it, the least busy first.

    Parameters
    ----------
    seen
        By worker, pairs that he has had and does not get again.
    """
    pairs_of = {worker: list(dealt.pairs_of.get(worker, ())) for worker in workers}
    had = {worker: {*pairs_of[worker], *(seen or {}).get(worker, ())} for worker in workers}
    for place in rng.permutation(len(pairs)).tolist():
        pair = pairs[place]
        free = [worker for worker in workers if pair not in had[worker]]
        if not free:
            raise InputError(
                "the workers", "must have one who has not had the pair", found="none for a pair"
            )
        # Counted again for each pair, as the pairs before have changed it.
        load = np.array([len(pairs_of[worker]) for worker in free], dtype=np.int64)
        worker = free[int(_least(load, 1, rng)[0])]
        pairs_of[worker].append(pair)
        had[worker].add(pair)
    return Deal({**dealt.pairs_of, **{worker: tuple(each) for worker, each in pairs_of.items()}})


def of_one_record(left: Ints, right: Ints) -> Ints:
    """The group of each pair: pairs that share a record, directly or by others, are in one.

    Parameters
    ----------
    left, right
        Numbers of the two records of each pair; shape (pairs,).
    """
    records, number = np.unique(np.concatenate([left, right]), return_inverse=True)
    one, two = number[: len(left)], number[len(left) :]
    # Records renumbered from 0, so that the graph is as large as the task and not the database.
    graph = coo_array((np.ones(len(left)), (one, two)), shape=(len(records),) * 2)
    _, group = connected_components(graph, directed=False)
    return np.asarray(group[one], dtype=np.int64)


def _check(pairs: Sequence[str], workers: Sequence[str], each: int, earlier: Deal | None) -> None:
    if not 1 <= each <= len(workers):
        raise InputError(
            "the number of workers for each pair",
            "must be 1 at least, and as many workers at most as there are",
            found=f"{each} for {len(workers)} workers",
        )
    before = set() if earlier is None else {p for own in earlier.pairs_of.values() for p in own}
    for what, names in (("a worker", workers), ("a pair", pairs)):
        if len(set(names)) < len(names):
            raise InputError(what, "must be there once", found="the same one again")
    if before & set(pairs):
        raise InputError("a pair", "must not have been dealt before", found="one that has")


def _blocks(
    pairs: Sequence[str], groups: Sequence[int] | None, rng: np.random.Generator
) -> list[list[str]]:
    """What is dealt at once, in a random order but the larger first, so that the rest evens out."""
    order = rng.permutation(len(pairs)).tolist()
    if groups is None:
        return [[pairs[place]] for place in order]
    blocks: dict[int, list[str]] = {}
    for place in order:
        blocks.setdefault(int(groups[place]), []).append(pairs[place])
    # A stable sort keeps the random order of blocks of one size.
    return sorted(blocks.values(), key=len, reverse=True)


def _least(load: Ints, count: int, rng: np.random.Generator) -> Ints:
    """Numbers of those with the least load, ties at random."""
    order: Ints = np.lexsort((rng.random(len(load)), load))
    return order[:count]


def mix_gold(dealt: Deal, gold: Collection[str], share: float, rng: np.random.Generator) -> Deal:
    """Mix gold pairs into each worker's pairs at random places, until they make up the share.

    Each worker gets a drawing of his own, of pairs that he does not have. Gold pairs that
    somebody has already count; the order of the others is kept.

    Parameters
    ----------
    gold
        Ids of the pairs of known truth.
    share
        Share of gold pairs among all that a worker has, in [0, 1).
    """
    gold_ids = set(gold)
    mixed: dict[str, tuple[str, ...]] = {}
    for worker, pairs in dealt.pairs_of.items():
        # Sorted, as a set's order differs from run to run and the seed would not fix the draw.
        free = sorted(gold_ids - set(pairs))
        has = len(gold_ids) - len(free)
        wanted = gold_needed(len(pairs) - has, share, len(gold_ids)) - has
        new = rng.choice(len(free), max(wanted, 0), replace=False).tolist()
        mixed[worker] = _mixed(pairs, [free[number] for number in new], rng)
    return Deal(mixed)


def _mixed(pairs: tuple[str, ...], new: list[str], rng: np.random.Generator) -> tuple[str, ...]:
    """Both in one order, the pairs' own kept."""
    count = len(pairs) + len(new)
    places = set(rng.choice(count, len(new), replace=False).tolist())
    one, other = iter(new), iter(pairs)
    return tuple(next(one) if place in places else next(other) for place in range(count))
