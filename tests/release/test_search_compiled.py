"""The search in loops finds the classes of that in NumPy; thresholds say what promises mean."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import sfumato as sf
from sfumato.kernels import cut_search
from sfumato.release import search as searching
from sfumato.release.candidates import Nodes
from sfumato.release.flat_search import limits_of
from sfumato.release.loss import loss_space
from sfumato.release.persons import person_table
from sfumato.release.promises.g_balance import GBalance
from sfumato.release.promises.h_affiliation import HAffiliation
from sfumato.release.promises.k_anonymity import KAnonymity, PidKAnonymity
from sfumato.release.promises.l_diversity import LDiversity
from sfumato.release.promises.marketer_risk import MarketerRisk
from sfumato.release.promises.shared_counts import SharedCounts
from sfumato.release.promises.t_closeness import TCloseness
from sfumato.release.search import SHARES, search
from sfumato.risk.classes import ClassSummary
from sfumato.table.door import open_table

SCHEMA = sf.Schema(
    person="who",
    quasi_identifiers={
        "age": "numeric",
        "income": "numeric",
        "level": {"kind": "ordered", "order": list("abcdefghij"), "weight": 2.0},
        "city": {"kind": "categorical", "weight": 3.0},
        "sex": "categorical",
    },
    sensitive=["illness", "drug"],
)
PROMISES = (
    (GBalance(0.5),),
    (GBalance(0.8), HAffiliation(0.6)),
    (KAnonymity(6), LDiversity(2, attribute="drug"), HAffiliation(0.7, attribute="illness")),
    (PidKAnonymity(2), SharedCounts(3)),
)
BUDGET = (MarketerRisk(0.1),)


def persons_of(seed, missing, persons=400):
    """Persons with numbers that are all different, so that hardly two cuts lose the same."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(persons), np.minimum(rng.geometric(0.4, persons), 6))
    total = len(person)

    def column(values):
        return [None if rng.random() < missing else value for value in values]

    table = pa.table(
        {
            "who": person,
            "age": column((rng.random(persons)[person] + rng.random(total) / 20).tolist()),
            "income": column((rng.lognormal(size=persons)[person]).tolist()),
            "level": column(rng.choice(list("abcdefghij"), persons)[person].tolist()),
            "city": column(rng.choice(list("uvwxyz"), total).tolist()),
            "sex": rng.choice(["f", "m"], persons)[person],
            "illness": rng.choice(list("abcdef"), total),
            "drug": column(rng.choice(list("mno"), total).tolist()),
        }
    )
    table = open_table(table, SCHEMA)
    known = person_table(table)
    return known, loss_space(known, table.quasi_identifiers, sets=bool(missing))


@pytest.fixture(scope="module", params=[(1, 0.0), (2, 0.1), (3, 0.0)])
def persons(request):
    return persons_of(*request.param)


def both(persons, loss, promises, budgets, monkeypatch):
    """The partition of the plain search and that of the compiled one."""
    found = []
    for compiled in (False, True):
        monkeypatch.setattr(searching, "limits_of", limits_of if compiled else lambda *_: None)
        monkeypatch.setattr(cut_search, "WORTH_A_THREAD", 100)
        found.append(search(persons, loss, promises, budgets, price=0.5))
    return found


def same(one, other):
    """Whether two partitions have the same classes; two ways to cut may lose the same."""
    pairs = np.stack([one.class_of_person, other.class_of_person])
    return one.classes == other.classes == np.unique(pairs, axis=1).shape[1]


@pytest.mark.parametrize("promises", PROMISES)
def test_same_classes(persons, promises, monkeypatch):
    plain, compiled = both(*persons, promises, (), monkeypatch)
    assert plain.classes > 10
    assert same(plain, compiled)


