"""Associations that say nothing beyond another one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import product

import numpy as np

from sfumato.hierarchies import Hierarchy
from sfumato.semantics.associations.association import Item

Said = tuple[tuple[Item, ...], Item]
"""Antecedent, ordered by attribute, and consequent."""


class Redundancy:
    """Tells which associations follow from others.

    One association follows from another if whoever shows its antecedent shows the other's too
    (a subset of its items, or ancestors of them), and the other's consequent is the same value
    or lies below it. Nobody refines a value further by the one than by the other.

    Parameters
    ----------
    hierarchies
        The hierarchy of each attribute by its name.
    among
        The associations that others may follow from.
    """

    def __init__(self, hierarchies: Mapping[str, Hierarchy], among: Collection[Said]) -> None:
        self._hierarchies = hierarchies
        self._told: dict[tuple[Item, ...], list[Item]] = {}
        for antecedent, consequent in among:
            self._told.setdefault(antecedent, []).append(consequent)
        self._leaves = {
            name: [np.unique(codes, return_index=True) for codes in hierarchy.ancestors]
            for name, hierarchy in hierarchies.items()
        }

    def follows(self, said: Said) -> bool:
        """Whether an association follows from another one.

        Parameters
        ----------
        said
            Its antecedent and consequent.
        """
        antecedent, consequent = said
        for wider in self._wider(antecedent):
            for other in self._told.get(wider, ()):
                if (wider, other) != said and self._below(other, consequent):
                    return True
        return False

    def _wider(self, antecedent: tuple[Item, ...]) -> Iterator[tuple[Item, ...]]:
        """Every antecedent that is shown wherever this one is, itself included."""
        options = [(None, *self._ancestors(item)) for item in antecedent]
        for chosen in product(*options):
            kept = tuple(item for item in chosen if item is not None)
            if kept:
                yield kept

    def _ancestors(self, item: Item) -> list[Item]:
        """The item and its ancestors below the root."""
        hierarchy = self._hierarchies[item.attribute]
        path = hierarchy.ancestors[:, self._leaf(item)]
        return [
            Item(item.attribute, level, int(path[level]))
            for level in range(item.level, hierarchy.height)
        ]

    def _below(self, item: Item, other: Item) -> bool:
        """Whether an item is another one or lies below it."""
        if item.attribute != other.attribute or item.level > other.level:
            return False
        ancestors = self._hierarchies[item.attribute].ancestors[other.level]
        return int(ancestors[self._leaf(item)]) == other.label

    def _leaf(self, item: Item) -> int:
        labels, first = self._leaves[item.attribute][item.level]
        return int(first[np.searchsorted(labels, item.label)])
