"""Ends and members: found where they are the data's own, by chance where they were fixed before."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from few_cases import fast_first

from sfumato.intruder.attack import attack
from sfumato.intruder.attack_result import Attack
from sfumato.intruder.candidates import find_candidates
from sfumato.intruder.guesses.bounds_attack import by_ends, by_members, isolated
from sfumato.intruder.knowledge import hold
from sfumato.intruder.reading import read_release
from sfumato.release.anonymize import anonymize
from sfumato.release.promises.k_anonymity import KAnonymity
from sfumato.schema import Schema

SCHEMA = Schema(
    quasi_identifiers={
        "age": {"kind": "numeric"},
        "sex": {"kind": "categorical"},
        "income": {"kind": "numeric"},
    },
    sensitive=("illness",),
)
ONLY = ("singling_out",)


def persons(seed: int, number: int, *, heaped: bool = False) -> pa.Table:
    """Persons whose incomes are log-normal, half of them in whole thousands where heaped."""
    rng = np.random.default_rng(seed)
    income = np.exp(rng.normal(10.3, 0.6, number)).astype(np.int64)
    rounded = heaped & (rng.random(number) < 1 / 2)
    return pa.table(
        {
            "age": rng.integers(18, 90, number),
            "sex": rng.choice(["F", "M"], number),
            "income": np.where(rounded, income // 1000 * 1000, income),
            "illness": rng.choice(["flu", "gout", "asthma"], number),
        }
    )


def on_a_grid(data: pa.Table, income: str) -> pa.Table:
    """Cells that were fixed before anybody saw the data."""
    low = data["income"].to_numpy() // 5000 * 5000
    decade = data["age"].to_numpy() // 10 * 10
    cells = {
        "whole": [f"{each}-{each + 4999}" for each in low],
        "shared": [f"{each} to {each + 5000}" for each in low],
        "half open": [f"[{each}, {each + 5000})" for each in low],
    }
    table = data.set_column(0, "age", pa.array([f"{each}-{each + 9}" for each in decade]))
    return table.set_column(2, "income", pa.array(cells[income]))


def of_grid(seed: int, income: str, *, heaped: bool) -> Attack:
    data = persons(seed, 300, heaped=heaped)
    shown = on_a_grid(data, income)
    return attack(shown, schema=SCHEMA, original=data, truth="same-order", seed=seed, attacks=ONLY)


@pytest.mark.parametrize("k", [5, 20])
@pytest.mark.parametrize("values", ["range", "bounds"])
def test_ends_that_are_values_single_out(k: int, values: str) -> None:
    data, promise = persons(k, 800), KAnonymity(k)
    release = anonymize(data, SCHEMA, promise, values=values, ends="tight", seed=1)
    found = attack(release, seed=1, attacks=ONLY)
    outcome = found.outcomes[0]
    assert outcome.attempts == 2 * release.risk.classes
    assert outcome.success.low is not None
    assert outcome.success.low > 0.8 > 0.02 > outcome.baseline.value
    assert any(each.startswith("The ends of ranges single") for each in found.warnings)
    assert not found.broken


def test_errors_in_what_the_intruder_knows_do_not_bend_the_referee() -> None:
    release = anonymize(persons(3, 400), SCHEMA, KAnonymity(5), ends="tight", seed=1)
    plain = attack(release, seed=1, attacks=ONLY).outcomes
    assert attack(release, seed=1, attacks=ONLY, noise=0.5).outcomes == plain


@pytest.mark.parametrize("income", fast_first(1, ["whole", "shared", "half open"]))
def test_ends_of_a_grid_are_within_chance(income: str) -> None:
    """At 0.1 % a run, one of 10 warns with probability 1 %."""
    found = [of_grid(seed, income, heaped=seed % 2 == 0) for seed in range(10)]
    assert sum(bool(each.warnings) for each in found) <= 1
    assert sum(each.outcomes[0].attempts for each in found) > 500


def test_ranges_without_a_value_between_are_counted_as_not_tried() -> None:
    data = persons(1, 60)
    pairs = [f"{each // 2 * 2}-{each // 2 * 2 + 1}" for each in data["age"].to_pylist()]
    shown = data.set_column(2, "income", pa.array(["*"] * 60))
    shown = shown.set_column(0, "age", pa.array(pairs))
    classes = len(set(zip(pairs, data["sex"].to_pylist(), strict=True)))
    found = attack(shown, schema=SCHEMA, original=data, truth="same-order", seed=1, attacks=ONLY)
    assert found.outcomes[0].attempts == 0
    assert f": {classes}." in found.outcomes[0].notes[0]
    assert not found.warnings


@pytest.mark.parametrize("seed", range(5))
def test_counted_one_by_one(seed: int) -> None:
    """Persons with several records, of whom some are not in the release."""
    rng = np.random.default_rng(seed)
    ages, incomes = rng.integers(20, 50, 120), rng.integers(0, 100, 120)
    ids = [str(each) for each in rng.integers(0, 60, 120)]
    data = pa.table({"person": ids, "age": ages, "income": incomes})
    schema = Schema(
        person="person",
        quasi_identifiers={"age": {"kind": "numeric"}, "income": {"kind": "numeric"}},
    )
    low, decade = incomes // 20 * 20, ages // 10 * 10
    shown = pa.table(
        {
            "age": [f"{each}-{each + 9}" for each in decade],
            "income": [f"{each}-{each + 19}" for each in low],
        }
    )
    file, exact = read_release(shown, schema), hold(data, schema)
    inside = rng.random(exact.persons) < 0.7
    predicates = by_ends(file, rng, 1000)
    found = isolated(predicates, file, exact, inside)

    def count(value: float, of_decade: int) -> int:
        alike = (decade == of_decade) & (incomes == value) & inside[exact.person]
        return len(set(exact.person[alike].tolist()))

    assert len(found.alone) == 2 * file.classes
    for number, each in enumerate(predicates.class_of.tolist()):
        row = file.first_row[each]
        first, end = int(low[row]), float(predicates.value[number])
        assert end in (first, first + 19)
        assert found.alone[number] == (count(end, int(decade[row])) == 1)
        sizes = [s for s in (10, 5, 2, 1) if s <= 19]
        spacing = next(s for s in sizes if end % s == 0)
        even = [v for v in range(first + 1, first + 19) if v % spacing == 0]
        rounder = [s for s in sizes if s > spacing]
        between = [v for v in even if all(v % s for s in rounder)] or even
        counts = [count(v, int(decade[row])) for v in (*between, end)]
        share = np.mean([one == 1 for one in counts])
        expected = max(share, np.exp(-1)) if sum(counts) >= len(counts) else share
        assert found.chance[number] == pytest.approx(expected)


SETS = Schema(
    quasi_identifiers={
        "age": {"kind": "numeric"},
        "sex": {"kind": "categorical"},
        "town": {"kind": "categorical"},
    }
)


def citizens(seed: int, number: int, towns: int, *, alike: bool = False) -> pa.Table:
    """People of towns of very different sizes, or of the same."""
    rng = np.random.default_rng(seed)
    size = np.ones(towns) if alike else rng.pareto(1.2, towns) + 0.05
    return pa.table(
        {
            "age": rng.integers(18, 90, number),
            "sex": rng.choice(["F", "M"], number),
            "town": rng.choice(
                [f"T{each:03}" for each in range(towns)], number, p=size / sum(size)
            ),
        }
    )


@pytest.mark.parametrize(("towns", "k"), [(300, 3), (40, 5), (300, 20)])
@pytest.mark.parametrize("ends", ["tight", None])
def test_members_that_occur_single_out_and_those_of_blocks_do_not(
    towns: int, k: int, ends: str | None
) -> None:
    data = citizens(towns + k, 500, towns, alike=k == 20)
    made = {"values": "set", "ends": ends, "effort": 2}
    release = anonymize(data, SETS, KAnonymity(k), seed=1, **made)
    found = attack(release, seed=1, attacks=ONLY)
    (outcome,) = [each for each in found.outcomes if each.attack == "singling_out_members"]
    assert outcome.attempts > 30
    said = [each for each in found.warnings if each.startswith("Sets single")]
    assert len(said) == (ends == "tight")
    if ends:
        assert outcome.success.low is not None
        assert outcome.success.low > outcome.baseline.value + 0.1
    assert not found.broken


@pytest.mark.parametrize("seed", range(6))
def test_sets_drawn_around_a_class_are_within_chance(seed: int) -> None:
    """Classes and towns have nothing to do with each other; each set has 16 of 64 towns."""
    rng = np.random.default_rng(seed)
    data = citizens(seed, 400, 64, alike=seed % 2 == 0)
    place = np.array([int(each[1:]) // 16 for each in data["town"].to_pylist()])
    names = np.array([f"T{each:03}" for each in range(64)]).reshape(4, 16)
    cells = ["{" + ", ".join(names[each]) + "}" for each in place.tolist()]
    decade = data["age"].to_numpy() // 10 * 10
    shown = data.set_column(2, "town", pa.array(cells))
    shown = shown.set_column(0, "age", pa.array([f"{each}-{each + 9}" for each in decade]))
    order = rng.permutation(len(data))
    found = attack(
        shown.take(order), schema=SETS, original=data.take(order), truth="same-order",
        seed=seed, attacks=ONLY,
    )  # fmt: skip
    (outcome,) = [each for each in found.outcomes if each.attack == "singling_out_members"]
    assert outcome.attempts > 300
    assert not any(each.startswith("Sets single") for each in found.warnings)


def test_members_counted_one_by_one() -> None:
    """Of n people of m members, not all of one, by equal shares and by those of the file."""
    data = pa.table({"age": [20] * 5 + [30] * 4, "town": list("abccc") + list("dade")})
    schema = Schema(quasi_identifiers={"age": {"kind": "numeric"}, "town": {"kind": "categorical"}})
    cells = ["{a, b, c, x}"] * 5 + ["{a, d, e}"] * 4
    shown = data.set_column(1, "town", pa.array(cells))
    file, exact = read_release(shown, schema), hold(data, schema)
    inside = np.ones(9, dtype=np.bool_)
    rng = np.random.default_rng(1)
    found = by_members(file, exact, find_candidates(file, exact), inside, rng, 10)
    assert found.alone.sum() == 4
    assert len(found.alone) == 7

    def chance(people: int, shares: list[float]) -> list[float]:
        mixed = 1 - sum(each**people for each in shares)
        return [people * each * (1 - each) ** (people - 1) / mixed for each in shares]

    expected = []
    for people, often in ((5, [2, 1, 3, 0]), (4, [2, 2, 1])):
        alike = chance(people, [1 / len(often)] * len(often))
        own = chance(people, [each / sum(often) for each in often])
        expected += [max(pair) for pair in zip(alike, own, strict=True)]
    assert sorted(found.chance.tolist()) == pytest.approx(sorted(expected))
