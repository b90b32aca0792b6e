"""A value planted in every column leaves sfumato through the release alone."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from cli.conftest import RELEASED, Run
from cli.malformed.case import CANARY, GOOD, NUMBER, RECORDS, to_csv
from cli.malformed.files import BROKEN_UTF8
from few_cases import fast_first

import sfumato as sf
from sfumato.table.door import open_table

CELLS: dict[str, str] = {
    "patient": "zqPatient7",
    "name": "zqName7",
    "age": "918273645",
    "born": "1871-02-13",
    "income": "82736.4519",
    "edu": "zqEducation7",
    "sex": "zqSex7",
    "zip": "zqZip7",
    "icd9": "zqDisease7",
    "drug": "zqDrug7",
    "note": "zqNote7",
    "other": "zqOther7",
}
"""What stands in one row, by column."""
CANARIES = tuple(cell.lower() for cell in CELLS.values())
PERSONS = 20
VALUES = ("range", "bounds", "mean", "set", "hierarchy")

SCHEMA = """
person = "patient"
direct_identifiers = ["name"]
sensitive = ["icd9", "drug"]
insensitive = ["note", "other"]
[quasi_identifiers.age]
kind = "numeric"
hierarchy = { widths = [10, 50] }
[quasi_identifiers.born]
kind = "numeric"
[quasi_identifiers.income]
kind = "numeric"
[quasi_identifiers.edu]
kind = "ordered"
hierarchy = "edu.csv"
[quasi_identifiers.sex]
kind = "categorical"
[quasi_identifiers.zip]
kind = "categorical"
hierarchy = { lengths = [3] }
"""


def columns() -> dict[str, list[str]]:
    """Three records of each person; the canaries in one of them."""
    persons = [row // 3 for row in range(3 * PERSONS)]
    made = {
        "patient": [f"p{person}" for person in persons],
        "name": [f"Name {person}" for person in persons],
        "age": [str(20 + person) for person in persons],
        "born": [f"{1990 - person}-01-31" for person in persons],
        "income": [f"{1000 * person}.5" for person in persons],
        "edu": [("low", "high")[person % 2] for person in persons],
        "sex": ["fm"[person % 2] for person in persons],
        "zip": [f"75{person:03d}" for person in persons],
        "icd9": [f"{250 + row % 7}.1" for row in range(len(persons))],
        "drug": [f"drug {row % 5}" for row in range(len(persons))],
        "note": [f"note {row}" for row in range(len(persons))],
        "other": [f"other {row}" for row in range(len(persons))],
    }
    for name, cell in CELLS.items():
        made[name][30] = cell
    return made


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    """A folder with the file, its schema and a hierarchy."""
    (tmp_path / "visits.csv").write_text(to_csv(columns()), encoding="utf-8")
    (tmp_path / "schema.toml").write_text(SCHEMA, encoding="utf-8")
    leaves = "low;some;*\nhigh;more;*\n" + CELLS["edu"] + ";more;*\n"
    (tmp_path / "edu.csv").write_text(leaves, encoding="utf-8")
    return tmp_path


def check_clean(*texts: str) -> None:
    for text in texts:
        for canary in CANARIES:
            assert canary not in text.lower()


def names(folder: Path) -> str:
    return "\n".join(path.name for path in folder.rglob("*"))


def test_the_canaries_are_in_the_file(clinic: Path) -> None:
    text = (clinic / "visits.csv").read_text(encoding="utf-8").lower()
    assert all(canary in text for canary in CANARIES)


@pytest.mark.parametrize(
    "words", fast_first(1, [(), ("--output", "proposed.toml"), ("--delimiter", ",")])
)
def test_schema_guess(words: tuple[str, ...], clinic: Path, run: Run) -> None:
    result = run("schema", "guess", "visits.csv", *words)
    assert result.code == 0
    check_clean(result.out, result.err, names(clinic))
    if words[:1] == ("--output",):
        check_clean((clinic / "proposed.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("words", [(), ("--json",), ("--report", "profile.html")])
def test_profile(words: tuple[str, ...], clinic: Path, run: Run) -> None:
    result = run("profile", "visits.csv", *words)
    assert result.code == 0
    check_clean(result.out, result.err, names(clinic))
    if words[:1] == ("--report",):
        for path in clinic.glob("profile.*"):
            check_clean(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("words", [(), ("--json",), ("--threshold", "0.05")])
def test_assess(
    words: tuple[str, ...], clinic: Path, run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    result = run("assess", "visits.csv", "--schema", "schema.toml", *words)
    assert result.code == 0
    check_clean(result.out, result.err, caplog.text, names(clinic))


def direct_identifiers_in(path: Path) -> bool:
    raw = path.read_bytes().lower()
    return CELLS["name"].lower().encode() in raw or CELLS["patient"].lower().encode() in raw


@pytest.mark.parametrize("json", [(), ("--json",)], ids=["text", "json"])
@pytest.mark.parametrize("values", fast_first(2, VALUES))
def test_anonymize(
    values: str,
    json: tuple[str, ...],
    clinic: Path,
    run: Run,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    output = f"release.{'parquet' if json else 'csv'}"
    line = ("anonymize", "visits.csv", "--schema", "schema.toml", "--pid-k", "3")
    result = run(*line, "--values", values, "--output", output, *json)
    assert result.code in RELEASED
    manifest = (clinic / "release.toml").read_text(encoding="utf-8")
    check_clean(result.out, result.err, caplog.text, manifest, names(clinic))
    assert not direct_identifiers_in(clinic / output)


def test_sensitive_values_are_in_the_release(clinic: Path, run: Run) -> None:
    """The check above could not fail if the release held nothing."""
    line = ("anonymize", "visits.csv", "--schema", "schema.toml", "--pid-k", "3")
    run(*line, "--output", "release.csv")
    text = (clinic / "release.csv").read_text(encoding="utf-8")
    assert all(CELLS[name] in text for name in ("icd9", "drug", "note", "other"))


def test_what_cannot_be_met(clinic: Path, run: Run) -> None:
    line = ("anonymize", "visits.csv", "--schema", "schema.toml", "--output", "release.csv")
    result = run(*line, "--h-affiliation", "0.01", "--g-balance", "0.999", "--l", "99")
    assert result.code == 5
    check_clean(result.out, result.err)


@pytest.mark.parametrize("suffix", fast_first(1, [".json", ".html"]))
def test_reports(suffix: str, clinic: Path, run: Run) -> None:
    common = ("visits.csv", "--schema", "schema.toml", "--report", f"report{suffix}")
    for words in (
        ("assess", *common),
        ("anonymize", *common, "--pid-k", "3", "--output", "release.csv"),
    ):
        result = run(*words)
        assert result.code in RELEASED
        report = (clinic / f"report{suffix}").read_text(encoding="utf-8")
        check_clean(result.out, result.err, names(clinic), report)
        check_clean((clinic / "report.json").read_text(encoding="utf-8"))


def shown(result: Any) -> list[str]:
    """Every text that a notebook or a log would show of an object."""
    html = getattr(result, "_repr_html_", str)
    return [repr(result), str(result), html(), f"{result}"]


def test_results_in_a_notebook(clinic: Path) -> None:
    schema = sf.load_schema(clinic / "schema.toml")
    risk = sf.assess(clinic / "visits.csv", schema)
    check_clean(*shown(risk), *shown(risk.summary))
    release = sf.anonymize(clinic / "visits.csv", schema, sf.PidKAnonymity(3), seed=1)
    for part in (release, release.risk, release.risk_before, release.utility, release.manifest):
        check_clean(*shown(part))
    table = open_table(clinic / "visits.csv", schema)
    check_clean(*shown(table), *table.warnings)
    for column in (*table.quasi_identifiers, *table.sensitive):
        check_clean(*shown(column), *shown(column.domain), *shown(column.hierarchy))


FRAME: dict[str, Any] = {name: list(values) for name, values in GOOD.items()}
FRAME["age"] = [int(age) for age in GOOD["age"]]
PLAIN = {
    "person": "patient",
    "direct_identifiers": "name",
    "sensitive": "icd9",
    "quasi_identifiers": {"age": "numeric", "sex": "categorical"},
}


def changed(**columns: Any) -> dict[str, Any]:
    return {**FRAME, **columns}


def assess(data: Any, **fields: Any) -> Callable[[], Any]:
    return lambda: sf.assess(data, sf.Schema(**{**PLAIN, **fields}))


def release(data: Any, *promises: Any, **options: Any) -> Callable[[], Any]:
    return lambda: sf.anonymize(data, sf.Schema(**PLAIN), *promises, **options)


MIXED: list[Any] = [CANARY, NUMBER, None, b"x", 1.5, *[CANARY] * (RECORDS - 5)]
TEXT = [f"{CANARY} {row}" for row in range(RECORDS)]
K2 = sf.KAnonymity(2)
FAULTS: dict[str, Callable[[], Any]] = {
    "pandas: text as number": assess(pd.DataFrame(changed(age=TEXT))),
    "pandas: text among numbers": assess(
        pd.DataFrame(changed(age=[*FRAME["age"][:-1], CANARY])),
        quasi_identifiers={"age": "numeric"},
    ),
    "pandas: everything in one column": assess(pd.DataFrame(changed(sex=MIXED))),
    "pandas: everything in a sensitive column": assess(pd.DataFrame(changed(icd9=MIXED))),
    "pandas: everything in the person column": assess(pd.DataFrame(changed(patient=MIXED))),
    "pandas: lists": assess(pd.DataFrame(changed(sex=[[CANARY]] * RECORDS))),
    "pandas: infinite": assess(pd.DataFrame(changed(age=[float("inf")] * RECORDS))),
    "pandas: a column twice": assess(pd.DataFrame([[CANARY] * 2], columns=["age", "age"])),
    "pandas: a number as name": assess(pd.DataFrame({NUMBER: TEXT, "age": TEXT})),
    "pandas: nobody": assess(pd.DataFrame(changed(patient=[None] * RECORDS))),
    "polars: text as number": assess(pl.DataFrame(changed(age=TEXT))),
    "polars: lists": assess(pl.DataFrame(changed(icd9=[[CANARY]] * RECORDS))),
    "polars: nested records": assess(pl.DataFrame(changed(sex=[{"a": CANARY}] * RECORDS))),
    "polars: objects": assess(
        pl.DataFrame(changed(sex=pl.Series([CANARY, NUMBER] * 6, dtype=pl.Object)))
    ),
    "Arrow: no UTF-8": assess(pa.table(changed(sex=BROKEN_UTF8))),
    "Arrow: no UTF-8, handed on": release(pa.table(changed(note=BROKEN_UTF8)), K2),
    "Arrow: bytes": assess(pa.table(changed(sex=[CANARY.encode()] * RECORDS))),
    "Arrow: huge numbers": assess(pa.table(changed(age=[2**60 + NUMBER] * RECORDS))),
    "NumPy": assess(np.array([[CANARY] * 3] * 3)),
    "a list": assess([CANARY, NUMBER]),
    "a mapping": assess({"age": [CANARY]}),
    "text that is no path": assess(f"{CANARY}\n" * 3),
    "a schema that is none": lambda: sf.Schema(person=[CANARY], quasi_identifiers=NUMBER),
    "an order that is none": lambda: sf.Schema(
        quasi_identifiers={"edu": {"kind": "ordered", "order": [NUMBER, CANARY, CANARY]}}
    ),
    "a category beside the order": assess(
        pd.DataFrame(FRAME), quasi_identifiers={"edu": {"kind": "ordered", "order": ["low"]}}
    ),
    "no release": release(pd.DataFrame(FRAME), sf.HAffiliation(0.01)),
    "no promise that is one": release(pd.DataFrame(FRAME), CANARY),
    "a promise about no attribute": release(
        pd.DataFrame(FRAME), sf.HAffiliation(0.5, attribute=CANARY)
    ),
    "unknown values": release(pd.DataFrame(FRAME), K2, values=CANARY),
    "a threshold as text": release(pd.DataFrame(FRAME), K2, threshold=CANARY),
    "a seed as text": release(pd.DataFrame(FRAME), K2, seed=CANARY),
    "a cap as text": release(pd.DataFrame(FRAME), K2, cap_records=CANARY),
    "a short key": release(pd.DataFrame(FRAME), K2, pseudonym_key=CANARY.encode()),
    "a key as text": release(pd.DataFrame(FRAME), K2, pseudonym_key=CANARY * 5),
    "a delimiter of a frame": lambda: sf.assess(
        pd.DataFrame(FRAME), sf.Schema(**PLAIN), delimiter=CANARY
    ),
    "g as text": lambda: sf.GBalance(CANARY),
    "k as text": lambda: sf.KAnonymity(CANARY),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_errors_of_the_python_interface(fault: str) -> None:
    with pytest.raises(sf.SfumatoError) as caught:
        FAULTS[fault]()
    printed = "".join(traceback.format_exception(caught.value))
    for text in (str(caught.value), repr(caught.value), printed):
        assert CANARY.lower() not in text.lower()
        assert str(NUMBER) not in text
