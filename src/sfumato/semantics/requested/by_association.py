"""What each association changed in a release, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.semantics.linkage_anonymity import Linked
from sfumato.semantics.policy import Measure
from sfumato.semantics.requested.enforced import Enforced
from sfumato.semantics.requested.known import Known
from sfumato.semantics.rules import Requirements
from sfumato.semantics.sla import Change

EXPLAINED = 10
"""Of so many associations, those that changed most, the derivation is given."""
LINES = 60
"""Lines of a derivation at most: rule 5 holds for every tuple that shows the value."""
INTERSECTION = "what earlier releases showed of the same persons"


@dataclass(frozen=True)
class AssociationChange:
    """What one association, or the intersection with earlier releases, changed.

    Attributes
    ----------
    association
        The association's id in the ledger; ``""`` for the intersection.
    says
        What it says.
    measure
        What was done.
    tuples, individuals
        How many distinct tuples were changed because of it, and how many linked individuals
        have them.
    loss
        Mean growth of their weighted NCP; of a tuple changed for several reasons the whole.
    explained
        Why something is done, by the rules, for the first of these tuples; for the associations
        that changed most.
    """

    association: str
    says: str
    measure: str
    tuples: int
    individuals: int
    loss: float
    explained: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self) | {"explained": list(self.explained)}


def by_association(
    enforced: Enforced, known: Known, linked: Linked
) -> tuple[AssociationChange, ...]:
    """The changes of a release by their reasons, one line for each accepted association.

    Parameters
    ----------
    enforced
        The changes.
    known
        What readers know.
    linked
        The linked tuples.
    """
    hierarchies = dict(zip(linked.quasi_identifiers, linked.hierarchies, strict=True))
    places = [
        [place for place, each in enumerate(enforced.changes) if association in each.associations]
        for association in known.accepted
    ]
    most = sorted(range(len(places)), key=lambda number: -len(places[number]))[:EXPLAINED]
    lines = []
    for number, association in enumerate(known.accepted):
        own = places[number]
        measure = _measure(enforced, own, number + 1)
        explained = _explained(enforced, own, number + 1) if number in most else ()
        changes = [enforced.changes[place] for place in own]
        says = association.text(hierarchies)
        lines.append(_line(known.ids[number], says, measure, changes, linked, explained))
    if known.earlier:
        between = [each for each in enforced.changes if each.between]
        measure = Measure.GENERALISE.value if between else ""
        lines.append(_line("", INTERSECTION, measure, between, linked, ()))
    return tuple(lines)


def _measure(enforced: Enforced, places: list[int], number: int) -> str:
    """What the rules enforce on these tuples because of an association, the strictest."""
    measures = {
        each.measure
        for place in places
        for each in enforced.requirements.enforcements.of(place)
        if each.association == number
    }
    if Measure.SUPPRESS in measures:
        return Measure.SUPPRESS.value
    return Measure.GENERALISE.value if places else ""


def _line(
    id_: str,
    says: str,
    measure: str,
    changes: list[Change],
    linked: Linked,
    explained: tuple[str, ...],
) -> AssociationChange:
    individuals = individuals_of(linked, [each.row for each in changes])
    loss = sum(each.loss for each in changes) / max(len(changes), 1)
    return AssociationChange(id_, says, measure, len(changes), individuals, loss, explained)


def individuals_of(linked: Linked, tuples: Sequence[int] | npt.NDArray[np.int64]) -> int:
    """Linked individuals who have one of some tuples; one with several of them counts once.

    Parameters
    ----------
    linked
        The linked tuples.
    tuples
        Places of the tuples.
    """
    if not len(tuples):
        return 0
    chosen = np.zeros(len(linked.codes), dtype=np.bool_)
    chosen[tuples] = True
    return len(np.unique(linked.table.person[chosen[linked.tuple_of]]))


def _explained(enforced: Enforced, places: list[int], number: int) -> tuple[str, ...]:
    """The derivation of what is enforced on the first of the tuples that the rules name."""
    named = enforced.requirements.enforcements.alike
    for place in places:
        if named[place] < 0:
            continue
        for why in enforced.requirements.explain_tuple(place):
            if why.atom.startswith("enforce(") and why.atom.endswith(f"association({number}))"):
                lines = tuple(islice(why.lines(), LINES + 1))
                return (*lines[:LINES], "...") if len(lines) > LINES else lines
    return ()


def explained_rules(requirements: Requirements) -> tuple[str, ...]:
    """The rules on a request that were applied, by title and place.

    Parameters
    ----------
    requirements
        What the rules require.
    """
    applied = (rule for why in requirements.explain() for rule in why.rules())
    return tuple(
        dict.fromkeys(
            f"{title or 'a rule without a title'} ({file}, line {line})"
            for file, line, title in applied
        )
    )
