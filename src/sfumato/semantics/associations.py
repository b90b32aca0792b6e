"""Rules of the kind *who has this, has that*: mined from releases, said by people, kept short."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from sfumato.core.arrays import Bools, Codes, Floats, Integers, Ints
from sfumato.core.errors import InputError
from sfumato.core.number_text import percentage
from sfumato.hierarchies import Hierarchy


class Item(NamedTuple):
    """A value of an attribute, an index into ``labels[level]``; level 0 is the leaves."""

    attribute: str
    level: int
    label: int

    def text(self, hierarchies: Mapping[str, Hierarchy]) -> str:
        """Attribute and value as people read them."""
        return f"{self.attribute} {hierarchies[self.attribute].label(self.level, self.label)}"


class State(StrEnum):
    """What the custodian says to an association."""

    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


@dataclass(frozen=True)
class Association:
    """Who shows the antecedent's values mostly has the consequent's (Eq. 1 of paper 002).

    Attributes
    ----------
    antecedent
        One or more items of different attributes, ordered by attribute.
    support
        Share of the release's individuals (or records, whichever were counted) who show the
        antecedent: ``|R_x| / |R_linkage|``.
    confidence
        Share of these who show the consequent too: ``|R_xy| / |R_x|``.
    """

    antecedent: tuple[Item, ...]
    consequent: Item
    support: float
    confidence: float
    state: State = State.PROPOSED
    note: str = ""

    def __post_init__(self) -> None:
        """Check the items and the shares."""
        names = [item.attribute for item in (*self.antecedent, self.consequent)]
        if not self.antecedent or len(set(names)) < len(names):
            raise InputError("an association", "must lead from one or more attributes to another")
        if not (0 <= self.support <= 1 and 0 <= self.confidence <= 1):
            raise InputError("support and confidence", "must be shares", accepted="0 to 1")
        # Sorted, as the key must be the same in whatever order the items were found.
        object.__setattr__(self, "antecedent", tuple(sorted(self.antecedent)))

    @property
    def key(self) -> tuple[tuple[Item, ...], Item]:
        """What it says, whatever its figures and its state."""
        return self.antecedent, self.consequent

    def text(self, hierarchies: Mapping[str, Hierarchy]) -> str:
        """The association as people read it."""
        antecedent = " & ".join(item.text(hierarchies) for item in self.antecedent)
        return (
            f"{antecedent} -> {self.consequent.text(hierarchies)}, "
            f"support {percentage(self.support)}, confidence {percentage(self.confidence)}"
        )


class Associations(tuple[Association, ...]):
    """Associations in a fixed order; numbered from 1 for people."""

    __slots__ = ()

    def of_state(self, state: State) -> tuple[Association, ...]:
        """Those in one state."""
        return tuple(one for one in self if one.state == state)

    @property
    def accepted(self) -> tuple[Association, ...]:
        """Those that a reader is taken to know."""
        return self.of_state(State.ACCEPTED)


@dataclass(frozen=True, eq=False)
class Shown:
    """The distinct generalised tuples of one release.

    Attributes
    ----------
    hierarchies
        The hierarchy of each attribute by its name, in the order of the columns.
    codes
        A leaf below each shown value, -1 for missing; shape (tuples, attributes).
    levels
        Level that each value is shown at; shape (tuples, attributes).
    counts
        How many individuals (or records: what is counted, support is a share of) were shown as
        each tuple; shape (tuples,).
    """

    hierarchies: Mapping[str, Hierarchy] = field(repr=False)
    codes: Codes = field(repr=False)
    levels: Integers = field(repr=False)
    counts: Integers = field(repr=False)

    def __post_init__(self) -> None:
        """Check that the parts fit each other."""
        shape = (len(self.counts), len(self.hierarchies))
        if self.codes.shape != shape or self.levels.shape != shape:
            raise InputError(
                "a release's tuples", "must have a code and a level for every tuple and attribute"
            )
        if len(self.counts) and int(self.counts.min()) < 0:
            raise InputError("a release's counts", "must not be negative")

    def at(self, column: int, level: int) -> Codes:
        """What each tuple tells about an attribute at a level, as an index into ``labels[level]``.

        It is -1 where the tuple shows a coarser value, or none; shape (tuples,).
        """
        hierarchy = tuple(self.hierarchies.values())[column]
        codes = self.codes[:, column]
        if not hierarchy.leaves:
            return np.full(len(codes), -1, dtype=np.int32)
        # Who shows a value with one branch shows that branch, too: the lowest such level counts.
        lowest = equal_levels(hierarchy)[0]
        told = (lowest[self.levels[:, column], codes] <= level) & (codes >= 0)
        return np.where(told, hierarchy.ancestors[level][codes], -1).astype(np.int32, copy=False)


def equal_levels(hierarchy: Hierarchy) -> tuple[Codes, Codes]:
    """For each level and leaf the lowest and the highest level with the same leaves below.

    Shape (levels, leaves) each. Who is shown the only branch of a value knows the value
    below it, too.
    """
    below = np.stack(
        [
            hierarchy.leaf_counts(level)[ancestors]
            for level, ancestors in enumerate(hierarchy.ancestors)
        ]
    )
    # Leaf counts never fall towards the root, so these counts of levels are the ends of a run.
    fewer = (below[np.newaxis] < below[:, np.newaxis]).sum(axis=1)
    at_most = (below[np.newaxis] <= below[:, np.newaxis]).sum(axis=1)
    return fewer.astype(np.int32), (at_most - 1).astype(np.int32)


Place = tuple[int, int]
"""Number of an attribute, and a level of its hierarchy."""
Counts = Floats
"""Sums of counts; exact below 2^53."""


@dataclass(frozen=True, eq=False)
class Sets:
    """The frequent combinations of values at some places.

    Attributes
    ----------
    places
        The places, of ascending attributes.
    labels
        The labels of each combination, by index; shape (combinations, places).
    counts
        How often each was shown, shape (combinations,).
    of_tuple
        The combination that each tuple shows, -1 for none; shape (tuples,).
    """

    places: tuple[Place, ...]
    labels: Codes = field(repr=False)
    counts: Counts = field(repr=False)
    of_tuple: Codes = field(repr=False)


def items(shown: Shown, least: float = 0.0) -> dict[Place, Sets]:
    """The frequent single values at every level, by place.

    The root says nothing, and neither does any other value that all leaves are below: these are
    left out.
    """
    found: dict[Place, Sets] = {}
    for column, hierarchy in enumerate(shown.hierarchies.values()):
        # Without the top level, which is the root: everybody shows it.
        for level in range(hierarchy.height):
            told = shown.at(column, level)
            says = hierarchy.leaf_counts(level) < len(hierarchy.leaves)
            told = np.where((told >= 0) & says[told], told, -1)
            keys, counts, of_tuple = grouped(told.astype(np.int64), shown.counts, least)
            if len(keys):
                labels = keys.astype(np.int32)[:, np.newaxis]
                found[column, level] = Sets(((column, level),), labels, counts, of_tuple)
    return found


def frequent_sets(shown: Shown, least: float, length: int) -> Iterator[Sets]:
    """The frequent combinations of 1 to ``length`` values, by their places.

    Apriori over places: a combination of n places is counted
    only where all its parts of n - 1 places are frequent, and only over the tuples that show them.
    With a attributes of h levels this takes O(C(a, length) h^length) groupings of at most all
    tuples, O(tuples log tuples) each; what pruning leaves is mostly far less. Places without any
    are left out.
    """
    single = items(shown, least)
    yield from single.values()
    before = {sets.places: sets for sets in single.values()}
    for size in range(2, length + 1):
        now: dict[tuple[Place, ...], Sets] = {}
        for sets in before.values():
            for place, item in single.items():
                # Ascending attributes: each combination is made once, no attribute twice.
                joined = _joined(sets, item, before) if place[0] > sets.places[-1][0] else None
                if joined is None:
                    continue
                longer = _counted(sets, item, joined, shown, least)
                if len(longer.counts):
                    yield longer
                    # The longest combinations are not extended, so they need no place in memory.
                    if size < length:
                        now[longer.places] = longer
        before = now


def grouped(keys: Ints, counts: Integers, least: float) -> tuple[Ints, Counts, Codes]:
    """The keys that are counted at least so often.

    Parameters
    ----------
    keys
        A key per tuple, -1 for none; shape (tuples,).
    counts
        How often each tuple was shown, shape (tuples,).

    Returns
    -------
    tuple
        These keys ascending, the count of each, and each tuple's place among them (-1 for none).
    """
    present = np.flatnonzero(keys >= 0)
    distinct, inverse = np.unique(keys[present], return_inverse=True)
    sums = np.bincount(inverse, weights=counts[present], minlength=len(distinct))
    totals: Counts = sums.astype(np.float64, copy=False)
    # A share times a total may be rounded up; a count that just meets it must not be lost for that.
    kept = (totals >= least - 1e-9 * max(least, 1.0)) & (totals > 0)
    number = np.where(kept, np.cumsum(kept) - 1, -1)
    of_tuple = np.full(len(keys), -1, dtype=np.int32)
    of_tuple[present] = number[inverse]
    return distinct[kept], totals[kept], of_tuple


def _joined(sets: Sets, item: Sets, before: Mapping[tuple[Place, ...], Sets]) -> Bools | None:
    """The tuples in which all parts of the joined places are frequent; ``None`` for nowhere."""
    places = (*sets.places, *item.places)
    told = (sets.of_tuple >= 0) & (item.of_tuple >= 0)
    for part in combinations(places, len(places) - 1):
        # A combination is no more frequent than any part of it (Apriori).
        if part not in before:
            return None
        told &= before[part].of_tuple >= 0
    return told if told.any() else None


def _counted(sets: Sets, item: Sets, told: Bools, shown: Shown, least: float) -> Sets:
    radix = len(item.counts)
    keys = np.where(told, sets.of_tuple.astype(np.int64) * radix + item.of_tuple, -1)
    found, counts, of_tuple = grouped(keys, shown.counts, least)
    labels = np.column_stack([sets.labels[found // radix], item.labels[found % radix]])
    return Sets((*sets.places, *item.places), labels, counts, of_tuple)


Said = tuple[tuple[Item, ...], Item]
"""Antecedent, ordered by attribute, and consequent."""


class Redundancy:
    """Tells which associations follow from others.

    One association follows from another if whoever shows its antecedent shows the other's too (a
    subset of its items, or ancestors of them), and the other's consequent is the same value or lies
    below it. Nobody refines a value further by the one than by the other.
    """

    def __init__(self, hierarchies: Mapping[str, Hierarchy], among: Collection[Said]) -> None:
        self._hierarchies = hierarchies
        self._told: dict[tuple[Item, ...], list[Item]] = {}
        for antecedent, consequent in among:
            self._told.setdefault(antecedent, []).append(consequent)
        # Any leaf below a value has all its ancestors, so one leaf per value is enough.
        self._leaves = {
            name: [np.unique(codes, return_index=True) for codes in hierarchy.ancestors]
            for name, hierarchy in hierarchies.items()
        }

    def follows(self, said: Said) -> bool:
        """Whether an association follows from another one."""
        antecedent, consequent = said
        for wider in self._wider(antecedent):
            for other in self._told.get(wider, ()):
                # The wider antecedents include its own, and no association follows from itself.
                if (wider, other) != said and self._below(other, consequent):
                    return True
        return False

    def _wider(self, antecedent: tuple[Item, ...]) -> Iterator[tuple[Item, ...]]:
        """Every antecedent that is shown wherever this one is, itself included."""
        # None stands for leaving the item out: a subset is shown wherever the whole is.
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


Figures = tuple[float, float]
"""Confidence and support."""
# A choice. Each further item multiplies what is counted by the attributes and their levels.
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
    earlier
        Associations that were decided on before: they keep their state and note; the accepted
        ones stay, whether they are found again or not.

    Returns
    -------
    Associations
        By descending confidence, then support; ties by what they say.
    """
    for name, share in {"support": support, "confidence": confidence}.items():
        if not 0 < share <= 1:
            raise InputError(f"parameter {name}", "must be a share", accepted="above 0, at most 1")
    if length < 1:
        raise InputError("parameter length", "must be a whole number", accepted="1 or more")
    hierarchies = _hierarchies(releases)
    found: dict[Said, Figures] = {}
    for release in releases:
        for said, figures in _candidates(release, support, confidence, length):
            # Confidence stands first in the figures, so the greatest is that of the surest release.
            found[said] = max(figures, found.get(said, (0.0, 0.0)))
    decided = {one.key: one for one in earlier or () if one.state != State.PROPOSED}
    accepted = {key for key, one in decided.items() if one.state == State.ACCEPTED}
    refused = decided.keys() - accepted
    # What was rejected is not known to readers, so nothing may be left out as following from it.
    redundancy = Redundancy(
        hierarchies,
        [association for association in {*found, *accepted} if association not in refused],
    )
    # What was decided on stays though it follows from others: the decision must not get lost.
    kept = [said for said in found if said in decided or not redundancy.follows(said)]
    return Associations(
        tuple(
            sorted(
                [_association(said, found[said], decided.get(said)) for said in kept]
                + [decided[association] for association in accepted if association not in found],
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
    # Every value may be a conclusion: support in Eq. 1 is that of the antecedent alone.
    consequents = items(shown)
    for sets in frequent_sets(shown, support * total, length):
        columns = {column for column, _ in sets.places}
        for place, item in consequents.items():
            if place[0] in columns:
                continue
            for row, label, share in _confident(sets, item, shown, confidence):
                antecedent = tuple(
                    sorted(
                        _item(names, place, value)
                        for place, value in zip(sets.places, sets.labels[row], strict=True)
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
    # A quotient such as 9/10 may fall below its decimal in the last bit.
    for place in np.flatnonzero(shares >= confidence - 1e-12):
        row, value = divmod(int(found[place]), radix)
        yield row, int(item.labels[value, 0]), float(shares[place])


def _item(names: Sequence[str], place: Place, label: int) -> Item:
    return Item(names[place[0]], place[1], int(label))


def _association(said: Said, figures: Figures, decided: Association | None) -> Association:
    confidence, support = figures
    association = Association(*said, support=support, confidence=confidence)
    return (
        association
        if decided is None
        else replace(association, state=decided.state, note=decided.note)
    )


def _hierarchies(releases: Sequence[Shown]) -> Mapping[str, Hierarchy]:
    """The hierarchy of every attribute, the same in all releases."""
    hierarchies: dict[str, Hierarchy] = {}
    for release in releases:
        for name, hierarchy in release.hierarchies.items():
            first = hierarchies.setdefault(name, hierarchy)
            # Items are places in the hierarchy, which mean the same only where labels and order do.
            if first is not hierarchy and (
                first.labels != hierarchy.labels
                or not np.array_equal(first.ancestors, hierarchy.ancestors)
            ):
                raise InputError(
                    f"hierarchy of attribute '{name}'",
                    "must be the same in all releases that are mined together",
                )
    return hierarchies


def decide(
    associations: Associations, numbers: Iterable[int], state: State, note: str = ""
) -> Associations:
    """The associations with some of them, by number from 1, accepted or rejected.

    A reader is taken to know those that are accepted; the others are no secret, or noise.
    """
    chosen = set(numbers)
    if chosen - set(range(1, len(associations) + 1)):
        raise InputError(
            "number of an association",
            "must be one of those found",
            accepted=f"1 to {len(associations)}" if len(associations) else "none: none was found",
        )
    return Associations(
        tuple(
            replace(association, state=state, note=note) if number in chosen else association
            for number, association in enumerate(associations, 1)
        )
    )
