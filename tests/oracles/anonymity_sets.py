"""Anonymity sets record by record in plain Python: the readable twin of ``index``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sfumato.review.pair_rendering import shown
from sfumato.review.review_settings import (
    Attribute,
    Knowledge,
    Policy,
    Positions,
    Rarity,
    Seen,
    Settings,
    Shown,
)

_Row = tuple[Shown | None, ...]


@dataclass(frozen=True, eq=False)
class Naive:
    """Every record of a database as it would be displayed.

    Attributes
    ----------
    rows
        The values of each record.
    counts
        Per attribute, how many records have each value, as values are compared.
    rare_below, common_from
        The numbers of records that bound the rarity bands.
    """

    rows: tuple[_Row, ...]
    counts: tuple[Counter[tuple[str, ...]], ...]
    rare_below: int
    common_from: int

    @classmethod
    def of(
        cls,
        attributes: Sequence[Attribute],
        columns: Sequence[Sequence[str | None]],
        rare_below: int = Settings().rare_below,
        common_from: int = Settings().common_from,
    ) -> Naive:
        """Every record of some columns.

        Parameters
        ----------
        attributes, columns, rare_below, common_from
            As for `Database.of`.
        """
        values = [
            [shown(attribute, text) for text in column]
            for attribute, column in zip(attributes, columns, strict=True)
        ]
        counts = tuple(
            Counter(each.folded for each in column if each is not None) for column in values
        )
        return cls(tuple(zip(*values, strict=True)), counts, rare_below, common_from)

    def rarity(self, record: int, attribute: int) -> Rarity | None:
        """As `Database.rarity`.

        Parameters
        ----------
        record, attribute
            Which.
        """
        value = self.rows[record][attribute]
        if value is None:
            return None
        count = self.counts[attribute][value.folded]
        if count < self.rare_below:
            return Rarity.RARE
        return Rarity.UNCOMMON if count < self.common_from else Rarity.COMMON

    def members(
        self, record: int, knowledge: Knowledge, policy: Policy = Policy.CONSISTENT
    ) -> list[int]:
        """As `Index.members`.

        Parameters
        ----------
        record, knowledge, policy
            As there.
        """
        return [
            other
            for other in range(len(self.rows))
            if all(
                self._agrees(record, other, attribute, seen, policy)
                for attribute, seen in enumerate(knowledge)
            )
        ]

    def size_after(
        self,
        members: Sequence[int],
        record: int,
        opened: Mapping[int, Seen],
        policy: Policy = Policy.CONSISTENT,
    ) -> int:
        """As `Index.size_after`.

        Parameters
        ----------
        members, record, opened, policy
            As there.
        """
        return sum(
            all(
                self._agrees(record, other, attribute, seen, policy)
                for attribute, seen in opened.items()
            )
            for other in members
        )

    def least(self, members: Sequence[int], opened: Mapping[int, Positions | None]) -> int:
        """As `Index.least`.

        Parameters
        ----------
        members, opened
            As there.
        """
        groups = Counter(
            tuple(_at(self.rows[member][attribute], places) for attribute, places in opened.items())
            for member in members
        )
        return min(groups.values())

    def _agrees(self, record: int, other: int, attribute: int, seen: Seen, policy: Policy) -> bool:
        """Whether another record's value agrees with what is seen of a record's."""
        value, another = self.rows[record][attribute], self.rows[other][attribute]
        everything = policy is Policy.CONSISTENT
        if value is None:
            return not (everything and seen.missingness) or another is None
        if another is None:
            return not (
                seen.twice
                or seen.positions
                or (everything and (seen.missingness or seen.length or seen.rarity))
            )
        whole = len(seen.positions) == len(value.characters)
        if whole and value != another:
            return False
        if everything and seen.length and len(value.characters) != len(another.characters):
            return False
        bands = self.rarity(record, attribute), self.rarity(other, attribute)
        if everything and seen.rarity and bands[0] is not bands[1]:
            return False
        if seen.twice and self.counts[attribute][another.folded] < 2:
            return False
        return all(
            place < len(another.characters) and value.characters[place] == another.characters[place]
            for place in seen.positions
        )


def _at(value: Shown | None, places: Positions | None) -> Shown | tuple[str | None, ...] | None:
    """What becomes known of a value."""
    if places is None:
        return value
    return tuple(
        None if value is None or place >= len(value.characters) else value.characters[place]
        for place in sorted(places)
    )
