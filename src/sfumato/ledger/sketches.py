"""What a ledger keeps of who was in a release and what it showed of them: keyed digests."""

from __future__ import annotations

import hashlib
import hmac
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Bools, Codes, Ints, Words
from sfumato.ledger.ledger_store import Part
from sfumato.release.release_result import Disclosed
from sfumato.table.sources import is_bytes
from sfumato.table.table import CodedColumn

Names = npt.NDArray[np.bytes_]
Digests32 = npt.NDArray[np.uint32]
# 128 bits: of a billion persons two share a digest with odds of 1 in 10^21.
DIGEST_BYTES = 16
RECORDS = "(records)"
"""In the place of a column: how many records a person has."""
# The increment of SplitMix64, 2^64 over the golden ratio; any fixed number would do.
_ABSENT = 0x9E3779B97F4A7C15
"""The digest of a missing value before it is mixed."""


class Shown(StrEnum):
    """How a release shows a column."""

    UNCHANGED = "unchanged"
    """As it was."""
    RECODED = "recoded"
    """By its class: a quasi-identifier."""
    CHANGED = "changed"
    """Cell by cell otherwise than it was."""
    PSEUDONYM = "pseudonym"
    """In the place of the person's id."""


@dataclass(frozen=True, eq=False)
class SketchColumn:
    """What a column says of each person.

    Attributes
    ----------
    digests
        32 keyed bits of all that it says of a person, shape (persons,).
    values
        Where something is promised about its values, the number of that of each record, -1 for
        missing, person by person; in no order that tells anything. Shape (records,).
    """

    name: str
    shown: Shown
    role: str
    constant: bool
    digests: Digests32
    values: Ints | None = None

    def __repr__(self) -> str:
        """Without the digests."""
        return f"SketchColumn({self.name!r}, {self.shown!r})"


@dataclass(frozen=True, eq=False)
class Sketch:
    """Who was in a release, in which class, with which values: all of it keyed digests.

    Attributes
    ----------
    persons
        128 keyed bits of each person's id, ascending, so that they do not tell the order of the
        rows; ``None`` where the file named no persons, and every record is one.
    classes
        Number of each person's class, shape (persons,).
    records
        Number of records of each person, shape (persons,); one without it.
    """

    persons: Names | None
    classes: npt.NDArray[np.integer[Any]]
    columns: tuple[SketchColumn, ...]
    records: npt.NDArray[np.integer[Any]] | None = None

    def __len__(self) -> int:
        """Number of persons."""
        return len(self.classes)

    def __repr__(self) -> str:
        """Without the digests."""
        return f"Sketch({len(self)} people, {len(self.columns)} columns)"

    def by_name(self) -> dict[str, SketchColumn]:
        """The columns by their names."""
        return {column.name: column for column in self.columns}

    @property
    def of_person(self) -> Ints:
        """The person of each record, shape (records,)."""
        return np.repeat(np.arange(len(self)), 1 if self.records is None else self.records)

    def without(self, persons: Bools) -> Sketch:
        """The sketch with some persons, of shape (persons,), erased."""
        kept, left = ~persons, ~persons[self.of_person]
        return replace(
            self,
            persons=None if self.persons is None else self.persons[kept],
            classes=self.classes[kept],
            columns=tuple(
                replace(
                    column,
                    digests=column.digests[kept],
                    values=None if column.values is None else column.values[left],
                )
                for column in self.columns
            ),
            records=None if self.records is None else self.records[kept],
        )

    def described(self) -> list[dict[str, object]]:
        """The columns as an entry names them."""
        return [
            {"name": c.name, "shown": str(c.shown), "role": c.role, "constant": c.constant}
            for c in self.columns
        ]

    def parts(self) -> list[Part]:
        """The arrays as an entry keeps them: numbers in as few bytes as there are values."""
        parts = [Part.of("class", _narrow(self.classes))]
        if self.persons is not None:
            raw = np.frombuffer(self.persons.tobytes(), dtype=np.uint8)
            parts.append(Part.of("persons", raw.reshape(-1, DIGEST_BYTES)))
        if self.records is not None:
            parts.append(Part.of("records", _narrow(self.records)))
        for place, column in enumerate(self.columns):
            if column.values is not None:
                # One more, as missing is -1 and the numbers are kept without a sign.
                parts.append(Part.of(f"of records {place}", _narrow(column.values + 1)))
            distinct, codes = np.unique(column.digests, return_inverse=True)
            # Of few distinct values numbers take fewer bytes than four for every person.
            if 4 * len(distinct) + len(codes) * _bytes_of(len(distinct)) < 4 * len(codes):
                parts.append(Part.of(f"values {place}", distinct))
                parts.append(Part.of(f"codes {place}", _narrow(codes)))
            else:
                parts.append(Part.of(f"digests {place}", column.digests))
        return parts


