"""A request for a release: who asks for what, and what that reader holds already."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Codes, Integers, Ints, Levels
from sfumato.core.chain import Head
from sfumato.core.errors import InputError
from sfumato.core.secret_keys import Secrets
from sfumato.hierarchies import ROOT, Hierarchy
from sfumato.ledger.sketches import Names
from sfumato.release.assembly import person_pseudonyms
from sfumato.release.release_manifest import file_sha256
from sfumato.release.release_result import Disclosed
from sfumato.schema import QuasiIdentifier, Schema, dump_schema
from sfumato.schema.roles import RECIPE_SOURCE
from sfumato.semantics import associations
from sfumato.semantics.linkage_anonymity import LinkageAnonymity, link_up
from sfumato.semantics.local_data import Linked, individuals_of_tuples
from sfumato.semantics.policy import errors_for, load_policy
from sfumato.semantics.policy_terms import Policy, Request
from sfumato.semantics.request_ledger import RequestLedger
from sfumato.semantics.requested_content import (
    NotedAssociation,
    Release,
    Term,
    Tuples,
    Value,
    noted,
    shown_tuples,
)
from sfumato.semantics.rules import reasoner
from sfumato.semantics.rules.derivation import Requirements, derive
from sfumato.semantics.sla import Tuples as Before
from sfumato.semantics.sla import shown_before
from sfumato.table.sources import from_numpy, is_bytes
from sfumato.table.table_files import data_sha256, open_source


def policy_sha256(policy: Policy) -> str:
    """Hash of what a policy says, with its files by name and not by folder."""
    # The order in which tables stand changes nothing of what is meant, so it leaves the hash alone.
    text = json.dumps(_plain(policy.model_dump(by_alias=True)), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def rules_sha256(paths: Iterable[Path]) -> str:
    """Hash of the package's rules and a site's own, in the order in which they are read."""
    house = Path(reasoner.__file__).parent
    files = [*(house / name for name in reasoner.HOUSE_FILES), *map(Path, paths)]
    # A hash of hashes, as with joined texts a rule could move between files unseen.
    return hashlib.sha256("".join(map(file_sha256, files)).encode()).hexdigest()


def plain_schema(schema: Schema) -> str:
    """A schema as TOML, files of hierarchies without their folder."""
    return dump_schema(schema.with_files(lambda path: Path(path.name)))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value.name if isinstance(value, Path) else value


UNNAMED = "(not named)"
"""The requester of a request that names none."""


@dataclass(frozen=True, eq=False)
class Asked:
    """A request that the rules allow, beside its data, of which k individuals match every tuple."""

    policy: Policy
    request: str
    rules: tuple[Path, ...]
    requirements: Requirements
    k: int
    linked: Linked
    schema: Schema = field(repr=False)
    data: Any = field(repr=False)
    local: Mapping[str, Any] = field(repr=False)

    @property
    def details(self) -> Request:
        """Who asks, in which role, for what."""
        return self.policy.requests[self.request]

    @property
    def requester(self) -> str:
        """Who asks, as the ledger calls them."""
        return self.details.requester or UNNAMED

    @cached_property
    def local_hashes(self) -> dict[str, str]:
        """The hash of the data of each database whose readers ask."""
        return {local.name: data_sha256(self.local[local.name]) for local in self.linked.locals_}

    def facts(self) -> dict[str, str]:
        """What is asked and by whom, as JSON values."""
        request = self.details
        return {
            "name": self.request,
            "requester": request.requester,
            "role": request.role,
            "purpose": request.purpose or "",
            "linkage": request.linkage,
        }


def ask(
    data: Any,
    schema: Schema,
    *,
    policy: Policy | str | os.PathLike[str],
    request: str,
    local: Mapping[str, Any],
    rules: Iterable[str | os.PathLike[str]] = (),
    informed: bool = False,
) -> Asked:
    """What the rules require for a request, and everything that can be refused before work.

    Parameters
    ----------
    data
        The linked records: a dataframe, or the path of a file.
    schema
        What each column of them is; hierarchies may come from the policy.
    local
        The data of each database whose readers ask, by the database's name.
    informed
        Whether those alone count towards k who would have been released with the same tuple.
    """
    chosen = policy if isinstance(policy, Policy) else load_policy(policy)
    files = tuple(Path(path) for path in rules)
    # The rules first: they refuse a request that is not there, of which `errors_for` finds nothing.
    requirements = derive(chosen, request, rules=files)
    errors = errors_for(chosen, request)
    if errors:
        raise InputError(
            f"request '{request}'",
            "must not meet an error in its policy",
            found=" ".join(map(str, errors)),
            advice="see 'sfumato policy check'",
        )
    k = requirements.require_allowed()
    _check_local(chosen, requirements, local)
    declared = _with_hierarchies(schema, chosen, requirements)
    columns = _columns(data, declared, requirements)
    wanted = [
        LinkageAnonymity(local[name], k, names, name=name, informed=informed)
        for name, names in columns.items()
    ]
    linked = link_up(data, declared, wanted)
    # Local data of a database whose readers do not ask bounds nothing, so it is left out.
    used = {name: local[name] for name in columns}
    return Asked(chosen, request, files, requirements, k, linked, declared, data, used)


def _check_local(policy: Policy, requirements: Requirements, local: Mapping[str, Any]) -> None:
    """Refuse local data that is missing, or of no database of the linkage."""
    lacking = [name for name in requirements.quasi_identifiers if name not in local]
    if lacking:
        raise InputError(
            f"request '{requirements.request}'",
            "needs the local data of every database that authenticates its role",
            found="none of " + ", ".join(f"'{name}'" for name in lacking),
            advice="give it with --local NAME=FILE",
        )
    members = policy.linkages[requirements.linkage].from_
    for name in local:
        if name not in members:
            raise InputError(
                f"local data '{name}'",
                f"must be that of a database of linkage '{requirements.linkage}'",
                accepted=", ".join(members),
            )


def _with_hierarchies(schema: Schema, policy: Policy, requirements: Requirements) -> Schema:
    """The schema with the hierarchies and weights that the policy gives."""
    quasis = dict(schema.quasi_identifiers)
    for database, names in requirements.quasi_identifiers.items():
        for name in names:
            if name in quasis:
                given = policy.databases[database].quasi_identifiers[name]
                quasis[name] = _with_hierarchy(name, quasis[name], given)
    return schema.model_copy(update={"quasi_identifiers": quasis})


def _with_hierarchy(name: str, quasi: QuasiIdentifier, given: Any) -> QuasiIdentifier:
    one, other = quasi.hierarchy, given.hierarchy
    if isinstance(one, Path) and isinstance(other, Path):
        # Schema and policy may lie in different folders and lead to one file by different paths.
        same = one.resolve() == other.resolve()
    else:
        same = one is None or other is None or one == other
    if not same:
        raise InputError(
            f"quasi-identifier '{name}'",
            "must have the same hierarchy in the schema and in the policy",
            advice="leave it out of the schema",
        )
    # A policy that says nothing of weight must not replace the schema's by its default.
    weight = {"weight": given.weight} if "weight" in given.model_fields_set else {}
    return quasi.model_copy(update={"hierarchy": other if one is None else one, **weight})


def _columns(data: Any, schema: Schema, requirements: Requirements) -> dict[str, tuple[str, ...]]:
    """The quasi-identifiers of each database that the release will show.

    One that the linked file does not have, or that is left out as a direct identifier, tells
    its reader nothing.
    """
    hidden = {*schema.direct_identifiers, *schema.roles().get(RECIPE_SOURCE, ())}
    shown = {*open_source(data).names, *schema.derived()} - hidden
    columns = {
        database: tuple(name for name in names if name in shown)
        for database, names in requirements.quasi_identifiers.items()
    }
    for names in columns.values():
        for name in names:
            if name not in schema.quasi_identifiers:
                raise InputError(
                    f"column '{name}'",
                    "must be a quasi-identifier in the schema, as the rules require",
                    found="a column of another kind",
                )
    columns = {database: names for database, names in columns.items() if names}
    if not columns:
        raise InputError(
            "the linked data",
            "must have a quasi-identifier that the rules require",
            accepted=", ".join(requirements.linkage_qis),
        )
    return columns


Ids = list[str] | list[bytes]


@dataclass(frozen=True, eq=False)
class Known:
    """What the ledger tells about the readers of a release.

    Attributes
    ----------
    accepted
        Those that readers are taken to know and that speak about the release's values; last those
        whose condition everybody in the data meets, as a condition on a root.
    ids
        The id of each of ``accepted`` in the ledger.
    unfollowed
        Numbers of earlier releases whose persons nobody can follow and that the custodian says are
        of other people: nothing is claimed about these.
    head
        The ledger's last entry when it was read.
    linked
        The linked tuples; those of persons to whom earlier releases showed different tuples are
        told apart.
    """

    noted: tuple[NotedAssociation, ...] = ()
    accepted: tuple[associations.Association, ...] = ()
    ids: tuple[str, ...] = ()
    decided: associations.Associations = field(default_factory=associations.Associations)
    releases: tuple[int, ...] = ()
    linkages: frozenset[str] = frozenset()
    unfollowed: tuple[int, ...] = ()
    head: Head | None = None
    linked: Linked | None = field(default=None, repr=False)
    earlier: tuple[Before, ...] = field(default=(), repr=False)


def known_from(ledger: RequestLedger, asked: Asked) -> Known:
    """What the readers of a new release know from the ledger.

    These are the readers of all earlier releases of its persons, whatever they are called, but for
    those who the custodian says share nothing, taken as one.
    """
    linked = asked.linked
    hierarchies = linked.hierarchy_of
    # Read first: an entry that is added while the rest is read then shows as another head.
    head = ledger.head()
    noted = tuple(ledger.associations())
    decided = [
        (each, association)
        for each in noted
        if each.state is not associations.State.PROPOSED
        and (association := _in_terms_of(each, hierarchies)) is not None
    ]
    accepted = sorted(
        (pair for pair in decided if pair[0].state is associations.State.ACCEPTED),
        # The rules get all but those on a root, so with these last the numbers of the others agree.
        key=lambda pair: is_always(pair[1], hierarchies),
    )
    releases = [
        release
        for release in ledger.releases()
        if ledger.may_share(asked.requester, release.requester)
    ]
    rows, earlier, followed = _followed(ledger, releases, asked)
    named = linked.table.schema.person is not None
    return Known(
        noted,
        tuple(association for _, association in accepted),
        tuple(each.id for each, _ in accepted),
        associations.Associations(
            tuple(one for _, one in decided if not is_always(one, hierarchies))
        ),
        tuple(each.number for each in followed),
        frozenset(each.linkage for each in followed),
        tuple(release.number for release in releases if not (release.digests and named)),
        head,
        rows,
        earlier,
    )


def person_ids(linked: Linked) -> Ids | None:
    """The identifier of each linked person, by number; ``None`` without a person column."""
    table = linked.table
    if table.schema.person is None:
        return None
    _, first = np.unique(table.person, return_index=True)
    ids = table.source.column(table.schema.person).take(from_numpy(first))
    if not is_bytes(ids.type):
        ids = pc.cast(ids, pa.string())
    persons: Ids = ids.to_pylist()
    return persons


def _in_terms_of(
    noted: NotedAssociation, hierarchies: Mapping[str, Hierarchy]
) -> associations.Association | None:
    """An association in the release's hierarchies; ``None`` where it tells nothing there.

    The hierarchies hold the values of the linked and the local data. A condition with another
    value is met by no tuple, and a conclusion with one by no individual; a condition that
    everybody meets is none, and where no other is left a reader always concludes the rest.
    """
    terms = (*noted.antecedent, noted.consequent)
    if not all(_is_there(term, hierarchies) for term in terms):
        return None
    found = noted.known(hierarchies)
    if _is_everybody(found.consequent, hierarchies):
        return None
    left = tuple(item for item in found.antecedent if not _is_everybody(item, hierarchies))
    if not left and noted.state is associations.State.ACCEPTED:
        first = found.antecedent[0].attribute
        # An association needs a condition, and a root is one that everybody meets.
        left = (associations.Item(first, hierarchies[first].height, 0),)
    return replace(found, antecedent=left) if left else None


def is_always(association: associations.Association, hierarchies: Mapping[str, Hierarchy]) -> bool:
    """Whether everybody meets the condition, because it is on a root."""
    return all(item.level == hierarchies[item.attribute].height for item in association.antecedent)


def _is_there(term: Term, hierarchies: Mapping[str, Hierarchy]) -> bool:
    hierarchy = hierarchies.get(term.attribute)
    if hierarchy is None or not 0 <= term.level <= hierarchy.height:
        return False
    return term.label in hierarchy.labels[term.level]


def _is_everybody(item: associations.Item, hierarchies: Mapping[str, Hierarchy]) -> bool:
    hierarchy = hierarchies[item.attribute]
    return bool((hierarchy.ancestors[item.level] == item.label).all())


def _followed(
    ledger: RequestLedger, releases: Sequence[Release], asked: Asked
) -> tuple[Linked, tuple[Before, ...], list[Release]]:
    """The linked tuples told apart by what earlier releases showed of their persons.

    With the releases that showed any of them.
    """
    linked, hierarchies = asked.linked, asked.linked.hierarchy_of
    if not releases:
        return linked, (), []
    # Persons are recognised by their columns alone, so the classes may be anything here.
    now = disclosed(linked, np.zeros(linked.table.records, dtype=np.int64), Secrets())
    # Asked before ids are looked for, since this refuses releases whose persons cannot be followed.
    pairs = [(release, *ledger.follow(now, release.number)) for release in releases]
    ids = person_ids(linked)
    if ids is None:
        return linked, (), []
    digests = ledger.person_digests(ids)
    columns: list[Ints] = []
    shown, having = [], []
    for release, mine, theirs in pairs:
        tuples = ledger.tuples(release.number)
        # Where ids were rewritten, the earlier release knows a person by another digest.
        alias, order = digests.copy(), np.argsort(digests)
        alias[order[np.searchsorted(digests, mine, sorter=order)]] = theirs
        found = _tuples_of(ledger, release.number, alias)
        if found:
            used = np.unique(np.concatenate(found))
            same = release.local_hashes == asked.local_hashes
            _check_readable(release, tuples, used[used >= 0], hierarchies, same=same)
            having.append(release)
        for column in found:
            columns.append(column)
            shown.append(_in_present(tuples, hierarchies))
    if not columns:
        return linked, (), []
    person = linked.table.person
    # Persons of one tuple to whom different tuples were shown may need different levels.
    table = np.column_stack([linked.tuple_of, *(column[person] for column in columns)])
    distinct, row_of = np.unique(table, axis=0, return_inverse=True)
    row_of = row_of.reshape(-1)
    rows = replace(
        linked,
        codes=np.asfortranarray(linked.codes[distinct[:, 0]]),
        tuple_of=row_of,
        individuals=individuals_of_tuples(row_of, linked.table, len(distinct)),
    )
    earlier = tuple(
        shown_before(each, distinct[:, place], hierarchies) for place, each in enumerate(shown, 1)
    )
    return rows, earlier, having


def _check_readable(
    release: Release,
    tuples: Tuples,
    used: Ints,
    hierarchies: Mapping[str, Hierarchy],
    *,
    same: bool,
) -> None:
    """Refuse a release without a column or label that an earlier one has shown of its persons.

    Of other local data, which the custodian has granted, nobody may have that label any more.
    """
    for place, (name, values) in enumerate(zip(tuples.attributes, tuples.values, strict=True)):
        if name in hierarchies and not same:
            continue
        shown = [values[code] for code in np.unique(tuples.codes[used, place]) if code >= 0]
        lost = [each for each in shown if each.label != ROOT]
        lost = [each for each in lost if not _is_there(Term(name, *each), hierarchies)]
        if lost:
            raise InputError(
                f"attribute '{name}'",
                f"must be generalised as in release {release.number}, which has shown it of the "
                "same people",
                found="a code list without its labels"
                if name in hierarchies
                else "no quasi-identifier of that name",
                advice="keep it in the linked data and the policy, with its code list: what both "
                "releases show is intersected then",
            )


def disclosed(linked: Linked, class_of: Integers, secrets: Secrets) -> Disclosed:
    """What a release on request shows, beside who it shows it of.

    A person's class is all of the person's tuples as they are shown.
    """
    table = linked.table
    # The marks come from the secret: who knows the tuples must not number the classes.
    marks = 1 + secrets.own.stream("classes").below(1 << 62, int(class_of.max(initial=0)) + 1)
    classes = classes_of_people(table.person, class_of, marks)
    pseudonyms = person_pseudonyms(table, secrets)
    return Disclosed(table, classes, {}, pseudonyms, table.person)


def classes_of_people(person: Integers, tuple_of: Integers, marks: Ints) -> Ints:
    """The class of each record, where a person's class is all of the person's tuples.

    Sums of random marks of tuples tell sets apart, whatever the order of a person's records.
    """
    pairs = np.unique(np.column_stack([person, tuple_of]), axis=0)
    sums = np.zeros(int(person.max(initial=-1)) + 1, dtype=np.int64)
    np.add.at(sums, pairs[:, 0], marks[pairs[:, 1]])
    classes: Ints = np.unique(sums, return_inverse=True)[1][person]
    return classes


def _tuples_of(ledger: RequestLedger, number: int, persons: Names) -> list[Ints]:
    """The first tuple of each person in an earlier release, the second, ...; -1 for none."""
    digests = ledger.digests(number)
    if digests is None:
        return []
    index, tuples = digests.tuples_of(persons)
    starts = np.searchsorted(index, index, side="left")
    rank = np.arange(len(index)) - starts
    columns = []
    # Each further tuple of a person is held against the new one as if another release had shown it.
    for place in range(int(rank.max(initial=-1)) + 1):
        column = np.full(len(persons), -1, dtype=np.int64)
        column[index[rank == place]] = tuples[rank == place]
        columns.append(column)
    return columns


def _in_present(tuples: Tuples, hierarchies: Mapping[str, Hierarchy]) -> associations.Shown:
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


@dataclass(frozen=True)
class Mining:
    """From when on an association is proposed to the custodian.

    Attributes
    ----------
    support
        The least share of individuals who show the condition.
    confidence
        The least share of these who show the conclusion too.
    """

    # A choice. What these let through the custodian still has to accept.
    support: float = 0.01
    confidence: float = 0.9
    length: int = associations.LENGTH


def tuples_of(linked: Linked, levels: Levels) -> tuple[Tuples, Codes]:
    """The distinct tuples at their levels with their individuals, and the one of each record.

    The levels have shape (tuples, QIs).
    """
    return shown_tuples(
        linked.hierarchy_of,
        linked.codes[linked.tuple_of],
        levels[linked.tuple_of],
        persons=linked.table.person,
    )


def found_in(
    linked: Linked, tuples: Tuples, known: Known, mining: Mining
) -> tuple[NotedAssociation, ...]:
    """The associations that a release tells and that nobody decided on."""
    mined = associations.mine(
        [tuples.shown(linked.hierarchy_of)],
        support=mining.support,
        confidence=mining.confidence,
        length=mining.length,
        earlier=known.decided,
    )
    return tuple(
        noted(association, linked.hierarchy_of)
        for association in mined.of_state(associations.State.PROPOSED)
    )
