"""An executor that dies in the middle of the work changes nothing and costs its own share."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import missing
from oracles.both_engines import check_values
from patience import PATIENCE

pytestmark = pytest.mark.slow

JOB = Path(__file__).with_name("lost_executor_job.py")
PERSONS, RECORDS = 1_800, 7_200
OF_ONE_ENGINE = ("columns", "manifest", "positions", "ran", "verdict", "warnings", "written")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What the embedded engine gives, and what the cluster gave with an executor lost."""
    if shutil.which("java") is None:
        missing("no Java; install Debian's default-jre-headless")
    if not Path("/proc/self/cmdline").exists():
        missing("no /proc, where executors are found by their process")
    pytest.importorskip("pyspark")
    folder = tmp_path_factory.mktemp("lost")
    pq.write_to_dataset(visits(), folder / "visits", max_rows_per_group=1_800)
    environment = {name: value for name, value in os.environ.items() if "SPARK" not in name}
    done = subprocess.run(
        [sys.executable, JOB, folder],
        env=environment,
        timeout=PATIENCE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads((folder / "found.json").read_text(encoding="utf-8"))


def visits():
    """Visits of patients whose age grows; the last patient has a tenth of them."""
    rng = np.random.default_rng(5)
    owner = rng.integers(0, PERSONS, RECORDS)
    owner[: RECORDS // 10] = PERSONS - 1
    return pa.table(
        {
            "patient": [f"P{number}" for number in owner],
            "age": rng.integers(0, 90, PERSONS)[owner] + rng.integers(0, 3, RECORDS),
            "zip": rng.integers(1000, 1900, PERSONS)[owner],
            "sex": np.array(["F", "M"])[rng.integers(0, 2, PERSONS)][owner],
            "icd9": [f"D{number}" for number in rng.integers(0, 40, RECORDS)],
        }
    )


def test_the_release_is_that_of_one_machine(found):
    alone, there = found["embedded"], found["found"]
    check_values(measures(alone), measures(there))
    assert rows(alone["written"]) == rows(there["written"])


def test_only_tasks_of_the_lost_executor_are_repeated(found):
    """None is where the task that was seen had ended when the executor was killed."""
    assert not found["still there"]
    repeated = found["tasks with a loss"] - found["tasks"]
    assert 0 <= repeated <= found["tasks of the lost"] < found["tasks"]


def measures(result):
    """A result without what one engine alone knows."""
    kept = {name: value for name, value in result.items() if name not in OF_ONE_ENGINE}
    return kept | ({"before": measures(kept["before"])} if "before" in kept else {})


def rows(path):
    """The rows of a release as texts, sorted."""
    table = pq.read_table(path)
    columns = [table.column(name).cast(pa.string()).to_pylist() for name in table.column_names]
    return sorted(zip(*columns, strict=True), key=repr)
