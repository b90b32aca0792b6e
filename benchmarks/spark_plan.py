"""The costs of the measured runs as functions of records, and a file of 10 billion records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from spark_model import PLANNED, fit, levels, predict

from sfumato.release.partitioning import SUBTREE_PERSONS

if TYPE_CHECKING:
    from spark import Case

START, LEVEL, RECORD, RECORD_AND_LEVEL = range(4)
COSTS: dict[str, tuple[Callable[[Case], float], tuple[int, ...]]] = {
    "stages": (lambda case: case.watched.told["stages"], (START, LEVEL)),
    "reads of the file": (
        lambda case: case.watched.told["read_records"] / case.records,
        (START, LEVEL),
    ),
    "shuffled, GB": (
        lambda case: case.watched.told["shuffle_bytes"] / 1e9,
        (RECORD, RECORD_AND_LEVEL),
    ),
    "to the driver, MB": (
        lambda case: case.watched.told["driver_bytes"] / 1e6,
        (START, LEVEL, RECORD),
    ),
    "core-hours": (lambda case: case.watched.cpu / 3600, (START, RECORD, RECORD_AND_LEVEL)),
}
"""What is planned: where a run tells of it, and the terms that it is the sum of."""


def plan(cases: Sequence[Case]) -> None:
    """Print, for assessments and releases, each cost's formula and what it says of the plan.

    Parameters
    ----------
    cases
        The measured runs; those of the first master are used.
    """
    on_spark = [case for case in cases if case.watched.told]
    if len({case.records for case in on_spark}) < 2:
        print("no plan: it takes two numbers of records")
        return
    print(
        f"L = cuts at the median until a subtree has at most {SUBTREE_PERSONS:,} persons; "
        "M = 10^6 records"
    )
    print(f"{PLANNED:,} records: L = {levels(PLANNED, SUBTREE_PERSONS)}\n")
    print(f"| work | cost | formula | at {PLANNED:,} records |\n|---|---|---|---:|")
    for verb in dict.fromkeys(case.verb for case in on_spark):
        same = [case for case in on_spark if case.verb == verb]
        same = [case for case in same if case.engine == same[0].engine]
        for name, (cost, used) in COSTS.items():
            deep = verb == "anonymize"
            terms = [each for each in used if deep or each not in {LEVEL, RECORD_AND_LEVEL}]
            weights = fit(
                [c.records for c in same], [cost(c) for c in same], SUBTREE_PERSONS, terms
            )
            there = predict(weights, PLANNED, SUBTREE_PERSONS)
            print(f"| {verb} | {name} | {_formula(weights)} | {there:,.0f} |")


def _formula(weights: dict[int, float]) -> str:
    units = {START: "", LEVEL: " L", RECORD: " M", RECORD_AND_LEVEL: " M L"}
    parts = [f"{weight:.3g}{units[place]}" for place, weight in weights.items() if weight]
    return " + ".join(parts) or "0"
