"""A look at persons: the largest, what hangs on one pair, and sizes against the sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.core.arrays import Ints
from sfumato.core.number_text import counted
from sfumato.linkage.earlier_linkage import Earlier, settled_again
from sfumato.linkage.match_thresholds import Pairs, Records
from sfumato.linkage.person_clusters import limited_sources
from sfumato.linkage.review_pairs import ID, SOURCE, known_records

LIKELY = 0.5
"""Score from which a pair is said to hold two records of a person together."""


@dataclass(frozen=True, eq=False)
class Inspection:
    """Persons as a linkage has written them; nothing in it is a value of the data.

    Attributes
    ----------
    allowed
        Records that a person can have at most; ``None`` where a source may have several of one.
    largest
        The persons with the most records: id, records, sources, pairs of likely records, and pairs
        of records that no likely pair holds together.
    bridges
        Likely pairs without which a person falls in two: pair, person, and records of the smaller
        part; those that part most first.
    unmet
        Number of decisions that the persons break, as scores or other decisions outweigh them.
    """

    by_records: dict[int, int]
    allowed: int | None
    above: int
    largest: tuple[dict[str, Any], ...]
    bridges: tuple[dict[str, Any], ...]
    unmet: int

    def to_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return {
            "by_records": {str(size): count for size, count in self.by_records.items()},
            "allowed": self.allowed,
            "above": self.above,
            "largest": list(self.largest),
            "bridges": list(self.bridges),
            "decisions_that_gave_way": self.unmet,
        }

    def __str__(self) -> str:
        """The same in lines."""
        most = "no limit" if self.allowed is None else f"{self.allowed:,} at most"
        sizes = ", ".join(f"{count:,} of {size:,}" for size, count in self.by_records.items())
        lines = [
            f"People            by number of records: {sizes}",
            f"Sources allow     {most}; people with more: {self.above:,}",
            f"Gave way          decisions that scores or others outweigh: {self.unmet:,}",
        ]
        lines += [
            f"Large             {person['person']}: {counted(person['records'], 'record')} of "
            f"{counted(person['sources'], 'source')}, "
            f"{counted(person['likely_pairs'], 'likely pair')}, "
            f"{person['chained_pairs']:,} held together by others only"
            for person in self.largest
        ]
        lines += [
            f"Bridge            {bridge['pair']} alone joins {counted(bridge['parts'], 'record')} "
            "to the rest "
            f"of {bridge['person']}"
            for bridge in self.bridges
        ]
        return "\n".join(lines)


def inspect_linkage(earlier: Earlier, most: int) -> Inspection:
    """Look at the persons that a linkage has written.

    At most so many of the largest persons, and of bridges, are named.
    """
    settled = settled_again(earlier, earlier.answers)[0]
    once = {*earlier.spec.one_per_source, *earlier.model.once}
    unmet = len(settled.persons.unmet)
    return inspect_persons(
        earlier.person, earlier.pairs, earlier.records, once=once, unmet=unmet, most=most
    )


def inspect_persons(
    person_ids: pa.Array, pairs: Pairs, records: Records, *, once: set[str], unmet: int, most: int
) -> Inspection:
    """Look at persons, at so many of the largest and of bridges at most: O(records + pairs)."""
    ids = person_ids.dictionary_encode()
    person = np.asarray(ids.indices, dtype=np.int64)
    names, size = ids.dictionary, np.bincount(person)
    sizes, counts = np.unique(size, return_counts=True)
    # Only if all sources hold each person once is there a limit: one record in each.
    limited = bool(np.all(limited_sources(records, once) >= 0))
    allowed = len(records.sources) if limited else None
    likely = (person[pairs.left] == person[pairs.right]) & (pairs.score >= LIKELY)
    held = np.bincount(person[pairs.left[likely]], minlength=len(size))
    source = records.source_of(np.arange(len(person)))
    largest = [
        {
            "person": names[place].as_py(),
            "records": int(size[place]),
            "sources": len(np.unique(source[person == place])),
            "likely_pairs": int(held[place]),
            "chained_pairs": int(size[place] * (size[place] - 1) // 2 - held[place]),
        }
        for place in np.argsort(-size, kind="stable")[:most].tolist()
        if size[place] > 1
    ]
    # In a person of two records the one pair is a bridge of course.
    number = np.flatnonzero(likely & (size[person[pairs.left]] > 2))
    found = _bridges(pairs.left[number], pairs.right[number])
    parts = [
        (min(part, int(size[person[pairs.left[number[row]]]]) - part), int(number[row]))
        for row, part in found
    ]
    bridges = [
        {
            "pair": f"p{pair + 1}",
            "person": names[int(person[pairs.left[pair]])].as_py(),
            "parts": part,
        }
        for part, pair in sorted(parts, key=lambda each: (-each[0], each[1]))[:most]
    ]
    return Inspection(
        dict(zip(sizes.tolist(), counts.tolist(), strict=True)),
        allowed,
        0 if allowed is None else int(np.count_nonzero(size > allowed)),
        tuple(largest),
        tuple(bridges),
        unmet,
    )


def _bridges(left: Ints, right: Ints) -> list[tuple[int, int]]:
    """Edges without which a part of the graph falls in two, and the records below each.

    By depth-first search (Tarjan 1974, Information Processing Letters 2:160-161): O(edges).
    """
    beside: dict[int, list[tuple[int, int]]] = {}
    for edge, (one, two) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        beside.setdefault(one, []).append((two, edge))
        beside.setdefault(two, []).append((one, edge))
    seen: dict[int, int] = {}
    low: dict[int, int] = {}
    below: dict[int, int] = {}
    bridges = []
    for root, of_root in beside.items():
        if root in seen:
            continue
        seen[root] = low[root] = len(seen)
        below[root] = 1
        # A stack of its own, as a chain of records would exceed Python's recursion limit.
        waiting = [(root, -1, iter(of_root))]
        while waiting:
            node, came, others = waiting[-1]
            for other, edge in others:
                if other not in seen:
                    seen[other] = low[other] = len(seen)
                    below[other] = 1
                    waiting.append((other, edge, iter(beside[other])))
                    break
                if edge != came:
                    low[node] = min(low[node], seen[other])
            else:
                waiting.pop()
                if waiting:
                    above = waiting[-1][0]
                    low[above] = min(low[above], low[node])
                    below[above] += below[node]
                    if low[node] > seen[above]:
                        bridges.append((came, below[node]))
    return bridges


def shown_values(earlier: Earlier, inspection: Inspection) -> pa.Table | None:
    """The identifying attributes of the inspection's largest persons' records, person by person."""
    if earlier.identifying is None:
        return None
    table = pq.read_table(earlier.identifying)
    person = earlier.person.take(pa.array(known_records(earlier.records, table[SOURCE], table[ID])))
    wanted = {person["person"]: place for place, person in enumerate(inspection.largest)}
    place = np.array([wanted.get(each, -1) for each in person.to_pylist()])
    rows = np.flatnonzero(place >= 0)
    rows = rows[np.argsort(place[rows], kind="stable")]
    return table.take(pa.array(rows)).add_column(0, "person", person.take(pa.array(rows)))
