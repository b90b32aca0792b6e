"""What one value, or several, tell about another: an association, and a set of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, overload

from sfumato.core.errors import InputError
from sfumato.hierarchies import Hierarchy


class Item(NamedTuple):
    """A value of an attribute at a level of its hierarchy.

    Attributes
    ----------
    attribute
        Name of the attribute.
    level
        Level of the value; 0 is the leaves.
    label
        Index into ``labels[level]`` of the attribute's hierarchy.
    """

    attribute: str
    level: int
    label: int

    def text(self, hierarchies: Mapping[str, Hierarchy]) -> str:
        """Attribute and value as people read them.

        Parameters
        ----------
        hierarchies
            The hierarchy of each attribute by its name.
        """
        return f"{self.attribute} {hierarchies[self.attribute].label(self.level, self.label)}"


class State(StrEnum):
    """What the custodian says to an association."""

    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


@dataclass(frozen=True)
class Association:
    """Who shows the antecedent's values mostly has the consequent's (Eq. 1 of paper 002).

    Attributes
    ----------
    antecedent
        One or more items of different attributes, ordered by attribute.
    consequent
        An item of another attribute.
    support
        Share of the release's individuals (or records, whichever were counted) who show the
        antecedent: ``|R_x| / |R_linkage|``.
    confidence
        Share of these who show the consequent too: ``|R_xy| / |R_x|``.
    state
        What the custodian says to it.
    note
        Why.

    Raises
    ------
    InputError
        If there is no antecedent, an attribute occurs twice, or a share is outside [0, 1].
    """

    antecedent: tuple[Item, ...]
    consequent: Item
    support: float
    confidence: float
    state: State = State.PROPOSED
    note: str = ""

    def __post_init__(self) -> None:
        """Check the items and the shares."""
        names = [item.attribute for item in (*self.antecedent, self.consequent)]
        if not self.antecedent or len(set(names)) < len(names):
            raise InputError("an association", "must lead from one or more attributes to another")
        if not (0 <= self.support <= 1 and 0 <= self.confidence <= 1):
            raise InputError("support and confidence", "must be shares", accepted="0 to 1")
        object.__setattr__(self, "antecedent", tuple(sorted(self.antecedent)))

    @property
    def key(self) -> tuple[tuple[Item, ...], Item]:
        """What it says, whatever its figures and its state."""
        return self.antecedent, self.consequent

    def text(self, hierarchies: Mapping[str, Hierarchy]) -> str:
        """The association as people read it.

        Parameters
        ----------
        hierarchies
            The hierarchy of each attribute by its name.
        """
        antecedent = " & ".join(item.text(hierarchies) for item in self.antecedent)
        return (
            f"{antecedent} -> {self.consequent.text(hierarchies)}, "
            f"support {100 * self.support:.3g} %, confidence {100 * self.confidence:.3g} %"
        )


@dataclass(frozen=True)
class Associations:
    """A set of associations in a fixed order; numbered from 1 for people.

    Attributes
    ----------
    each
        The associations.
    """

    each: tuple[Association, ...] = ()

    def __len__(self) -> int:
        """How many there are."""
        return len(self.each)

    def __iter__(self) -> Iterator[Association]:
        """One after the other."""
        return iter(self.each)

    @overload
    def __getitem__(self, index: int) -> Association: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Association, ...]: ...
    def __getitem__(self, index: int | slice) -> Association | tuple[Association, ...]:
        """The association at a place counted from 0."""
        return self.each[index]

    def of_state(self, state: State) -> tuple[Association, ...]:
        """Those in one state.

        Parameters
        ----------
        state
            The state.
        """
        return tuple(one for one in self.each if one.state == state)

    @property
    def accepted(self) -> tuple[Association, ...]:
        """Those that a reader is taken to know."""
        return self.of_state(State.ACCEPTED)
