"""Matches found by a suggested specification, beside Splink driven by hand, and goldenmatch.

The hand follows Splink's own tutorial for persons: its ready comparisons for names, dates of
birth, postcodes and the rest, term frequencies, blocking on names and dates in halves, u by
sampling, m by two sessions of expectation maximisation, a threshold of 0.9. FEBRL and the
generated clinics; F1 over pairs at the better of the thresholds 0.5 and 0.9 for the hand, of the
people found for the suggestion. goldenmatch gets the same columns, without ids, and configures
itself, in the environment of `peers.py`; its pairs are those of its clusters.

Usage: by_hand.py [DATA ...]    (all where none is named)
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import splink.comparison_library as cl
from peers import ENVIRONMENT, PYTHON
from splink import Linker, SettingsCreator, block_on
from splink.backends.duckdb import DuckDBAPI

from sfumato.examples import generate_clinics, generate_registrations, write_registrations
from sfumato.linkage.link import link
from sfumato.linkage.link_spec import Mode
from sfumato.linkage.spec_suggestion import suggest_links

Pairs = set[frozenset[tuple[str, str]]]
DATA = Path(os.environ.get("SFUMATO_DATA", Path(__file__).parents[2] / "shared" / "data"))


def report(names: list[str]) -> None:
    """Print one line per data set."""
    heads = ("suggested", "by hand", "goldenmatch")
    print(f"{'data':<28}" + "".join(f"{each:>12}" for each in heads) + "   (F1 over pairs)")
    for name in names or _SETS:
        try:
            tables, comparisons, who = _SETS[name]()
        except FileNotFoundError:
            print(f"{name:<28} the data are not here")
            continue
        true = _true(tables, who)
        own = _f1(_suggested(tables), true)
        hand = max(_f1(found, true) for found in _by_hand(tables, comparisons))
        peer = _by_goldenmatch(tables)
        third = "not there" if peer is None else f"{_f1(peer, true):.4f}"
        print(f"{name:<28}{own:>12.4f}{hand:>12.4f}{third:>12}", flush=True)


def _f1(found: Pairs, true: Pairs) -> float:
    both = len(found & true)
    return 2 * both / (len(found) + len(true)) if both else 0.0


def _true(tables: dict[str, pd.DataFrame], who: Callable[[str, str], str]) -> Pairs:
    return _together(
        {
            (name, number): who(name, number)
            for name, table in tables.items()
            for number in table["id"]
        }
    )


def _together(person: dict[tuple[str, str], str]) -> Pairs:
    groups: dict[str, list[tuple[str, str]]] = {}
    for record, number in person.items():
        groups.setdefault(number, []).append(record)
    return {frozenset(pair) for group in groups.values() for pair in combinations(group, 2)}


def _suggested(tables: dict[str, pd.DataFrame]) -> Pairs:
    mode = Mode.DEDUPE_ONLY if len(tables) == 1 else Mode.LINK_AND_DEDUPE
    spec = suggest_links(tables, mode=mode, id_column="id").spec
    persons = link(tables, spec, seed=1).persons.to_pylist()
    return _together({(each["source"], each["id"]): each["person"] for each in persons})


def _by_goldenmatch(tables: dict[str, pd.DataFrame]) -> Pairs | None:
    """Its pairs; ``None`` where it is not installed."""
    if not (ENVIRONMENT / ".stamp").exists():
        return None
    records = [(name, number) for name, table in tables.items() for number in table["id"]]
    with tempfile.TemporaryDirectory() as folder:
        path, output = Path(folder) / "records.csv", Path(folder) / "clusters.txt"
        pd.concat(tables.values()).drop(columns="id").to_csv(path, index=False)
        script = Path(__file__).with_name("peer_links.py")
        command = [PYTHON, script, path, output]
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603
        clusters = output.read_text(encoding="utf-8").split()
    return _together(dict(zip(records, clusters, strict=True)))


def _by_hand(tables: dict[str, pd.DataFrame], comparisons: list[Any]) -> list[Pairs]:
    rules: list[Any] = [
        block_on("given_name", "surname"),
        block_on("date_of_birth"),
        block_on("surname", "postcode"),
        block_on("given_name", "postcode"),
    ]
    settings = SettingsCreator(
        link_type="dedupe_only" if len(tables) == 1 else "link_and_dedupe",
        unique_id_column_name="id",
        comparisons=comparisons,
        blocking_rules_to_generate_predictions=rules,
        retain_intermediate_calculation_columns=False,
    )
    api = DuckDBAPI(duckdb.connect())
    frames = [api.register(table, dataset_display_name=name) for name, table in tables.items()]
    linker: Any = Linker(frames, settings, log_level=logging.ERROR)
    deterministic: list[Any] = [block_on("given_name", "surname", "date_of_birth")]
    linker.training.estimate_probability_two_random_records_match(deterministic, recall=0.7)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e6, seed=1)
    for rule in (block_on("given_name", "surname"), block_on("date_of_birth")):
        linker.training.estimate_parameters_using_expectation_maximisation(rule)
    table = linker.inference.predict(threshold_match_probability=0.5).as_pandas_dataframe()
    if "source_dataset_l" not in table:
        name = next(iter(tables))
        table = table.assign(source_dataset_l=name, source_dataset_r=name)
    found = []
    for threshold in (0.5, 0.9):
        kept = table[table["match_probability"] >= threshold]
        columns = ("source_dataset_l", "id_l", "source_dataset_r", "id_r")
        found.append(
            {
                frozenset(((a, b), (c, d)))
                for a, b, c, d in zip(*(kept[each] for each in columns), strict=True)
            }
        )
    return found


def _person_comparisons(*more: Any) -> list[Any]:
    return [
        cl.NameComparison("given_name").configure(term_frequency_adjustments=True),
        cl.NameComparison("surname").configure(term_frequency_adjustments=True),
        cl.DateOfBirthComparison("date_of_birth", input_is_string=True),
        cl.LevenshteinAtThresholds("postcode", [1, 2]),
        *more,
    ]


def _febrl(*files: str) -> tuple[dict[str, pd.DataFrame], list[Any], Callable[[str, str], str]]:
    tables = {}
    for file in files:
        table = pd.read_csv(DATA / "febrl" / f"{file}.csv", skipinitialspace=True, dtype=str)
        table = table.rename(columns={"rec_id": "id"})
        born = table["date_of_birth"]
        table["date_of_birth"] = born.str[:4] + "-" + born.str[4:6] + "-" + born.str[6:]
        tables[file] = table.replace({np.nan: None})
    more = (
        cl.LevenshteinAtThresholds("soc_sec_id", [2]),
        cl.JaroWinklerAtThresholds("address_1", [0.9]),
        cl.JaroWinklerAtThresholds("suburb", [0.9]),
        cl.ExactMatch("street_number"),
        cl.ExactMatch("state"),
    )
    return tables, _person_comparisons(*more), lambda _, number: number.split("-")[1]


def _clinics(persons: int, seed: int) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        made = generate_registrations(generate_clinics(persons, rng=seed))
        write_registrations(made, folder)
        truth = pd.read_csv(Path(folder) / "truth.csv", dtype=str)
        tables = {
            name: pd.read_csv(Path(folder) / f"patients_{name}.csv", dtype=str)
            .rename(columns={"patient": "id", "zip": "postcode"})
            .replace({np.nan: None})
            for name in ("hospital", "practice")
        }
    persons_of = {(a, b): c for a, b, c in zip(*(truth.iloc[:, i] for i in range(3)), strict=True)}
    more = (cl.ExactMatch("sex"), cl.LevenshteinAtThresholds("phone", [1]))
    return tables, _person_comparisons(*more), lambda name, number: persons_of[name, number]


_SETS: dict[str, Callable[[], Any]] = {
    "FEBRL 3, deduplicated": lambda: _febrl("dataset3"),
    "FEBRL 4, linked": lambda: _febrl("dataset4a", "dataset4b"),
    "clinics, 2,000 persons": lambda: _clinics(2_000, 11),
    "clinics, 10,000 persons": lambda: _clinics(10_000, 12),
}

if __name__ == "__main__":
    report(sys.argv[1:])
