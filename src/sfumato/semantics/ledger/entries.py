"""What is noted about a release."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sfumato.core.errors import InputError
from sfumato.semantics.ledger.associations import NotedAssociation, as_details, from_detail
from sfumato.semantics.ledger.tuples import Tuples

NOT_CLAIMED = "protection against intersection of releases is not claimed: no digests"
CLAIMABLE = "keyed digests of persons, with which releases can be intersected"
_TEXTS = ("requester", "role", "request", "linkage", "policy_hash", "schema", "manifest_hash")


@dataclass(frozen=True, kw_only=True)
class ReleaseFacts:
    """What a release was; no identities.

    Attributes
    ----------
    requester, role, request, purpose, linkage
        Who asked, in which role, for what.
    policy_hash
        Hash of the policy and its rules.
    schema
        What each column is, as TOML or JSON.
    k
        The individuals that each tuple had to match.
    quasi_identifiers
        Those of the linkage.
    individuals
        Individuals in the release.
    manifest_hash, file_hashes
        Hash of the manifest, and of each file by its name.
    associations
        What was found in earlier releases, with the state in which it was used.
    figures
        Measures of each scheme: ``{"LA": {"risk": 0.21, "sse_sst": 12.5}, "SLA": ...}``.
    """

    requester: str
    role: str
    request: str
    purpose: str
    linkage: str
    policy_hash: str
    schema: str = field(repr=False)
    k: int
    quasi_identifiers: tuple[str, ...]
    individuals: int
    manifest_hash: str
    file_hashes: Mapping[str, str]
    associations: tuple[NotedAssociation, ...] = ()
    figures: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ReleaseEntry(ReleaseFacts):
    """A release that is to be noted.

    Attributes
    ----------
    tuples
        The distinct generalised tuples, with the quasi-identifiers among their attributes.

    Raises
    ------
    InputError
        If it lacks what its entry must say.
    """

    tuples: Tuples

    def __post_init__(self) -> None:
        """Refuse a release that lacks what its entry must say."""
        for name in _TEXTS:
            value = getattr(self, name)
            if not isinstance(value, str) or not value.strip():
                raise InputError(
                    f"the ledger's entry of a release: {name}", "must be a text", found="none"
                )
        if self.k < 1 or self.individuals < 0:
            raise InputError("the ledger's entry of a release", "must have k of at least 1")
        lacking = [name for name in self.quasi_identifiers if name not in self.tuples.attributes]
        if lacking or not self.quasi_identifiers:
            named = ", ".join(f"'{name}'" for name in lacking)
            raise InputError(
                "the tuples of a release",
                "must show every quasi-identifier",
                found=f"none of {named}" if lacking else "no quasi-identifiers",
            )
        figures = [each for scheme in self.figures.values() for each in scheme.values()]
        if any(each is not None and not math.isfinite(each) for each in figures):
            raise InputError("the figures of a release", "must be finite numbers or none")


@dataclass(frozen=True, kw_only=True)
class Release(ReleaseFacts):
    """A release that was noted.

    Attributes
    ----------
    number
        Number of its entry.
    time
        When it was noted, UTC.
    digest
        Digest of its entry.
    tuples
        Number of distinct generalised tuples.
    smallest
        Individuals of the smallest of them; ``None`` where there is none.
    digests
        Whether it has keyed digests of persons.
    """

    number: int
    time: str
    digest: str
    tuples: int
    smallest: int | None
    digests: bool

    @property
    def intersection(self) -> str:
        """What is claimed about the intersection with other releases."""
        return CLAIMABLE if self.digests else NOT_CLAIMED


def detail_of_release(entry: ReleaseEntry, key_id: str) -> dict[str, object]:
    """What the entry of a release holds, beside its arrays.

    Parameters
    ----------
    entry
        The release.
    key_id
        Which key its digests are made with; ``""`` where it has none.
    """
    tuples = entry.tuples
    return {
        **{name: getattr(entry, name) for name in (*_TEXTS, "purpose")},
        "k": int(entry.k),
        "individuals": int(entry.individuals),
        "quasi_identifiers": list(entry.quasi_identifiers),
        "file_hashes": dict(entry.file_hashes),
        "associations": as_details(entry.associations),
        "figures": {
            scheme: {name: None if each is None else float(each) for name, each in figures.items()}
            for scheme, figures in entry.figures.items()
        },
        "attributes": list(tuples.attributes),
        "tuples": len(tuples),
        "smallest": int(tuples.counts.min()) if len(tuples) else None,
        "persons_key": key_id,
        "intersection": CLAIMABLE if key_id else NOT_CLAIMED,
    }


def release_of(number: int, time: str, digest: str, detail: Mapping[str, Any]) -> Release:
    """A release that was noted.

    Parameters
    ----------
    number, time, digest, detail
        Its entry.
    """
    facts = {name: detail[name] for name in (*_TEXTS, "purpose", "k", "individuals")}
    return Release(
        **facts,
        quasi_identifiers=tuple(detail["quasi_identifiers"]),
        file_hashes=detail["file_hashes"],
        associations=tuple(from_detail(each) for each in detail["associations"]),
        figures=detail["figures"],
        number=number,
        time=time,
        digest=digest,
        tuples=detail["tuples"],
        smallest=detail["smallest"],
        digests=bool(detail["persons_key"]),
    )
