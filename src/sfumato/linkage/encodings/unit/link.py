"""Link encodings: from what owners encoded at home to pairs and persons."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path

import numpy as np

from sfumato.core.errors import InputError
from sfumato.core.shared_options import Progress, silent
from sfumato.linkage.encodings.encoded import Encoded, check_comparable
from sfumato.linkage.encodings.file import is_encoded, read_encoded
from sfumato.linkage.encodings.unit.linkage import Matched
from sfumato.linkage.encodings.unit.links import EncodedLinks
from sfumato.linkage.encodings.unit.matching import Matching
from sfumato.linkage.encodings.unit.score import score_pairs
from sfumato.linkage.linked.attached import attach
from sfumato.linkage.linked.declare import declare
from sfumato.linkage.linked.person_ids import name_persons
from sfumato.linkage.linked.schema import LinkedSchema
from sfumato.linkage.linked.stack import Analytic, sources_alone
from sfumato.linkage.manifest import ENCODINGS, LinkManifest, hash_of, versions
from sfumato.linkage.settle import settle
from sfumato.linkage.spec.model import Mode
from sfumato.linkage.values import Pairs, Records
from sfumato.schema import Schema

IDS, MATCHING = 0, 4
"""The streams of the seed that the persons' ids, and samples of encodings, come from."""


def all_encoded(tables: Mapping[str, object]) -> bool:
    """Whether the tables are encodings, by what they hold and not by their names.

    Parameters
    ----------
    tables
        The tables by name.

    Raises
    ------
    InputError
        If some are and others are not.
    """
    encoded = [name for name, each in tables.items() if is_encoded(each)]
    clear = [name for name in tables if name not in encoded]
    if encoded and clear:
        raise InputError(
            "the tables",
            "must all be encodings, or none of them",
            found=f"encodings in {', '.join(encoded)}; a clear table in {', '.join(clear)}",
            advice="encode the others with the same key and specification: sfumato link encode",
        )
    return bool(encoded)


def link_encodings(
    tables: Mapping[str, object],
    matching: Matching,
    *,
    schema: Schema | None = None,
    attach_tables: Mapping[str, object] | None = None,
    pseudonym_key: bytes | None = None,
    seed: int,
    progress: Progress = silent,
) -> EncodedLinks:
    """Link encodings of several owners without a key and without a value.

    Parameters
    ----------
    tables
        Name of each source and its encodings, or their file.
    matching
        How they are matched.
    schema
        What the columns of attached tables are.
    attach_tables
        By source: a table with any number of rows per record whose columns go into the linked
        file. Without any the linked file has persons and sources only.
    pseudonym_key
        Secret for ids that are the same in every run; random ones without it.
    seed
        Seed of the persons' ids, the linked file's order, and of samples.
    progress
        Told how far the work is.

    Raises
    ------
    InputError
        If a file cannot be read, encodings cannot be compared, there are too few to find out what
        similarity matches have, or a table cannot be attached.
    """
    sources = _read(tables, matching.mode)
    records = Records(tuple(sources), tuple(each.ids for each in sources.values()))
    rng = np.random.default_rng([seed, MATCHING])
    matched = tuple(_matched(sources, matching, rng, progress))
    pairs = _together(matched, records)
    settled = settle(records, pairs, matching, lost=sum(each.pairs.lost for each in matched))
    progress("persons", 0.5)
    analytic, declared = _analytic(records, matching, attach_tables or {}, schema)
    ids = name_persons(
        records,
        settled.persons.person,
        np.random.default_rng([seed, IDS]),
        key=pseudonym_key,
    )
    progress("persons", 1.0)
    return EncodedLinks(
        records=records,
        pairs=pairs,
        settled=settled,
        person_ids=ids,
        analytic=analytic,
        linked_schema=declared,
        matching=matching,
        matched=matched,
        manifest=LinkManifest(
            seed=seed,
            keyed=pseudonym_key is not None,
            thresholds=settled.thresholds,
            sources={
                name: {"records": len(each), "sha256": hash_of(tables[name])}
                for name, each in sources.items()
            },
            attached={name: hash_of(table) for name, table in (attach_tables or {}).items()},
            quasi_identifiers={},
            model={ENCODINGS: _model(sources, matching), "matched": [m.to_dict() for m in matched]},
            versions=versions(),
        ),
    )


