"""What the intruder held, in sentences without a value of the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from sfumato.intruder.attack_options import Shares
from sfumato.intruder.candidates.candidates import Candidates
from sfumato.intruder.held import Given, Held

MOST = 6
"""Columns that are named one by one."""


def in_words(held: Held, given: Given) -> tuple[str, ...]:
    """What the intruder held, one sentence each.

    Parameters
    ----------
    held
        What was put together.
    given
        What was given.
    """
    return tuple(_sentences(held, given))


def _sentences(held: Held, given: Given) -> Iterator[str]:
    persons = f"{held.knowledge.persons:,} persons"
    if held.itself:
        yield (
            f"Nothing but the file: of all {persons} in it the intruder knows the class that they "
            "are in, as somebody would who knows all quasi-identifiers."
        )
    else:
        what = "The original" if given.register is None else "A register"
        yield f"{what} of {persons}."
        names = [column.name for column in held.knowledge.quasi_identifiers]
        yield f"Of everybody the quasi-identifiers: {', '.join(names)}."
    others = [column.name for column in held.knowledge.others]
    if others:
        more = f" and {len(others) - MOST} more columns" if len(others) > MOST else ""
        yield f"Also: {', '.join(others[:MOST])}{more}."
    if given.counts:
        yield "How many records each person has in the release."
    yield from _errors(given.noise, "wrong")
    yield from _errors(given.missing, "unknown")
    if given.review is not None:
        yield "What the screens of a clerical review showed, beside the tables that were linked."
    if given.priors:
        several = "s" if len(given.priors) > 1 else ""
        yield f"{len(given.priors)} other release{several} about the same persons."


def _errors(shares: Shares, what: str) -> Iterator[str]:
    if isinstance(shares, Mapping):
        for name, share in shares.items():
            yield f"Of column {name}, {100 * share:g} % of the values are {what}."
    elif shares:
        yield f"{100 * shares:g} % of these values are {what}."


def warnings_of(held: Held, candidates: Candidates) -> tuple[str, ...]:
    """What the referee found odd about the truth.

    Parameters
    ----------
    held
        What was put together.
    candidates
        Which persons fit which class, by what is known without errors.
    """
    warnings = []
    strangers = len(np.unique(held.file.unit[held.truth.owner < 0]))
    if strangers:
        warnings.append(
            f"{strangers:,} persons of the released file are not in the register: no guess about "
            "them can be right."
        )
    inside = np.flatnonzero(held.truth.owner >= 0)
    fits = candidates.fit(held.file.class_of[inside], candidates.group[held.truth.owner[inside]])
    persons = len(np.unique(held.file.unit[inside][~fits]))
    if persons:
        warnings.append(
            f"The cells of {persons:,} released persons do not hold what is known of them: their "
            "ranges are too narrow, or values were changed or records left out. Exact matching "
            "does not find them, and finds others in their place."
        )
    return tuple(warnings)
