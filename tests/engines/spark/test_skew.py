"""A person with 40,000 records and a value that everybody has are shared out among tasks."""

from itertools import takewhile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from oracles.both_engines import check_values

import sfumato as sf

pytestmark = pytest.mark.slow

HEAVY, OTHERS = 40_000, 1_000
PARTITIONS = 4
SCHEMA = sf.Schema(
    person="patient",
    quasi_identifiers={"age": "numeric", "sex": "categorical"},
    sensitive=["icd9"],
)
KEY = b"pseudonyms that both engines give"
OF_ONE_ENGINE = ("columns", "manifest", "positions", "ran", "verdict", "warnings")


@pytest.fixture(scope="module")
def visits():
    """Two visits each of some patients, and the rest of one; everybody has a cold."""
    rng = np.random.default_rng(3)
    owner = np.concatenate([np.repeat(np.arange(OTHERS), 2), np.full(HEAVY, OTHERS)])
    rng.shuffle(owner)
    diagnoses = np.where(rng.random(len(owner)) < 0.9, "cold", "flu")
    table = {
        "patient": [f"P{number}" for number in owner],
        "age": rng.integers(0, 90, OTHERS + 1)[owner],
        "sex": np.array(["F", "M"])[rng.integers(0, 2, OTHERS + 1)][owner],
        "icd9": diagnoses,
    }
    return pa.table(table)


@pytest.fixture(scope="module")
def folder(visits, tmp_path_factory):
    """The same, in as many files as there are partitions."""
    folder = tmp_path_factory.mktemp("skew")
    size = -(-len(visits) // PARTITIONS)
    for number in range(PARTITIONS):
        pq.write_table(visits.slice(number * size, size), folder / f"{number}.parquet")
    return folder


def test_an_assessment_moves_no_task_most_of_the_records(spark, visits, folder):
    seen = last_stage(spark)
    risk = sf.assess(spark.read.parquet(str(folder)), SCHEMA)
    check_values(plain(sf.assess(visits, SCHEMA)), plain(risk))
    assert most_received(spark, seen) < HEAVY / 4


def test_a_release_gathers_only_the_records_of_a_person(spark, visits, folder, tmp_path):
    options = {"effort": 0, "ends": "tight", "pseudonym_key": KEY, "seed": 1}
    seen = last_stage(spark)
    there = sf.anonymize(spark.read.parquet(str(folder)), SCHEMA, sf.PidKAnonymity(5), **options)
    there.write(tmp_path / "there.parquet")
    assert most_received(spark, seen) <= 1.1 * (HEAVY + OTHERS)
    alone = sf.anonymize(visits, SCHEMA, sf.PidKAnonymity(5), **options)
    check_values(plain(alone), plain(there))
    assert rows(alone.table) == rows(pq.read_table(tmp_path / "there.parquet"))


def plain(result):
    """The measures, without what one engine alone knows."""
    values = result.to_json()
    for each in (values, values.get("before", {})):
        for name in OF_ONE_ENGINE:
            each.pop(name, None)
    return values


def rows(table):
    """How often each row is there."""
    texts = table.select(sorted(table.column_names))
    texts = pa.table({name: texts.column(name).cast(pa.string()) for name in texts.column_names})
    found = texts.group_by(texts.column_names).aggregate([([], "count_all")])
    return sorted(map(tuple, (row.values() for row in found.to_pylist())), key=repr)


def last_stage(spark):
    """The number of the session's latest stage, -1 before the first."""
    return next((stage.stageId() for stage in _newest(spark)), -1)


def most_received(spark, seen):
    """Most records that one task of the later stages received from other tasks."""
    store = spark.sparkContext._jsc.sc().statusStore()
    most = 0
    for stage in takewhile(lambda stage: stage.stageId() > seen, _newest(spark)):
        if stage.shuffleReadRecords() <= most:
            continue
        number = stage.stageId(), stage.attemptId()
        tasks = store.taskList(*number, stage.numTasks())
        for place in range(tasks.size()):
            metrics = tasks.apply(place).taskMetrics()
            if metrics.isDefined():
                most = max(most, metrics.get().shuffleReadMetrics().recordsRead())
    assert most
    return most


def _newest(spark):
    """The stages that Spark remembers, the latest first."""
    context = spark.sparkContext
    context._jsc.sc().listenerBus().waitUntilEmpty()
    gateway = context._gateway
    store = context._jsc.sc().statusStore()
    none = gateway.new_array(gateway.jvm.double, 0)
    found = store.stageList(None, False, False, none, gateway.jvm.java.util.ArrayList())
    return (found.apply(place) for place in range(found.size()))
