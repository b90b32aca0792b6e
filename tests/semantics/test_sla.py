"""Semantic linkage anonymity against a naive reader, and brute force."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from few_cases import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from semantics.figures import (
    ALICE,
    ASHLY,
    HIERARCHIES,
    HOSPITAL,
    JACK,
    LINKED,
    MANDARIN_IS_CHINESE,
    OTHER,
    hospital,
    linkage_levels,
    values,
)
from semantics.made import built, cases
from semantics.reader import cheapest, everything, fewest, fired, holds, matching, shown, together

from sfumato.core.errors import InputError
from sfumato.hierarchies import Hierarchy
from sfumato.semantics import sla
from sfumato.semantics.associations import Association, Item, Shown
from sfumato.semantics.local_data import Local, least_levels, matches
from sfumato.semantics.sla import (
    Reader,
    disclosure_risk,
    disclosure_risks,
    intersection,
    largest_risks,
    semantic_levels,
    shown_before,
)


def leaf(code):
    return None if code < 0 else int(code)


@settings(max_examples=examples(120), deadline=None)
@given(cases(), st.data())
def test_the_naive_reader_never_gets_below_k_and_no_cheaper_way_holds(case, data) -> None:
    made, k = case[0], min(case[4], len(case[2]))
    hierarchies, associations, locals_, known, naive, linked = built(case)
    level = st.tuples(*(st.integers(0, tree.height) for tree in made))
    above = np.array([data.draw(level) for _ in linked], dtype=np.int8)
    start = np.maximum(linkage_levels(linked, locals_, hierarchies), above)
    weights = [1.0, 2.0, 1.5]
    got = semantic_levels(linked, start, locals_, hierarchies, associations, k, weights)
    assert (got.levels >= start).all()
    risks = disclosure_risks(linked, got.levels, locals_, hierarchies, associations)
    assert (risks <= 1 / k).all()
    before = largest_risks(linked, start, locals_, hierarchies, associations)
    after = largest_risks(linked, got.levels, locals_, hierarchies, associations)
    assert (after <= before).all()
    assert (after <= 1 / k).all()
    for row, risk in enumerate(after):
        leaves = [leaf(code) for code in linked[row]]
        seen = everything(made, known, shown(made, leaves, got.levels[row].tolist()))
        true = [one for one in seen if all(x in v for x, v in zip(leaves, one, strict=True))]
        counts = [matching(people, one) for people in naive for one in true]
        assert risk == 1 / min(counts)
    for row, levels in enumerate(got.levels.tolist()):
        leaves = [leaf(code) for code in linked[row]]
        assert holds(made, known, naive, shown(made, leaves, levels), [k] * len(naive))
        best = cheapest(made, known, naive, leaves, start[row].tolist(), k, weights)
        assert tuple(levels) == best
    changed = {change.row for change in got.changes}
    assert changed == set(np.flatnonzero((got.levels != start).any(axis=1)).tolist())
    for change in got.changes:
        assert change.associations
        assert change.raised
        assert change.loss >= 0
        assert set(change.associations) <= set(associations)


@settings(max_examples=examples(100), deadline=None)
@given(cases(), st.data())
def test_several_releases_leave_no_fewer_than_k_or_than_before(case, data) -> None:
    made, k = case[0], min(case[4], len(case[2]))
    hierarchies, associations, locals_, known, naive, linked = built(case)
    start = linkage_levels(linked, locals_, hierarchies)
    level = st.tuples(*(st.integers(0, tree.height) for tree in made))
    times = data.draw(st.integers(1, 2))
    earlier = [
        (linked, np.array([data.draw(level) for _ in linked], dtype=np.int8)) for _ in range(times)
    ]
    searched = data.draw(st.sampled_from([0, sla.MANY]))
    with patch.object(sla, "MANY", searched):
        got = semantic_levels(linked, start, locals_, hierarchies, associations, k, earlier=earlier)
    for row, levels in enumerate(got.levels.tolist()):
        leaves = [leaf(code) for code in linked[row]]
        past = [shown(made, leaves, old[row].tolist()) for _, old in earlier]
        before = fewest(made, known, naive, together(past))
        least = [k if few is None else min(k, few) for few in before]
        now = shown(made, leaves, levels)
        assert holds(made, known, naive, now, [k] * len(naive))
        assert holds(made, known, naive, together([*past, now]), least)
        assert not searched or got.exposed[row] == (min(least) < k)


@given(cases(), st.lists(st.tuples(*[st.floats(0.1, 9)] * 3), min_size=2, max_size=3))
def test_releases_one_after_the_other_leave_k(case, weights) -> None:
    """Each is made with those before it: their reader never gets below k."""
    made, k = case[0], min(case[4], len(case[2]))
    hierarchies, associations, locals_, known, naive, linked = built(case)
    releases = []
    for each in weights:
        start = least_levels(
            linked, locals_, list(hierarchies.values()), each, quasi_identifiers=list(hierarchies)
        )
        got = semantic_levels(
            linked, start, locals_, hierarchies, associations, k, each, earlier=releases
        )
        assert not got.exposed.any()
        releases.append((linked, got.levels))
    for row, codes in enumerate(linked):
        leaves = [leaf(code) for code in codes]
        held = together([shown(made, leaves, at[row].tolist()) for _, at in releases])
        assert holds(made, known, naive, held, [k] * len(naive))


@given(cases(), st.data())
def test_a_person_whose_data_has_changed(case, data) -> None:
    """Releases that contradict each other: the later one is believed."""
    made, k = case[0], min(case[4], len(case[2]))
    hierarchies, associations, locals_, known, naive, linked = built(case)
    start = linkage_levels(linked, locals_, hierarchies)
    old = linked[data.draw(st.permutations(range(len(linked))))]
    level = st.tuples(*(st.integers(0, tree.height) for tree in made))
    levels = np.array([data.draw(level) for _ in linked], dtype=np.int8)
    got = semantic_levels(
        linked, start, locals_, hierarchies, associations, k, earlier=[(old, levels)]
    )
    for row in range(len(linked)):
        past = shown(made, [leaf(code) for code in old[row]], levels[row].tolist())
        few = fewest(made, known, naive, past)
        least = [k if one is None else min(k, one) for one in few]
        now = shown(made, [leaf(c) for c in linked[row]], got.levels[row].tolist())
        assert holds(made, known, naive, together([past, now]), least)


@given(cases())
def test_reachable_is_what_the_naive_reader_reaches(case) -> None:
    made = case[0]
    hierarchies, associations, locals_, known, _, linked = built(case)
    start = linkage_levels(linked, locals_, hierarchies)
    reader = Reader(hierarchies, associations)
    reached = reader.reachable(linked, start)
    for row in range(len(linked)):
        mine = np.flatnonzero(reached.origin == row)
        got = {
            shown(made, [leaf(c) for c in reached.codes[i]], reached.levels[i].tolist())
            for i in mine
        }
        begun = shown(made, [leaf(c) for c in linked[row]], start[row].tolist())
        assert got == everything(made, known, begun)
        assert reached.fired[row].sum() == sum(one in fired(made, known, begun) for one in known)


def test_what_an_earlier_release_showed_of_each_person() -> None:
    before = {name: HIERARCHIES[name] for name in ("Language", "Sex")}
    codes = np.array([[0, 1], [2, -1]], dtype=np.int32)
    levels = np.array([[1, 0], [0, 0]], dtype=np.int8)
    release = Shown(before, codes, levels, np.array([1, 1]))
    got = shown_before(release, np.array([1, -1, 0]), HIERARCHIES)
    assert got[1].tolist() == [[1, 0, 1, 0], [1, 1, 1, 2], [1, 0, 1, 1]]
    assert got[0][:, 3].tolist() == [2, -1, 0]
    assert got[0][:, 1].tolist() == [-1, -1, 1]
    for wrong in (-2, 2):
        with pytest.raises(InputError, match="tuple of a person"):
            shown_before(release, np.array([wrong]), HIERARCHIES)


def test_a_second_release_that_shows_another_side_is_held_back() -> None:
    """Two releases of three each, and one person in both, are one person."""
    local = hospital("YoB", "Sex", "Ethnicity", "Language")
    first = (LINKED, np.array([[0, 0, 0, 2]], dtype=np.int8))
    second = np.array([[1, 1, 1, 0]], dtype=np.int8)
    assert matches(local, *first)[0] == matches(local, LINKED, second)[0] == 3
    together_ = intersection([first, (LINKED, second)], list(HIERARCHIES.values()))
    assert matches(local, *together_)[0] == 2
    got = semantic_levels(LINKED, second, [local], HIERARCHIES, [], 3, earlier=[first])
    assert values(got.levels[0]) == ("1960-1980", "*", "Asian", "71 Chinese")
    (change,) = got.changes
    assert change.between
    assert not got.exposed[0]
    alone = semantic_levels(LINKED, second, [local], HIERARCHIES, [], 3)
    assert not alone.changes


def test_what_was_shown_cannot_be_called_back() -> None:
    local = hospital(*HIERARCHIES)
    first = (LINKED, np.zeros((1, 4), dtype=np.int8))
    levels = np.array([[0, 0, 0, 2]], dtype=np.int8)
    got = semantic_levels(LINKED, levels, [local], HIERARCHIES, [], 3, earlier=[first])
    assert got.exposed.tolist() == [True]
    assert not got.changes


# --------------------------------------------------------------- Figures 1 and 2 of paper 002


def test_figure_1_leaves_three() -> None:
    local = hospital("YoB", "Sex", "Ethnicity")
    levels = linkage_levels(LINKED, [local], HIERARCHIES)
    assert values(levels[0]) == ("1971-1980", "F", "Chinese", "7104 Mandarin")
    assert disclosure_risks(LINKED, levels, [local], HIERARCHIES)[0] == 1 / 3


def test_figure_2_from_one_third_to_one_half_and_not_with_sla() -> None:
    local = hospital(*HIERARCHIES)
    paper = np.array([[1, 1, 1, 0]], dtype=np.int8)
    assert values(paper[0]) == ("1960-1980", "*", "Asian", "7104 Mandarin")
    known = [MANDARIN_IS_CHINESE]
    assert matches(local, LINKED, paper)[0] == 3
    assert disclosure_risks(LINKED, paper, [local], HIERARCHIES)[0] == 1 / 3
    assert disclosure_risks(LINKED, paper, [local], HIERARCHIES, known)[0] == 1 / 2
    got = semantic_levels(LINKED, paper, [local], HIERARCHIES, known, 3)
    assert values(got.levels[0]) == ("1960-1980", "*", "Asian", "71 Chinese")
    assert disclosure_risks(LINKED, got.levels, [local], HIERARCHIES, known)[0] <= 1 / 3
    (change,) = got.changes
    assert change.associations == (MANDARIN_IS_CHINESE,)
    assert [(one.attribute, one.before, one.after) for one in change.raised] == [("Language", 0, 1)]
    assert "7104 Mandarin -> Ethnicity Chinese" in change.text(HIERARCHIES)


def test_a_rule_that_holds_a_level_up_goes_to_the_root() -> None:
    paper = np.array([[1, 1, 1, 0]], dtype=np.int8)
    above = Association((Item("Language", 1, 0),), Item("Ethnicity", 0, 0), 0.4, 0.95)
    local = Local.from_codes(
        "Hospital A",
        list(HIERARCHIES),
        list(HIERARCHIES.values()),
        np.array([ASHLY, ALICE, JACK, JACK, OTHER], dtype=np.int32),
        k=3,
    )
    got = semantic_levels(LINKED, paper, [local], HIERARCHIES, [above], 3)
    assert values(got.levels[0])[3] == "*"


def test_the_minimal_solution_of_least_loss_leaks_nothing() -> None:
    """<1971-1980, F, Chinese, *> (here 71 Chinese holds as well) loses less than the paper's."""
    local = hospital(*HIERARCHIES)
    levels = linkage_levels(LINKED, [local], HIERARCHIES)
    assert values(levels[0]) == ("1971-1980", "F", "Chinese", "71 Chinese")
    got = semantic_levels(LINKED, levels, [local], HIERARCHIES, [MANDARIN_IS_CHINESE], 3)
    assert not got.changes
    both = np.array([[0, 0, 0, 2], [1, 1, 1, 0]], dtype=np.int8)
    assert matches(local, LINKED[[0, 0]], both).tolist() == [3, 3]


