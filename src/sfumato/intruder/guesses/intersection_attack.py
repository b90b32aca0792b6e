"""Attack by what several releases say of one person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sfumato.core.arrays import Floats, Ints
from sfumato.core.errors import InputError
from sfumato.intruder.candidates import Identification, Inference, distinct_sets, find_candidates
from sfumato.intruder.knowledge import Knowledge
from sfumato.intruder.reading import EQUAL, ReleasedFile, TextColumn


@dataclass(frozen=True, eq=False)
class Odds:
    """How likely each unit is the target's, by sets of units and kinds of targets.

    Attributes
    ----------
    set_of
        The set of each unit, shape (units,).
    fits
        Whether the units of a set fit a kind of target in the first release, (sets, targets).
    joined
        The odds of each unit of a set by both releases, shape (sets, targets).
    """

    set_of: Ints = field(repr=False)
    fits: sparse.csr_array = field(repr=False)
    joined: sparse.csr_array = field(repr=False)

    def settled(self) -> sparse.csc_array:
        """The odds, those of the first release where both together leave nobody."""
        units = self.units()
        nobody = (np.asarray(self.joined.T @ units).reshape(-1) <= 0).astype(np.float64)
        odds = sparse.csc_array(self.joined + self.fits.multiply(nobody[np.newaxis, :]))
        odds.eliminate_zeros()
        odds.sort_indices()
        return odds

    def units(self) -> Floats:
        """Units of each set, shape (sets,)."""
        return np.bincount(self.set_of, minlength=self.fits.shape[0]).astype(np.float64)

    def draw(self, of_person: Ints, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """For each target one of the likeliest units, -1 where there is none, and its chance.

        Takes O(targets log sets + units log units) beside the odds.
        """
        odds = self.settled()
        whole = np.asarray(odds.T @ self.units()).reshape(-1)
        best = odds.max(axis=0).toarray().reshape(-1)
        of_column = np.repeat(np.arange(odds.shape[1]), np.diff(odds.indptr))
        odds.data = (odds.data >= best[of_column] * (1 - EQUAL)).astype(np.float64)
        odds.eliminate_zeros()
        members = np.argsort(self.set_of, kind="stable")
        sizes = self.units().astype(np.int64)
        starts = np.cumsum(sizes) - sizes
        below = np.concatenate([[0], np.cumsum(sizes[odds.indices])]).astype(np.int64)
        begin = below[odds.indptr[:-1]][of_person]
        count = below[odds.indptr[1:]][of_person] - begin
        some = count > 0
        drawn = begin[some] + rng.integers(0, count[some])
        place = np.searchsorted(below, drawn, side="right") - 1
        unit = np.full(len(of_person), -1, dtype=np.int64)
        unit[some] = members[starts[odds.indices[place]] + drawn - below[place]]
        chance = best / np.where(whole > 0, whole, 1.0)
        return unit, np.where(some, chance[of_person], 0.0)

    def values(self, units: Ints, codes: Ints, count: int) -> tuple[Ints, Floats]:
        """For each kind of target the likeliest value, -1 where there is none, and its chance.

        Units and values that they have are given once; shape (pairs,).
        """
        pairs = np.unique(np.column_stack([units, codes]), axis=0)
        pairs = pairs[pairs[:, 1] >= 0]
        held = sparse.csr_array(
            (np.ones(len(pairs)), (self.set_of[pairs[:, 0]], pairs[:, 1])),
            shape=(self.fits.shape[0], count),
        )
        odds = self.settled()
        weights = sparse.csr_array(odds.T @ held)
        whole = np.asarray(odds.T @ self.units()).reshape(-1)
        value = np.asarray(weights.argmax(axis=1)).reshape(-1).astype(np.int64)
        top = weights.max(axis=1).toarray().reshape(-1)
        return np.where(top > 0, value, -1), top / np.where(whole > 0, whole, 1.0)


@dataclass(frozen=True, eq=False)
class Side:
    """One release.

    Attributes
    ----------
    kind
        Kind of each unit: units that show the same cells; shape (units,).
    group
        Group of each register person, shape (persons,).
    fits
        Whether a unit of a kind fits a group, shape (kinds, groups).
    """

    file: ReleasedFile = field(repr=False)
    kind: Ints = field(repr=False)
    group: Ints = field(repr=False)
    fits: sparse.csr_array = field(repr=False)

    @classmethod
    def of(cls, file: ReleasedFile, knowledge: Knowledge) -> Side:
        """The release as seen by somebody who holds the register."""
        candidates = find_candidates(file, knowledge)
        return cls(file, candidates.kind, candidates.group, sparse.csr_array(candidates.fits_kind))

    def fitting(self, groups: Ints, kinds: Ints | None = None) -> sparse.csr_array:
        """Which of some, or of all, kinds fit which groups, as 0 and 1; shape (kinds, groups)."""
        rows = self.fits if kinds is None else self.fits[kinds]
        return sparse.csr_array(rows[:, groups]).astype(np.float64)


LINKED = 0.5
"""Share of the pseudonyms in both files that must fit a common person for them to be the same."""


def pseudonyms(file: ReleasedFile) -> dict[str, int]:
    """The unit of each pseudonym; empty where the file has no person column."""
    if file.person is None:
        return {}
    for column in file.others:
        pairs = np.unique(np.column_stack([file.person, column.codes]), axis=0)
        # The person column is read as numbers: its texts are in the column that goes with it one
        # to one.
        if len(pairs) == file.persons == len(np.unique(column.codes)):
            texts = [(column.texts[code], unit) for unit, code in pairs.tolist()]
            return {text: unit for text, unit in texts if text is not None}
    return {}


def shared_units(first: ReleasedFile, second: ReleasedFile) -> Ints:
    """Units of both releases under the same pseudonym, shape (shared, 2)."""
    one, other = pseudonyms(first), pseudonyms(second)
    pairs = [(unit, other[text]) for text, unit in one.items() if text in other]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def are_the_same(here: Side, there: Side, shared: Ints, joint: Ints) -> bool:
    """Whether the pseudonyms in both releases are the same persons', by who fits them.

    Joint groups of persons in both have shape (joint groups, 2).
    """
    # Plain numbers coincide in any two files, whoever they belong to.
    if not len(shared) or all(text.isdigit() for text in pseudonyms(here.file)):
        return False
    pairs, counts = np.unique(_kinds(here, there, shared), axis=0, return_counts=True)
    common = np.asarray(_both(here, there, pairs, joint).sum(axis=1)).reshape(-1) > 0
    return bool(counts[common].sum() >= LINKED * counts.sum())


def odds_by_pseudonym(here: Side, there: Side, shared: Ints, joint: Ints) -> Odds:
    """A unit is in question if it fits in both releases under one pseudonym.

    Takes O(pairs of kinds x joint groups that fit); these have shape (joint groups, 2).
    """
    other = np.full(len(here.kind), -1, dtype=np.int64)
    other[shared[:, 0]] = there.kind[shared[:, 1]]
    sets, set_of = np.unique(np.column_stack([here.kind, other]), axis=0, return_inverse=True)
    fits = here.fitting(joint[:, 0], sets[:, 0])
    known = (sets[:, 1] >= 0).astype(np.float64)
    # -1, a unit that is not in both, is read as 0 and taken out by `known`.
    second = there.fitting(joint[:, 1], np.maximum(sets[:, 1], 0))
    odds = fits.multiply(second).multiply(known[:, np.newaxis])
    return Odds(set_of.reshape(-1), sparse.csr_array(fits), sparse.csr_array(odds))


def _kinds(here: Side, there: Side, shared: Ints) -> Ints:
    return np.column_stack([here.kind[shared[:, 0]], there.kind[shared[:, 1]]])


def _both(here: Side, there: Side, pairs: Ints, joint: Ints) -> sparse.csr_array:
    one = here.fitting(joint[:, 0], pairs[:, 0])
    return sparse.csr_array(one.multiply(there.fitting(joint[:, 1], pairs[:, 1])))


Columns = Sequence[tuple[TextColumn, TextColumn]]


def odds_by_values(here: Side, there: Side, joint: Ints, sizes: Ints, columns: Columns) -> Odds:
    """A unit counts as its values do among the units that fit in the other release.

    Of the m2 units that fit a target in the second release, one is the target's and has the values
    s of the target's unit in the first. Each other of the m1 that fit there is in the second too
    with probability t, the share of the other persons fitting in the first who fit in both; the
    rest of the m2 has s as often as all records have. So if n1 and n2 of them have s, the others
    make about e = t (n1 - 1) + (m2 - 1 - t (m1 - 1)) share(s) of the n2, and as Poisson counts
    give each unit of values s the odds n2 / (t n2 + (1 - t) e): where the same persons fit in
    both, values tell nothing; where nobody else does, n2 over what chance makes. Takes O(sets of
    units x joint groups that fit, and pairs of kinds with a common person).

    Parameters
    ----------
    joint
        Groups of persons in both, shape (joint groups, 2).
    sizes
        Persons of each, shape (joint groups,).
    """
    own, others, count = _alike(here, there, columns)
    sets, set_of = np.unique(np.column_stack([here.kind, own]), axis=0, return_inverse=True)
    fits = here.fitting(joint[:, 0], sets[:, 0])
    first, second = here.fitting(joint[:, 0]), there.fitting(joint[:, 1])
    seen_here = _seen(here.kind, own, first, count)
    seen_there = _seen(there.kind, others, second, count)
    share = np.bincount(others, minlength=count) / max(len(others), 1)
    here_all, there_all = (np.asarray(each.sum(axis=1)).ravel() for each in (seen_here, seen_there))
    common = _common(first, second, sizes.astype(np.float64))
    strangers = np.maximum(there_all - 1 - common * (here_all - 1), 0.0)
    place, target = fits.tocoo().coords
    sign, both = sets[place, 1], common[target]
    found = _at(seen_there, target, sign)
    expected = both * (_at(seen_here, target, sign) - 1) + strangers[target] * share[sign]
    whole = both * found + (1 - both) * expected
    odds = np.where(found > 0, found / np.maximum(whole, EQUAL), 0.0)
    joined = sparse.csr_array((odds, (place, target)), shape=fits.shape)
    joined.eliminate_zeros()
    return Odds(set_of.reshape(-1), fits, joined)


def _seen(kind: Ints, sign: Ints, fits: sparse.csr_array, count: int) -> sparse.csr_array:
    """How many of the units that fit a target have each combination of values."""
    of_kind = sparse.csr_array((np.ones(len(kind)), (kind, sign)), shape=(fits.shape[0], count))
    seen = sparse.csr_array(fits.T @ of_kind)
    seen.sort_indices()
    return seen


def _common(first: sparse.csr_array, second: sparse.csr_array, sizes: Floats) -> Floats:
    """Share of the others fitting the target's kinds of the first release who fit the second's.

    Counted by kinds: who fits several of them with the target counts for each.
    """
    in_both = (first * sizes) @ second.T
    both = np.asarray(((first.T @ in_both).multiply(second.T)).sum(axis=1)).reshape(-1)
    alone = np.asarray(first.T @ (first @ sizes)).reshape(-1)
    kinds = [np.asarray(each.sum(axis=0)).reshape(-1) for each in (first, second)]
    # Less the target, who is in every kind that fits.
    others = alone - kinds[0]
    share = (both - kinds[0] * kinds[1]) / np.where(others > 0, others, 1.0)
    found: Floats = np.where(others > 0, np.clip(share, 0.0, 1.0), 0.0)
    return found


def _at(matrix: sparse.csr_array, rows: Ints, columns: Ints) -> Floats:
    """The entries at some places, by binary search."""
    width = matrix.shape[1]
    every = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)) * width + matrix.indices
    wanted = rows.astype(np.int64) * width + columns
    place = np.minimum(np.searchsorted(every, wanted), max(len(every) - 1, 0))
    if not len(every):
        return np.zeros(len(wanted))
    found: Floats = np.where(every[place] == wanted, matrix.data[place], 0.0)
    return found


def _alike(here: Side, there: Side, columns: Columns) -> tuple[Ints, Ints, int]:
    """A number for each unit of either release, the same for the same sensitive values."""
    units = len(here.kind)
    numbers = np.zeros(units + len(there.kind), dtype=np.int64)
    owner = np.concatenate([here.file.unit, units + there.file.unit])
    for one, other in columns:
        codes = np.concatenate([one.told, aligned(one, other)]) + 1
        held, _ = distinct_sets(owner, codes, len(numbers), int(codes.max(initial=0)) + 1)
        both = numbers * (int(held.max(initial=0)) + 1) + held
        numbers = np.unique(both, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return numbers[:units], numbers[units:], int(numbers.max(initial=0)) + 1


def aligned(one: TextColumn, other: TextColumn) -> Ints:
    """The records' texts of the second column as codes of the first, new ones above them."""
    places = {text: place for place, text in enumerate(one.texts)}
    code = [-1 if text is None else places.setdefault(text, len(places)) for text in other.texts]
    return np.array(code, dtype=np.int64)[other.codes]


