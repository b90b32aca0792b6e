"""Identifiers: released columns beside the quasi-identifiers that the register has as well."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.intruder.candidates.candidates import Candidates
from sfumato.intruder.guesses import Identification
from sfumato.intruder.knowledge.knowledge import Knowledge, KnownColumn
from sfumato.intruder.reading.released_file import ReleasedFile, TextColumn

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

COINCIDE = 0.5
"""Share of a column's distinct texts that the other must have to be joined without its name."""
FEWEST = 5
"""Distinct texts that must coincide at least for that."""
LARGEST = 200
"""A text that more persons of the register have pins nobody and is passed over."""
_ENTRIES = 2_000_000


@dataclass(frozen=True, eq=False)
class Join:
    """What one released column tells of who is who.

    Attributes
    ----------
    column, register_column
        Names of the joined columns.
    by_name
        Whether they were found by their name; else by their texts.
    guesses
        For each released unit a person who has the same text and, where there are such, fits its
        class; the chance is 1 / the number of those.
    fits
        Whether the named person fits the unit's class; else the text alone decided; shape
        (units,).
    alone
        The chance of each guess without the column, 1 / the persons who fit the class; shape
        (units,).
    pinned
        Units that this leaves a single person for.
    """

    column: str
    register_column: str
    by_name: bool
    guesses: Identification
    fits: Bools
    alone: Floats
    pinned: int


@dataclass(frozen=True, eq=False)
class _Having:
    """The persons who have each text: those of text t at start[t] to start[t + 1]."""

    persons: Ints
    start: Ints


def join_columns(
    file: ReleasedFile, candidates: Candidates, knowledge: Knowledge, rng: np.random.Generator
) -> tuple[Join, ...]:
    """Join the release with the register on every column that both have beside the released ones.

    Columns of the same name, and columns under other names whose distinct texts coincide, by
    exact equality of texts. For each record the persons with its text are narrowed to those who
    fit its class; a released person is guessed by the record that leaves fewest. Columns that
    find nobody are left out. O(distinct (class, text) times the persons of a text, at most 200).

    Parameters
    ----------
    file
        The released file.
    candidates
        Who fits which class.
    knowledge
        What the intruder holds.
    rng
        Draws among persons who are alike.
    """
    known = [*knowledge.others, *knowledge.quasi_identifiers]
    found = []
    for column in file.others:
        for other in known:
            by_name = _plain(column.name) == _plain(other.name)
            if by_name or _coincide(column, other):
                join = _join(column, other, file, candidates, knowledge, rng, by_name)
                if np.any(join.guesses.person >= 0):
                    found.append(join)
    return tuple(found)


def _plain(name: str) -> str:
    return "".join(name.casefold().split()).replace("_", "")


def _coincide(column: TextColumn, other: KnownColumn) -> bool:
    own = {text for text in column.texts if text is not None}
    both = own.intersection(other.texts)
    return len(both) >= max(FEWEST, COINCIDE * len(own))


def _join(
    column: TextColumn,
    other: KnownColumn,
    file: ReleasedFile,
    candidates: Candidates,
    knowledge: Knowledge,
    rng: np.random.Generator,
    by_name: bool,
) -> Join:
    having = _persons_of_texts(column, other, knowledge)
    texts = len(column.texts)
    pairs, pair_of = np.unique(file.class_of * texts + column.codes, return_inverse=True)
    found = _narrow(pairs // texts, pairs % texts, having, candidates, rng)
    many, person, fits = found[0][pair_of], found[1][pair_of], found[2][pair_of]
    order = np.lexsort((np.where(person >= 0, many, np.iinfo(np.int64).max), file.unit))
    best = order[np.unique(file.unit[order], return_index=True)[1]]
    chance = np.where(person[best] >= 0, 1 / np.maximum(many[best], 1), 0.0)
    return Join(
        column=column.name,
        register_column=other.name,
        by_name=by_name,
        guesses=Identification(file.unit[best], person[best], chance),
        fits=fits[best],
        alone=1 / np.maximum(candidates.of_class[file.class_of[best]], 1),
        pinned=int(np.count_nonzero((person[best] >= 0) & (many[best] == 1))),
    )


def _persons_of_texts(column: TextColumn, other: KnownColumn, knowledge: Knowledge) -> _Having:
    """The register persons who have each text of the released column; nobody for missing ones."""
    number = {text: place for place, text in enumerate(column.texts) if text is not None}
    of_text = np.array([number.get(text or "", -1) for text in other.texts], dtype=np.int64)
    text = of_text[other.codes]
    some = text >= 0
    keys = np.unique(text[some] * knowledge.persons + knowledge.person[some])
    texts, persons = np.divmod(keys, max(knowledge.persons, 1))
    start = np.searchsorted(texts, np.arange(len(column.texts) + 1)).astype(np.int64)
    return _Having(persons, start)


def _narrow(
    class_of: Ints, text: Ints, having: _Having, candidates: Candidates, rng: np.random.Generator
) -> tuple[Ints, Ints, Bools]:
    """For each class and text how many persons are left, one of them (-1: nobody), if it fits."""
    width = np.diff(having.start)[text]
    width[width > LARGEST] = 0
    many = np.zeros(len(text), dtype=np.int64)
    person = np.full(len(text), -1, dtype=np.int64)
    some = np.zeros(len(text), dtype=np.bool_)
    total = np.concatenate([[0], np.cumsum(width)])
    cuts = np.searchsorted(total[1:], np.arange(_ENTRIES, int(total[-1]), _ENTRIES))
    for part in np.split(np.arange(len(text)), cuts):
        row = np.repeat(part, width[part])
        ends = np.cumsum(width[part])
        offset = np.arange(len(row)) - np.repeat(ends - width[part], width[part])
        who = having.persons[having.start[text[row]] + offset]
        fits = candidates.fit(class_of[row], candidates.group[who])
        some[row[fits]] = True
        keep = fits | ~some[row]
        row, who = row[keep], who[keep]
        mixed = rng.permutation(len(row))
        person[row[mixed]] = who[mixed]
        many += np.bincount(row, minlength=len(text))
    return many, person, some
