"""Numbers as people read them."""

import pytest

from sfumato.core.number_text import (
    NARROW,
    aligned_percentage,
    counted,
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


@pytest.mark.parametrize("space", [" ", NARROW])
def test_no_line_ends_between_a_number_and_its_sign(space):
    for width in range(8, 40):
        lines = wrapped(f"of all these people 12{space}% are found and 3{space}% not", width=width)
        assert max(map(len, lines)) <= width
        assert " ".join(lines) == "of all these people 12 % are found and 3 % not"
        assert not any(line.startswith("%") for line in lines)


def test_no_name_is_parted_at_its_hyphens():
    assert wrapped("write salary-class with less detail", width=14)[:2] == ["write", "salary-class"]


@pytest.mark.parametrize("show", [percentage, aligned_percentage, share_text])
def test_only_nothing_reads_0_and_only_all_reads_100(show):
    shares = [
        *(10.0**-place for place in range(1, 6)),
        *(1 - 10.0**-place for place in range(2, 6)),
    ]
    figures = [float(show(share).removeprefix("over ").removesuffix(" %")) for share in shares]
    assert all(0 < figure < 100 for figure in figures)
    assert "e" not in "".join(map(show, shares[:4]))
    assert [float(show(end).removesuffix(" %")) for end in (0, 1)] == [0, 100]
