"""A hierarchy's values as sets of leaves, numbered over all levels."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies import Hierarchy
from sfumato.semantics.associations import Item

Numbers = npt.NDArray[np.int64]


class ItemSets:
    """The values of one hierarchy, each numbered by the lowest level that shows the same leaves.

    Ragged hierarchies repeat a value at several levels; to a reader it is one value.

    Parameters
    ----------
    hierarchy
        The hierarchy.
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy
        sizes = [len(labels) for labels in hierarchy.labels]
        self.starts: Numbers = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        leaves = np.arange(len(hierarchy.leaves))
        self._leaf: Numbers = np.zeros(self.starts[-1], dtype=np.int64)
        self._lowest: Numbers = np.arange(self.starts[-1], dtype=np.int64)
        counts = [hierarchy.leaf_counts(level) for level in range(hierarchy.height + 1)]
        for level, ancestors in enumerate(hierarchy.ancestors):
            own = self.starts[level] + ancestors
            self._leaf[own] = leaves
            if level:
                under = hierarchy.ancestors[level - 1]
                same = counts[level][ancestors] == counts[level - 1][under]
                self._lowest[own[same]] = self._lowest[self.starts[level - 1] + under[same]]

    def lowest(self, item: Item) -> Item:
        """The same value at the lowest level that shows it.

        Parameters
        ----------
        item
            An item of this hierarchy.
        """
        return self.item(item.attribute, int(self._lowest[self.starts[item.level] + item.label]))

    def item(self, attribute: str, number: int) -> Item:
        """The item with a number.

        Parameters
        ----------
        attribute
            Name of the hierarchy's attribute.
        number
            The number.
        """
        level = int(np.searchsorted(self.starts, number, side="right")) - 1
        return Item(attribute, level, number - int(self.starts[level]))

    def numbers(self, codes: npt.NDArray[np.integer], levels: npt.NDArray[np.integer]) -> Numbers:
        """The number of each shown value, -1 where it is missing; shape (tuples,).

        Parameters
        ----------
        codes
            A leaf below each value, -1 for missing; shape (tuples,).
        levels
            Level that each is shown at; shape (tuples,).
        """
        present = codes >= 0
        numbers = np.full(len(codes), -1, dtype=np.int64)
        at = levels[present].astype(np.int64)
        raw = self.starts[at] + self.hierarchy.ancestors[at, codes[present]]
        numbers[present] = self._lowest[raw]
        return numbers

    def ancestors(self, item: Item) -> list[Item]:
        """The distinct values above an item, lowest first.

        Parameters
        ----------
        item
            The item, at its lowest level.
        """
        leaf = self._leaf[self.starts[item.level] + item.label]
        above = range(item.level + 1, self.hierarchy.height + 1)
        items = [
            self.lowest(Item(item.attribute, level, int(self.hierarchy.ancestors[level, leaf])))
            for level in above
        ]
        return [each for each in dict.fromkeys(items) if each != item]

    def at_or_below(self, items: Iterable[Item], attribute: str) -> npt.NDArray[np.bool_]:
        """Which values are one of these items or lie below it; shape (values,).

        Parameters
        ----------
        items
            Items at their lowest level, of any attribute.
        attribute
            Name of the hierarchy's attribute.
        """
        found = np.zeros(self.starts[-1], dtype=np.bool_)
        for item in items:
            if item.attribute == attribute:
                level = self.hierarchy.ancestors[item.level]
                low = slice(0, self.starts[item.level + 1])
                found[low] |= level[self._leaf[low]] == item.label
        return found

    def above(self, items: Iterable[Item], attribute: str) -> npt.NDArray[np.bool_]:
        """Which values are ancestors of one of these items; shape (values,).

        Parameters
        ----------
        items
            Items at their lowest level, of any attribute.
        attribute
            Name of the hierarchy's attribute.
        """
        found = np.zeros(self.starts[-1], dtype=np.bool_)
        for item in items:
            if item.attribute == attribute:
                for above in self.ancestors(item):
                    found[self.starts[above.level] + above.label] = True
        return found
