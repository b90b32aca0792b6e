"""Levels, ancestors, codes generalised in array form, and distances between them."""

from __future__ import annotations

import time
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import InputError
from sfumato.hierarchies import Hierarchy, public_blocks, read_classification
from sfumato.hierarchies.hierarchy import (
    LEAST,
    all_labels,
    common_levels,
    distances,
    generalised,
)

LEAVES = ["flu", "cold", "burn", "cut"]
TREE = Hierarchy.from_columns(
    [LEAVES, ["airways", "airways", "skin", "skin"], ["illness", "illness", "injury", "injury"]],
    "a hierarchy",
)


@st.composite
def hierarchies(draw: st.DrawFn) -> Hierarchy:
    """A random tree: every level maps the labels below it to fewer or as many labels."""
    leaves = draw(st.integers(1, 12))
    columns = [[f"leaf {leaf}" for leaf in range(leaves)]]
    for level in range(draw(st.integers(0, 3))):
        parent = {
            label: f"{level} {draw(st.integers(0, 4))}" for label in dict.fromkeys(columns[-1])
        }
        columns.append([parent[label] for label in columns[-1]])
    return Hierarchy.from_columns(columns, "a hierarchy")


def test_levels_labels_and_counts() -> None:
    assert TREE.leaves == tuple(LEAVES)
    assert TREE.height == 3
    assert TREE.labels[1:] == (("airways", "skin"), ("illness", "injury"), ("*",))
    assert TREE.ancestors.dtype == np.int32
    assert TREE.ancestors.tolist() == [[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 0]]
    assert TREE.label(1, 1) == "skin"
    counts = TREE.leaf_counts(1)
    assert counts.dtype == np.int64
    assert counts.tolist() == [2, 2]
    assert TREE.leaf_counts(3).tolist() == [4]


def test_a_single_last_label_is_the_root() -> None:
    tree = Hierarchy.from_columns([["a", "b"], ["all", "all"]], "a hierarchy")
    assert tree.labels[-1] == ("all",)
    assert tree.height == 1


def test_a_list_of_leaves_gets_a_root() -> None:
    for leaves in (["a"], ["a", "b"]):
        tree = Hierarchy.from_columns([leaves], "a hierarchy")
        assert tree.labels == (tuple(leaves), ("*",))


def test_a_repeated_row_counts_once() -> None:
    tree = Hierarchy.from_columns([["a", "b", "a"], ["x", "y", "x"]], "a hierarchy")
    assert tree.leaves == ("a", "b")
    assert tree.ancestors.tolist() == [[0, 1], [0, 1], [0, 0]]


def test_one_label_at_several_levels() -> None:
    tree = Hierarchy.from_columns(
        [["0000", "1011", "1012"], ["0000", "101", "101"], ["0000", "1", "1"]], "a hierarchy"
    )
    assert [names[0] for names in tree.labels] == ["0000", "0000", "0000", "*"]
    assert tree.is_below("0000", "0000")
    assert tree.is_below("1011", "1")
    assert not tree.is_below("0000", "1")
    assert tree.is_below("0000", "*")
    assert not tree.is_below("nowhere", "*")


def test_broken_nesting_names_the_lines_and_no_label() -> None:
    columns = [["flu", "cold", "burn"], ["airways", "airways", "skin"], ["north", "south", "south"]]
    with pytest.raises(InputError, match=r"lines 4 and 7") as caught:
        Hierarchy.from_columns(columns, "hierarchy file x.csv", [4, 7, 8])
    message = str(caught.value)
    assert "column 2" in message
    assert "column 3" in message
    assert not any(label in message for column in columns for label in column)


def test_restricted_reorders_and_drops_labels() -> None:
    tree = TREE.restricted(["cut", "flu"], "column 'diagnosis'")
    assert tree.leaves == ("cut", "flu")
    assert tree.labels == (("cut", "flu"), ("skin", "airways"), ("injury", "illness"), ("*",))
    assert tree.ancestors.tolist() == [[0, 1], [0, 1], [0, 1], [0, 0]]


def test_restricted_to_nothing_keeps_the_root() -> None:
    tree = TREE.restricted([], "column 'diagnosis'")
    assert tree.labels == ((), (), (), ("*",))
    assert tree.ancestors.shape == (4, 0)
    levels, index = tree.lowest_common_ancestors(
        np.zeros(2, dtype=np.int32), np.full(2, -1, dtype=np.int32), 1
    )
    assert (levels.tolist(), index.tolist()) == ([0], [-1])


def test_restricted_refuses_a_missing_leaf_without_naming_it() -> None:
    with pytest.raises(InputError, match="2 of 3 distinct values") as caught:
        TREE.restricted(["flu", "canary one", "canary two"], "hierarchy of column 'diagnosis'")
    assert "canary" not in str(caught.value)
    assert "add a line" in caught.value.advice


@given(hierarchies(), st.data())
def test_restricted_keeps_every_ancestor(tree: Hierarchy, data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(tree.leaves), unique=True, min_size=1))
    part = tree.restricted(chosen, "a column")
    assert part.leaves == tuple(chosen)
    for level in range(len(tree.labels)):
        wanted = [tree.label(level, tree.ancestors[level, tree.leaves.index(x)]) for x in chosen]
        assert [part.label(level, index) for index in part.ancestors[level]] == wanted
        assert sorted(part.labels[level]) == sorted(set(wanted))


