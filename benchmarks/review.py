"""Anonymity sets for review: the index, and all next costs of a page of pairs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from timing import PeakMemory, seconds

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from oracles.anonymity_sets import Naive  # type: ignore[import-not-found]

from sfumato.examples import generate_clinics
from sfumato.examples.registration_errors import misspelt, mistyped
from sfumato.examples.registrations import Registrations, generate_registrations
from sfumato.review.anonymity_database import Database
from sfumato.review.anonymity_index import Index
from sfumato.review.pair_rendering import compare_pair, more, seen
from sfumato.review.review_settings import (
    Attribute,
    AttributeKind,
    Comparison,
    MaskWidth,
    Mode,
    NamePart,
    Policy,
    Positions,
    Seen,
)

ATTRIBUTES = (
    Attribute(
        name="given_name", kind=AttributeKind.VARIABLE, name_part=NamePart.GIVEN, rarity=True
    ),
    Attribute(name="surname", kind=AttributeKind.VARIABLE, name_part=NamePart.FAMILY, rarity=True),
    Attribute(name="date_of_birth", kind=AttributeKind.DATE),
    Attribute(name="sex", kind=AttributeKind.CATEGORY),
    Attribute(name="zip", kind=AttributeKind.FIXED),
    Attribute(name="phone", kind=AttributeKind.FIXED),
    Attribute(name="street", kind=AttributeKind.VARIABLE),
    Attribute(name="number", kind=AttributeKind.FIXED),
)
NAMES = (0, 1)
RULES = (
    (Policy.CONSISTENT, MaskWidth.TRUE),
    (Policy.CONSISTENT, MaskWidth.FIXED),
    (Policy.PAPER, MaskWidth.TRUE),
)
RECORDS = (100_000, 1_000_000, 10_000_000)
MOST_REGISTERED = 1_000_000
"""Larger databases repeat these, each column in another order; streets and numbers are new."""
RECORDS_PER_PERSON = 1.59
NAIVE_RECORDS = 10_000
PAIRS = 10
PAGES = 12
ERRING = 0.05
"""Share of the street names and numbers that are misspelt."""
Opened = tuple[dict[int, Seen], dict[int, Positions | None]]


@dataclass(frozen=True)
class Row:
    """A row of a page: its record, what shows of it, and what each opening would show."""

    record: int
    knowledge: tuple[Seen, ...]
    openings: tuple[Opened, ...]


def report() -> None:
    """Print times and sizes at three sizes, and the ratio to the naive twin."""
    for count in RECORDS:
        columns, pairs = registered(count)
        pa.default_memory_pool().release_unused()
        with PeakMemory() as memory:
            start = time.perf_counter()
            database = Database.of(ATTRIBUTES, columns)
            encoded = time.perf_counter() - start
            index = Index.build(database)
            built = time.perf_counter() - start
        del columns
        stored = index.to_bytes()
        read = seconds(partial(Index.from_bytes, stored), 3)
        print(
            f"{count:>10,} records: encoded in {encoded:.1f} s, indexed in {built:.1f} s; stored "
            f"{len(stored) / count:.0f} bytes a record, at most {memory.growth / count:.0f} in "
            f"memory; read in {read * 1000:.0f} ms"
        )
        del stored
        for policy, width in RULES:
            _pages(index, pairs, policy, width)
    _beside_naive()


def _pages(
    index: Index, pairs: Sequence[tuple[int, int]], policy: Policy, width: MaskWidth
) -> None:
    """Print CPU times of pages that nobody has seen, of the sets and of all next costs."""
    known, unknown = [], []
    openings = 0
    for page in range(PAGES + 1):
        rows = rows_of(index.database, pairs[page * PAIRS : (page + 1) * PAIRS], width)
        start = time.process_time()
        sets = [index.members(row.record, row.knowledge, policy) for row in rows]
        middle = time.process_time()
        costs(index, rows, sets, policy)
        if page:  # the first one loads the compiler
            unknown.append(time.process_time() - start)
            known.append(time.process_time() - middle)
            openings += sum(len(row.openings) for row in rows)
    print(
        f"           {policy.value}, mask {width.value}: CPU of a page {_ms(unknown)}, of which "
        f"next costs {_ms(known)}; {openings / PAGES:.0f} sizes and least groups a page"
    )


def _ms(times: list[float]) -> str:
    return f"{np.median(times) * 1000:.1f} ms (worst {max(times) * 1000:.1f})"


def costs(
    index: Index | Naive, rows: Sequence[Row], sets: Sequence[Any], policy: Policy
) -> list[tuple[int, int]]:
    """Exact size and least group of every row after every opening."""
    return [
        (index.size_after(members, row.record, after, policy), index.least(members, groups))
        for row, members in zip(rows, sets, strict=True)
        for after, groups in row.openings
    ]


def _beside_naive() -> None:
    """Print how many times faster the index answers than its naive twin does."""
    columns, pairs = registered(NAIVE_RECORDS)
    index = Index.build(Database.of(ATTRIBUTES, columns))
    naive = Naive.of(
        ATTRIBUTES, [pa.array(column).cast(pa.string()).to_pylist() for column in columns]
    )
    rows = rows_of(index.database, pairs[:1], MaskWidth.TRUE)

    def answers(of: Index | Naive) -> list[tuple[int, int]]:
        sets = [of.members(row.record, row.knowledge) for row in rows]
        return costs(of, rows, sets, Policy.CONSISTENT)

    if answers(index) != answers(naive):
        raise RuntimeError("the index and its twin disagree")
    times = [seconds(partial(answers, each), 3) for each in (naive, index)]
    print(
        f"{NAIVE_RECORDS:>10,} records, one pair: naive {times[0] * 1000:.0f} ms, index "
        f"{times[1] * 1000:.1f} ms, {times[0] / times[1]:.0f} times faster"
    )


def rows_of(database: Database, pairs: Sequence[tuple[int, int]], width: MaskWidth) -> list[Row]:
    """The rows of masked pairs: each cell, the names, and all to partial and to full."""
    rows = []
    for pair in pairs:
        found = compare_pair(ATTRIBUTES, *(database.values(record) for record in pair))
        shows: dict[Mode, list[tuple[Seen, Seen]]] = {
            mode: [seen(*each, mode, width) for each in zip(ATTRIBUTES, found, strict=True)]
            for mode in Mode
        }
        for side, record in enumerate(pair):
            rows.append(
                Row(
                    record,
                    tuple(each[side] for each in shows[Mode.MASKED]),
                    tuple(
                        _opened(found, shows, cells, mode, side, width)
                        for mode in (Mode.PARTIAL, Mode.FULL)
                        for cells in (*((place,) for place in range(8)), NAMES, tuple(range(8)))
                        if any(mode in more(found[cell], Mode.MASKED) for cell in cells)
                    ),
                )
            )
    return rows


def _opened(
    found: Sequence[Comparison],
    shows: dict[Mode, list[tuple[Seen, Seen]]],
    cells: Sequence[int],
    mode: Mode,
    side: int,
    width: MaskWidth,
) -> Opened:
    opening = [cell for cell in cells if mode in more(found[cell], Mode.MASKED)]
    whole = mode is Mode.FULL or width is MaskWidth.FIXED
    return (
        {cell: shows[mode][cell][side] for cell in opening},
        {cell: None if whole else shows[mode][cell][side].positions for cell in opening},
    )


def registered(count: int) -> tuple[list[Any], list[tuple[int, int]]]:
    """Columns of registrations at two clinics, and pairs of records of one person that differ."""
    rng = np.random.default_rng(7)
    size = min(count, MOST_REGISTERED)
    clinics = generate_clinics(int(size / RECORDS_PER_PERSON * 1.02), rng=rng)
    registrations = generate_registrations(clinics)
    table = pa.concat_tables([registrations.hospital, registrations.practice]).combine_chunks()
    person = registrations.truth["person"].combine_chunks().dictionary_encode().indices.to_numpy()
    kept = np.sort(rng.permutation(table.num_rows)[:size])
    columns = [table[each.name].take(pa.array(kept)) for each in ATTRIBUTES[:6]]
    columns += _made_up(person[kept], table["surname"].unique().drop_null().to_pylist(), rng)
    pairs = _pairs(registrations, person, kept, rng)
    blocks = [[column] for column in columns]
    for repeat in range(1, -(-count // size)):
        for block in blocks:
            block.append(block[0].take(pa.array(rng.permutation(len(block[0])))))
        streets, numbers = blocks[-2:]
        streets[-1] = pc.binary_join_element_wise(str(repeat), streets[-1], "")
        fresh = pa.array(rng.integers(0, 10**9, len(numbers[-1]))).cast(pa.string())
        numbers[-1] = pc.utf8_lpad(fresh, width=9, padding="0")
    return [pa.concat_arrays(_chunks(block)).slice(0, count) for block in blocks], pairs


def _chunks(arrays: Sequence[Any]) -> list[pa.Array]:
    return [
        chunk
        for each in arrays
        for chunk in (each.chunks if isinstance(each, pa.ChunkedArray) else [each])
    ]


def _made_up(person: np.ndarray, words: list[str], rng: np.random.Generator) -> list[pa.Array]:
    """Streets and numbers of persons, some of them misspelt."""
    count = int(person.max()) + 1
    words = [word for word in words if word.isalpha()]
    kinds = ("Street", "Avenue", "Road", "Lane")
    streets = [
        f"{house} {words[word]} {kinds[kind]}"
        for house, word, kind in zip(
            rng.integers(1, 400, count).tolist(),
            rng.integers(0, len(words), count).tolist(),
            rng.integers(0, len(kinds), count).tolist(),
            strict=True,
        )
    ]
    numbers = [f"{number:09d}" for number in rng.integers(0, 10**9, count).tolist()]
    errors: list[tuple[list[str], Callable[[list[str]], list[str]]]] = [
        (streets, partial(misspelt, rng=rng)),
        (numbers, partial(mistyped, digits=9, rng=rng)),
    ]
    result = []
    for values, err in errors:
        column = [values[who] for who in person.tolist()]
        hit = np.flatnonzero(rng.random(len(column)) < ERRING).tolist()
        for place, wrong in zip(hit, err([column[place] for place in hit]), strict=True):
            column[place] = wrong
        result.append(pa.array(column))
    return result


def _pairs(
    registrations: Registrations, person: np.ndarray, kept: np.ndarray, rng: np.random.Generator
) -> list[tuple[int, int]]:
    """Pairs of records of one person of which one was written down with an error."""
    erring = np.array([bool(each) for each in registrations.truth["errors"].to_pylist()])[kept]
    order = np.argsort(person[kept], kind="stable")
    same = np.flatnonzero(np.diff(person[kept][order]) == 0)
    pairs = np.stack([order[same], order[same + 1]], axis=1)
    pairs = pairs[erring[pairs].any(axis=1)]
    chosen = rng.permutation(pairs)[: PAIRS * (PAGES + 1)]
    return [(left, right) for left, right in chosen.tolist()]


if __name__ == "__main__":
    report()
