"""Assess a file: from any dataframe or path to every measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sfumato.core.progress import Progress, silent
from sfumato.engines.embedded.counts import group
from sfumato.risk.household import household_risk
from sfumato.risk.measures import measure_classes
from sfumato.risk.presence import open_register, presence
from sfumato.risk.ranks import ranks_of
from sfumato.risk.reidentification import check_threshold
from sfumato.risk.result import Risk
from sfumato.risk.special_uniques import check_msu_size
from sfumato.risk.special_uniques import special_uniques as find_special_uniques
from sfumato.schema import Schema
from sfumato.table.door import open_table
from sfumato.table.table import Table


def assess(
    data: Any,
    schema: Schema,
    *,
    threshold: float = 0.2,
    ordered_distance: Sequence[str] = (),
    special_uniques: bool = False,
    msu_size: int = 3,
    register: Any = None,
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
    ordered_distance
        Sensitive attributes whose values are numbers and whose t-closeness is measured by
        ordered distance too.
    special_uniques
        Also look for persons who stand out by few quasi-identifiers, at the cost of counting
        every combination of up to ``msu_size`` of them.
    msu_size
        Most quasi-identifiers of such a combination.
    register
        The population that the file's persons come from, with the same quasi-identifiers and
        exact values, as a dataframe or the path of a file: for δ-presence.
    delimiter
        The separator of a CSV file; found by itself when not given.
    progress
        Told how far each stage is: "read", then "measure".

    Raises
    ------
    InputError
        If the data does not fit the schema, or a parameter is out of range.
    """
    check_threshold(threshold)
    check_msu_size(msu_size)
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
        ranks=ranks_of(table, ordered_distance),
        warnings=table.warnings,
    )
    if table.household is not None:
        found = household_risk(class_of, table.person, table.household, risk.summary, threshold)
        risk = replace(risk, household=found)
    if register is not None:
        progress("measure", 0.5)
        risk = _with_presence(risk, table, register)
    if special_uniques:
        columns = {column.name: column.codes for column in table.quasi_identifiers}
        unique = find_special_uniques(columns, table.person, class_of, msu_size)
        risk = replace(risk, special_uniques=unique)
    progress("measure", 1.0)
    return risk


def _with_presence(risk: Risk, table: Table, register: Any) -> Risk:
    """Add the δ-presence, and say where the register cannot be the file's population."""
    found = presence(table, open_register(register, table.schema))
    said = risk.warnings
    if found.strangers:
        warning = (
            f"{found.strangers:,} persons of the file have no counterpart of their own in the "
            "register: it is not the whole population of the file, or its values are written "
            "differently; presence is taken as 1 where the file has more persons."
        )
        said = (*said, warning)
    return replace(risk, presence=found, warnings=said)
