"""Measures on Spark, against those of the embedded engine on the same table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet
import pytest
from oracles.both_engines import (
    THRESHOLD,
    Columns,
    as_frame,
    check_same,
    check_values,
    frequencies,
    measure_on_spark,
    measured_here,
    measured_on_spark,
)
from oracles.close import close

from sfumato.core.errors import InputError
from sfumato.engines.embedded.counts import group
from sfumato.engines.spark import counts
from sfumato.engines.spark.counts import OF_VALUES, ORDERED, rest, value_column
from sfumato.risk.classes import summarize
from sfumato.risk.on_spark.spark_measures import classes_on_spark, totals_of

pytestmark = pytest.mark.slow

KEYS = ("a", "b")


def table(seed: int, records: int, persons: int) -> Columns:
    """Codes with missing ones; some persons have many records, some classes no value of ``t``."""
    rng = np.random.default_rng(seed)
    weight = rng.pareto(1.5, persons) + 0.1
    a = rng.integers(-1, 6, records).astype(np.int32)
    t = rng.integers(-1, 3, records).astype(np.int32)
    return {
        "person": rng.choice(persons, records, p=weight / weight.sum()),
        "a": a,
        "b": np.minimum(rng.geometric(0.4, records), 7).astype(np.int32) - 2,
        "s": np.minimum(rng.geometric(0.3, records), 9).astype(np.int32) - 2,
        "t": np.where(a == 3, -1, t).astype(np.int32),
    }


def ranks_of_codes(codes: np.ndarray, seed: int) -> np.ndarray:
    """Ranks in another order than the codes; two codes are the same number."""
    ranks = np.random.default_rng(seed).permutation(int(codes.max()) + 1)
    return np.maximum(ranks - 1, 0).astype(np.int32)


def in_parts(spark: Any, columns: Columns, parts: int, seed: int) -> Any:
    """The columns as a DataFrame of so many partitions, in another order."""
    order = np.random.default_rng(seed).permutation(len(columns["a"]))
    frame = as_frame(spark, {name: values[order] for name, values in columns.items()})
    return frame.coalesce(1) if parts == 1 else frame.repartition(parts)


@pytest.mark.parametrize(
    ("seed", "records", "persons", "sensitive", "parts"),
    [(1, 400, 90, ("s", "t"), 1), (2, 3000, 300, ("s",), 8), (3, 60, 60, (), 2)],
)
def test_every_measure_is_that_of_the_embedded_engine(
    spark: Any, seed: int, records: int, persons: int, sensitive: tuple[str, ...], parts: int
) -> None:
    """Whatever the partitions and the order of the records."""
    columns = table(seed, records, persons)
    ranks = {name: ranks_of_codes(columns[name], seed) for name in sensitive[-1:]}
    here = measured_here(columns, KEYS, sensitive, ranks)
    frame = in_parts(spark, columns, parts, seed)
    there = measured_on_spark(frame, columns, KEYS, sensitive, ranks)
    check_same(here, there)
    ordered = {name: each.t_closeness_ordered for name, each in there.sensitive.items()}
    assert {name for name, found in ordered.items() if found is not None} == set(ranks)
    assert there.warnings
    assert there.summary is None
    assert there.k_where is there.g_balance.where is None


def test_without_persons_every_record_is_one(spark: Any) -> None:
    columns = table(4, 300, 50)
    del columns["person"]
    here = measured_here(columns, KEYS, ("s", "t"))
    check_same(here, measured_on_spark(as_frame(spark, columns), columns, KEYS, ("s", "t")))


def cases(seed: int, number: int) -> Columns:
    """Many small tables in one, ``case`` telling which: one job of Spark for all of them."""
    rng = np.random.default_rng(seed)
    parts: list[Columns] = []
    for case in range(number):
        records, persons, values = rng.integers(1, [60, 13, 6])
        weight = rng.pareto(rng.uniform(0.5, 4), persons) + 0.1
        gone = rng.random(records) < rng.choice([0.0, 0.3, 0.9])
        codes = rng.integers(0, values, records)
        parts.append(
            {
                "case": np.full(records, case, dtype=np.int32),
                "a": rng.integers(-1, rng.integers(1, 4), records).astype(np.int32),
                "person": rng.choice(persons, records, p=weight / weight.sum()) + 5 * case,
                "s": np.where(gone, -1, codes).astype(np.int32),
                "t": np.minimum(rng.geometric(0.5, records), 3).astype(np.int32) - 1,
            }
        )
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def test_every_class_is_counted_right(spark: Any) -> None:
    """Sums and extremes hide errors: here all numbers of some 400 classes of 150 tables."""
    columns, keys = cases(5, 150), ("case", "a")
    sizes = [int(columns[key].max()) + 1 for key in keys]
    class_of, classes = group([columns[key] for key in keys], sizes)
    codes = {name: columns[name] for name in ("s", "t")}
    ranks = {name: ranks_of_codes(columns[name], 5) for name in codes}
    person = columns["person"].astype(np.int32)
    own = summarize(class_of, classes, person, codes, ranks=ranks)
    counted = {name: frequencies(columns[name]) for name in codes}
    frame = as_frame(spark, columns).repartition(3)
    own_names = {name: name for name in codes}
    found = classes_on_spark(frame, keys, "person", own_names, counted, ranks).toArrow()
    rows = dict(zip(zip(*(found[key].to_pylist() for key in keys), strict=True), range(classes),
                    strict=True))  # fmt: skip
    order = [rows[tuple(int(columns[key][row]) for key in keys)] for row in own.first_row]

    def column(name: str) -> np.ndarray:
        return found[name].to_numpy()[order]

    for name, expected in {
        counts.RECORDS: own.records,
        counts.PERSONS: own.persons,
        counts.SQUARES: own.squares,
        counts.ROUGH_SQUARES: own.squares,
        counts.LARGEST: own.largest,
        counts.FEWEST: own.fewest_sharing,
        counts.ALONE: own.alone,
    }.items():
        np.testing.assert_array_equal(column(name), expected, name)
    np.testing.assert_allclose(column(counts.NUMBERS), own.count_risk_total, rtol=1e-12)
    for place, name in enumerate(codes):
        expected = {
            "affiliation": own.affiliation[name],
            "distinct": own.distinct[name],
            "first": own.commonest[name][:, 0],
            "entropy": own.entropy[name],
            "distance": own.distance[name],
        }
        assert set(expected) == set(OF_VALUES)
        expected[ORDERED] = own.ordered_distance[name]
        expected[rest(2)] = own.valued[name] - own.commonest[name][:, 0]
        expected[rest(3)] = own.valued[name] - own.commonest[name].sum(axis=1)
        for what, numbers in expected.items():
            got = column(value_column(place, what))
            whole = np.log(own.records.max()) if what == "entropy" else 1.0
            assert got == close(numbers, whole), what


def test_one_person_with_most_records_and_one_value_everywhere_or_all_in_a_class(
    spark: Any,
) -> None:
    others = np.arange(1, 20_001)
    person = np.concatenate([np.zeros(100_000, dtype=np.int64), others])
    a = np.where(person > 0, person % 40, 0).astype(np.int32)
    s = np.where(person % 100 == 99, 1, 0).astype(np.int32)
    t = np.where(a == 0, np.arange(len(person)) % 3_000, 5).astype(np.int32)
    columns: Columns = {"person": person, "a": a, "s": s, "t": t}
    ranks = {"t": np.arange(3_000, dtype=np.int32)}
    frame = as_frame(spark, columns).repartition(8)
    there = measured_on_spark(frame, columns, ("a",), ("s", "t"), ranks)
    check_same(measured_here(columns, ("a",), ("s", "t"), ranks), there)
    assert there.max_gidr.value == 100_000 / 100_500
    assert there.shape.balance == (10**10 + 500, 100_500)


def test_keys_and_persons_may_be_texts(spark: Any) -> None:
    """The groups of Table 6b of paper 003: Ashley and Diana; Bob, Edward, Fred and Greg."""
    rows = [("Ashley", "1", 0), ("Ashley", "1", 1), ("Diana", "1", 2), ("Diana", "1", 3),
            ("Bob", None, 1), ("Edward", None, 4), ("Edward", None, 3), ("Fred", None, 4),
            ("Greg", None, 2)]  # fmt: skip
    names = ("person", "its age", "illness")
    frame = spark.createDataFrame(pa.table(dict(zip(names, zip(*rows, strict=True), strict=True))))
    there = measure_on_spark(
        frame,
        ["its age"],
        "person",
        {"illness": "illness"},
        value_counts={"illness": np.array([1, 2, 2, 2, 2])},
        threshold=0.2,
    )
    assert (there.classes, there.k, there.pid_k, there.persons) == (2, 4, 2, 6)
    assert there.g_balance.value == 0.5
    assert there.sensitive["illness"].h_affiliation.value == 0.5


def test_squares_that_pass_64_bits(spark: Any) -> None:
    """Σc² of a person with 4 billion records is null as an integer; the double beside it counts."""
    own = {
        counts.RECORDS: [5 * 10**9, 10], counts.PERSONS: [10**9 + 1, 2],
        counts.SQUARES: [None, 58], counts.ROUGH_SQUARES: [1.6e19 + 1e9, 58.0],
        counts.LARGEST: [4 * 10**9, 7], counts.FEWEST: [1, 1], counts.ALONE: [1, 2],
        counts.NUMBERS: [2, 2],
    }  # fmt: skip
    found = totals_of(spark.createDataFrame(pa.table(own)), (), THRESHOLD)
    assert found.least["g_balance"] == pytest.approx(0.36, rel=1e-9)
    assert found.sums["records"] == 5 * 10**9 + 10
    assert found.shape.persons.tolist() == [2, 10**9 + 1]


def test_informs(spark: Any, shared_data: Any) -> None:
    """95,140 records of 23,968 persons, with 540 values of an illness."""
    folder = shared_data / "informs"
    conditions = pa.parquet.read_table(folder / "conditions_2005.parquet")
    people = pa.parquet.read_table(folder / "demographics_2005.parquet")
    joined = conditions.join(people, "DUPERSID", join_type="inner", right_suffix="_right")
    columns: Columns = {}
    for name in ("DUPERSID", "DOBYY", "EDUCYEAR", "income", "poverty", "ICD9CODX"):
        codes = pa.compute.dictionary_encode(joined[name]).combine_chunks().indices
        columns[name] = codes.fill_null(-1).to_numpy().astype(np.int32)
    columns["person"] = columns.pop("DUPERSID").astype(np.int64)
    keys, sensitive = ("DOBYY", "EDUCYEAR", "income", "poverty"), ("ICD9CODX",)
    there = measured_on_spark(as_frame(spark, columns), columns, keys, sensitive)
    check_same(measured_here(columns, keys, sensitive), there)


def test_bad_parameters_are_refused_before_work_starts() -> None:
    with pytest.raises(InputError, match="parameter keys"):
        measure_on_spark(None, [], None, {}, {})


def test_an_empty_file_is_refused(spark: Any) -> None:
    frame = as_frame(spark, {"a": np.empty(0, dtype=np.int32)})
    with pytest.raises(InputError, match="at least one record"):
        measure_on_spark(frame, ["a"], None, {}, {})


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ({"k": 1.0}, {"k": 1.0 + 1e-11}),
        ({"mean": 1e-5}, {"mean": 1e-5 + 1e-15}),
        ({"correlations": {"mean_change": 1e-5}}, {"correlations": {"mean_change": 1e-5 + 1e-11}}),
        ({"sse": 1e-9, "sst": 100.0}, {"sse": 2e-9, "sst": 100.0}),
    ],
)
def test_the_comparison_can_fail(here: Any, there: Any) -> None:
    with pytest.raises(AssertionError):
        check_values(here, there)


def test_a_difference_has_the_digits_of_its_parts() -> None:
    """Of correlations that were summed in another order, each right to the last digits."""
    before, after, other = 0.4213, 0.4213 + 1.08453162e-05, 0.4213 + 1.08453162e-05 + 2e-16
    here, there = ({"mean_change": each - before} for each in (after, other))
    assert here != there
    assert here["mean_change"] != pytest.approx(there["mean_change"], rel=1e-12, abs=0)
    check_values({"correlations": here}, {"correlations": there})
    check_values({"sse": 1e-13, "sst": 100.0}, {"sse": 0.0, "sst": 100.0})
