"""What releases lose, held against goals: ARX's labels, a strict Mondrian, the tree, a lower bound.

Usage: loss.py [FILE] [--only WORD] [--whole]

Every measurement is a row of FILE, JSON line by line; those that it holds are not made again. The
long ones, everything above a few CPU seconds, are made with ``--whole`` only. Where DATA is the
folder of the public data sets (SFUMATO_DATA, else ../shared/data), Adult and INFORMS are released.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv
from held_out import held_out
from populations import GENERATED, generated

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from studies.kartal_li.data_sets import patient_records

import sfumato as sf
from sfumato.examples import generate_clinics
from sfumato.kernels import group_search
from sfumato.kernels.key_numbering import number_by_first_appearance
from sfumato.release import regrouping
from sfumato.release.analysis_loss import lost_by_analysts
from sfumato.release.promises.promise import Constraint
from sfumato.release.release_options import Form, Loss
from sfumato.table.door import open_table
from sfumato.table.table import Table

DATA = Path(os.environ.get("SFUMATO_DATA", "../shared/data"))
ADULT = DATA / "adult" / "adult.csv"
COLUMNS = {
    4: ("age", "education", "race", "sex"),
    8: (
        "sex", "age", "race", "marital-status", "education", "native-country", "workclass",
        "salary-class",
    ),
}  # fmt: skip
KS = (5, 10, 25, 50)
LABELS = {
    4: dict(zip(KS, (0.0048, 0.0095, 0.0215, 0.038), strict=True)),
    8: dict(zip(KS, (0.0285, 0.050, 0.088, 0.134), strict=True)),
}
"""Goals of the NCP of labels as ARX counts it, by columns and k."""
BETTER_LABELS = 0.0275
"""The same for 8 columns and k = 5 with more effort, where nothing but NCP is to be lost least."""
TO_MONDRIAN, TO_MONDRIAN_4_50, TO_MONDRIAN_ERRORS = 0.70, 0.92, 0.90
FEW_VALUES = 12
"""Values up to which a column of `unseen` holds categories."""
TO_TREE, TO_BOUND, TO_ALL_PAIRS = 0.85, 1.20, 1.03
SECONDS = {30_162: 10, 300_000: 60, 1_000_000: 360}
"""Goals of the CPU seconds of 8 columns, k = 5 and labels' ranges, by records."""
Row = dict[str, Any]
Codes = npt.NDArray[np.int32]


def released(data: Any, schema: sf.Schema, *promises: Constraint, **how: Any) -> tuple[Any, float]:
    """A release, and the CPU seconds that it took."""
    started = time.process_time()
    release = sf.anonymize(
        data, schema, *promises, seed=1, unclassified="drop", ends="tight", **how
    )
    return release, time.process_time() - started


def adult_schema(columns: Sequence[str], *, labels: bool = False) -> sf.Schema:
    """Adult's columns, with the hierarchies of ARX or without."""
    kinds = {each: "numeric" if each == "age" else "categorical" for each in columns}
    if not labels:
        return sf.Schema(quasi_identifiers=kinds)
    trees = {each: ADULT.with_name(f"adult_hierarchy_{each}.csv") for each in columns}
    return sf.Schema(
        quasi_identifiers={
            each: {"kind": kinds[each], "hierarchy": trees[each]} for each in columns
        }
    )


def label_loss(cells: pa.ChunkedArray, hierarchy: Path) -> float:
    """Mean loss of a column of labels; its domain is the hierarchy's leaves, as in ARX."""
    with hierarchy.open(encoding="utf-8") as stream:
        rows = list(csv.reader(stream, delimiter=";"))
    leaves = {label: {row[0] for row in rows if label in row} for row in rows for label in row}
    counts = cells.value_counts().to_pylist()
    lost = sum(each["counts"] * (len(leaves[str(each["values"])]) - 1) for each in counts)
    return float(lost / ((len(rows) - 1) * len(cells)))


def labels(columns: int, k: int, goal: float, **how: Any) -> Row:
    """Adult as labels, by the whole hierarchies."""
    names = COLUMNS[columns]
    schema = adult_schema(names, labels=True)
    release, seconds = released(ADULT, schema, sf.KAnonymity(k), values="hierarchy", **how)
    files = (ADULT.with_name(f"adult_hierarchy_{each}.csv") for each in names)
    lost = [label_loss(release.table[each], file) for each, file in zip(names, files, strict=True)]
    found: Row = {"NCP": sum(lost) / len(names), "goal": goal, "seconds": seconds}
    found["met"] = found["NCP"] <= goal
    return found


