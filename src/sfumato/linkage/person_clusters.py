"""From matched pairs to persons, with contradictions taken apart."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy.special import logit

from sfumato.core.arrays import Bools, Floats, Integers, Ints
from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.kernels.key_numbering import number_by_first_appearance
from sfumato.kernels.record_pairs import merge
from sfumato.linkage.answer_evidence import (
    EDGE,
    SUREST_SCORE,
    Weighed,
    Worlds,
    kinds_of_pairs,
    weigh,
)
from sfumato.linkage.link_spec import WantedRates
from sfumato.linkage.match_decisions import (
    DIFFERENT,
    SAME,
    Decisions,
    Verdicts,
    join_workers,
    no_verdicts,
)
from sfumato.linkage.match_thresholds import (
    MATCH,
    Codes,
    Pairs,
    Records,
    Thresholds,
    Workload,
    after_review,
    calibrated_by_answers,
    classify,
    joined,
    thresholds_for_rates,
    workload,
)
from sfumato.linkage.person_inference import CUT, Inferred, infer_persons


@dataclass(frozen=True, eq=False)
class Persons:
    """Whose each record is.

    Attributes
    ----------
    person
        Person of each record, numbered by first appearance; shape (records,).
    unmet
        Indexes of the verdicts that the persons break, ascending: of decisions that contradict
        each other or a source's rule, those that gave way.
    refused
        Numbers of the pairs that their score calls a match and whose two records are different
        persons' all the same, ascending.
    inferred
        What is not sure about them, by records, where they were inferred.
    """

    person: npt.NDArray[np.int32]
    count: int
    unmet: Ints
    refused: Ints
    inferred: Inferred | None = None


@dataclass(frozen=True, eq=False)
class _Edges:
    """What joins records or keeps them apart, in the order in which it counts."""

    left: Ints
    right: Ints
    joins: Bools


def find_persons(
    records: Records,
    pairs: Pairs,
    matches: Bools,
    verdicts: Verdicts | None = None,
    *,
    one_per_source: Collection[str] = (),
) -> Persons:
    """Cluster the records: decisions first, then matches from the highest score down.

    Decisions count from the surest to the least sure; of equally sure ones "same" before
    "different", then in the order of the pairs. Matches count by score, of equal ones the pair
    that comes first. Two clusters are merged unless a decision that counted before keeps a
    record of the one from a record of the other, or both hold a record of one source that has
    at most one record per person; that rule gives way to nothing. Pairs that were called
    different or left undecided are not joined for their score. Without rules and decisions
    "different" these are the connected components, and only the components in which a rule or a
    decision would be broken are walked edge by edge: O(P + N), and O(Q log Q) for the Q
    edges of those.

    Parameters
    ----------
    matches
        Whether the score of each pair makes it a match; shape (pairs,).
    one_per_source
        Names of the sources that have at most one record per person.
    """
    limited = limited_sources(records, one_per_source)
    verdicts = no_verdicts() if verdicts is None else verdicts
    edges = _edges(pairs, matches, verdicts)
    component = joined(edges.left[edges.joins], edges.right[edges.joins], records.count)
    broken = _broken(edges, component, limited)
    label = component
    # Connected components are the answer wherever nothing forbids one, and take linear time.
    if np.any(broken):
        label = _walked(edges, component, broken, limited)
    person, count = number_by_first_appearance(label, records.count)
    return _persons(person, count, pairs, matches, verdicts)


def _persons(
    person: npt.NDArray[np.int32],
    count: int,
    pairs: Pairs,
    matches: Bools,
    verdicts: Verdicts,
    inferred: Inferred | None = None,
) -> Persons:
    """The persons, with the decisions that they break and the matches that they part."""
    together = person[verdicts.left] == person[verdicts.right]
    against = ((verdicts.result == SAME) & ~together) | ((verdicts.result == DIFFERENT) & together)
    # Reported, so that nobody has to wonder why a sure pair was parted.
    refused = matches & (person[pairs.left] != person[pairs.right])
    return Persons(person, count, np.flatnonzero(against), np.flatnonzero(refused), inferred)


def inferred_persons(
    records: Records,
    pairs: Pairs,
    probability: Floats,
    matches: Bools,
    verdicts: Verdicts,
    limited: Ints,
    *,
    cut: float,
    lost: float,
    hidden: float,
) -> Persons:
    """Persons by inference, with what people answered as evidence.

    Parameters
    ----------
    probability
        Of each pair, that its records are one person's; shape (pairs,).
    matches
        Whether the score of each pair makes it a match; shape (pairs,).
    limited
        Source of each record where it has at most one record per person, else -1.
    lost, hidden
        Expected number of matches that are no candidate pairs, and how many of them are within
        sources.
    """
    inferred = infer_persons(
        pairs.left,
        pairs.right,
        probability,
        limited,
        verdicts=verdicts,
        cut=cut,
        lost=(lost, hidden),
        source=records.source_of(np.arange(records.count)),
        levels=pairs.levels,
    )
    person, count = number_by_first_appearance(inferred.label.astype(np.int64), records.count)
    verdicts = verdicts if inferred.weighed is None else inferred.weighed.of(verdicts)
    return _persons(person, count, pairs, matches, verdicts, inferred)


def limited_sources(records: Records, one_per_source: Collection[str]) -> Ints:
    """Source of each record where it has at most one record per person, else -1."""
    if not set(one_per_source) <= set(records.sources):
        raise InputError(
            "parameter one_per_source",
            "must name sources",
            found="a name that no source has",
            accepted=", ".join(records.sources),
        )
    number = [i if name in one_per_source else -1 for i, name in enumerate(records.sources)]
    sizes = [len(each) for each in records.ids]
    return np.repeat(np.array(number, dtype=np.int64), sizes)


def _edges(pairs: Pairs, matches: Bools, verdicts: Verdicts) -> _Edges:
    """Decisions by confidence, then matches that nobody decided, by score."""
    decided = np.flatnonzero(verdicts.result != 0)
    pair = np.where(verdicts.pair < 0, len(pairs), verdicts.pair)[decided]
    # `lexsort` takes the last key first: confidence, then "same" (1) before "different" (−1), then
    # the pair.
    order = np.lexsort((pair, -verdicts.result[decided], -verdicts.confidence[decided]))
    decided = decided[order]
    scored = matches.copy()
    scored[verdicts.pair[verdicts.pair >= 0]] = False
    number = np.flatnonzero(scored)
    # Stable: of equal scores the pair that comes first, on every machine.
    number = number[np.argsort(-pairs.score[number], kind="stable")]
    return _Edges(
        np.concatenate([verdicts.left[decided], pairs.left[number]]),
        np.concatenate([verdicts.right[decided], pairs.right[number]]),
        np.concatenate([verdicts.result[decided] == SAME, np.ones(len(number), dtype=np.bool_)]),
    )


def _broken(edges: _Edges, component: Ints, limited: Ints) -> Bools:
    """Per component, whether a decision or a source's rule is broken within it."""
    broken = np.zeros(int(component.max(initial=-1)) + 1, dtype=np.bool_)
    apart = ~edges.joins & (component[edges.left] == component[edges.right])
    broken[component[edges.left[apart]]] = True
    if np.any(limited >= 0):
        size = np.bincount(component)
        record = np.flatnonzero((limited >= 0) & (size[component] > 1))
        sources = int(limited.max()) + 1
        # Two equal numbers side by side are two records of one source in one component.
        held = np.sort(component[record] * sources + limited[record])
        broken[held[1:][np.diff(held) == 0] // sources] = True
    return broken


def _walked(edges: _Edges, component: Ints, broken: Bools, limited: Ints) -> Ints:
    """The components, with the broken ones merged again edge by edge."""
    record = np.flatnonzero(broken[component])
    number = np.full(len(component), -1, dtype=np.int64)
    # Renumbered, so that the walk costs what the broken components are large.
    number[record] = np.arange(len(record))
    inside = broken[component[edges.left]] & broken[component[edges.right]]
    left, right = number[edges.left[inside]], number[edges.right[inside]]
    cluster, _ = merge(left, right, edges.joins[inside], limited[record])
    first = np.empty(len(broken), dtype=np.int64)
    # Backwards: the first record of a component is written last and names it.
    first[component[::-1]] = np.arange(len(component))[::-1]
    label = first[component]
    label[record] = record[cluster]
    return label


_Neighbours = dict[int, list[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two records that are different persons' and, by a chain of decisions, one person's.

    Attributes
    ----------
    different
        Index of the verdict that calls them different; ``None`` where both are of one source
        that has at most one record per person.
    chain
        Indexes of the verdicts "same" that lead from the left record to the right one, as few
        as possible.
    """

    left: int
    right: int
    different: int | None
    chain: tuple[int, ...]


def find_contradictions(verdicts: Verdicts, records: int, limited: Ints) -> list[Contradiction]:
    """All contradictions, each with a shortest chain, by breadth-first searches.

    A search stays among the records that decisions have joined, and serves all records that
    its first one must differ from. For a source with at most one record per person, each
    further record of a joined group is told from the group's first one.

    Parameters
    ----------
    limited
        Source of each record where it has at most one record per person, else -1.
    """
    same = np.flatnonzero(verdicts.result == SAME)
    if not len(same):
        return []
    left, right = verdicts.left[same], verdicts.right[same]
    group = joined(left, right, records)
    cases = sorted([*_decided(verdicts, group), *_limited(left, right, group, limited)])
    if not cases:
        return []
    # Only the joined groups that have a contradiction are searched.
    wanted = {int(group[case[0]]) for case in cases}
    neighbours = _neighbours(verdicts, same[np.isin(group[left], list(wanted))])
    contradictions = []
    for start, own in groupby(cases, key=lambda case: case[0]):
        of_start = list(own)
        chains = _chains(neighbours, start, {end for _, end, _ in of_start})
        contradictions += [
            Contradiction(start, end, None if verdict < 0 else verdict, chains[end])
            for _, end, verdict in of_start
        ]
    return contradictions


def _decided(verdicts: Verdicts, group: Ints) -> Iterator[tuple[int, int, int]]:
    """Pairs that were called different, of one group."""
    broken = (verdicts.result == DIFFERENT) & (group[verdicts.left] == group[verdicts.right])
    for index in np.flatnonzero(broken).tolist():
        yield int(verdicts.left[index]), int(verdicts.right[index]), index


def _limited(left: Ints, right: Ints, group: Ints, limited: Ints) -> Iterator[tuple[int, int, int]]:
    """Records of one source and group, each with the first one; the verdict is -1."""
    joined = np.unique(np.concatenate([left, right]))
    joined = joined[limited[joined] >= 0]
    order = joined[np.lexsort((joined, limited[joined], group[joined]))]
    first = -1
    for record in order.tolist():
        alike = first >= 0 and group[first] == group[record] and limited[first] == limited[record]
        if alike:
            yield first, record, -1
        else:
            first = record


def _neighbours(verdicts: Verdicts, same: Ints) -> _Neighbours:
    neighbours: _Neighbours = {}
    for index in same.tolist():
        one, other = int(verdicts.left[index]), int(verdicts.right[index])
        neighbours.setdefault(one, []).append((other, index))
        neighbours.setdefault(other, []).append((one, index))
    return neighbours


def _chains(neighbours: _Neighbours, start: int, ends: set[int]) -> dict[int, tuple[int, ...]]:
    """A shortest chain of verdicts from one record to each of some others."""
    # Breadth first, so that the first way found is a shortest one.
    came: dict[int, tuple[int, int]] = {start: (start, -1)}
    missing, waiting = set(ends), deque([start])
    while missing:
        record = waiting.popleft()
        for other, verdict in neighbours[record]:
            if other not in came:
                came[other] = (record, verdict)
                missing.discard(other)
                waiting.append(other)
    chains = {}
    for end in ends:
        chain, record = [], end
        while record != start:
            record, verdict = came[record]
            chain.append(verdict)
        chains[end] = tuple(reversed(chain))
    return chains


@dataclass(frozen=True, slots=True)
class Merge:
    """Records of several old persons, ascending, have become one person's."""

    person: int
    of: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Split:
    """The records of one old person have become several persons', ascending."""

    person: int
    into: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Followed:
    """Persons with ids that stay.

    Attributes
    ----------
    person
        Id of the person of each record; shape (records,).
    merges, splits
        What became of old persons, ascending by id.
    gained
        Ids of old persons who have new records, ascending.
    new
        Ids that nobody had before, ascending: of new records, and of what fell off old persons.
    gone
        Old ids that no record has any more, ascending: they went into merges.
    """

    person: Ints
    merges: tuple[Merge, ...]
    splits: tuple[Split, ...]
    gained: Ints
    new: Ints
    gone: Ints


def follow(previous: Ints, now: Integers, *, next_id: int = 0) -> Followed:
    """Give persons found now the ids of the persons found before: O(N log N) for N old records.

    The person now and the old person who share the most records are the same one, then the
    next of those that are left, and so on (of equals the lowest old id, then the lowest number
    now): so the largest part of a person who falls apart keeps the id, and the person with
    the most records gives it to a merged one.

    Parameters
    ----------
    previous
        Id of the old person of each record, -1 for a new record; shape (records,).
    next_id
        New persons take ids from this one up, if it is above all old ones: set it where ids
        have been given to persons that are no longer there.
    """
    cluster, clusters = number_by_first_appearance(now.astype(np.int64), _space(now))
    old = np.flatnonzero(previous >= 0)
    ids, place = np.unique(previous[old], return_inverse=True)
    shared, counts = np.unique(place * clusters + cluster[old], return_counts=True)
    before, after = np.divmod(shared, max(clusters, 1))
    taken = np.full(clusters, -1, dtype=np.int64)
    free = np.ones(len(ids), dtype=np.bool_)
    # Nearly all persons stay as they are: only contested ones need the order of sizes.
    alone = (np.bincount(before)[before] == 1) & (np.bincount(after)[after] == 1)
    taken[after[alone]], free[before[alone]] = before[alone], False
    contested = np.flatnonzero(~alone)
    for row in contested[np.argsort(-counts[contested], kind="stable")].tolist():
        if taken[after[row]] < 0 and free[before[row]]:
            taken[after[row]], free[before[row]] = before[row], False
    label = np.empty(clusters, dtype=np.int64)
    known = taken >= 0
    label[known] = ids[taken[known]]
    # Never an id that somebody has had: it may stand in files that were given away.
    start = max(next_id, int(ids[-1]) + 1 if len(ids) else 0)
    label[~known] = np.arange(start, start + np.count_nonzero(~known))
    person = label[cluster]
    fresh = person[previous < 0]
    return Followed(
        person,
        tuple(Merge(i, of) for i, of in _several(label[after], ids[before])),
        tuple(Split(i, into) for i, into in _several(ids[before], label[after])),
        gained=np.intersect1d(fresh, ids),
        new=label[~known],
        gone=ids[free],
    )


def _space(now: Integers) -> int:
    return int(now.max(initial=-1)) + 1


def _several(keys: Ints, others: Ints) -> list[tuple[int, tuple[int, ...]]]:
    """The keys that go with several others, and those."""
    values, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    rows = np.flatnonzero(counts[inverse] > 1)
    found: dict[int, list[int]] = {int(value): [] for value in values[counts > 1]}
    for key, other in zip(keys[rows].tolist(), others[rows].tolist(), strict=True):
        found[key].append(other)
    return [(key, tuple(sorted(own))) for key, own in found.items()]


BY_MODEL = "model"
_WHY = "sums of the scores as probabilities; as good as the model, and blind to blocking"


def expected_quality(
    probability: Floats, match: Bools, *, lost: float = 0.0
) -> tuple[Measure, Measure]:
    """Expected precision and recall of the pairs called a match."""
    found, called = float(np.sum(probability[match])), int(np.count_nonzero(match))
    true = float(np.sum(probability)) + lost
    why = _WHY if not lost else "sums of the scores, and what blocking has lost by the prior"
    return (
        Measure("precision", found / called if called else 1.0, estimator=BY_MODEL, why=_WHY),
        Measure("recall", found / true if true > 0 else 1.0, estimator=BY_MODEL, why=why),
    )


USUAL = Thresholds(lower=0.1, upper=0.9)
"""The thresholds where nobody asked for others."""
_DRAWS = 40
LABELS = 50
"""Decided pairs from which the scores are corrected by them."""


class Wishes(Protocol):
    """What a specification says of outcomes and persons."""

    @property
    def thresholds(self) -> Limits | None:
        """The thresholds."""

    @property
    def rates(self) -> WantedRates | None:
        """The error rates from which they are found."""

    @property
    def one_per_source(self) -> tuple[str, ...]:
        """Names of the sources that have at most one record per person."""


class Limits(Protocol):
    """Least score of a possible match, and of a match."""

    @property
    def lower(self) -> float:
        """Of a possible match."""

    @property
    def upper(self) -> float:
        """Of a match."""


@dataclass(frozen=True, eq=False)
class Settled:
    """What is said of the pairs and whose the records are.

    Attributes
    ----------
    probability
        Probability of each pair, corrected by decisions where there are enough, else its score.
    calibrated
        Number of decided pairs that corrected it; 0 where none did.
    quality
        Expected precision and recall of the pairs that the score calls a match.
    """

    thresholds: Thresholds
    probability: Floats
    calibrated: int
    by_score: Codes
    outcome: Codes
    verdicts: Verdicts
    weighed: Weighed | None
    persons: Persons
    contradictions: tuple[Contradiction, ...]
    workload: Workload
    quality: tuple[Measure, Measure]


def settle(
    records: Records,
    pairs: Pairs,
    spec: Wishes,
    decisions: Decisions | None = None,
    *,
    lost: float = 0.0,
    hidden: float = 0.0,
    inferred: bool = False,
    once: Collection[str] = (),
    probability: Floats | None = None,
) -> Settled:
    """Outcomes and persons from scores and decisions.

    Thresholds are those of the specification, or found from its error rates; by then scores are
    corrected by what people decided where there are 50 decided pairs or more of both kinds.

    Parameters
    ----------
    lost, hidden
        As in `inferred_persons`.
    inferred
        Whether persons are inferred from the probabilities; else matches join records.
    once
        Names of further sources that have at most one record per person, where they are.
    probability
        Probability of each pair, where a review has estimated it again.
    """
    verdicts = join_workers(decisions, pairs)
    calibrated, score = 0, pairs.score
    if probability is not None:
        # Inferred persons are classified by the scores they were inferred with; a review corrects
        # the rest.
        score = score if inferred else probability
    else:
        probability, calibrated = _probability(records.count, pairs, verdicts, spec)
    thresholds = _thresholds(pairs, probability, spec)
    by_score = classify(score, thresholds)
    matches = by_score == MATCH
    weighed = None
    if not inferred:
        limited = limited_sources(records, spec.one_per_source)
        alone = find_persons(records, pairs, matches, one_per_source=spec.one_per_source)
        persons = alone
        if len(verdicts):
            weighed = _weighed(pairs, verdicts, probability, alone.person)
            verdicts = weighed.of(verdicts)
            believed = verdicts.take(weighed.believed)
            made = find_persons(
                records, pairs, matches, believed, one_per_source=spec.one_per_source
            )
            persons = _persons(made.person, made.count, pairs, matches, verdicts)
    else:
        limited = limited_sources(records, {*spec.one_per_source, *once})
        asked = spec.thresholds is not None or spec.rates is not None
        persons = inferred_persons(
            records, pairs, probability, matches, verdicts, limited,
            # An infinite threshold means that nothing joins before a review: a cut of 1.
            cut=min(thresholds.upper, 1.0) if asked else CUT,
            lost=lost, hidden=hidden,
        )  # fmt: skip
        weighed = None if persons.inferred is None else persons.inferred.weighed
        verdicts = verdicts if weighed is None else weighed.of(verdicts)
    return Settled(
        thresholds=thresholds,
        probability=probability,
        calibrated=calibrated,
        by_score=by_score,
        outcome=by_score if weighed is None else _outcome(by_score, verdicts, weighed),
        verdicts=verdicts,
        weighed=weighed,
        persons=persons,
        contradictions=tuple(find_contradictions(verdicts, records.count, limited)),
        workload=workload(pairs.score, thresholds, probability),
        quality=expected_quality(probability, matches, lost=lost),
    )


def _weighed(pairs: Pairs, verdicts: Verdicts, probability: Floats, person: Integers) -> Weighed:
    """The answers against the scores, where matches by score join records.

    Pairs that no rule brought together have no score: they are as likely as not where others have
    joined them, and unlikely where not.
    """
    together = person[verdicts.left] == person[verdicts.right]
    before = np.where(together, 0.0, -SUREST_SCORE)
    scored = verdicts.pair >= 0
    scored[scored] = pairs.score[verdicts.pair[scored]] > 0
    before[scored] = logit(np.clip(probability[verdicts.pair[scored]], EDGE, 1 - EDGE))
    kinds = kinds_of_pairs(verdicts.pair, pairs.levels)
    worlds = Worlds(before[np.newaxis] > 0, np.abs(before), np.arange(len(before)))
    return weigh(verdicts, worlds, kinds, _DRAWS, np.random.default_rng(0))


def _outcome(by_score: Codes, verdicts: Verdicts, weighed: Weighed) -> Codes:
    """Outcomes with what people answered: a pair that stays in doubt is a possible match."""
    known = (weighed.probability >= USUAL.upper).astype(np.int8)
    known -= weighed.probability < USUAL.lower
    return after_review(by_score, verdicts.pair, known)


def _probability(
    records: int, pairs: Pairs, verdicts: Verdicts, spec: Wishes
) -> tuple[Floats, int]:
    decided = (verdicts.pair >= 0) & (verdicts.result != 0)
    # Without wanted rates thresholds are the user's own, which calibration must not move.
    if spec.rates is None or np.count_nonzero(decided) < LABELS:
        return pairs.score, 0
    score = pairs.score[verdicts.pair[decided]]
    # As if nobody had joined anything: who errs is told by the pairs that two answered.
    evidence = _weighed(pairs, verdicts, pairs.score, np.arange(records)).evidence[decided]
    # What outweighs itself on both sides says nothing, and one side alone has no calibration.
    if not np.any(evidence > 0) or np.all(evidence > 0):
        return pairs.score, 0
    fitted = calibrated_by_answers(score, evidence)
    return fitted(pairs.score), fitted.labels


def _thresholds(pairs: Pairs, probability: Floats, spec: Wishes) -> Thresholds:
    if spec.thresholds is not None:
        return Thresholds(spec.thresholds.lower, spec.thresholds.upper)
    if spec.rates is None:
        return USUAL
    return thresholds_for_rates(
        pairs.score,
        false_match_rate=spec.rates.false_match_rate,
        missed_match_rate=spec.rates.missed_match_rate,
        probability=probability,
    )
