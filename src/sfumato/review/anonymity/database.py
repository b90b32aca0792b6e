"""The database of a review: the records of all linked tables, encoded once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core.errors import InputError
from sfumato.review.anonymity.beginnings import beginnings
from sfumato.review.anonymity.bitmaps import read_only
from sfumato.review.anonymity.encode import Alphabet, Encoded, encode
from sfumato.review.attributes import Attribute
from sfumato.review.display.shown import shown
from sfumato.review.settings import Settings
from sfumato.review.values import Rarity, Shown

_BANDS = tuple(Rarity)


@dataclass(frozen=True, eq=False)
class Database:
    """The records of all linked tables, from 0, in the order of the tables.

    It takes 4 bytes per record and attribute, and per distinct value about 20 bytes and twice
    its characters.

    Attributes
    ----------
    attributes
        What a worker may see of a record.
    texts
        Per attribute, a text of each distinct value.
    base
        Number of each attribute's first value; the values of all attributes are numbered in
        one sequence. Shape (attributes + 1,).
    codes
        Number of each record's value, -1 where it is missing; shape (records, attributes).
    start
        Place of the first character of each value in `characters`; shape (values + 1,).
    characters
        Numbers of the characters of all values, one value after the other; at least 1.
    folded_count
        Number of records whose value is compared as equal to this one; shape (values,).
    begins
        Whether another value may begin with all characters of this one; shape (values,).
    one_layout
        Per attribute, whether equal characters have equal layouts.
    rare_below, common_from
        The numbers of records that bound the rarity bands.
    """

    attributes: tuple[Attribute, ...]
    texts: tuple[pa.StringArray, ...]
    base: npt.NDArray[np.int64]
    codes: npt.NDArray[np.int32]
    start: npt.NDArray[np.int64]
    characters: npt.NDArray[np.unsignedinteger[Any]]
    folded_count: npt.NDArray[np.int32]
    begins: npt.NDArray[np.bool_]
    one_layout: tuple[bool, ...]
    rare_below: int
    common_from: int

    @classmethod
    def of(
        cls,
        attributes: Sequence[Attribute],
        columns: Sequence[Sequence[str | None] | Any],
        rare_below: int | None = None,
        common_from: int | None = None,
    ) -> Database:
        """Encode the columns of all linked tables, one under the other.

        Parameters
        ----------
        attributes
            What each column is.
        columns
            Texts, or Arrow arrays that can be cast to text; each of shape (records,).
        rare_below, common_from
            The numbers of records that bound the rarity bands; those of `Settings` if not given.

        Raises
        ------
        InputError
            If columns are missing, differ in length or do not hold text.
        """
        if len(columns) != len(attributes) or not columns:
            raise InputError(
                "database", "must have one column per attribute", found=f"{len(columns)} columns"
            )
        counts = {len(column) for column in columns}
        if len(counts) != 1 or not max(counts):
            raise InputError("database", "must have columns of one length, of at least one record")
        alphabet = Alphabet()
        parts = [
            encode(attribute, column, alphabet)
            for attribute, column in zip(attributes, columns, strict=True)
        ]
        defaults = Settings()
        return cls(
            tuple(attributes),
            tuple(part.texts for part in parts),
            *_joined(parts, alphabet),
            tuple(part.one_layout for part in parts),
            defaults.rare_below if rare_below is None else rare_below,
            defaults.common_from if common_from is None else common_from,
        )

    @property
    def count(self) -> int:
        """Number of records."""
        return len(self.codes)

    def value(self, record: int, attribute: int) -> Shown | None:
        """A value as it would be displayed in full, ``None`` where it is missing.

        Parameters
        ----------
        record, attribute
            Which, each from 0.
        """
        code = int(self.codes[record, attribute])
        if code < 0:
            return None
        text = self.texts[attribute][code - int(self.base[attribute])].as_py()
        return shown(self.attributes[attribute], text)

    def values(self, record: int) -> tuple[Shown | None, ...]:
        """All values of a record.

        Parameters
        ----------
        record
            Which, from 0.
        """
        return tuple(self.value(record, place) for place in range(len(self.attributes)))

    def rarity(self, record: int, attribute: int) -> Rarity | None:
        """How many records have the value, as values are compared; ``None`` where it is missing.

        Parameters
        ----------
        record, attribute
            Which, each from 0.
        """
        code = int(self.codes[record, attribute])
        if code < 0:
            return None
        return _BANDS[int(self.bands(self.folded_count[code : code + 1])[0])]

    def bands(self, counts: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
        """Places in `Rarity` of values that so many records have.

        Parameters
        ----------
        counts
            Numbers of records.
        """
        return np.searchsorted([self.rare_below, self.common_from], counts, side="right")


def _joined(
    parts: list[Encoded], alphabet: Alphabet
) -> tuple[
    npt.NDArray[np.int64],
    npt.NDArray[np.int32],
    npt.NDArray[np.int64],
    npt.NDArray[np.unsignedinteger[Any]],
    npt.NDArray[np.int32],
    npt.NDArray[np.bool_],
]:
    """Bases, codes, starts, characters, counts and beginnings of all attributes in one sequence."""
    base = np.cumsum([0, *(len(part.texts) for part in parts)]).astype(np.int64)
    codes = np.empty((len(parts[0].codes), len(parts)), np.int32)
    for place, part in enumerate(parts):
        codes[:, place] = np.where(part.codes < 0, -1, part.codes + base[place])
    ends = np.cumsum([0, *(int(part.start[-1]) for part in parts)])
    start = [part.start[:-1] + end for part, end in zip(parts, ends[:-1], strict=True)]
    return (
        read_only(base),
        read_only(codes),
        read_only(np.concatenate([*start, ends[-1:]]).astype(np.int64)),
        read_only(np.concatenate([part.characters.astype(alphabet.dtype) for part in parts])),
        read_only(np.concatenate([part.folded_count for part in parts])),
        read_only(np.concatenate([beginnings(part.start, part.characters) for part in parts])),
    )
