"""Whether two files of records hold the same people, by few keyed digests of each.

A value gives two pieces, its first letters and its last. Four pieces together that hardly any two
strangers share are digested; columns have no names in it, and rows no order. A change of one
letter leaves the combinations without its piece, and other records leave those of the rest.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Bytes, Floats, Ints, Words
from sfumato.ledger.sketches import keyed_texts, mixed

LETTERS = 4
"""Of a piece: a date written with the year first or last gives year and day."""
PIECES, TOGETHER = 8, 4
"""Pieces that are looked at, those that tell most, and how many are digested together: a change
within two columns leaves one combination of four."""
STRANGERS = 0.01
"""Share of people of whom a stranger of the other file shares a combination, at most."""
KEPT = 8192
"""Digests that are kept: more than a hundred of each of the 70 combinations."""
SHARE, SOME = 0.1, 3
"""Share of the digests of a combination in common, and how many, from which on people are the
same: ten times what strangers have, and more than one of them by chance."""


@dataclass(frozen=True, eq=False)
class RecordSketch:
    """Digests of combinations of pieces of the records of a file.

    Attributes
    ----------
    limit
        Those below it are kept.
    digests
        Each once of a combination.
    kinds
        The number of the combination that each is of.
    """

    limit: int
    digests: Words
    kinds: Bytes

    def __repr__(self) -> str:
        """Without the digests."""
        return f"RecordSketch({len(self.digests)} digests)"

    def to_bytes(self) -> bytes:
        """The limit, the digests, the kinds."""
        return np.uint64(self.limit).tobytes() + self.digests.tobytes() + self.kinds.tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> RecordSketch:
        """What `to_bytes` gave."""
        count = (len(data) - 8) // 9
        digests = np.frombuffer(data, "<u8", count, 8)
        limit = int(np.frombuffer(data, "<u8", 1)[0])
        return cls(limit, digests, np.frombuffer(data, "u1", count, 8 + 8 * count))

    def has_people_of(self, other: RecordSketch) -> bool:
        """Whether the files have people in common, as far as the smaller one shows it."""
        limit = np.uint64(min(self.limit, other.limit))
        return self._found_in(other, limit) or other._found_in(self, limit)

    def _found_in(self, other: RecordSketch, limit: np.uint64) -> bool:
        below = self.digests <= limit
        common = np.isin(self.digests[below], other.digests)
        kinds = self.kinds[below]
        count = np.append(np.bincount(kinds, minlength=1), len(kinds))
        hits = np.append(np.bincount(kinds, common, minlength=1), common.sum())
        return bool(np.any(hits >= np.maximum(SOME, SHARE * count)))


def sketch_records(columns: list[pa.ChunkedArray], key: bytes) -> RecordSketch:
    """The sketch of a file's records, all of whose columns are given, without ids of rows."""
    pieces = _pieces(columns, key)
    kinds = list(_telling(pieces))
    size = len(pieces[0].codes) if pieces else 0
    largest = int(np.iinfo(np.uint64).max)
    limit = min(largest, largest * KEPT // max(1, size * len(kinds)))
    sketched, of = [np.empty(0, np.uint64)], [np.empty(0, np.uint8)]
    for number, kind in enumerate(kinds if size else ()):
        digests = np.zeros(size, np.uint64)
        whole_rows = np.ones(size, bool)
        for place in kind:
            digests += pieces[place].digests
            whole_rows &= pieces[place].codes >= 0
        digests = np.unique(mixed(digests[whole_rows]))
        sketched.append(digests[digests <= np.uint64(limit)])
        of.append(np.full(len(sketched[-1]), number, np.uint8))
    return RecordSketch(limit, np.concatenate(sketched), np.concatenate(of))


@dataclass(frozen=True, eq=False)
class _Piece:
    """Of each record the code of what a column begins or ends with, -1 for nothing."""

    column: int
    codes: Ints
    digests: Words

    @property
    def odds(self) -> float:
        return _odds(self.codes)


def _pieces(columns: list[pa.ChunkedArray], key: bytes) -> list[_Piece]:
    """The pieces that tell most, in that order."""
    made = []
    for number, column in enumerate(columns):
        encoded = pc.dictionary_encode(column.combine_chunks())
        values = [_plain(value) for value in pc.cast(encoded.dictionary, pa.string()).to_pylist()]
        codes = pc.fill_null(encoded.indices.cast(pa.int64()), len(values)).to_numpy()
        ends = [value[:LETTERS] for value in values], [value[-LETTERS:] for value in values]
        for texts in ends[: 1 + (ends[0] != ends[1])]:
            distinct, place = np.unique([*texts, ""], return_inverse=True)
            of_values = place.astype(np.int64) - 1  # "" sorts first, and is nothing
            digests = keyed_texts(distinct.tolist(), key)[place]
            made.append(_Piece(number, of_values[codes], digests[codes]))
    return sorted(made, key=lambda piece: piece.odds)[:PIECES]


def _plain(value: str) -> str:
    """A value without signs, capitals and accents."""
    folded = unicodedata.normalize("NFKD", value.casefold())
    return re.sub(r"[\W_]", "", "".join(c for c in folded if not unicodedata.combining(c)))


def _odds(codes: Ints) -> float:
    """The chance that two records agree; never none, as of few records none may."""
    _, counts = np.unique(codes[codes >= 0], return_counts=True)
    size = len(codes)
    return float((np.sum(counts * (counts - 1.0)) + 1) / (size * (size - 1.0) + 1))


def _telling(pieces: list[_Piece]) -> Iterator[tuple[int, ...]]:
    """Combinations that hardly any two strangers share; all where there is none of them.

    Whom the columns do not tell from strangers are taken for the same people.
    """
    size = len(pieces[0].codes) if pieces else 0
    given, found = _given(pieces), False
    kinds = list(combinations(range(len(pieces)), min(TOGETHER, len(pieces))))
    for kind in kinds:
        odds = pieces[kind[0]].odds if kind else 1.0
        for place, each in enumerate(kind[1:], 1):
            odds *= max(given[each, before] for before in kind[:place])
        if size * odds <= STRANGERS:
            found = True
            yield kind
    if not found:
        yield from kinds


def _given(pieces: list[_Piece]) -> Floats:
    """The chance that two records agree in one piece where they do in another one.

    Pieces of one column, a town and its postcode, a name and a sex go together.
    """
    odds = [piece.odds for piece in pieces]
    given = np.ones((len(pieces), len(pieces)))
    for left, right in combinations(range(len(pieces)), 2):
        first, second = pieces[left], pieces[right]
        missing = (first.codes < 0) | (second.codes < 0)
        joined = first.codes * (int(second.codes.max(initial=0)) + 1) + second.codes
        both = _odds(np.where(missing, -1, joined))
        # Of few records chance shows no pair: columns are taken to be independent then.
        least = odds[left] * odds[right]
        agreeing = both * len(joined) * (len(joined) - 1)
        if first.column != second.column and agreeing < len(joined) ** 0.5:
            both = least
        both = max(both, least)
        given[left, right] = min(1.0, both / odds[right])
        given[right, left] = min(1.0, both / odds[left])
    return given
