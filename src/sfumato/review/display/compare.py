"""How the values of a pair differ."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.review.attributes import Attribute, AttributeKind, names_of
from sfumato.review.display.date_edits import date_edits
from sfumato.review.display.dates import is_whole
from sfumato.review.display.difference import Difference
from sfumato.review.display.name_swap import swapped
from sfumato.review.display.string_edits import string_edits
from sfumato.review.values import Comparison, Mark, Positions, Shown, Status

_NOTHING: tuple[Positions, Positions] = (frozenset(), frozenset())


def compare(attribute: Attribute, left: Shown | None, right: Shown | None) -> Comparison:
    """How the two values of one attribute differ (001, Section 3.2).

    They are entirely different if more edits than half of the longer value's characters are
    between them; two categories that are not the same always are.

    Parameters
    ----------
    attribute
        What the values are of.
    left, right
        The values of row 1 and row 2.
    """
    if left is None or right is None:
        return _missing(left, right)
    if left.folded == right.folded:
        return Comparison(
            left, right, Status.IDENTICAL, _NOTHING, (Mark.IDENTICAL,), edits=((), ())
        )
    if attribute.kind is AttributeKind.CATEGORY:
        return _different(left, right, Mark.DIFFERENT)
    found = _difference(attribute, left, right)
    if 2 * found.distance > max(len(left.folded), len(right.folded)):
        return _different(left, right, Mark.DIFFERENT)
    return Comparison(left, right, Status.SIMILAR, found.differing, found.marks, found.edits)


def compare_pair(
    attributes: Sequence[Attribute],
    lefts: Sequence[Shown | None],
    rights: Sequence[Shown | None],
) -> tuple[Comparison, ...]:
    """How the values of a pair differ, attribute by attribute.

    Where given and family name are exchanged, that is all that is said of them: no character of
    theirs is new to the other row, so there is nothing to disclose in part.

    Parameters
    ----------
    attributes
        The attributes of the project.
    lefts, rights
        The values of row 1 and row 2, per attribute.
    """
    found = [compare(*each) for each in zip(attributes, lefts, rights, strict=True)]
    names = names_of(tuple(attributes))
    if names is not None:
        given, family = names
        if swapped((lefts[given], rights[given]), (lefts[family], rights[family])):
            for name in names:
                found[name] = _different(lefts[name], rights[name], Mark.NAME_SWAP)
    return tuple(found)


def _difference(attribute: Attribute, left: Shown, right: Shown) -> Difference:
    dates = attribute.kind is AttributeKind.DATE
    if dates and is_whole(left.characters) and is_whole(right.characters):
        return date_edits(left.characters, right.characters, attribute.date_order)
    return string_edits(left.folded, right.folded)


def _missing(left: Shown | None, right: Shown | None) -> Comparison:
    status = Status.MISSING_LEFT if left is None else Status.MISSING_RIGHT
    if left is None and right is None:
        status = Status.MISSING_BOTH
    return Comparison(left, right, status, _NOTHING, (Mark.MISSING,), edits=((), ()))


def _different(left: Shown | None, right: Shown | None, mark: Mark) -> Comparison:
    everything = (
        frozenset(range(len(left.characters) if left else 0)),
        frozenset(range(len(right.characters) if right else 0)),
    )
    return Comparison(left, right, Status.DIFFERENT, everything, (mark,), edits=((), ()))
