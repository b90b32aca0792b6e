"""How two dates differ: by day, month and year."""

from __future__ import annotations

from sfumato.review.attributes import DateOrder
from sfumato.review.display.date_layout import parts
from sfumato.review.display.difference import Difference, in_order
from sfumato.review.values import Mark


def date_edits(left: tuple[str, ...], right: tuple[str, ...], order: DateOrder) -> Difference:
    """The places at which two dates differ, digit by digit, with the part that they are in.

    Day and month exchanged are one edit, as are two exchanged digits of one part. Table 1 of
    001 marks all digits of an exchanged day and month; its Tables 3 to 5 mark those that differ
    by place, and carry the numbers: they are followed.

    Parameters
    ----------
    left, right
        8 digits each.
    order
        The order that they are in.
    """
    places = parts(order)
    differing = {
        part: [place for place in span if left[place] != right[place]]
        for part, span in places.items()
    }
    marks = {part for part, found in differing.items() if found}
    edits: list[tuple[Mark, int]] = []
    distance = 0
    swapped = _swapped(left, right, places)
    if swapped:
        marks = (marks - {Mark.DAY, Mark.MONTH}) | {Mark.DAY_MONTH_SWAP}
        distance += 1
    for part, found in differing.items():
        mark = part
        if swapped and part is not Mark.YEAR:
            mark = Mark.DAY_MONTH_SWAP
        elif _transposed(left, right, found):
            mark = Mark.TRANSPOSED
            marks.add(mark)
            distance += 1
        else:
            distance += len(found)
        edits += [(mark, place) for place in found]
    return Difference((tuple(edits), tuple(edits)), in_order(marks), distance)


def _swapped(left: tuple[str, ...], right: tuple[str, ...], places: dict[Mark, range]) -> bool:
    day, month = (slice(places[part].start, places[part].stop) for part in (Mark.DAY, Mark.MONTH))
    return left[day] == right[month] != left[month] == right[day]


def _transposed(left: tuple[str, ...], right: tuple[str, ...], differing: list[int]) -> bool:
    if len(differing) != 2 or differing[1] != differing[0] + 1:
        return False
    one, two = differing
    return left[one] == right[two] and left[two] == right[one]
