"""Released values: printed, read back, and what they contain."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from oracles.released_cells import contains, parse_released

from sfumato import hierarchies
from sfumato.core.errors import InputError
from sfumato.hierarchies import (
    Anything,
    AtLeast,
    AtMost,
    Exact,
    Hierarchy,
    Missing,
    OneOf,
    Range,
    Released,
    format_released,
)
from sfumato.schema import Kind

NUMERIC, ORDERED, CATEGORICAL = Kind.NUMERIC, Kind.ORDERED, Kind.CATEGORICAL

# Any text, and texts made of the pieces that the notation itself uses.
pieces = st.lists(
    st.sampled_from(
        [
            *("a", "5", "10", "-", ".", " ", "to", " to ", "*", "{", "}", '"', '""', ",", "\n"),
            *(" or more", " or less"),
        ]
    ),
    min_size=1,
    max_size=6,
).map("".join)
texts = st.one_of(st.text(min_size=1), pieces)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Released, Kind, frozenset[str] | None]:
    kind = draw(st.sampled_from(list(Kind)))
    several = st.lists(texts, max_size=4).map(tuple)
    ranges = st.builds(Range, texts, texts).filter(lambda value: value.low != value.high)
    ranges = ranges | st.builds(AtLeast, texts) | st.builds(AtMost, texts)
    options = [st.builds(Exact, texts), st.builds(OneOf, several), st.builds(Anything)]
    value = draw(st.one_of(*options, st.builds(Missing), *([ranges] * (kind != CATEGORICAL))))
    used = [value.label] if isinstance(value, Exact) else []
    if isinstance(value, Range):
        used = [value.low, value.high, f"{value.low}-{value.high}"]
    if isinstance(value, AtLeast):
        used = [value.low, f"{value.low} or more", f'"{value.low}" or more']
    if isinstance(value, AtMost):
        used = [value.high, f"{value.high} or less", f'"{value.high}" or less']
    near = st.sampled_from([*used, *(end for text in used for end in text.split("-"))] or ["a"])
    labels = draw(st.none() | st.frozensets(st.one_of(near, texts), max_size=5))
    return value, kind, labels


@given(cases())
@example((Range("5", "7"), ORDERED, frozenset({"5-7"})))
@example((Exact("5-7"), ORDERED, frozenset({"5-7", "5", "7"})))
@example((Range("x to", "y"), ORDERED, None))
@example((Exact("5 or more"), ORDERED, None))
@example((Exact("5 or more"), ORDERED, frozenset({"5 or more"})))
@example((AtLeast("5"), ORDERED, frozenset({"5 or more", '"5" or more'})))
@example((AtMost('a" to "b'), ORDERED, None))
@example((Range("a", "b or more"), ORDERED, frozenset({"a to b or more"})))
@example((Range("x", "to y"), NUMERIC, None))
@example((Range('a" to "b', "c"), ORDERED, None))
@example(
    (
        OneOf(
            (),
        ),
        CATEGORICAL,
        None,
    )
)
def test_what_is_printed_is_read_back(
    case: tuple[Released, Kind, frozenset[str] | None],
) -> None:
    value, kind, labels = case
    text = format_released(value, kind, labels)
    assert text != ""
    assert parse_released(text, kind, labels) == value
    if value != OneOf(()):  # no class shows a set of nothing
        assert hierarchies.parse_released(text, kind, labels) == value


@given(st.text() | pieces, st.sampled_from(list(Kind)), st.none() | st.frozensets(pieces))
def test_reading_any_text_gives_a_value_or_a_refusal(
    text: str, kind: Kind, labels: frozenset[str] | None
) -> None:
    try:
        value = parse_released(text, kind, labels)
    except InputError:
        assert text[0] in '{"' or ' to "' in text
        return
    if not isinstance(value, Range) or value.low != value.high:
        assert parse_released(format_released(value, kind, labels), kind, labels) == value


@pytest.mark.parametrize(
    ("value", "kind", "printed"),
    [
        (Range("84", "86"), NUMERIC, "84-86"),
        (Range("0.5", "2"), NUMERIC, "0.5-2"),
        (Range("-5", "3"), NUMERIC, "-5 to 3"),
        (Range("2005-03-01", "2005-04-30"), NUMERIC, "2005-03-01 to 2005-04-30"),
        (Range("5", "5"), NUMERIC, "5"),
        (Range("low", "high"), ORDERED, "low to high"),
        (Range("10-19", "30-39"), ORDERED, "10-19 to 30-39"),
        (Range("9 to 5", "late"), ORDERED, '"9 to 5" to late'),
        (Exact("Bachelors"), CATEGORICAL, "Bachelors"),
        (Exact("10-19"), CATEGORICAL, "10-19"),
        (Exact("10-19"), ORDERED, '"10-19"'),
        (Exact("day to day"), CATEGORICAL, "day to day"),
        (Exact("day to day"), ORDERED, '"day to day"'),
        (Exact("*"), CATEGORICAL, '"*"'),
        (Exact("{x"), CATEGORICAL, '"{x"'),
        (Exact('"x"'), CATEGORICAL, '"""x"""'),
        (Exact('6" pipe'), CATEGORICAL, '6" pipe'),
        (Exact(""), CATEGORICAL, '""'),
        (OneOf(("a", "b")), CATEGORICAL, "{a, b}"),
        (OneOf(("1", "2")), NUMERIC, "{1, 2}"),
        (
            OneOf(("a, b", 'say "x"', " c", "", "}")),
            ORDERED,
            '{"a, b", "say ""x""", " c", "", "}"}',
        ),
        (OneOf(()), CATEGORICAL, "{}"),
        (Anything(), NUMERIC, "*"),
        (Missing(), NUMERIC, None),
    ],
)
def test_how_values_print(value: Released, kind: Kind, printed: str | None) -> None:
    assert format_released(value, kind) == printed


