"""A policy written as TOML, with comments for people."""

from __future__ import annotations

from typing import Any

import tomlkit
from tomlkit.items import Table

from sfumato.semantics.policy.model import Policy

_SECTIONS = {
    "roles": "Roles in which people ask.",
    "purposes": "What a linkage may be asked for.",
    "databases": "Databases: every linked tuple must match at least k of their individuals, "
    "on the\nquasi-identifiers of those that the requester's role is authenticated for.",
    "linkages": "Linkages: which databases are linked.",
    "requests": "Requests: who asks for which linkage.",
}
"""What is said above each section."""
_FIELDS = {
    "measure": "what is done to values that give others away",
    "rules": "the site's own rules, beside those of the package",
    "k": "individuals that a tuple must match at least",
    "authenticates": "roles that may read it",
}
"""What is said beside a field."""


def policy_to_dict(policy: Policy) -> dict[str, Any]:
    """The fields of a policy that differ from their defaults, as plain values.

    Parameters
    ----------
    policy
        The policy.
    """
    fields = policy.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    for database in fields.get("databases", {}).values():
        if "quasi_identifiers" in database:
            database["quasi_identifiers"] = {
                column: _short(value) for column, value in database["quasi_identifiers"].items()
            }
    return fields


def _short(value: dict[str, Any]) -> Any:
    """The hierarchy's path alone, where nothing else is said."""
    only = set(value) == {"hierarchy"} and isinstance(value["hierarchy"], str)
    return value["hierarchy"] if only else value


def policy_to_toml(policy: Policy) -> str:
    """Write a policy as TOML text with comments.

    Parameters
    ----------
    policy
        The policy.
    """
    document = tomlkit.document()
    fields = policy_to_dict(policy)
    for name in ("measure", "rules"):
        if name in fields:
            document.add(name, tomlkit.item(fields[name]).comment(_FIELDS[name]))
    for section, said in _SECTIONS.items():
        if section not in fields:
            continue
        if document.body:
            document.add(tomlkit.nl())
        for line in said.splitlines():
            document.add(tomlkit.comment(line))
        document.add(section, _section(fields[section]))
    return tomlkit.dumps(document)


def _section(entries: dict[str, Any]) -> Table:
    """A section: a line for each entry that is text, a table for each other one."""
    nested = any(isinstance(entry, dict) for entry in entries.values())
    table = tomlkit.table(is_super_table=nested)
    for name, entry in entries.items():
        table.add(name, _entry(entry) if isinstance(entry, dict) else entry)
    return table


def _entry(fields: dict[str, Any]) -> Table:
    table = tomlkit.table()
    for name, value in fields.items():
        item = _quasi_identifiers(value) if name == "quasi_identifiers" else tomlkit.item(value)
        if name in _FIELDS:
            item.comment(_FIELDS[name])
        table.add(name, item)
    return table


def _quasi_identifiers(columns: dict[str, Any]) -> Table:
    table = tomlkit.table()
    for name, value in columns.items():
        if isinstance(value, dict):
            inline = tomlkit.inline_table()
            inline.update(value)
            table.add(name, inline)
        else:
            table.add(name, value)
    return table
