"""What repeats a linkage: hashes, versions, seeds and weights; no value of the data."""

from __future__ import annotations

import hashlib
import os
import platform
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import tomlkit

from sfumato.core.atomic import write_text
from sfumato.core.errors import InputError
from sfumato.linkage.link_model import Model
from sfumato.linkage.linkage_quality import Checks
from sfumato.linkage.match_thresholds import Thresholds

_HEADER = (
    "What repeats this linkage, with its tables and its secret, which stands elsewhere. It holds\n"
    "no value of the data. Keep it inside."
)
ENCODINGS = "encodings"
"""The part of a manifest's model that a linkage of encodings has."""
_PARTS = ("attached", "quasi_identifiers", "model", "checks", "review", "files", "versions")
# Those whose versions may change what is found.
_LIBRARIES = ("sfumato", "splink", "duckdb", "numpy", "pyarrow")


@dataclass(frozen=True)
class LinkManifest:
    """Everything that a linkage depends on.

    Attributes
    ----------
    seed
        Seed of what is drawn; ids and order come from a secret that is not here.
    keyed
        Whether ids were made with a key; the key is kept nowhere.
    sources
        By source: number of records and, where it is a file, its hash; what the schema's recipe
        did to its columns.
    attached
        By source: hash of the file of further records, ``""`` where it is none.
    quasi_identifiers
        Compared columns that are in the linked file: name and kind.
    model
        Prior, blocking, and the weight of each comparison level.
    checks
        Half width and threshold by which pairs were drawn for checks, where they were.
    review
        How pairs are drawn for review, where some were: seed, wanted half width, number of batches,
        number and log odds of the pairs in wider blocks.
    """

    seed: int
    keyed: bool
    thresholds: Thresholds
    sources: Mapping[str, Mapping[str, Any]]
    attached: Mapping[str, str]
    quasi_identifiers: Mapping[str, str]
    model: Mapping[str, Any]
    checks: Mapping[str, float] = field(default_factory=dict)
    review: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for TOML."""
        return {
            "linkage": {"seed": self.seed, "keyed_ids": self.keyed},
            "thresholds": {"possible_match": self.thresholds.lower, "match": self.thresholds.upper},
            "sources": {name: dict(source) for name, source in self.sources.items()},
            **{name: dict(getattr(self, name)) for name in _PARTS},
        }

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write it as TOML, whole or not at all."""
        document = tomlkit.document()
        for line in _HEADER.splitlines():
            document.add(tomlkit.comment(line))
        document.update(self.to_dict())
        write_text(path, tomlkit.dumps(document))


def load_link_manifest(path: str | os.PathLike[str]) -> LinkManifest:
    """Read a manifest that `LinkManifest.write` wrote."""
    try:
        fields = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        return LinkManifest(
            seed=int(fields["linkage"]["seed"]),
            keyed=bool(fields["linkage"]["keyed_ids"]),
            thresholds=Thresholds(
                float(fields["thresholds"]["possible_match"]), float(fields["thresholds"]["match"])
            ),
            sources=fields["sources"],
            # Manifests that were written before reviews were drawn have no such part.
            **{name: fields[name] for name in _PARTS if name != "review" or name in fields},
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError(
            f"manifest {Path(path).name}", "must be one that sfumato link wrote"
        ) from None


def model_part(model: Model) -> dict[str, Any]:
    """What a manifest says of a model: its prior, its blocking and its weights."""
    return {
        "engine": model.engine,
        "prior": model.prior,
        "comparisons_without_blocking": model.comparisons,
        "expected_lost_to_blocking": model.lost,
        "expected_within_sources": model.hidden,
        "blocking": [{"rule": rule.rule, "pairs": rule.pairs} for rule in model.rules],
        "impossible_dates": dict(model.impossible),
        "notes": list(model.notes),
        "found_one_per_source": list(model.once),
        "by_relations": model.by_relations,
        "weights": [
            {**asdict(weight), "bits": round(weight.weight, 6)} for weight in model.weights
        ],
    }


def checks_part(checks: Checks | None) -> dict[str, float]:
    """What a manifest says of the pairs that were drawn for checks, where some were."""
    if checks is None:
        return {}
    return {"half_width": checks.half_width, "match": checks.upper}


def file_hash(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def versions() -> dict[str, str]:
    """Versions of Python, sfumato and the libraries that decide about a linkage."""
    found = {"python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        # Linking encodings needs neither Splink nor DuckDB.
        except PackageNotFoundError:
            continue
    return found
