"""Given and family name exchanged in one of two records."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.review.values import Shown


def swapped(given: Sequence[Shown | None], family: Sequence[Shown | None]) -> bool:
    """Whether each row's given name is the other's family name, compared as folded.

    Parameters
    ----------
    given, family
        The names of row 1 and row 2.
    """
    (given_left, given_right), (family_left, family_right) = given, family
    if given_left is None or given_right is None or family_left is None or family_right is None:
        return False
    return given_left.folded == family_right.folded != given_right.folded == family_left.folded
