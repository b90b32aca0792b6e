"""What a reader makes of shown tuples with the associations that it knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.hierarchies import Hierarchy
from sfumato.semantics.associations import Association, Item
from sfumato.semantics.associations.shown import equal_levels
from sfumato.semantics.linkage_anonymity.keys import Ints, shown_table

Levels = npt.NDArray[np.int8]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Rule:
    """An association in terms of columns.

    Attributes
    ----------
    association
        The association.
    antecedent
        Column, level and label of each item.
    column, level, leaf
        Column and level of the consequent, and a leaf below it.
    """

    association: Association
    antecedent: tuple[tuple[int, int, int], ...]
    column: int
    level: int
    leaf: int


@dataclass(frozen=True, eq=False)
class Reached:
    """The tuples that a reader can arrive at, those that it starts from first.

    Attributes
    ----------
    codes, levels
        The tuples; each of shape (reached, attributes).
    origin
        The tuple that each was refined from, shape (reached,).
    parent
        The tuple that it was refined from in the last step, -1 for none; shape (reached,).
    rule
        The rule of that step, -1 for none; shape (reached,).
    fired
        Which rules refine anything on the way from each start; shape (starts, rules).
    """

    codes: Ints = field(repr=False)
    levels: Levels = field(repr=False)
    origin: npt.NDArray[np.int64] = field(repr=False)
    parent: npt.NDArray[np.int64] = field(repr=False)
    rule: npt.NDArray[np.int64] = field(repr=False)
    fired: Bools = field(repr=False)

    def way(self, place: int) -> tuple[int, ...]:
        """The rules that led to one of the tuples, the first one first.

        Parameters
        ----------
        place
            The tuple's place.
        """
        rules: list[int] = []
        while self.parent[place] >= 0:
            rules.append(int(self.rule[place]))
            place = int(self.parent[place])
        return tuple(reversed(rules))


class _Part(NamedTuple):
    """Some of the tuples reached, as in `Reached`."""

    codes: Ints
    levels: Levels
    origin: npt.NDArray[np.int64]
    parent: npt.NDArray[np.int64]
    rule: npt.NDArray[np.int64]

    def at(self, places: npt.NDArray[np.int64]) -> _Part:
        codes, levels, origin, parent, rule = self
        return _Part(codes[places], levels[places], origin[places], parent[places], rule[places])


def _together(parts: Iterable[_Part]) -> _Part:
    return _Part(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


class Reader:
    """Refines tuples by associations.

    A tuple satisfies an item if it shows the item's value or one below it, itself or after
    refinement. An association refines the value of its consequent's attribute where the tuple
    shows an ancestor of the consequent; a value that contradicts the consequent, or is missing,
    stays as it is. Values with the same leaves below them are the same value, at whatever levels
    they stand. Associations with an attribute that the tuples do not have say nothing.

    Parameters
    ----------
    hierarchies
        The hierarchy of each attribute by its name, in the order of the columns.
    associations
        What the reader knows.

    Raises
    ------
    InputError
        If an association names a level or a label that the hierarchy does not have, or a root.
    """

    def __init__(
        self, hierarchies: Mapping[str, Hierarchy], associations: Iterable[Association]
    ) -> None:
        self.names = tuple(hierarchies)
        self.hierarchies = tuple(hierarchies.values())
        self.tables = tuple(shown_table(each) for each in self.hierarchies)
        self._highest = tuple(equal_levels(each)[1] for each in self.hierarchies)
        ordered = sorted(associations, key=lambda one: (-one.confidence, -one.support, one.key))
        self.rules = tuple(
            self._rule(one)
            for one in ordered
            if {item.attribute for item in (*one.antecedent, one.consequent)} <= set(self.names)
        )
        self._starts = [
            np.concatenate([[0], np.cumsum(table.max(axis=1) + 1)]).astype(np.int32)
            for table in self.tables
        ]

    def shown(self, codes: Ints, levels: npt.NDArray[np.integer]) -> Ints:
        """One number per attribute: equal where tuples show the same value at the same level.

        Parameters
        ----------
        codes
            Leaf codes, -1 for missing; shape (tuples, attributes).
        levels
            Level that each value is shown at; shape (tuples, attributes).
        """
        columns = [
            starts[levels[:, column]] + table[levels[:, column], codes[:, column]]
            for column, (table, starts) in enumerate(zip(self.tables, self._starts, strict=True))
        ]
        if not columns:
            return np.zeros((len(codes), 0), dtype=np.int32)
        return np.column_stack(columns).astype(np.int32, copy=False)

    def refines(self, rule: Rule, codes: Ints, levels: npt.NDArray[np.integer]) -> Bools:
        """Which tuples a rule refines.

        Parameters
        ----------
        rule
            One of the reader's rules.
        codes, levels
            The tuples; each of shape (tuples, attributes).
        """
        shown, values = levels[:, rule.column], codes[:, rule.column]
        table = self.tables[rule.column]
        here: Bools = shown > rule.level
        if not here.any():
            return here
        here &= table[shown, values] == table[shown, rule.leaf]
        for column, level, label in rule.antecedent:
            here &= (levels[:, column] <= level) & (
                self.tables[column][level, codes[:, column]] == label
            )
        return here

    def reachable(self, codes: Ints, levels: npt.NDArray[np.integer]) -> Reached:
        """All tuples that a reader can arrive at who believes any part of what it knows.

        Rules are applied in any order, to the consequent or to any ancestor of it below what is
        shown. Takes O(rules x reached) and a sort of what was reached per step.

        Parameters
        ----------
        codes, levels
            The tuples that the reader starts from; each of shape (tuples, attributes).
        """
        starts = len(codes)
        nothing = np.full(starts, -1, dtype=np.int64)
        begun = (codes.astype(np.int32), levels.astype(np.int8), np.arange(starts))
        parts = [_Part(*begun, nothing, nothing)]
        fired = np.zeros((starts, len(self.rules)), dtype=np.bool_)
        seen = self._keys(parts[0])
        first = 0
        while wave := self._wave(parts[-1], first, fired):
            first += len(parts[-1].codes)
            joined = _together(wave)
            keys = np.concatenate([seen, self._keys(joined)])
            new = np.sort(np.unique(keys, return_index=True)[1])
            new = new[new >= len(seen)]
            parts.append(joined.at(new - len(seen)))
            seen = keys[np.concatenate([np.arange(len(seen)), new])]
        return Reached(*_together(parts), fired)

    def believed(
        self, codes: Ints, levels: npt.NDArray[np.integer]
    ) -> tuple[Ints, npt.NDArray[np.integer]]:
        """The tuples after everything that one reader believes, to a fixpoint.

        This reader applies the association of greatest confidence among those that refine its
        tuple, and again, until none does.

        Parameters
        ----------
        codes, levels
            The tuples; each of shape (tuples, attributes).

        Returns
        -------
        tuple
            Codes and levels of the refined tuples.
        """
        codes, levels = codes.copy(), levels.copy()
        active = np.arange(len(codes))
        while len(active):
            waiting = np.ones(len(active), dtype=np.bool_)
            for rule in self.rules:
                here = self.refines(rule, codes[active], levels[active]) & waiting
                waiting &= ~here
                codes[active[here], rule.column] = rule.leaf
                levels[active[here], rule.column] = rule.level
            active = active[~waiting]
        return codes, levels

    def _wave(self, frontier: _Part, first: int, fired: Bools) -> list[_Part]:
        """What one more step gives, duplicates included."""
        codes, levels, origin = frontier[:3]
        found: list[_Part] = []
        coarsest = levels.max(axis=0, initial=0)
        for number, rule in enumerate(self.rules):
            if coarsest[rule.column] <= rule.level:
                continue
            hit = np.flatnonzero(self.refines(rule, codes, levels))
            fired[origin[hit], number] = True
            for level in range(rule.level, self.hierarchies[rule.column].height):
                hit = hit[levels[hit, rule.column] > level]
                if not len(hit):
                    break
                leaves, heights = codes[hit], levels[hit]
                leaves[:, rule.column], heights[:, rule.column] = rule.leaf, level
                by = np.full(len(hit), number, dtype=np.int64)
                found.append(_Part(leaves, heights, origin[hit], hit + first, by))
        return found

    def _keys(self, part: _Part) -> npt.NDArray[np.void]:
        """One comparable key per tuple and origin."""
        shown = self.shown(part.codes, part.levels)
        rows = np.column_stack([part.origin.astype(np.int32), shown])
        rows = np.ascontiguousarray(rows, dtype=np.int32)
        return rows.view(np.dtype((np.void, rows.shape[1] * 4))).ravel()

    def _rule(self, one: Association) -> Rule:
        antecedent = []
        for item in one.antecedent:
            column, level, leaf = self._place(item)
            antecedent.append((column, level, int(self.tables[column][level, leaf])))
        return Rule(one, tuple(antecedent), *self._place(one.consequent))

    def _place(self, item: Item) -> tuple[int, int, int]:
        """Column of an item, the highest level of a value with its leaves, and a leaf below it."""
        column = self.names.index(item.attribute)
        hierarchy = self.hierarchies[column]
        if 0 <= item.level < hierarchy.height:
            below = np.flatnonzero(hierarchy.ancestors[item.level] == item.label)
            level = int(self._highest[column][item.level, below[0]]) if len(below) else -1
            if 0 <= level < hierarchy.height:
                return column, level, int(below[0])
        raise InputError(
            "an association",
            "must be about values of the hierarchies that it is used with",
            found=f"a level or a value that attribute '{item.attribute}' lacks, or all its leaves",
        )
