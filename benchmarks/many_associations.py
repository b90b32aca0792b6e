"""A release on request under tens of thousands of accepted associations: time, loss and risk.

Usage: many_associations.py [ASSOCIATIONS]    (67,000 unless stated)

2,000 linked persons of 20,000 local ones, five quasi-identifiers, k = 3. Associations are true ones
(of one or two values, what most of the local persons with them have) or random pairs of values.
What is left is held against plain code that applies single associations to some tuples.
"""

from __future__ import annotations

import sys
import time
from itertools import combinations

import numpy as np
from linkage_anonymity import people, schema

from sfumato.hierarchies import Hierarchy
from sfumato.semantics.associations import Association, Item, State
from sfumato.semantics.linkage_anonymity import LinkageAnonymity, link_up
from sfumato.semantics.local_data import Linked, certainty_penalties
from sfumato.semantics.sla import semantic_levels

LOCAL, LINKED, K = 20_000, 2_000, 3


def levels_that_say(hierarchy: Hierarchy) -> list[int]:
    """The levels that have more than one value."""
    return [level for level in range(hierarchy.height) if len(hierarchy.labels[level]) > 1]


def true_ones(linked: Linked, number: int, rng: np.random.Generator) -> list[Association]:
    """What most of the local persons have who have one or two values; so many, drawn."""
    (local,) = linked.locals_
    shown = {
        Item(name, level, label): local_at == label
        for name, hierarchy, codes in zip(
            linked.quasi_identifiers, linked.hierarchies, local.codes.T, strict=True
        )
        for level in levels_that_say(hierarchy)
        for local_at in [hierarchy.ancestors[level][codes]]
        for label in np.unique(local_at).tolist()
    }
    found = list[Association]()
    pairs = [(a, b) for a, b in combinations(shown, 2) if a.attribute != b.attribute]
    chosen = rng.permutation(len(pairs))
    for antecedent in [*((each,) for each in shown), *(pairs[each] for each in chosen)]:
        who = np.logical_and.reduce([shown[each] for each in antecedent])
        total = int(who.sum())
        if total < 2:
            continue
        for name, hierarchy, codes in zip(
            linked.quasi_identifiers, linked.hierarchies, local.codes.T, strict=True
        ):
            if any(each.attribute == name for each in antecedent):
                continue
            for level in levels_that_say(hierarchy):
                labels, counts = np.unique(
                    hierarchy.ancestors[level][codes[who]], return_counts=True
                )
                if 2 * counts.max() > total:
                    then = Item(name, level, int(labels[counts.argmax()]))
                    found.append(said(antecedent, then, counts.max() / total, total / LOCAL))
                    break
        if len(found) >= number:
            break
    return found[:number]


def random_ones(linked: Linked, number: int, rng: np.random.Generator) -> list[Association]:
    """Pairs of values of two attributes, whatever they are."""
    found = dict[tuple[Item, Item], Association]()
    while len(found) < number:
        one, two = rng.choice(len(linked.hierarchies), 2, replace=False).tolist()
        items = [drawn(linked, each, rng) for each in (one, two)]
        found[items[0], items[1]] = said((items[0],), items[1], rng.random(), 0.01)
    return list(found.values())


def drawn(linked: Linked, attribute: int, rng: np.random.Generator) -> Item:
    """A value of an attribute at a level below the root."""
    hierarchy = linked.hierarchies[attribute]
    level = int(rng.choice(levels_that_say(hierarchy)))
    label = int(rng.integers(len(hierarchy.labels[level])))
    return Item(linked.quasi_identifiers[attribute], level, label)


def said(antecedent: tuple[Item, ...], then: Item, sure: float, support: float) -> Association:
    """An association that the custodian accepted."""
    return Association(antecedent, then, support, sure, State.ACCEPTED)


def below_k(linked: Linked, levels: np.ndarray, known: list[Association]) -> int:
    """Of 50 tuples, those that one association alone leads to fewer than k local persons."""
    (local,) = linked.locals_
    ancestors = {
        name: hierarchy.ancestors
        for name, hierarchy in zip(linked.quasi_identifiers, linked.hierarchies, strict=True)
    }
    places = {name: place for place, name in enumerate(linked.quasi_identifiers)}

    def match(name: str, level: int, leaf: int) -> np.ndarray:
        at = ancestors[name][level]
        return np.asarray(at[local.codes[:, places[name]]] == at[leaf])

    weights = np.diff(local.start)
    few = 0
    for row in np.random.default_rng(3).permutation(len(levels))[:50].tolist():
        leaves = dict(zip(places, linked.codes[row].tolist(), strict=True))
        shown = dict(zip(places, levels[row].tolist(), strict=True))
        every = {name: match(name, shown[name], leaves[name]) for name in places}
        for each in known:
            then, name = each.consequent, each.consequent.attribute
            leaf = int(np.flatnonzero(ancestors[name][then.level] == then.label)[0])
            at = ancestors[name][shown[name]]
            if shown[name] <= then.level or at[leaf] != at[leaves[name]]:
                continue
            if all(
                shown[item.attribute] <= item.level
                and ancestors[item.attribute][item.level][leaves[item.attribute]] == item.label
                for item in each.antecedent
            ):
                others = [every[other] for other in places if other != name]
                left = int(
                    weights[np.logical_and.reduce([*others, match(name, then.level, leaf)])].sum()
                )
                if 0 < left < K:
                    few += 1
                    break
    return few


def report(number: int) -> None:
    """Print what each kind of associations costs."""
    everybody = people(LOCAL)
    file = everybody.take(np.random.default_rng(1).permutation(LOCAL)[:LINKED])
    linked = link_up(file, schema(), [LinkageAnonymity(everybody, K, name="hospital")])
    start, hierarchies = linked.least_levels(), linked.hierarchy_of
    loss = [certainty_penalties(linked.codes, start, linked.hierarchies, None).mean()]
    print(f"without associations: NCP {loss[0]:.3f}")
    for kind in (true_ones, random_ones):
        known = kind(linked, number, np.random.default_rng(2))
        begun = time.process_time()
        found = semantic_levels(linked.codes, start, linked.locals_, hierarchies, known, K)
        seconds = time.process_time() - begun
        ncp = certainty_penalties(linked.codes, found.levels, linked.hierarchies, None).mean()
        at_roots = np.mean(found.levels == [each.height for each in linked.hierarchies])
        below = below_k(linked, found.levels, known)
        print(
            f"{kind.__name__}: {len(known):,} associations, {seconds:.0f} CPU s, NCP {ncp:.3f}, "
            f"{at_roots:.0%} of the cells at their roots, {below} of 50 tuples below k by one",
            flush=True,
        )


if __name__ == "__main__":
    report(int(sys.argv[1]) if len(sys.argv) > 1 else 67_000)
