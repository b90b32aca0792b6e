"""Persons: hard constraints hold, components otherwise, nothing depends on numbering; ids stay."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from oracles import merging

from sfumato.core.errors import InputError
from sfumato.linkage import person_clusters
from sfumato.linkage.match_decisions import Decisions, join_workers
from sfumato.linkage.match_thresholds import Pairs, Records
from sfumato.linkage.person_clusters import Merge, Split, find_contradictions, find_persons, follow


def records_of(*sizes):
    names = tuple("abcd"[: len(sizes)])
    return Records(names, tuple(pa.array([str(i) for i in range(size)]) for size in sizes))


def pairs_of(rows, score):
    left, right = (np.array(side, dtype=np.int64) for side in (zip(*rows, strict=True)))
    none = np.zeros(len(left), np.int16)
    return Pairs(np.minimum(left, right), np.maximum(left, right), np.array(score), {}, none)


def answers_of(rows, answer):
    left, right = (np.array(side, dtype=np.int64) for side in (zip(*rows, strict=True)))
    size = len(left)
    worker = np.full(size, "ann", dtype=object)
    answer = np.array(answer, dtype=np.int8)
    return Decisions(left, right, worker, answer, np.arange(size), np.zeros(size, dtype=bool))


def partition(labels):
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in set(labels.tolist())}


@st.composite
def linkages(draw):
    """Records of some sources, distinct pairs with scores (some equal), and some decisions."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    count = max(sum(sizes), 2)
    sizes[-1] += count - sum(sizes)
    every = list(itertools.combinations(range(count), 2))
    rows = draw(st.lists(st.sampled_from(every), min_size=1, max_size=20, unique=True))
    score = draw(st.lists(st.sampled_from([0.2, 0.6, 0.8, 0.9]), min_size=len(rows)))[: len(rows)]
    decided = draw(st.lists(st.sampled_from(rows), max_size=6, unique=True))
    answer = [draw(st.sampled_from([-3, -2, -1, 1, 2, 3])) for _ in decided]
    limited = draw(st.lists(st.sampled_from("abc"[: len(sizes)]), unique=True))
    return sizes, rows, score, decided, answer, limited


def linked(sizes, rows, score, decided, answer, limited, threshold=0.5):
    pairs = pairs_of(rows, score)
    verdicts = join_workers(answers_of(decided, answer), pairs) if decided else None
    matches = pairs.score >= threshold
    persons = find_persons(records_of(*sizes), pairs, matches, verdicts, one_per_source=limited)
    return persons, pairs, verdicts


def by_hand(sizes, rows, score, decided, answer, limited):
    """The rules of the docstring on sets of records, over all edges."""
    source = np.repeat(list("abc")[: len(sizes)], sizes)
    by_confidence = sorted(
        zip(decided, answer, strict=True), key=lambda d: (-abs(d[1]), d[1] < 0, rows.index(d[0]))
    )
    edges = [(pair, said > 0) for pair, said in by_confidence]
    order = sorted(range(len(rows)), key=lambda i: -score[i])
    edges += [(rows[i], True) for i in order if score[i] >= 0.5 and rows[i] not in decided]
    person = {record: {record} for record in range(len(source))}
    apart = []
    for (one, other), joins in edges:
        both = person[one] | person[other]
        if not joins:
            apart += [(one, other)] if other not in person[one] else []
            continue
        held = [source[record] for record in both if source[record] in limited]
        broken = any(a in both and b in both for a, b in apart)
        if person[one] is not person[other] and not broken and len(held) == len(set(held)):
            person.update(dict.fromkeys(both, both))
    return {frozenset(own) for own in person.values()}


@given(linkages())
def test_persons_agree_with_the_rules_by_hand(case):
    persons, _, _ = linked(*case)
    assert partition(persons.person) == by_hand(*case)