# ------------------------------------------------------------------------------------- risk


def test_who_a_refinement_excludes_is_not_at_risk() -> None:
    """Jack speaks Mandarin and is not Chinese."""
    local = hospital(*HIERARCHIES)
    jack = HOSPITAL[3:4]
    paper = np.array([[1, 1, 1, 0]], dtype=np.int8)
    assert disclosure_risks(jack, paper, [local], HIERARCHIES, [MANDARIN_IS_CHINESE])[0] == 0


def test_where_a_refinement_leaves_nobody_the_class_as_shown_counts() -> None:
    local = hospital(*HIERARCHIES)
    nobody = Association((Item("Sex", 0, 0),), Item("Language", 0, 2), 0.3, 0.9)
    levels = np.array([[0, 0, 0, 2]], dtype=np.int8)
    assert disclosure_risks(LINKED, levels, [local], HIERARCHIES, [nobody])[0] == 1 / 3


def test_mean_risk_counts_individuals() -> None:
    measure = disclosure_risk(np.array([0.5, 0.2]), np.array([1, 3]))
    assert measure.value == pytest.approx(1.1 / 4)


# ----------------------------------------------------------------------------------- errors


def test_levels_that_are_no_start_are_refused() -> None:
    local = hospital(*HIERARCHIES)
    zero = np.zeros((1, 4), dtype=np.int8)
    with pytest.raises(InputError, match="linkage 3-anonymity"):
        semantic_levels(LINKED, zero, [local], HIERARCHIES, [], 3)


