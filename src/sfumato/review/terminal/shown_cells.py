"""What one worker's screen showed of each record, cell by cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from sfumato.review.attributes import Attribute, AttributeKind
from sfumato.review.modes import Mode
from sfumato.review.settings import MaskWidth, Settings
from sfumato.review.state.step import holder_of
from sfumato.review.state.worker import WorkerState
from sfumato.review.values import CellKind, Mark, Rarity, RenderedAttribute

SHOWN = pa.schema(
    [
        ("row", pa.string()),
        ("attribute", pa.string()),
        ("kind", pa.string()),
        ("case", pa.bool_()),
        ("accents", pa.bool_()),
        ("missing", pa.bool_()),
        ("length", pa.int32()),
        ("places", pa.list_(pa.int32())),
        ("characters", pa.list_(pa.string())),
        ("least", pa.int64()),
        ("most", pa.int64()),
    ]
)
"""A line for each row and attribute that showed.

``kind`` is ``text``, ``category`` or the order of a date; ``case`` and ``accents`` say whether they
count where values are compared; ``missing`` that there is no value; ``length`` is the number of
characters where masked ones show it; ``places`` and ``characters`` are what is disclosed, from 0,
separators of dates not counted; ``least`` and ``most`` bound how many records have the value, as
identity marks and marks of rarity say.
"""
_TWICE = 2


@dataclass(slots=True)
class ShownRow:
    """What showed of a record.

    Attributes
    ----------
    record
        Its number.
    size
        K, the size of its anonymity set as the review counts it.
    cells
        By attribute, what showed: columns of `SHOWN`, characters by their places.
    """

    record: int
    size: int
    cells: dict[str, dict[str, Any]] = field(default_factory=dict)

    def lines(self, name: str) -> Iterator[dict[str, Any]]:
        """The lines of the row; identifying text.

        Parameters
        ----------
        name
            What the row is called.
        """
        for attribute, cell in self.cells.items():
            places = sorted(cell["characters"])
            characters = [cell["characters"][place] for place in places]
            own = {"row": name, "attribute": attribute, "places": places, "characters": characters}
            yield {**cell, **own}


def shown_rows(state: WorkerState) -> list[ShownRow]:
    """What a worker has seen: by record or, under the paper's policy, by row of a pair.

    It is taken from the drawn pairs, not from what anonymity sets count of them.

    Parameters
    ----------
    state
        The worker's.
    """
    review, found = state.review, dict[int, ShownRow]()
    for row in state.disclosed():
        holder = holder_of(review, row.pair, row.side)
        record = review.facts(row.pair).records[row.side]
        into = found.setdefault(holder, ShownRow(record, row.set_size))
        for attribute, drawn in zip(review.attributes, state.render(row.pair), strict=True):
            cell = into.cells.setdefault(attribute.name, _nothing(attribute))
            _add(cell, drawn, row.side, review.settings)
    return list(found.values())


def _nothing(attribute: Attribute) -> dict[str, Any]:
    return {
        "kind": _kind(attribute),
        "case": attribute.case_sensitive,
        "accents": attribute.accent_sensitive,
        "missing": False,
        "length": None,
        "characters": {},
        "least": 0,
        "most": None,
    }


def _add(cell: dict[str, Any], drawn: RenderedAttribute, side: int, settings: Settings) -> None:
    """Add what a row shows of an attribute."""
    cells = [each for each in drawn.rows[side] if each.kind is not CellKind.SEPARATOR]
    if any(each.kind is CellKind.MISSING for each in cells):
        cell["missing"] = True
        return
    if settings.mask_width is MaskWidth.TRUE or drawn.mode is not Mode.MASKED:
        cell["length"] = len(cells)
    cell["characters"] |= {
        place: each.text for place, each in enumerate(cells) if each.kind is CellKind.CHARACTER
    }
    least, most = _bounds(drawn.rarity[side], settings)
    twice = _TWICE if Mark.IDENTICAL in drawn.marks else 0
    cell["least"] = max(cell["least"], least, twice)
    cell["most"] = most if cell["most"] is None else cell["most"]


def _bounds(band: Rarity | None, settings: Settings) -> tuple[int, int | None]:
    match band:
        case Rarity.RARE:
            return 1, settings.rare_below - 1
        case Rarity.UNCOMMON:
            return settings.rare_below, settings.common_from - 1
        case Rarity.COMMON:
            return settings.common_from, None
    return 0, None


def _kind(attribute: Attribute) -> str:
    if attribute.kind is AttributeKind.DATE:
        return attribute.date_order.value
    return "category" if attribute.kind is AttributeKind.CATEGORY else "text"
