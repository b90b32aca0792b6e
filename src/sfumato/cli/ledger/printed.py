"""What is in the ledger, as text and as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.semantics.ledger.associations import NotedAssociation
    from sfumato.semantics.ledger.entries import Release


def columns(rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> list[str]:
    """Rows as lines of aligned columns.

    Parameters
    ----------
    rows
        The head and the rows.
    numbers
        The columns that are aligned to the right.
    """
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if place in numbers else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def printable(text: str) -> str:
    """Text without what would steer a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def figure(value: float | None) -> str:
    """A measure as text."""
    return "-" if value is None else f"{value:.4g}"


def plain_release(release: Release) -> dict[str, Any]:
    """A release as plain values."""
    return {
        "number": release.number,
        "time": release.time,
        "requester": release.requester,
        "role": release.role,
        "request": release.request,
        "purpose": release.purpose,
        "linkage": release.linkage,
        "k": release.k,
        "quasi_identifiers": list(release.quasi_identifiers),
        "individuals": release.individuals,
        "tuples": release.tuples,
        "smallest_tuple": release.smallest,
        "digests": release.digests,
        "intersection": release.intersection,
        "figures": {name: dict(each) for name, each in release.figures.items()},
        "associations": [plain_association(each) for each in release.associations],
        "policy_hash": release.policy_hash,
        "manifest_hash": release.manifest_hash,
        "file_hashes": dict(release.file_hashes),
        "digest": release.digest,
    }


def plain_association(association: NotedAssociation) -> dict[str, Any]:
    """An association as plain values."""
    return {
        "id": association.id,
        "if": [term._asdict() for term in association.antecedent],
        "then": association.consequent._asdict(),
        "support": association.support,
        "confidence": association.confidence,
        "state": str(association.state),
        "note": association.note,
        "by": association.by,
        "time": association.time,
        "found": list(association.found),
    }


def association_lines(associations: Sequence[NotedAssociation]) -> list[str]:
    """Associations as lines."""
    head = ("id", "state", "support", "confidence", "association", "note")
    rows = [
        (
            each.id,
            str(each.state),
            f"{each.support:.1%}",
            f"{each.confidence:.1%}",
            each.text,
            each.note,
        )
        for each in associations
    ]
    return columns([head, *rows], (2, 3))