@given(linkages())
def test_constraints_hold_or_are_named(case):
    sizes, _, _, _, _, limited = case
    persons, pairs, verdicts = linked(*case)
    person = persons.person
    assert person.dtype == np.int32
    assert persons.count == person.max() + 1
    assert list(dict.fromkeys(person.tolist())) == list(range(persons.count))
    source = np.repeat(np.arange(len(sizes)), sizes)
    for name in limited:
        own = person[source == "abc".index(name)]
        assert len(own) == len(set(own.tolist()))
    apart = person[pairs.left] != person[pairs.right]
    assert_array_equal(persons.refused, np.flatnonzero(apart & (pairs.score >= 0.5)))
    if verdicts is None:
        assert len(persons.unmet) == 0
        return
    apart = person[verdicts.left] != person[verdicts.right]
    unmet = (verdicts.result > 0) == apart
    assert_array_equal(persons.unmet, np.flatnonzero(unmet))
    codes = np.where(np.isin(source, ["abc".index(n) for n in limited]), source, -1)
    if len(persons.unmet):
        assert find_contradictions(verdicts, len(source), codes)


@given(linkages())
def test_without_constraints_persons_are_the_connected_components(case):
    sizes, rows, score, *_ = case
    persons, _, _ = linked(sizes, rows, score, [], [], [])
    label = list(range(sum(sizes)))
    for _ in label:
        for (one, other), value in zip(rows, score, strict=True):
            if value >= 0.5:
                label[one] = label[other] = min(label[one], label[other])
    assert partition(persons.person) == partition(np.array(label))


@given(linkages(), st.integers(0, 2**32 - 1))
def test_the_order_of_records_changes_only_their_numbers(case, seed):
    sizes, rows, score, decided, answer, limited = case
    rng, starts = np.random.default_rng(seed), np.cumsum([0, *sizes])
    number = np.concatenate(
        [start + rng.permutation(size) for start, size in zip(starts, sizes, strict=False)]
    ).tolist()

    def moved(pairs):
        return [(number[one], number[other]) for one, other in pairs]

    persons, _, verdicts = linked(*case)
    again, _, shuffled = linked(sizes, moved(rows), score, moved(decided), answer, limited)
    assert partition(again.person[number]) == partition(persons.person)
    if verdicts is not None:
        assert set(verdicts.pair[persons.unmet]) == set(shuffled.pair[again.unmet])


@given(linkages())
def test_the_loops_merge_as_their_oracle_does(case):
    found, _, _ = linked(*case)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(person_clusters, "merge", merging.merge)
        expected, _, _ = linked(*case)
    assert_array_equal(found.person, expected.person)


def test_the_surest_of_contradicting_decisions_hold():
    rows = [(0, 1), (1, 2), (0, 2)]
    case = ([3], rows, [0.1] * 3, rows)
    for answer, expected, unmet in (
        ([3, 3, -3], [0, 0, 0], [1]),  # verdicts ascend by records: 0-1, 0-2, 1-2
        ([3, 1, -2], [0, 0, 1], [2]),
        ([1, 3, -2], [0, 1, 1], [0]),
    ):
        persons, _, _ = linked(*case, answer, [])
        assert persons.person.tolist() == expected
        assert persons.unmet.tolist() == unmet


def test_of_equally_sure_decisions_the_pair_that_comes_first_holds():
    rows = [(1, 2), (0, 2)]
    for order in (rows, rows[::-1]):
        persons, _, _ = linked([2, 1], order, [0.1, 0.1], order, [2, 2], ["a"])
        first = order[0][0]
        assert persons.person[first] == persons.person[2] != persons.person[1 - first]


def test_an_undecided_pair_is_not_joined_for_its_score():
    pairs = pairs_of([(0, 1)], [0.99])
    answers = answers_of([(0, 1), (0, 1)], [2, -2])
    answers.worker[1] = "bob"
    verdicts = join_workers(answers, pairs)
    persons = find_persons(records_of(2), pairs, np.array([True]), verdicts)
    assert persons.person.tolist() == [0, 1]
    assert (len(persons.unmet), persons.refused.tolist()) == (0, [0])


def test_the_best_of_two_records_of_a_source_is_taken():
    persons, _, _ = linked([2, 1], [(0, 2), (1, 2)], [0.8, 0.9], [], [], ["a"])
    assert persons.person.tolist() == [0, 1, 1]
    assert persons.refused.tolist() == [0]