def test_labels_settle_what_a_dash_means() -> None:
    bands = {"10-19", "20-29"}
    assert format_released(Exact("10-19"), ORDERED, bands) == "10-19"
    assert parse_released("10-19", ORDERED, bands) == Exact("10-19")
    assert parse_released("10-19", ORDERED) == Range("10", "19")
    assert parse_released("10-19", CATEGORICAL) == Exact("10-19")
    both = bands | {"10", "19"}
    assert format_released(Exact("10-19"), ORDERED, both) == '"10-19"'
    assert parse_released("10-19", ORDERED, both) == Range("10", "19")


def test_an_empty_cell_is_missing() -> None:
    assert parse_released(None, NUMERIC) == Missing()
    assert parse_released("", CATEGORICAL) == Missing()


@pytest.mark.parametrize("text", ["{", "{a", "{a}b", "{a,}", "{,a}", '{"a}', '"a', '"a"b'])
@pytest.mark.parametrize("kind", list(Kind))
def test_malformed_text_is_refused(text: str, kind: Kind) -> None:
    with pytest.raises(InputError, match="released value"):
        parse_released(text, kind)


def test_a_range_of_a_categorical_is_refused() -> None:
    with pytest.raises(InputError, match="numeric and ordered"):
        format_released(Range("a", "b"), CATEGORICAL)
    with pytest.raises(InputError, match="numeric and ordered"):
        contains(Range("a", "b"), "a", CATEGORICAL)


def test_numbers_are_contained_by_value() -> None:
    assert contains(Range("9", "10.5"), "10", NUMERIC)
    assert contains(Range("9", "10.5"), "10.50", NUMERIC)
    assert not contains(Range("9", "10.5"), "10.51", NUMERIC)
    assert not contains(Range("9", "100"), "word", NUMERIC)
    assert contains(Range("-5", "-1"), "-3", NUMERIC)
    assert contains(Exact("5.0"), "5", NUMERIC)
    assert not contains(Exact("5.0"), "5", CATEGORICAL)
    assert contains(OneOf(("1", "5.0")), "5", NUMERIC)
    assert not contains(Exact("5"), "6", NUMERIC)


def test_dates_are_contained_as_iso_text() -> None:
    march = Range("2005-03-01", "2005-03-31")
    assert contains(march, "2005-03-31", NUMERIC)
    assert not contains(march, "2005-04-01", NUMERIC)


def test_ordered_labels_are_contained_by_place() -> None:
    order = ["low", "middle", "high"]
    assert contains(Range("low", "middle"), "middle", ORDERED, order=order)
    assert not contains(Range("low", "middle"), "high", ORDERED, order=order)
    assert not contains(Range("low", "high"), "elsewhere", ORDERED, order=order)
    with pytest.raises(InputError, match="order"):
        contains(Range("low", "canary"), "low", ORDERED, order=order)
    assert contains(AtLeast("middle"), "high", ORDERED, order=order)
    assert not contains(AtLeast("middle"), "low", ORDERED, order=order)
    assert contains(AtMost("middle"), "low", ORDERED, order=order)
    assert not contains(AtMost("middle"), "elsewhere", ORDERED, order=order)
    with pytest.raises(InputError, match="order"):
        contains(AtLeast("canary"), "low", ORDERED, order=order)


def test_open_ranges_of_numbers_and_dates() -> None:
    assert contains(AtLeast("90"), "90.0", NUMERIC)
    assert contains(AtLeast("90"), "1000", NUMERIC)
    assert not contains(AtLeast("90"), "89.9", NUMERIC)
    assert not contains(AtLeast("90"), "word", NUMERIC)
    assert not contains(AtLeast("90"), None, NUMERIC)
    assert contains(AtMost("-1"), "-3", NUMERIC)
    assert not contains(AtMost("-1"), "0", NUMERIC)
    assert contains(AtLeast("1990-01-01"), "2005-03-31", NUMERIC)
    assert not contains(AtMost("1990-01-01"), "2005-03-31", NUMERIC)
    for wrong in (AtLeast("a"), AtMost("a")):
        with pytest.raises(InputError, match="numeric and ordered"):
            format_released(wrong, CATEGORICAL)


def test_labels_of_a_hierarchy_contain_what_is_below() -> None:
    tree = Hierarchy.from_columns(
        [["flu", "cold", "burn"], ["airways", "airways", "skin"]], "a hierarchy"
    )
    assert contains(Exact("airways"), "cold", CATEGORICAL, hierarchy=tree)
    assert not contains(Exact("airways"), "burn", CATEGORICAL, hierarchy=tree)
    assert not contains(Exact("airways"), "cold", CATEGORICAL)
    assert contains(OneOf(("skin", "flu")), "burn", CATEGORICAL, hierarchy=tree)
    assert contains(Exact("flu"), "flu", CATEGORICAL, hierarchy=tree)


@pytest.mark.parametrize("kind", list(Kind))
def test_missing_and_anything(kind: Kind) -> None:
    assert contains(Anything(), None, kind)
    assert contains(Anything(), "x", kind)
    assert contains(Missing(), None, kind)
    assert not contains(Missing(), "x", kind)
    assert not contains(Exact("x"), None, kind)
    assert not contains(OneOf(("x",)), None, kind)
    if kind is not CATEGORICAL:
        assert not contains(Range("1", "2"), None, kind)
