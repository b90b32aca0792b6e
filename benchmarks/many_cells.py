"""Population estimates from a million records whose quasi-identifiers span 10^12 cells and more."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
from timing import PeakMemory

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from studies.dankar_el_emam.log_linear import LogLinear, LogLinearCount

from sfumato.risk.population.accumulation_estimator import Accumulation
from sfumato.risk.population.estimator_protocol import Estimate, SampleClasses

RECORDS = 1_000_000
POPULATION = 10_000_000
VALUES = (100, 2, 1_000, 12, 200, 40, 20, 7)
"""Values of each quasi-identifier."""


def sample(seed: int = 2010) -> SampleClasses:
    """Persons with quasi-identifiers of which some depend on each other."""
    rng = np.random.default_rng(seed)
    columns: list[npt.NDArray[np.int64]] = []
    for number, values in enumerate(VALUES):
        shares = 1.0 / np.arange(1, values + 1) ** (0.3 * (number % 4))
        own = rng.choice(values, RECORDS, p=shares / shares.sum())
        if number:
            copied = rng.random(RECORDS) < 0.15 * (number % 3)
            own = np.where(copied, columns[-1] % values, own)
        columns.append(own)
    codes = np.column_stack(columns).astype(np.int32)
    cells = np.ravel_multi_index(tuple(codes.T), VALUES)
    _, first, sizes = np.unique(cells, return_index=True, return_counts=True)
    return SampleClasses(sizes.astype(np.int64), POPULATION, codes[first], VALUES)


def report() -> None:
    """Print time and memory of each estimator."""
    classes = sample()
    cells = float(np.prod(np.array(VALUES, dtype=float)))
    print(f"{RECORDS:,} records, {classes.classes:,} classes, {cells:.1e} cells; λ of 10 million\n")
    print(f"{'estimator':<26}{'cpu s':>8}{'wall s':>8}{'peak GiB':>10}{'λ %':>8}")
    own: dict[str, Callable[[SampleClasses, np.random.Generator], Estimate]] = {
        "accumulation (auto)": Accumulation().estimate,
        "log-linear-independence": LogLinear("independence").estimate,
        "log-linear-uniques": LogLinear("uniques").estimate,
        "log-linear-count": LogLinearCount().estimate,
        "log-linear": LogLinear().estimate,
    }
    for name, estimate in own.items():
        cpu, wall = time.process_time(), time.perf_counter()
        with PeakMemory() as memory:
            found = estimate(classes, np.random.default_rng(1))
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        peak = memory.most / 2**30
        print(f"{name:<26}{cpu:>8.1f}{wall:>8.1f}{peak:>10.2f}{100 * found.marketer:>8.2f}")


if __name__ == "__main__":
    report()
