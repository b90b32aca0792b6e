"""What the verdict says of random releases, against naive code that reads the released table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
import pandas as pd
import pytest
from oracles import intruders as oracle
from oracles.intruders import Record
from release.random_files import OTHERS, SCHEMA, people_and_records, random_release

import sfumato as sf
from sfumato.risk.verdict import Row, State

SEEDS, A_PART = 200, 20


def read(release: sf.Release, persons: pd.Series) -> list[Record]:
    """The records of a release as its reader has them, beside who each truly is."""
    table, rows = release.table.to_pandas(), release.source_rows
    assert rows is not None
    shown = [name for name in OTHERS if name in table]
    known = table[["age", "sex"]].astype(str).agg("|".join, axis=1)
    cells = {name: pd.factorize(table[name].where(table[name] != "*"))[0] for name in shown}
    person, unit = (pd.factorize(each)[0] for each in (persons.to_numpy()[rows], table["person"]))
    return [
        Record(int(a), int(b), int(c), {name: int(cells[name][place]) for name in shown})
        for place, (a, b, c) in enumerate(zip(person, unit, pd.factorize(known)[0], strict=True))
    ]


def insiders(records: list[Record], names: Iterable[str]) -> dict[str, tuple[float, float]]:
    """People found, and the 95th percentile, by two records as each name's columns show them."""
    found = {}
    for name in names:
        chances = sorted(oracle.by_two(records, name.split(" + ")).values())
        p95 = np.quantile(chances, 0.95, method="inverted_cdf")
        found[name] = float(np.mean(chances)), float(p95)
    return found


def agree(row: Row, expected: tuple[float, float]) -> None:
    assert row.findings is not None
    assert (row.findings.found.value, row.findings.person.value) == pytest.approx(expected)


@pytest.mark.parametrize(
    "seeds",
    [
        range(A_PART),
        *(
            pytest.param(range(each, each + A_PART), marks=pytest.mark.slow)
            for each in range(A_PART, SEEDS, A_PART)
        ),
    ],
    ids=str,
)
def test_rows_are_what_naive_code_finds_in_the_file(seeds: range) -> None:
    made = sum(map(agrees_with_naive_code, seeds))
    assert made >= len(seeds) // 2


def agrees_with_naive_code(seed: int) -> bool:
    """Whether there is a release at all; fails where its verdict says something else."""
    release, data = random_release(seed)
    if release is None:
        return False
    verdict, limits = release.verdict, release.limits
    records = read(release, data["person"])
    people = [each._replace(pseudonym=each.person) for each in records]
    several = len({each.person for each in records}) < len(records)
    agree(verdict.row("stranger"), oracle.found(people, bands=False))
    acquaintance = (
        oracle.found(records, bands=True) if several else oracle.found(people, bands=False)
    )
    agree(verdict.row("acquaintance"), acquaintance)
    worst = None
    for name, own in insiders(records, verdict.insiders).items():
        findings = verdict.insiders[name]
        assert (findings.found.value, findings.person.value) == pytest.approx(own)
        over = own[0] > limits.found * (1 + 1e-9) or own[1] > limits.person * (1 + 1e-9)
        learned = any(each.worst.high > limits.learned for each in findings.learned)
        worst = bool(worst) or over or learned
    assert set(verdict.insiders) >= {name for name in OTHERS if name in release.table.column_names}
    if worst is not None:
        assert (verdict.row("insider").state is State.ABOVE) is worst
    right, certain = oracle.learned(people, "code", bands=False)
    often = Counter(
        one
        for each in oracle.units(people)
        for one in {own.cells["code"] for own in each}
        if one >= 0
    )
    (_, most), (_, second) = (often + Counter({-1: 1, -2: 1})).most_common(2)
    tied = most == second
    for each in verdict.row("stranger").findings.learned:
        beyond = max(0.0, (right - each.without) / max(1 - each.without, 1e-12))
        assert each.beyond.value == pytest.approx(beyond)
        # Of several commonest values either may be meant.
        assert tied or each.certain.value == pytest.approx(certain)
    return True


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(each, marks=pytest.mark.slow) for each in range(1, 8))]
)
def test_promised_limits_are_kept_by_naive_code(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = people_and_records(rng)
    limits = sf.Limits("room")
    release = sf.anonymize(data, SCHEMA, limits, seed=seed, effort=0)
    records = read(release, data["person"])
    people = [each._replace(pseudonym=each.person) for each in records]
    several = len({each.person for each in records}) < len(records)
    shown = [name for name in OTHERS if name in release.table.column_names]
    for found, person in (
        oracle.found(people, bands=False),
        oracle.found(records if several else people, bands=several),
        *insiders(records, shown).values(),
    ):
        assert found <= limits.found * (1 + 1e-9)
        assert person <= limits.person * (1 + 1e-9)