def _read(tables: Mapping[str, object], mode: Mode) -> dict[str, Encoded]:
    """The encodings, comparable with each other."""
    one = mode is Mode.DEDUPE_ONLY
    if (len(tables) != 1) if one else (len(tables) < 2):
        raise InputError(
            "the encodings",
            "must be one source" if one else "must be two sources at least",
            found=f"{len(tables)}",
            advice="" if one else "look for double records of one table before it is encoded",
        )
    sources: dict[str, Encoded] = {}
    for name, table in tables.items():
        sources[name] = _one(table, name)
        first = next(iter(sources))
        check_comparable(sources[first], sources[name], f"the encodings of {first} and {name}")
    return sources


def _one(table: object, name: str) -> Encoded:
    if isinstance(table, Encoded):
        return table
    if isinstance(table, (str, os.PathLike)):
        return read_encoded(Path(os.fsdecode(table)))
    raise InputError(f"source {name}", "must be encodings", found=type(table).__name__)


def _matched(
    sources: Mapping[str, Encoded],
    matching: Matching,
    rng: np.random.Generator,
    progress: Progress,
) -> Iterator[Matched]:
    """The pairs of each two sources, and within each where that is asked."""
    compared = [] if matching.mode is Mode.DEDUPE_ONLY else list(combinations(sources, 2))
    if matching.mode is not Mode.LINK_ONLY:
        compared += [(name, name) for name in sources if name not in matching.one_per_source]
    for place, (one, other) in enumerate(compared):
        single = one != other and {one, other} <= set(matching.one_per_source)

        def tell(stage: str, share: float, done: int = place) -> None:
            progress(stage, (done + share) / len(compared))

        scored = score_pairs(
            sources[one],
            sources[other],
            similarity=matching.similarity,
            one_to_one=single,
            rng=rng,
            progress=tell,
        )
        yield Matched(one, other, scored, len(sources[one]), len(sources[other]))


def _together(matched: tuple[Matched, ...], records: Records) -> Pairs:
    """All pairs by the records' numbers, the likeliest first."""
    start = dict(zip(records.sources, records.starts.tolist(), strict=False))
    nothing = np.empty(0, np.int64)
    left = np.concatenate([nothing, *(m.pairs.left + start[m.left] for m in matched)])
    right = np.concatenate([nothing, *(m.pairs.right + start[m.right] for m in matched)])
    score = np.concatenate([np.empty(0), *(m.pairs.score for m in matched)])
    block = np.repeat(np.arange(len(matched)), [len(m.pairs.left) for m in matched])
    order = np.lexsort((right, left, -score))
    return Pairs(left[order], right[order], score[order], {}, block.astype(np.int16)[order])


def _analytic(
    records: Records,
    matching: Matching,
    tables: Mapping[str, object],
    schema: Schema | None,
) -> tuple[Analytic, LinkedSchema]:
    """What is attached of each record, and what its columns are."""
    analytic = sources_alone(records)
    if tables:
        analytic = attach(analytic, records, tables, matching, schema)
    return declare(analytic, schema if tables else None)


def _model(sources: Mapping[str, Encoded], matching: Matching) -> dict[str, object]:
    """What a manifest says of the encodings and of how they were matched."""
    first = next(iter(sources.values()))
    said: dict[str, object] = {
        "length": first.length,
        "key": first.key_check,
        "specification": first.spec_check,
        "mode": matching.mode.value,
        "one_per_source": list(matching.one_per_source),
    }
    if matching.rates is not None:
        said["rates"] = matching.rates.model_dump()
    return said