@pytest.mark.parametrize("kept", [("city", "sex"), ("age",)])
def test_same_classes_along_one_kind_of_axis(kept, monkeypatch):
    rng = np.random.default_rng(5)
    people = np.arange(900)
    columns = {
        "who": people,
        "age": rng.random(900),
        "city": rng.choice(list("abcdefghijkl"), 900, p=np.arange(1, 13) / 78),
        "sex": rng.choice(list("fmx"), 900, p=[0.5, 0.4, 0.1]),
        "illness": rng.choice(list("uvw"), 900),
    }
    kinds = {name: SCHEMA.quasi_identifiers[name] for name in kept}
    schema = sf.Schema(person="who", quasi_identifiers=kinds, sensitive=["illness"])
    table = open_table(
        pa.table({name: columns[name] for name in ("who", *kept, "illness")}), schema
    )
    known = person_table(table)
    loss = loss_space(known, table.quasi_identifiers, sets=True)
    plain, compiled = both(known, loss, (GBalance(0.8), HAffiliation(0.5)), (), monkeypatch)
    assert plain.classes > 5
    assert same(plain, compiled)


def test_same_classes_within_a_budget(persons, monkeypatch):
    plain, compiled = both(*persons, (GBalance(0.5),), BUDGET, monkeypatch)
    assert plain.classes > 5
    assert same(plain, compiled)


def test_same_classes_where_only_small_nodes_are_tried(persons, monkeypatch):
    monkeypatch.setattr(searching, "LARGE", 100)
    monkeypatch.setattr(searching, "SMALL", 64)
    plain, compiled = both(*persons, PROMISES[1], (), monkeypatch)
    assert same(plain, compiled)


@pytest.mark.parametrize("promises", PROMISES)
def test_same_losses_below_nodes(persons, promises, monkeypatch):
    growth = searching._SearchGrowth(*persons, promises, (), 0.0, lambda *_: None)
    nodes = growth.root()
    growth.flat = growth._flat()
    found = growth.flat.losses(growth.orders, nodes, np.array(SHARES))
    growth.flat = None
    orders = growth.orders
    for share, lost in zip(SHARES, found[0], strict=True):
        growth.orders = [order.copy() for order in orders]
        assert_allclose(growth._lost_below(nodes, share), lost, rtol=1e-9)


def test_nodes_are_not_cut_that_are_too_small(persons, monkeypatch):
    growth = searching._SearchGrowth(*persons, (PidKAnonymity(400),), (), 0.0, lambda *_: None)
    nodes = growth.root()
    growth.flat = growth._flat()
    assert not len(growth._choose(nodes, np.full(1, 0.3)).node)
    assert not len(growth._choose(nodes.take(np.empty(0, int)), np.empty(0)).node)
    assert not growth.flat.losses(growth.orders, nodes, np.array(SHARES))[0].any()
    assert isinstance(nodes, Nodes)


def test_only_thresholds_are_compiled(persons):
    known, _ = persons
    assert limits_of((GBalance(0.5), TCloseness(0.3)), known) is None
    limits = limits_of((GBalance(0.75), HAffiliation(0.4, attribute="drug"), LDiversity(3)), known)
    assert limits.persons == 4
    assert_array_equal(np.isfinite(limits.affiliation), [False, True])
    assert_array_equal(limits.distinct, [3, 3])


@given(
    st.sampled_from([each for promises in PROMISES for each in promises]),
    st.integers(0, 2**32 - 1),
)
def test_thresholds_say_what_the_promise_means(promise, seed):
    rng = np.random.default_rng(seed)
    size = 50
    number = rng.integers(1, 12, size)
    classes = ClassSummary(
        records=number * rng.integers(1, 4, size),
        persons=number,
        squares=rng.integers(1, 400, size),
        largest=number,
        affiliation={name: rng.integers(0, number + 1) for name in ("illness", "drug")},
        distinct={name: rng.integers(0, 5, size) for name in ("illness", "drug")},
    )
    classes = replace(classes, fewest_sharing=rng.integers(1, 6, size))
    limit = promise.thresholds()
    kept = (classes.records >= limit.records) & (classes.persons >= limit.persons)
    kept &= classes.squares <= limit.squares * classes.records.astype(float) ** 2
    kept &= classes.fewest_sharing >= limit.sharing
    for name in classes.affiliation:
        if limit.attribute in (None, name):
            kept &= classes.affiliation[name] <= limit.affiliation * classes.persons
            kept &= classes.distinct[name] >= limit.distinct
    assert_array_equal(kept, promise.met(classes))
