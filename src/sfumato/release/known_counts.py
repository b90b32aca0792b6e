"""Classes of people whose numbers of records are about the same.

Who knows roughly how many records a person has looks for the person among those of a class who have
about as many. Nobody is found more easily for it where all of a class have: the file is divided by
bands of numbers of records first, and each part as a file of its own. Classes of several parts that
show the same become one later, in which each band still has as many people as a class must have;
shares of values in it lie between those of its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato.core.arrays import Ints
from sfumato.core.errors import ConstraintsNotMetError, InputError
from sfumato.release.partitioning import Draft
from sfumato.release.person_table import person_table
from sfumato.release.promises.k_anonymity import PidKAnonymity
from sfumato.release.promises.promise import Budget, Constraint, overspent_alone, unmet
from sfumato.release.release_options import Options
from sfumato.release.tree import Partition
from sfumato.risk.shown_file import BANDS, band_of
from sfumato.table.table import Table

Promises = Sequence[Constraint | Budget]


@dataclass(frozen=True)
class Width(PidKAnonymity):
    """How many people a class has, or all of its band where these are fewer: no promise."""

    def among(self, persons: int) -> Width:
        """The same among so many people."""
        return Width(min(self.k, persons))


def check_beside(options: Options, found: str) -> None:
    """Refuse numbers of records that are known in bands beside what they do not go with."""
    if options.known_counts is not None:
        raise InputError("parameter known_counts", "must be left out", found=found)


def divide_by_bands(
    table: Table,
    promises: Promises,
    options: Options,
    divided: Callable[[Table, Promises, Options], Draft],
) -> Draft:
    """Divide the people of each band by themselves.

    Bands whose people as one class break a promise are left out, those of fewest people first, as
    far as so many may be suppressed; else ConstraintsNotMetError.
    """
    parts, breaking = _parts(table), _breaking(table, promises)
    # As in `divide`: products of shares are inexact.
    left = int(np.floor(table.persons * options.suppress + 1e-9))
    for each, people in breaking.items():
        if people > left:
            break
        left -= people
        del parts[each]
    options = replace(options, known_counts=None, suppress=left / table.persons)
    drafts = []
    for each, rows in parts.items():
        part = table.take(rows)
        try:
            draft = divided(part, _among(promises, part.persons), options)
        except ConstraintsNotMetError as error:
            raise _of_band(each, part.persons, error) from None
        drafts.append(replace(draft, rows=rows[draft.rows]))
    return _joined(table, drafts)


def left_out(table: Table, promises: Promises) -> float:
    """Share of people in bands whose people as one class break a promise."""
    return sum(_breaking(table, promises).values()) / table.persons


def _parts(table: Table) -> dict[int, Ints]:
    """The records of the people of each band."""
    band = band_of(np.bincount(table.person))
    return {int(each): np.flatnonzero(band[table.person] == each) for each in np.unique(band)}


def _breaking(table: Table, promises: Promises) -> dict[int, int]:
    """The bands whose people as one class break a promise, those of fewest people first."""
    breaking = {}
    for band, rows in _parts(table).items():
        part = table.take(rows)
        own, whole = _among(promises, part.persons), person_table(part).whole()
        budgets = [each for each in own if isinstance(each, Budget)]
        constraints = [each for each in own if not isinstance(each, Budget)]
        if unmet(whole, constraints) or overspent_alone(whole, budgets):
            breaking[band] = part.persons
    return dict(sorted(breaking.items(), key=lambda each: each[1]))


def _among(promises: Promises, persons: int) -> Promises:
    return [
        promise.among(persons) if isinstance(promise, Width) else promise for promise in promises
    ]


def _of_band(band: int, persons: int, error: ConstraintsNotMetError) -> ConstraintsNotMetError:
    """The error of the people of a band, whose band it names."""
    least, most = (*BANDS, 0)[band - 1 : band + 1]
    ends = f"{least} to {most - 1}" if most else f"{least} or more"
    ends = f"{least}" if most == least + 1 else ends
    who = f"people with {ends} records, divided by themselves (known_counts; {persons:,} in all)"
    return ConstraintsNotMetError(
        (f"{who}: {error.failures[0]}", *error.failures[1:]),
        (*error.options, "a larger share of people who may be suppressed, or no known_counts"),
    )


def _joined(table: Table, drafts: Sequence[Draft]) -> Draft:
    """The drafts of several parts of a table as one."""
    starts = np.cumsum([0, *(draft.classes for draft in drafts)])
    rows = np.concatenate([draft.rows for draft in drafts])
    numbers = [draft.class_of + start for draft, start in zip(drafts, starts, strict=False)]
    order = np.argsort(rows)
    rows, class_of = rows[order], np.concatenate(numbers)[order].astype(np.int32)
    part = table.take(rows)
    records = np.bincount(part.person)
    of_person = np.empty(part.persons, dtype=np.int32)
    of_person[part.person] = class_of
    tree = Partition(of_person, int(starts[-1]), 0).measured(records)
    return Draft(rows, part, class_of, tree, int(starts[-1]))