def test_no_records_and_no_pairs():
    none = pairs_of([(0, 1)], [0.5])
    none = Pairs(none.left[:0], none.right[:0], none.score[:0], {}, none.block[:0])
    matches = np.zeros(0, dtype=bool)
    assert find_persons(records_of(0), none, matches).person.tolist() == []
    assert find_persons(records_of(2, 1), none, matches).person.tolist() == [0, 1, 2]


def test_an_unknown_source_is_refused():
    with pytest.raises(InputError, match=r"one_per_source must name sources.*accepted: a, b"):
        linked([1, 1], [(0, 1)], [0.9], [], [], ["c"])


def test_new_records_keep_the_ids_of_the_old_persons():
    followed = follow(np.array([7, -1, 3, 7, -1]), np.array([0, 0, 1, 0, 2]))
    assert followed.person.tolist() == [7, 7, 3, 7, 8]
    assert (followed.merges, followed.splits) == ((), ())
    assert (followed.gained.tolist(), followed.new.tolist(), followed.gone.tolist()) == (
        [7],
        [8],
        [],
    )


def test_a_merge_keeps_the_id_with_the_most_records():
    followed = follow(np.array([1, 2, 2]), np.array([0, 0, 0]))
    assert followed.person.tolist() == [2, 2, 2]
    assert followed.merges == (Merge(2, (1, 2)),)
    assert followed.gone.tolist() == [1]


def test_a_split_keeps_the_id_of_the_largest_part():
    followed = follow(np.array([1, 1, 1]), np.array([0, 1, 1]), next_id=10)
    assert followed.person.tolist() == [10, 1, 1]
    assert followed.splits == (Split(1, (1, 10)),)
    assert followed.new.tolist() == [10]


labellings = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(-1, 4), min_size=n, max_size=n),
        st.lists(st.integers(0, 4), min_size=n, max_size=n),
    )
)


@given(labellings)
def test_followed_ids(labels):
    previous, now = (np.array(each) for each in labels)
    followed = follow(previous, now)
    person = followed.person
    assert partition(person) == partition(now)
    old = set(previous[previous >= 0].tolist())
    of = {p: {i for i in previous[person == p].tolist() if i >= 0} for p in set(person.tolist())}
    into = {i: set(person[previous == i].tolist()) for i in old}
    for one, own in of.items():
        assert one in own or one not in old  # an id goes to one of its own records, or is new
    for one, own in into.items():
        assert one in own or all(other in old for other in own)  # lost only to other old ids
    assert followed.merges == tuple(
        Merge(p, tuple(sorted(own))) for p, own in sorted(of.items()) if len(own) > 1
    )
    assert followed.splits == tuple(
        Split(i, tuple(sorted(own))) for i, own in sorted(into.items()) if len(own) > 1
    )
    assert set(followed.new.tolist()) == set(person.tolist()) - old
    assert set(followed.gone.tolist()) == old - set(person.tolist())
    fresh = set(person[previous < 0].tolist())
    assert set(followed.gained.tolist()) == fresh & old


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12))
def test_nothing_changes_where_nothing_has_changed(previous):
    followed = follow(np.array(previous), np.array(previous) * 3 % 7)
    assert followed.person.tolist() == previous
    assert (followed.merges, followed.splits, len(followed.new)) == ((), (), 0)


def test_a_withdrawn_decision_splits_and_the_others_hold():
    pairs = pairs_of([(0, 1), (1, 2), (2, 3)], [0.9, 0.3, 0.9])
    answers = answers_of([(1, 2), (2, 3)], [3, -3])
    records, matches = records_of(4), pairs.score >= 0.5
    before = find_persons(records, pairs, matches, join_workers(answers, pairs))
    assert before.person.tolist() == [0, 0, 0, 1]
    answers.withdrawn[0] = True
    after = find_persons(records, pairs, matches, join_workers(answers, pairs))
    followed = follow(before.person.astype(np.int64), after.person)
    assert followed.person.tolist() == [0, 0, 2, 1]
    assert followed.splits == (Split(0, (0, 2)),)
