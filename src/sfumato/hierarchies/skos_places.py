"""A hierarchy whose concepts say where they stand, as a written file has them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from sfumato.core.errors import InputError
from sfumato.hierarchies.hierarchy import Hierarchy

_PLACE = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")


def placed(
    texts: Mapping[str, str],
    broader: Mapping[str, str],
    places: Mapping[str, Sequence[str]],
    height: int,
    floor: int,
    subject: str,
) -> Hierarchy:
    """The hierarchy of concepts that all state their levels and positions.

    Parameters
    ----------
    texts
        What each concept shows.
    broader
        The concept above each, where there is one.
    places
        ``level/position`` of each concept, once per level that it stands at.
    height
        Number of levels above the leaves.
    floor
        The lowest level that a class is shown at.
    subject
        What an error is about.

    Raises
    ------
    InputError
        If a place is not written so or held by two concepts, or places and broader concepts
        contradict each other.
    """
    levels: list[dict[int, str]] = [{} for _ in range(height + 1)]
    at: dict[tuple[str, int], int] = {}
    for concept, stated in places.items():
        for place in stated:
            parts = _PLACE.fullmatch(place)
            level, position = (int(parts[1]), int(parts[2])) if parts else (height + 1, 0)
            if level > height or position in levels[level]:
                raise _unfit(subject, texts[concept])
            levels[level][position] = concept
            at[concept, level] = position
    for level, held in enumerate(levels):
        if len(held) and max(held) >= len(held):
            raise InputError(
                subject, "must have a concept at every place", found=f"a gap at level {level}"
            )
    ancestors = np.empty((height + 1, len(levels[0])), dtype=np.int32)
    for position, leaf in levels[0].items():
        above: str | None = leaf
        for level in range(height + 1):
            while above is not None and (above, level) not in at:
                above = broader.get(above)
            if above is None:
                raise _unfit(subject, texts[leaf])
            ancestors[level, position] = at[above, level]
    labels = tuple(tuple(texts[held[position]] for position in range(len(held))) for held in levels)
    return Hierarchy(labels[0], labels, ancestors, floor)


def _unfit(subject: str, text: str) -> InputError:
    return InputError(
        subject,
        "must have places that fit the broader concepts",
        found=f"others at '{text}'",
        advice="remove sfumato:height and sfumato:place, so that the levels are counted from "
        "the top",
    )
