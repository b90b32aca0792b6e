"""Persons in the cheapest cells that enough others share."""

from __future__ import annotations

from itertools import product

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.release.partitioning import Level, shared_cells


def naive(columns, persons, k):
    """Grids by price, written out: the cell in which each person leaves, with k or more."""
    found, left = {}, list(range(persons))
    grids = sorted(
        product(*columns), key=lambda grid: (sum(level.price for level in grid),)
    )  # stable: the first column turns slowest
    for grid in grids:
        cells = {}
        for person in left:
            key = tuple(int(level.cell_of[person]) for level in grid)
            if -1 not in key:
                cells.setdefault(key, []).append(person)
        for key, members in cells.items():
            if len(members) >= k:
                found |= dict.fromkeys(members, (grids.index(grid), key))
        left = [person for person in left if person not in found]
    return found


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 6))
def test_every_person_leaves_by_the_cheapest_grid_that_holds_enough(seed, persons, k):
    rng = np.random.default_rng(seed)
    columns = []
    for cells in (7, 4, 2):
        single = rng.integers(0, cells, persons).astype(np.int32)
        single[rng.random(persons) < 0.1] = -1
        coarse = np.where(single < 0, rng.integers(0, 2, persons), single // 4).astype(np.int32)
        one = np.zeros(persons, dtype=np.int32)
        prices = np.cumsum(rng.random(3))
        columns.append(
            [
                Level(single, cells, float(prices[0])),
                Level(coarse, 2, float(prices[1])),
                Level(one, 1, float(prices[2])),
            ]
        )

    def kept(_, group, groups):
        return np.bincount(group + 1, minlength=groups + 1)[1:] >= k

    class_of = shared_cells(columns, persons, kept)
    cell_of = naive(columns, persons, k)
    same = {}
    for person in range(persons):
        own = cell_of.get(person, "left")
        assert same.setdefault(class_of[person], own) == own
    assert len(same) == len(set(same.values()))


def test_keeps_most_columns_narrow_where_a_tree_gives_them_up():
    rng = np.random.default_rng(4)
    persons, columns = 600, [f"c{at}" for at in range(6)]
    # Few values in every column, so that each pair of persons differs in few of them.
    table = pa.table(
        {name: rng.choice(list("abc"), persons, p=[0.6, 0.3, 0.1]) for name in columns}
    )
    schema = sf.Schema(quasi_identifiers=dict.fromkeys(columns, "categorical"))
    tree, cells = (
        sf.anonymize(table, schema, sf.KAnonymity(10), effort=effort, seed=1) for effort in (0, 1)
    )
    assert cells.utility.ncp < 0.7 * tree.utility.ncp


def test_more_passes_lose_less():
    rng = np.random.default_rng(9)
    table = pa.table(
        {
            "age": rng.integers(20, 60, 300),
            "sex": rng.choice(["f", "m"], 300),
            "city": rng.choice(list("abcdefgh"), 300),
        }
    )
    schema = sf.Schema(
        quasi_identifiers={"age": "numeric", "sex": "categorical", "city": "categorical"}
    )
    few, many = (
        sf.anonymize(table, schema, sf.KAnonymity(4), effort=passes, seed=1) for passes in (4, 40)
    )
    lost = [each.utility.ane + each.utility.ncp for each in (few, many)]
    assert lost[1] < lost[0]
