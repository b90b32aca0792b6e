"""Table 3a of Kartal and Li (2020), checked with the numbers that the paper prints about it."""

from __future__ import annotations

from collections import Counter, defaultdict

import pyarrow as pa
import pytest

from sfumato.examples import worked_example
from sfumato.schema import Kind


def records() -> list[dict[str, object]]:
    rows: list[dict[str, object]] = worked_example()[0].to_pylist()
    return rows


def g_balance(names: list[object]) -> float:
    return 1 - sum((count / len(names)) ** 2 for count in Counter(names).values())


def test_size_and_order() -> None:
    table, _ = worked_example()
    assert table.column_names == ["admission_no", "name", "age", "gender", "zip", "disease"]
    assert len(table) == 19
    assert table["zip"].type == pa.string()
    names = table["name"].to_pylist()
    assert names == sorted(names)
    assert len(set(names)) == 8
    numbers = table["admission_no"].to_pylist()
    assert sorted(numbers) == [*range(1001, 1010), *range(2001, 2011)]


def test_g_balance_of_section_4() -> None:
    rows = records()
    assert g_balance([row["name"] for row in rows]) == pytest.approx(0.82, abs=0.005)
    women = [row["name"] for row in rows if row["gender"] == "Female"]
    men = [row["name"] for row in rows if row["gender"] == "Male"]
    assert (len(women), len(men)) == (4, 15)
    assert g_balance(women) == 0.5
    assert g_balance(men) == pytest.approx(0.747, abs=0.0005)


def test_persons_per_disease_of_section_4() -> None:
    persons = defaultdict(set)
    for row in records():
        persons[row["disease"]].add(row["name"])
    assert {disease: len(names) for disease, names in persons.items()} == {
        "Asthma": 2,
        "Bronchitis": 1,
        "Gastritis": 3,
        "Pneumonia": 3,
        "Reflux": 2,
        "Ulcer": 3,
    }


def test_variances_of_section_5() -> None:
    rows = records()

    def variance(values: list[float]) -> float:
        low, high = min(values), max(values)
        scaled = [(value - low) / (high - low) for value in values]
        mean = sum(scaled) / len(scaled)
        return sum((value - mean) ** 2 for value in scaled) / len(scaled)

    assert variance([float(row["gender"] == "Male") for row in rows]) == pytest.approx(
        0.1662, abs=5e-5
    )
    assert variance([float(str(row["age"])) for row in rows]) == pytest.approx(0.1202, abs=5e-5)
    assert variance([float(str(row["zip"])) for row in rows]) == pytest.approx(0.1959, abs=5e-5)


def test_schema() -> None:
    table, schema = worked_example()
    assert schema.person == "name"
    assert schema.direct_identifiers == ("admission_no",)
    assert schema.sensitive == ("disease",)
    assert {name: quasi.kind for name, quasi in schema.quasi_identifiers.items()} == {
        "age": Kind.NUMERIC,
        "gender": Kind.CATEGORICAL,
        "zip": Kind.NUMERIC,
    }
    assert set(schema.columns()) == set(table.column_names)
