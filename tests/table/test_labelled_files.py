"""Files of Excel, Stata and SPSS: the same table comes back, with the labels of what occurs."""

from __future__ import annotations

import datetime as dt
import time
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest

import sfumato as sf
from sfumato.table.sources import Labels
from sfumato.table.table_files import open_source, write_table

SUFFIXES = [".xlsx", ".dta", ".sav"]
TABLE = pa.table(
    {
        "id": ["a", "b", "ü", None],
        "age": ["20-29", "=30", "#N/A", "*"],
        "n": pa.array([1, 2, None, 2]),
        "x": [1.5, None, -2.25, 3.0],
        "day": [dt.date(2020, 2, 29), None, dt.date(1899, 5, 1), dt.date(2020, 1, 1)],
        "flag": [True, False, None, True],
    }
)
LABELS = Labels(
    {"n": "Sex of the person", "gone": "not there"}, {"n": {1.0: "male", 2.0: "female", 9.0: "no"}}
)


def back(path: Path) -> dict[str, list[Any]]:
    source = open_source(path)
    return pa.Table.from_batches(source.batches(source.names)).to_pydict()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_same_table_comes_back(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"out{suffix}"
    table = TABLE if suffix != ".xlsx" else TABLE.drop_columns(["age"])
    write_table(table, path, labels=LABELS)
    wanted = table.to_pydict()
    if suffix != ".xlsx":
        wanted["flag"] = [1, 0, None, 1]
    assert back(path) == wanted


@pytest.mark.parametrize("suffix", [".dta", ".sav"])
def test_labels_of_what_occurs_are_kept(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"out{suffix}"
    write_table(TABLE, path, labels=LABELS)
    labels = open_source(path).labels
    assert labels.columns == {"n": "Sex of the person"}
    assert labels.values == {"n": {1.0: "male", 2.0: "female"}}


def test_excel_holds_texts_as_texts_and_labels_on_a_second_sheet(tmp_path: Path) -> None:
    write_table(TABLE, tmp_path / "out.xlsx", labels=LABELS)
    book = openpyxl.load_workbook(tmp_path / "out.xlsx")
    assert [cell.data_type for cell in book["Records"]["B"]] == ["s"] * 5
    assert [cell.value for cell in book["Records"]["B"]][2:4] == ["=30", "#N/A"]
    assert list(book["Labels"].values) == [
        ("column", "label", "value", "label of the value"),
        ("n", "Sex of the person", None, None),
        ("n", None, 1, "male"),
        ("n", None, 2, "female"),
    ]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_same_table_makes_the_same_bytes(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_table(TABLE, tmp_path / f"one{suffix}", labels=LABELS)
    time.sleep(2.1 if suffix == ".xlsx" else 1.1)
    write_table(TABLE, tmp_path / f"two{suffix}", labels=LABELS)
    one, two = ((tmp_path / f"{name}{suffix}").read_bytes() for name in ("one", "two"))
    assert one == two


@pytest.mark.parametrize(
    ("suffix", "table", "said"),
    [
        (".dta", pa.table({"two words": [1]}), "names of columns that the format takes"),
        (".sav", pa.table({"9": [1]}), "others: '9'"),
        (".xlsx", pa.table({"a": ["x\x01"]}), "control characters, or a text that is too long"),
        (".xlsx", pa.table({"a": ["x" * 40_000]}), "control characters, or a text"),
    ],
)
def test_what_a_format_cannot_hold(suffix: str, table: pa.Table, said: str, tmp_path: Path) -> None:
    with pytest.raises(sf.InputError, match=said):
        write_table(table, tmp_path / f"out{suffix}")
    assert not list(tmp_path.iterdir())


def test_a_release_keeps_the_labels_of_its_columns(tmp_path: Path) -> None:
    frame = pd.DataFrame({"sex": [1.0, 2.0] * 10, "dx": [1.0, 3.0] * 10, "ward": [7.0, 8.0] * 10})
    names = {"sex": "Sex", "dx": "Diagnosis", "ward": "Ward"}
    said = {"sex": {1: "male", 2: "female"}, "dx": {1: "flu", 2: "gout", 3: "scurvy"}}
    pyreadstat.write_sav(frame, tmp_path / "in.sav", column_labels=names,
                         variable_value_labels=said)  # fmt: skip
    schema = sf.Schema(
        quasi_identifiers={"sex": "categorical"}, sensitive="dx", direct_identifiers="ward"
    )
    release = sf.anonymize(tmp_path / "in.sav", schema, sf.KAnonymity(2), seed=1)
    release.write(tmp_path / "out.sav")
    labels = open_source(tmp_path / "out.sav").labels
    assert labels.columns == {"sex": "Sex", "dx": "Diagnosis"}
    assert labels.values == {"sex": {"1": "male", "2": "female"}, "dx": {1.0: "flu", 3.0: "scurvy"}}


@pytest.fixture
def told(tmp_path: Path) -> Path:
    """Visits in a file of SPSS, whose labels name people and values of other columns."""
    people = ["Vries, Anna de", "Bo Larsson", "Ali Kaya", "Mia Novak"]
    frame = pd.DataFrame({
        "pid": [f"12-{n // 2:03}.7" for n in range(40)],
        "name": [people[n // 2 % 4] for n in range(40)],
        "born": [dt.date(1970, 5, 1 + n // 2) for n in range(40)],
        "town": ["Grünau", "Halden"] * 20,
        "sex": [1.0, 2.0] * 20,
        "dx": [float(n % 3) for n in range(40)],
        "drug": [float(n % 5) for n in range(40)],
        "plain": [float(n % 2) for n in range(40)],
    })  # fmt: skip
    labels = {
        "pid": "Number of the person, as 12-001.7",
        "name": "Name",
        "town": "Where they live, Halden or Grünau",
        "sex": "Sex of the person",
        "dx": "Diagnosis (anna de  VRIES alone: 2)",
        "drug": "Drugs given in GRUNAU",
        "plain": "Comes again",
    }
    said = {
        "sex": {1: "male", 2: "female"},
        "dx": {0: "flu", 1: "as 12 001 7 has", 2: "born 03.05.1970"},
        "drug": {0: "none", 1: "what Novak takes", 2: "of Dr. Unheard", 3: "for Maria Schmidt"},
        "plain": {0: "no", 1: "yes", 9: "of Halden"},
    }
    path = tmp_path / "in.sav"
    pyreadstat.write_sav(frame, path, column_labels=labels, variable_value_labels=said,
                         file_label="Halden 12-001.7", note="Bo Larsson")  # fmt: skip
    return path


def released(path: Path, **options: Any) -> sf.Release:
    schema = sf.Schema(
        person="pid",
        quasi_identifiers={"town": "categorical", "sex": "categorical"},
        sensitive="dx",
        insensitive=["drug", "plain"],
        direct_identifiers=["name", "born"],
    )
    return sf.anonymize(path, schema, sf.PidKAnonymity(12), seed=1, **options)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_no_label_tells_what_the_release_hides(suffix: str, told: Path, tmp_path: Path) -> None:
    release = released(told)
    assert set(release.table["town"].to_pylist()) == {"*"}
    labels = release.content.shown_labels
    assert labels.columns == {"plain": "Comes again"}
    assert labels.values == {
        "dx": {0: "flu"}, "drug": {0: "none"}, "plain": {0: "no", 1: "yes"}
    }  # fmt: skip
    release.write(tmp_path / f"out{suffix}")
    book = (tmp_path / "out.codebook.md").read_text(encoding="utf-8")
    path = tmp_path / f"out{suffix}"
    parts = [path.read_bytes()]
    if suffix == ".xlsx":
        with zipfile.ZipFile(path) as kept:
            parts = [kept.read(each) for each in kept.namelist()]
    files = "".join(each.decode("latin-1") for each in parts)
    for hidden in (
        "Anna",
        "anna de",
        "Novak",
        "Halden",
        "GRUNAU",
        "Unheard",
        "Schmidt",
        "1970",
        "Larsson",
    ):
        assert hidden not in book
        assert hidden not in files
    assert "'dx', 'drug'" in next(each for each in release.warnings if "labels" in each)


def test_a_column_that_is_withheld_counts_as_hidden(told: Path) -> None:
    assert "plain" in released(told).content.shown_labels.columns
    left = released(told, withhold=["plain"]).content.shown_labels
    assert "plain" not in {*left.columns, *left.values}


def test_an_unchanged_quasi_identifier_keeps_its_labels(told: Path) -> None:
    schema = sf.Schema(quasi_identifiers={"sex": "categorical"}, sensitive="dx",
                       direct_identifiers=["pid", "name", "born", "town", "drug"],
                       insensitive="plain")  # fmt: skip
    labels = sf.anonymize(told, schema, sf.KAnonymity(4), seed=1).content.shown_labels
    assert labels.columns["sex"] == "Sex of the person"
    assert labels.values["sex"] == {1: "male", 2: "female"}
