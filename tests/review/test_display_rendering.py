"""A rendering holds what its disclosure allows, and nothing else."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import assume, example, given
from hypothesis import strategies as st
from review.display_pairs import (
    CATEGORY,
    DATE,
    STRING,
    compared,
    drawn,
    modes,
    pairs,
    rendered,
    widths,
)

from sfumato.review.pair_rendering import disclosed, more, render, render_pair, seen, share, shown
from sfumato.review.review_settings import (
    Attribute,
    AttributeKind,
    CellKind,
    MaskWidth,
    Mode,
    Rarity,
    Seen,
    Shown,
)

HIDDEN = st.sampled_from(list("жщю漢字"))
"""Characters that are in no value, mark or name of a class."""


def with_hidden(draw, value, places):
    """The value with other characters, and another text in full, where it is not disclosed."""
    if value is None:
        return None
    characters = tuple(
        each if place in places else draw(HIDDEN) for place, each in enumerate(value.characters)
    )
    return Shown(characters, (*range(len(characters)), "…"), characters)


@given(pairs(), st.sampled_from([Mode.MASKED, Mode.PARTIAL]), widths, st.data())
def test_what_is_hidden_changes_nothing(pair, mode, width, data):
    attribute, *texts = pair
    found = compared(attribute, *texts)
    left, right = disclosed(found, mode)
    other = replace(
        found,
        left=with_hidden(data.draw, found.left, left),
        right=with_hidden(data.draw, found.right, right),
    )
    one, two = (rendered(attribute, each, mode, width) for each in (found, other))
    assert one == two
    assert repr(one) == repr(two)
    assert not any(character in repr(two) for character in "жщю漢字…")


@given(pairs(), HIDDEN, st.tuples(st.integers(1, 12), st.integers(1, 12)))
def test_with_a_fixed_width_only_marks_and_status_show(pair, character, lengths):
    attribute, *texts = pair
    found = compared(attribute, *texts)
    left, right = (
        value and Shown((character,) * length, tuple(range(length)), (character,) * length)
        for value, length in zip((found.left, found.right), lengths, strict=True)
    )
    other = replace(found, left=left, right=right, differing=(frozenset(),) * 2, edits=((), ()))
    one, two = (rendered(attribute, each, Mode.MASKED, MaskWidth.FIXED) for each in (found, other))
    assert one == two
    assert repr(one) == repr(two)
    assert all(cell.edit is None for row in one.rows for cell in row)


@given(pairs(), widths)
def test_renamed_characters_are_masked_alike(pair, width):
    """Through the comparison: which characters they are does not show, only which are equal."""
    attribute, left, right = pair
    assume(attribute.kind is not AttributeKind.DATE)
    renamed = str.maketrans("abcd", "жщю漢")
    others = [text and text.lower().translate(renamed) for text in (left, right)]
    one, two = (
        rendered(attribute, compared(attribute, *texts), Mode.MASKED, width)
        for texts in ((left, right), others)
    )
    assert repr(one) == repr(two)


@given(pairs(), modes, widths)
def test_cells_hold_the_disclosed_characters_in_their_places(pair, mode, width):
    attribute, *texts = pair
    found = compared(attribute, *texts)
    drawing = rendered(attribute, found, mode, width)
    for value, cells, places in zip(
        (found.left, found.right), drawing.rows, disclosed(found, mode), strict=True
    ):
        if value is None:
            assert [cell.kind for cell in cells] == [CellKind.MISSING]
            continue
        held = {
            place: cell.text
            for place, cell in enumerate(c for c in cells if c.kind is not CellKind.SEPARATOR)
            if cell.kind is CellKind.CHARACTER
        }
        assert held == {place: value.characters[place] for place in places}
        closed = [cell for cell in cells if cell.kind not in {"disclosed character", "separator"}]
        assert all(cell.text == "" for cell in closed)


@given(pairs(), widths)
def test_more_is_disclosed_from_mode_to_mode(pair, width):
    attribute, *texts = pair
    found = compared(attribute, *texts)
    for row, value in enumerate((found.left, found.right)):
        places = [disclosed(found, mode)[row] for mode in Mode]
        assert places[0] == frozenset()
        assert places[0] <= places[1] <= places[2]
        assert share(value, places[2]) == (0 if value is None else 1)
        facts = [seen(attribute, found, mode, width)[row] for mode in Mode]
        assert facts[0] | facts[1] == facts[1]
        assert facts[1] | facts[2] == facts[2]
        assert [fact.positions for fact in facts] == places


@given(pairs(), modes)
def test_modes_that_are_offered_show_more(pair, mode):
    attribute, *texts = pair
    found = compared(attribute, *texts)
    for offered in more(found, mode):
        assert offered > mode
        assert disclosed(found, offered) != disclosed(found, mode)
    if not more(found, mode):
        assert disclosed(found, mode) == disclosed(found, Mode.FULL)


def test_partial_disclosure_of_everything_leaves_nothing_to_offer():
    found = compared(STRING, "ab", "ba")
    assert more(found, Mode.MASKED) == (Mode.PARTIAL, Mode.FULL)
    assert more(found, Mode.PARTIAL) == ()


@given(pairs(), modes)
@example((STRING, "Sanchez Jr", "Sanchez"), Mode.PARTIAL)
def test_a_true_width_is_that_of_the_characters(pair, mode):
    """And so is a fixed one as soon as a character shows, as `seen` says."""
    attribute, *texts = pair
    found = compared(attribute, *texts)
    for width in MaskWidth:
        cells = rendered(attribute, found, mode, width).rows
        facts = seen(attribute, found, mode, width)
        for value, row, fact in zip((found.left, found.right), cells, facts, strict=True):
            if fact.length:
                count = sum(cell.kind is not CellKind.SEPARATOR for cell in row)
                assert count == len(value.characters)
    assert seen(attribute, found, Mode.FULL, MaskWidth.FIXED) == seen(
        attribute, found, Mode.FULL, MaskWidth.TRUE
    )


def test_seen():
    found = compared(STRING, "Mary", "Mark")
    masked = Seen(missingness=True, length=True)
    assert seen(STRING, found, Mode.MASKED, MaskWidth.TRUE) == (masked, masked)
    assert seen(STRING, found, Mode.MASKED, MaskWidth.FIXED) == (Seen(missingness=True),) * 2
    last = replace(masked, positions=frozenset({3}))
    assert seen(STRING, found, Mode.PARTIAL, MaskWidth.FIXED) == (last, last)
    alike = compared(STRING, "Mary", "mary")
    assert [fact.twice for fact in seen(STRING, alike, Mode.MASKED, MaskWidth.TRUE)] == [True] * 2
    assert seen(STRING, compared(STRING, None, "Mary"), Mode.FULL, MaskWidth.TRUE) == (
        Seen(missingness=True),
        Seen(missingness=True, length=True, positions=frozenset(range(4))),
    )


def test_rarity_shows_only_where_the_attribute_says_so():
    telling = Attribute(name="name", kind=AttributeKind.VARIABLE, rarity=True)
    found = compared(STRING, "Mary", None)
    bands = (Rarity.RARE, Rarity.COMMON)
    for mode in Mode:
        drawing = render(STRING, found, mode, MaskWidth.TRUE, bands)
        assert drawing.rarity == (None, None)
        drawing = render(telling, found, mode, MaskWidth.TRUE, bands)
        assert drawing.rarity == (Rarity.RARE, None)
        assert [fact.rarity for fact in seen(telling, found, mode, MaskWidth.TRUE)] == [True, False]


def test_missing_values():
    assert drawn(STRING, None, "Mary") == ("?", "****")
    assert drawn(STRING, "Mary", " ", Mode.FULL) == ("Mary", "?")
    assert drawn(STRING, None, None, Mode.FULL) == ("?", "?")
    assert more(compared(STRING, None, None), Mode.MASKED) == ()
    assert more(compared(STRING, None, "Mary"), Mode.PARTIAL) == (Mode.FULL,)
    masked = rendered(STRING, compared(STRING, None, "Mary"), Mode.MASKED)
    assert {cell.kind for cell in masked.rows[1]} == {CellKind.MASKED}


def test_a_date_that_is_none_is_masked_like_one_of_its_length():
    eight = compared(DATE, "about 64", "about 64"), compared(DATE, "1964-08-09", "1964-08-09")
    one, two = (rendered(DATE, found, Mode.MASKED) for found in eight)
    assert repr(one) == repr(two)
    assert drawn(DATE, "about 64", "about 64", Mode.FULL) == ("about 64", "about 64")


def test_a_pair_is_rendered_attribute_by_attribute():
    found = [compared(STRING, "Mary", "Mark"), compared(CATEGORY, "a", "b")]
    drawing = render_pair(
        (STRING, CATEGORY), found, (Mode.PARTIAL, Mode.FULL), MaskWidth.TRUE, [(None, None)] * 2
    )
    assert drawing == (
        rendered(STRING, found[0], Mode.PARTIAL),
        rendered(CATEGORY, found[1], Mode.FULL),
    )
    assert shown(STRING, "Mary") == found[0].left
