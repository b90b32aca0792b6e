"""What a worker may ask for, and what the answer is: a charge or a refusal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from sfumato.review.display.disclosed import more
from sfumato.review.modes import Mode
from sfumato.review.state.facts import Facts, Modes


@dataclass(frozen=True, slots=True)
class Opening:
    """One thing to ask for: some attributes of a pair in a mode; both rows change together.

    Attributes
    ----------
    attributes
        Places of the attributes.
    mode
        How much of them is to show.
    """

    attributes: tuple[int, ...]
    mode: Mode


class Reason(StrEnum):
    """Why a disclosure is refused."""

    BUDGET = "the worker's budget does not hold it"
    PROJECT_BUDGET = "the project's budget does not hold it"
    FLOOR = "an anonymity set could fall below k"


@dataclass(frozen=True, slots=True)
class Charge:
    """What a disclosure has cost.

    Attributes
    ----------
    units
        Exactly, in units.
    cost
        In KAPR of the worker's task.
    below_k
        Whether it left an anonymity set below k, so that KAPR may exceed 1; only where the
        floor is reported and not kept.
    """

    units: int
    cost: float
    below_k: bool = False


@dataclass(frozen=True, slots=True)
class Refusal:
    """A disclosure that does not happen; nothing is charged and nothing is shown.

    Attributes
    ----------
    reason
        Why.
    cost
        The cost in KAPR that it was decided by, the one that `costs` shows.
    """

    reason: Reason
    cost: float


@dataclass(frozen=True, slots=True)
class Cost:
    """What an opening would cost, as a worker is told before it.

    Attributes
    ----------
    opening
        The opening.
    cost
        In KAPR: the dearest over all values consistent with what the worker sees, or the exact
        one where the settings say so.
    refusal
        Why it would be refused, ``None`` where it would not.
    """

    opening: Opening
    cost: float
    refusal: Refusal | None


def modes_after(facts: Facts, modes: Modes, opening: Opening) -> Modes:
    """The modes of a pair once an opening is granted; what is open stays open.

    Parameters
    ----------
    facts
        The pair.
    modes
        Its modes now.
    opening
        What is asked for. An attribute that does not offer the mode stays as it is.
    """
    asked = set(opening.attributes)
    return tuple(
        opening.mode
        if place in asked and opening.mode > mode and opening.mode in facts.offered[place]
        else mode
        for place, mode in enumerate(modes)
    )


def openings_of(facts: Facts, modes: Modes, names: tuple[int, int] | None) -> tuple[Opening, ...]:
    """Every opening that would show more: each cell, the name, everything; each once.

    Parameters
    ----------
    facts
        The pair.
    modes
        Its modes now.
    names
        Places of the given and the family name, where there is one of each.
    """
    return tuple(dict.fromkeys(_openings(facts, modes, names)))


def _openings(facts: Facts, modes: Modes, names: tuple[int, int] | None) -> Iterator[Opening]:
    everything = tuple(range(len(modes)))
    groups = [(place,) for place in everything]
    for group in (*groups, *([tuple(sorted(names))] if names else []), everything):
        for mode in (Mode.PARTIAL, Mode.FULL):
            changed = tuple(
                place for place in group if mode in more(facts.comparisons[place], modes[place])
            )
            if changed:
                yield Opening(changed, mode)
