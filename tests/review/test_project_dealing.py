"""Dealing: each pair to as many workers as asked, loads even, nothing lost, gold unseen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import InputError
from sfumato.review.pair_dealing import Deal, deal, deal_again, mix_gold, of_one_record


def ids(count: int, letter: str = "p") -> list[str]:
    """Ids of pairs."""
    return [f"{letter}{number}" for number in range(1, count + 1)]


def workers_of(dealt: Deal) -> dict[str, tuple[str, ...]]:
    """By pair, the workers that have it."""
    found: dict[str, tuple[str, ...]] = {}
    for worker, pairs in dealt.pairs_of.items():
        for pair in pairs:
            found[pair] = (*found.get(pair, ()), worker)
    return found


def take_back(dealt: Deal, worker: str, but: Collection[str] = ()) -> tuple[Deal, tuple[str, ...]]:
    """The deal without a worker's other pairs, and these."""
    own = dealt.pairs_of[worker]
    kept = Deal({**dealt.pairs_of, worker: tuple(pair for pair in own if pair in but)})
    return kept, tuple(pair for pair in own if pair not in but)


@given(st.integers(0, 40), st.integers(1, 6), st.data(), st.integers(0, 99))
def test_each_pair_to_so_many_and_loads_even(
    count: int, workers: int, data: st.DataObject, seed: int
) -> None:
    """Loads differ by one at most, also when more is dealt later."""
    each = data.draw(st.integers(1, workers))
    names, rng = ids(workers, "w"), np.random.default_rng(seed)
    dealt = deal(ids(count), names, each, rng)
    for more in (0, 7):
        if more:
            dealt = deal(ids(more, "q"), names, each, rng, earlier=dealt)
        have = Counter(pair for pairs in dealt.pairs_of.values() for pair in pairs)
        assert have == dict.fromkeys(ids(count) + ids(more, "q"), each)
        assert all(len(set(own)) == len(own) for own in dealt.pairs_of.values())
        loads = [len(dealt.pairs_of[name]) for name in names]
        assert max(loads) - min(loads) <= 1
        assert set(workers_of(dealt)) == set(have)


def test_who_meets_whom_is_mixed_and_so_is_the_order() -> None:
    """Each two of four workers have pairs in common, and no one the order of the others."""
    dealt = deal(ids(300), ids(4, "w"), 2, np.random.default_rng(1))
    met = Counter(workers_of(dealt).values())
    assert len(met) == 6
    assert min(met.values()) > 25
    orders = [list(own) for own in dealt.pairs_of.values()]
    assert all(order != sorted(order) for order in orders)
    for one, two in combinations(orders, 2):
        common = set(one) & set(two)
        assert [p for p in one if p in common] != [p for p in two if p in common]
    again = deal(ids(300), ids(4, "w"), 2, np.random.default_rng(1))
    assert again.pairs_of == dealt.pairs_of


@given(st.lists(st.tuples(st.integers(0, 15), st.integers(16, 30)), max_size=30), st.integers(0, 9))
def test_pairs_of_one_record_can_stay_together(rows: list[tuple[int, int]], seed: int) -> None:
    """A record is then seen by no more workers than each pair is dealt to."""
    rows = list(dict.fromkeys(rows))
    left, right = (np.array(rows, dtype=np.int64).reshape(-1, 2).T).copy()
    groups = of_one_record(left, right)
    names, pairs = ids(3, "w"), ids(len(rows))
    dealt = deal(pairs, names, 2, np.random.default_rng(seed), groups=groups.tolist())
    workers = workers_of(dealt)
    for (a, one), (b, two) in combinations(enumerate(rows), 2):
        if set(one) & set(two):
            assert groups[a] == groups[b]
            assert workers[pairs[a]] == workers[pairs[b]]
    for own in dealt.pairs_of.values():
        of = [int(groups[int(pair[1:]) - 1]) for pair in own]
        runs = [1 for one, two in pairwise([-1, *of]) if one != two]
        assert len(runs) == len(set(of))
    loads = [len(dealt.pairs_of.get(name, ())) for name in names]
    largest = max(Counter(groups.tolist()).values(), default=0)
    assert max(loads) - min(loads) <= largest


