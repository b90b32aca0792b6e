"""Mining, redundancy, decisions and plain values of associations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from few_cases import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from semantics.made import NAMES, codes, hierarchy, trees
from semantics.reader import implied, shown

from sfumato.core.errors import InputError
from sfumato.hierarchies import Hierarchy
from sfumato.semantics.associations import (
    Association,
    Associations,
    Item,
    Shown,
    State,
    decide,
    mine,
)

HIERARCHIES = {
    "Language": Hierarchy.from_columns(
        [
            ["7104 Mandarin", "7101 Cantonese", "6302 Vietnamese", "1201 English"],
            ["71 Chinese", "71 Chinese", "63 Mon-Khmer", "12 English"],
        ],
        "Language",
    ),
    "Ethnicity": Hierarchy.from_columns(
        [
            ["6101 Chinese", "5107 Vietnamese", "1101 Australian"],
            ["61 Chinese Asian", "51 Mainland", "11 Australian"],
        ],
        "Ethnicity",
    ),
    "Sex": Hierarchy.from_columns([["F", "M"]], "Sex"),
}


def release(*rows, levels=None) -> Shown:
    """Rows of leaf codes and, last, how many individuals."""
    table = np.array(rows)
    leaves = table[:, :3].astype(np.int32)
    at = np.zeros_like(leaves) if levels is None else np.array(levels)
    return Shown(HIERARCHIES, leaves, at.astype(np.int8), table[:, 3])


RELEASE = release(
    (0, 0, 0, 30), (0, 0, 1, 19), (0, 1, 1, 1), (1, 0, 0, 3), (2, 1, 0, 20), (3, 2, 1, 27)
)


def texts(found: Associations) -> set[str]:
    return {one.text(HIERARCHIES) for one in found}


@st.composite
def releases(draw):
    made = draw(trees())
    rows = draw(
        st.lists(
            st.tuples(*(st.integers(-1, len(t.paths) - 1) for t in made)), min_size=1, max_size=12
        )
    )
    level = st.tuples(*(st.integers(0, t.height) for t in made))
    levels = [draw(level) for _ in rows]
    counts = [draw(st.integers(0, 9)) for _ in rows]
    return made, rows, levels, counts


def naive_redundant(key, among) -> bool:
    """Whether another association has a wider antecedent and a consequent as narrow."""
    antecedent, (column, value) = key
    for other in among:
        wider, (its_column, its_value) = other
        if other == key or its_column != column or not its_value <= value:
            continue
        if all(any(c == k and v <= w for c, v in antecedent) for k, w in wider):
            return True
    return False


@settings(max_examples=examples(120), deadline=None)
@given(releases(), st.sampled_from([0.05, 0.2, 0.5]), st.sampled_from([0.5, 0.8, 1.0]))
def test_mined_are_those_of_plain_counting_without_the_redundant(
    case, support: float, confidence: float
) -> None:
    made, rows, levels, counts = case
    hierarchies = {name: hierarchy(t) for name, t in zip(NAMES, made, strict=True)}
    if not sum(counts):
        return
    given_ = Shown(hierarchies, codes(rows), np.array(levels, dtype=np.int8), np.array(counts))
    sets = [
        shown(made, [None if c < 0 else c for c in row], at)
        for row, at in zip(rows, levels, strict=True)
    ]
    every = implied(made, sets, counts, support, confidence, 2)
    wanted = {key: figures for key, figures in every.items() if not naive_redundant(key, every)}

    def value(item: Item):
        column = NAMES.index(item.attribute)
        below = np.flatnonzero(hierarchies[item.attribute].ancestors[item.level] == item.label)
        return column, made[column].value(int(below[0]), item.level)

    got = {}
    for one in mine([given_], support=support, confidence=confidence, length=2):
        key = (frozenset(value(item) for item in one.antecedent), value(one.consequent))
        assert key not in got
        got[key] = (one.support, one.confidence)
    assert got.keys() == wanted.keys()
    for key, figures in got.items():
        assert figures == pytest.approx(wanted[key])


def test_text_for_people() -> None:
    found = mine([RELEASE], support=0.1, confidence=0.95)
    assert "Language 71 Chinese -> Ethnicity 6101 Chinese, support 53 %, confidence 98.1 %" in (
        texts(found)
    )
    assert not any("7104 Mandarin ->" in text for text in texts(found))
    nearly = replace(next(iter(found)), support=0.5, confidence=0.9997)
    assert "support 50 %, confidence over 99.9 %" in nearly.text(HIERARCHIES)


def test_a_narrow_antecedent_stays_where_the_wide_one_was_rejected() -> None:
    found = mine([RELEASE], support=0.1, confidence=0.95)
    number = next(
        n
        for n, one in enumerate(found, 1)
        if "71 Chinese -> Ethnicity 6101" in one.text(HIERARCHIES)
    )
    refused = decide(found, [number], State.REJECTED, "no secret")
    again = mine([RELEASE], support=0.1, confidence=0.95, earlier=refused)
    assert any("7104 Mandarin -> Ethnicity 6101" in text for text in texts(again))
    assert [one.note for one in again if one.state == "rejected"] == ["no secret"]


def test_what_was_accepted_stays_known() -> None:
    found = mine([RELEASE], support=0.1, confidence=0.95)
    known = decide(found, range(1, len(found) + 1), State.ACCEPTED, "told in 2026")
    later = release((0, 0, 0, 30), (3, 2, 1, 30), levels=[[2, 2, 1], [2, 2, 1]])
    again = mine([later], support=0.1, confidence=0.95, earlier=known)
    assert set(again.accepted) == set(known.accepted)


def test_a_later_release_hides_nothing_that_an_earlier_one_told() -> None:
    later = release((0, 0, 0, 100), levels=[[0, 2, 1]])
    assert texts(mine([RELEASE, later])) >= texts(mine([RELEASE]))


def test_decisions_are_by_number() -> None:
    found = mine([RELEASE], support=0.1, confidence=0.95)
    assert not found.accepted
    one = decide(found, [2], State.ACCEPTED, "yes")
    assert one.accepted == (one[1],)
    assert one[1].note == "yes"
    assert decide(one, [2], State.REJECTED).accepted == ()
    for number in (0, len(found) + 1):
        with pytest.raises(InputError, match="number of an association"):
            decide(found, [number], State.ACCEPTED)


@pytest.mark.parametrize(
    ("options", "name"),
    [({"support": 0}, "support"), ({"confidence": 1.1}, "confidence"), ({"length": 0}, "length")],
)
def test_parameters_out_of_range_are_refused(options, name: str) -> None:
    with pytest.raises(InputError, match=f"parameter {name}"):
        mine([RELEASE], **options)


def test_what_is_no_association_is_refused() -> None:
    item = Item("Sex", 0, 0)
    with pytest.raises(InputError, match="attributes"):
        Association((), item, 0.1, 0.9)
    with pytest.raises(InputError, match="attributes"):
        Association((item,), Item("Sex", 0, 1), 0.1, 0.9)
    with pytest.raises(InputError, match="shares"):
        Association((item,), Item("Language", 0, 1), 0.1, 1.9)


def test_releases_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match="code and a level"):
        Shown(HIERARCHIES, np.zeros((1, 2), np.int32), np.zeros((1, 3), np.int8), np.ones(1, int))
    with pytest.raises(InputError, match="negative"):
        release((0, 0, 0, -1))
    other = {**HIERARCHIES, "Sex": Hierarchy.from_columns([["M", "F"]], "Sex")}
    two = Shown(other, RELEASE.codes, RELEASE.levels, RELEASE.counts)
    with pytest.raises(InputError, match="the same in all releases"):
        mine([RELEASE, two])


def test_nothing_is_found_in_nothing() -> None:
    assert len(mine([])) == 0
    assert len(mine([release((0, 0, 0, 0))])) == 0
