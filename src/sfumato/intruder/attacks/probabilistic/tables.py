"""The released classes and the register's rows as Splink is given them: codes and places only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.intruder.attacks.probabilistic.levels import Levels, Near

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

RELEASED, REGISTER = "a_released", "b_register"
"""Names of the two tables; Splink takes the first in alphabetical order for the left one."""
ID, VALUE = "id", "value"
_RANGES = ("low", "high", "near_low", "near_high")
_SETS = ("members", "near_members")
_LIST = pa.list_(pa.int64())


def field(number: int, name: str) -> str:
    """The column of both tables that holds something of a quasi-identifier.

    Parameters
    ----------
    number
        Number of the quasi-identifier.
    name
        What it holds.
    """
    return f"q{number}_{name}"


def released_table(columns: Sequence[Levels], cells: Ints) -> pa.Table:
    """A row for each released class: what its cells reach, and the number of each cell.

    Parameters
    ----------
    columns
        What the cells of each column reach.
    cells
        The cells of each class, shape (classes, columns).
    """
    made: dict[str, pa.Array] = {ID: pa.array(np.arange(len(cells)))}
    for number, column in enumerate(columns):
        codes = cells[:, number]
        told = np.array([reach is not None for reach in column.cells], dtype=np.bool_)[codes]
        of_cells = [_cell(reach) for reach in column.cells]
        for part, name in enumerate((*_RANGES, *_SETS)):
            kind = _LIST if name in _SETS else pa.int64()
            values = pa.array([each[part] for each in of_cells], type=kind)
            made[field(number, name)] = values.take(pa.array(codes))
        for level in Near:
            made[field(number, level.name)] = pa.array(codes, mask=~told)
        made[field(number, VALUE)] = pa.nulls(len(cells), pa.int64())
    return pa.table(made)


def register_table(columns: Sequence[Levels], rows: Ints) -> pa.Table:
    """A row for each distinct row of the register: the places of its values.

    Parameters
    ----------
    columns
        The columns.
    rows
        The places, -1 where a value is not known; shape (rows, columns).
    """
    made: dict[str, pa.Array] = {ID: pa.array(np.arange(len(rows)))}
    for number in range(len(columns)):
        for name in _RANGES:
            made[field(number, name)] = pa.nulls(len(rows), pa.int64())
        for name in _SETS:
            made[field(number, name)] = pa.nulls(len(rows), _LIST)
        for level in Near:
            made[field(number, level.name)] = pa.nulls(len(rows), pa.int64())
        made[field(number, VALUE)] = pa.array(rows[:, number], mask=rows[:, number] < 0)
    return pa.table(made)


def comparison(number: int, m: Floats, u: Floats) -> dict[str, Any]:
    """The comparison of a quasi-identifier: inside the cell, just outside it, far from it.

    Each level takes its u from the cell, as Splink takes term frequencies.

    Parameters
    ----------
    number
        Number of the quasi-identifier.
    m
        m of each level, shape (3,).
    u
        u of each level over all cells, shape (3,).
    """
    value = f'"{field(number, VALUE)}_r"'
    low, high, near_low, near_high, members, near = (
        f'"{field(number, name)}_l"' for name in (*_RANGES, *_SETS)
    )
    cell = f'"{field(number, Near.INSIDE.name)}_l"'
    levels = [
        {
            "sql_condition": f"{cell} IS NULL OR {value} IS NULL",
            "label_for_charts": "unknown",
            "is_null_level": True,
        }
    ]
    conditions = {
        Near.INSIDE: _within(value, low, high, members),
        Near.NEAR: _within(value, near_low, near_high, near),
        Near.FAR: f"{value} IS NOT NULL",
    }
    for level, condition in conditions.items():
        levels.append(
            {
                "sql_condition": condition,
                "label_for_charts": level.name.lower(),
                "m_probability": float(m[level]),
                "u_probability": float(u[level]),
                "tf_adjustment_column": field(number, level.name),
                "tf_adjustment_weight": 1.0,
                "disable_tf_exact_match_detection": True,
            }
        )
    return {"output_column_name": f"q{number}", "comparison_levels": levels}


def frequencies(number: int, level: Near, chance: Floats) -> pa.Table:
    """The u of one level in each cell, as a table of term frequencies.

    Parameters
    ----------
    number
        Number of the quasi-identifier.
    level
        The level.
    chance
        u of each cell, shape (cells,).
    """
    name = field(number, level.name)
    told = ~np.isnan(chance)
    return pa.table({name: np.flatnonzero(told), f"tf_{name}": chance[told]})


def _within(value: str, low: str, high: str, members: str) -> str:
    return f"coalesce({value} BETWEEN {low} AND {high}, false) OR list_contains({members}, {value})"


def _cell(reach: Any) -> tuple[Any, ...]:
    """First and last place of the ranges, and the sets, that a cell reaches; null for none."""
    if reach is None:
        return (None,) * (len(_RANGES) + len(_SETS))
    ranges: list[int | None] = []
    for first, stop in (reach.inside, reach.near):
        ranges += [first, stop - 1] if first < stop else [None, None]
    return (*ranges, list(reach.inside_set) or None, list(reach.near_set) or None)
