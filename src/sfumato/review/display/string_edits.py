"""How two strings differ: the edits that make the one of the other."""

from __future__ import annotations

import numpy as np

from sfumato.kernels import record_pairs
from sfumato.review.display.difference import Difference, in_order
from sfumato.review.values import Mark

_MARKS = {
    record_pairs.TRANSPOSED: Mark.TRANSPOSED,
    record_pairs.SUBSTITUTED: Mark.SUBSTITUTED,
    record_pairs.DELETED: Mark.DELETED,
    record_pairs.INSERTED: Mark.INSERTED,
}
_OTHER_WAY = {Mark.DELETED: Mark.INSERTED, Mark.INSERTED: Mark.DELETED}


def string_edits(left: tuple[str, ...], right: tuple[str, ...]) -> Difference:
    """The edits from the left string to the right: Damerau-Levenshtein, optimal string alignment.

    Which of several alignments is taken follows from what is equal to what, not from which
    characters these are: renaming the characters changes nothing. Exchanging the strings
    exchanges the two rows, unless each is the other with its characters renamed
    (``ababa``, ``babab``), where the alignment that deletes first is taken either way.

    Parameters
    ----------
    left, right
        Characters as they are compared.
    """
    here, there = _numbered(left, right), _numbered(right, left)
    turned = there < here
    end = len(right if turned else left)
    codes = np.array(min(here, there), dtype=np.int64)
    found = record_pairs.steps(codes[:end], codes[end + 1 :])
    rows: list[list[tuple[Mark, int]]] = [[], []]
    places, distance = [0, 0], 0
    for step in found.tolist():
        mark = _MARKS.get(step)
        for row, taken in enumerate(record_pairs.TAKEN[step]):
            if mark is not None:
                label = _OTHER_WAY.get(mark, mark) if turned else mark
                rows[row] += [(label, places[row] + each) for each in range(taken)]
            places[row] += taken
        distance += mark is not None
    marks = in_order({mark for row in rows for mark, _ in row})
    edits = tuple(rows[0]), tuple(rows[1])
    return Difference(edits[::-1] if turned else edits, marks, distance)


def _numbered(one: tuple[str, ...], other: tuple[str, ...]) -> list[int]:
    """Both strings, an end between them, with a number for each character as it first occurs."""
    numbers: dict[str | None, int] = {}
    return [numbers.setdefault(each, len(numbers)) for each in (*one, None, *other)]
