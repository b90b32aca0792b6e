"""Which relations the two records of a pair can have, and how many pairs of each there can be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import Bools, Floats
from sfumato.linkage.chance_agreement import OF_HOME, ChanceAgreement
from sfumato.linkage.link_spec import ColumnKind, LinkSpec
from sfumato.linkage.standardisation import comparisons_of

GIVEN, SURNAME, DATE, HOME, NUMBER, OWN = range(6)
_ASPECT = {
    ColumnKind.GIVEN_NAME: GIVEN,
    ColumnKind.SURNAME: SURNAME,
    ColumnKind.DATE: DATE,
    **dict.fromkeys(OF_HOME, HOME),
    ColumnKind.EMAIL: NUMBER,
    ColumnKind.IDENTIFIER: NUMBER,
    ColumnKind.NUMBER: OWN,
}
"""What a column says; categories agree in each kind of relation as often as they do. A year of
birth or another number is the person's own, and so are given names beside the first one."""
NOBODY, PERSON, NAMESAKE, RELATIVE = range(4)
RELATIONS: tuple[tuple[int, frozenset[int]], ...] = (
    (NOBODY, frozenset()),
    # A shared family name makes no relatives: most of those who have a common one are strangers.
    (NOBODY, frozenset({SURNAME})),
    (NOBODY, frozenset({HOME})),
    (RELATIVE, frozenset({SURNAME, HOME})),
    (RELATIVE, frozenset({SURNAME, DATE, HOME})),
    (NAMESAKE, frozenset({GIVEN, SURNAME})),
    (NAMESAKE, frozenset({GIVEN, SURNAME, HOME})),
    (PERSON, frozenset({GIVEN, DATE, NUMBER, OWN})),
    (PERSON, frozenset({GIVEN, DATE, HOME, NUMBER, OWN})),
    (PERSON, frozenset({GIVEN, SURNAME, DATE, NUMBER, OWN})),
    (PERSON, frozenset({GIVEN, SURNAME, DATE, HOME, NUMBER, OWN})),
)
"""Kind of relation, and what is shared: nothing, a family's name, a home, a household, twins,
namesakes, a father and son of one name; and one person, renamed and moved, renamed, moved, and as
before."""
KIND = np.array([kind for kind, _ in RELATIONS])
MATCH = KIND == PERSON
FAMILY, HOUSE, HOUSEHOLD, TWINS, NAMESAKES, JUNIORS, BOTH, RENAMED, MOVED, UNCHANGED = range(1, 11)
_GUESS = 20.0
"""Households' pairs that the rate of all groups counts for."""
LEAST_PAIRS = 1e-3
"""Pairs of a relation at least, so that it has a logarithm."""
_OF_HOUSEHOLDS, _OF_PERSONS = 0.3, 0.04
"""Pairs of twins, or of one name in a household, at most: for each pair of a household, and for
each of a person. Where there would be more, given names or dates are recorded badly instead."""
OTHER = {GIVEN: TWINS, DATE: JUNIORS}
"""Who has another given name, or date, and all else in common."""
# A choice that a prior has to make: no pattern tells a twin from a person whose given name is
# wrong.
_ERROR, BELIEF = 0.003, 1.0
"""Share of one person's records whose given name, or date of birth, is wholly another, and how many
times as much as the pairs it counts: what is a twin and what such an error can hardly be told."""
_MOST_WRONG = {GIVEN: 0.01, SURNAME: 0.01, DATE: 0.01, HOME: 0.05}
"""The same at most where pairs of relatives are more than those of persons, or dates not compared:
whose name is another is a relative then, and would be taken for the person. Of each column of the
home, as post goes to boxes and to other entrances."""


def tells_persons(spec: LinkSpec) -> bool:
    """Whether given names are compared, which relatives do not share, and surnames or dates."""
    kinds = {kind for _, kind in _compared(spec)}
    others = {ColumnKind.DATE, ColumnKind.SURNAME}
    return ColumnKind.GIVEN_NAME in kinds and not kinds.isdisjoint(others)


def _compared(spec: LinkSpec) -> list[tuple[str, ColumnKind]]:
    columns = [] if spec.splink is not None else spec.columns.items()
    return [
        (comparison.name, comparison.kind) for c in columns for comparison in comparisons_of(*c)
    ]


def aspects_of(spec: LinkSpec, equal: ChanceAgreement) -> dict[str, int | None]:
    """What each comparison says."""
    aspects = {name: _ASPECT.get(kind) for name, kind in _compared(spec)}
    aspects |= dict.fromkeys(equal.home, HOME)
    # Initials and middle names, which more have in common, are the person's own beside it.
    given = equal.rarest(name for name, aspect in aspects.items() if aspect == GIVEN)
    return aspects | dict.fromkeys(given[1:], OWN)


