"""The tree against a sort of its columns: time, and memory against the encoded table."""

from __future__ import annotations

import gc
import platform
from collections.abc import Callable
from functools import partial

import numpy as np
from timing import PeakMemory, seconds
from visits import visits

import sfumato
from sfumato.release.partitioning import Draft, divide
from sfumato.release.person_table import person_table
from sfumato.release.release_options import Cut, Options
from sfumato.table.door import open_table
from sfumato.table.table import NumberDomain, Table

RECORDS = (400_000, 4_000_000, 10_000_000)
WARM_UP = 100_000
REPEATS = 3
PROMISES = (sfumato.GBalance(0.9), sfumato.HAffiliation(0.5))


def sort_seconds(table: Table, repeats: int = REPEATS) -> float:
    """One stable argsort of each quasi-identifier as float64."""
    total = 0.0
    for column in table.quasi_identifiers:
        domain = column.domain
        values = domain.points if isinstance(domain, NumberDomain) else np.arange(domain.size)
        column_of_floats = values[column.codes].astype(np.float64)
        total += seconds(partial(np.argsort, column_of_floats, kind="stable"), repeats)
    return total


def tree(table: Table) -> Draft:
    """From the encoded table to the classes, cut at the median."""
    return _divided(table, Cut.MEDIAN)


def searched(table: Table) -> Draft:
    """The same with the search for better cuts, beside the paper's tree, whichever loses less."""
    return _divided(table, Cut.SEARCH)


def _divided(table: Table, cut: Cut) -> Draft:
    return divide(table, [person_table(table)], PROMISES, [], Options(cut=cut), table.persons)


def table_bytes(table: Table) -> int:
    """Memory of the codes that are measured."""
    columns = (*table.quasi_identifiers, *table.sensitive)
    return int(table.person.nbytes + sum(column.codes.nbytes for column in columns))


def report() -> None:
    """Print a line for each stage and size."""
    print(f"numpy {np.__version__}, Python {platform.python_version()}; best of {REPEATS} runs")
    print("sort: np.argsort(float64, kind='stable') of each of the 5 quasi-identifiers")
    print("tree: from codes to classes, g >= 0.9 and h <= 0.5; goal 3 x sort, 4 x memory")
    print("search: the same, with the tree, the search, and the loss of both\n")
    warm = open_table(*visits(WARM_UP), keep_source=False)
    tree(warm)
    searched(warm)
    print(f"{'records':>10}  {'stage':<8}{'seconds':>9}{'x sort':>8}{'x table':>9}")
    for records in RECORDS:
        data, schema = visits(records)
        encode: Callable[[], Table] = partial(open_table, data, schema, keep_source=False)
        encoding = seconds(encode, 1)
        table = encode()
        del data, encode
        gc.collect()
        sort = sort_seconds(table)
        print(f"{records:>10,}  {'sort':<8}{sort:>9.3f}{1:>8.1f}")
        print(f"{records:>10,}  {'encode':<8}{encoding:>9.3f}{encoding / sort:>8.1f}")
        with PeakMemory() as memory:
            first = seconds(partial(tree, table), 1)
        took = min(first, seconds(partial(tree, table), REPEATS - 1))
        size = table_bytes(table)
        held = (memory.growth + size) / size
        print(f"{records:>10,}  {'tree':<8}{took:>9.3f}{took / sort:>8.1f}{held:>9.1f}")
        with PeakMemory() as memory:
            took = seconds(partial(searched, table), 1)
        held = (memory.growth + size) / size
        print(f"{records:>10,}  {'search':<8}{took:>9.3f}{took / sort:>8.1f}{held:>9.1f}")


if __name__ == "__main__":
    report()
