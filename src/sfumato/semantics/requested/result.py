"""A release made on request, with what was asked, what was known and what was measured."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from sfumato.semantics.ledger.associations import NotedAssociation
from sfumato.semantics.linkage_anonymity import Linked
from sfumato.semantics.linkage_anonymity.search import Levels
from sfumato.semantics.requested.ask import Asked
from sfumato.semantics.requested.by_association import AssociationChange
from sfumato.semantics.requested.figures import Figures
from sfumato.semantics.requested.known import Known
from sfumato.table.dataframes import to_frame_like as like

COVERED = (
    "readers of these local data sets as they are today, and of all releases that are followed",
    "the associations that the custodian accepted, applied in any order, in whole or in part",
)
NOT_COVERED = (
    "readers who know the method and leave out whoever would have been shown otherwise",
    "associations that nobody accepted, and what one tells of those for whom it does not hold",
    "older states of the local data, and columns that are no quasi-identifier of it",
    "several records of one person put together under one pseudonym",
    "releases that are not in the ledger, or in it without digests of persons",
    "what persons with the same tuple have in common",
)


@dataclass(frozen=True, eq=False, repr=False)
class RequestedRelease:
    """A released linked file, as the rules of a policy require it.

    Attributes
    ----------
    table
        The released file as Arrow.
    asked
        The request, what the rules require, the data; not to be released.
    known
        What readers know from the ledger.
    linked
        The linked tuples; not to be released.
    levels
        Level of each value of each distinct tuple, shape (tuples, QIs).
    figures
        Risk and loss by scheme: ``"LA"`` and ``"SLA"``.
    changes
        What each accepted association changed.
    exposed
        Linked individuals whom earlier releases alone leave below k.
    rules
        The rules on requests that were applied, by title and place.
    explained
        Why the k and the quasi-identifiers are what they are, line by line.
    proposed
        Associations found in this release that nobody decided on.
    manifest
        What repeats the release; no value of the data.
    number
        The release's number in the ledger; ``None`` without one.
    """

    table: pa.Table
    asked: Asked
    known: Known
    linked: Linked
    levels: Levels = field(repr=False)
    figures: Mapping[str, Figures]
    changes: tuple[AssociationChange, ...]
    exposed: int
    rules: tuple[str, ...]
    explained: tuple[str, ...]
    proposed: tuple[NotedAssociation, ...]
    manifest: Mapping[str, Any]
    number: int | None = None

    @property
    def data(self) -> Any:
        """The released file as the kind of dataframe that was passed in; Arrow for a path."""
        path = isinstance(self.asked.data, (str, os.PathLike))
        return like(self.table, None if path else self.asked.data)

    @property
    def k(self) -> int:
        """How many individuals of each local data set match every record, at least."""
        return self.asked.k

    @property
    def warnings(self) -> tuple[str, ...]:
        """What its custodian should know."""
        found = []
        if self.number is None:
            found.append("without a ledger nothing is known of earlier releases, nor will be")
        elif self.linked.table.schema.person is None:
            found.append(
                "without a person column nothing is claimed about the intersection of releases"
            )
        if self.known.unfollowed:
            found.append(
                "nothing is claimed about the intersection with releases "
                + ", ".join(map(str, self.known.unfollowed))
                + ", whose persons cannot be followed"
            )
        if self.exposed:
            found.append(
                f"earlier releases alone leave {self.exposed:,} linked individuals below k; "
                "this one does not make it worse"
            )
        return tuple(found)

    def to_json(self) -> dict[str, Any]:
        """Plain values; of the data only the labels of associations, which are of code lists."""
        asked, request = self.asked, self.asked.details
        return {
            "request": {
                "name": asked.request,
                "requester": request.requester,
                "role": request.role,
                "purpose": request.purpose or "",
                "linkage": request.linkage,
            },
            "k": self.k,
            "databases": {
                local.name: {
                    "quasi_identifiers": list(local.quasi_identifiers),
                    "individuals": local.individuals,
                }
                for local in self.linked.locals_
            },
            "rules": list(self.rules),
            "explained": list(self.explained),
            "records": self.table.num_rows,
            "individuals": self.linked.table.persons,
            "figures": {name: each.to_json() for name, each in self.figures.items()},
            "changes": [each.to_json() for each in self.changes],
            "exposed": self.exposed,
            "proposed": [
                {
                    "id": each.id,
                    "says": each.text,
                    "support": each.support,
                    "confidence": each.confidence,
                }
                for each in self.proposed
            ],
            "ledger": {
                "release": self.number,
                "earlier": list(self.known.releases),
                "not_followed": list(self.known.unfollowed),
            },
            "covered": list(COVERED),
            "not_covered": list(NOT_COVERED),
            "warnings": list(self.warnings),
            "manifest": dict(self.manifest),
        }

    def __repr__(self) -> str:
        """The figures."""
        return (
            f"RequestedRelease({self.table.num_rows} records, k={self.k}, "
            f"risk={self.figures['SLA'].risk:.4g}, sse_sst={self.figures['SLA'].sse_sst:.4g})"
        )