def bound(columns: int) -> Row:
    """What is found over what no release can be below, for labels and k = 5."""
    schema = adult_schema(COLUMNS[columns], labels=True)
    release, seconds = released(
        ADULT, schema, sf.KAnonymity(5), values="hierarchy", lower_bound=True
    )
    ratio = release.utility.ncp / release.utility.least_ncp
    return {"found / bound": ratio, "seconds": seconds, "met": ratio <= TO_BOUND}


def strict_mondrian(codes: npt.NDArray[np.int64], k: int) -> Codes:
    """Class of each record (LeFevre et al. 2006): cut the widest column near its median, strictly.

    The widest is the one with most of its values; categories stand in the order of the alphabet.
    """
    values = np.maximum(codes.max(axis=0), 1)
    class_of, classes, left = np.empty(len(codes), dtype=np.int32), 0, [np.arange(len(codes))]
    while left:
        rows = left.pop()
        own = codes[rows]
        held = [np.bincount(column) for column in own.T]
        width = [
            (np.count_nonzero(each) - 1) / most for each, most in zip(held, values, strict=True)
        ]
        for at in np.argsort(-np.array(width), kind="stable"):
            lower = np.cumsum(held[at])
            place = np.abs(2 * lower - len(rows)).argmin()
            if min(lower[place], len(rows) - lower[place]) >= k:
                left += [rows[own[:, at] <= place], rows[own[:, at] > place]]
                break
        else:
            class_of[rows] = classes
            classes += 1
    return class_of


def set_losses(table: Table, class_of: Codes) -> dict[str, float]:
    """NCP of sets, ANE and mean error of queries, counted from classes alone."""
    classes, sizes = int(class_of.max()) + 1, np.bincount(class_of)
    width, error = [], []
    for column in table.quasi_identifiers:
        held = np.zeros((classes, column.domain.size))
        np.add.at(held, (class_of, column.codes), 1.0)
        width.append(((held > 0).sum(axis=1) - 1) @ sizes / (column.domain.size - 1))
        if column.name == "age":
            values = np.array([float(column.domain.label(at)) for at in range(held.shape[1])])
            apart = np.abs(values - (held @ values / sizes)[:, None]) / np.ptp(values)
        else:
            apart = 1 - held / sizes[:, None]
        error.append((held * apart).sum())
    queries = lost_by_analysts(Loss.QUERIES, table, class_of, classes, Form.SET)
    return {
        "NCP": float(np.mean(width)) / table.records,
        "ANE": float(np.mean(error)) / table.records,
        "queries": queries,
    }


def classes_shown(release: Any, names: Sequence[str]) -> Codes:
    """The class of each record of a release in the order of its file, by what it shows."""
    key, keys = np.zeros(release.table.num_rows, dtype=np.int64), 1
    for name in names:
        cells = release.table[name].combine_chunks().dictionary_encode()
        wide = key * len(cells.dictionary) + np.asarray(cells.indices)
        numbered, keys = number_by_first_appearance(wide, keys * len(cells.dictionary))
        key = numbered.astype(np.int64)
    return key.astype(np.int32)


def sets(columns: int, k: int) -> Row:
    """Adult as sets, beside strict Mondrian at the same k."""
    schema = adult_schema(COLUMNS[columns])
    release, seconds = released(ADULT, schema, sf.KAnonymity(k), values="set", keep_order=True)
    table = open_table(ADULT, schema)
    codes = np.stack([each.codes for each in table.quasi_identifiers], axis=1).astype(np.int64)
    ours = set_losses(table, classes_shown(release, COLUMNS[columns]))
    theirs = set_losses(table, strict_mondrian(codes, k))
    ratio = {name: ours[name] / theirs[name] for name in ours}
    most = TO_MONDRIAN_4_50 if (columns, k) == (4, 50) else TO_MONDRIAN
    met = ratio["NCP"] <= most and max(ratio["ANE"], ratio["queries"]) <= TO_MONDRIAN_ERRORS
    if (columns, k) == (8, 5):
        met &= ours["NCP"] <= 0.0075
    each = {f"{name} / Mondrian's": value for name, value in ratio.items()}
    return {**ours, **each, "seconds": seconds, "met": met}


