"""One assessment or release in a process of its own, on Spark or on the embedded engine.

Usage: spark_job.py ENGINE assess|anonymize DATA OUTPUT    (ENGINE: embedded, or a Spark master)
"""

from __future__ import annotations

import json
import os
import sys
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from spark_watch import READY
from visits import SCHEMA

import sfumato as sf

PROMISES = (sf.GBalance(0.5), sf.HAffiliation(0.5))
KEY = b"pseudonyms that both engines give"
EMBEDDED = "embedded"
DRIVER_MEMORY = "1g"
SETTINGS = {
    "spark.driver.memory": DRIVER_MEMORY,
    "spark.log.level": "OFF",
    "spark.sql.ui.retainedExecutions": "1",
    "spark.ui.enabled": "true",
    "spark.ui.port": "0",
    "spark.ui.retainedJobs": "100000",
    "spark.ui.retainedStages": "100000",
    "spark.ui.showConsoleProgress": "false",
}
SUMS = {
    "read_records": "inputRecords",
    "shuffle_bytes": "shuffleWriteBytes",
    "shuffle_records": "shuffleWriteRecords",
    "spilled_bytes": "diskBytesSpilled",
    "driver_bytes": "resultSize",
    "tasks": "numCompleteTasks",
    "failed_tasks": "numFailedTasks",
}
"""What is added up over stages, and how Spark's status calls it."""


def main(engine: str, verb: str, data: str, output: str) -> None:
    """Do the work between two lines on the standard output, the second of which tells of it."""
    folder = Path(output)
    folder.mkdir(parents=True)
    session = None if engine == EMBEDDED else _session(engine, folder)
    print(READY, flush=True)
    source = pq.read_table(data) if session is None else session.read.parquet(data)
    measured = _assess(source) if verb == "assess" else _anonymize(source, folder)
    told = {"measures": measured, "spark": {} if session is None else _status(session)}
    (folder / "told.json").write_text(json.dumps(told), encoding="utf-8")
    print(json.dumps(told["spark"]), flush=True)
    if session is not None:
        session.stop()


def _assess(source: Any) -> Mapping[str, Any]:
    return sf.assess(source, SCHEMA).to_json()


def _anonymize(source: Any, folder: Path) -> Mapping[str, Any]:
    release = sf.anonymize(source, SCHEMA, *PROMISES, effort=0, pseudonym_key=KEY, seed=1)
    return release.write(folder / "released.parquet").to_json()


def _session(master: str, folder: Path) -> Any:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(master).appName("bench")
    places = {
        "spark.checkpoint.dir": folder / "checkpoint",
        "spark.local.dir": folder / "local",
        "spark.sql.warehouse.dir": folder / "warehouse",
    }
    for name, value in {**SETTINGS, **places}.items():
        builder = builder.config(name, str(value))
    session = builder.getOrCreate()
    session.range(1000).mapInArrow(lambda batches: batches, "id long").count()
    return session


def _status(session: Any) -> dict[str, int]:
    """Sums over all stages of the session, from its status."""
    context = session.sparkContext
    where = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}"

    def read(what: str) -> list[dict[str, Any]]:
        with urllib.request.urlopen(f"{where}/{what}") as answer:  # noqa: S310
            found: list[dict[str, Any]] = json.load(answer)
            return found

    done = [stage for stage in read("stages") if stage["status"] == "COMPLETE"]
    sums = {name: sum(stage[key] for stage in done) for name, key in SUMS.items()}
    return {
        **sums,
        "jobs": len(read("jobs")),
        "stages": len(done),
        "largest_stage_shuffle": max((stage["shuffleWriteBytes"] for stage in done), default=0),
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
