"""Numbers as people read them."""

import pytest

from sfumato.core.number_text import NARROW, counted, wrapped


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
