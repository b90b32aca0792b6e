"""The neutral file for clerical review: what people need to tell two records apart or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.linkage.outcomes.thresholds import POSSIBLE_MATCH, Codes
from sfumato.linkage.pairs.table import pair_ids
from sfumato.linkage.sources.open import RECORD, Opened
from sfumato.linkage.values import Ints, Pairs
from sfumato.table.schema_guess import named, words_of

MISSING = "missing"
"""How the level of a comparison with a missing value is called."""
_FREE_TEXT = "note notes comment comments remark remarks narrative freetext letter"


def to_review(outcome: Codes) -> Ints:
    """Numbers of the possible matches.

    Parameters
    ----------
    outcome
        Code of each pair's outcome.
    """
    number: Ints = np.flatnonzero(outcome == POSSIBLE_MATCH)
    return number


def most_doubtful_first(review: pa.Table) -> pa.Table:
    """The same pairs, those whose score is nearest to 1/2 first.

    Parameters
    ----------
    review
        Pairs for review.
    """
    away = np.abs(np.asarray(review["score"]) - 0.5)
    return review.take(pa.array(np.argsort(away, kind="stable")))


def review_table(
    opened: Opened,
    pairs: Pairs,
    number: Ints,
    labels: Mapping[tuple[str, int], str],
    rules: Sequence[str],
) -> pa.Table:
    """Some pairs, each with both records' identifying attributes as they were given.

    Of each comparison there is the level that the pair is in. Free text, and the sensitive and
    other attributes of the analytic half, are never opened.

    Parameters
    ----------
    opened
        The tables; only their identifying halves are read.
    pairs
        The candidate pairs.
    number
        Numbers of the pairs, in the order wanted.
    labels
        What each comparison level means, by comparison and number.
    rules
        The blocking rules, in words.
    """
    columns: dict[str, pa.Array] = {
        "pair": pair_ids(number),
        "score": pa.array(pairs.score[number]),
        "block": pa.array(rules, pa.string()).take(pa.array(pairs.block[number])),
    }
    sides = {"l": pairs.left[number], "r": pairs.right[number]}
    sources = pa.array(opened.records.sources, pa.string())
    for side, record in sides.items():
        of = opened.records.source_of(record)
        columns[f"source_{side}"] = sources.take(pa.array(of))
    shown = {side: _shown(opened, record) for side, record in sides.items()}
    for name in shown["l"].column_names:
        for side in sides:
            columns[_free(f"{name}_{side}", columns)] = shown[side][name]
    for name, level in pairs.levels.items():
        columns[_free(f"{name}_level", columns)] = _words(level[number], name, labels)
    return pa.table(columns)


def _free(name: str, columns: Mapping[str, object]) -> str:
    while name in columns:
        name += "_"
    return name


def _words(level: np.ndarray, name: str, labels: Mapping[tuple[str, int], str]) -> pa.Array:
    top = max((number for own, number in labels if own == name), default=-1)
    words = [MISSING, *(labels.get((name, number), str(number)) for number in range(top + 1))]
    return pa.array(words).take(pa.array(level.astype(np.int64) + 1))


def _shown(opened: Opened, record: Ints) -> pa.Table:
    """The identifying attributes of some records."""
    wanted = np.unique(record)
    parts = []
    for place, half in enumerate(opened.identifying):
        start, stop = opened.records.starts[place : place + 2]
        own = wanted[(wanted >= start) & (wanted < stop)]
        parts.append(_taken(half, own - start))
    whole = pa.concat_tables(parts, promote_options="permissive")
    return whole.take(pa.array(np.searchsorted(wanted, record)))


def _taken(half: Path, rows: Ints) -> pa.Table:
    with pq.ParquetFile(half) as file:
        names = [name for name in file.schema_arrow.names if may_be_shown(name)]
        parts, first = [], 0
        for batch in file.iter_batches(columns=names):
            own = rows[(rows >= first) & (rows < first + batch.num_rows)] - first
            parts.append(batch.take(pa.array(own)))
            first += batch.num_rows
        table = pa.Table.from_batches(parts)
    return table.cast(pa.schema([(name, pa.large_string()) for name in table.column_names]))


def may_be_shown(name: str) -> bool:
    """Whether a column of an identifying half is for people's eyes: no number of ours, no text.

    Parameters
    ----------
    name
        Its name.
    """
    return name != RECORD and not named(words_of(name), _FREE_TEXT)
