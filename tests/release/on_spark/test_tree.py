"""The tree on Spark makes the classes that one machine makes, ties included."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import sfumato
from sfumato.core.errors import ConstraintsNotMetError, InputError
from sfumato.engines.spark.spark_persons import SparkTable
from sfumato.engines.spark.spark_session import (
    CLASS,
    PERSON,
    TIE,
    Ran,
    quasi_identifier,
    release,
    sensitive,
)
from sfumato.release.generalisation import generalised, with_coded_ends
from sfumato.release.on_spark.spark_division import cell, divide_on_spark, leaves
from sfumato.release.on_spark.spark_refusals import refuse_options
from sfumato.release.on_spark.spark_released_file import with_coded_ends_on_spark
from sfumato.release.partitioning import divide
from sfumato.release.person_table import person_table
from sfumato.release.promises.h_affiliation import HAffiliation
from sfumato.release.promises.t_closeness import TCloseness
from sfumato.release.release_manifest import Manifest
from sfumato.release.release_options import Options
from sfumato.release.suppression import not_met
from sfumato.table.door import open_table
from sfumato.table.scalars import ties_of_codes, ties_of_values

pytestmark = pytest.mark.slow


def file(seed, persons, *, ids=True, ends=False):
    """A file with heavy ties, steady and changing values, and missing ones."""
    rng = np.random.default_rng(seed)
    owner = np.repeat(np.arange(persons), np.minimum(rng.geometric(0.6, persons), 3))
    rng.shuffle(owner)

    def column(values, steady, gone=0.01):
        codes = rng.integers(0, len(values), persons)[owner]
        other = rng.integers(0, len(values), len(owner))
        codes = np.where(rng.random(len(owner)) < steady, codes, other)
        return pa.array(np.array(values)[codes], mask=rng.random(len(owner)) < gone)

    data = {
        "age": column([0, 1, 2, 80, 90], 0.7),
        "income": column([0.1, 0.2, 0.7, 40.9, 42.3, 50.25], 0.9, 0.0),
        "grade": column(["low", "middle", "high"], 0.8),
        "sex": column(["f", "m", "m", "m", "m"], 1.0, 0.0),
        "town": column(["a", "b", "c", "d", "e"], 0.9),
        "illness": column(["1", "2", "3", "5", "8"], 0.2),
        "ward": column(["x", "y", "z"], 0.5, 0.3),
    }
    if ids:
        data["id"] = pa.array([f"P{number}" for number in owner])
    kinds = {"age": {"kind": "numeric"}, "income": {"kind": "numeric"}, "town": {}, "sex": {}}
    order = {"kind": "ordered", "order": ["low", "middle", "high"]}
    if ends:
        kinds["age"]["top"], order["bottom"] = 80, "middle"
        kinds["income"] |= {"bottom": 0.15, "top": 42}
    schema = sfumato.Schema(
        person="id" if ids else None,
        quasi_identifiers={**kinds, "grade": order},
        sensitive=["illness", "ward"],
    )
    return open_table(pa.table(data), schema)


def on_spark(spark, table, parts, seed):
    """The encoded file on Spark, its rows shuffled."""
    if table.schema.person is None:
        ids = pa.array(np.arange(table.records))
        labels = [[c.domain.label(i) for i in range(c.domain.size)] for c in table.sensitive]
        own = [each.codes for each in table.sensitive]
        pairs = list(zip(own, labels, strict=True))
        ties = ties_of_codes([each.codes for each in table.quasi_identifiers], pairs)
    else:
        ids = table.source.column(table.schema.person).combine_chunks()
        ties = ties_of_values(ids)
    columns = {PERSON: ids, TIE: ties}
    columns |= {quasi_identifier(i): c.codes for i, c in enumerate(table.quasi_identifiers)}
    columns |= {sensitive(i): c.codes for i, c in enumerate(table.sensitive)}
    rows = pa.table(columns).take(np.random.default_rng(seed).permutation(table.records))
    both = (*table.quasi_identifiers, *table.sensitive)
    nothing = np.empty(0, dtype=np.int32)
    return SparkTable(
        schema=table.schema,
        frame=spark.createDataFrame(rows).repartition(parts),
        quasi_identifiers=tuple(replace(c, codes=nothing) for c in table.quasi_identifiers),
        sensitive=tuple(replace(c, codes=nothing) for c in table.sensitive),
        value_counts={
            c.name: np.bincount(c.codes + 1, minlength=c.domain.size + 1)[1:] for c in both
        },
        missing={c.name: int((c.codes < 0).sum()) for c in both},
        columns=table.columns,
        warnings=(),
        records=table.records,
        persons=table.persons,
        ran=Ran("spark", "4", "local", 1, 2, parts),
    )


def manifest(constraints, **options):
    asked = Options(**{"ends": "tight", **options})
    return Manifest(asked, tuple(constraints), seed=1, keyed=False, schema_sha256="")


def cells_of_embedded(table, asked, upper):
    """Id of each person or content of each record, class and released cells, on one machine."""
    persons = [person_table(table)]
    found = divide(
        table, persons, asked.constraints, [], asked.options, table.persons, subtree_persons=upper
    )
    shown, merged, _ = generalised(table, found.class_of, found.classes, asked.options.form)
    of = merged[found.class_of]
    cells = [
        [column.texts[text] for text in column.text_of_class[of]]
        for columns in shown.values()
        for column in columns
    ]
    sizes = [columns[0].leaves[of].tolist() for columns in shown.values()]
    return list(zip(found.class_of.tolist(), *cells, *sizes, strict=True)), found.tree


def told(table, rows):
    """The rows as a multiset of classes, each a multiset of who is in it and what is shown."""
    if table.schema.person is None:
        both = (*table.quasi_identifiers, *table.sensitive)
        who = list(zip(*(each.codes.tolist() for each in both), strict=True))
    else:
        who = table.source.column(table.schema.person).to_pylist()
    classes = {}
    for each, (of, *cells) in zip(who, rows, strict=True):
        classes.setdefault(of, Counter())[each, *cells] += 1
    return Counter(frozenset(each.items()) for each in classes.values())


def cells_of_spark(table, found):
    """The same from Spark, by the record's person."""
    columns = found.classes.toArrow()
    names = [cell(i, j) for i, own in enumerate(found.names) for j in range(len(own))]
    names += [leaves(i) for i in range(len(found.names))]
    shown = zip(*(columns.column(name).to_pylist() for name in (CLASS, *names)), strict=True)
    of = dict(zip(columns.column(PERSON).to_pylist(), shown, strict=True))
    if table.schema.person is None:
        return [of[row] for row in range(table.records)]
    return [of[each] for each in table.source.column(table.schema.person).to_pylist()]


