"""What a linkage expects of its persons against the truth, on data with families.

Usage: truth.py [--long] [--kept FILE] [ROW ...]

All rows where none is named, but for those of LONG, of 100,000 persons and more, which --long adds.
Rows that FILE has are not measured again; others are added to it, each as it is done.

Without labels: expected precision of the persons, over all pairs of records within them, must be
within 1.5 points of the true one, recall within 3 points. "null" is an answer where it cannot be
known. "!" stands where the truth lies outside the interval. The truth is counted here, pair by
pair, from the records' labels and the persons written.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from families import FamilyOptions, generate_families

from sfumato.core.errors import InputError
from sfumato.examples.clinics import generate_clinics
from sfumato.examples.registrations import generate_registrations
from sfumato.linkage.link import link
from sfumato.linkage.link_spec import LinkSpec, Mode
from sfumato.linkage.spec_suggestion import suggest_links

Row = tuple[dict[str, pa.Table], np.ndarray, Mode]
DATA = Path(os.environ.get("SFUMATO_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
CLOSE = {"precision": 0.015, "recall": 0.03}
OF_THE_HOUSE = ["hse_num", "ENUMCAP", "str_nam", "cap_add", "ENUMPC"]
BIRTH = {"DOB_DAY": "birth_day", "DOB_MON": "birth_month", "DOB_YEAR": "birth_year"}


def euro(form: str) -> Row:
    """Census and register, with one column of dates or three, with addresses or without."""
    census = pq.read_table(DATA / "euro" / "euro_census.parquet")
    register = pq.read_table(DATA / "euro" / "euro_population.parquet")
    register = register.rename_columns({"PERNAME1": "first_name", "PERNAME2": "last_name"})
    tables = {"census": census, "register": register.select(
        [name for name in census.column_names if name != "CENSUS_ID"]
    )}  # fmt: skip
    truth = np.concatenate([np.array(each["PERSON_ID"].to_pylist()) for each in tables.values()])
    made = {}
    for name, table in tables.items():
        kept = table.drop_columns(
            [n for n in ("PERSON_ID", "CENSUS_ID") if n in table.column_names]
        )
        if form == "as they come":
            made[name] = kept
            continue
        if form == "addresses":
            kept = kept.drop_columns(["ENUMCAP", "cap_add"])
            named = {"hse_num": "house_number", "str_nam": "street", "ENUMPC": "postcode"}
            kept = kept.rename_columns(named)
        else:
            kept = kept.drop_columns(OF_THE_HOUSE)
        if form == "three columns":
            kept = kept.rename_columns(BIRTH)
        else:
            year, month, day = (
                kept[each].cast(pa.string()) for each in ("DOB_YEAR", "DOB_MON", "DOB_DAY")
            )
            padded = [pc.utf8_lpad(each, 2, "0") for each in (month, day)]
            date = pc.binary_join_element_wise(year, *padded, "-")
            kept = kept.drop_columns(list(BIRTH)).append_column("dob", date)
        made[name] = kept
    return made, truth, Mode.LINK_ONLY


def clinics(persons: int, *, once: bool = False, seed: int = 1) -> Row:
    """Registrations at two clinics, some persons at one of them twice, or each once."""
    made = generate_registrations(generate_clinics(persons, rng=seed))
    tables = {"hospital": made.hospital, "practice": made.practice}
    person = dict(
        zip(made.truth["patient"].to_pylist(), made.truth["person"].to_pylist(), strict=True)
    )
    if once:
        for name, table in tables.items():
            own = np.array([person[each] for each in table["patient"].to_pylist()])
            tables[name] = table.take(np.sort(np.unique(own, return_index=True)[1]))
    truth = [person[each] for table in tables.values() for each in table["patient"].to_pylist()]
    return tables, np.array(truth), Mode.LINK_AND_DEDUPE


def febrl(*names: str) -> Row:
    """Datasets of FEBRL."""
    tables, truth = {}, []
    for name in names:
        path = DATA / "febrl" / f"{name}.csv"
        headers = path.open(encoding="utf-8").readline().rstrip().split(",")
        text = pa_csv.ConvertOptions(column_types=dict.fromkeys(headers, pa.string()))
        table = pa_csv.read_csv(path, convert_options=text)
        tables[name] = table.rename_columns([header.strip() for header in headers])
        truth += [each.split("-")[1] for each in tables[name]["rec_id"].to_pylist()]
    return tables, np.array(truth), Mode.LINK_ONLY if len(names) > 1 else Mode.DEDUPE_ONLY


def fake_people() -> Row:
    """One thousand records with labels."""
    table = pa_csv.read_csv(DATA / "fake_people" / "fake_1000.csv")
    truth = np.array(table["cluster"].to_pylist())
    return {"fake": table.drop_columns(["cluster"])}, truth, Mode.DEDUPE_ONLY


def families(mode: Mode = Mode.LINK_ONLY, seed: int = 5, **options: Any) -> Row:
    """Made-up households."""
    tables, truth = generate_families(FamilyOptions(**options), np.random.default_rng(seed))
    return tables, truth, mode


def ten_records(seed: int) -> Row:
    """One file of persons who live alone, eleven erroneous records of each on average."""
    return families(
        Mode.DEDUPE_ONLY, seed, households=200, sizes=(1.0,), files=1,
        duplicates=10, errors=0.2, missing=0.1,
    )  # fmt: skip


ROWS: dict[str, Callable[[], Row]] = {
    "euro, three columns": lambda: euro("three columns"),
    "euro, one date": lambda: euro("one date"),
    "euro, addresses": lambda: euro("addresses"),
    "euro, as they come": lambda: euro("as they come"),
    "clinics 1,000": lambda: clinics(1_000),
    "clinics 5,000": lambda: clinics(5_000),
    "clinics 20,000": lambda: clinics(20_000),
    "clinics 1,000, one per source": lambda: clinics(1_000, once=True),
    "clinics 5,000, one per source": lambda: clinics(5_000, once=True),
    "febrl 1": lambda: febrl("dataset1"),
    "febrl 2": lambda: febrl("dataset2"),
    "febrl 3": lambda: febrl("dataset3"),
    "febrl 4": lambda: febrl("dataset4a", "dataset4b"),
    "fake_people": fake_people,
    "families": families,
    "families, 10 % overlap": lambda: families(overlap=0.1, households=3000),
    "families, all in both": lambda: families(overlap=1.0),
    "families, many errors": lambda: families(errors=0.12, missing=0.08),
    "families, twins": lambda: families(twins=0.3),
    "families, movers": lambda: families(moved=0.3, renamed=0.2),
    "families, duplicates": lambda: families(Mode.LINK_AND_DEDUPE, duplicates=0.15),
    "families, nothing declared": lambda: families(duplicates=0.15),
    "clinics 5,000, nothing declared": lambda: (*clinics(5_000)[:2], Mode.LINK_ONLY),
    "ten records a person": lambda: ten_records(5),
    "ten records a person, again": lambda: ten_records(6),
    "three files, held out": lambda: families(
        Mode.LINK_AND_DEDUPE, 77, files=3, overlap=0.5, errors=0.08, moved=0.2, duplicates=0.1
    ),
    "three files, again": lambda: families(
        Mode.LINK_AND_DEDUPE, 23, files=3, overlap=0.5, errors=0.08, moved=0.2, duplicates=0.1
    ),
}
LONG: dict[str, Callable[[], Row]] = {
    "clinics 100,000": lambda: clinics(100_000, seed=3),
    "clinics 100,000, one per source": lambda: clinics(100_000, seed=3, once=True),
    "clinics 300,000": lambda: clinics(300_000, seed=4),
    "families 100,000": lambda: families(households=40_000),
    "families 100,000, 10 % overlap": lambda: families(households=40_000, overlap=0.1),
}
"""Rows that take minutes, of seeds with which nothing was looked for."""


def rates(person: list[int], truth: list[int], source: list[int] | None = None) -> dict[str, float]:
    """Precision and recall over all pairs of records, or over those of two sources."""
    labels: list[list[Any]] = [person, truth, list(zip(person, truth, strict=True))]
    found, true, both = map(_pairs, labels)
    if source is not None:
        inside = (_pairs(list(zip(each, source, strict=True))) for each in labels)
        found, true, both = (a - b for a, b in zip((found, true, both), inside, strict=True))
    return {"precision": both / found if found else 1.0, "recall": both / true if true else 1.0}


def _pairs(labels: list[Any]) -> int:
    return sum(n * (n - 1) // 2 for n in Counter(labels).values())


def measure(name: str) -> str:
    """A row of the table; its last word says whether both expectations are close."""
    tables, labels, mode = (ROWS | LONG)[name]()
    started = time.process_time()
    suggestion = suggest_links(tables, mode=mode)
    if "one per source" in name:
        suggestion = replace(
            suggestion, spec=LinkSpec(**{**dict(suggestion.spec), "one_per_source": list(tables)})
        )
    try:
        links = link(tables, suggestion, seed=1)
    except InputError as error:
        return f"{name:33}  refused: {error.rule}  OFF"
    spent = time.process_time() - started
    told, cells, close = links.to_json()["persons"], [], []
    both = links.settled.persons.person.tolist(), labels.tolist()
    source = links.records.source_of(np.arange(links.records.count)).tolist()
    true = rates(*both, None if told["pairs"] == "all" else source)
    for each, width in CLOSE.items():
        value, *ends = (told[each][part] for part in ("value", "low", "high"))
        close.append(value is None or abs(value - true[each]) <= width)
        said = "null" if value is None else f"{100 * value:.2f}"
        between = f"({100 * ends[0]:.2f} to {100 * ends[1]:.2f})"
        covered = "" if ends[0] <= true[each] <= ends[1] else "!"
        cells.append(f"{said:>9}{between:>18}{100 * true[each]:>8.2f}{covered:1}")
    verdict = None if told["precision"]["value"] is None else all(close)
    said = {None: "null", True: "close", False: "OFF"}[verdict]
    review = links.to_json()["outcomes"]["possible_match"]
    return f"{name:33}{''.join(cells)}{review:>8}{spent:>7.0f}  {said}"


def main() -> None:
    """Print a row for each data set, and the count."""
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", nargs="*", metavar="ROW")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--kept", type=Path)
    asked = parser.parse_args()
    rows = asked.rows or [*ROWS, *(LONG if asked.long else ())]
    kept = []
    if asked.kept is not None and asked.kept.is_file():
        kept = asked.kept.read_text(encoding="utf-8").splitlines()
    print(f"{'':33}{'precision':>35}{' ':1}{'recall':>35}")
    part = f"{'expected':>9}{'(95 %)':>18}{'true':>8} "
    print(f"{'':33}{part}{part}{'review':>8}{'CPU s':>7}")
    verdicts = []
    for name in rows:
        line = next((each for each in kept if each[:33].rstrip() == name), None)
        if line is None:
            line = measure(name)
            if asked.kept is not None:
                with asked.kept.open("a", encoding="utf-8") as file:
                    file.write(line + "\n")
        print(line, flush=True)
        verdicts.append(line.split()[-1])
    print(f"\n{verdicts.count('close')} of {len(rows)} close, {verdicts.count('null')} null")


if __name__ == "__main__":
    main()
