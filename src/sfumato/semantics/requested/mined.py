"""What a release tells about its readers' next one: tuples as shown, and associations in them."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.semantics.associations import mine
from sfumato.semantics.associations.association import State
from sfumato.semantics.associations.mine import LENGTH
from sfumato.semantics.ledger.associations import NotedAssociation, noted
from sfumato.semantics.ledger.tuples import Ints, Tuples, shown_tuples
from sfumato.semantics.linkage_anonymity import Linked
from sfumato.semantics.linkage_anonymity.search import Levels
from sfumato.semantics.requested.known import Known


@dataclass(frozen=True)
class Mining:
    """From when on an association is proposed to the custodian.

    Attributes
    ----------
    support
        The least share of individuals who show the condition.
    confidence
        The least share of these who show the conclusion too.
    length
        The most conditions of an association.
    """

    support: float = 0.01
    confidence: float = 0.9
    length: int = LENGTH


def tuples_of(linked: Linked, levels: Levels) -> tuple[Tuples, Ints]:
    """The distinct generalised tuples with their individuals, and the one of each record.

    Parameters
    ----------
    linked
        The linked tuples.
    levels
        Level of each value, shape (tuples, QIs).
    """
    hierarchies = dict(zip(linked.quasi_identifiers, linked.hierarchies, strict=True))
    return shown_tuples(
        hierarchies,
        linked.codes[linked.tuple_of],
        levels[linked.tuple_of],
        persons=linked.table.person,
    )


def found_in(
    linked: Linked, tuples: Tuples, known: Known, mining: Mining
) -> tuple[NotedAssociation, ...]:
    """The associations that a release tells and that nobody decided on.

    Parameters
    ----------
    linked
        The linked tuples.
    tuples
        The tuples as they are shown.
    known
        What was decided on before.
    mining
        The thresholds.

    Raises
    ------
    InputError
        If a threshold is no share above 0.
    """
    hierarchies = dict(zip(linked.quasi_identifiers, linked.hierarchies, strict=True))
    found = mine(
        [tuples.shown(hierarchies)],
        support=mining.support,
        confidence=mining.confidence,
        length=mining.length,
        earlier=known.decided,
    )
    return tuple(noted(each, hierarchies) for each in found.of_state(State.PROPOSED))
