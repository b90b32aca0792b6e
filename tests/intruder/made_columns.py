"""Columns of every kind, and what a released cell says about a value, told naively."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.intruder.released_syntax import Anything, Cell, Exact, Interval, Missing

LABELS = [
    *["10-19", "10", "19", "20-29", "a", "b", "a to b", "{x", "{x, y}", "*", '"q"', "90 or more"],
    *["5 or less", "a, b", "x y", "B", "~", "816", "8*6", "to", "or more", " lead", "é"],
]  # fmt: skip
EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001


@dataclass(frozen=True)
class Made:
    """Values of one quasi-identifier, what the schema says, and whether they are measured."""

    values: list[Any]
    declared: dict[str, Any]
    measured: bool


def _of(values: list[Any], measured: bool, **declared: Any) -> Made:
    return Made(values, declared, measured)


def _labels(rng: np.random.Generator, n: int, labels: list[str]) -> list[str]:
    few = [str(label) for label in rng.permutation(labels)[:8]]
    return [few[number] for number in rng.integers(0, len(few), n)]


def _leaves(folder: Path, leaves: list[str], name_of: Callable[[int], str]) -> Path:
    path = folder / "leaves.csv"
    quoted = ['"' + leaf.replace('"', '""') + '"' for leaf in leaves]
    path.write_text("".join(f"{leaf};{name_of(i)};*\n" for i, leaf in enumerate(quoted)))
    return path


def make_column(kind: str, n: int, rng: np.random.Generator, folder: Path) -> Made:
    """Draw a column of this kind."""
    whole = rng.integers(-30, 60, n).tolist()
    start = dt.date(1999, 12, 20)
    moments = [EPOCH.replace(year=1999, month=12) + dt.timedelta(hours=90 * x) for x in whole]
    order = [str(label) for label in rng.permutation(LABELS)]
    tags = [label for label in LABELS if label != "*"]
    ages = [str(age) for age in range(40)]
    units = {"widths": ["month", "quarter", "year", "decade"]}
    groups = {"lengths": [4, 3], "groups": ["240-245", "246-300"]}
    makers: dict[str, Callable[[], Made]] = {
        "whole": lambda: _of(whole, True, kind="numeric"),
        "undeclared": lambda: _of(whole, True),
        "coded ends": lambda: _of(whole, True, kind="numeric", top=20, bottom=-5),
        "decimal": lambda: _of([x / 8 for x in whole], True, kind="numeric"),
        "date": lambda: _of([start + dt.timedelta(days=x) for x in whole], True, kind="numeric"),
        "moment": lambda: _of(moments, True, kind="numeric"),
        "padded": lambda: _of([f"{x + 30:05d}" for x in whole], True, kind="numeric"),
        "natural": lambda: _of(_labels(rng, n, LABELS), False, kind="ordered"),
        "natural numbers": lambda: _of([str(x) for x in whole], True, kind="ordered"),
        "ordered": lambda: _of(_labels(rng, n, order), False, kind="ordered", order=tuple(order)),
        "labels": lambda: _of(_labels(rng, n, LABELS), False, kind="categorical"),
        "widths": lambda: _of(
            whole, True, kind="numeric", hierarchy={"widths": [5, 10], "start": 2.0}
        ),
        "decimal widths": lambda: _of(
            [x / 2 for x in whole], True, kind="numeric", hierarchy={"widths": [2.5, 5]}
        ),
        "units of dates": lambda: _of(
            [start + dt.timedelta(days=9 * x) for x in whole],
            True, kind="numeric", hierarchy=units,
        ),
        "units of moments": lambda: _of(moments, True, kind="numeric", hierarchy=units),
        "prefixes": lambda: _of(
            [f"{248 + x // 4}{'' if x % 3 else f'.{x % 10}'}" for x in whole],
            False, kind="categorical", hierarchy=groups,
        ),
        "tree": lambda: _of(
            _labels(rng, n, tags),
            False, kind="categorical", hierarchy=_leaves(folder, tags, lambda i: f"g{i // 4}"),
        ),
        "ordered tree": lambda: _of(
            _labels(rng, n, tags),
            False, kind="ordered", hierarchy=_leaves(folder, tags, lambda i: f"g{i // 4}"),
        ),
        "tree of numbers": lambda: _of(
            [abs(x) % 40 for x in whole],
            True, kind="numeric",
            hierarchy=_leaves(folder, ages, lambda i: f"{i // 5 * 5}-{i // 5 * 5 + 4}"),
        ),
    }  # fmt: skip
    return makers[kind]()


KINDS = [
    *["whole", "undeclared", "coded ends", "decimal", "date", "moment", "padded", "natural"],
    *["natural numbers", "ordered", "labels", "widths", "decimal widths", "units of dates"],
    *["units of moments", "prefixes", "tree", "ordered tree", "tree of numbers"],
]  # fmt: skip


def _as_number(value: Any) -> float | None:
    if isinstance(value, str):
        for read in (float, dt.datetime.fromisoformat):
            try:
                return _as_number(read(value))
            except ValueError:
                continue
        return None
    if isinstance(value, dt.datetime):
        return (value - EPOCH) / dt.timedelta(days=1)
    if isinstance(value, dt.date):
        return float((value - EPOCH.date()).days)
    return float(value)


def lies_in(value: Any, cell: Cell, *, measured: bool) -> bool:
    """Whether a value that the intruder knows (or not: ``None``) lies in a cell."""
    if value is None or isinstance(cell, Anything):
        return True
    if isinstance(cell, Missing):
        return False
    if isinstance(cell, Interval):
        number = _as_number(value)
        if number is None:
            return False
        above = cell.low < number or (cell.low_in and cell.low == number)
        return above and (number < cell.high or (cell.high_in and number == cell.high))
    texts = [cell.text] if isinstance(cell, Exact) else cell.texts
    if not measured:
        return value in texts
    return any(_as_number(text) == _as_number(value) for text in texts)
