"""Releases of made people: classes that do not overlap, and a register with others beside them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sfumato.intruder.candidates import Candidates, find_candidates
from sfumato.intruder.knowledge import Knowledge, KnownColumn
from sfumato.intruder.reading import ReadColumn, ReleasedFile, TextColumn
from sfumato.intruder.referee.judgements import Truth, owned, person_values
from sfumato.intruder.released_syntax import Exact

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Made:
    """A release, what the intruder holds, and the truth."""

    file: ReleasedFile
    knowledge: Knowledge
    candidates: Candidates
    truth: Truth

    def told(self, counts: Ints) -> Knowledge:
        """The same intruder, who also knows the numbers of records."""
        return replace(self.knowledge, counts=counts)


def made(
    class_of: npt.ArrayLike,
    owner: npt.ArrayLike,
    home: npt.ArrayLike,
    *,
    pseudonyms: bool = False,
    values: npt.ArrayLike | None = None,
    has: npt.ArrayLike | None = None,
    others: dict[str, list[str]] | None = None,
    known: dict[str, list[str]] | None = None,
) -> Made:
    """A release from the class and the register person of each record.

    Parameters
    ----------
    class_of, owner
        Of each released record.
    home
        The class that each register person fits.
    pseudonyms
        Whether the release says which records are one person's.
    values
        A sensitive value of each record.
    has
        A sensitive value of each register person, those outside included.
    others, known
        Further columns of the release, one text a record, and of the register, one a person.
    """
    owner, home = np.asarray(owner, dtype=np.int64), np.asarray(home, dtype=np.int64)
    names, first, number = np.unique(np.asarray(class_of), return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    number = rank[number]
    cells = tuple(Exact(str(names[i])) for i in np.argsort(first))
    person = _numbered(owner) if pseudonyms else None
    records = len(owner)
    sensitive = () if values is None else (_text("illness", [str(v) for v in values]),)
    file = ReleasedFile(
        records=records,
        person=person,
        persons=records if person is None else int(person.max()) + 1,
        quasi_identifiers=(ReadColumn("place", cells, number),),
        class_of=number,
        classes=len(names),
        first_row=np.sort(first),
        sensitive=sensitive,
        others=tuple(_text(name, texts) for name, texts in (others or {}).items()),
    )
    places, codes = np.unique(home, return_inverse=True)
    knowledge = Knowledge(
        persons=len(home),
        person=np.arange(len(home)),
        quasi_identifiers=(_known("place", tuple(str(p) for p in places), codes),),
        others=tuple(
            _known(name, tuple(texts), np.arange(len(texts)))
            for name, texts in (known or {}).items()
        ),
    )
    told = (
        {} if has is None else {"illness": person_values(np.arange(len(home)), list(map(str, has)))}
    )
    truth = owned(owner, len(home), told)
    return Made(file, knowledge, find_candidates(file, knowledge), truth)


def sampled(
    rng: np.random.Generator,
    released: npt.ArrayLike,
    register: npt.ArrayLike,
    *,
    records: Ints | None = None,
    **other: object,
) -> Made:
    """An honest release: of each class some persons of the register, rows in random order."""
    released, register = np.asarray(released), np.asarray(register)
    home = rng.permutation(np.repeat(np.arange(len(register)), register))
    inside = np.concatenate(
        [
            rng.choice(np.flatnonzero(home == place), size, replace=False)
            for place, size in enumerate(released)
        ]
    )
    times = np.ones(len(inside), dtype=np.int64) if records is None else records
    owner = rng.permutation(np.repeat(inside, times))
    return made(home[owner], owner, home, **other)  # type: ignore[arg-type]


def _numbered(owner: Ints) -> Ints:
    number: dict[int, int] = {}
    return np.array([number.setdefault(int(one), len(number)) for one in owner], dtype=np.int64)


def _text(name: str, texts: list[str]) -> TextColumn:
    distinct, codes = np.unique(np.array(texts), return_inverse=True)
    return TextColumn(name, tuple(str(text) for text in distinct), codes.astype(np.int64))


def _known(name: str, texts: tuple[str, ...], codes: npt.NDArray[np.integer]) -> KnownColumn:
    return KnownColumn(name, texts, np.full(len(texts), np.nan), codes.astype(np.int64))
