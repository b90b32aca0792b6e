"""The ids of a source's records."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.errors import InputError
from sfumato.table.sources import positions


def check_ids(ids: pa.Array, column: str, subject: str) -> None:
    """Refuse ids that are missing or there twice.

    Parameters
    ----------
    ids
        Ids of a source's records, as text.
    column
        Their column.
    subject
        How errors call the source.

    Raises
    ------
    InputError
        If a record has no id, or two have the same one.
    """
    if ids.null_count:
        rows = pc.indices_nonzero(pc.is_null(ids))[:6].to_pylist()
        raise InputError(
            f"column '{column}' of {subject}",
            "must name every record",
            found=f"{ids.null_count:,} without an id, such as row "
            f"{positions([row + 1 for row in rows])}",
            advice="leave the id out to have the records numbered",
        )
    if pc.count_distinct(ids).as_py() == len(ids):
        return
    counts = pc.value_counts(ids)
    repeated = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
    rows = pc.indices_nonzero(pc.equal(ids, repeated[0]))[:6].to_pylist()
    raise InputError(
        f"column '{column}' of {subject}",
        "must name each record by another id",
        found=f"{len(repeated):,} ids more than once, such as in row "
        f"{positions([row + 1 for row in rows])}",
        advice="choose the column that numbers the records, or leave the id out to have them "
        "numbered",
    )
