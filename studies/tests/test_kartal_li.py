"""The study on small files in the published formats: what is found, computed, and said."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from studies import Study, kartal_li_2020
from studies.kartal_li.data_sets import DATA_SETS
from studies.kartal_li.kartal_li_example import Example
from studies.kartal_li.published_numbers import (
    RECORD_LOSSES,
    RECORD_RISKS,
    VALUE_LOSSES,
    VALUE_RISKS,
)
from studies.kartal_li.tree_measurement import decompose, person_rows
from studies.study_figures import least_at_each_risk
from studies.study_files import locate
from studies.tests.small_files import bank_files, movielens_files

from sfumato.core.errors import InputError
from sfumato.release.person_table import person_table

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    folder = tmp_path_factory.mktemp("data")
    movielens_files(folder / "movielens")
    bank_files(folder)
    told: list[tuple[str, float]] = []
    made = kartal_li_2020(folder, progress=lambda stage, share: told.append((stage, share)))
    stages = list(dict.fromkeys(stage for stage, _share in told))
    assert [each for each in stages if each.startswith("Table")] == [
        f"Table {number}" for number in (8, 11, 14, 17, 9, 12, 15, 18)
    ]
    assert all(0 <= share <= 1 for _stage, share in told)
    return made


def test_absent_files_are_said(study: Study) -> None:
    said = study.to_markdown()
    assert "the data folder lacks conditions_2005.parquet, demographics_2005.parquet" in said
    assert "Tables 7, 10, 13 and 16" in said
    assert set(study.drawings) == {
        *("worked_example", "table_8", "table_11", "table_17"),
        *("table_9", "table_12", "table_18"),
    }


@pytest.mark.parametrize("number", [8, 9])
def test_record_risks(study: Study, number: int) -> None:
    for part, bound in (("k", 1), ("pid_k", 1), ("g_balance", None)):
        rows = study.grid(f"table_{number}_{part}").records()
        assert len(rows) == 7
        for row in rows:
            assert row["max_gidr"] is not None or row["threshold"] in {0.98, 50}
            if row["max_gidr"] is not None:
                limit = bound or (1 - row["threshold"]) ** 0.5
                assert row["avg_gidr"] <= row["max_gidr"] <= limit + 1e-9


@pytest.mark.parametrize("number", [11, 12])
def test_losses_stay_below_the_target(study: Study, number: int) -> None:
    rows = study.grid(f"table_{number}").records()
    assert [row["target"] for row in rows] == [0.25, 0.20, 0.15, 0.10, 0.05]
    for row in rows:
        for part in ("k", "pid_k", "g_balance"):
            assert row[f"{part}_max_gidr"] is None or row[f"{part}_max_gidr"] <= row["target"]
            assert row[f"{part}_ane_published"] > 0


@pytest.mark.parametrize("number", [14, 15])
def test_h_bounds_the_risk(study: Study, number: int) -> None:
    rows = study.grid(f"table_{number}").records()
    assert len(rows) == 15
    assert any(row["h_max_gsar"] is not None for row in rows)
    for row in rows:
        assert row["h_max_gsar"] is None or row["h_max_gsar"] <= row["h"] + 1e-9


@pytest.mark.parametrize("number", [17, 18])
def test_value_losses_stay_below_the_target(study: Study, number: int) -> None:
    rows = study.grid(f"table_{number}").records()
    assert [row["target"] for row in rows] == [0.20, 0.15, 0.10] * 3
    assert any(row["h_ane"] is not None for row in rows)
    for row in rows:
        for name in ("l", "distinct", "h"):
            assert row[f"{name}_max_gsar"] is None or row[f"{name}_max_gsar"] <= row["target"]


def test_it_is_written_with_its_plots(study: Study, tmp_path: Path) -> None:
    study.write(tmp_path)
    assert len(list(tmp_path.glob("*.svg"))) == 7
    assert "MaxGSAR" in (tmp_path / "table_17.svg").read_text()
    assert "PID-based K-anonymity" in (tmp_path / "table_12.svg").read_text()
    json.loads((tmp_path / "study.json").read_text())


def test_a_folder_without_any_data_set_is_refused(tmp_path: Path) -> None:
    (tmp_path / "u.data").write_text("")
    with pytest.raises(InputError, match=r"patient data: conditions_2005\.parquet.*movie.*bank"):
        kartal_li_2020(tmp_path)


def test_the_folder_that_lacks_fewest_is_named(tmp_path: Path) -> None:
    (tmp_path / "berka").mkdir()
    (tmp_path / "berka" / "trans.asc").write_text("")
    found = locate(tmp_path, DATA_SETS[2].folders, DATA_SETS[2].files)
    assert found.folder == tmp_path / "berka"
    assert found.absent == ("client.asc", "account.asc", "disp.asc", "district.asc")


# ------------------------------------------------------------------- the numbers of the paper


def test_the_paper_claims_what_it_prints() -> None:
    """Sections 7 and 8: least loss with g and with h in every row; lower risks with them."""
    for table in RECORD_LOSSES.values():
        for row in table.values():
            assert row["g_balance"].ane < min(row["k"].ane, row["pid_k"].ane)
            assert row["g_balance"].largest <= min(row["k"].largest, row["pid_k"].largest)
    for table in VALUE_LOSSES.values():
        assert len(table["l"]) == len(table["h"]) == 9
        for key in table["h"]:
            assert table["h"][key].ane < table["l"][key].ane
    for table in VALUE_RISKS.values():
        for (g, l), h in zip(table["l"], [h for _g, h in table["h"]], strict=True):
            assert table["h"][g, h].largest <= table["l"][g, l].largest
    for table in RECORD_RISKS.values():
        for k, pid_k, g in zip(*(each.values() for each in table.values()), strict=True):
            assert g.largest < pid_k.largest <= k.largest


# ----------------------------------------------------------------------- the baseline of Section 2


def test_the_decomposition_of_the_worked_example() -> None:
    """Section 2: nobody is alone, and still 5/8 of a class's records are one patient's."""
    grid = kartal_li_2020().grid("decomposition").records()
    assert [each["persons"] for each in grid] == [
        "Ashley, Charlie, Diana, Edward",
        "Bob, Fred, Greg, Harry",
    ]
    assert [each["gidr"] for each in grid] == pytest.approx([5 / 11, 5 / 8])
    assert all(each["distinct"] >= 3 and each["h"] >= 0.5 for each in grid)


def test_the_first_table_has_each_persons_rows_once() -> None:
    """Charlie has three ages, Harry three; who has how many records is not in it."""
    example = Example()
    apart = person_rows(example.table, person_table(example.table))
    names = list(dict.fromkeys(example.names))
    assert dict(zip(names, apart.records.tolist(), strict=True)) == {
        **dict.fromkeys(names, 1),
        "Charlie": 3,
        "Harry": 3,
    }
    assert decompose(example.table, apart, 9, 1) is None
    partition, _seconds = decompose(example.table, person_table(example.table), 2, 1)
    assert np.bincount(partition.class_of_person).min() >= 2


def test_the_frontier_keeps_what_no_other_beats() -> None:
    def row(series: str, risk: float, loss: float) -> dict:
        return {"series": series, "risk": risk, "loss": loss}

    rows = [row("a", 0.5, 1), row("a", 0.2, 2), row("a", 0.4, 3), row("b", 0.4, 3)]
    assert least_at_each_risk(rows) == [rows[1], rows[3], rows[0]]
