"""A project from the folder that ``sfumato link`` wrote."""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.errors import InputError
from sfumato.review.attributes import Attribute
from sfumato.review.project.find_records import NAMED, find_pairs
from sfumato.review.project.gold import with_gold
from sfumato.review.project.kinds import proposed_attributes
from sfumato.review.project.linkage_folder import (
    IDENTIFYING,
    PAIRS,
    kinds_in,
    named_pairs,
    read_manifest,
    read_parquet,
    weights_in,
)
from sfumato.review.project.project import ID, LEFT, PAIR, RIGHT, SOURCE, Project
from sfumato.review.project.read_table import read_text_table
from sfumato.review.settings import Settings


class Which(StrEnum):
    """Which pairs of a linkage are reviewed."""

    POSSIBLE = "possible matches"
    CHECKS = "pairs drawn for checks"


_FILES = {Which.POSSIBLE: "review.parquet", Which.CHECKS: "checks.parquet"}


def from_linkage(
    folder: str | os.PathLike[str],
    rng: np.random.Generator,
    *,
    settings: Settings | None = None,
    attributes: Sequence[Attribute] | None = None,
    which: Which = Which.POSSIBLE,
    gold: object = None,
) -> Project:
    """A project of a linkage's doubtful pairs, over all records that were linked.

    The pairs come in a random order, as that of the linkage tells of their scores.

    Parameters
    ----------
    folder
        The linkage's folder.
    rng
        Source of randomness for the order.
    settings
        The rules; the defaults where not given.
    attributes
        What a worker may see; proposed from the linkage's specification where not given.
    which
        Which pairs.
    gold
        Pairs of known truth, a file or a dataframe: source_l, id_l, source_r, id_r, same.

    Raises
    ------
    InputError
        If the folder is none of a linkage of clear tables, there are no such pairs, or an
        attribute or a record is unknown.
    """
    place = Path(folder)
    manifest = read_manifest(place)
    records = _records(place)
    if attributes is None:
        names = tuple(records.column_names[2:])
        attributes = proposed_attributes(records, names, *kinds_in(place, names))
    pairs = _pairs(place, records, which)
    same: dict[str, bool] = {}
    if gold is not None:
        table = read_text_table(gold, "the gold pairs")
        pairs, same = with_gold(records, pairs, table, _near(place, records, table))
    for each in attributes:
        if each.name not in records.column_names:
            raise InputError(
                f"attribute '{each.name}'", "must be among the linkage's", found="none of that name"
            )
    return Project(
        attributes=tuple(attributes),
        settings=settings or Settings(),
        records=records.select([SOURCE, ID, *(each.name for each in attributes)]),
        pairs=pairs.take(pa.array(rng.permutation(len(pairs)))),
        gold=same,
        weights=weights_in(manifest),
        prior=_prior(manifest["model"].get("prior")),
        fingerprints={
            str(name): str(each.get("sha256", ""))
            for name, each in manifest.get("sources", {}).items()
            if isinstance(each, dict)
        },
    )


def _records(place: Path) -> pa.Table:
    path = place / IDENTIFYING
    if not path.is_file():
        raise InputError(
            f"folder {place.name or place}",
            f"must hold {IDENTIFYING}",
            found="none",
            advice="link again with this version of sfumato",
        )
    table = read_parquet(path)
    if table.column_names[:2] != [SOURCE, ID]:
        raise InputError(f"file {IDENTIFYING}", "must be one that sfumato link wrote")
    return table.cast(pa.schema([(name, pa.large_string()) for name in table.column_names]))


def _pairs(place: Path, records: pa.Table, which: Which) -> pa.Table:
    path = place / _FILES[which]
    if which is Which.CHECKS and not path.is_file():
        raise InputError(
            f"folder {place.name or place}",
            "must hold pairs that were drawn for checks",
            found="none",
            advice="link with --check-half-width",
        )
    named = named_pairs(place, read_parquet(path, [PAIR])[PAIR])
    left, right = find_pairs(records, named, f"file {PAIRS}")
    return pa.table({PAIR: named[PAIR].cast(pa.string()), LEFT: left, RIGHT: right})


def _near(place: Path, records: pa.Table, gold: pa.Table) -> pa.Table | None:
    """Those of the linkage's pairs that can be among the gold ones."""
    if not set(NAMED) <= set(gold.column_names):
        return None
    table = read_parquet(place / PAIRS, [PAIR, *NAMED])
    ids = pa.concat_arrays(
        [gold[name].cast(pa.large_string()).combine_chunks() for name in ("id_l", "id_r")]
    )
    here = [pc.is_in(table[name].cast(pa.large_string()), ids) for name in ("id_l", "id_r")]
    table = table.filter(pc.and_(*here))
    left, right = find_pairs(records, table, f"file {PAIRS}")
    return pa.table({PAIR: table[PAIR].cast(pa.string()), LEFT: left, RIGHT: right})


def _prior(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None