def sketch_of_parts(
    columns: Sequence[Mapping[str, Any]], parts: Mapping[str, npt.NDArray[Any]]
) -> Sketch:
    """The sketch that an entry keeps, its columns as `Sketch.described` names them."""
    made = []
    for place, column in enumerate(columns):
        digests = parts.get(f"digests {place}")
        if digests is None:
            digests = parts[f"values {place}"][parts[f"codes {place}"]]
        values = parts.get(f"of records {place}")
        values = None if values is None else values.astype(np.int64) - 1
        made.append(
            SketchColumn(
                **{**column, "shown": Shown(column["shown"])}, digests=digests, values=values
            )
        )
    raw = parts.get("persons")
    persons = None if raw is None else raw.reshape(-1).view(f"S{DIGEST_BYTES}")
    return Sketch(persons, parts["class"], tuple(made), parts.get("records"))


def _bytes_of(size: int) -> int:
    return 1 if size <= 1 << 8 else 2 if size <= 1 << 16 else 4


def _narrow(numbers: npt.NDArray[np.integer[Any]]) -> npt.NDArray[Any]:
    size = int(numbers.max(initial=0)) + 1
    return numbers.astype(f"u{_bytes_of(size)}")


def digests_of(persons: Iterable[str | bytes | int], key: bytes) -> Names:
    """128 bits of HMAC-SHA-256 of each person's identifier, type S16.

    A number and its decimal digits as text have the same digest.
    """
    digest, sha256 = hmac.digest, hashlib.sha256
    joined = b"".join(
        digest(key, person if isinstance(person, bytes) else str(person).encode(), sha256)[
            :DIGEST_BYTES
        ]
        for person in persons
    )
    return np.frombuffer(joined, dtype=f"S{DIGEST_BYTES}")


def sketch_of(disclosed: Disclosed, key: bytes, spoken_of: Collection[str] = ()) -> Sketch:
    """The sketch of a release."""
    table = disclosed.table
    grouped = _Grouped.of(table.person, table.persons)
    # Another key than that of persons, or a column that repeats the ids would show their digests.
    column_key = hmac.digest(key, b"columns", hashlib.sha256)
    person = table.schema.person
    columns = list(_columns(disclosed, grouped, column_key, spoken_of))
    persons = None
    if person is not None:
        ids = table.source.column(person).take(pa.array(grouped.first))
        persons = digests_of(_texts(ids), key)
        # As two numbers of 64 bits, which sort in the order of the bytes and faster.
        order = np.lexsort(persons.view(">u8").reshape(-1, 2).T[::-1])
        persons = persons[order]
    else:
        # Records that look alike stand together, so that their order tells nothing.
        order = np.lexsort([column.digests for column in columns])
    classes = np.asarray(disclosed.class_of)[grouped.first][order]
    records = np.diff(np.append(grouped.starts, len(grouped.order)))[order]
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    of_record = place[table.person]
    ordered = []
    for column in columns:
        values = None
        if column.name in spoken_of:
            keyed = _keyed(table.source.column(column.name), column_key)
            _, numbers = np.unique(keyed, return_inverse=True)
            numbers = np.where(keyed == np.uint64(_ABSENT), -1, numbers)
            # Within a person by value, so that the order of a person's records is not kept.
            values = numbers[np.lexsort([numbers, of_record])]
        ordered.append(replace(column, digests=column.digests[order], values=values))
    return Sketch(persons, classes, tuple(ordered), records)


@dataclass(frozen=True, eq=False)
class _Grouped:
    """The records by their persons."""

    order: Ints
    starts: Ints
    first: Ints

    @classmethod
    def of(cls, person: Codes, persons: int) -> _Grouped:
        order = np.argsort(person, kind="stable")
        starts = np.searchsorted(person[order], np.arange(persons))
        return cls(order, starts, order[starts])

    def said(self, values: Words) -> tuple[Digests32, bool]:
        """Of each person 32 bits of all values, and whether everybody has one only.

        Who has one value has the same bits in a file with more of their records.
        """
        ordered = values[self.order]
        least = np.minimum.reduceat(ordered, self.starts)
        one = least == np.maximum.reduceat(ordered, self.starts)
        # A sum modulo 2^64 does not depend on the order of the records.
        every = np.where(one, least, np.add.reduceat(mixed(ordered), self.starts))
        return (mixed(every) >> np.uint64(32)).astype(np.uint32), bool(one.all())