@given(hierarchies(), st.data())
def test_lowest_common_ancestors_as_naively(tree: Hierarchy, data: st.DataObject) -> None:
    classes = data.draw(st.integers(1, 5))
    cells = data.draw(
        st.lists(
            st.tuples(st.integers(0, classes - 1), st.integers(-1, len(tree.leaves) - 1)),
            max_size=20,
        )
    )
    class_of = np.array([one for one, _ in cells], dtype=np.int64)
    codes = np.array([code for _, code in cells], dtype=np.int32)
    levels, index = tree.lowest_common_ancestors(class_of, codes, classes)
    assert levels.dtype == index.dtype == np.int32
    for one in range(classes):
        leaves = [code for owner, code in cells if owner == one and code >= 0]
        wanted = (0, -1)
        for level in reversed(range(len(tree.labels) if leaves else 0)):
            shared = {int(tree.ancestors[level][leaf]) for leaf in leaves}
            if len(shared) == 1:
                wanted = (level, shared.pop())
        assert (levels[one], index[one]) == wanted


RAGGED = Hierarchy.from_columns(
    [["a", "b", "c", "d"], ["ab", "ab", "c", "d"], ["abc", "abc", "abc", "d"]], "test"
)


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 3))))
def test_labels_agree_with_one_look_up_at_a_time(cells: list[tuple[int, int]]) -> None:
    codes = np.array([code for code, _ in cells], dtype=np.int32)
    levels = np.array([level for _, level in cells], dtype=np.int8)
    found = generalised(RAGGED, codes, levels)
    labels = all_labels(RAGGED)
    for (code, level), place in zip(cells, found.tolist(), strict=True):
        if code >= 0:
            assert labels[place] == RAGGED.label(level, RAGGED.ancestors[level, code])
        else:
            assert place == (-1 if level < 3 else len(labels) - 1)
    for level in range(4):
        np.testing.assert_array_equal(
            generalised(RAGGED, codes, level),
            generalised(RAGGED, codes, np.full(len(codes), level)),
        )


def test_distances_go_over_the_lowest_common_ancestor() -> None:
    one = np.array([0, 0, 0, 0, 2], dtype=np.int32)
    other = np.array([0, 1, 2, 3, 3], dtype=np.int32)
    assert common_levels(RAGGED, one, other).tolist() == [0, 1, 2, 3, 3]
    assert distances(RAGGED, one, other).tolist() == [0, 2, 3, 4, 3]


def test_a_million_rows_take_well_under_a_second(shared_data: Path) -> None:
    tree = read_classification(shared_data / "classifications" / "ascl.csv").hierarchy
    rng = np.random.default_rng(1)
    codes = rng.integers(-1, len(tree.leaves), 1_000_000).astype(np.int32)
    levels = rng.integers(0, tree.height + 1, 1_000_000).astype(np.int8)
    before = time.process_time()
    generalised(tree, codes, levels)
    assert time.process_time() - before < 2, "a tenth of that on an idle machine"


def alone_by_listing(people: int, values: int) -> float:
    """How often one of some people, who do not all have one value, has a given one alone."""
    every = [each for each in product(range(values), repeat=people) if len(set(each)) > 1]
    return sum(each.count(0) == 1 for each in every) / len(every)


def test_a_block_is_large_enough_to_tell_of_no_member_that_it_occurs() -> None:
    assert LEAST == 4
    for people in (2, 3, 5):
        for values in (2, 3, 4):
            by_formula = people * (values - 1) ** (people - 1) / (values**people - values)
            assert alone_by_listing(people, values) == pytest.approx(by_formula)
    assert alone_by_listing(2, 2) == 1
    assert alone_by_listing(2, 3) > 1 / 2
    assert all(alone_by_listing(people, LEAST) <= 1 / 2 for people in range(2, 7))


@given(st.one_of(st.integers(0, 70), hierarchies()))
def test_public_blocks_are_nested_neighbours(given: int | Hierarchy) -> None:
    groups = None if isinstance(given, int) else given
    leaves = [str(each) for each in range(given)] if isinstance(given, int) else given.leaves
    blocks = public_blocks(leaves, groups)
    assert blocks.leaves == tuple(leaves)
    assert len(blocks.labels[-1]) == 1
    order = np.arange(len(leaves)) if groups is None else np.lexsort(groups.ancestors)
    for level in range(1, blocks.height + 1):
        sizes = blocks.leaf_counts(level)
        assert len(leaves) < LEAST or sizes.min() >= LEAST
        assert len(blocks.labels[level]) == max(len(sizes), 1)
        assert (np.diff(blocks.ancestors[level][order]) >= 0).all()
        children = {tuple(pair) for pair in blocks.ancestors[level - 1 : level + 1].T.tolist()}
        assert len(children) == len(blocks.labels[level - 1])
        parents = [parent for _, parent in children]
        assert level == 1 or max(map(parents.count, parents), default=0) <= 2
    if len(leaves):
        assert blocks.leaf_counts(1).max() < 2 * LEAST
    if groups is None and len(leaves) > 1 and blocks.height > 1:
        assert np.ptp(blocks.leaf_counts(blocks.height - 1)) <= 1


def test_blocks_end_where_groups_do() -> None:
    columns = [[f"{place:02}" for place in range(18)], ["south"] * 5 + ["north"] * 13]
    blocks = public_blocks(columns[0], Hierarchy.from_columns(columns, "a hierarchy"))
    assert sorted(blocks.leaf_counts(blocks.height - 1).tolist()) == [5, 13]
