"""What a release loses with the search for better cuts, beside the paper's tree.

Information loss (ANE and NCP) over g* x h* on the generated clinics and, where DATA is the folder
of the public data sets (SFUMATO_DATA, else ../shared/data), on INFORMS; and on Adult at k = 5, with
sets as released values and with labels of hierarchies, the form that ARX has.
"""

from __future__ import annotations

import csv
import os
import time
from math import exp, log
from pathlib import Path

import pyarrow as pa

import sfumato as sf
from sfumato.examples import generate_clinics
from sfumato.release.promises.promise import Constraint
from sfumato.studies.kartal_li.data_sets import patient_records

G = (0.5, 0.8, 0.95)
H = (None, 0.5, 0.33)
ADULT = {
    "4 QIs": ("age", "education", "race", "sex"),
    "8 QIs": (
        "sex", "age", "race", "marital-status", "education", "native-country", "workclass",
        "salary-class",
    ),
}  # fmt: skip
ARX = {"4 QIs": 0.0069, "8 QIs": 0.0329}


def compare(name: str, table: pa.Table, schema: sf.Schema) -> None:
    """Print the ratios of the search's loss to the median's, and their geometric mean."""
    print(f"\n{name}: {table.num_rows:,} records; search / median")
    print(f"{'g*':>6}{'h*':>7}{'classes':>16}{'ANE':>9}{'ratio':>8}{'NCP':>9}{'ratio':>8}{'s':>7}")
    ratios = []
    for g in G:
        for h in H:
            promises: list[Constraint] = [sf.GBalance(g)]
            if h is not None:
                promises.append(sf.HAffiliation(h))
            median = sf.anonymize(table, schema, *promises, cut="median", seed=1)
            started = time.perf_counter()
            search = sf.anonymize(table, schema, *promises, cut="search", seed=1)
            took = time.perf_counter() - started
            ane, ncp = search.utility.ane, search.utility.ncp
            ratios.append(ane / median.utility.ane)
            classes = f"{search.risk.classes:,} / {median.risk.classes:,}"
            print(
                f"{g:>6}{h or 'none':>7}{classes:>16}{ane:>9.5f}{ratios[-1]:>8.3f}"
                f"{ncp:>9.5f}{ncp / median.utility.ncp:>8.3f}{took:>7.1f}"
            )
    print(f"geometric mean of the ANE ratios {exp(sum(map(log, ratios)) / len(ratios)):.3f}")


def adult(path: Path) -> None:
    """Print the loss of k = 5 on Adult beside that of local recoding with ARX."""
    print("\nAdult, k = 5: (leaves - 1) / (domain - 1) per cell; ARX has labels, sets are finer")
    for name, columns in ADULT.items():
        kinds = dict.fromkeys(columns, "categorical") | {"age": "numeric"}
        trees = {each: path.with_name(f"adult_hierarchy_{each}.csv") for each in columns}
        with_trees = {each: {"kind": kinds[each], "hierarchy": trees[each]} for each in columns}
        for values, quasi in (("set", kinds), ("hierarchy", with_trees)):
            schema = sf.Schema(quasi_identifiers=quasi)
            for cut in ("median", "search"):
                release = sf.anonymize(
                    path, schema, sf.KAnonymity(5), cut=cut, values=values, seed=1,
                    unclassified="drop",
                )  # fmt: skip
                loss = release.utility.ncp
                if values == "hierarchy":
                    losses = (label_loss(release.table[each], trees[each]) for each in columns)
                    loss = sum(losses) / len(columns)
                beside = "" if values == "set" else f"  ({loss / ARX[name]:.2f} of it)"
                print(
                    f"  {name}  {values:<10}{cut:<7}{release.risk.classes:>6} classes"
                    f"  {loss:.5f}  ARX {ARX[name]}{beside}"
                )


def label_loss(cells: pa.ChunkedArray, hierarchy: Path) -> float:
    """Mean loss of a column of labels; its domain is the hierarchy's leaves, as in ARX."""
    with hierarchy.open(encoding="utf-8") as stream:
        rows = list(csv.reader(stream, delimiter=";"))
    leaves = {label: {row[0] for row in rows if label in row} for row in rows for label in row}
    counts = cells.value_counts().to_pylist()
    lost = sum(each["counts"] * (len(leaves[str(each["values"])]) - 1) for each in counts)
    return float(lost / ((len(rows) - 1) * len(cells)))


def report() -> None:
    """Print the tables."""
    clinics = generate_clinics(2_000, rng=2020)
    compare("generated clinics", clinics.visits, clinics.schema)
    data = Path(os.environ.get("SFUMATO_DATA", "../shared/data"))
    if not data.is_dir():
        print("\nINFORMS and Adult are left out: SFUMATO_DATA names no folder of the data sets")
        return
    schema = sf.Schema(
        person="DUPERSID",
        quasi_identifiers={
            "DOBYY": "numeric", "EDUCYEAR": "numeric", "income": "numeric", "poverty": "ordered",
        },
        sensitive=["ICD9CODX"],
    )  # fmt: skip
    compare("INFORMS", patient_records(data / "informs"), schema)
    adult(data / "adult" / "adult.csv")


if __name__ == "__main__":
    report()
