"""Which known texts are one slip of typing away from a text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

LONGEST = 60
"""Texts of more characters are compared as a whole only."""


class Slips:
    """The texts of a column by what is left of them without one of their characters.

    Two texts are a slip apart if they are the same, or become so, once at most one character of
    each is left out: a character dropped, added, changed, or swapped with its neighbour. Building
    takes the square of the length of each text, a look-up that of the text looked up.

    Parameters
    ----------
    texts
        The texts; ``None`` is a slip of nothing.
    """

    def __init__(self, texts: Sequence[str | None]) -> None:
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        for place, text in enumerate(texts):
            for left in _left(text) if text is not None else ():
                self._places[left].append(place)

    def of(self, texts: Iterable[str]) -> set[int]:
        """The places of the texts that are a slip away from one of these, or the same.

        Parameters
        ----------
        texts
            Those to look for.
        """
        return {
            place for text in texts for left in _left(text) for place in self._places.get(left, ())
        }


def _left(text: str) -> set[str]:
    """A text, and the text without each of its characters."""
    if not 1 < len(text) <= LONGEST:
        return {text}
    return {text, *(text[:place] + text[place + 1 :] for place in range(len(text)))}
