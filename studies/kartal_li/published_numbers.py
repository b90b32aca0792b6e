"""What Kartal and Li 2020 (paper 003) print: the worked example, and Tables 7-18."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TypeVar

DATA, CONSTRAINTS = ("patient", "movie", "bank"), ("k", "pid_k", "g_balance")


class FirstCut(NamedTuple):
    """One attribute's numbers for the first cut (Sections 4 and 5)."""

    g_change: float
    variance: float
    ratio: float


class Risks(NamedTuple):
    """Largest and average GIDR (Tables 7-9) or GSAR (Tables 13-15), in percent."""

    largest: float
    average: float


class Loss(NamedTuple):
    """Largest GIDR or GSAR in percent, and ANE on the paper's scale, which it does not give."""

    largest: float
    ane: float


Pair = TypeVar("Pair", Risks, Loss)
ValueTables = Mapping[str, Mapping[str, Mapping[tuple[float, float], Pair]]]

FIRST_CUT = MappingProxyType(
    {
        "age": FirstCut(0.1707, 0.1202, 1.420),
        "gender": FirstCut(0.1252, 0.1662, 0.753),
        "zip": FirstCut(0.1802, 0.1959, 0.920),
    }
)
NODES = MappingProxyType(
    {
        "D": (0.82, 0.375),
        "t1": (0.5, 0.5),
        "t2": (0.747, 0.5),
        "t21": (0.5, 0.5),
        "t22": (0.72, 0.5),
    }
)
"""g and h of the nodes of Figure 2, as Sections 4 and 5 print them."""
TABLE_3B_GROUPS = (("Ashley", "Bob"), ("Charlie",), ("Diana", "Edward"), ("Fred", "Greg", "Harry"))
"""The patients of the four QI-groups of Table 3b."""
TABLE_3B_GIDR = (None, 1.0, 0.5, 5 / 7)
"""Section 2 and Section 3: 100 % for Charlie, 2/4 for Diana and Edward, 5/7 for Harry."""
TABLE_3B_H = (None, 1.0, 1.0, 0.667)
"""Section 2: one patient has both diseases; both have gastritis; 66.7 % have ulcers."""


_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _rows(listing: str, keys: int) -> Iterator[tuple[list[str], list[float]]]:
    """The keys of each line, and its numbers."""
    for line in listing.strip().splitlines():
        cells = line.split()
        yield cells[:keys], [float(cell) for cell in cells[keys:]]


def _record_risks() -> dict[str, dict[str, dict[float, Risks]]]:
    tables: dict[str, dict[str, dict[float, Risks]]] = {
        data: {name: {} for name in CONSTRAINTS} for data in DATA
    }
    for (name, threshold), numbers in _rows(_TABLES["record_risks"], 2):
        at = float(threshold) if name == "g_balance" else int(threshold)
        for place, data in enumerate(DATA):
            tables[data][name][at] = Risks(*numbers[2 * place : 2 * place + 2])
    return tables


def _record_losses() -> dict[str, dict[int, dict[str, Loss]]]:
    tables: dict[str, dict[int, dict[str, Loss]]] = {data: {} for data in DATA}
    for (data, target), numbers in _rows(_TABLES["record_losses"], 2):
        tables[data][int(target)] = {
            name: Loss(*numbers[2 * place : 2 * place + 2])
            for place, name in enumerate(CONSTRAINTS)
        }
    return tables


def _value_tables(listing: str, keys: int, pair: type[Pair]) -> ValueTables[Pair]:
    """Each line has g* and other keys, the first of them for l and the last for h."""
    tables: dict[str, dict[str, dict[tuple[float, float], Pair]]] = {
        data: {"l": {}, "h": {}} for data in DATA
    }
    for (g, *others), numbers in _rows(listing, keys):
        for place, data in enumerate(DATA):
            four = numbers[4 * place : 4 * place + 4]
            tables[data]["l"][float(g), float(others[0])] = pair(*four[:2])
            tables[data]["h"][float(g), float(others[-1])] = pair(*four[2:])
    return tables


RECORD_RISKS: Mapping[str, Mapping[str, Mapping[float, Risks]]] = _record_risks()
"""Tables 7-9 by data set, constraint and threshold."""
RECORD_LOSSES: Mapping[str, Mapping[int, Mapping[str, Loss]]] = _record_losses()
"""Tables 10-12 by data set, target MaxGIDR in percent and constraint."""
VALUE_RISKS: ValueTables[Risks] = _value_tables(_TABLES["value_risks"], 3, Risks)
"""Tables 13-15 by data set, constraint (``l`` or ``h``), and g* with l or h*."""
VALUE_LOSSES: ValueTables[Loss] = _value_tables(_TABLES["value_losses"], 2, Loss)
"""Tables 16-18 by data set, constraint, and g* with the target MaxGSAR in percent."""
