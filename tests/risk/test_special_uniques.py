"""Special uniques against brute force over all combinations, and how they are read."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations
from math import prod

import numpy as np
import pyarrow as pa
import pytest
from few_cases import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.risk.special_uniques import special_uniques


def minimal_by_force(rows, width, size):
    """The minimal uniques: (columns, values) to the one person who holds them."""
    holders = defaultdict(set)
    for person, values in rows:
        for k in range(1, size + 1):
            for subset in combinations(range(width), k):
                holders[subset, tuple(values[at] for at in subset)].add(person)
    unique = {key: next(iter(who)) for key, who in holders.items() if len(who) == 1}

    def parts(subset, values):
        places = [p for k in range(1, len(subset)) for p in combinations(range(len(subset)), k)]
        return [(tuple(subset[i] for i in p), tuple(values[i] for i in p)) for p in places]

    return {key: who for key, who in unique.items() if not set(parts(*key)) & unique.keys()}


@settings(deadline=None, max_examples=examples(200))
@given(
    width=st.integers(1, 5),
    size=st.integers(1, 5),
    data=st.data(),
)
def test_is_brute_force(width, size, data):
    values = st.tuples(*[st.integers(-1, 2)] * width)
    rows = data.draw(st.lists(st.tuples(st.integers(0, 9), values), min_size=1, max_size=14))
    person = np.array([who for who, _ in rows], dtype=np.int32)
    columns = {
        f"q{at}": np.array([row[at] for _, row in rows], dtype=np.int32) for at in range(width)
    }
    found = special_uniques(columns, person, np.zeros_like(person), size)
    msus = minimal_by_force(rows, width, min(size, width))

    def worth(subset):
        return prod(width - i for i in range(len(subset), min(size, width - 1) + 1))

    numbers = Counter(len(subset) for subset, _ in msus)
    assert found.minimal_uniques == {k: numbers[k] for k in range(1, min(size, width) + 1)}
    special = {who for (subset, _), who in msus.items() if len(subset) < width}
    assert found.special_uniques == len(special)
    scores = [sum(worth(s) for s, v in msus if tuple(row[at] for at in s) == v) for _, row in rows]
    assert found.highest_suda_score == max(scores)
    best = defaultdict(int)
    for (who, _), score in zip(rows, scores, strict=True):
        best[who] = max(best[who], score)
    expected = sorted((score for score in best.values() if score), reverse=True)[:10]
    assert [score for _, score in found.highest_where] == expected
    for at, score in found.highest_where:
        assert scores[at.row - 1] == score
    total = sum(worth(subset) for subset, _ in msus)
    for at in range(width):
        own = sum(worth(subset) for subset, _ in msus if at in subset)
        assert found.contribution[f"q{at}"] == pytest.approx(own / total if total else 0)


FILE = pa.table(
    {
        "id": ["a", "a", "b", "c", "d", "e"],
        "age": [30, 30, 30, 40, 40, 99],
        "sex": ["f", "f", "m", "f", "m", "f"],
        "zip": ["1", "1", "1", "1", "2", "2"],
    }
)
SCHEMA = sf.Schema(person="id", quasi_identifiers=["age", "sex", "zip"])


def test_by_hand():
    """Age 99 is e's alone; nine pairs of values are one person's and hold no single one."""
    risk = sf.assess(FILE, SCHEMA, special_uniques=True)
    found = risk.special_uniques
    # age and sex: a, b, c, d; age and zip: c, d; sex and zip: b, d, e.
    assert found.minimal_uniques == {1: 1, 2: 9, 3: 0}
    assert found.special_uniques == 5
    # M = 2 of 3 columns: size 1 scores 2 * 1, size 2 scores 1; d has three pairs, e 2 + 1.
    assert found.highest_suda_score == 3
    assert [at.row for at, _ in found.highest_where[:2]] == [5, 6]
    assert found.contribution["age"] == pytest.approx((2 + 6) / (2 + 9))
    assert "people who stand out by fewer" in str(risk)


def test_only_when_asked():
    risk = sf.assess(FILE, SCHEMA)
    assert risk.special_uniques is None
    assert "special_uniques" not in risk.to_json()
    with pytest.raises(InputError, match="msu_size"):
        sf.assess(FILE, SCHEMA, special_uniques=True, msu_size=0)
