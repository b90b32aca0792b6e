"""How numbers of records are made coarser, and what that leaves to the tree."""

from __future__ import annotations

from collections.abc import Iterable

from sfumato.release.options import Coarsening
from sfumato.release.promises.k_anonymity import PidKAnonymity
from sfumato.release.promises.promise import Constraint
from sfumato.release.promises.shared_counts import SharedCounts


def promised(constraints: Iterable[object]) -> int:
    """The m that the numbers must be shared by; 0 where no constraint asks for it."""
    return max((each.m for each in constraints if isinstance(each, SharedCounts)), default=0)


def while_cutting(
    constraints: Iterable[Constraint], coarsening: Coarsening | None
) -> list[Constraint]:
    """What classes must meet before their numbers are made coarser.

    A class of m persons or more can always be given numbers that m persons share, so this is
    what `SharedCounts` asks of the tree when the numbers are made coarser after it.
    """
    return [
        PidKAnonymity(each.m) if coarsening and isinstance(each, SharedCounts) else each
        for each in constraints
    ]
