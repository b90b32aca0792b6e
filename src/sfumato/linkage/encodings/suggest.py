"""An encoding for a table: bits by how much each column says."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.errors import InputError
from sfumato.linkage.encodings.spec import EncodingSpec, FieldEncoding
from sfumato.linkage.spec.kinds import ColumnKind

FEWEST_BITS = 10
ROUND_TO = 5
"""Bits are rounded, so that an encoding tells little about the data it was proposed from."""
FEW_VALUES = 16
"""Columns with fewer different values than this are compared as equal or not."""


def suggest_encoding(
    table: pa.Table,
    columns: Sequence[str],
    *,
    length: int = 1024,
    folds: int = 0,
    salt: str = "",
    fill: float = 0.5,
    kinds: Mapping[str, ColumnKind] | None = None,
) -> EncodingSpec:
    """Propose an encoding: runs by kind of column, bits in proportion to its information.

    A column's information is the entropy of its values, -Σ p log2 p, missing values adding
    nothing: -(1 - p_missing) Σ p log2 p. Durham et al. (2014, "Composite Bloom Filters for
    Secure Record Linkage", IEEE TKDE 26(12)) weigh fields for a composite filter likewise, by
    what agreement in them says. Columns are cut into bigrams, those of digits at their places
    (pairs of digits agree by chance less often than single ones), and those with few values are
    compared whole.

    Parameters
    ----------
    table
        Standardised values like those to be encoded: one owner's, or made-up ones. All owners
        must use the one specification that comes out.
    columns
        Which columns go in.
    length, folds, salt
        As in `EncodingSpec`.
    fill
        Share of the bits before folding that a record without missing values is to set, in
        (0, 1). Fewer make blocking on encodings cheaper; half of them hide single tokens best
        among the others.
    kinds
        What columns hold, by which every owner standardises them.

    Raises
    ------
    InputError
        If ``fill`` is out of range, or a column is missing or says nothing: it is empty, or
        holds one value only.
    """
    if not 0 < fill < 1:
        raise InputError("parameter fill", "must be above 0 and below 1", found=f"{fill}")
    said = {name: _information(table, name) for name in columns}
    total = sum(said.values())
    # B bits thrown into l places leave a share exp(-B / l) of them empty.
    insertions = -math.log(1 - fill) * (length << folds)
    fields = []
    for name in columns:
        bits = round(insertions * said[name] / total / ROUND_TO) * ROUND_TO
        comparison, n, positional = _kind(table[name])
        fields.append(
            FieldEncoding(
                column=name,
                comparison=comparison,
                n=n,
                positional=positional,
                bits=max(FEWEST_BITS, bits),
                kind=(kinds or {}).get(name),
            )
        )
    return EncodingSpec(fields=tuple(fields), length=length, folds=folds, salt=salt)


def _information(table: pa.Table, name: str) -> float:
    """Bits that a value of the column says on average."""
    if name not in table.column_names:
        raise InputError(f"column {name!r}", "must be in the table")
    column = _known(table[name])
    counts = pc.value_counts(column).field("counts").to_numpy()
    if len(counts) < 2:
        raise InputError(
            f"column {name!r}",
            "must hold different values to be encoded",
            found="nothing" if not len(counts) else "one value only",
            advice="leave it out",
        )
    share = counts / counts.sum()
    return float(-np.sum(share * np.log2(share)) * len(column) / len(table))


def _known(column: pa.ChunkedArray) -> pa.Array:
    text = column.cast(pa.string()).combine_chunks()
    return text.filter(pc.greater(pc.utf8_length(text), 0))


def _kind(column: pa.ChunkedArray) -> tuple[str, int, bool]:
    """Comparison, length of the runs and whether they are positional."""
    values = _known(column)
    if len(values.unique()) < FEW_VALUES:
        return "exact", 1, False
    digits = pc.mean(pc.match_substring_regex(values, r"^[0-9][0-9 /.-]*$")).as_py()
    return "ngram", 2, bool(digits > 0.9)
