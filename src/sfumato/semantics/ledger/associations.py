"""Associations as the ledger keeps them: by label, with what the custodian said and when."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sfumato.core.chain import detail_text
from sfumato.core.errors import InputError
from sfumato.hierarchies import Hierarchy
from sfumato.semantics.associations.association import Association, Item, State


class Term(NamedTuple):
    """A value of an attribute by its label, which outlives a change of the code list."""

    attribute: str
    level: int
    label: str


@dataclass(frozen=True)
class NotedAssociation:
    """An association with its state.

    Attributes
    ----------
    antecedent, consequent
        Who shows the one mostly has the other; the antecedent is ordered by attribute.
    support, confidence
        Shares, as they were found last.
    state
        What the custodian said last; ``proposed`` until then.
    note, by, time
        Why, who, when (UTC); ``""`` for an association that nobody decided on.
    found
        Numbers of the entries that it was found in.
    """

    antecedent: tuple[Term, ...]
    consequent: Term
    support: float
    confidence: float
    state: State = State.PROPOSED
    note: str = ""
    by: str = ""
    time: str = ""
    found: tuple[int, ...] = ()

    @property
    def id(self) -> str:
        """What names it on the command line: 12 digits, the same in every release."""
        said = detail_text({"if": sorted(self.antecedent), "then": self.consequent})
        return hashlib.sha256(said.encode()).hexdigest()[:12]

    @property
    def text(self) -> str:
        """What it says."""
        terms = " & ".join(f"{term.attribute} {term.label}" for term in self.antecedent)
        return f"{terms} -> {self.consequent.attribute} {self.consequent.label}"

    def known(self, hierarchies: Mapping[str, Hierarchy]) -> Association:
        """The association in the hierarchies as they are now.

        Parameters
        ----------
        hierarchies
            The hierarchy of each attribute by its name.

        Raises
        ------
        InputError
            If a hierarchy is missing or lacks a label.
        """
        return Association(
            tuple(_item(term, hierarchies) for term in self.antecedent),
            _item(self.consequent, hierarchies),
            self.support,
            self.confidence,
            self.state,
            self.note,
        )


def noted(association: Association, hierarchies: Mapping[str, Hierarchy]) -> NotedAssociation:
    """An association as the ledger keeps it.

    Parameters
    ----------
    association
        What was found.
    hierarchies
        The hierarchy of each attribute by its name.
    """
    terms = [
        Term(name, int(level), hierarchies[name].label(level, label))
        for name, level, label in (*association.antecedent, association.consequent)
    ]
    return NotedAssociation(
        tuple(terms[:-1]),
        terms[-1],
        float(association.support),
        float(association.confidence),
        association.state,
        association.note,
    )


def as_details(associations: Iterable[NotedAssociation]) -> list[dict[str, object]]:
    """Associations as an entry holds them."""
    return [
        {
            "if": sorted(each.antecedent),
            "then": each.consequent,
            "support": each.support,
            "confidence": each.confidence,
            "state": str(each.state),
            "note": each.note,
        }
        for each in associations
    ]


def from_detail(detail: Mapping[str, Any]) -> NotedAssociation:
    """An association of an entry."""
    return NotedAssociation(
        tuple(Term(*term) for term in detail["if"]),
        Term(*detail["then"]),
        detail["support"],
        detail["confidence"],
        State(detail["state"]),
        detail["note"],
    )


def followed(
    known: dict[str, NotedAssociation],
    number: int,
    time: str,
    actor: str,
    detail: Mapping[str, Any],
) -> None:
    """Bring the associations that are known up to date with the next entry.

    Parameters
    ----------
    known
        The associations by id; changed in place.
    number, time, actor, detail
        The entry.
    """
    for each in detail.get("associations", ()):
        new = from_detail(each)
        old = known.get(new.id)
        found = (*(old.found if old else ()), number)
        if new.state is not State.PROPOSED and (old is None or old.state is not new.state):
            known[new.id] = replace(new, by=actor, time=time, found=found)
        elif old is None:
            known[new.id] = replace(new, found=found)
        else:
            known[new.id] = replace(
                old, found=found, support=new.support, confidence=new.confidence
            )
    if "decided" in detail and detail["decided"] in known:
        known[detail["decided"]] = replace(
            known[detail["decided"]],
            state=State(detail["state"]),
            note=detail["note"],
            by=actor,
            time=time,
        )


def _item(term: Term, hierarchies: Mapping[str, Hierarchy]) -> Item:
    hierarchy = hierarchies.get(term.attribute)
    if hierarchy is None:
        raise InputError(f"column '{term.attribute}'", "must have a hierarchy", found="none")
    there = term.level <= hierarchy.height and term.label in hierarchy.labels[term.level]
    if not there:
        raise InputError(
            f"hierarchy of column '{term.attribute}'",
            "must have every label of an association, at its level",
            found="one that it lacks",
            advice="add the codes that were withdrawn, or reject the association",
        )
    return Item(term.attribute, term.level, hierarchy.labels[term.level].index(term.label))
