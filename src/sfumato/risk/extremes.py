"""The worst class of measures, with its position: all of them in one pass over the classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

from sfumato.core.measure import Measure, Position
from sfumato.risk.classes import ClassSummary, Floats, Integers
from sfumato.risk.summary import ClassBlocks

RowOf = Callable[[ClassSummary, int], int]


def first_row(classes: ClassSummary, at: int) -> int:
    """The 0-based row of a class's first record."""
    return int(classes.first_row[at])


class Sought(NamedTuple):
    """A value of each class, of which an extreme is looked for.

    Attributes
    ----------
    values
        What is computed of the classes, one by one.
    end
        Which of the values is looked for.
    row
        The 0-based row that stands for a class.
    """

    values: Callable[[ClassSummary], Floats | Integers]
    end: Literal["low", "high"]
    row: RowOf = first_row


class Extreme(NamedTuple):
    """What a pass over a value of all classes finds.

    Attributes
    ----------
    value
        The lowest or highest value.
    where
        The first class that has it, at the row that stands for it.
    total
        Sum over classes.
    """

    value: float
    where: Position
    total: float

    @property
    def whole(self) -> int:
        """A value that is a whole number."""
        return int(self.value)

    def measure(self, name: str, *, why: str = "", threshold: float | None = None) -> Measure:
        """The value as a measure."""
        return Measure(name, float(self.value), why=why, where=self.where, threshold=threshold)


def extremes(blocks: ClassBlocks, sought: Mapping[str, Sought]) -> dict[str, Extreme]:
    """The lowest or highest of each value over classes, and its sum, in one pass.

    Parameters
    ----------
    blocks
        The classes.
    sought
        What is looked for, by any names.
    """

    def look(classes: ClassSummary, start: int) -> dict[str, Extreme]:
        return {name: _extreme(classes, start, each) for name, each in sought.items()}

    found = blocks.look(look)
    best = {"low": min, "high": max}
    return {
        name: best[each.end]((block[name] for block in found), key=_value)._replace(
            total=sum(block[name].total for block in found)
        )
        for name, each in sought.items()
    }


def _extreme(classes: ClassSummary, start: int, sought: Sought) -> Extreme:
    values = sought.values(classes)
    at = int(values.argmin() if sought.end == "low" else values.argmax())
    where = Position(row=sought.row(classes, at) + 1, equivalence_class=start + at + 1)
    return Extreme(values[at].item(), where, values.sum().item())


def _value(extreme: Extreme) -> float:
    return extreme.value