def test_shapes_that_do_not_fit_are_refused() -> None:
    local = hospital(*HIERARCHIES)
    with pytest.raises(InputError, match="every attribute"):
        semantic_levels(LINKED, np.zeros((1, 3), dtype=np.int8), [local], HIERARCHIES, [], 3)
    levels = np.array([[0, 0, 0, 2]], dtype=np.int8)
    two = (LINKED[[0, 0]], levels[[0, 0]])
    with pytest.raises(InputError, match="same tuples"):
        semantic_levels(LINKED, levels, [local], HIERARCHIES, [], 3, earlier=[two])
    with pytest.raises(InputError, match="releases"):
        intersection([], list(HIERARCHIES.values()))


@pytest.mark.parametrize("item", [Item("Language", 3, 0), Item("Language", 0, 9)])
def test_an_association_about_nothing_is_refused(item: Item) -> None:
    with pytest.raises(InputError, match="values of the hierarchies"):
        Reader(HIERARCHIES, [Association((item,), Item("Ethnicity", 0, 0), 0.1, 0.9)])


def test_attributes_that_are_not_shown_say_nothing() -> None:
    reader = Reader({"Ethnicity": HIERARCHIES["Ethnicity"]}, [MANDARIN_IS_CHINESE])
    assert reader.rules == ()


