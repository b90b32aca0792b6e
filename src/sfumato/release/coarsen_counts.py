"""Give persons several pseudonyms, so that enough persons of a class show each size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sfumato.core.arrays import Bools, Codes, Integers, Ints
from sfumato.core.errors import ConstraintsNotMetError
from sfumato.release.promises.k_anonymity import PidKAnonymity
from sfumato.release.promises.promise import Constraint, ordered_attributes
from sfumato.release.promises.shared_counts import SharedCounts
from sfumato.release.release_options import Coarsening
from sfumato.risk.class_measures import ranks_of
from sfumato.risk.classes import ClassSummary, summarize
from sfumato.table.table import Table

Kind = tuple[int, int]
"""Number of records of a person, and size of their first pseudonym."""
Sizes = Counter[int]
"""How many pseudonyms of each size."""


def promised(constraints: Iterable[object]) -> int:
    """The m that the numbers must be shared by; 0 where no constraint asks for it."""
    return max((each.m for each in constraints if isinstance(each, SharedCounts)), default=0)


def while_cutting(
    constraints: Iterable[Constraint], coarsening: Coarsening | None
) -> list[Constraint]:
    """What classes must meet before their numbers are made coarser.

    A class of m persons or more can always be given numbers that m persons share, so this is
    what `SharedCounts` asks of the tree when the numbers are made coarser after it.
    """
    return [
        PidKAnonymity(constraint.m)
        if coarsening and isinstance(constraint, SharedCounts)
        else constraint
        for constraint in constraints
    ]


@dataclass(frozen=True)
class CountLoss:
    """What was lost so that enough persons of a class share each number of records.

    Attributes
    ----------
    way
        ``drop`` or ``split``.
    m
        How many persons share each number.
    links_lost
        Of the pairs of records of one person, the share that no longer can be seen to be one
        person's: left out, or under two pseudonyms.
    """

    way: str
    m: int
    persons_affected: int
    records_dropped: int
    ids_added: int
    links_lost: float

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def count_loss(
    way: str,
    m: int,
    before: Integers,
    person: Integers,
    shown: Integers,
) -> CountLoss:
    """Compare what is shown with what there was.

    Parameters
    ----------
    way, m
        As in `CountLoss`.
    before
        Number of records of each person before; shape (persons,).
    person, shown
        Person and pseudonym of each record that is left; shape (records,).
    """
    sizes = np.bincount(shown)
    first = np.unique(shown, return_index=True)[1]
    ids = np.bincount(person[first], minlength=len(before))
    left = np.bincount(person, minlength=len(before))
    linked = int((sizes * (sizes - 1)).sum())
    pairs = int((before * (before - 1)).sum())
    return CountLoss(
        way,
        m,
        persons_affected=int(((left < before) | (ids > 1)).sum()),
        records_dropped=int(before.sum()) - len(person),
        ids_added=len(sizes) - len(before),
        links_lost=1 - linked / pairs if pairs else 0.0,
    )


def shared_targets(records: Ints, m: int) -> Ints:
    """Lower numbers of records so that m persons or more share each, losing fewest records.

    In descending order of their numbers, persons who share one number can be taken next to each
    other, and their number is the least of theirs; a run of 2m persons or more loses nothing by
    being cut in two. The best runs of m to 2m - 1 persons follow by dynamic programming:
    O(persons · m).

    Parameters
    ----------
    records
        Number of records of each person of a class; shape (persons,).
    m
        How many persons must share a number; at most the number of persons.

    Returns
    -------
    array
        The number that each person keeps, between 1 and ``records``; shape (persons,).
    """
    persons = len(records)
    descending = np.argsort(-records, kind="stable")
    numbers = records[descending].tolist()
    kept = [0] + [-1] * persons
    run = [0] * (persons + 1)
    for end in range(m, persons + 1):
        least = numbers[end - 1]
        for size in range(m, min(2 * m - 1, end) + 1):
            before = kept[end - size]
            if before >= 0 and before + size * least > kept[end]:
                kept[end], run[end] = before + size * least, size
    targets = np.empty(persons, dtype=np.int64)
    end = persons
    while end:
        targets[descending[end - run[end] : end]] = numbers[end - 1]
        end -= run[end]
    return targets


def targets_by_class(records: Ints, class_of_person: Integers, m: int) -> Ints:
    """`shared_targets` of every class; a class whose numbers are shared already is left alone.

    Parameters
    ----------
    records
        Number of records of each person; shape (persons,).
    class_of_person
        Class of each person; every class has at least m persons.
    m
        How many persons must share a number.
    """
    by_class = np.lexsort((records, class_of_person))
    new_class = np.diff(class_of_person[by_class], prepend=-1) != 0
    new_number = new_class | (np.diff(records[by_class], prepend=-1) != 0)
    sharing = np.diff(np.append(np.flatnonzero(new_number), len(records)))
    rare = np.repeat(sharing, sharing) < m
    starts = np.append(np.flatnonzero(new_class), len(records))
    targets = records.copy()
    for place in np.flatnonzero(np.logical_or.reduceat(rare, starts[:-1])).tolist():
        members = by_class[starts[place] : starts[place + 1]]
        targets[members] = shared_targets(records[members], m)
    return targets


def drop_records(
    table: Table,
    class_of: Codes,
    classes: int,
    m: int,
    constraints: Sequence[Constraint],
    rng: np.random.Generator,
) -> Ints:
    """The records that stay when each person of a class keeps a number that m persons keep.

    Every person keeps at least one record; which ones is drawn at random. Fewest records are
    left out, class by class. Where that breaks a promise (a person with few records weighs more
    after others lost theirs), everybody in the class keeps as many records as the person with
    fewest, which gives the class its largest g-balance; h-affiliation never rises.

    Parameters
    ----------
    class_of
        Class of each record; no person is in two classes.
    classes
        Number of classes, each of at least m persons.
    m
        How many persons must share a number.
    constraints
        The promises about every class; they hold before.

    Raises
    ------
    ConstraintsNotMetError
        If the records that stay break a promise whatever is done: too few records for k, too
        few different sensitive values for l.
    """
    records = np.bincount(table.person, minlength=table.persons)
    class_of_person = np.empty(table.persons, dtype=np.int64)
    class_of_person[table.person] = class_of
    rank = _random_ranks(table.person, rng)
    targets = targets_by_class(records, class_of_person, m)
    kept = np.flatnonzero(rank < targets[table.person])
    broken = _broken_promises(table, class_of, classes, kept, constraints)[1]
    if broken.any():
        least = np.full(classes, records.max())
        np.minimum.at(least, class_of_person, records)
        targets = np.where(broken[class_of_person], least[class_of_person], targets)
        kept = np.flatnonzero(rank < targets[table.person])
        failing, broken = _broken_promises(table, class_of, classes, kept, constraints)
        if broken.any():
            raise _not_met(failing, int(broken.sum()), classes)
    return kept


def _random_ranks(person: Codes, rng: np.random.Generator) -> Ints:
    """Place of each record in a random order of its person's records."""
    shuffled = rng.permutation(len(person))
    by_person = shuffled[np.argsort(person[shuffled], kind="stable")]
    counts = np.bincount(person)
    rank = np.empty(len(person), dtype=np.int64)
    rank[by_person] = np.arange(len(person)) - np.repeat(np.cumsum(counts) - counts, counts)
    return rank


