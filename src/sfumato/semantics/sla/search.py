"""The cheapest levels at which enough individuals are left, whatever a reader infers."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.hierarchies import Hierarchy
from sfumato.semantics.associations import Association
from sfumato.semantics.linkage_anonymity import Local, certainty_penalties
from sfumato.semantics.linkage_anonymity.keys import Ints
from sfumato.semantics.linkage_anonymity.loss import Floats, normalised_weights, penalty_table
from sfumato.semantics.sla.between import Tuples, intersection
from sfumato.semantics.sla.enforced import Enforce, generalise_antecedents
from sfumato.semantics.sla.judge import Counts, Judge, Verdict
from sfumato.semantics.sla.reader import Bools, Levels, Reader
from sfumato.semantics.sla.result import Change, Raised, SemanticLevels

DIGITS = 9
"""Losses that agree in so many decimals count as equal."""


def semantic_levels(
    codes: Ints,
    levels: npt.NDArray[np.integer],
    locals_: Sequence[Local],
    hierarchies: Mapping[str, Hierarchy],
    associations: Iterable[Association],
    k: int,
    weights: Sequence[float] | None = None,
    *,
    earlier: Sequence[Tuples] = (),
    enforce: Enforce | None = None,
) -> SemanticLevels:
    """Generalise tuples further until no reader's inference leaves fewer than k.

    Starts from the tuples of linkage k-anonymity (Lu, Sinnott and Verspoor 2017, Section 2). A
    tuple holds if every tuple that its reader can refine it to, by any part of the associations
    in any order (see `Reader.reachable`), is matched by at least k individuals of every local
    data set, or by nobody: then the reader learns that the association fails here, and falls
    back to a coarser tuple, which holds as well. Whether the true person is among the matching
    ones does not matter for the decision, since a decision that depended on it would tell.

    While a tuple does not hold, values are raised as rules 5-7 of Table 1 say: those that it
    shows of the antecedent of an association that refines it, level by level up to the root (or
    to the root at once, where ``enforce`` says that they are suppressed). Of all
    tuples that hold and can be come by so, the one of least weighted NCP is taken; of equal
    losses the one that leaves the first attribute at its lowest level, then the second, and so
    on. The search visits the vectors of levels by ascending loss, all tuples together, and is
    exact; in the worst case it visits all vectors above the first one.

    With ``earlier`` the tuple must also hold against a reader who knows which tuples of earlier
    releases are the same person's, and intersects them: in each local data set at least k
    individuals, or as many as the earlier releases alone leave if these are fewer, match the
    intersection after every refinement, or nobody. What may be raised then are all values that
    are finer than those of earlier releases. What a release has shown cannot be called back:
    ``exposed`` says which tuples were below k before.

    Covered are readers who hold the local data sets as they are today, all releases given and
    the associations given. Not covered: older states of the local data; knowledge of attributes
    that are no quasi-identifier of a local data set; associations that were not accepted, or
    that hold the other way (who is not X is not Y); a reader who concludes from a tuple having
    been raised why it was; what persons have in common when they are all alike (sensitive
    values); where a person's data has changed between releases, a reader who believes the older
    value; readers of different releases who put them together without being given here as one.

    Parameters
    ----------
    codes
        Leaf codes of the distinct tuples, -1 for missing; shape (tuples, attributes). With
        ``earlier``, tuples that differ in what was shown before are distinct.
    levels
        The levels of linkage k-anonymity, shape (tuples, attributes).
    locals_
        The local data sets.
    hierarchies
        The hierarchy of each attribute by its name, in the order of the columns: the linkage
        quasi-identifiers, and whatever else is released and occurs in associations.
    associations
        What the reader knows: the accepted ones.
    k
        How many individuals must be left in each local data set.
    weights
        The share of each attribute in loss, relative to the others; equal without them.
    earlier
        The tuples of each earlier release, the same persons in the same rows; attributes that a
        release did not have at their roots. See `shown_before`.
    enforce
        What the rules ask to raise in tuples that do not hold: `by_rules` for the rules of a
        policy. Without it the antecedents of all associations that refine the tuple are
        generalised.

    Returns
    -------
    SemanticLevels
        The levels, what was changed, and which tuples were below k before.

    Raises
    ------
    InputError
        If the shapes do not fit each other, a quasi-identifier of a local data set is none of
        the columns, an association is about what the hierarchies lack, a tuple does not have k
        matching individuals to begin with, or the rules ask for too little to make it hold.
    """
    if codes.shape != levels.shape or codes.shape[1] != len(hierarchies):
        raise InputError("the tuples", "must have a code and a level for every attribute")
    reader = Reader(hierarchies, associations)
    before = intersection(earlier, reader.hierarchies) if earlier else None
    if before is not None and before[0].shape != codes.shape:
        raise InputError("earlier releases", "must show the same tuples and attributes as this one")
    enforce = generalise_antecedents(reader) if enforce is None else enforce
    judge = Judge(reader, locals_, k, codes, before, enforce)
    _check_start(judge.counts(codes, levels), locals_, k)
    start = levels.astype(np.int8)
    rows = np.arange(len(codes))
    first = judge.verdict(rows, start, why=True)
    found = _search(judge, first, codes, start, reader.hierarchies, weights)
    grown = certainty_penalties(codes, found, reader.hierarchies, weights)
    grown -= certainty_penalties(codes, start, reader.hierarchies, weights)
    changes = tuple(
        _change(int(row), first, reader, start, found, float(grown[row]))
        for row in np.flatnonzero((found != start).any(axis=1))
    )
    exposed = np.asarray((judge.needed < k).any(axis=0), dtype=np.bool_)
    return SemanticLevels(found, changes, exposed)


def _check_start(counts: Counts, locals_: Sequence[Local], k: int) -> None:
    for local, count in zip(locals_, counts, strict=True):
        few = int((count < k).sum())
        if few:
            raise InputError(
                "the levels to start from",
                f"must be those of linkage {k}-anonymity for local data '{local.name}'",
                found=f"{few} of {len(count)} tuples with fewer matching individuals",
                advice="generalise with least_levels first, with the same k",
            )


def _search(
    judge: Judge,
    first: Verdict,
    codes: Ints,
    start: Levels,
    hierarchies: Sequence[Hierarchy],
    weights: Sequence[float] | None,
) -> Levels:
    """The cheapest levels that hold, tuple by tuple, all tuples a step at a time."""
    shares = normalised_weights(weights, len(hierarchies))
    losses = [share * penalty_table(one) for share, one in zip(shares, hierarchies, strict=True)]
    heights = tuple(hierarchy.height for hierarchy in hierarchies)
    found = start.copy()
    ways = {row: _Way(codes[row], losses, heights) for row in np.flatnonzero(first.bad).tolist()}
    for row, way in ways.items():
        way.go_on(start[row], first.generalise[row], first.suppress[row])
    while ways:
        rows = np.fromiter(ways, dtype=np.int64, count=len(ways))
        tried = np.array([ways[row].cheapest() for row in rows.tolist()], dtype=np.int8)
        verdict = judge.verdict(rows, tried)
        for place, row in enumerate(rows.tolist()):
            if verdict.bad[place]:
                ways[row].go_on(tried[place], verdict.generalise[place], verdict.suppress[place])
            else:
                found[row] = tried[place]
                del ways[row]
    return found


class _Way:
    """The vectors of levels of one tuple that are still to be tried, cheapest first."""

    def __init__(self, codes: Ints, losses: Sequence[Floats], heights: tuple[int, ...]) -> None:
        self._codes, self._losses, self._heights = codes.tolist(), losses, heights
        self._waiting: list[tuple[float, tuple[int, ...]]] = []
        self._seen: set[tuple[int, ...]] = set()

    def cheapest(self) -> tuple[int, ...]:
        if not self._waiting:
            raise InputError(
                "the rules",
                "must ask for enough to keep k individuals, whatever a reader infers",
                found="a tuple in which they let nothing more be raised",
                advice="check the site's rules: rules 5 to 7 as they are always ask for enough",
            )
        return heapq.heappop(self._waiting)[1]

    def go_on(self, levels: Levels, generalise: Bools, suppress: Bools) -> None:
        """Raise each of the attributes, by a level or to the root."""
        for column in np.flatnonzero(generalise | suppress).tolist():
            vector = levels.tolist()
            vector[column] = self._heights[column] if suppress[column] else vector[column] + 1
            higher = tuple(vector)
            if higher not in self._seen:
                self._seen.add(higher)
                heapq.heappush(self._waiting, (self._loss(higher), higher))

    def _loss(self, vector: tuple[int, ...]) -> float:
        parts = zip(self._losses, vector, self._codes, strict=True)
        return round(float(sum(loss[level, code] for loss, level, code in parts)), DIGITS)


def _change(
    row: int, first: Verdict, reader: Reader, start: Levels, found: Levels, loss: float
) -> Change:
    raised = tuple(
        Raised(name, int(before), int(after))
        for name, before, after in zip(reader.names, start[row], found[row], strict=True)
        if before != after
    )
    leaking = tuple(reader.rules[rule].association for rule in sorted(first.leaking.get(row, ())))
    return Change(row, leaking, bool(first.between[row]), raised, loss)