@dataclass(frozen=True, eq=False)
class Intersection:
    """What the intersection of two releases ends with.

    Attributes
    ----------
    identification
        For each target a unit of the first release, -1 where none fits.
    inferences
        For each sensitive attribute of both releases a value of each target, as a code of the
        first release's texts.
    """

    identification: Identification
    inferences: tuple[Inference, ...]
    linked: bool


def intersect(
    first: ReleasedFile,
    second: ReleasedFile,
    knowledge: Knowledge,
    rng: np.random.Generator,
    *,
    targets: npt.ArrayLike | None = None,
) -> Intersection:
    """Guess which unit of the first of two releases a target is, and the target's values.

    The composition attack (Ganta, Kasiviswanathan & Smith 2008, KDD): a target is among the units
    that fit in the first release, and among those that fit in the second. Where the pseudonyms of
    both are the same (half of those in both files fit a common register person, and some are no
    plain numbers), units are left that fit in both. Elsewhere sensitive values that do not
    change must agree. A target for whom that leaves nobody is guessed from the first release, as
    all are where the releases have neither pseudonyms nor a sensitive column in common.

    Works on kinds of units and groups of persons that fit; see `odds_by_pseudonym` and
    `odds_by_values` for the cost.

    Parameters
    ----------
    knowledge
        What the intruder holds; the targets are persons of it.
    targets
        Numbers of the register persons to look for; all if not given.
    """
    persons = np.arange(knowledge.persons, dtype=np.int64)
    chosen = persons if targets is None else np.asarray(targets, dtype=np.int64)
    if len(chosen) and not 0 <= int(chosen.min()) <= int(chosen.max()) < len(persons):
        raise InputError("parameter targets", "must be numbers of register people")
    here, there = Side.of(first, knowledge), Side.of(second, knowledge)
    pairs = np.column_stack([here.group, there.group])
    joint, joint_of = np.unique(pairs, axis=0, return_inverse=True)
    of_person = joint_of.reshape(-1)[chosen]
    others = {column.name: column for column in second.sensitive}
    columns = [
        (attribute, others[attribute.name])
        for attribute in first.sensitive
        if attribute.name in others
    ]
    shared = shared_units(first, second)
    linked = are_the_same(here, there, shared, joint)
    if linked:
        odds = odds_by_pseudonym(here, there, shared, joint)
    else:
        odds = odds_by_values(here, there, joint, np.bincount(joint_of.reshape(-1)), columns)
    unit, chance = odds.draw(of_person, rng)
    inferences = []
    for one, _ in columns:
        value, sure = odds.values(first.unit, one.told, len(one.texts))
        inferences.append(Inference(one.name, chosen, value[of_person], sure[of_person]))
    return Intersection(Identification(unit, chosen, chance), tuple(inferences), linked)
