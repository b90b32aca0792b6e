"""What must hold for a request's release, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.semantics.associations import Item
from sfumato.semantics.policy import Measure
from sfumato.semantics.rules.explain import Why, explain
from sfumato.semantics.rules.reasoner import Reasoner
from sfumato.semantics.rules.terms import plain
from sfumato.semantics.rules.tuple_facts import TupleFacts


class Enforcement(NamedTuple):
    """What is done to a tuple because of one association.

    Attributes
    ----------
    measure
        What is done; the stricter one where rules ask for both.
    association
        The association's number, from 1, in the order in which they were passed.
    regarding
        The values that it is done to, as the association says them; what the tuple shows is
        one of them or lies below it.
    """

    measure: Measure
    association: int
    regarding: tuple[Item, ...]


@dataclass(frozen=True, eq=False)
class Enforcements:
    """What is done to each tuple of a release.

    Attributes
    ----------
    alike
        Which of the distinct cases each tuple is, -1 for one that nothing is done to; shape
        (tuples,).
    cases
        What is done in each distinct case.
    """

    alike: npt.NDArray[np.int64] = field(repr=False)
    cases: tuple[tuple[Enforcement, ...], ...] = field(repr=False)

    def of(self, tuple_: int) -> tuple[Enforcement, ...]:
        """What is done to one tuple.

        Parameters
        ----------
        tuple_
            Its place in the release, from 0.
        """
        case = int(self.alike[tuple_])
        return () if case < 0 else self.cases[case]

    def tuples(self) -> npt.NDArray[np.int64]:
        """The places of the tuples that something is done to."""
        busy = np.fromiter(map(bool, self.cases), dtype=np.bool_, count=len(self.cases))
        return np.flatnonzero((self.alike >= 0) & busy[self.alike]) if len(busy) else _NONE


_NONE = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Requirements:
    """What must hold for the release that a request gets.

    Attributes
    ----------
    request, linkage
        The names of the request and of the linkage that it asks for.
    k
        Individuals of each database of ``quasi_identifiers`` that every tuple must match at
        least; ``None`` where no rule gives one, and then the request is refused.
    quasi_identifiers
        By database whose readers ask: its quasi-identifiers, in the order of the policy. A
        tuple must match ``k`` individuals of each on these.
    refused
        Why the request is refused; empty where it is not.
    enforcements
        What is done to each tuple because of associations.
    """

    request: str
    linkage: str
    k: int | None
    quasi_identifiers: Mapping[str, tuple[str, ...]]
    refused: tuple[str, ...]
    enforcements: Enforcements
    _reasoner: Reasoner = field(repr=False)
    _asked: tuple[Any, ...] = field(repr=False)
    _policy_facts: str = field(repr=False)
    _tuple_facts: TupleFacts = field(repr=False)

    @property
    def linkage_qis(self) -> tuple[str, ...]:
        """The quasi-identifiers of all these databases, each once."""
        names = (name for each in self.quasi_identifiers.values() for name in each)
        return tuple(dict.fromkeys(names))

    def require_allowed(self) -> int:
        """The k of a request that is not refused.

        Raises
        ------
        InputError
            If it is refused.
        """
        if self.refused or self.k is None:
            raise InputError(
                f"request '{self.request}'",
                "must be one that the rules allow",
                found="; ".join(self.refused),
                advice="'sfumato policy explain' says which rule and why",
            )
        return self.k

    def explain(self) -> tuple[Why, ...]:
        """Why the request is refused, its k is what it is, and these are its quasi-identifiers."""
        return explain(self._reasoner, self._asked)

    def explain_tuple(self, tuple_: int) -> tuple[Why, ...]:
        """Why something is done to a tuple; from what is known of it alone, where that suffices.

        Parameters
        ----------
        tuple_
            Its place in the release, from 0.
        """
        case = int(self.enforcements.alike[tuple_])
        if not self.enforcements.of(tuple_):
            return ()
        atoms = _about(self._reasoner, case)
        facts = f"{self._policy_facts}\n{self._tuple_facts.of_one(case)}"
        alone = Reasoner(self._reasoner.rules, facts)
        same = set(_about(alone, case)) == set(atoms)
        return explain(alone if same else self._reasoner, atoms)


def _about(reasoner: Reasoner, case: int) -> list[Any]:
    """What the rules enforce on one tuple, and what that regards."""
    about = f"tuple({case})"
    enforced = (atom for atom in reasoner.atoms("enforce", 3) if plain(atom.arguments[1]) == about)
    return [*sorted(enforced), *reasoner.about("regarding", 3, about)]
