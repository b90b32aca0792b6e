"""Small random cases for the tests of associations and of semantic linkage anonymity."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from semantics.reader import Known, Tree

from sfumato.hierarchies import Hierarchy
from sfumato.semantics.associations import Association, Item
from sfumato.semantics.local_data import Local

NAMES = ("a", "b", "c")


def tree(draw, most=5) -> Tree:
    leaves = draw(st.integers(1, most))
    groups = list(range(leaves))
    columns = [[f"l{g}" for g in groups]]
    for level in range(draw(st.integers(0, 2))):
        merged = draw(st.lists(st.integers(0, 2), min_size=max(leaves, 3), max_size=max(leaves, 3)))
        groups = [merged[group] for group in groups]
        columns.append([f"{level}g{g}" for g in groups])
    columns.append(["*"] * leaves)
    return Tree(tuple(zip(*columns, strict=True)))


def hierarchy(one: Tree) -> Hierarchy:
    made = Hierarchy.from_columns(list(zip(*one.paths, strict=True)), "made")
    assert made.height == one.height
    return made


@st.composite
def trees(draw, columns=3):
    return [tree(draw) for _ in range(columns)]


@st.composite
def cases(draw):
    """Trees, associations both ways, local people, linked leaves, k."""
    made = draw(trees())
    shape = [st.one_of(st.none(), st.integers(0, len(t.paths) - 1)) for t in made]
    leaf = st.tuples(*(st.integers(0, len(t.paths) - 1) for t in made))
    rare = st.tuples(*shape)
    record = st.one_of(leaf, leaf, leaf, rare)
    people = draw(st.lists(st.lists(record, min_size=1, max_size=2), min_size=4, max_size=20))
    associations = []
    for _ in range(draw(st.integers(0, 6))):
        order = draw(st.permutations(range(3)))
        size = draw(st.sampled_from([1, 2, 2]))
        items = []
        for column in order[: size + 1]:
            height = made[column].height
            level = draw(st.integers(0, max(height - 1, 0)))
            at = draw(st.integers(0, len(made[column].paths) - 1))
            items.append((column, level, at))
        if all(
            len(made[c].value(at, level) - {None}) < len(made[c].paths) for c, level, at in items
        ):
            associations.append(items)
    k = draw(st.integers(1, 4))
    linked = [draw(st.sampled_from(people))[0] for _ in range(draw(st.integers(1, 5)))]
    own = draw(st.sampled_from([(0, 1, 2), (0, 1), (0,), (1, 2)]))
    second = draw(st.sampled_from([None, None, (2,), (1,)]))
    return made, associations, people, linked, k, [o for o in (own, second) if o]


def built(case):
    """The case for the product, and for the naive reader."""
    made, raw, people, linked, k, owns = case
    hierarchies = {name: hierarchy(t) for name, t in zip(NAMES, made, strict=True)}
    listed = list(hierarchies.values())

    def item(column, level, leaf):
        return Item(NAMES[column], level, int(listed[column].ancestors[level, leaf]))

    associations = [
        Association(tuple(item(*x) for x in items[:-1]), item(*items[-1]), 0.5, 0.9)
        for items in raw
    ]
    known = [
        Known(
            tuple((c, made[c].value(leaf, level)) for c, level, leaf in items[:-1]),
            items[-1][0],
            made[items[-1][0]].value(items[-1][2], items[-1][1]),
        )
        for items in raw
    ]
    locals_, naive = [], []
    for own in owns:
        records = [(number, r) for number, rs in enumerate(people) for r in rs]
        local = Local.from_codes(
            "hospital",
            [NAMES[c] for c in own],
            [listed[c] for c in own],
            codes([[r[c] for c in own] for _, r in records]),
            np.array([number for number, _ in records]),
            min(k, len(people)),
        )
        locals_.append(local)
        naive.append(
            {number: [{c: r[c] for c in own} for r in rs] for number, rs in enumerate(people)}
        )
    return hierarchies, associations, locals_, known, naive, codes(linked)


def codes(rows) -> np.ndarray:
    return np.array([[-1 if x is None else x for x in row] for row in rows], dtype=np.int32)
