"""The levels that hold against what readers know, raised as the rules say."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.semantics.associations import Shown
from sfumato.semantics.linkage_anonymity import Linked
from sfumato.semantics.linkage_anonymity.keys import Ints
from sfumato.semantics.policy import Measure
from sfumato.semantics.requested.ask import Asked
from sfumato.semantics.requested.known import Known
from sfumato.semantics.rules import Requirements, derive
from sfumato.semantics.sla import Change, semantic_levels
from sfumato.semantics.sla import Enforced as Raising

Levels = npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Enforced:
    """What rules 5 to 7 and semantic linkage anonymity made of the tuples.

    Attributes
    ----------
    levels
        Level of each value, shape (tuples, QIs).
    changes
        The tuples that were changed; rows are those of the release.
    exposed
        Which tuples earlier releases alone leave below k; shape (tuples,).
    requirements
        What the rules derived about the tuples that were changed, in the order of ``changes``,
        as linkage anonymity shows them.
    """

    levels: Levels = field(repr=False)
    changes: tuple[Change, ...] = field(repr=False)
    exposed: npt.NDArray[np.bool_] = field(repr=False)
    requirements: Requirements = field(repr=False)


def enforce(asked: Asked, known: Known, linked: Linked, start: Levels) -> Enforced:
    """Raise what the rules say, until k individuals are left whatever a reader infers.

    A tuple at which a reader gets below k is put to the rules as it is shown; what they enforce
    on it is all that may be raised in it, and what comes of that is put to them again. Where it
    is only together with earlier releases that a reader gets below k, whatever is shown in more
    detail than there may be raised.

    Parameters
    ----------
    asked
        The request.
    known
        What readers know.
    linked
        The linked tuples.
    start
        The levels of linkage anonymity, shape (tuples, QIs).

    Raises
    ------
    InputError
        If the rules refuse the tuples, or enforce too little to keep k.
    """
    if not (known.accepted or known.earlier):
        nobody = np.zeros(len(start), dtype=np.bool_)
        return Enforced(start, (), nobody, asked.requirements)
    found = semantic_levels(
        linked.codes,
        start,
        linked.locals_,
        dict(zip(linked.quasi_identifiers, linked.hierarchies, strict=True)),
        known.accepted,
        asked.k,
        linked.weights,
        earlier=known.earlier,
        enforce=lambda codes, levels: _raising(asked, known, linked, codes, levels),
    )
    rows = [change.row for change in found.changes]
    requirements = asked.requirements
    if rows:
        requirements = _derived(asked, known, linked, linked.codes[rows], start[rows])
    return Enforced(found.levels, found.changes, found.exposed, requirements)


def _derived(
    asked: Asked, known: Known, linked: Linked, codes: Ints, levels: npt.NDArray[np.integer]
) -> Requirements:
    """What the rules require of some tuples; a missing value at the root is shown as any other."""
    height = np.array([each.height for each in linked.hierarchies])
    leaves = np.where((codes < 0) & (levels == height), 0, codes).astype(np.int32)
    hierarchies = dict(zip(linked.quasi_identifiers, linked.hierarchies, strict=True))
    found = derive(
        asked.policy,
        asked.request,
        shown=Shown(hierarchies, leaves, levels, np.ones(len(codes), dtype=np.int64)),
        associations=known.accepted,
        rules=asked.rules,
    )
    if found.require_allowed() != asked.k:
        raise InputError(
            "the rules",
            "must give a linkage its k whatever its tuples are",
            advice="use rules on 'enforce' for what hangs on tuples",
        )
    return found


def _raising(
    asked: Asked, known: Known, linked: Linked, codes: Ints, levels: npt.NDArray[np.integer]
) -> Raising:
    """The values of some tuples that the rules ask to generalise, and to suppress."""
    generalise = np.zeros(codes.shape, dtype=np.bool_)
    suppress = np.zeros(codes.shape, dtype=np.bool_)
    found = _derived(asked, known, linked, codes, levels).enforcements
    for number, case in enumerate(found.cases):
        rows = np.flatnonzero(found.alike == number)
        for each in case:
            raised = suppress if each.measure is Measure.SUPPRESS else generalise
            for item in each.regarding:
                raised[rows, linked.quasi_identifiers.index(item.attribute)] = True
    return Raising(generalise & ~suppress, suppress)