def _columns(
    disclosed: Disclosed, grouped: _Grouped, key: bytes, spoken_of: Collection[str]
) -> Iterator[SketchColumn]:
    table, schema = disclosed.table, disclosed.table.schema
    roles = dict.fromkeys(schema.sensitive, "sensitive")
    by_name = {identifier.name: identifier for identifier in table.quasi_identifiers}
    for name in table.columns:
        if name in schema.withheld() | disclosed.withheld:
            continue
        cells = disclosed.cells.get(name)
        # Of a column that reads the same in all records nothing left, whatever the file says.
        is_blank = cells is not None and len(cells.unique()) == 1 < len(cells)
        if is_blank and name not in spoken_of:
            continue
        if name == schema.person:
            if disclosed.pseudonyms is None:
                continue
            shown, role = Shown.PSEUDONYM, "person"
            values = _keyed(disclosed.pseudonyms, key)[disclosed.pseudonym_of]
        elif name in by_name:
            shown, role = Shown.RECODED, "quasi-identifier"
            values = _keyed_codes(by_name[name], key)
        else:
            shown = Shown.UNCHANGED if cells is None else Shown.CHANGED
            role = roles.get(name, "insensitive")
            values = _keyed(table.source.column(name), key)
        digests, constant = grouped.said(values)
        yield SketchColumn(name, shown, role, constant, digests)
    if schema.person is not None and schema.person not in disclosed.withheld:
        counts = np.diff(np.append(grouped.starts, len(grouped.order)))
        # Pseudonyms show whose records belong together, and so how many each person has.
        used, place = np.unique(counts, return_inverse=True)
        values = keyed_texts(map(str, used.tolist()), key)[place]
        digests = (mixed(values) >> np.uint64(32)).astype(np.uint32)
        yield SketchColumn(RECORDS, Shown.UNCHANGED, "", True, digests)


def _keyed_codes(column: CodedColumn, key: bytes) -> Words:
    used, place = np.unique(column.codes, return_inverse=True)
    labels = (None if code < 0 else column.domain.label(int(code)) for code in used.tolist())
    return keyed_texts(labels, key)[place]


def _keyed(column: pa.Array | pa.ChunkedArray, key: bytes) -> Words:
    """64 keyed bits of each cell; a value is the same in every type that it is written in."""
    encoded = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if not pa.types.is_dictionary(encoded.type):
        # Each distinct value is hashed once, of which most columns have few.
        encoded = pc.dictionary_encode(encoded)
    digests = keyed_texts(_texts(encoded.dictionary), key)
    codes = pc.fill_null(encoded.indices.cast(pa.int64()), len(digests)).to_numpy(
        zero_copy_only=False
    )
    of_cells: Words = np.append(digests, np.uint64(_ABSENT))[codes]
    return of_cells


def _texts(values: pa.Array | pa.ChunkedArray) -> list[Any]:
    if pa.types.is_floating(values.type):
        values = pc.add(values, pa.scalar(0.0, values.type))  # -0.0 and 0.0 are one value
    texts: list[Any] = (
        values if is_bytes(values.type) else pc.cast(values, pa.string())
    ).to_pylist()
    return texts


def keyed_texts(texts: Iterable[str | bytes | None], key: bytes) -> Words:
    """64 keyed bits of each text, however it is written."""
    made = b"".join(
        _ABSENT.to_bytes(8, "little")
        if text is None
        # BLAKE2 takes a key itself, so that one hash does what HMAC does with two.
        else hashlib.blake2b(_plain(text), digest_size=8, key=key).digest()
        for text in texts
    )
    return np.frombuffer(made, dtype="<u8")


def _plain(text: str | bytes) -> bytes:
    """A value without what it may be written with otherwise.

    Zeros behind decimals, capitals, blanks around it, forms of a character.
    """
    if isinstance(text, bytes):
        return text
    text = unicodedata.normalize("NFKC", text).casefold().strip()
    head, point, decimals = text.partition(".")
    # Only numbers: a code such as E11.90 is another one than E11.9.
    if point and decimals.isdecimal() and head.lstrip("-").isdecimal():
        text = f"{head}.{decimals.rstrip('0')}".rstrip(".")
    return text.encode()


def mixed(values: Words) -> Words:
    """The finish of SplitMix64: sums of mixed values do not cancel as the values would."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def joined_digests(columns: Sequence[Digests32]) -> Words:
    """64 bits of what several columns, one or more, say of each person together."""
    joined = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        joined = mixed(joined ^ column.astype(np.uint64))
    return joined