def holds(aspect: int) -> Bools:
    """The relations that share an aspect for a reason."""
    return np.array([aspect in aspects for _, aspects in RELATIONS])


def renamed_and_moved(number: Floats, sure: Floats) -> Floats:
    """Persons with another surname and another home, by group.

    Such pairs agree in no more than many do by chance where records are many. So far as it is not
    ``sure`` that they are matches, as many are expected as if one had no part in the other.
    """
    # Independence: N_both / N_moved = N_renamed / N_unchanged.
    apart = number[:, RENAMED] * number[:, MOVED] / number[:, UNCHANGED]
    found = sure * number[:, BOTH] + (1 - sure) * np.minimum(apart, number[:, BOTH])
    # Nor of all persons in a group more than are renamed in all of them, or what the model does not
    # know of chance would be taken for such persons where pairs are many and persons few.
    renamed = number[:, RENAMED].sum() / number[:, [RENAMED, UNCHANGED]].sum()
    return np.asarray(
        np.minimum(found, renamed * number[:, [RENAMED, MOVED, UNCHANGED]].sum(axis=1))
    )


def at_one_rate(number: Floats, whole: Floats) -> float:
    """Let twins, and two of one name, live in a household as often within sources as across them.

    Matches are more often across: so what is common in both is no error. Gives how much that tells:
    from 0, where matches are as frequent in all groups, or there is but one, to 1. The number of
    pairs of each relation by group is changed.
    """
    homes = number[:, HOUSEHOLD]
    usual = whole * homes.sum() / whole.sum()
    # The rate of each group leans on that of all groups, as some have few households.
    homes = whole * (homes + _GUESS) / (usual + _GUESS)
    for relation in OTHER.values():
        # The total stays: only how it is spread over the groups is changed, in proportion to
        # households.
        number[:, relation] = homes * number[:, relation].sum() / homes.sum()
    frequency = number[:, MATCH].sum(axis=1) / homes
    return float(1 - frequency.min() / frequency.max())


# A choice: one household in a hundred with father and son of one name has one such pair in four.
_JUNIORS = 0.005
"""Pairs of one name in a household for each of its pairs, at most, where no date tells them."""
_NAMESAKES = 1e-6
"""Namesakes for each pair of records, beyond those that chance makes, at most."""


def namesakes_at_one_rate(number: Floats, whole: Floats, once: Bools) -> None:
    """Without dates, let people of one name be as frequent in each group as where they are fewest.

    Nothing tells them from persons but that there are pairs known to be of two people, ``once``,
    or with few of one person: they say how many namesakes there are at most.

    Parameters
    ----------
    number
        Pairs of each relation by group; changed.
    once
        Groups in which no pair is of one person, as somebody has declared.
    """
    for relation, person, of, most in (
        (JUNIORS, UNCHANGED, number[:, HOUSEHOLD], _JUNIORS),
        (NAMESAKES, MOVED, whole, _NAMESAKES),
    ):
        both = number[:, relation] + number[:, person]
        rate = min(most, float((both / np.maximum(of, 1.0)).min()))
        if once.any():
            rate = float(both[once].sum() / max(of[once].sum(), 1.0))
        number[:, relation] = np.where(once, both, np.minimum(rate * of, both))
        number[:, person] = np.maximum(both - number[:, relation], LEAST_PAIRS)


def bounded(number: Floats) -> dict[int, bool]:
    """Keep twins and namesakes of a household to what is possible; whether there would be more."""
    households, persons = number[:, HOUSEHOLD].sum(), number[:, MATCH].sum()
    possible = _OF_HOUSEHOLDS * float(households) + _OF_PERSONS * float(persons)
    bound = {}
    for aspect, relation in OTHER.items():
        found = float(number[:, relation].sum())
        bound[aspect] = found > possible
        number[:, relation] *= min(1.0, possible / found)
    return bound


@dataclass(frozen=True)
class Errors:
    """What is known of values that are wholly other ones in records of one person.

    Attributes
    ----------
    bound
        By aspect, whether there would be more twins, or juniors, than possible; without dates none.
    """

    bound: Mapping[int, bool]
    belief: float
    crowded: bool

    def share(self, aspect: int, own: float) -> float:
        """Share of such values, of which ``own`` is found."""
        if aspect in self.bound and not self.bound[aspect]:
            # Where twins are at their bound the rest are errors for sure, and the prior rate of
            # errors has no say.
            own = (own + self.belief * _ERROR) / (1 + self.belief)
        return min(own, _MOST_WRONG.get(aspect, 1.0)) if self.crowded else own
