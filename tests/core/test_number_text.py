"""Numbers as people read them."""

import pytest

from sfumato.core.number_text import counted


@pytest.mark.parametrize(
    ("number", "words", "said"),
    [
        (1, ("record",), "1 record"),
        (0, ("record",), "0 records"),
        (1200, ("person",), "1,200 people"),
        (1, ("class",), "1 class"),
        (2, ("class",), "2 classes"),
        (2, ("pair is", "pairs are"), "2 pairs are"),
    ],
)
def test_things_are_counted_in_words(number, words, said):
    assert counted(number, *words) == said