def _broken_promises(
    table: Table,
    class_of: Codes,
    classes: int,
    kept: Ints,
    constraints: Sequence[Constraint],
) -> tuple[list[Constraint], Bools]:
    """The promises that the kept records break, and in which classes."""
    summary: ClassSummary = summarize(
        class_of[kept],
        classes,
        table.person[kept],
        {column.name: column.codes[kept] for column in table.sensitive},
        ranks=ranks_of(table, ordered_attributes(constraints, table.schema.sensitive)),
    )
    verdicts = [constraint.met(summary) for constraint in constraints]
    failing = [
        constraint for constraint, met in zip(constraints, verdicts, strict=True) if not met.all()
    ]
    return failing, ~np.logical_and.reduce([*verdicts, np.ones(classes, dtype=bool)])


def _not_met(failing: Sequence[Constraint], broken: int, classes: int) -> ConstraintsNotMetError:
    names = ", ".join(each.name for each in failing)
    failure = (
        f"{names} was kept before records were dropped for shared_counts, and is broken after by "
        f"{broken} of {classes} classes."
    )
    option = (
        "split pseudonyms instead of dropping records (coarsen_counts='split'): loses no record "
        "and breaks no other promise"
    )
    return ConstraintsNotMetError((failure,), (option,))


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
    class_of
        Class of each record; no person is in two classes.
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
    sizes = np.fromiter((size for piece in pieces for size in piece), dtype=np.int64)
    shown = np.empty(len(person), dtype=np.int32)
    shown[np.argsort(person, kind="stable")] = np.repeat(np.arange(len(sizes)), sizes)
    return shown


def pieces_of(records: Ints, m: int) -> list[tuple[int, ...]]:
    """The sizes of the pseudonyms of each person of a class; m persons of it show each size."""
    numbers = records.tolist()
    if min(Counter(numbers).values()) >= m:
        return [(number,) for number in numbers]
    targets = shared_targets(records, m).tolist()
    kinds = Counter(zip(numbers, targets, strict=True))
    # One record is always allowed, so that any number can be divided.
    allowed = {size for number, target in kinds for size in (target, number - target)} - {0} | {1}
    parts = {kind: _divide(kind, allowed) for kind in kinds}
    while broken := _broken_sizes(kinds, parts, m):
        given_up = max(broken)
        if given_up == 1:
            # Single records cannot be given up. The next larger size is divided, which brings more
            # of them.
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


def _broken_sizes(kinds: Mapping[Kind, int], parts: Mapping[Kind, Sizes], m: int) -> list[int]:
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
        # The share own/ids against 1/m and GIDR = largest/records, multiplied out, so that integers
        # compare exactly.
        if persons[size] < m or (own * m > ids[size] and own * records > largest * ids[size])
    ]
