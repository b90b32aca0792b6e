"""What a request requires by the rules, and the data that it is about, checked before work."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sfumato.core.errors import InputError
from sfumato.schema import QuasiIdentifier, Schema
from sfumato.schema.roles import RECIPE_SOURCE
from sfumato.semantics.linkage_anonymity import LinkageAnonymity, Linked, link_up
from sfumato.semantics.policy import Policy, Request, load_policy
from sfumato.semantics.policy.check import errors_for
from sfumato.semantics.rules import Requirements, derive
from sfumato.table.table_files import open_source


@dataclass(frozen=True, eq=False)
class Asked:
    """A request that the rules allow, beside the data that it is about.

    Attributes
    ----------
    policy
        The policy.
    request
        The request's name.
    rules
        More files with a site's rules, beside those of the policy.
    requirements
        What the rules require.
    k
        Individuals of each local data set that every tuple must match.
    linked
        The linked tuples beside the local data sets.
    schema
        What each column is, with the policy's hierarchies.
    data, local
        The linked data, and that of each database whose readers ask.
    """

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


def ask(
    data: Any,
    schema: Schema,
    *,
    policy: Policy | str | os.PathLike[str],
    request: str,
    local: Mapping[str, Any],
    rules: Iterable[str | os.PathLike[str]] = (),
) -> Asked:
    """What the rules require for a request, and everything that can be refused before work.

    Parameters
    ----------
    data
        The linked records: a dataframe, or the path of a file.
    schema
        What each column of them is; hierarchies may come from the policy.
    policy
        The policy, its paths located, or its file.
    request
        The request's name.
    local
        The data of each database whose readers ask, by the database's name.
    rules
        More files with a site's rules.

    Raises
    ------
    InputError
        If the request, its role or something else is not in the policy, the rules refuse it,
        local data of a database is missing, or as `link_up`.
    """
    known = policy if isinstance(policy, Policy) else load_policy(policy)
    files = tuple(Path(path) for path in rules)
    requirements = derive(known, request, rules=files)
    found = errors_for(known, request)
    if found:
        raise InputError(
            f"request '{request}'",
            "must not meet an error in its policy",
            found=" ".join(map(str, found)),
            advice="see 'sfumato policy check'",
        )
    k = requirements.require_allowed()
    _check_local(known, requirements, local)
    declared = _with_hierarchies(schema, known, requirements)
    columns = _columns(data, declared, requirements)
    wanted = [LinkageAnonymity(local[name], k, names, name=name) for name, names in columns.items()]
    linked = link_up(data, declared, wanted)
    used = {name: local[name] for name in columns}
    return Asked(known, request, files, requirements, k, linked, declared, data, used)


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
        same = one.resolve() == other.resolve()
    else:
        same = one is None or other is None or one == other
    if not same:
        raise InputError(
            f"quasi-identifier '{name}'",
            "must have the same hierarchy in the schema and in the policy",
            advice="leave it out of the schema",
        )
    said = {"weight": given.weight} if "weight" in given.model_fields_set else {}
    return quasi.model_copy(update={"hierarchy": other if one is None else one, **said})


def _columns(data: Any, schema: Schema, requirements: Requirements) -> dict[str, tuple[str, ...]]:
    """The quasi-identifiers of each database that the release will show.

    One that the linked file does not have, or that is left out as a direct identifier, tells
    its reader nothing.
    """
    hidden = {*schema.direct_identifiers, *schema.roles().get(RECIPE_SOURCE, ())}
    shown = {*open_source(data).names, *schema.derived()} - hidden
    found = {
        database: tuple(name for name in names if name in shown)
        for database, names in requirements.quasi_identifiers.items()
    }
    for names in found.values():
        for name in names:
            if name not in schema.quasi_identifiers:
                raise InputError(
                    f"column '{name}'",
                    "must be a quasi-identifier in the schema, as the rules require",
                    found="a column of another kind",
                )
    found = {database: names for database, names in found.items() if names}
    if not found:
        raise InputError(
            "the linked data",
            "must have a quasi-identifier that the rules require",
            accepted=", ".join(requirements.linkage_qis),
        )
    return found
