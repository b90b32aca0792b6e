"""How far Spark is, and that an interrupt ends its jobs, without a Spark."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from patience import wait_until

from sfumato.engines.spark.spark_session import watched

pytestmark = pytest.mark.slow


class Context:
    """A SparkContext with one job that has a stage of four tasks, and one that is done."""

    def __init__(self) -> None:
        self.properties: dict[str, str | None] = {"spark.jobGroup.id": "mine"}
        self.cancelled: list[str | None] = []
        self.groups: list[str | None] = []
        self.done = 1

    def getLocalProperty(self, name: str) -> str | None:
        return self.properties.get(name)

    def setLocalProperty(self, name: str, value: str | None) -> None:
        self.properties[name] = value

    def setJobGroup(self, group: str, description: str, interruptOnCancel: bool) -> None:
        assert interruptOnCancel
        assert description == "sfumato: read"
        self.properties["spark.jobGroup.id"] = group

    def cancelJobGroup(self, group: str) -> None:
        self.cancelled.append(group)

    def statusTracker(self) -> Any:
        stage = SimpleNamespace(numTasks=4, numCompletedTasks=self.done)
        jobs = {
            0: SimpleNamespace(status="SUCCEEDED", stageIds=[0]),
            1: SimpleNamespace(status="RUNNING", stageIds=[1, 2]),
        }
        return SimpleNamespace(
            getJobIdsForGroup=lambda group: list(jobs),
            getJobInfo=jobs.get,
            getStageInfo=lambda number: stage if number == 1 else None,
        )


def test_shares_of_the_tasks_that_are_done() -> None:
    context, told = Context(), []
    session: Any = SimpleNamespace(sparkContext=context)
    with watched(session, lambda *each: told.append(each), "read", 0.5, 1.0, jobs=2):
        wait_until(lambda: told)
    assert told == [("read", 0.5 + 0.5 * (1 + 1 / 4) / 2), ("read", 1.0)]
    assert context.properties["spark.jobGroup.id"] == "mine"


def interrupted(context: Context) -> None:
    session: Any = SimpleNamespace(sparkContext=context)
    with watched(session, lambda *_: None, "read"):
        context.groups.append(context.properties["spark.jobGroup.id"])
        raise KeyboardInterrupt


def test_an_interrupt_ends_the_jobs() -> None:
    context = Context()
    with pytest.raises(KeyboardInterrupt):
        interrupted(context)
    assert context.cancelled == context.groups
    assert context.properties["spark.jobGroup.id"] == "mine"
