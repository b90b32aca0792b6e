"""The classes do not depend on the order of the file, nor on where its nodes are finished."""

from collections import Counter
from dataclasses import replace
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from few_cases import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import sfumato
from sfumato.kernels import tree_loops
from sfumato.release.cuts import rounded
from sfumato.release.partitioning import divide, finish_subtree
from sfumato.release.person_table import person_table
from sfumato.release.release_options import Options
from sfumato.release.tree import grow
from sfumato.table.door import open_table

PROMISES = (
    [sfumato.PidKAnonymity(3)],
    [sfumato.GBalance(0.7), sfumato.HAffiliation(0.6)],
    [sfumato.KAnonymity(6), sfumato.TCloseness(0.4)],
    [sfumato.SharedCounts(2), sfumato.LDiversity(2)],
)


def file(seed, persons, *, ids):
    """A file with steady and changing values, a few of each, and missing ones."""
    rng = np.random.default_rng(seed)
    owner = np.repeat(np.arange(persons), rng.geometric(0.5, persons))
    rng.shuffle(owner)

    def column(values, steady):
        codes = rng.integers(0, len(values), persons)[owner]
        other = rng.integers(0, len(values), len(owner))
        codes = np.where(rng.random(len(owner)) < steady, codes, other)
        gone = rng.random(len(owner)) < 0.03
        return pa.array(np.array(values)[codes], mask=gone)

    data = {
        "age": column(list(range(0, 60, 7)), 0.6),
        "income": column([0.1, 0.2, 0.7, 1.9, 2.3], 1.0),
        "grade": column(["low", "middle", "high"], 0.8),
        "sex": column(["f", "m"], 1.0),
        "town": column(["a", "b", "c", "d"], 0.9),
        "illness": column(["x", "y", "z", "w", "v"], 0.2),
    }
    if ids:
        data["id"] = pa.array([f"P{number}" for number in owner])
    kinds = {"age": {"kind": "numeric"}, "income": {"kind": "numeric"}, "town": {}, "sex": {}}
    order = {"kind": "ordered", "order": ["low", "middle", "high"]}
    schema = sfumato.Schema(
        person="id" if ids else None,
        quasi_identifiers={**kinds, "grade": order},
        sensitive=["illness"],
    )
    return pa.table(data), schema


def divided(table, constraints, cut, upper=1 << 40):
    persons = person_table(table)
    return divide(
        table, [persons], constraints, [], Options(cut=cut), table.persons, subtree_persons=upper
    )


def contents(data, class_of):
    """The classes as a multiset of multisets of records."""
    rows = [tuple(row.values()) for row in data.to_pylist()]
    classes = {}
    for row, of in zip(rows, class_of.tolist(), strict=True):
        classes.setdefault(of, []).append(row)
    return Counter(tuple(sorted(rows, key=repr)) for rows in classes.values())


@settings(max_examples=examples(8), deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["median", "search"]),
    st.sampled_from(PROMISES),
    st.booleans(),
    st.sampled_from([40, 1 << 40]),
)
def test_the_order_of_the_file_changes_nothing(seed, cut, constraints, ids, upper):
    data, schema = file(seed, 120, ids=ids)
    table = open_table(data, schema)
    if not all(each.met(person_table(table).whole()).all() for each in constraints):
        return
    found = divided(table, constraints, cut, upper)
    turned = data.take(np.random.default_rng(seed).permutation(data.num_rows))
    other = divided(open_table(turned, schema), constraints, cut, upper)
    assert found.classes == other.classes
    assert contents(data, found.class_of) == contents(turned, other.class_of)
    assert found.tree.max_gidr == other.tree.max_gidr


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(PROMISES), st.booleans())
def test_ids_that_are_not_kept_are_replaced_by_contents(seed, constraints, ids):
    data, schema = file(seed, 100, ids=ids)
    turned = data.take(np.random.default_rng(seed).permutation(data.num_rows))
    found = [
        contents(each.drop_columns("id") if ids else each, grown.class_of_person[table.person])
        for each in (data, turned)
        for table in [open_table(each, schema, keep_source=False)]
        for grown in [grow(person_table(table), constraints)]
    ]
    assert found[0] == found[1]


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(PROMISES), st.booleans(), st.integers(20, 200))
def test_upper_levels_change_nothing_in_the_papers_tree(seed, constraints, ids, upper):
    data, schema = file(seed, 150, ids=ids)
    table = open_table(data, schema)
    found = [divided(table, constraints, "median", each) for each in (upper, 1 << 40)]
    assert contents(data, found[0].class_of) == contents(data, found[1].class_of)
    assert found[0].tree.avg_gidr == pytest.approx(found[1].tree.avg_gidr, abs=1e-14)


