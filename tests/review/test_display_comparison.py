"""How the values of a pair differ."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA
from review.display_pairs import CATEGORY, DATE, STRING, compared, drawn, pairs, rendered, words

from sfumato.review.pair_rendering import compare_pair, more, plain, shown, string_edits
from sfumato.review.review_settings import Attribute, AttributeKind, Mark, MaskWidth, Mode, Status

SYMBOLS_EXCHANGED = str.maketrans("@&", "&@")
OTHER_WAY = {Mark.INSERTED: Mark.DELETED, Mark.DELETED: Mark.INSERTED}


def replayed(left, right, edits):
    """The left string after the edits, which say of the right one only what they mark."""
    of_left, of_right = ({place: mark for mark, place in row} for row in edits)
    result, i = [], 0
    for j in range(len(right)):
        while of_left.get(i) is Mark.DELETED:
            i += 1
        if of_right.get(j) is not None:
            result.append(right[j])
            i += of_right[j] is not Mark.INSERTED
        else:
            assert i not in of_left
            result.append(left[i])
            i += 1
    assert all(of_left.get(place) is Mark.DELETED for place in range(i, len(left)))
    return tuple(result)


@given(st.tuples(words, words))
def test_edits_make_the_right_of_the_left(pair):
    left, right = map(tuple, pair)
    found = string_edits(left, right)
    assert replayed(left, right, found.edits) == right
    assert found.distance == OSA.distance(left, right)
    for row, places in enumerate(found.differing):
        assert places == {place for _, place in found.edits[row]}
        assert len(places) == len(found.edits[row])
    assert set(found.marks) == {mark for row in found.edits for mark, _ in row}


@given(st.tuples(words, words))
def test_transposed_neighbours_are_each_others(pair):
    left, right = pair
    edits = string_edits(tuple(left), tuple(right)).edits
    moved = [
        "".join(text[place] for mark, place in row if mark is Mark.TRANSPOSED)
        for text, row in zip(pair, edits, strict=True)
    ]
    assert len(moved[0]) % 2 == 0
    assert moved[1] == "".join(
        moved[0][place + 1] + moved[0][place] for place in range(0, len(moved[0]), 2)
    )


def mirrored(left, right):
    """Whether each is the other with its characters renamed."""
    both = set(zip(left, right, strict=False)) | set(zip(right, left, strict=False))
    return len(left) == len(right) and len(both) == len({a for a, _ in both})


@given(pairs())
def test_exchanged_rows_exchange_the_symbols(pair):
    attribute, left, right = pair
    here, there = compared(attribute, left, right), compared(attribute, right, left)
    if here.left and here.right:
        assume(not mirrored(here.left.folded, here.right.folded))
    assert there.differing == here.differing[::-1]
    assert there.edits == tuple(
        tuple((OTHER_WAY.get(mark, mark), place) for mark, place in row) for row in here.edits[::-1]
    )
    assert set(there.marks) == {OTHER_WAY.get(mark, mark) for mark in here.marks}
    for mode in Mode:
        for width in MaskWidth:
            one = plain(rendered(attribute, here, mode, width))
            other = plain(rendered(attribute, there, mode, width))
            assert other == tuple(text.translate(SYMBOLS_EXCHANGED) for text in one[::-1])


def test_strings_that_are_each_others_image_are_drawn_alike_either_way():
    assert drawn(STRING, "ababa", "babab") == ("@****", "****&")
    assert drawn(STRING, "babab", "ababa") == ("@****", "****&")


@given(pairs())
def test_status(pair):
    attribute, left, right = pair
    found = compared(attribute, left, right)
    if not left:
        expected = Status.MISSING_LEFT if right else Status.MISSING_BOTH
    elif not right:
        expected = Status.MISSING_RIGHT
    elif found.left.folded == found.right.folded:
        expected = Status.IDENTICAL
    elif attribute.kind is AttributeKind.CATEGORY:
        expected = Status.DIFFERENT
    elif attribute.kind is AttributeKind.DATE:
        assert found.status in {Status.SIMILAR, Status.DIFFERENT}
        return
    else:
        texts = found.left.folded, found.right.folded
        far = 2 * OSA.distance(*texts) > max(map(len, texts))
        expected = Status.DIFFERENT if far else Status.SIMILAR
    assert found.status is expected


@pytest.mark.parametrize(
    ("left", "right", "masked", "partial"),
    [
        ("Jonathan", "Jonathon", ("******@*", "******&*"), ("******a*", "******o*")),
        ("Jonathan", "Jnoathan", ("*@@*****", "*&&*****"), ("*on*****", "*no*****")),
        ("Anna", "Anne Marie", ("@@@@", "&&&&&&&&&&"), ("@@@@", "&&&&&&&&&&")),
        ("Smith", "Smithson", ("*****", "*****&&&"), ("*****", "*****son")),
        ("Anna", "ANNA", ("****", "****"), ("****", "****")),
        ("bob", "xyz", ("@@@", "&&&"), ("@@@", "&&&")),
        ("abcd", "bcde", ("@***", "***&"), ("a***", "***e")),
    ],
)
def test_strings(left, right, masked, partial):
    assert drawn(STRING, left, right) == masked
    assert drawn(STRING, left, right, Mode.PARTIAL) == partial


@pytest.mark.parametrize(
    ("left", "right", "marks", "masked"),
    [
        ("1964-08-09", "1964-08-19", (Mark.DAY,), ("****-**-@*", "****-**-&*")),
        ("1964-08-09", "1965-07-09", (Mark.MONTH, Mark.YEAR), ("***@-*@-**", "***&-*&-**")),
        ("1964-08-09", "1946-08-09", (Mark.TRANSPOSED, Mark.YEAR), ("**@@-**-**", "**&&-**-**")),
        (
            "1964-08-09",
            "1965-09-08",
            (Mark.DAY_MONTH_SWAP, Mark.YEAR),
            ("***@-*@-*&", "***&-*&-*@"),
        ),
        ("1964-12-01", "1964-01-12", (Mark.DAY_MONTH_SWAP,), ("****-@@-&&", "****-&&-@@")),
        ("1964-08-09", "1964", (Mark.DELETED,), ("****-@@-@@", "****")),
        ("1964-08-09", "1964-08", (Mark.DELETED,), ("****-**-@@", "****-**")),
        ("1964-02-31", "1964-02-13", (Mark.TRANSPOSED, Mark.DAY), ("****-**-@@", "****-**-&&")),
        ("1964-08-09", "2011-12-31", (Mark.DIFFERENT,), ("@@@@-@@-@@", "&&&&-&&-&&")),
        ("1964-08-09", "unknown", (Mark.DIFFERENT,), ("@@@@-@@-@@", "&&&&&&&")),
    ],
)
def test_dates(left, right, marks, masked):
    assert compared(DATE, left, right).marks == marks
    assert drawn(DATE, left, right) == masked


@given(st.dates(), st.dates())
def test_dates_differ_digit_by_digit(left, right):
    texts = left.strftime("%Y%m%d").zfill(8), right.strftime("%Y%m%d").zfill(8)
    found = compared(DATE, left.isoformat(), right.isoformat())
    places = frozenset(place for place in range(8) if texts[0][place] != texts[1][place])
    swap = (left.day, left.month) == (right.month, right.day) != (right.day, right.month)
    assert (Mark.DAY_MONTH_SWAP in found.marks) == (swap and found.status is Status.SIMILAR)
    if found.status is Status.SIMILAR:
        assert found.differing == (places, places)
        parts = {Mark.YEAR: left.year != right.year}
        parts |= {Mark.MONTH: left.month != right.month and not swap}
        parts |= {Mark.DAY: left.day != right.day and not swap}
        for part, differs in parts.items():
            assert (part in found.marks) is differs
    elif found.status is Status.DIFFERENT:
        assert len(places) > 4
        assert found.differing == (frozenset(range(8)),) * 2


GIVEN = Attribute(name="given", kind=AttributeKind.VARIABLE, name_part="given")
FAMILY = Attribute(name="family", kind=AttributeKind.VARIABLE, name_part="family")


def of_names(left, right):
    """The comparison of a sex, and of given and family names."""
    attributes = (CATEGORY, GIVEN, FAMILY)
    values = [
        [shown(attribute, text) for attribute, text in zip(attributes, ("f", *row), strict=True)]
        for row in (left, right)
    ]
    return attributes, compare_pair(attributes, *values)


def test_swapped_names():
    attributes, found = of_names(("Mary", "Søren Ross"), ("SØREN  ROSS", "mary"))
    assert found[0].status is Status.IDENTICAL
    for attribute, each in zip(attributes[1:], found[1:], strict=True):
        assert each.marks == (Mark.NAME_SWAP,)
        assert more(each, Mode.MASKED) == (Mode.FULL,)
        assert rendered(attribute, each, Mode.PARTIAL).mode is Mode.MASKED
    assert plain(rendered(GIVEN, found[1], Mode.MASKED)) == ("@@@@", "&" * 10)
    assert plain(rendered(GIVEN, found[1], Mode.FULL)) == ("Mary", "SØREN ROSS")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (("Mary", "Ross"), ("Ross", "Marya")),
        (("Mary", "Ross"), ("Ross", None)),
        (("Mary", None), (None, "Mary")),
        (("Ross", "Ross"), ("Ross", "Ross")),
    ],
)
def test_names_that_are_not_swapped(left, right):
    _, found = of_names(left, right)
    assert not any(Mark.NAME_SWAP in each.marks for each in found)


def test_one_name_part_alone_is_not_swapped():
    attributes = (GIVEN, STRING)
    values = [shown(GIVEN, text) for text in ("Mary", "Ross")]
    found = compare_pair(attributes, values, values[::-1])
    assert [each.marks for each in found] == [(Mark.DIFFERENT,)] * 2
