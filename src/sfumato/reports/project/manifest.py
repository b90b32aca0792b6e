"""What repeats the project, and what proves which release a report is about."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sfumato.reports.project.discretion import Internal
from sfumato.reports.project.results import RELEASE, ProjectResults

_TOLD = ("sfumato", "python", "numpy", "pyarrow")


def manifest_of(results: ProjectResults, show: Internal) -> dict[str, Any]:
    """Stages, hashes, seed and versions; outside, the hash of the release and versions alone.

    Parameters
    ----------
    results
        What the project found.
    show
        How numbers are told.
    """
    released = results.measured(RELEASE).get("manifest", {})
    record = results.stages[RELEASE].record
    told: dict[str, Any] = {
        "release_sha256": released.get("release", {}).get("output_sha256") or None,
        "versions": {
            name: version for name, version in record.get("versions", {}).items() if name in _TOLD
        },
        "stages": [],
        "inputs": [],
        "release": [],
        "warnings": [],
    }
    if show.is_public:
        return told
    return told | {
        "stages": [_stage(name, each.record) for name, each in results.stages.items()],
        "inputs": _inputs(results),
        "release": _flat(released),
        "warnings": _warnings(results),
    }


def _stage(name: str, record: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "stage": name,
        "said": record.get("said", ""),
        "finished": record.get("finished"),
        "seconds": record.get("seconds"),
        "seed": record.get("seed"),
        "key": record.get("key"),
    }


def _inputs(results: ProjectResults) -> list[dict[str, str]]:
    """Files of the project, by what its file calls them; outputs of stages are left out."""
    found = {
        name: sha256
        for each in results.stages.values()
        for name, sha256 in each.record.get("inputs", {}).items()
        if "/" not in name
    }
    return [{"name": name, "sha256": sha256} for name, sha256 in sorted(found.items())]


def _flat(manifest: Mapping[str, Any]) -> list[dict[str, str]]:
    lines = []
    for section, entries in manifest.items():
        if isinstance(entries, Mapping) and section != "versions":
            lines += [
                {"name": f"{section}.{name}", "value": _plain(value)}
                for name, value in entries.items()
                if not isinstance(value, (dict, list))
            ]
    return lines


def _plain(value: object) -> str:
    """A value of a manifest as it stands in TOML."""
    return value if isinstance(value, str) else json.dumps(value)


def _warnings(results: ProjectResults) -> list[dict[str, str]]:
    seen: dict[str, str] = {}
    for name, each in results.stages.items():
        for warning in each.record.get("warnings", ()):
            seen.setdefault(str(warning), name)
    return [{"stage": name, "says": says} for says, name in seen.items()]
