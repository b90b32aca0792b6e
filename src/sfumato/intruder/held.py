"""Put together what the intruder holds, and apart from it what only the referee knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.core.errors import InputError
from sfumato.intruder.attack_options import Shares
from sfumato.intruder.knowledge.hold import hold
from sfumato.intruder.knowledge.knowledge import Ints, Knowledge, KnownColumn
from sfumato.intruder.knowledge.noise import with_noise
from sfumato.intruder.known_truth import SAME_ORDER, People, by_given, by_source_rows, people_of
from sfumato.intruder.reading.cell import Exact
from sfumato.intruder.reading.read import read_release
from sfumato.intruder.reading.released_file import ReadColumn, ReleasedFile
from sfumato.intruder.referee.truth import Truth, owned_by_id, owned_by_row
from sfumato.schema import Schema

CLASS = "class"
"""The one quasi-identifier of a file that is its own original."""


@dataclass(frozen=True, eq=False)
class Given:
    """What was given beside the released file.

    Attributes
    ----------
    register, original, truth
        As they were passed in; ``None`` where they were not.
    source_rows
        Row of the original of each released record, where the release says it.
    schema
        What each column is.
    knows
        The quasi-identifiers that the intruder knows; all where ``None``.
    counts
        Whether the intruder knows how many records each person has in the release.
    noise, missing
        Share of wrong, and of unknown, values.
    hierarchies
        Published hierarchies by quasi-identifier.
    delimiter
        The separator of the released file.
    priors
        Other releases about the same persons.
    review
        The folder of a clerical review whose screens are attacked too, or ``None``.
    """

    register: Any
    original: Any
    truth: Any
    source_rows: Ints | None
    schema: Schema
    knows: Sequence[str] | None = None
    counts: bool = False
    noise: Shares = 0.0
    missing: Shares = 0.0
    hierarchies: Mapping[str, str | Path] | None = None
    delimiter: str | None = None
    priors: tuple[Any, ...] = ()
    review: Path | None = None


@dataclass(frozen=True, eq=False)
class Held:
    """The released file, what the intruder holds, and the truth.

    Attributes
    ----------
    file
        The released file as an outsider reads it.
    knowledge
        What the intruder holds, errors included.
    exact
        The same without errors.
    truth
        Whose each record is; for the referee.
    itself
        Whether the file is its own original.
    """

    file: ReleasedFile
    knowledge: Knowledge
    exact: Knowledge
    truth: Truth
    itself: bool


def held_against(shown: Any, given: Given, rng: np.random.Generator) -> Held:
    """Read the released file and what the intruder holds.

    Parameters
    ----------
    shown
        The released file.
    given
        What was given beside it.
    rng
        Draws the errors of what the intruder knows.

    Raises
    ------
    InputError
        If a file cannot be read or does not fit the others, or nobody says whose the records
        are.
    """
    if given.register is None and given.original is None:
        return _itself(shown, given)
    schema = given.schema
    source = given.original if given.register is None else given.register
    register = people_of(source, schema)
    known = hold(source, schema, knows=given.knows)
    known = _with_ids(known, register, schema)
    if given.register is None:
        known = _of_an_acquaintance(known, schema)
    file = read_release(
        shown, schema, delimiter=given.delimiter, hierarchies=given.hierarchies, known=known
    )
    truth = _truth(file, given, register, known)
    if given.counts:
        known = replace(known, counts=_counts(known, truth))
    noisy = with_noise(known, given.noise, given.missing, rng)
    return Held(file, noisy, known, truth, itself=False)


def _itself(shown: Any, given: Given) -> Held:
    """A file of which nothing else is had: everybody in it is known by the class they are in."""
    if given.truth is not None and given.truth != SAME_ORDER:
        raise InputError(
            "parameter truth",
            "must name persons of an original or register",
            found="neither of the two",
            advice="give one, or leave the truth out: the file is then its own original",
        )
    if given.source_rows is not None:
        raise InputError(
            "parameter original",
            "must be given, for the release was made from a file and does not hold it",
            advice="give its path",
        )
    if given.knows is not None or given.noise or given.missing:
        raise InputError(
            "what the intruder knows",
            "can be changed only where there is an original or a register",
            found="none",
        )
    schema = given.schema
    file = read_release(shown, schema, delimiter=given.delimiter, hierarchies=given.hierarchies)
    labels = tuple(f"{number}" for number in range(file.classes))
    column = ReadColumn(CLASS, tuple(Exact(label) for label in labels), file.class_of)
    nowhere = np.full(file.classes, np.nan)
    direct = [each for each in file.others if each.name in schema.direct_identifiers]
    knowledge = Knowledge(
        persons=file.persons,
        person=file.unit,
        quasi_identifiers=(KnownColumn(CLASS, labels, nowhere, file.class_of),),
        others=tuple(
            KnownColumn(each.name, each.texts, np.full(len(each.texts), np.nan), each.codes)
            for each in direct
        ),
        counts=np.bincount(file.unit, minlength=file.persons) if given.counts else None,
    )
    file = replace(file, quasi_identifiers=(column,), others=tuple(direct))
    truth = owned_by_row(np.arange(file.records), file.unit, file.persons)
    return Held(file, knowledge, knowledge, truth, itself=True)


def _with_ids(known: Knowledge, register: People, schema: Schema) -> Knowledge:
    """The ids of the register's persons are known as any other column."""
    if not register.named:
        return known
    nowhere = np.full(len(register.ids), np.nan)
    ids = KnownColumn(str(schema.person), register.ids, nowhere, register.person)
    return replace(known, others=(*known.others, ids))


def _of_an_acquaintance(known: Knowledge, schema: Schema) -> Knowledge:
    """Of the original an acquaintance knows what identifies; not what the release tells."""
    told = {*schema.direct_identifiers, schema.person, schema.household}
    return replace(known, others=tuple(each for each in known.others if each.name in told))


def _truth(file: ReleasedFile, given: Given, register: People, known: Knowledge) -> Truth:
    original: People | None = register
    if given.register is not None:
        original = None
        if given.original is not None:
            original = people_of(given.original, given.schema)
    if given.truth is not None:
        return by_given(given.truth, file.records, original, register, given.schema.missing)
    if given.source_rows is not None and original is not None:
        return by_source_rows(given.source_rows, original, register, known)
    found = _by_kept_ids(file, register, given.schema)
    if found is None:
        raise InputError(
            "parameter truth",
            "must say whose each released record is",
            found="a file that does not tell",
            accepted='"same-order", or a file with columns row and person',
            advice="or attack a Release, or leave original and register out",
        )
    return found


def _by_kept_ids(file: ReleasedFile, register: People, schema: Schema) -> Truth | None:
    """The truth of a file that kept the ids of its persons."""
    ids = next((each for each in file.others if each.name == schema.person), None)
    if ids is None or not register.named or not set(ids.texts) <= set(register.ids):
        return None
    return owned_by_id([ids.texts[code] for code in ids.codes], register.ids, register.values)


def _counts(known: Knowledge, truth: Truth) -> Ints:
    """Records of each person in the release; of others, their rows in the register."""
    rows = np.bincount(known.person, minlength=known.persons)
    inside = truth.owner[truth.owner >= 0]
    return np.where(truth.released, np.bincount(inside, minlength=known.persons), rows)
