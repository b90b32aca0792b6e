"""What all workers of a review share: its rules, its database and its pairs."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Self

import numpy as np
import numpy.typing as npt
from pyroaring import BitMap

from sfumato.core.errors import InputError
from sfumato.review.anonymity.index import Index
from sfumato.review.attributes import Attribute, names_of
from sfumato.review.modes import Mode
from sfumato.review.settings import Settings
from sfumato.review.state.facts import Facts, Modes, facts_of
from sfumato.review.values import Knowledge, Positions

KEPT = 4096
"""Number of pairs whose facts are kept in memory, and of smallest groups of large sets."""
LARGE = 4096
"""Members of a set beyond which its smallest groups are kept for other records."""


class Review:
    """The pairs that workers look at, over one database, under one set of rules.

    Parameters
    ----------
    attributes
        The attributes that are shown, as the database has them.
    settings
        The rules.
    index
        The database and its anonymity sets.
    left, right
        Per pair, the records of row 1 and row 2, numbered from 0 in the database.

    Raises
    ------
    InputError
        If there is no attribute, the database has others, or a pair does not name two
        records of the database.
    """

    def __init__(
        self,
        attributes: Sequence[Attribute],
        settings: Settings,
        index: Index,
        left: Sequence[int] | npt.NDArray[np.int64],
        right: Sequence[int] | npt.NDArray[np.int64],
    ) -> None:
        self.attributes = tuple(attributes)
        self.settings = settings
        self.index = index
        self.left = np.asarray(left, dtype=np.int64).reshape(-1)
        self.right = np.asarray(right, dtype=np.int64).reshape(-1)
        self.names = names_of(self.attributes)
        self._check()
        self.everyone = BitMap(range(index.database.count))
        self._least: dict[Hashable, int] = {}
        self._facts = lru_cache(maxsize=KEPT)(self._work_out)

    def _check(self) -> None:
        if not self.attributes:
            raise InputError("the attributes of a review", "must be at least one")
        if self.attributes != tuple(self.index.database.attributes):
            raise InputError("the attributes of a review", "must be those of the database")
        if len(self.left) != len(self.right):
            raise InputError("the pairs of a review", "must have two rows each")
        records = np.concatenate([self.left, self.right])
        if len(records) and not 0 <= records.min() <= records.max() < self.index.database.count:
            raise InputError("the pairs of a review", "must name records of the database")
        if (self.left == self.right).any():
            raise InputError("the pairs of a review", "must be of two records each")

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return len(self.left)

    def with_budgets(self, budget: float | None, project_budget: float | None) -> Self:
        """The same review under other budgets; all else is shared.

        Parameters
        ----------
        budget, project_budget
            As in the settings.
        """
        own = copy.copy(self)
        budgets = {"budget": budget, "project_budget": project_budget}
        own.settings = self.settings.model_copy(update=budgets)
        return own

    def facts(self, pair: int) -> Facts:
        """What there is to know of a pair.

        Parameters
        ----------
        pair
            Its number, from 0.

        Raises
        ------
        InputError
            If there is no such pair.
        """
        if not 0 <= pair < self.pairs:
            raise InputError("the pair", "must be one of the review's")
        return self._facts(pair)

    def least(
        self,
        record: int | None,
        knowledge: Knowledge,
        members: BitMap,
        groups: Mapping[int, Positions | None],
    ) -> int:
        """The size of the smallest group of an anonymity set once more becomes known.

        Large sets of records of which no character is known are those of many records and pairs:
        for them it is worked out once.

        Parameters
        ----------
        record
            The record, ``None`` where nothing of it is known.
        knowledge
            What is known of it.
        members
            Its anonymity set.
        groups
            By attribute, the places that become known, ``None`` for the whole value.
        """
        if not groups:
            return len(members)
        if len(members) <= LARGE or any(seen.positions for seen in knowledge):
            return self.index.least(members, groups)
        key = (self._mask(record, knowledge), frozenset(groups.items()))
        if key not in self._least:
            if len(self._least) >= KEPT:
                self._least.clear()
            self._least[key] = self.index.least(members, groups)
        return self._least[key]

    def start(self, pair: int) -> Modes:
        """The modes in which a pair is shown first.

        Parameters
        ----------
        pair
            Its number, from 0.

        Raises
        ------
        InputError
            If there is no such pair.
        """
        mode = self.settings.start
        return tuple(
            mode if mode in offered else Mode.MASKED for offered in self.facts(pair).offered
        )

    def _mask(self, record: int | None, knowledge: Knowledge) -> Hashable:
        """What determines the anonymity set of a record of which no character is known."""
        database = self.index.database
        shapes: list[Hashable] = []
        if record is None:
            return ()
        for place, seen in enumerate(knowledge):
            code = int(database.codes[record, place])
            held = code >= 0
            length = int(database.start[code + 1] - database.start[code]) if held else -1
            band = database.rarity(record, place) if held and seen.rarity else None
            shapes.append((seen, held, length if seen.length else None, band))
        return tuple(shapes)

    def _work_out(self, pair: int) -> Facts:
        database = self.index.database
        left, right = int(self.left[pair]), int(self.right[pair])
        rarity = tuple(
            (database.rarity(left, place), database.rarity(right, place))
            if attribute.rarity
            else (None, None)
            for place, attribute in enumerate(self.attributes)
        )
        return facts_of(
            self.attributes,
            (left, right),
            (database.values(left), database.values(right)),
            rarity,
            self.settings.mask_width,
            self.settings.policy,
        )
