"""Read from Spark what a result is computed on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sfumato.engines.spark.ran import Ran
from sfumato.engines.spark.session import said_plainly

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_MASTERS = re.compile(r"local\[[^\]]*\]|local-cluster|local|spark|yarn|k8s")


def what_ran(frame: DataFrame) -> Ran:
    """What a DataFrame is computed on.

    Parameters
    ----------
    frame
        The DataFrame.
    """
    session: SparkSession = frame.sparkSession
    context = session.sparkContext
    master = _MASTERS.match(str(context.master))
    with said_plainly("say what it runs on"):
        executors = len(context.statusTracker().getExecutorInfos() or ())
        return Ran(
            engine="spark",
            version=str(context.version),
            master=master.group() if master else "other",
            executors=max(executors - 1, 1),
            cores=int(context.defaultParallelism),
            partitions=frame.rdd.getNumPartitions(),
        )
