"""What Kartal and Li 2020 (paper 003) print: the worked example, and Tables 7-18."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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

# Tables 7, 8, 9: the constraint and its threshold; MaxGIDR and AvgGIDR of each data set.
_RECORD_RISKS = """
k            2   100.00 88.55   100.00 99.27   100.00 99.84
k            3   100.00 82.07   100.00 99.27   100.00 99.84
k            5   100.00 70.63   100.00 99.27   100.00 99.82
k            7   100.00 62.57   100.00 99.27   100.00 99.77
k           10   100.00 53.28   100.00 99.27   100.00 99.47
k           20   100.00 36.63   100.00 99.27   100.00 97.59
k           50    76.67 20.75   100.00 85.94   100.00 87.99
pid_k        2    96.67 59.26    96.07 63.00    98.14 57.11
pid_k        3    94.29 46.48    90.21 50.07    82.58 41.36
pid_k        5    77.14 34.09    81.35 35.37    56.61 28.07
pid_k        7    76.74 27.40    81.02 28.65    41.64 20.52
pid_k       10    59.02 21.56    50.74 21.87    33.43 16.01
pid_k       20    45.59 13.62    35.90 13.33    17.19  8.58
pid_k       50    17.46  7.03     9.87  6.96     6.08  3.98
g_balance 0.50    68.18 44.11    67.37 45.39    66.49 40.04
g_balance 0.67    54.17 33.52    53.89 34.67    51.06 30.65
g_balance 0.80    40.00 23.54    35.46 24.01    34.24 21.03
g_balance 0.86    33.33 18.33    30.16 18.83    25.69 15.19
g_balance 0.90    25.58 14.16    23.54 13.18    19.10 11.92
g_balance 0.95    16.45  8.55    11.98  7.65    10.30  6.39
g_balance 0.98     7.33  4.25     5.88  4.41     5.12  3.09
"""
# Tables 10, 11, 12: the target MaxGIDR in percent; MaxGIDR and ANE with k, K and g.
_RECORD_LOSSES = """
patient 20   19.41  1.479   19.19  1.118   18.79  0.469
patient 15   16.64  2.951   16.27  1.814   14.45  0.923
patient 10    9.60  4.031    9.14  3.160    9.03  2.477
patient  5    5.36 10.505    4.64  9.229    4.49  8.962
patient  2    2.44 34.815    2.48 34.571    2.43 22.789
patient  1    1.43 81.068    1.93 78.809    1.35 55.298
movie   25   25.58  0.908   26.97  0.902   25.00  0.506
movie   20   20.87  1.022   21.38  0.984   20.40  0.867
movie   15   15.23  2.133   15.78  2.107   14.57  1.723
movie   10   12.07  2.785   12.01  2.918   11.98  2.205
movie    5    5.92  8.551    6.02  8.976    5.88  7.825
bank    25   24.85  1.263   23.55  0.610   23.53  0.498
bank    20   22.05  1.341   21.64  0.806   21.39  0.557
bank    15   15.93  1.811   14.42  1.431   14.38  0.947
bank    10   10.64  3.298   10.85  2.804   10.30  1.786
bank     5    5.55  8.230    5.68  7.781    5.48  4.608
"""
# Tables 13, 14, 15: g*, l and h*; of each data set MaxGSAR and AvgGSAR with l, then with h.
_VALUE_RISKS = """
0.50  2 0.50  100.00 35.39 50.00 32.26   66.67 27.40 50.00 26.96  100.00 34.19 50.00 31.59
0.50  3 0.33  100.00 33.70 31.58 20.91   66.67 27.40 28.57 18.68   75.00 33.05 30.77 21.20
0.50  5 0.20  100.00 31.24 20.00 15.35   66.67 27.40 20.00 15.01   66.67 26.21 20.00 15.37
0.50 10 0.10  100.00 22.85 10.00  8.26   66.67 27.40 10.00  7.28   27.38 14.49 10.00  7.92
0.50 20 0.05   27.78 12.78  4.39  3.88   66.67 27.40  4.84  3.82   20.00 10.08  6.21  6.21
0.67  2 0.50   80.00 27.01 50.00 25.38   50.00 19.70 50.00 19.70   75.00 27.94 50.00 27.62
0.67  3 0.33   80.00 26.83 31.58 20.58   50.00 19.70 28.57 18.15   75.00 27.78 30.77 21.20
0.67  5 0.20   80.00 26.23 20.00 15.31   50.00 19.70 20.00 14.91   50.00 25.72 20.00 15.42
0.67 10 0.10   80.00 21.49 10.00  8.25   50.00 19.70 10.00  7.28   40.00 17.19 10.00  8.63
0.67 20 0.05   27.78 12.83  4.39  3.88   50.00 19.70  4.84  3.82   20.00 10.08  6.21  6.21
0.80  2 0.50   62.50 20.88 50.00 20.84   30.00 13.95 30.00 13.95   57.14 22.21 50.00 22.13
0.80  3 0.33   62.50 20.86 31.58 19.13   30.00 13.95 30.00 13.95   57.14 22.21 30.77 19.99
0.80  5 0.20   55.56 20.75 20.00 14.91   30.00 13.95 20.00 12.96   50.00 21.75 20.00 15.42
0.80 10 0.10   55.56 19.08 10.00  8.29   30.00 13.95 10.00  7.28   33.33 16.86 10.00  8.63
0.80 20 0.05   27.78 12.83  4.39  3.88   30.00 13.95  4.84  3.82   20.00 10.08  6.21  6.21
"""
# Tables 16, 17, 18: g* and the target MaxGSAR in percent; of each data set MaxGSAR and ANE with l,
# then with h.
_VALUE_LOSSES = """
0.50 20  20.12  14.989 18.37   0.404  20.00   0.383 19.29   0.198  20.00   1.795 19.81   0.614
0.50 15  15.96  27.249 14.29   1.536  15.34   0.899 14.29   0.404  15.79   2.222 15.69   1.208
0.50 10  10.80 259.512  9.47  28.317  10.59   1.959 10.00   0.789  10.20   8.646 10.17   5.509
0.67 20  20.10  15.012 18.08   0.435  21.11   0.354 20.00   0.176  21.05   2.132 20.00   0.656
0.67 15  14.67  31.880 13.99   1.752  14.63   0.900 14.56   0.412  20.25   7.581 15.00   1.759
0.67 10  10.43 309.400  9.21  82.312   9.95   2.005  9.77   0.831  10.29  21.036 10.00  12.240
0.80 20  20.10  16.295 17.97   0.575  19.09   0.711 18.90   0.277  21.05   2.955 19.52   0.732
0.80 15  14.81  28.871 14.29   1.550  15.34   0.975 13.90   0.446  15.13   8.402 14.64   1.922
0.80 10   8.92 467.803  8.89 139.537   9.95   2.139  8.70   1.082  10.20  40.637  9.70  13.715
"""


def _rows(listing: str, keys: int) -> Iterator[tuple[list[str], list[float]]]:
    """The keys of each line, and its numbers."""
    for line in listing.strip().splitlines():
        cells = line.split()
        yield cells[:keys], [float(cell) for cell in cells[keys:]]


def _record_risks() -> dict[str, dict[str, dict[float, Risks]]]:
    tables: dict[str, dict[str, dict[float, Risks]]] = {
        data: {name: {} for name in CONSTRAINTS} for data in DATA
    }
    for (name, threshold), numbers in _rows(_RECORD_RISKS, 2):
        at = float(threshold) if name == "g_balance" else int(threshold)
        for place, data in enumerate(DATA):
            tables[data][name][at] = Risks(*numbers[2 * place : 2 * place + 2])
    return tables


def _record_losses() -> dict[str, dict[int, dict[str, Loss]]]:
    tables: dict[str, dict[int, dict[str, Loss]]] = {data: {} for data in DATA}
    for (data, target), numbers in _rows(_RECORD_LOSSES, 2):
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
VALUE_RISKS: ValueTables[Risks] = _value_tables(_VALUE_RISKS, 3, Risks)
"""Tables 13-15 by data set, constraint (``l`` or ``h``), and g* with l or h*."""
VALUE_LOSSES: ValueTables[Loss] = _value_tables(_VALUE_LOSSES, 2, Loss)
"""Tables 16-18 by data set, constraint, and g* with the target MaxGSAR in percent."""
