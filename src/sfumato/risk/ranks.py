"""Ranks of sensitive values, where distances by order are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from sfumato.core.errors import InputError
from sfumato.table.scalars import number_ranks
from sfumato.table.table import Codes, LabelDomain, Table

if TYPE_CHECKING:
    from sfumato.engines.spark.table import SparkTable


def ranks_of(table: Table | SparkTable, names: Iterable[str]) -> Mapping[str, Codes]:
    """Rank of each value of the named sensitive attributes, as numbers.

    Parameters
    ----------
    table
        The encoded records.
    names
        The attributes.

    Raises
    ------
    InputError
        If one is not a sensitive attribute, or not all of its values are numbers.
    """
    columns = {column.name: column for column in table.sensitive}
    found = {}
    for name in names:
        if name not in columns:
            raise InputError(
                "parameter ordered_distance",
                "must name sensitive attributes of the schema",
                accepted=", ".join(columns) or "none: the schema has no sensitive attribute",
            )
        domain = columns[name].domain
        ranks = number_ranks(domain.labels) if isinstance(domain, LabelDomain) else None
        if ranks is None:
            raise InputError(
                f"column '{name}'",
                "must hold numbers only to be compared by ordered distance",
                found="other values",
                advice="use the equal distance, or name texts that mean a missing value in "
                "the schema's 'missing'",
            )
        found[name] = ranks
    return found
