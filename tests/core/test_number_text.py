"""Numbers as people read them."""

import re

import pytest

from sfumato.core.number_text import (
    NARROW,
    clause,
    counted,
    percent,
    percentage,
    share_text,
    wrapped,
)


@pytest.mark.parametrize(
    ("number", "words", "said"),
    [
        (1, ("record",), "1 record"),
        (0, ("record",), "0 records"),
        (1200, ("person",), "1,200 people"),
        (1, ("class",), "1 class"),
        (2, ("class",), "2 classes"),
        (2, ("possible match",), "2 possible matches"),
        (1, ("pair is", "pairs are"), "1 pair is"),
        (2, ("pair is", "pairs are"), "2 pairs are"),
    ],
)
def test_things_are_counted_in_words(number, words, said):
    assert counted(number, *words) == said


@pytest.mark.parametrize("room", range(16, 60))
def test_a_text_is_never_cut_within_brackets_as_if_it_ended_there(room):
    said = clause("Columns 'row' (of the release, from 1) and 'person', both needed.", room)
    assert len(said) <= room
    assert said.endswith("…") or said.count("(") == said.count(")")


def test_a_share_at_its_limit_has_the_digits_of_the_limit():
    for limit in (1 / 11, 8 / 82, 0.33, 0.2):
        assert share_text(limit, limit) == share_text(limit)
        assert share_text(limit * (1 + 1e-12), limit) == share_text(limit)
    assert float(share_text(0.0909, 1 / 11).removesuffix(" %")) <= 100 / 11


@pytest.mark.parametrize("space", [" ", NARROW])
def test_no_line_ends_between_a_number_and_its_sign(space):
    for width in range(8, 40):
        lines = wrapped(f"of all these people 12{space}% are found and 3{space}% not", width=width)
        assert max(map(len, lines)) <= width
        assert " ".join(lines) == "of all these people 12 % are found and 3 % not"
        assert not any(line.startswith("%") for line in lines)


def test_no_name_is_parted_at_its_hyphens():
    assert wrapped("write salary-class with less detail", width=14)[:2] == ["write", "salary-class"]


@pytest.mark.parametrize("show", [percent, percentage, share_text])
def test_only_nothing_reads_0_and_only_all_reads_100(show):
    places = range(1, 13)
    shares = [*(10.0**-place for place in places), *(1 - 10.0**-place for place in places)]
    figures = [float(re.search(r"[0-9.]+", show(share))[0]) for share in shares]
    assert all(0 < figure < 100 for figure in figures)
    assert not any(re.search(r"\de", show(share)) for share in shares)
    assert [float(show(end)[:-2]) for end in (0, 1)] == [0, 100]


@pytest.mark.parametrize("show", [percent, percentage, share_text])
def test_what_is_more_than_all_is_not_said_to_be_less(show):
    assert [float(show(share)[:-2]) for share in (1 + 2e-16, 1.5)] == [100, 150]
