"""One local data set: what its reader holds about each of its individuals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.core.declaration import Count
from sfumato.core.errors import InputError
from sfumato.hierarchies import Hierarchy
from sfumato.semantics.linkage_anonymity.keys import Ints, packed_keys, shown_table


@dataclass(frozen=True, eq=False)
class Local:
    """The distinct leaf tuples of a local data set, and the individuals who have them.

    Attributes
    ----------
    name
        The data set's name, for errors and reports.
    quasi_identifiers
        Names of its quasi-identifiers.
    hierarchies
        The hierarchy of each; codes are indices into its leaves.
    codes
        Distinct leaf tuples, -1 for missing; shape (tuples, QIs).
    alone
        How many individuals have the tuple and no other; shape (tuples,).
    start, persons
        All individuals of each tuple: those of tuple ``t`` are
        ``persons[start[t]:start[t + 1]]``, ascending; shapes (tuples + 1,) and (pairs,).
    individuals
        Number of individuals.
    k
        How many individuals must match each linked tuple.
    """

    name: str
    quasi_identifiers: tuple[str, ...]
    hierarchies: tuple[Hierarchy, ...] = field(repr=False)
    codes: Ints = field(repr=False)
    alone: npt.NDArray[np.int64] = field(repr=False)
    start: npt.NDArray[np.int64] = field(repr=False)
    persons: Ints = field(repr=False)
    individuals: int
    k: int

    @classmethod
    def from_codes(
        cls,
        name: str,
        quasi_identifiers: Sequence[str],
        hierarchies: Sequence[Hierarchy],
        codes: Ints,
        person: npt.NDArray[np.integer] | None = None,
        k: int = 1,
    ) -> Local:
        """Count the distinct tuples of some records.

        Parameters
        ----------
        name
            The data set's name.
        quasi_identifiers
            Names of its quasi-identifiers.
        hierarchies
            The hierarchy of each.
        codes
            Leaf codes of each record, -1 for missing; shape (records, QIs).
        person
            Number of the individual of each record, shape (records,); without it every record
            is an individual of its own.
        k
            How many individuals must match each linked tuple.

        Raises
        ------
        InputError
            If a quasi-identifier has no hierarchy, k is below 1 or above the number of
            individuals.
        """
        if len(hierarchies) != len(quasi_identifiers) or codes.shape[1] != len(hierarchies):
            raise InputError(
                f"local data '{name}'", "must have a hierarchy for every quasi-identifier"
            )
        numbers = np.arange(len(codes)) if person is None else person
        names, people = np.unique(numbers, return_inverse=True)
        _check_k(name, k, len(names))
        tables = tuple(shown_table(each) for each in hierarchies)
        (keys,) = packed_keys(tables, [0] * len(tables), codes)
        distinct, first, tuple_of = np.unique(keys, return_index=True, return_inverse=True)
        pairs = np.unique(tuple_of.astype(np.int64) * max(len(names), 1) + people)
        owners = (pairs % max(len(names), 1)).astype(np.int32)
        tuples = pairs // max(len(names), 1)
        several = np.bincount(owners, minlength=len(names)) > 1
        alone = np.bincount(tuples[~several[owners]], minlength=len(distinct))
        start = np.searchsorted(tuples, np.arange(len(distinct) + 1))
        kept = np.asfortranarray(codes[first].astype(np.int32, copy=False))
        return cls(
            name,
            tuple(quasi_identifiers),
            tuple(hierarchies),
            kept,
            alone.astype(np.int64, copy=False),
            start.astype(np.int64, copy=False),
            owners,
            len(names),
            k,
        )

    @cached_property
    def tables(self) -> tuple[Ints, ...]:
        """What each leaf is shown as, per quasi-identifier; see `shown_table`."""
        return tuple(shown_table(each) for each in self.hierarchies)

    @cached_property
    def shared(self) -> tuple[Ints, Ints]:
        """Tuple and individual of those who have several tuples, ordered by individual."""
        tuples = np.repeat(np.arange(len(self.codes), dtype=np.int32), np.diff(self.start))
        often = np.bincount(self.persons, minlength=self.individuals) > 1
        kept = often[self.persons]
        tuples, persons = tuples[kept], self.persons[kept]
        order = np.argsort(persons, kind="stable")
        return tuples[order], persons[order]


def _check_k(name: str, k: int, individuals: int) -> None:
    Count(1).check("parameter k", k)
    if k > individuals:
        raise InputError(
            "parameter k",
            f"must not be larger than the local data '{name}'",
            found=f"k = {k} and {individuals} individuals",
            advice="ask for a smaller k, or give the whole local data",
        )
