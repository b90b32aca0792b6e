"""Choose blocking rules: what they catch of imagined matches, for the pairs that they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sfumato.linkage.spec.model import Mode
from sfumato.linkage.suggest.agreement import MATCHES, Atom, Bools
from sfumato.linkage.suggest.counting import Sampled, pairs_of

MOST_RULES = 10
LEAST_GAIN = 0.0005
"""Share of all matches that a rule must catch and no other does."""
PAIRS_PER_RECORD = 25
FEW_PAIRS = 300_000
"""Pairs that are scored without a thought, however few the records."""
_BY_ONE_RULE = 0.3
"""Share of the wanted pairs that one rule may make."""
_STRICT = 3
"""Number of parts of the strictest rules."""
_EXTENDED = 150
"""Number of rules with too many pairs that another part is added to."""


@dataclass(frozen=True)
class Rule:
    """A blocking rule.

    Attributes
    ----------
    parts
        Numbers of its parts.
    pairs
        About how many pairs it makes.
    catches
        Which imagined matches it catches.
    """

    parts: tuple[int, ...]
    pairs: float
    catches: Bools


def wanted_pairs(records: int, limit: int) -> float:
    """Number of candidate pairs that the rules should make together, at most."""
    return float(min(limit * 0.8, FEW_PAIRS + PAIRS_PER_RECORD * records))


def choose_rules(
    atoms: Sequence[Atom], sources: Sequence[Sampled], mode: Mode, wanted: float
) -> list[Rule]:
    """The rules that catch most imagined matches within the wanted number of pairs.

    Greedy: the next rule is the one that catches most of what no rule before it does, less a
    little for its pairs, until it catches next to nothing.

    Parameters
    ----------
    atoms
        The parts that rules can be made of.
    sources
        Samples of the sources, with codes of these parts.
    mode
        Which records are compared with which.
    wanted
        Number of pairs that the rules should make together, at most.
    """
    rules = _candidates(atoms, sources, mode, wanted * _BY_ONE_RULE)
    caught = np.zeros(MATCHES, dtype=np.bool_)
    chosen: list[Rule] = []
    left = wanted
    while rules and len(chosen) < MOST_RULES:
        gains = [float(np.mean(rule.catches & ~caught)) for rule in rules]
        worth = [g * (1 - 0.5 * r.pairs / wanted) for g, r in zip(gains, rules, strict=True)]
        best = int(np.argmax(worth))
        if gains[best] < LEAST_GAIN:
            break
        chosen.append(rules[best])
        caught |= rules[best].catches
        left -= rules[best].pairs
        rules = [rule for rule in rules if rule.pairs <= left]
    return chosen


def _candidates(
    atoms: Sequence[Atom], sources: Sequence[Sampled], mode: Mode, most: float
) -> list[Rule]:
    """Rules within the number of pairs, of one part up to three."""
    parts = range(len(atoms))
    rules: list[Rule] = []
    wide: list[Rule] = []
    tried: set[tuple[int, ...]] = set()

    def consider(numbers: tuple[int, ...]) -> None:
        if numbers in tried or not _sensible([atoms[n] for n in numbers]):
            return
        tried.add(numbers)
        catches = np.logical_and.reduce([atoms[n].agrees for n in numbers])
        rule = Rule(numbers, pairs_of(numbers, sources, mode), catches)
        (rules if rule.pairs <= most else wide).append(rule)

    for number in parts:
        consider((number,))
    fine = {rule.parts[0] for rule in rules}
    for two in combinations(parts, 2):
        if not fine & set(two):
            consider(two)
    wide = [rule for rule in wide if len(rule.parts) == _STRICT - 1]
    wide.sort(key=lambda rule: -float(np.mean(rule.catches)))
    for rule in wide[:_EXTENDED]:
        for number in parts:
            if number not in fine:
                consider(tuple(sorted({*rule.parts, number})))
    return rules


def _sensible(atoms: Sequence[Atom]) -> bool:
    """Whether no part says what another one says: one per column, but for dates and names."""
    columns = [atom.part.column for atom in atoms]
    if len(set(columns)) == len(columns):
        return True
    for one, other in combinations(atoms, 2):
        if one.part.column == other.part.column:
            takes = {one.part.take, other.part.take}
            if not (takes <= {"year", "month", "day"} or takes <= {"first", "last", "sound"}):
                return False
            if takes == {"last", "sound"}:
                return False
    return True