@pytest.mark.parametrize("seed", range(12))
def test_what_everybody_is_known_to_have_leaves_k_by_counting(seed: int) -> None:
    """A condition on a root: whoever may have the value is taken to have it, or one above it."""
    rng = np.random.default_rng(seed)
    tree = Hierarchy.from_columns(
        [["a1", "a2", "b1", "b2"], ["a", "a", "b", "b"]], "hierarchy file two.csv"
    )
    trees = {"one": tree, "two": tree}
    people = rng.integers(0, 4, (30, 2)).astype(np.int32)
    local = Local.from_codes(
        "clinic", ["one", "two"], [tree, tree], np.asfortranarray(people), np.arange(30), 3
    )
    told = int(rng.integers(0, 4))
    always = Association((Item("one", 2, 0),), Item("two", 0, told), 1.0, 0.9)
    start = least_levels(people, [local], [tree, tree])
    found = semantic_levels(people, start, [local], trees, [always], 3)
    table = np.vstack([tree.ancestors[level] for level in range(3)])
    for row, (first, second) in zip(people, found.levels, strict=True):
        for level in range(int(second)):
            if table[second, row[1]] != table[second, told]:
                continue
            fits = table[first, people[:, 0]] == table[first, row[0]]
            fits &= table[level, people[:, 1]] == table[level, told]
            assert fits.sum() >= 3 or not fits.any()
