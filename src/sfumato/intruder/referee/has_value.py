"""Which register persons have which sensitive value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.intruder.reading.released_file import TextColumn
from sfumato.intruder.referee.truth import Truth

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Holdings:
    """The values that register persons have, by the codes of the released column.

    Attributes
    ----------
    keys
        person * texts + code of each person and value, ascending.
    texts
        Number of distinct texts of the released column.
    known
        Whether anything is known of each register person, shape (persons,).
    """

    keys: Ints
    texts: int
    known: Bools

    def has(self, person: Ints, value: Ints) -> Bools:
        """Whether each person has each value; -1 is never had.

        Parameters
        ----------
        person
            Register persons.
        value
            Codes of the released column.
        """
        wanted = person * self.texts + value
        if not len(self.keys):
            return np.zeros(len(wanted), dtype=np.bool_)
        at = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.asarray((value >= 0) & (self.keys[at] == wanted), dtype=np.bool_)


def holdings(column: TextColumn, truth: Truth) -> Holdings:
    """What the register's persons have: by the truth where it says, else by their own records.

    Parameters
    ----------
    column
        The sensitive column of the released file.
    truth
        Whose each record is, and what persons have.
    """
    texts = len(column.texts)
    given = truth.values.get(column.name)
    some = (truth.owner >= 0) & (column.told >= 0)
    person, code = truth.owner[some], column.codes[some]
    known = truth.released.copy()
    if given is not None:
        number = {text: place for place, text in enumerate(column.texts)}
        of_text = np.array([number.get(text, -1) for text in given.texts], dtype=np.int64)
        told = of_text[given.codes] if len(of_text) else np.zeros(0, dtype=np.int64)
        known[given.person] = True
        person = np.concatenate([person, given.person[told >= 0]])
        code = np.concatenate([code, told[told >= 0]])
    return Holdings(np.unique(person * max(texts, 1) + code), max(texts, 1), known)