def to_tree(columns: int, k: int, form: str) -> Row:
    """Every measure of the default over the tree's, on Adult."""
    names = COLUMNS[columns]
    schema = adult_schema(names, labels=form == "hierarchy")
    table, found = open_table(ADULT, schema), []
    for effort in (None, 0):
        how = {} if effort is None else {"effort": effort}
        release, _ = released(ADULT, schema, sf.KAnonymity(k), values=form, keep_order=True, **how)
        class_of = classes_shown(release, names)
        rest = {
            each.value: lost_by_analysts(each, table, class_of, int(class_of.max()) + 1, Form(form))
            for each in (Loss.QUERIES, Loss.TABLES, Loss.MODELS)
        }
        found.append({"ANE": release.utility.ane, "NCP": release.utility.ncp, **rest})
    ratio = {name: value / found[1][name] for name, value in found[0].items()}
    return {**ratio, "met": max(ratio.values()) <= 1}


def promised(name: str, g: float, h: float | None) -> Row:
    """ANE + NCP over the tree's at the same g and h, on persons with several records."""
    if name == "clinics":
        clinics = generate_clinics(2_000, rng=2020)
        table, schema = clinics.visits, clinics.schema
    else:
        table = patient_records(DATA / "informs")
        schema = sf.Schema(
            person="DUPERSID",
            quasi_identifiers={
                "DOBYY": "numeric", "EDUCYEAR": "numeric", "income": "numeric",
                "poverty": "ordered",
            },
            sensitive=["ICD9CODX"],
        )  # fmt: skip
    promises: list[Constraint] = [sf.GBalance(g), *([] if h is None else [sf.HAffiliation(h)])]
    after, seconds = released(table, schema, *promises)
    before, _ = released(table, schema, *promises, effort=0)
    ane = after.utility.ane / before.utility.ane
    ncp = after.utility.ncp / before.utility.ncp
    both = (after.utility.ane + after.utility.ncp) / (before.utility.ane + before.utility.ncp)
    return {"ANE": ane, "NCP": ncp, "both": both, "seconds": seconds, "met": both <= TO_TREE}


def unseen() -> Row:
    """ANE + NCP over the tree's, on 2,000 persons each of populations made for other benchmarks."""
    made = {each: generated(each) for each in GENERATED if "1,000,000" not in each} | held_out()
    ratios = []
    for (number, columns), k in product(enumerate(made.values()), (5, 25)):
        rows = np.random.default_rng(number).permutation(len(columns[0]))[:2_000]
        codes = [np.unique(np.asarray(each)[rows], return_inverse=True)[1] for each in columns]
        table = pa.table({f"column {at}": each for at, each in enumerate(codes)})
        schema = sf.Schema(
            quasi_identifiers={
                name: "numeric" if len(table[name].unique()) > FEW_VALUES else "categorical"
                for name in table.column_names
            }
        )
        after, before = (
            released(table, schema, sf.KAnonymity(k), **how)[0].utility
            for how in ({}, {"effort": 0})
        )
        ratios.append((after.ane + after.ncp) / (before.ane + before.ncp))
    mean = exp(sum(map(log, ratios)) / len(ratios))
    found: Row = {"mean": mean, "most": max(ratios), "files": len(ratios)}
    return {**found, "met": mean <= TO_TREE and max(ratios) <= 1}


def all_pairs(form: str) -> Row:
    """NCP with the index of neighbours over that with the nearest of all pairs."""
    names = COLUMNS[8]
    schema = adult_schema(names, labels=form == "hierarchy")
    ncp = []
    indexed = group_search.nearest_points
    try:
        for leaf in (group_search.LEAF, 1 << 30):
            regrouping.nearest_points = partial(indexed, leaf=leaf)  # type: ignore[attr-defined]
            ncp.append(released(ADULT, schema, sf.KAnonymity(5), values=form)[0].utility.ncp)
    finally:
        regrouping.nearest_points = indexed  # type: ignore[attr-defined]
    return {"NCP / all pairs'": ncp[0] / ncp[1], "met": ncp[0] / ncp[1] <= TO_ALL_PAIRS}


