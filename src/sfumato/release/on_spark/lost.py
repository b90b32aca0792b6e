"""What the records of some whole classes lose, as sums that add up over the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.engines.embedded.counts import group
from sfumato.engines.spark.names import OWN, quasi_identifier
from sfumato.release.distributions import (
    Attribute,
    Cells,
    Queries,
    persons_of_codes,
    query_counts,
    released_cells,
)
from sfumato.release.generalisation import ReleasedColumn
from sfumato.release.information_loss import (
    WHOLE,
    Alike,
    certainty_penalty,
    error_sums,
    has_scale,
    moments,
    sse,
)
from sfumato.release.options import Form
from sfumato.table.sources import from_numpy, from_texts
from sfumato.table.table import MISSING, CodedColumn, Codes

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

PROFILE, PERSONS, TIMES = f"{OWN}profile", f"{OWN}persons", f"{OWN}times"
"""A person's distinct records, how many persons have just these, how often each is there."""
OF_COLUMN = ("error", "squares", "penalty", "after", "persons", "hidden")
"""What is summed of each quasi-identifier."""
SIZES, QUERIES, MOMENTS = "sizes", "queries", "moments"


@dataclass(frozen=True, eq=False)
class LossOfClasses:
    """Sums what the records of some classes lose; runs on the executors.

    Attributes
    ----------
    columns
        The quasi-identifiers, with empty codes.
    cells
        The columns of their cells, by quasi-identifier.
    centre
        What values on the unit scale are taken from, of each that has a scale.
    form
        The form in which they are released.
    queries
        The random queries.
    """

    columns: tuple[CodedColumn, ...]
    cells: tuple[tuple[str, ...], ...]
    centre: Floats
    form: Form
    queries: Queries

    def __call__(self, classes: pa.Table) -> pa.Table:
        """The sums of whole classes, not all of them 0.

        Parameters
        ----------
        classes
            One row per distinct person of the classes: cells, `PROFILE`, `PERSONS`.

        Returns
        -------
        pa.Table
            ``what`` is summed, ``at`` which place, its ``value``.
        """
        people = _People.of(classes, self.columns, [name for own in self.cells for name in own])
        names, places, values = [], [], []
        for name, sums in self._sums(classes, people):
            at = np.flatnonzero(sums)
            names.append(np.full(len(at), name, dtype=object))
            places.append(at.astype(np.int64))
            values.append(sums[at])
        return pa.table(
            {
                "what": from_texts(np.concatenate(names).tolist()).cast(pa.string()),
                "at": from_numpy(np.concatenate(places)),
                "value": from_numpy(np.concatenate(values)),
            }
        )

    def _sums(self, classes: pa.Table, people: _People) -> Iterator[tuple[str, Floats]]:
        sizes = people.sizes
        attributes = []
        for place, column in enumerate(people.columns):
            cells = self._cells(place, column, classes, people)
            attributes.append(Attribute(column, cells))
            for what, sums in self._of_column(column, cells, people):
                yield f"{what}{place}", sums
        yield SIZES, np.bincount(sizes).astype(np.float64)
        queries = query_counts(attributes, sizes, self.queries, people.weight)
        yield QUERIES, np.concatenate([queries.exact, queries.estimate])
        chosen = [each for each in people.columns if has_scale(each)]
        before, after = moments(chosen, people.class_of, people.classes, people.weight, self.centre)
        yield MOMENTS, np.stack([before.sums, after.sums]).ravel()

    def _cells(self, place: int, column: CodedColumn, classes: pa.Table, people: _People) -> Cells:
        texts = _coded(classes.column(self.cells[place][0]))
        text_of_class = np.zeros(people.classes, dtype=np.int32)
        text_of_class[people.class_of_person] = texts
        printed = ReleasedColumn(column.name, column.name, (), text_of_class, np.zeros(0, np.int64))
        return released_cells(column, people.class_of, people.classes, self.form, printed)

    def _of_column(
        self, column: CodedColumn, cells: Cells, people: _People
    ) -> Iterator[tuple[str, Floats]]:
        class_of, classes = people.class_of, people.classes
        errors = error_sums(column, class_of, classes, people.person, people.alike)
        within = sse(column, class_of, classes, people.weight)
        leaves = cells.leaves[cells.of_class]
        penalty = certainty_penalty(column, class_of, classes, leaves, self.form)
        known = column.codes != MISSING
        persons = persons_of_codes(
            column, column.codes[known], people.person[known], people.alike.persons
        )
        yield OF_COLUMN[0], np.array(errors[:4])
        yield OF_COLUMN[1], np.array([within])
        yield OF_COLUMN[2], np.array([penalty @ people.sizes])
        yield OF_COLUMN[5], np.array([(penalty > WHOLE) @ people.sizes])
        yield OF_COLUMN[3], np.append(*cells.spread_evenly(people.sizes))
        yield OF_COLUMN[4], persons.astype(np.float64)


@dataclass(frozen=True, eq=False)
class _People:
    """The distinct persons of some classes, and their distinct records.

    Attributes
    ----------
    class_of_person
        Class of each person; shape (persons,).
    classes
        Number of classes.
    columns
        The quasi-identifiers of the records.
    person
        Person of each record; shape (records,).
    alike
        How many each stands for.
    """

    class_of_person: Codes
    classes: int
    columns: tuple[CodedColumn, ...]
    person: Codes
    alike: Alike

    @classmethod
    def of(cls, classes: pa.Table, columns: Sequence[CodedColumn], cells: Sequence[str]) -> _People:
        """Read them from a batch of `LossOfClasses`."""
        texts = [_coded(classes.column(name)) for name in cells]
        class_of_person, count = group(texts, [int(each.max()) + 1 for each in texts])
        profiles = classes.column(PROFILE).combine_chunks()
        records = profiles.value_lengths().to_numpy(zero_copy_only=False)
        held = profiles.flatten()
        person = np.repeat(np.arange(len(profiles), dtype=np.int32), records)
        alike = Alike(
            _numbers(held.field(TIMES)).astype(np.float64),
            _numbers(classes.column(PERSONS)).astype(np.float64),
        )
        own = tuple(
            replace(column, codes=_numbers(held.field(quasi_identifier(place))).astype(np.int32))
            for place, column in enumerate(columns)
        )
        return cls(class_of_person, count, own, person, alike)

    @property
    def class_of(self) -> Codes:
        """Class of each record."""
        return self.class_of_person[self.person]

    @property
    def weight(self) -> Floats:
        """How many records of the file each one stands for."""
        return self.alike.records(self.person)

    @property
    def sizes(self) -> Ints:
        """Records of the file in each class."""
        sizes = np.bincount(self.class_of, weights=self.weight, minlength=self.classes)
        return np.rint(sizes).astype(np.int64)


def _numbers(array: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.integer]:
    column = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    numbers: npt.NDArray[np.integer] = column.to_numpy(zero_copy_only=False)
    return numbers


def _coded(column: pa.ChunkedArray) -> Codes:
    """Distinct texts numbered; nothing is a text of its own."""
    coded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    return np.asarray(coded.indices.to_numpy(zero_copy_only=False), dtype=np.int32)
