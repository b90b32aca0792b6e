"""Which values rules 5 to 7 ask to raise in a tuple."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies import Hierarchy
from sfumato.semantics.associations import Item, Shown
from sfumato.semantics.linkage_anonymity.keys import Ints
from sfumato.semantics.sla.reader import Bools, Reader

SUPPRESS = "suppress"
"""The measure that takes a value to the root at once."""


class Enforced(NamedTuple):
    """What is enforced on some tuples.

    Attributes
    ----------
    generalise
        The values to raise by a level, shape (tuples, attributes).
    suppress
        The values to take to the root, shape (tuples, attributes).
    """

    generalise: Bools
    suppress: Bools


Enforce = Callable[[Ints, npt.NDArray[np.integer]], Enforced]
"""What is enforced on tuples, given their leaf codes and levels."""


class Enforcement(Protocol):
    """What the rules derive for one association and tuple."""

    @property
    def measure(self) -> str:
        """``generalise`` or ``suppress``."""

    @property
    def regarding(self) -> tuple[Item, ...]:
        """The values that it is done to."""


class Enforcements(Protocol):
    """What the rules derive for each tuple."""

    def of(self, tuple_: int) -> tuple[Enforcement, ...]:
        """What is done to the tuple at this place."""


def generalise_antecedents(reader: Reader) -> Enforce:
    """Generalise what a tuple shows of the antecedent of every association that refines it.

    That is what rules 5 to 7 of the paper derive where no site adds to them.

    Parameters
    ----------
    reader
        The reader.
    """

    def enforce(codes: Ints, levels: npt.NDArray[np.integer]) -> Enforced:
        fired = reader.reachable(codes, levels).fired
        raised = np.zeros(codes.shape, dtype=np.bool_)
        for number, rule in enumerate(reader.rules):
            for column, level, label in rule.antecedent:
                shows = levels[:, column] <= level
                shows &= reader.tables[column][level, codes[:, column]] == label
                raised[:, column] |= fired[:, number] & shows
        return Enforced(raised, np.zeros_like(raised))

    return enforce


def by_rules(
    derived: Callable[[Shown], Enforcements], hierarchies: Mapping[str, Hierarchy]
) -> Enforce:
    """Do what the rules derive for the tuples.

    Parameters
    ----------
    derived
        Derives it: for a request of a policy
        ``lambda shown: derive(policy, request, shown=shown, associations=known).enforcements``.
    hierarchies
        The hierarchy of each attribute by its name, in the order of the columns.
    """
    names = list(hierarchies)

    def enforce(codes: Ints, levels: npt.NDArray[np.integer]) -> Enforced:
        generalise = np.zeros(codes.shape, dtype=np.bool_)
        suppress = np.zeros(codes.shape, dtype=np.bool_)
        counts = np.ones(len(codes), dtype=np.int64)
        found = derived(Shown(hierarchies, codes, levels, counts))
        for row in range(len(codes)):
            for one in found.of(row):
                columns = [names.index(item.attribute) for item in one.regarding]
                (suppress if one.measure == SUPPRESS else generalise)[row, columns] = True
        return Enforced(generalise & ~suppress, suppress)

    return enforce
