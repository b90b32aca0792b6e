"""Associations found in what earlier releases showed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from sfumato.core.errors import InputError
from sfumato.hierarchies import Hierarchy
from sfumato.semantics.associations.association import Association, Associations, Item, State
from sfumato.semantics.associations.frequent import Place, Sets, frequent_sets, grouped, items
from sfumato.semantics.associations.redundancy import Redundancy, Said
from sfumato.semantics.associations.shown import Shown

Figures = tuple[float, float]
"""Confidence and support."""
LENGTH = 3
"""The most items of an antecedent where nothing else is asked for."""


def mine(
    releases: Sequence[Shown],
    *,
    support: float = 0.01,
    confidence: float = 0.9,
    length: int = LENGTH,
    earlier: Associations | None = None,
) -> Associations:
    """What a reader of the releases could learn: X -> Y at every level of the hierarchies.

    Support and confidence are those of Eq. 1 of Lu, Sinnott and Verspoor 2017: the share of the
    individuals (or records: whatever the counts of the tuples count) who show the antecedent,
    and the share of these who show the consequent too. A tuple shows a value if it shows the
    value itself or one below it. Every release is mined on its own, so that a later release
    that shows less hides nothing that an earlier one told; of several, the figures of the
    greatest confidence are kept.

    Redundancy is removed by these rules; rejected associations make no other one redundant:

    1. an association is left out if another one holds whose antecedent is a subset of its own,
       or has ancestors in place of some items, and whose consequent is the same or lies below;
    2. nothing is said about an attribute by its own values, since that follows from the
       hierarchy;
    3. the root, and every value that all leaves lie below, is neither antecedent nor consequent.

    Parameters
    ----------
    releases
        The distinct generalised tuples of each release.
    support
        The least support, a share above 0.
    confidence
        The least confidence, a share above 0.
    length
        The most items of an antecedent.
    earlier
        Associations that were decided on before: they keep their state and note; the accepted
        ones stay, whether they are found again or not.

    Returns
    -------
    Associations
        By descending confidence, then support; ties by what they say.

    Raises
    ------
    InputError
        If a share is not above 0 and at most 1, the length is below 1, or two releases differ
        in the hierarchy of an attribute.
    """
    for name, share in {"support": support, "confidence": confidence}.items():
        if not 0 < share <= 1:
            raise InputError(f"parameter {name}", "must be a share", accepted="above 0, at most 1")
    if length < 1:
        raise InputError("parameter length", "must be a whole number", accepted="1 or more")
    hierarchies = _hierarchies(releases)
    found: dict[Said, Figures] = {}
    for shown in releases:
        for said, figures in _candidates(shown, support, confidence, length):
            found[said] = max(figures, found.get(said, (0.0, 0.0)))
    decided = {one.key: one for one in earlier or () if one.state != State.PROPOSED}
    known = {key for key, one in decided.items() if one.state == State.ACCEPTED}
    refused = decided.keys() - known
    redundancy = Redundancy(hierarchies, [said for said in {*found, *known} if said not in refused])
    kept = [said for said in found if said in decided or not redundancy.follows(said)]
    return Associations(
        tuple(
            sorted(
                [_association(said, found[said], decided.get(said)) for said in kept]
                + [decided[said] for said in known if said not in found],
                key=lambda one: (-one.confidence, -one.support, one.key),
            )
        )
    )


def _candidates(
    shown: Shown, support: float, confidence: float, length: int
) -> Iterator[tuple[Said, Figures]]:
    """Every association that one release tells, the redundant ones included."""
    total = float(shown.counts.sum())
    if not total:
        return
    names = tuple(shown.hierarchies)
    consequents = items(shown)
    for sets in frequent_sets(shown, support * total, length):
        columns = {column for column, _ in sets.places}
        for place, item in consequents.items():
            if place[0] in columns:
                continue
            for row, label, share in _confident(sets, item, shown, confidence):
                antecedent = tuple(
                    sorted(
                        _item(names, each, value)
                        for each, value in zip(sets.places, sets.labels[row], strict=True)
                    )
                )
                figures = (share, float(sets.counts[row]) / total)
                yield (antecedent, _item(names, place, label)), figures


def _confident(
    sets: Sets, item: Sets, shown: Shown, confidence: float
) -> Iterator[tuple[int, int, float]]:
    """Number of a combination, label that it tells, and how surely."""
    radix = len(item.counts)
    told = (sets.of_tuple >= 0) & (item.of_tuple >= 0)
    keys = np.where(told, sets.of_tuple.astype(np.int64) * radix + item.of_tuple, -1)
    found, counts, _ = grouped(keys, shown.counts, 0.0)
    shares = counts / sets.counts[found // radix]
    for place in np.flatnonzero(shares >= confidence - 1e-12):
        row, value = divmod(int(found[place]), radix)
        yield row, int(item.labels[value, 0]), float(shares[place])


def _item(names: Sequence[str], place: Place, label: int) -> Item:
    return Item(names[place[0]], place[1], int(label))


def _association(said: Said, figures: Figures, decided: Association | None) -> Association:
    confidence, support = figures
    one = Association(*said, support=support, confidence=confidence)
    return one if decided is None else replace(one, state=decided.state, note=decided.note)


def _hierarchies(releases: Sequence[Shown]) -> Mapping[str, Hierarchy]:
    """The hierarchy of every attribute, the same in all releases."""
    found: dict[str, Hierarchy] = {}
    for shown in releases:
        for name, hierarchy in shown.hierarchies.items():
            first = found.setdefault(name, hierarchy)
            if first is not hierarchy and (
                first.labels != hierarchy.labels
                or not np.array_equal(first.ancestors, hierarchy.ancestors)
            ):
                raise InputError(
                    f"hierarchy of attribute '{name}'",
                    "must be the same in all releases that are mined together",
                )
    return found