@given(st.integers(1, 30), st.integers(0, 99))
def test_taken_back_and_dealt_again(count: int, seed: int) -> None:
    """What was decided stays; the rest goes to workers who do not have it."""
    rng = np.random.default_rng(seed)
    dealt = deal(ids(count), ["ann", "bob", "cyd"], 2, rng)
    decided = set(dealt.pairs_of["ann"][::2])
    less, taken = take_back(dealt, "ann", but=decided)
    assert set(less.pairs_of["ann"]) == decided
    assert set(taken) == set(dealt.pairs_of["ann"]) - decided
    again = deal_again(less, taken, ["bob", "cyd", "dan"], rng)
    assert again.pairs_of["ann"] == less.pairs_of["ann"]
    have = Counter(pair for pairs in again.pairs_of.values() for pair in pairs)
    assert have == dict.fromkeys(ids(count), 2)
    for worker in ("bob", "cyd"):
        assert again.pairs_of[worker][: len(less.pairs_of[worker])] == less.pairs_of[worker]


def test_nobody_gets_a_pair_again_that_was_seen() -> None:
    """And where nobody else is left, that is said."""
    dealt = deal(["p1"], ["ann", "bob"], 1, np.random.default_rng(1))
    (holder,) = workers_of(dealt)["p1"]
    other = {"ann": "bob", "bob": "ann"}[holder]
    less, taken = take_back(dealt, holder)
    again = deal_again(less, taken, ["ann", "bob"], np.random.default_rng(1), seen={holder: taken})
    assert again.pairs_of[other] == ("p1",)
    with pytest.raises(InputError, match="has not had"):
        deal_again(again, taken, ["ann", "bob"], np.random.default_rng(1), seen={holder: taken})


def test_what_cannot_be_dealt() -> None:
    """Too few workers, the same one twice, a pair again."""
    rng = np.random.default_rng(1)
    for each in (0, 3):
        with pytest.raises(InputError, match="as many workers at most"):
            deal(ids(3), ["ann", "bob"], each, rng)
    with pytest.raises(InputError, match="a worker must be there once"):
        deal(ids(3), ["ann", "ann"], 1, rng)
    with pytest.raises(InputError, match="a pair must be there once"):
        deal(["p1", "p1"], ["ann"], 1, rng)
    with pytest.raises(InputError, match="dealt before"):
        deal(["p1"], ["ann"], 1, rng, earlier=Deal({"bob": ("p1",)}))


def test_gold_is_mixed_in_and_not_told() -> None:
    """A share of each worker's pairs, at random places, another drawing for each."""
    rng = np.random.default_rng(1)
    dealt = deal(ids(360), ids(4, "w"), 1, rng)
    gold = set(ids(40, "g"))
    mixed = mix_gold(dealt, gold, 0.1, rng)
    drawn = {worker: [p for p in own if p in gold] for worker, own in mixed.pairs_of.items()}
    assert {len(own) for own in drawn.values()} == {10}
    assert len({frozenset(own) for own in drawn.values()}) == 4
    for worker, own in mixed.pairs_of.items():
        assert tuple(p for p in own if p not in gold) == dealt.pairs_of[worker]
        assert len(set(own)) == len(own)
    places = [n for own in mixed.pairs_of.values() for n, p in enumerate(own) if p in gold]
    assert 30 < np.mean(places) < 70
    assert vars(mixed).keys() == {"pairs_of"}
    assert mix_gold(mixed, gold, 0.1, rng).pairs_of == mixed.pairs_of
    with pytest.raises(InputError, match="must be 90 for this share"):
        mix_gold(dealt, gold, 0.5, rng)
