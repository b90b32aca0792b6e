"""What semantic linkage anonymity changed, why, and at what loss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies import Hierarchy
from sfumato.semantics.associations import Association

Levels = npt.NDArray[np.int8]


@dataclass(frozen=True)
class Raised:
    """A value that is shown at a higher level.

    Attributes
    ----------
    attribute
        Name of the attribute.
    before, after
        The levels.
    """

    attribute: str
    before: int
    after: int


@dataclass(frozen=True)
class Change:
    """A tuple that was generalised further.

    Attributes
    ----------
    row
        The tuple's place, counted from 0.
    associations
        The associations that left fewer than k individuals.
    between
        Whether the intersection with earlier releases left fewer than they did, and than k.
    raised
        The values that are shown at a higher level.
    loss
        By how much the tuple's weighted NCP grew.
    """

    row: int
    associations: tuple[Association, ...]
    between: bool
    raised: tuple[Raised, ...]
    loss: float

    def text(self, hierarchies: Mapping[str, Hierarchy]) -> str:
        """The change as people read it; names no value of the tuple but those of associations.

        Parameters
        ----------
        hierarchies
            The hierarchy of each attribute by its name.
        """
        raised = ", ".join(f"{one.attribute} {one.before} to {one.after}" for one in self.raised)
        why = [one.text(hierarchies) for one in self.associations]
        why += ["its intersection with earlier releases"] if self.between else []
        return f"tuple {self.row + 1}: {raised}, loss {self.loss:.4g}, for {'; '.join(why)}"


@dataclass(frozen=True, eq=False)
class SemanticLevels:
    """The levels of semantic linkage anonymity.

    Attributes
    ----------
    levels
        Level that each value is shown at; shape (tuples, attributes).
    changes
        The tuples that were changed, in order.
    exposed
        Which tuples earlier releases alone leave below k in today's local data; what is shown
        now does not make it worse. Shape (tuples,).
    """

    levels: Levels = field(repr=False)
    changes: tuple[Change, ...]
    exposed: npt.NDArray[np.bool_] = field(repr=False)
