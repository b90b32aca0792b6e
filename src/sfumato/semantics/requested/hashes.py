"""Hashes of what a release rests on: policy, rules, schema."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sfumato.release.release_manifest import file_sha256
from sfumato.schema import Schema, dump_schema
from sfumato.semantics.policy import Policy
from sfumato.semantics.rules import rule


def policy_sha256(policy: Policy) -> str:
    """Hash of what a policy says, with its files by name and not by folder.

    Parameters
    ----------
    policy
        The policy.
    """
    said = json.dumps(_plain(policy.model_dump(by_alias=True)), sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()


def rules_sha256(paths: Iterable[Path]) -> str:
    """Hash of the package's rules and a site's own, in the order in which they are read.

    Parameters
    ----------
    paths
        The site's files.
    """
    house = Path(rule.__file__).parent
    files = [*(house / name for name in rule.HOUSE_FILES), *map(Path, paths)]
    return hashlib.sha256("".join(map(file_sha256, files)).encode()).hexdigest()


def plain_schema(schema: Schema) -> str:
    """A schema as TOML, files of hierarchies without their folder.

    Parameters
    ----------
    schema
        The schema.
    """
    named = {
        name: quasi.model_copy(update={"hierarchy": Path(quasi.hierarchy.name)})
        if isinstance(quasi.hierarchy, Path)
        else quasi
        for name, quasi in schema.quasi_identifiers.items()
    }
    return dump_schema(schema.model_copy(update={"quasi_identifiers": named}))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value.name if isinstance(value, Path) else value
