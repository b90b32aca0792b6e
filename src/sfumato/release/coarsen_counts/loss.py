"""What coarser numbers of records cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class CountLoss:
    """What was lost so that enough persons of a class share each number of records.

    Attributes
    ----------
    way
        ``drop`` or ``split``.
    m
        How many persons share each number.
    persons_affected
        Persons who lost records, or who have several pseudonyms.
    records_dropped
        Records that were left out for this.
    ids_added
        Pseudonyms beyond one per person.
    links_lost
        Of the pairs of records of one person, the share that no longer can be seen to be one
        person's: left out, or under two pseudonyms.
    """

    way: str
    m: int
    persons_affected: int
    records_dropped: int
    ids_added: int
    links_lost: float

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "way": self.way,
            "m": self.m,
            "persons_affected": self.persons_affected,
            "records_dropped": self.records_dropped,
            "ids_added": self.ids_added,
            "links_lost": self.links_lost,
        }


def count_loss(
    way: str,
    m: int,
    before: npt.NDArray[np.integer],
    person: npt.NDArray[np.integer],
    shown: npt.NDArray[np.integer],
) -> CountLoss:
    """Compare what is shown with what there was.

    Parameters
    ----------
    way, m
        As in `CountLoss`.
    before
        Number of records of each person before; shape (persons,).
    person, shown
        Person and pseudonym of each record that is left; shape (records,).
    """
    sizes = np.bincount(shown)
    first = np.unique(shown, return_index=True)[1]
    ids = np.bincount(person[first], minlength=len(before))
    left = np.bincount(person, minlength=len(before))
    linked = int((sizes * (sizes - 1)).sum())
    pairs = int((before * (before - 1)).sum())
    return CountLoss(
        way,
        m,
        persons_affected=int(((left < before) | (ids > 1)).sum()),
        records_dropped=int(before.sum()) - len(person),
        ids_added=len(sizes) - len(before),
        links_lost=1 - linked / pairs if pairs else 0.0,
    )
