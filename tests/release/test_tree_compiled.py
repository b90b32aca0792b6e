"""The threaded tree that numbers persons anew finds the classes of the plain one."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sfumato.examples import generate_clinics
from sfumato.kernels import node_counts
from sfumato.release import growth
from sfumato.release.persons import person_table, take_persons
from sfumato.release.promises.g_balance import GBalance
from sfumato.release.promises.h_affiliation import HAffiliation
from sfumato.release.promises.k_anonymity import PidKAnonymity
from sfumato.release.promises.l_diversity import LDiversity
from sfumato.release.tree import grow
from sfumato.table.door import open_table

PROMISES = (
    (GBalance(0.8),),
    (GBalance(0.6), HAffiliation(0.5)),
    (PidKAnonymity(3), HAffiliation(0.34), LDiversity(2)),
)


@pytest.fixture(scope="module", params=[1, 2, 3])
def persons(request):
    clinics = generate_clinics(300, rng=request.param)
    table = clinics.visits.slice(0, 900)
    if request.param == 3:  # some values are missing
        gone = np.random.default_rng(0).random(len(table)) < 0.05
        ages = [
            None if lost else age for lost, age in zip(gone, table["age"].to_pylist(), strict=True)
        ]
        table = table.set_column(table.column_names.index("age"), "age", [ages])
    return person_table(open_table(table, clinics.schema))


@pytest.mark.parametrize("promises", PROMISES)
def test_same_classes(persons, promises, monkeypatch):
    plain = grow(persons, promises)
    monkeypatch.setattr(growth, "WORTH_MOVING", 0)
    monkeypatch.setattr(node_counts, "WORTH_A_THREAD", 0)
    monkeypatch.setattr(growth, "SHRUNK", 2)
    monkeypatch.setattr(growth, "NEAR", 0)
    compiled = grow(persons, promises)
    assert_array_equal(compiled.class_of_person, plain.class_of_person)


def test_persons_in_another_order(persons):
    order = np.random.default_rng(0).permutation(persons.persons).astype(np.int32)
    taken = take_persons([persons], order)
    assert_array_equal(taken.records, persons.records[order])
    for one, other in zip(taken.ordered, persons.ordered, strict=True):
        for name in ("position", "total", "square", "present", "lowest", "highest"):
            assert_array_equal(getattr(one, name), getattr(other, name)[order])
    for name, values in persons.sensitive.items():
        for new, old in enumerate(order):
            here = slice(*taken.sensitive[name].offsets[new : new + 2])
            there = slice(*values.offsets[old : old + 2])
            assert_array_equal(taken.sensitive[name].values[here], values.values[there])
