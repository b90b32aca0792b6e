"""The upper levels of the tree of a large file: cut at the median until its nodes are small.

Each node is then finished by itself, as if it were a file; see `sfumato.release.subtree`. So the
search for better cuts needs memory for some nodes at a time and not for the file, and nodes can
be finished on several machines. The paper's tree is the same with and without upper levels.
"""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.core.progress import Progress, silent
from sfumato.release.options import Split
from sfumato.release.partition import Partition
from sfumato.release.persons import PersonTable
from sfumato.release.promises.promise import Constraint
from sfumato.release.tree import grow

UPPER = 1 << 17
"""The most persons of a node that is finished by itself, but where no cut at the median keeps
the promises."""


def cut_upper(
    owned: list[PersonTable],
    constraints: Sequence[Constraint],
    *,
    split: Split = Split.BALANCE,
    upper: int = UPPER,
    progress: Progress = silent,
) -> Partition:
    """Cut the persons at the median into nodes of at most ``upper`` persons.

    O(d·N log(N / upper)) for N persons and d quasi-identifiers.

    Parameters
    ----------
    owned
        What is known of the persons, alone; the list is emptied, so that nobody need hold it.
    constraints
        Promises about every class. The persons as one class must meet them.
    split
        The criterion.
    upper
        The most persons of a node that is left as it is.
    progress
        Told the share of persons who are in such a node.
    """
    return grow(owned.pop(), constraints, split=split, upper=upper, progress=progress)
