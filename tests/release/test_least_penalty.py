"""A bound of the penalty that no release of labels is below."""

from __future__ import annotations

import json
import math

import numpy as np
import pyarrow as pa
import pytest
from few_cases import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sfumato as sf

TREES = {
    "city": "a;north;*\nb;north;*\nc;south;*\nd;south;*\n",
    "age": "1;1-2;*\n2;1-2;*\n3;3-4;*\n4;3-4;*\n",
}


@pytest.fixture(scope="module")
def schema(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trees")
    for name, rows in TREES.items():
        (folder / name).write_text(rows, encoding="utf-8")
    return sf.Schema(
        quasi_identifiers={
            "city": {"kind": "categorical", "hierarchy": folder / "city", "weight": 2.0},
            "age": {"kind": "numeric", "hierarchy": folder / "age"},
            "sex": "categorical",
        }
    )


def drawn(seed, records, missing):
    rng = np.random.default_rng(seed)

    def column(values):
        return [None if rng.random() < missing else each for each in values]

    return pa.table(
        {
            "city": column(rng.choice(list("abcd"), records).tolist()),
            "age": column(rng.integers(1, 5, records).tolist()),
            "sex": column(rng.choice(["f", "m"], records).tolist()),
        }
    )


def partitions(records, k):
    """Every way to divide records into groups of k or more."""
    if not records:
        yield []
        return
    first, rest = records[0], records[1:]
    for chosen in range(1 << len(rest)):
        group = [first, *(each for at, each in enumerate(rest) if chosen >> at & 1)]
        if len(group) >= k:
            others = [each for at, each in enumerate(rest) if not chosen >> at & 1]
            for more in partitions(others, k):
                yield [group, *more]


def penalty(values, tree, occurring):
    """Of one cell: the values that its label may stand for, less one, as a share of all."""
    present = {str(each) for each in values if each is not None}
    if len(occurring) < 2 or not present:
        return 0.0
    if len(present) == 1 and None not in values:
        return 0.0
    if None in values:
        return 1.0
    for level in range(1, len(tree[0])):
        labels = {row[level] for row in tree if row[0] in present}
        if len(labels) == 1:
            leaves = [row[0] for row in tree if row[level] in labels and row[0] in occurring]
            return (len(leaves) - 1) / (len(occurring) - 1)
    return 1.0


@settings(max_examples=examples(25))
@given(st.integers(0, 2**32 - 1), st.integers(3, 8), st.integers(2, 3), st.sampled_from([0.0, 0.2]))
def test_no_partition_is_below_it(schema, seed, records, k, missing):
    table = drawn(seed, records, missing)
    assume(all(each.null_count < records for each in table.columns))
    release = sf.anonymize(
        table, schema, sf.KAnonymity(k), values="hierarchy", lower_bound=True, seed=1
    )
    rows = table.to_pylist()
    least = math.inf
    for groups in partitions(list(range(records)), k):
        lost = 0.0
        for name, weight in (("city", 2.0), ("age", 1.0), ("sex", 1.0)):
            tree = [row.split(";") for row in TREES.get(name, "f;*\nm;*\n").split()]
            occurring = {str(row[name]) for row in rows if row[name] is not None}
            for group in groups:
                cell = [rows[each][name] for each in group]
                lost += weight * len(group) * penalty(cell, tree, occurring)
        least = min(least, lost / (4 * records))
    assert release.utility.least_ncp <= least + 1e-9
    assert least <= release.utility.ncp + 1e-9


def test_is_near_what_is_found(schema):
    release = sf.anonymize(
        drawn(3, 400, 0.0), schema, sf.KAnonymity(15), values="hierarchy", lower_bound=True, seed=1
    )
    assert 0 < release.utility.least_ncp <= release.utility.ncp
    assert release.utility.ncp <= 1.5 * release.utility.least_ncp
    assert "least_ncp" in str(release.utility)


def test_other_forms_say_that_none_is_known(schema):
    release = sf.anonymize(
        drawn(3, 60, 0.0), schema, sf.KAnonymity(5), values="set", lower_bound=True, seed=1
    )
    assert "none known" in str(release.utility)
    assert json.loads(json.dumps(release.utility.to_json()))["least_ncp"] is None
