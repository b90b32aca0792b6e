"""What a rendering says of two values; nothing but the rendering is read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sfumato.review.modes import Mode
from sfumato.review.values import Cell, CellKind, Mark, Rarity, RenderedAttribute


class Agreement(StrEnum):
    """How two values agree, as a rendering shows it."""

    SAME = "same"
    NEAR = "near"
    OTHER = "other"
    UNKNOWN = "unknown"
    """One of them is missing."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a rendering says of the two values of an attribute.

    Attributes
    ----------
    agreement
        How they agree.
    similarity
        Share of the characters that the rows have in common, in [0, 1]; ``None`` where neither
        lengths nor places of edits show.
    value
        The value of both rows where they are the same and disclosed in full.
    rarity
        How rare the value of both rows is, where that shows and they are the same.
    """

    agreement: Agreement
    similarity: float | None = None
    value: str | None = None
    rarity: Rarity | None = None


_DIFFERENT = (CellKind.DIFFERING,)


def read(rendered: RenderedAttribute) -> Reading:
    """What a rendering says of the two values of an attribute.

    Parameters
    ----------
    rendered
        The rendering.
    """
    marks = set(rendered.marks)
    if Mark.MISSING in marks:
        return Reading(Agreement.UNKNOWN)
    if Mark.IDENTICAL in marks:
        full = rendered.mode is Mode.FULL
        value = "".join(cell.text for cell in rendered.rows[0]) if full else None
        return Reading(Agreement.SAME, 1.0, value, rendered.rarity[0])
    if Mark.DIFFERENT in marks:
        return Reading(Agreement.OTHER, 0.0)
    if Mark.NAME_SWAP in marks:
        return Reading(Agreement.NEAR, 1.0)
    return Reading(Agreement.NEAR, _similarity(rendered.rows))


def _similarity(rows: tuple[tuple[Cell, ...], tuple[Cell, ...]]) -> float | None:
    characters = [[cell for cell in row if cell.kind is not CellKind.SEPARATOR] for row in rows]
    edited = [
        sum(cell.edit is not None or cell.kind in _DIFFERENT for cell in row) for row in characters
    ]
    longest = max(len(row) for row in characters)
    return 1 - max(edited) / longest if longest and any(edited) else None
