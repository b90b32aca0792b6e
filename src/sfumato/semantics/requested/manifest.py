"""What repeats a release on request, as TOML; no value of the data, but its seed."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import tomlkit

from sfumato.release.release_manifest import HEADER, file_sha256, schema_sha256, versions
from sfumato.semantics.requested.ask import Asked
from sfumato.semantics.requested.hashes import policy_sha256, rules_sha256
from sfumato.semantics.requested.known import Known


def manifest_of(
    asked: Asked, known: Known, seed: int, *, keyed: bool, keep_order: bool
) -> dict[str, Any]:
    """What a release depends on, as plain values.

    Parameters
    ----------
    asked
        The request and its data.
    known
        What readers know.
    seed
        Seed of the order and the pseudonyms.
    keyed
        Whether pseudonyms were made with a key.
    keep_order
        Whether the records kept their order.
    """
    request = asked.details
    return {
        "release": {
            "seed": seed,
            "keyed_pseudonyms": keyed,
            "keep_order": keep_order,
            "schema_sha256": schema_sha256(asked.schema),
            "input_sha256": _hash(asked.data),
            "output_sha256": "",
        },
        "request": {
            "name": asked.request,
            "requester": request.requester,
            "role": request.role,
            "purpose": request.purpose or "",
            "linkage": request.linkage,
        },
        "policy": {
            "policy_sha256": policy_sha256(asked.policy),
            "rules_sha256": rules_sha256((*asked.policy.rules, *asked.rules)),
            "k": asked.k,
        },
        "databases": {
            local.name: {
                "quasi_identifiers": list(local.quasi_identifiers),
                "input_sha256": _hash(asked.local[local.name]),
            }
            for local in asked.linked.locals_
        },
        "known": {
            "associations": list(known.ids),
            "releases": list(known.releases),
        },
        "versions": versions(),
    }


def manifest_text(manifest: dict[str, Any]) -> str:
    """A manifest as TOML.

    Parameters
    ----------
    manifest
        What `manifest_of` gave.
    """
    document = tomlkit.document()
    for line in HEADER.splitlines():
        document.add(tomlkit.comment(line))
    document.update(manifest)
    return tomlkit.dumps(document)


def text_sha256(text: str) -> str:
    """Hash of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def _hash(data: Any) -> str:
    """Hash of a file; empty for a dataframe."""
    return file_sha256(Path(data)) if isinstance(data, (str, os.PathLike)) else ""
