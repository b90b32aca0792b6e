"""Assess a file: from any dataframe or path to every measure."""

from __future__ import annotations

from typing import Any

from sfumato.core.progress import Progress, silent
from sfumato.engines.embedded.counts import group
from sfumato.risk.measures import measure_classes
from sfumato.risk.reidentification import check_threshold
from sfumato.risk.result import Risk
from sfumato.schema import Schema
from sfumato.table.door import open_table


def assess(
    data: Any,
    schema: Schema,
    *,
    threshold: float = 0.2,
    delimiter: str | None = None,
    progress: Progress = silent,
) -> Risk:
    """Measure what a file gives away: identity and sensitive values, by records and persons.

    Parameters
    ----------
    data
        A dataframe, the path of a CSV or Parquet file, or a `Table` that is open already.
    schema
        What each column is.
    threshold
        Risk above which a record counts as at risk, in (0, 1].
    delimiter
        The separator of a CSV file; found by itself when not given.
    progress
        Told how far each stage is: "read", then "measure".

    Raises
    ------
    InputError
        If the data does not fit the schema, or the threshold is outside (0, 1].
    """
    check_threshold(threshold)
    table = open_table(data, schema, delimiter=delimiter, keep_source=False, progress=progress)
    progress("measure", 0.0)
    class_of, classes = group(
        [column.codes for column in table.quasi_identifiers],
        [column.domain.size for column in table.quasi_identifiers],
    )
    risk = measure_classes(
        class_of,
        classes,
        table.person,
        {column.name: column.codes for column in table.sensitive},
        threshold=threshold,
        warnings=table.warnings,
    )
    progress("measure", 1.0)
    return risk
