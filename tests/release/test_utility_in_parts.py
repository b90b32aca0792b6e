"""Losses that are summed over groups of whole classes are those of the whole file."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from oracles.both_engines import check_values

from sfumato.engines.embedded.counts import group
from sfumato.engines.spark.spark_persons import SparkTable
from sfumato.engines.spark.spark_session import Ran, quasi_identifier
from sfumato.release.distributions import query_stream
from sfumato.release.generalisation import release_column
from sfumato.release.on_spark.spark_release import (
    PERSONS,
    PROFILE,
    TIMES,
    by_what,
    loss_of_classes,
    utility_of_sums,
)
from sfumato.release.utility_measures import measure_utility
from sfumato.schema import Kind
from sfumato.table.table import MISSING

SEED = 3


def merged(case):
    """The case with all its records kept, and classes that look the same as one."""
    table = case.table
    of_person = np.zeros(table.persons, dtype=np.int32)
    of_person[table.person[case.kept]] = case.class_of
    class_of = of_person[table.person]
    classes = int(class_of.max()) + 1
    for _ in range(2):
        released = {
            each.name: release_column(each, class_of, classes, case.form)
            for each in table.quasi_identifiers
        }
        shown = [column for own in released.values() for column in own]
        number, classes = group(
            [column.text_of_class for column in shown], [len(column.texts) for column in shown]
        )
        class_of = number[class_of]
    released = {
        each.name: release_column(each, class_of, classes, case.form)
        for each in table.quasi_identifiers
    }
    return class_of, classes, released


def on_spark(table):
    """What the driver knows of a file whose records are elsewhere."""
    columns = table.quasi_identifiers
    codes = {each.name: each.codes for each in columns}
    counts = {
        each.name: np.bincount(each.codes[each.codes >= 0], minlength=each.domain.size)
        for each in columns
    }
    return SparkTable(
        schema=table.schema,
        frame=None,
        quasi_identifiers=tuple(replace(each, codes=np.empty(0, np.int32)) for each in columns),
        sensitive=(),
        value_counts=counts,
        missing={name: int((own == MISSING).sum()) for name, own in codes.items()},
        columns=table.columns,
        warnings=(),
        records=table.records,
        persons=table.persons,
        ran=Ran("spark", "", "local", 1, 1, 1),
    )


def profiles(table, class_of, released):
    """A row per class and distinct set of records of a person: cells, records, persons."""
    records, cells = defaultdict(Counter), {}
    for row, person in enumerate(table.person.tolist()):
        codes = tuple(int(each.codes[row]) for each in table.quasi_identifiers)
        records[person][codes] += 1
        cells[person] = tuple(
            column.texts[column.text_of_class[class_of[row]]]
            for own in released.values()
            for column in own
        )
    return Counter((cells[each], tuple(sorted(own.items()))) for each, own in records.items())


def as_arrow(rows, names, columns):
    """Rows of `profiles` as Spark hands them on."""
    held = [
        [
            {quasi_identifier(place): code for place, code in enumerate(codes)} | {TIMES: times}
            for codes, times in own
        ]
        for (_, own), _ in rows
    ]
    fields = [(quasi_identifier(place), pa.int32()) for place in range(columns)]
    kind = pa.list_(pa.struct([*fields, (TIMES, pa.int64())]))
    cells = {
        name: pa.array([shown[place] for (shown, _), _ in rows], pa.string())
        for place, name in enumerate(names)
    }
    persons = pa.array([count for _, count in rows], pa.int64())
    return pa.table(cells | {PROFILE: pa.array(held, kind), PERSONS: persons})


@given(data=st.data(), parts=st.integers(1, 3))
def test_sums_of_whole_classes_give_the_losses_of_the_file(data, parts, cases) -> None:
    case = data.draw(cases())
    table = case.table
    class_of, classes, released = merged(case)
    expected = measure_utility(
        table,
        np.ones(table.records, dtype=bool),
        class_of,
        classes,
        released,
        form=case.form,
        rng=query_stream(SEED),
    )
    columns = tuple(
        tuple(f"c{place}_{end}" for end in range(len(own)))
        for place, own in enumerate(released.values())
    )
    names = [name for own in columns for name in own]
    loss = loss_of_classes(on_spark(table), columns, case.form, SEED)
    buckets = defaultdict(list)
    for row in profiles(table, class_of, released).items():
        buckets[hash(row[0][0]) % parts].append(row)
    sums = [loss(as_arrow(rows, names, len(table.quasi_identifiers))) for rows in buckets.values()]
    summed = pa.concat_tables(sums).group_by(["what", "at"]).aggregate([("value", "sum")])
    found = by_what(summed.rename_columns({"value_sum": "value"}))
    check_values(utility_of_sums(on_spark(table), found).to_json(), expected.to_json())


def test_a_person_counts_in_the_bar_of_the_highest_value(column) -> None:
    """Whatever the order of the records."""
    from sfumato.release.distributions import make_bars

    values = [1] * 12 + [100] * 12
    for order in (slice(None), slice(None, None, -1)):
        ages = column("age", Kind.NUMERIC, values[order])
        persons = np.tile(np.arange(12, dtype=np.int32), 2)[order]
        assert make_bars(ages, persons).labels == ("any value",)
