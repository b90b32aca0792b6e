"""What the readers of earlier releases know: accepted associations, and what was shown of whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.chain import Head
from sfumato.core.errors import InputError
from sfumato.hierarchies import Hierarchy
from sfumato.semantics.associations import Association, Associations, Item, Shown
from sfumato.semantics.associations.association import State
from sfumato.semantics.ledger.associations import NotedAssociation, Term
from sfumato.semantics.ledger.digests import Names
from sfumato.semantics.ledger.entries import Release
from sfumato.semantics.ledger.ledger import Ledger
from sfumato.semantics.ledger.tuples import Tuples, Value
from sfumato.semantics.linkage_anonymity import Linked
from sfumato.semantics.sla import shown_before
from sfumato.semantics.sla.between import Tuples as Before
from sfumato.table.sources import from_numpy, is_bytes

Ids = list[str] | list[bytes]


@dataclass(frozen=True, eq=False)
class Known:
    """What the ledger tells about the readers of a release.

    Attributes
    ----------
    noted
        All associations of the ledger, with what was decided on them.
    accepted
        Those that readers are taken to know and that speak about the release's values.
    ids
        The id of each of ``accepted`` in the ledger.
    decided
        Those decided on that speak about the release's values, for mining.
    releases
        Numbers of the earlier releases that the new one is intersected with.
    unfollowed
        Numbers of earlier releases without digests: nothing is claimed about these.
    head
        The ledger's last entry when it was read.
    linked
        The linked tuples; those of persons to whom earlier releases showed different tuples are
        told apart.
    earlier
        What each earlier release showed of each tuple.
    """

    noted: tuple[NotedAssociation, ...] = ()
    accepted: tuple[Association, ...] = ()
    ids: tuple[str, ...] = ()
    decided: Associations = field(default_factory=Associations)
    releases: tuple[int, ...] = ()
    unfollowed: tuple[int, ...] = ()
    head: Head | None = None
    linked: Linked | None = field(default=None, repr=False)
    earlier: tuple[Before, ...] = field(default=(), repr=False)


def known_from(ledger: Ledger, linked: Linked, linkage: str, requester: str) -> Known:
    """What the readers of a new release know from the ledger.

    These are the readers of all earlier releases of the same linkage or to the same requester,
    taken as one.

    Parameters
    ----------
    ledger
        The ledger.
    linked
        The linked tuples.
    linkage, requester
        What is asked for, and who asks.

    Raises
    ------
    InputError
        If the ledger was changed, lacks its key of persons, or holds an accepted association
        with a condition that everybody in the data meets.
    """
    hierarchies = dict(zip(linked.quasi_identifiers, linked.hierarchies, strict=True))
    head = ledger.head()
    noted = tuple(ledger.associations())
    decided = [
        (each, association)
        for each in noted
        if each.state is not State.PROPOSED
        and (association := _in_terms_of(each, hierarchies)) is not None
    ]
    accepted = [pair for pair in decided if pair[0].state is State.ACCEPTED]
    releases = [
        each
        for each in ledger.releases()
        if each.linkage == linkage or (requester and each.requester == requester)
    ]
    followed = [each for each in releases if each.digests and linked.table.schema.person]
    rows, earlier = _followed(ledger, followed, linked, hierarchies)
    return Known(
        noted,
        tuple(association for _, association in accepted),
        tuple(each.id for each, _ in accepted),
        Associations(tuple(association for _, association in decided)),
        tuple(each.number for each in followed),
        tuple(each.number for each in releases if each not in followed),
        head,
        rows,
        earlier,
    )


def person_ids(linked: Linked) -> Ids | None:
    """The identifier of each linked person, by number; ``None`` without a person column.

    Parameters
    ----------
    linked
        The linked tuples.
    """
    table = linked.table
    if table.schema.person is None:
        return None
    _, first = np.unique(table.person, return_index=True)
    ids = table.source.column(table.schema.person).take(from_numpy(first))
    if not is_bytes(ids.type):
        ids = pc.cast(ids, pa.string())
    found: Ids = ids.to_pylist()
    return found


def _in_terms_of(
    noted: NotedAssociation, hierarchies: Mapping[str, Hierarchy]
) -> Association | None:
    """An association in the release's hierarchies; ``None`` where it tells nothing there.

    The hierarchies hold the values of the linked and the local data. A condition with another
    value is met by no tuple, and a conclusion with one by no individual; a condition that
    everybody meets is none.
    """
    terms = (*noted.antecedent, noted.consequent)
    if not all(_is_there(term, hierarchies) for term in terms):
        return None
    found = noted.known(hierarchies)
    if _is_everybody(found.consequent, hierarchies):
        return None
    left = tuple(item for item in found.antecedent if not _is_everybody(item, hierarchies))
    if not left and noted.state is State.ACCEPTED:
        raise InputError(
            f"association {noted.id}",
            "must have a condition that not everybody in the data meets",
            advice="reject it with 'sfumato ledger associations reject', and say why",
        )
    return replace(found, antecedent=left) if left else None


def _is_there(term: Term, hierarchies: Mapping[str, Hierarchy]) -> bool:
    hierarchy = hierarchies.get(term.attribute)
    if hierarchy is None or not 0 <= term.level <= hierarchy.height:
        return False
    return term.label in hierarchy.labels[term.level]


def _is_everybody(item: Item, hierarchies: Mapping[str, Hierarchy]) -> bool:
    hierarchy = hierarchies[item.attribute]
    return bool((hierarchy.ancestors[item.level] == item.label).all())


def _followed(
    ledger: Ledger,
    releases: Sequence[Release],
    linked: Linked,
    hierarchies: Mapping[str, Hierarchy],
) -> tuple[Linked, tuple[Before, ...]]:
    """The linked tuples told apart by what earlier releases showed of their persons."""
    ids = person_ids(linked) if releases else None
    if ids is None:
        return linked, ()
    digests = ledger.person_digests(ids)
    columns: list[npt.NDArray[np.int64]] = []
    shown = []
    for release in releases:
        tuples = ledger.tuples(release.number)
        for column in _tuples_of(ledger, release.number, digests):
            columns.append(column)
            shown.append(_in_present(tuples, hierarchies))
    if not columns:
        return linked, ()
    person = linked.table.person
    table = np.column_stack([linked.tuple_of, *(column[person] for column in columns)])
    distinct, row_of = np.unique(table, axis=0, return_inverse=True)
    row_of = row_of.reshape(-1)
    pairs = np.unique(row_of * np.int64(linked.table.persons) + person)
    rows = replace(
        linked,
        codes=np.asfortranarray(linked.codes[distinct[:, 0]]),
        tuple_of=row_of,
        individuals=np.bincount(pairs // linked.table.persons, minlength=len(distinct)),
    )
    earlier = tuple(
        shown_before(each, distinct[:, place], hierarchies) for place, each in enumerate(shown, 1)
    )
    return rows, earlier


def _tuples_of(ledger: Ledger, number: int, persons: Names) -> list[npt.NDArray[np.int64]]:
    """The first tuple of each person in an earlier release, the second, ...; -1 for none."""
    found = ledger.digests(number)
    if found is None:
        return []
    index, tuples = found.tuples_of(persons)
    starts = np.searchsorted(index, index, side="left")
    rank = np.arange(len(index)) - starts
    columns = []
    for place in range(int(rank.max(initial=-1)) + 1):
        column = np.full(len(persons), -1, dtype=np.int64)
        column[index[rank == place]] = tuples[rank == place]
        columns.append(column)
    return columns


def _in_present(tuples: Tuples, hierarchies: Mapping[str, Hierarchy]) -> Shown:
    """The tuples of an earlier release on the attributes that this one has, too.

    A value that nobody in the data has any more tells nothing about them: the root instead.
    """
    places = [place for place, name in enumerate(tuples.attributes) if name in hierarchies]
    names = tuple(tuples.attributes[place] for place in places)
    values = tuple(
        tuple(_or_root(name, value, hierarchies) for value in tuples.values[place])
        for name, place in zip(names, places, strict=True)
    )
    return Tuples(names, values, tuples.codes[:, places], tuples.counts).shown(hierarchies)


def _or_root(name: str, value: Value, hierarchies: Mapping[str, Hierarchy]) -> Value:
    if _is_there(Term(name, *value), hierarchies):
        return value
    return Value(hierarchies[name].height, hierarchies[name].labels[-1][0])
