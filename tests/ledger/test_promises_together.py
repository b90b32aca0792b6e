"""Promises of several releases held together, against a reader who goes through sets."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from few_cases import fast_first
from ledger.releases import FIRST, SECOND, draft, opened, people, released

import sfumato as sf
from sfumato.core.errors import ConstraintsNotMetError
from sfumato.ledger.composition import Handed, Limits, together
from sfumato.ledger.release_ledger import Terms
from sfumato.ledger.sketches import Shown, Sketch, SketchColumn

PROMISES = (
    sf.GBalance(0.6),
    sf.HAffiliation(0.6),
    sf.LDiversity(2),
    sf.TCloseness(0.6),
    sf.PidKAnonymity(3),
    sf.KAnonymity(4),
)


def kept_by_hand(candidates: set[int], said: list[list[int]], records: list[int]) -> list[bool]:
    """Whether these persons, as a class, keep each of `PROMISES`."""
    sizes = [records[each] for each in candidates]
    whole = Counter(value for each in said for value in each)
    own = Counter(value for each in candidates for value in said[each])
    having = Counter(value for each in candidates for value in set(said[each]))
    total, here = sum(whole.values()), sum(own.values())
    away = sum(abs(whole[v] / total - own[v] / here) for v in whole) / 2 if here else 0.0
    return [
        1 - sum(c * c for c in sizes) / sum(sizes) ** 2 >= 0.6 - 1e-9,
        max(having.values(), default=0) / len(candidates) <= 0.6 + 1e-9,
        len(having) >= 2,
        away <= 0.6 + 1e-9,
        len(candidates) >= 3,
        sum(sizes) >= 4,
    ]


@pytest.mark.parametrize("joined", ["order", "a constant column", "nothing"])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_left_of_promises_is_what_a_reader_counts(seed: int, joined: str) -> None:
    rng = np.random.default_rng(seed)
    size = 60
    records = rng.integers(1, 4, size).tolist()
    said = [rng.integers(-1, 5, each).tolist() for each in records]
    shows = rng.integers(0, 5, size)
    classes = [rng.integers(0, 7, size).tolist() for _ in range(2)]
    everybody = range(size)
    values = np.array([value for each in said for value in sorted(each)])
    handed = {}
    for number, own in enumerate(classes, 2):
        # Not the same persons share a value in both: else one would be the other in other codes.
        drawn = rng.integers(0, 1 << 30, 5)[rng.permutation(shows)]
        tell = drawn if joined == "nothing" else shows + 1
        name = f"b {number}" if joined == "nothing" else "b"
        column = SketchColumn(name, Shown.UNCHANGED, "insensitive", True, tell.astype(np.uint32))
        code = SketchColumn(
            f"code {number}",
            Shown.CHANGED,
            "sensitive",
            False,
            rng.integers(0, 1 << 30, size).astype(np.uint32),
            values,
        )
        ids = np.array([(each + 1).to_bytes(16, "big") for each in everybody], dtype="S16")
        sketch = Sketch(ids, np.array(own), (column, code), np.array(records))
        handed[number] = Handed(sketch, ordered=joined == "order", promises=PROMISES)
    found = together(handed)
    for here, there, number in ((0, 1, 2), (1, 0, 3)):
        broken = np.zeros(len(PROMISES))
        for person in everybody:
            beside = {q for q in everybody if classes[there][q] == classes[there][person]}
            left = {q for q in everybody if classes[here][q] == classes[here][person]}
            if joined == "order":
                left &= beside
            elif joined == "a constant column":
                left = {q for q in left if shows[q] in {shows[other] for other in beside}}
            real = [[v for v in each if v >= 0] for each in said]
            broken += [not each for each in kept_by_hand(left, real, records)]
        assert [share for share, _ in found.all[number].unkept] == pytest.approx(broken / size)


@pytest.mark.parametrize(
    "promise",
    fast_first(2, [sf.GBalance(0.9), sf.HAffiliation(0.4), sf.LDiversity(4), sf.TCloseness(0.6)]),
    ids=lambda promise: promise.name,
)
def test_a_promise_that_both_keep_alone_is_refused_together(
    promise: sf.GBalance | sf.HAffiliation | sf.LDiversity | sf.TCloseness, tmp_path: Path
) -> None:
    data = people(400)
    with opened(tmp_path) as ledger:
        ledger.settle(Terms(tolerable=1.0), note="only promises count", by="carol")
        first = released(data, FIRST, promises=(promise, sf.PidKAnonymity(10)))
        ledger.hand_over(draft(first, tmp_path, "first", ledger), "a")
        second = released(data, SECOND, promises=(sf.PidKAnonymity(10),), seed=2)
        two = draft(second, tmp_path, "second", ledger)
        with pytest.raises(ConstraintsNotMetError, match=f"promises {promise.name} ") as refused:
            ledger.hand_over(two, "b")
        assert any("costs" in each for each in refused.value.options)
        ledger.settle(Terms(tolerable=1.0, unkept=1.0), note="to see", by="carol")
        ledger.hand_over(two, "b")


def test_what_a_release_breaks_by_itself_is_not_the_fault_of_the_last() -> None:
    ids = np.array([each.to_bytes(16, "big") for each in range(1, 5)], dtype="S16")
    first = Handed(Sketch(ids, np.array([0, 0, 1, 1]), ()), promises=(sf.PidKAnonymity(3),))
    second = Handed(Sketch(ids, np.array([0, 0, 0, 0]), ()))
    assert together({2: first, 3: second}).broken(Limits(tolerable=1.0)) == ()


def test_of_several_tables_a_value_is_shared_among_those_who_have_one() -> None:
    """Two of four people have a record of the column's table, both with one value."""
    ids = np.array([each.to_bytes(16, "big") for each in range(4)], dtype="S16")
    digests, values = np.array([0, 0, 1, 1], np.uint32), np.array([-1, -1, 0, 0])
    column = SketchColumn("labs.test", Shown.UNCHANGED, "sensitive", True, digests, values)
    sketch = Sketch(ids, np.zeros(4, dtype=np.int64), (column,), np.ones(4, dtype=np.int64))
    promises = (sf.HAffiliation(0.6),)
    assert Handed(sketch, promises=promises).alone.unkept == ((0.0, 0),)
    assert Handed(sketch, promises=promises, of_tables=True).alone.unkept == ((1.0, 1),)
