"""Give persons several pseudonyms, so that enough persons of a class show each size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from sfumato.release.coarsen_counts.targets import shared_targets

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Kind = tuple[int, int]
"""Number of records of a person, and size of their first pseudonym."""
Sizes = Counter[int]
"""How many pseudonyms of each size."""


def split_ids(person: Codes, class_of: Codes, classes: int, m: int) -> Codes:
    """The pseudonym of each record when persons with a rare number of records get several.

    In every class of at least m persons, two things hold afterwards for each size (number of
    records of a pseudonym) that occurs: at least m persons show it, and no person has more than
    the share max(1/m, GIDR) of the pseudonyms of that size. So somebody who knows the class and
    the number of records of a target names a pseudonym of the target with a chance of at most
    1/m, or, where that is more, with the chance that the class gives away without any
    pseudonym. No record is lost, and no promise about persons changes.

    First sizes are the numbers that lose fewest records (`shared_targets`); what is left of a
    person goes to further pseudonyms, of one size where enough persons have as much left, else
    of the sizes that occur, largest first, and of one record. A size that breaks a rule is given
    up, its pseudonyms are divided into smaller ones, until every size keeps them: single
    records always do.

    Parameters
    ----------
    person
        Person of each record.
    class_of
        Class of each record; no person is in two classes.
    classes
        Number of classes.
    m
        How many persons must show each size.

    Returns
    -------
    array
        Pseudonym of each record, numbered person by person. Records that stay together follow
        each other in the file.
    """
    records = np.bincount(person).astype(np.int64)
    class_of_person = np.empty(len(records), dtype=np.int64)
    class_of_person[person] = class_of
    by_class = np.argsort(class_of_person, kind="stable")
    bounds = np.searchsorted(class_of_person[by_class], np.arange(classes + 1))
    pieces: list[tuple[int, ...]] = [()] * len(records)
    for low, high in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        members = by_class[low:high]
        for member, own in zip(members.tolist(), pieces_of(records[members], m), strict=True):
            pieces[member] = own
    sizes = np.fromiter((size for own in pieces for size in own), dtype=np.int64)
    shown = np.empty(len(person), dtype=np.int32)
    shown[np.argsort(person, kind="stable")] = np.repeat(np.arange(len(sizes)), sizes)
    return shown


def pieces_of(records: Ints, m: int) -> list[tuple[int, ...]]:
    """The sizes of the pseudonyms of each person of a class.

    Parameters
    ----------
    records
        Number of records of each person; at least m persons.
    m
        How many persons must show each size.
    """
    numbers = records.tolist()
    if min(Counter(numbers).values()) >= m:
        return [(number,) for number in numbers]
    targets = shared_targets(records, m).tolist()
    kinds = Counter(zip(numbers, targets, strict=True))
    allowed = {size for number, target in kinds for size in (target, number - target)} - {0} | {1}
    parts = {kind: _divide(kind, allowed) for kind in kinds}
    while broken := _broken(kinds, parts, m):
        given_up = max(broken)
        if given_up == 1:
            given_up = min(allowed - {1})
        allowed.remove(given_up)
        parts = {kind: _divide(kind, allowed) for kind in kinds}
    return [
        tuple(sorted(parts[kind].elements(), reverse=True))
        for kind in zip(numbers, targets, strict=True)
    ]


def _divide(kind: Kind, allowed: Iterable[int]) -> Sizes:
    """Divide a number of records into allowed sizes, largest first, beginning with the target."""
    number, target = kind
    sizes: Sizes = Counter()
    descending = sorted(allowed, reverse=True)
    first = next(size for size in descending if size <= target)
    sizes[first] = 1
    left = number - first
    for size in descending:
        if size <= left:
            sizes[size] += left // size
            left %= size
    return sizes


def _broken(kinds: Mapping[Kind, int], parts: Mapping[Kind, Sizes], m: int) -> list[int]:
    """Sizes that too few persons show, or of which one person has too large a share."""
    persons: Counter[int] = Counter()
    ids: Counter[int] = Counter()
    most: Counter[int] = Counter()
    for kind, holders in kinds.items():
        for size, own in parts[kind].items():
            persons[size] += holders
            ids[size] += holders * own
            most[size] = max(most[size], own)
    largest = max(number for number, _ in kinds)
    records = sum(number * holders for (number, _), holders in kinds.items())
    return [
        size
        for size, own in most.items()
        if persons[size] < m or (own * m > ids[size] and own * records > largest * ids[size])
    ]
