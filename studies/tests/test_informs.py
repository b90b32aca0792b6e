"""Table 7 of paper 003 on the INFORMS patient data, near the paper and exactly as NOTES saw it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from studies.kartal_li.data_sets import PATIENT_DATA, patient_records
from studies.kartal_li.record_disclosure import (
    RiskRow,
    record_risk_drawing,
    record_risk_rows,
    record_risk_section,
)
from studies.kartal_li.tree_measurement import encode

from sfumato.core.errors import InputError

CHOSEN = {"pid_k": (2, 5), "g_balance": (0.50, 0.80, 0.95)}
Table = dict[str, dict[float, dict]]


@pytest.fixture(scope="module")
def patients(shared_data: Path) -> pa.Table:
    return patient_records(shared_data / "informs")


@pytest.fixture(scope="module")
def computed(patients: pa.Table) -> tuple[RiskRow, ...]:
    return record_risk_rows(encode(patients, PATIENT_DATA))


@pytest.fixture(scope="module")
def table(patients: pa.Table, computed: tuple[RiskRow, ...]) -> Table:
    grids = record_risk_section(encode(patients, PATIENT_DATA), computed).grids
    return {
        grid.name.removeprefix("table_7_"): {
            record["threshold"]: record for record in grid.records()
        }
        for grid in grids
    }


def test_the_selection(patients: pa.Table) -> None:
    assert patients.num_rows == 95_140
    assert len(patients["DUPERSID"].unique()) == 23_968


@pytest.mark.slow
@pytest.mark.parametrize(
    ("g", "max_gidr", "avg_gidr"), [(0.50, 70.0, 41.3), (0.80, 41.9, 21.1), (0.95, 18.1, 7.7)]
)
def test_g_balance(table: Table, g: float, max_gidr: float, avg_gidr: float) -> None:
    row = table["g_balance"][g]
    assert 100 * row["max_gidr"] == pytest.approx(max_gidr, abs=2)
    assert 100 * row["avg_gidr"] == pytest.approx(avg_gidr, abs=0.5)


@pytest.mark.slow
@pytest.mark.parametrize(("k", "max_gidr", "avg_gidr"), [(2, 96.7, 53.5), (5, 83.3, 28.4)])
def test_pid_based_k_anonymity(table: Table, k: int, max_gidr: float, avg_gidr: float) -> None:
    row = table["pid_k"][k]
    assert 100 * row["max_gidr"] == pytest.approx(max_gidr, abs=4)
    assert 100 * row["avg_gidr"] == pytest.approx(avg_gidr, abs=0.5)


@pytest.mark.slow
def test_the_whole_table_is_near_the_papers(table: Table) -> None:
    """Table 7: another selection of patients, so near: 7 points on average risks."""
    for part in ("k", "pid_k", "g_balance"):
        rows = table[part].values()
        assert len(rows) == 7
        for row in rows:
            assert row["avg_gidr"] == pytest.approx(row["avg_gidr_published"], abs=0.07)
            assert row["classes_released"] <= row["classes"]
            assert 0 < row["ane"] < 0.05
        averages = [row["avg_gidr"] for row in rows]
        assert averages == sorted(averages, reverse=True)
    assert [row["max_gidr"] for row in table["k"].values()][:6] == [1.0] * 6
    for row in table["g_balance"].values():
        assert row["max_gidr"] == pytest.approx(row["max_gidr_published"], abs=0.025)


def test_g_balance_beats_both_at_equal_numbers_of_persons(table: Table) -> None:
    """Section 7: the risks with g-balance are lower in every comparison."""
    tables = zip(*(table[part].values() for part in ("k", "pid_k", "g_balance")), strict=True)
    for k, pid_k, g in tables:
        for measure in ("max_gidr", "avg_gidr"):
            assert g[measure] < pid_k[measure] < k[measure]


@pytest.mark.slow
def test_shuffled_rows_change_nothing(patients: pa.Table) -> None:
    order = np.random.default_rng(4).permutation(patients.num_rows)
    first = record_risk_rows(encode(patients, PATIENT_DATA), CHOSEN)
    shuffled = encode(patients.take(pa.array(order)), PATIENT_DATA)
    second = record_risk_rows(shuffled, CHOSEN)
    assert len(first) == len(second) == 5
    for one, other in zip(first, second, strict=True):
        assert one.tree.classes == other.tree.classes
        assert one.tree.max_gidr == other.tree.max_gidr
        assert one.tree.avg_gidr == pytest.approx(other.tree.avg_gidr, abs=1e-12)


def test_the_classes_keep_what_was_asked(patients: pa.Table) -> None:
    """The threshold bounds the risk: Σ(c/N)² ≤ 1 - g* gives max c/N ≤ sqrt(1 - g*)."""
    chosen = {"g_balance": (0.5, 0.95)}
    for row in record_risk_rows(encode(patients, PATIENT_DATA), chosen):
        assert row.tree.max_gidr <= (1 - row.threshold) ** 0.5
        assert row.release.max_gidr <= row.tree.max_gidr


def test_the_plot_of_table_7(computed: tuple[RiskRow, ...]) -> None:
    drawn = record_risk_drawing(computed).draw()
    for said in ("MaxGIDR", "AvgGIDR", "g-balance", "printed in the paper"):
        assert said in drawn


# ----------------------------------------------------------------- a folder of four patients

CONDITIONS = {
    "DUPERSID": ["p1", "p2", "p1", "p3", "p2", "p9", "p4", "p4"],
    "ICD9CODX": ["250", "-9", "401", "250", " V22", "250", None, "401"],
}
DEMOGRAPHICS = {
    "DUPERSID": ["p4", "p3", "p2", "p1"],
    "DOBYY": [1950, 1960, 1970, 1980],
    "EDUCYEAR": [0, -8, 12, 16],
    "income": [1, 2, -3, 4],
    "poverty": [1, 2, 3, 4],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, conditions=CONDITIONS, demographics=DEMOGRAPHICS)
    return tmp_path


def write(folder: Path, **tables: dict[str, list]) -> None:
    for name, columns in tables.items():
        pq.write_table(pa.table(columns), folder / f"{name}_2005.parquet")


def test_negative_codes_and_unknown_patients_are_dropped(folder: Path) -> None:
    joined = patient_records(folder)
    assert joined["DUPERSID"].to_pylist() == ["p1", "p1", "p2", "p4"]
    assert joined["ICD9CODX"].to_pylist() == ["250", "401", " V22", "401"]
    assert joined["income"].to_pylist() == [4, 4, -3, 1]


@pytest.mark.parametrize("name", ["conditions", "demographics"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / f"{name}_2005.parquet").unlink()
    with pytest.raises(InputError, match=rf"{name}_2005\.parquet"):
        patient_records(folder)


def test_a_damaged_file_is_refused(folder: Path) -> None:
    (folder / "conditions_2005.parquet").write_bytes(b"PAR1 no more")
    with pytest.raises(InputError, match=r"conditions_2005\.parquet"):
        patient_records(folder)


@pytest.mark.parametrize("column", list(DEMOGRAPHICS))
def test_a_missing_column_is_named(folder: Path, column: str) -> None:
    write(folder, demographics={k: v for k, v in DEMOGRAPHICS.items() if k != column})
    with pytest.raises(InputError, match=column):
        patient_records(folder)


def test_a_patient_in_two_rows_is_refused(folder: Path) -> None:
    write(folder, demographics={k: [*v, v[0]] for k, v in DEMOGRAPHICS.items()})
    with pytest.raises(InputError, match="each patient once"):
        patient_records(folder)


@pytest.mark.parametrize(
    ("table", "column", "values"),
    [
        ("conditions", "ICD9CODX", list(range(8))),
        ("conditions", "DUPERSID", list(range(8))),
        ("demographics", "EDUCYEAR", ["canary", "a", "b", "c"]),
    ],
)
def test_columns_of_another_type_are_refused(
    folder: Path, table: str, column: str, values: list
) -> None:
    content = CONDITIONS if table == "conditions" else DEMOGRAPHICS
    write(folder, **{table: content | {column: values}})
    with pytest.raises(InputError, match=column) as caught:
        patient_records(folder)
    assert "canary" not in str(caught.value)
