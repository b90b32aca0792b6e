"""A policy read and checked."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path

from sfumato.core.toml_text import parse_toml, read_text
from sfumato.semantics.policy_terms import Policy


class Severity(StrEnum):
    """What a finding means for those who ask."""

    ERROR = "error"
    """Nothing can be released under it."""
    WARNING = "warning"
    """It can, but somebody should look."""


@dataclass(frozen=True)
class Finding:
    """One contradiction or gap, and where it is: ``"request 'diabetes'"``."""

    severity: Severity
    where: str
    says: str
    advice: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.says}." + (f" {self.advice}." if self.advice else "")


Findings = Iterator[Finding]


def check_policy(policy: Policy) -> tuple[Finding, ...]:
    """Everything in a policy that contradicts itself or is left open; errors first.

    The files that it names are looked for.
    """
    checks: tuple[Callable[[Policy], Findings], ...] = (
        _nothing,
        _databases,
        _hierarchies,
        _linkages,
        _requests,
        _unused,
    )
    findings = [finding for check in checks for finding in check(policy)]
    # The sort is stable, so that findings of one kind stay in the order of the checks.
    return tuple(sorted(findings, key=lambda finding: finding.severity is Severity.WARNING))


def errors_for(policy: Policy, request: str) -> tuple[Finding, ...]:
    """The errors that concern one request, its linkage, a linked database, or the whole policy."""
    about = {"policy", f"request '{request}'"}
    asked = policy.requests.get(request)
    if asked is not None:
        about.add(f"linkage '{asked.linkage}'")
        linkage = policy.linkages.get(asked.linkage)
        names = () if linkage is None else linkage.from_
        about |= {f"database '{name}'" for name in names}
        # Where databases contradict each other about a column, the finding names the column alone.
        about |= {
            f"quasi-identifier '{column}'"
            for name in names
            if name in policy.databases
            for column in policy.databases[name].quasi_identifiers
        }
    return tuple(
        finding
        for finding in check_policy(policy)
        if finding.severity is Severity.ERROR and finding.where in about
    )


def _error(where: str, says: str, advice: str = "") -> Finding:
    return Finding(Severity.ERROR, where, says, advice)


def _warning(where: str, says: str, advice: str = "") -> Finding:
    return Finding(Severity.WARNING, where, says, advice)


def _unknown(where: str, kind: str, name: str, known: Iterable[str]) -> Finding:
    names = list(known)
    # Another case is a frequent slip, which by itself must not make a name look far away.
    folded = {name.casefold(): name for name in names}
    near = get_close_matches(name.casefold(), folded, n=1)
    advice = f"Perhaps '{folded[near[0]]}' is meant" if near else f"Add the {kind}"
    return _error(where, f"{kind} '{name}' is not in the policy", advice)


def _nothing(policy: Policy) -> Findings:
    for section in ("databases", "linkages", "requests"):
        if not getattr(policy, section):
            yield _warning("policy", f"it has no {section}")


def _databases(policy: Policy) -> Findings:
    for name, database in policy.databases.items():
        where = f"database '{name}'"
        if database.k is None:
            yield _error(where, "it has no k", "Say how many people a tuple must match")
        # Somebody is always matched by themselves, so a k of 1 holds for everything.
        elif database.k == 1:
            yield _warning(where, "its k is 1, which hides no person", "Ask for 2 or more")
        if not database.quasi_identifiers:
            if database.authenticates:
                yield _error(
                    where,
                    "it has no quasi-identifiers, so nothing would be generalised for the roles "
                    "that it authenticates",
                    "Name what these roles know about a person",
                )
            else:
                yield _warning(where, "it has no quasi-identifiers")
        for role in database.authenticates:
            if role not in policy.roles:
                yield _unknown(where, "role", role, policy.roles)
        for purpose in database.purposes or ():
            if purpose not in policy.purposes:
                yield _unknown(where, "purpose", purpose, policy.purposes)
        if database.purposes == ():
            yield _warning(where, "it may be linked for no purpose at all")


def _hierarchies(policy: Policy) -> Findings:
    first: dict[str, str] = {}
    for name, database in policy.databases.items():
        for column, qi in database.quasi_identifiers.items():
            where = f"database '{name}'"
            if qi.hierarchy is None:
                yield _error(
                    where,
                    f"quasi-identifier '{column}' has no hierarchy",
                    "Without one it cannot be generalised",
                )
            elif isinstance(qi.hierarchy, Path) and not qi.hierarchy.is_file():
                yield _error(where, f"the hierarchy's file of '{column}' is not there")
            # A linkage generalises a column once for all its databases,
            # so they must mean the same by it.
            other = first.setdefault(column, name)
            known = policy.databases[other].quasi_identifiers[column]
            # That it is missing has been said above, and nothing can be compared with it.
            if qi.hierarchy is None or known.hierarchy is None:
                continue
            if qi.hierarchy != known.hierarchy:
                yield _error(
                    f"quasi-identifier '{column}'",
                    f"databases '{other}' and '{name}' give it different hierarchies",
                    "Give both the same one, or give the two columns different names",
                )
            if qi.weight != known.weight:
                yield _error(
                    f"quasi-identifier '{column}'",
                    f"databases '{other}' and '{name}' give it different weights",
                )


def _linkages(policy: Policy) -> Findings:
    for name, linkage in policy.linkages.items():
        where = f"linkage '{name}'"
        for database in linkage.from_:
            if database not in policy.databases:
                yield _unknown(where, "database", database, policy.databases)
        if not linkage.from_:
            yield _error(where, "it links no database")
        elif len(linkage.from_) == 1:
            yield _warning(where, "it links one database only")


def _requests(policy: Policy) -> Findings:
    for name, request in policy.requests.items():
        where = f"request '{name}'"
        if request.role not in policy.roles:
            yield _unknown(where, "role", request.role, policy.roles)
        if request.purpose is None:
            if policy.purposes:
                yield _error(where, "it does not say for what purpose", "Name one of the policy's")
        elif request.purpose not in policy.purposes:
            yield _unknown(where, "purpose", request.purpose, policy.purposes)
        if not request.requester:
            yield _warning(where, "it does not say who asks")
        # Purposes and roles are checked against its databases,
        # so without it nothing more can be said.
        linkage = policy.linkages.get(request.linkage)
        if linkage is None:
            yield _unknown(where, "linkage", request.linkage, policy.linkages)
            continue
        linked = {
            database: policy.databases[database]
            for database in linkage.from_
            if database in policy.databases
        }
        if not any(request.role in database.authenticates for database in linked.values()):
            yield _error(
                where,
                f"none of the databases of linkage '{request.linkage}' authenticates role "
                f"'{request.role}'",
                "Its requester's quasi-identifiers are unknown, so nothing can be released",
            )
        for each, database in linked.items():
            if database.purposes is not None and request.purpose not in database.purposes:
                yield _error(where, f"database '{each}' may not be linked for its purpose")


def _unused(policy: Policy) -> Findings:
    authenticated = {
        role for database in policy.databases.values() for role in database.authenticates
    }
    linked = {name for linkage in policy.linkages.values() for name in linkage.from_}
    asked = {request.linkage for request in policy.requests.values()}
    for role in policy.roles:
        if role not in authenticated:
            yield _warning(f"role '{role}'", "no database authenticates it")
    for name in policy.databases:
        if name not in linked:
            yield _warning(f"database '{name}'", "no linkage links it")
    for name, linkage in policy.linkages.items():
        if name not in asked:
            yield _warning(f"linkage '{name}'", "no request asks for it")
        roles = {
            role
            for database in linkage.from_
            if database in policy.databases
            for role in policy.databases[database].authenticates
        }
        if not roles:
            yield _warning(f"linkage '{name}'", "none of its databases authenticates anybody")
    for path in policy.rules:
        if not path.is_file():
            yield _error("policy", f"the rules' file {path.name} is not there")


def load_policy(path: str | os.PathLike[str]) -> Policy:
    """Read a policy from a TOML file; paths in it are joined to the file's folder."""
    file = Path(path)
    subject = f"policy file {file.name}"
    policy = Policy(**parse_toml(read_text(file, subject), subject))
    return located(policy, file.parent)


def located(policy: Policy, folder: Path) -> Policy:
    """The policy with its paths joined to a folder."""
    databases = {
        name: database.model_copy(
            update={
                "quasi_identifiers": {
                    column: qi.model_copy(update={"hierarchy": folder / qi.hierarchy})
                    if isinstance(qi.hierarchy, Path)
                    else qi
                    for column, qi in database.quasi_identifiers.items()
                }
            }
        )
        for name, database in policy.databases.items()
    }
    rules = tuple(folder / path for path in policy.rules)
    return policy.model_copy(update={"databases": databases, "rules": rules})
