"""Pairs of values and how they are drawn, for the tests of the display."""

from __future__ import annotations

from hypothesis import strategies as st

from sfumato.review.pair_rendering import compare, plain, render, shown
from sfumato.review.review_settings import Attribute, AttributeKind, DateOrder, MaskWidth, Mode

NO_BANDS = (None, None)
STRING = Attribute(name="name", kind=AttributeKind.VARIABLE)
NUMBER = Attribute(name="number", kind=AttributeKind.FIXED)
DATE = Attribute(name="birth", kind=AttributeKind.DATE)
DAY_FIRST = Attribute(name="birth", kind="date", date_order=DateOrder.DAY_MONTH_YEAR)
MONTH_FIRST = Attribute(name="birth", kind="date", date_order=DateOrder.MONTH_DAY_YEAR)
CATEGORY = Attribute(name="race", kind=AttributeKind.CATEGORY)


def compared(attribute, left, right):
    """How two texts of an attribute compare."""
    return compare(attribute, shown(attribute, left), shown(attribute, right))


def rendered(attribute, comparison, mode, width=MaskWidth.TRUE):
    """The rendering without rarity bands."""
    return render(attribute, comparison, mode, width, NO_BANDS)


def drawn(attribute, left, right, mode=Mode.MASKED, width=MaskWidth.TRUE):
    """Two texts of an attribute as plain text."""
    return plain(rendered(attribute, compared(attribute, left, right), mode, width))


LETTERS = "abcd"
"""Few, so that values resemble each other."""
words = st.text(LETTERS, max_size=8)
dates = st.dates().map(lambda day: day.isoformat())
partial_dates = st.sampled_from(["1964", "1964-08", "31/02/1964", "unknown", "about 64"])
places = st.sampled_from(["north", "south", "South", None])


@st.composite
def similar_words(draw):
    """A word and the same after some edits."""
    left = draw(words.filter(bool))
    right = list(left)
    for _ in range(draw(st.integers(1, 2))):
        place = draw(st.integers(0, len(right)))
        right[place : place + draw(st.integers(0, 2))] = draw(st.text(LETTERS, max_size=2))
    return left, "".join(right)


@st.composite
def similar_dates(draw):
    """Two dates of the same few years."""
    few = st.tuples(
        st.sampled_from(["1964", "1946", "2001"]), st.integers(1, 12), st.integers(1, 28)
    ).map(lambda parts: f"{parts[0]}-{parts[1]:02}-{parts[2]:02}")
    left = draw(few)
    swapped = f"{left[:4]}-{left[8:]}-{left[5:7]}"
    return left, draw(few | st.just(swapped))


@st.composite
def pairs(draw):
    """An attribute and two texts of it, either of which may be missing."""
    attribute = draw(st.sampled_from([STRING, NUMBER, DATE, DAY_FIRST, MONTH_FIRST, CATEGORY]))
    if attribute.kind is AttributeKind.CATEGORY:
        return attribute, draw(places), draw(places)
    if attribute.kind is AttributeKind.DATE:
        one = st.none() | dates | partial_dates
        return attribute, *draw(similar_dates() | st.tuples(one, one))
    one = st.none() | words
    return attribute, *draw(similar_words() | st.tuples(one, one))


modes = st.sampled_from(list(Mode))
widths = st.sampled_from(list(MaskWidth))
