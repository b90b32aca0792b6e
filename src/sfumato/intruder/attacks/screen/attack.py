"""The attack from the screen: whose record agrees with everything that showed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.intruder.attacks.screen.display import characters_of, folded
from sfumato.intruder.attacks.screen.shown import ShownAttribute, ShownCell, ShownRows
from sfumato.intruder.guesses import Identification
from sfumato.intruder.knowledge.knowledge import Knowledge, KnownColumn

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class FromScreen:
    """What the attack from the screen ends with.

    Attributes
    ----------
    guesses
        For each display row a person of the identified tables, -1 where nobody agrees.
    sizes
        K: records of the identified tables that agree with each row, shape (rows,).
    """

    guesses: Identification
    sizes: Ints = field(repr=False)


def from_screen(shown: ShownRows, knowledge: Knowledge, rng: np.random.Generator) -> FromScreen:
    """Guess whose record each display row is, from all that it showed.

    The intruder, a worker or somebody behind one, holds the identified tables and looks for the
    records that agree: the same character at each disclosed place, a value where one is missing
    or not, the same number of characters where masked ones show it, and a value that as many
    records have as identity and rarity marks showed. One of them is guessed: right with chance
    1/K, K being the anonymity set of KAPR (001, Definition 4.4), if the table that the marks are
    about is what the intruder holds.

    Each distinct cell is held against the distinct values of its attribute, and each distinct
    state of a row against the records that have the rarest of its values: O(cells x values +
    states x records of these).

    Parameters
    ----------
    shown
        What screens showed.
    knowledge
        The identified tables: a row for each record.
    rng
        Draws one of the records that agree.

    Raises
    ------
    InputError
        If the tables lack an attribute of the screen.
    """
    known = {column.name: column for column in (*knowledge.quasi_identifiers, *knowledge.others)}
    columns = []
    for attribute in shown.attributes:
        if attribute.name not in known:
            raise InputError(
                "the identified tables",
                f"must have the attribute '{attribute.name}' of the screen",
                found="no such column",
            )
        columns.append(_Column(attribute, known[attribute.name]))
    agreeing = [_agreeing(columns, state, len(knowledge.person)) for state in shown.states]
    sizes = np.array([len(found) for found in agreeing], dtype=np.int64)[shown.state]
    record = np.full(len(shown.rows), -1, dtype=np.int64)
    drawn = np.floor(rng.random(len(shown.rows)) * sizes).astype(np.int64)
    for row in np.flatnonzero(sizes > 0).tolist():
        record[row] = agreeing[shown.state[row]][drawn[row]]
    some = sizes > 0
    guesses = Identification(
        unit=np.arange(len(shown.rows), dtype=np.int64),
        person=np.where(some, knowledge.person[np.maximum(record, 0)], -1),
        chance=np.where(some, 1 / np.maximum(sizes, 1), 0.0),
    )
    return FromScreen(guesses, sizes)


class _Column:
    """An attribute of the identified tables, as it would be displayed."""

    def __init__(self, attribute: ShownAttribute, known: KnownColumn) -> None:
        self.codes = known.codes
        self._values = [characters_of(text, attribute.kind) for text in known.texts]
        self._rows = np.bincount(known.codes, minlength=len(known.texts))
        compared = [
            None if value is None else folded(value, case=attribute.case, accents=attribute.accents)
            for value in self._values
        ]
        often: Counter[tuple[str, ...] | None] = Counter()
        for value, rows in zip(compared, self._rows.tolist(), strict=True):
            often[value] += rows
        self._often = [often[value] for value in compared]
        order = np.argsort(known.codes, kind="stable")
        self._records, self._starts = order, np.concatenate([[0], np.cumsum(self._rows)])
        self._allowed: dict[ShownCell, Bools] = {}

    def allowed(self, cell: ShownCell) -> Bools:
        """Which distinct values agree with what a cell showed."""
        if cell not in self._allowed:
            self._allowed[cell] = np.array(
                [
                    _agrees(value, often, cell)
                    for value, often in zip(self._values, self._often, strict=True)
                ],
                dtype=np.bool_,
            )
        return self._allowed[cell]

    def count(self, allowed: Bools) -> int:
        """How many records have one of the values."""
        return int(self._rows[allowed].sum())

    def records(self, allowed: Bools) -> Ints:
        """The records that have one of the values, ascending."""
        parts = [
            self._records[self._starts[value] : self._starts[value + 1]]
            for value in np.flatnonzero(allowed).tolist()
        ]
        return np.sort(np.concatenate([np.empty(0, dtype=np.int64), *parts]))


def _agreeing(columns: Sequence[_Column], state: Sequence[ShownCell | None], records: int) -> Ints:
    """The records that agree with every cell of a row."""
    told = [
        (column, column.allowed(cell))
        for column, cell in zip(columns, state, strict=True)
        if cell is not None
    ]
    if not told:
        return np.arange(records, dtype=np.int64)
    told.sort(key=lambda each: each[0].count(each[1]))
    column, allowed = told[0]
    found = column.records(allowed)
    for column, allowed in told[1:]:
        found = found[allowed[column.codes[found]]]
    return found


def _agrees(value: tuple[str, ...] | None, often: int, cell: ShownCell) -> bool:
    if value is None or cell.missing:
        return value is None and cell.missing
    if cell.length is not None and len(value) != cell.length:
        return False
    if often < cell.least or (cell.most is not None and often > cell.most):
        return False
    return all(
        place < len(value) and value[place] == character for place, character in cell.characters
    )
