"""Pairs of known truth, from a table of them, among the pairs of a project."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sfumato.core.errors import InputError
from sfumato.review.project.find_records import find_pairs
from sfumato.review.project.project import ADDED, LEFT, PAIR, RIGHT

SAME = "same"
"""The column that says whether the two records are one person's."""
_TRUE, _FALSE = {"true", "1", "yes"}, {"false", "0", "no"}


def with_gold(
    records: pa.Table, pairs: pa.Table, gold: pa.Table, known: pa.Table | None = None
) -> tuple[pa.Table, dict[str, bool]]:
    """The pairs with those of known truth behind them, and the truth by id.

    A gold pair that is one of the pairs keeps its id; the id of another one is that of the
    linkage, where it knows the pair, and else one that it does not have.

    Parameters
    ----------
    records
        All records.
    pairs
        The pairs: pair, left, right.
    gold
        The gold pairs: source_l, id_l, source_r, id_r, same.
    known
        All pairs of the linkage: pair, left, right.

    Raises
    ------
    InputError
        If a column is missing, a record is unknown, or a truth is none.
    """
    subject = "the gold pairs"
    left, right = find_pairs(records, gold, subject)
    truth = _truths(gold, subject)
    ids = _by_records(pairs) if known is None else {**_by_records(known), **_by_records(pairs)}
    there = set(pairs[PAIR].to_pylist())
    added: dict[str, tuple[int, int]] = {}
    same: dict[str, bool] = {}
    for row, (one, two) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        pair = ids.setdefault((min(one, two), max(one, two)), f"{ADDED}{row + 1}")
        if same.setdefault(pair, truth[row]) is not truth[row]:
            raise InputError(
                subject, "must have one truth each", found=f"another one in row {row + 1}"
            )
        if pair not in there:
            added[pair] = (one, two)
    numbers = np.array(list(added.values()), dtype=np.int64).reshape(-1, 2)
    more = pa.table({PAIR: pa.array(added, pa.string()), LEFT: numbers[:, 0], RIGHT: numbers[:, 1]})
    return pa.concat_tables([pairs, more]), same


def _truths(gold: pa.Table, subject: str) -> list[bool]:
    if SAME not in gold.column_names:
        raise InputError(subject, f"must have one column '{SAME}'", found="none")
    truths = []
    for row, value in enumerate(gold[SAME].to_pylist()):
        word = str(value).strip().lower()
        if word not in _TRUE | _FALSE:
            raise InputError(
                f"column '{SAME}'",
                "must say whether two records are one person's",
                found=f"another value in row {row + 1}",
                accepted="true or false",
            )
        truths.append(word in _TRUE)
    return truths


def _by_records(pairs: pa.Table) -> dict[tuple[int, int], str]:
    left, right = np.asarray(pairs[LEFT]), np.asarray(pairs[RIGHT])
    low, high = np.minimum(left, right).tolist(), np.maximum(left, right).tolist()
    return dict(zip(zip(low, high, strict=True), pairs[PAIR].to_pylist(), strict=True))
