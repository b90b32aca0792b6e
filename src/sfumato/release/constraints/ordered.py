"""Which sensitive attributes are compared by the order of their values."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.release.constraints.protocol import Budget, Constraint
from sfumato.release.constraints.t_closeness import TCloseness


def ordered_attributes(
    constraints: Sequence[Constraint | Budget], sensitive: Sequence[str]
) -> tuple[str, ...]:
    """The attributes for which t-closeness is asked by ordered distance.

    Parameters
    ----------
    constraints
        What is asked.
    sensitive
        The sensitive attributes, in the schema's order.
    """
    asked = [
        each.attribute
        for each in constraints
        if isinstance(each, TCloseness) and each.distance == "ordered"
    ]
    return tuple(name for name in sensitive if None in asked or name in asked)