@settings(max_examples=examples(6), deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["median", "search"]),
    st.sampled_from(PROMISES),
    st.booleans(),
)
def test_a_node_is_finished_alike_in_any_order_of_its_rows(seed, cut, constraints, ids):
    """As an executor does it: records of a node alone, numbered anew, without their ids."""
    data, schema = file(seed, 120, ids=ids)
    table = open_table(data, schema)
    persons = person_table(table)
    frequencies = {name: values.file for name, values in persons.sensitive.items()}
    whole = divided(table, constraints, cut, 60)
    with mock.patch("sfumato.release.partitioning.partition_of_persons", _everybody):
        nodes = divided(table, constraints, cut, 60).class_of
    rng = np.random.default_rng(seed)
    found = np.full(table.records, -1)
    for node in range(nodes.max() + 1):
        rows = rng.permutation(np.flatnonzero(nodes == node))
        part = replace(table.take(rows), source=pa.table({}), columns=())
        own = np.empty(part.persons, dtype=np.int64)
        own[part.person] = persons.ties[table.person[rows]]
        subtree = finish_subtree(part, own, constraints, Options(cut=cut), frequencies=frequencies)
        found[rows] = found.max() + 1 + subtree.class_of[part.person]
        assert len(subtree.shown) == subtree.classes == len(np.unique(subtree.class_of))
        cells = {len(each.text_of_class) for row in subtree.released.values() for each in row}
        assert cells == {subtree.shown.max() + 1}
    assert contents(data, found) == contents(data, whole.class_of)


def _everybody(table, *_, **__):
    from sfumato.release.tree import Partition

    return Partition(np.zeros(table.persons, dtype=np.int32), 1, 0)


@pytest.mark.slow
def test_subtrees_in_threads_give_the_same(monkeypatch):
    data, schema = file(5, 3000, ids=True)
    table = open_table(data, schema)
    found = [contents(data, divided(table, PROMISES[1], "search", 700).class_of)]
    for module in (tree_loops, tree_loops):
        monkeypatch.setattr(module, "WORTH_A_THREAD", 0)
    found.append(contents(data, divided(table, PROMISES[1], "search", 700).class_of))
    assert found[0] == found[1]


@given(st.lists(st.floats(-1e300, 1e300, allow_subnormal=False), min_size=1))
def test_numbers_are_rounded_to_eleven_digits(numbers):
    values = np.array(numbers)
    found = rounded(values)
    assert np.all(np.abs(found - values) <= 2.0**-37 * np.abs(values))
    assert_array_equal(rounded(found), found)
    assert_array_equal(rounded(-values), -found)
    for close in (np.nextafter(found, np.inf), np.nextafter(found, -np.inf)):
        assert_array_equal(rounded(close)[values != 0], found[values != 0])
    assert rounded(np.array([np.inf])) == np.inf


def test_an_order_without_an_ordered_attribute_is_by_tie():
    data, schema = file(3, 50, ids=True)
    data = data.select(["sex", "town", "illness", "id"])
    schema = sfumato.Schema(person="id", quasi_identifiers=["sex", "town"], sensitive=["illness"])
    persons = person_table(open_table(data, schema))
    (order,) = persons.orders()
    assert (np.diff(persons.ties[order]) > 0).all()