CASES = {
    "search": ([sfumato.GBalance(0.9), HAffiliation(0.42, attribute="illness")], {}, True, 8, 650),
    "median": (
        [TCloseness(0.12), TCloseness(0.06, attribute="illness", distance="ordered")],
        {"cut": "median", "split": "variance", "values": "bounds"},
        True,
        1,
        400,
    ),
    "records": (
        [sfumato.SharedCounts(4), sfumato.LDiversity(3)],
        {"values": "set"},
        False,
        2,
        1 << 17,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_classes_are_those_of_one_machine(spark, case):
    constraints, options, ids, parts, upper = CASES[case]
    table = file(len(case), 1200, ids=ids, ends=case == "median")
    asked = manifest(constraints, **options)
    rows, tree = cells_of_embedded(with_coded_ends(table), asked, upper)
    there = with_coded_ends_on_spark(on_spark(spark, table, parts, parts))
    found = divide_on_spark(there, asked, upper=upper)
    assert told(table, cells_of_spark(table, found)) == told(table, rows)
    assert (found.levels, found.subtrees) >= ((1, 2) if upper < table.persons else (0, 1))
    assert found.tree.classes == tree.classes
    assert found.tree.max_gidr == pytest.approx(tree.max_gidr, rel=1e-12)
    assert found.tree.avg_gidr == pytest.approx(tree.avg_gidr, rel=1e-12)
    release(found.classes)


def test_promises_that_the_file_breaks_are_said(spark):
    table = file(3, 40)
    asked = manifest([sfumato.HAffiliation(0.05), sfumato.PidKAnonymity(41)])
    with pytest.raises(ConstraintsNotMetError, match="pid_k asks for at least 41") as error:
        divide_on_spark(on_spark(spark, table, 2, 1), asked)
    here = not_met(table, person_table(table), asked.constraints, [])
    assert error.value.failures == here.failures
    assert len(here.failures) == 2
    assert "engine='embedded'" in str(error.value)


@pytest.mark.parametrize(
    ("named", "constraints", "options"),
    [
        ("parameter recoding", [sfumato.PidKAnonymity(2)], {"recoding": "full-domain"}),
        ("parameter suppress", [sfumato.PidKAnonymity(2)], {"suppress": 0.1}),
        ("parameter cap_records", [sfumato.PidKAnonymity(2)], {"cap_records": 3}),
        ("parameter coarsen_counts", [sfumato.SharedCounts(2)], {"coarsen_counts": "drop"}),
        ("parameter marketer", [sfumato.MarketerRisk(0.1)], {}),
        ("parameter presence", [sfumato.DeltaPresence(0.1, 0.5)], {}),
    ],
)
def test_what_one_machine_alone_does_is_refused(named, constraints, options):
    with pytest.raises(InputError, match=named):
        refuse_options(manifest(constraints, **options))


def test_a_register_is_refused():
    asked = manifest([sfumato.PidKAnonymity(2)])
    for named, other in (("population", {"population": 9}), ("register", {"register_sha256": "0"})):
        with pytest.raises(InputError, match=f"parameter {named}"):
            refuse_options(replace(asked, **other))
