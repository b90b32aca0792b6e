"""Time the way through the house as ratios to a sort, in one process on this machine."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import llvmlite.binding
import numpy as np
import pyarrow as pa

import sfumato
from sfumato.examples import generate_clinics
from sfumato.release.persons import person_table
from sfumato.release.tree import grow
from sfumato.schema import Schema
from sfumato.table.columns import NumberDomain
from sfumato.table.door import open_table

RECORDS = (100_000, 400_000, 4_000_000)
WARM_UP = 20_000
RECORDS_PER_PERSON = 4
REPEATS = 3
SEED = 2020


def cpu() -> str:
    """Model of the processor, and the name by which the compiler knows its features."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    model = names[0] if names else platform.processor() or platform.machine()
    return f"{model} ({llvmlite.binding.get_host_cpu_name()}), {len(names) or '?'} threads"


def visits(records: int) -> tuple[pa.Table, Schema]:
    """The first so many of the generated visits."""
    clinics = generate_clinics(records // RECORDS_PER_PERSON * 5 // 4, rng=SEED)
    table = clinics.visits
    return table.slice(0, min(records, len(table))), clinics.schema


def seconds(work: Callable[[], Any], repeats: int = REPEATS) -> float:
    """Shortest wall-clock time of some runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def sort_seconds(table: pa.Table, schema: Schema) -> float:
    """One stable argsort of each quasi-identifier as float64."""
    columns = [
        column.domain.points[column.codes].astype(np.float64)
        if isinstance(column.domain, NumberDomain)
        else column.codes.astype(np.float64)
        for column in open_table(table, schema).quasi_identifiers
    ]
    return sum(seconds(partial(np.argsort, column, kind="stable")) for column in columns)


def stages(table: pa.Table, schema: Schema) -> dict[str, Callable[[], Any]]:
    """What is timed; the tree starts from the encoded table, the others from the Arrow table."""
    constraints = (sfumato.GBalance(0.8), sfumato.HAffiliation(0.5))
    encoded = open_table(table, schema)
    return {
        "encode": lambda: open_table(table, schema),
        "tree": lambda: grow(person_table(encoded), constraints),
        "assess": lambda: sfumato.assess(table, schema),
        "anonymize": lambda: sfumato.anonymize(table, schema, *constraints),
    }


def main() -> None:
    """Print a line for each stage and size."""
    print(cpu())
    print(f"numpy {np.__version__}, Python {platform.python_version()}; seconds, best of {REPEATS}")
    for work in stages(*visits(WARM_UP)).values():
        work()
    print(f"\n{'records':>9}  {'stage':<10}{'seconds':>9}{'x sort':>9}")
    for records in RECORDS:
        table, schema = visits(records)
        sort = sort_seconds(table, schema)
        print(f"{len(table):>9,}  {'sort':<10}{sort:>9.3f}{1:>9.1f}")
        for name, work in stages(table, schema).items():
            took = seconds(work)
            print(f"{len(table):>9,}  {name:<10}{took:>9.3f}{took / sort:>9.1f}")


if __name__ == "__main__":
    main()