def adult_of(records: int, rng: np.random.Generator) -> pa.Table:
    """So many persons like Adult's: of each one an eighth of the cells are somebody else's."""
    table = pyarrow.csv.read_csv(ADULT, parse_options=pyarrow.csv.ParseOptions(delimiter=";"))
    if records == table.num_rows:
        return table.select(COLUMNS[8])
    own = rng.integers(0, table.num_rows, records)
    found = {}
    for name in COLUMNS[8]:
        other = rng.integers(0, table.num_rows, records)
        found[name] = table[name].take(pa.array(np.where(rng.random(records) < 1 / 8, other, own)))
    return pa.table(found)


def speed(records: int) -> Row:
    """CPU seconds at the default effort, 8 columns, k = 5, sets."""
    table = adult_of(records, np.random.default_rng(7))
    stages: dict[str, float] = {}
    started, clock = time.process_time(), time.perf_counter()

    def progress(stage: str, _share: float) -> None:
        stages[stage.split(maxsplit=1)[0].strip(",:")] = time.process_time() - started

    release, seconds = released(
        table, adult_schema(COLUMNS[8]), sf.KAnonymity(5), values="set", progress=progress
    )
    found: Row = {"NCP": release.utility.ncp, "ANE": release.utility.ane, "seconds": seconds}
    found["by the clock"] = time.perf_counter() - clock
    found["stages end"] = {name: round(each, 1) for name, each in stages.items()}
    return {**found, "met": seconds <= SECONDS.get(records, np.inf)}


def measurements(*, whole: bool) -> Iterator[tuple[str, Callable[[], Row]]]:
    """What is measured, each under a name."""
    for columns in (4, 8):
        for k in KS if whole else (5,):
            goal = LABELS[columns][k]
            yield f"labels, {columns} columns, k = {k}", partial(labels, columns, k, goal)
            yield f"sets, {columns} columns, k = {k}", partial(sets, columns, k)
            for form in ("range", "set", "hierarchy") if whole else ():
                name = f"tree, {form}, {columns} columns, k = {k}"
                yield name, partial(to_tree, columns, k, form)
        yield f"bound, {columns} columns", partial(bound, columns)
    for name in ("clinics", "informs"):
        for g in (0.5, 0.8, 0.95) if whole else (0.8,):
            for h in (None, 0.5, 0.33) if whole else (0.5,):
                yield f"promises, {name}, g = {g}, h = {h}", partial(promised, name, g, h)
    if whole:
        yield "unseen files, k = 5 and 25", unseen
    yield "speed, 30162", partial(speed, 30_162)
    if whole:
        for form in ("set", "hierarchy"):
            yield f"index, {form}", partial(all_pairs, form)
        more = partial(labels, 8, 5, BETTER_LABELS, effort=60, loss="ncp")
        yield "labels, 8 columns, k = 5, effort 60, loss ncp", more
        for records in (300_000, 1_000_000, 10_000_000):
            yield f"speed, {records}", partial(speed, records)


def shown(value: object) -> str:
    """A figure in a row."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def report() -> int:
    """Measure what is missing, and print every row; gives the number of goals that are missed."""
    parser = argparse.ArgumentParser(description="What releases lose, held against goals.")
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("--only", default="")
    parser.add_argument("--whole", action="store_true")
    asked = parser.parse_args()
    if not DATA.is_dir():
        print("left out: SFUMATO_DATA names no folder of the data sets")
        return 0
    kept: dict[str, Row] = {}
    if asked.file is not None and asked.file.exists():
        lines = asked.file.read_text(encoding="utf-8").splitlines()
        kept = {row.pop("name"): row for row in map(json.loads, lines)}
    missed, both = 0, []
    for name, measure in measurements(whole=asked.whole):
        if asked.only not in name:
            continue
        if name not in kept:
            kept[name] = json.loads(json.dumps(measure(), default=float))
            if asked.file is not None:
                with asked.file.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps({"name": name, **kept[name]}) + "\n")
        row = kept[name]
        missed += not row["met"]
        both += [row["both"]] if "both" in row else []
        cells = ", ".join(f"{key} {shown(value)}" for key, value in row.items() if key != "met")
        print(f"{'met   ' if row['met'] else 'MISSED'}  {name}: {cells}", flush=True)
    if both:
        print(
            f"ANE + NCP over the tree's under g and h: {exp(sum(map(log, both)) / len(both)):.3f}"
        )
    return missed


if __name__ == "__main__":
    report()
