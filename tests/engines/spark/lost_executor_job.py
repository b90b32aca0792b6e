"""Release a file on a local cluster, and kill one of its executors meanwhile.

Run by test_lost_executor.py in a process of its own: lost_executor_job.py FOLDER. The embedded
engine does the same work in the same process, because what the tree needs is set here for both.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pyarrow.parquet as pq
import pyspark
from pyspark.sql import SparkSession

from sfumato.release import partitioning

partitioning.SUBTREE_PERSONS = 1_000
"""Before anything else is imported: some thousand persons make upper levels as well."""

import sfumato as sf  # noqa: E402

SCHEMA = sf.Schema(
    person="patient",
    quasi_identifiers={"age": "numeric", "zip": "numeric", "sex": "categorical"},
    sensitive=["icd9"],
)
KEY = b"pseudonyms that both engines give"
PROMISES = (sf.GBalance(0.5), sf.HAffiliation(0.5))
PAUSE = 0.15
"""Seconds between two looks at what executors do."""
EARLY = 45
"""Tasks after which the executor is lost, about half of all."""


class Cluster:
    """A driver and two executors, each a process with one task at a time."""

    def __init__(self, folder: Path) -> None:
        builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("lost")
        settings = {
            "spark.checkpoint.dir": folder / "checkpoint",
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "spark.driver.memory": "512m",
            "spark.local.dir": folder / "local",
            "spark.log.level": "OFF",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.files.maxPartitionBytes": "64k",
            "spark.sql.files.openCostInBytes": "16k",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.warehouse.dir": folder / "warehouse",
            "spark.ui.enabled": "true",
            "spark.ui.liveUpdate.period": "0",
            "spark.ui.port": "0",
            "spark.ui.retainedStages": "100000",
            "spark.ui.showConsoleProgress": "false",
        }
        for name, value in settings.items():
            builder = builder.config(name, str(value))
        self.session = builder.getOrCreate()
        context = self.session.sparkContext
        self._where = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}"

    def status(self, what: str) -> list[dict[str, Any]]:
        """What Spark says of its stages or executors."""
        with urllib.request.urlopen(f"{self._where}/{what}") as answer:
            found: list[dict[str, Any]] = json.load(answer)
            return found

    def executors(self) -> dict[str, dict[str, Any]]:
        """All executors, lost ones included, by their ids."""
        found = self.status("allexecutors")
        return {each["id"]: each for each in found if each["id"] != "driver"}

    def stages(self) -> list[dict[str, Any]]:
        """The stages that were run, each as often as it was begun."""
        return [each for each in self.status("stages") if each["status"] != "SKIPPED"]

    def tasks(self) -> int:
        """Tasks that were started, whatever became of them."""
        return sum(each["totalTasks"] for each in self.executors().values())

    def kill_one(self, after: int, over: Event) -> str | None:
        """Kill an executor in the middle of a task, once so many tasks were started."""
        while not over.wait(PAUSE):
            executors = self.executors()
            if sum(each["totalTasks"] for each in executors.values()) < after:
                continue
            for number, each in executors.items():
                if each["isActive"] and each["activeTasks"]:
                    os.kill(process_of(number), signal.SIGKILL)
                    return number
        return None


def process_of(executor: str) -> int:
    """The process of an executor of this cluster, among the children of our own."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            ours = f"SFUMATO_TEST={os.environ['SFUMATO_TEST']}".encode()
            if ours not in (folder / "environ").read_bytes().split(b"\0"):
                continue
        except OSError:
            continue
        if b"--executor-id" in words and words[words.index(b"--executor-id") + 1] == (
            executor.encode()
        ):
            return int(folder.name)
    raise LookupError(executor)


def with_a_loss(cluster: Cluster, work: Callable[[], Any]) -> dict[str, Any]:
    """Do the work while an executor is lost; what came of it, and how many tasks that took."""
    over, lost = Event(), []
    killer = Thread(target=lambda: lost.append(cluster.kill_one(EARLY, over)))
    killer.start()
    found = work()
    over.set()
    killer.join()
    while cluster.executors()[lost[0]]["isActive"]:
        time.sleep(PAUSE)
    victim = cluster.executors()[lost[0]]
    return {
        "found": found,
        "tasks": sum(each["numTasks"] for each in cluster.stages() if not each["attemptId"]),
        "tasks with a loss": cluster.tasks(),
        "tasks of the lost": victim["totalTasks"],
        "still there": victim["isActive"],
    }


def released(visits: Any, folder: Path) -> dict[str, Any]:
    """The measures of a file and of its release, and where this is."""
    options = {"effort": 0, "ends": "tight", "pseudonym_key": KEY, "seed": 1}
    release = sf.anonymize(visits, SCHEMA, *PROMISES, **options)
    folder.mkdir()
    path = folder / "released.parquet"
    return release.write(path).to_json() | {"written": str(path)}


def main(folder: Path) -> None:
    """Write what came of it to ``found.json``."""
    home = folder / "spark"
    home.mkdir()
    for name in ("bin", "jars"):
        (home / name).symlink_to(Path(pyspark.__file__).with_name(name))
    os.environ |= {"SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable}
    os.environ["SFUMATO_TEST"] = str(folder)
    cluster = Cluster(folder)
    visits = cluster.session.read.parquet(str(folder / "visits"))
    found = with_a_loss(cluster, lambda: released(visits, folder / "disturbed"))
    found["embedded"] = released(pq.read_table(folder / "visits"), folder / "embedded")
    (folder / "found.json").write_text(json.dumps(found), encoding="utf-8")
    cluster.session.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
