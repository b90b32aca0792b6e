"""Whole processes: assessing a Parquet file beside DuckDB, and cold starts."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from timing import best, sfumato
from visits import QUASI_IDENTIFIERS, visits

from sfumato.schema import dump_schema

RECORDS = (400_000, 4_000_000, 10_000_000)
COLD = 1_000
REPEATS = 5
GROUP_BY = """
import sys, duckdb
path, keys = sys.argv[1:]
duckdb.sql(
    f"SELECT count(*), min(c) FROM (SELECT {keys}, count(*) AS c FROM '{path}' GROUP BY ALL)"
).fetchall()
"""
MEASURES = """
import sys, duckdb
path, keys = sys.argv[1:]
duckdb.sql(f'''
    WITH owners AS (SELECT {keys}, patient, count(*) AS c FROM '{path}' GROUP BY ALL),
    balance AS (
        SELECT {keys}, sum(c) AS n, count(*) AS persons, max(c) / sum(c) AS gidr,
            1 - sum(c * c) / (sum(c) * sum(c)) AS g
        FROM owners GROUP BY ALL
    ),
    sharing AS (
        SELECT {keys}, icd9, count(DISTINCT patient) AS c FROM '{path}'
        WHERE icd9 IS NOT NULL GROUP BY ALL
    ),
    affiliation AS (SELECT {keys}, max(c) AS most, count(*) AS l FROM sharing GROUP BY ALL)
    SELECT min(n), min(persons), min(g), max(gidr), avg(gidr), max(most / persons), min(l)
    FROM balance LEFT JOIN affiliation USING ({keys})
''').fetchall()
"""
"""k, pid_k, g, MaxGIDR, AvgGIDR, h and l alone, as an analyst would ask DuckDB for them."""


def assess_beside_duckdb(folder: Path) -> None:
    """Print a line for each size and set of keys."""
    print("assess: the command on a Parquet file; duckdb: a process with GROUP BY over its keys")
    print("keys: 5 quasi-identifiers, and these with person and sensitive value; goal 1.5 x")
    print("measures: DuckDB counts k, K, g, GIDR, h and l of the classes\n")
    print(f"{'records':>10}  {'keys':<12}{'assess s':>9}{'duckdb s':>9}{'wall x':>8}{'cpu x':>8}")
    keys = ", ".join(QUASI_IDENTIFIERS)
    for records in RECORDS:
        data, schema = visits(records)
        path, toml = folder / "visits.parquet", folder / "schema.toml"
        pq.write_table(data, path)
        del data
        bare = schema.model_copy(update={"person": None, "sensitive": ()})
        for name, used, declared in (
            ("quasi", keys, bare),
            ("and person", f"{keys}, patient, icd9", schema),
        ):
            toml.write_text(dump_schema(declared), encoding="utf-8")
            own = best(sfumato("assess", path, "--schema", toml), REPEATS)
            other = best([sys.executable, "-c", GROUP_BY, path, used], REPEATS)
            print(
                f"{records:>10,}  {name:<12}{own.wall:>9.2f}{other.wall:>9.2f}"
                f"{own.wall / other.wall:>8.1f}{own.cpu / other.cpu:>8.1f}"
            )
        other = best([sys.executable, "-c", MEASURES, path, keys], REPEATS)
        print(
            f"{records:>10,}  {'measures':<12}{own.wall:>9.2f}{other.wall:>9.2f}"
            f"{own.wall / other.wall:>8.1f}{own.cpu / other.cpu:>8.1f}"
        )


def cold_starts(folder: Path) -> None:
    """Print the time of single commands on a small file, each in a process of its own."""
    data, schema = visits(COLD)
    path, toml = folder / "small.csv", folder / "small.toml"
    pa_csv.write_csv(data, path)
    toml.write_text(dump_schema(schema), encoding="utf-8")
    promises = ("--g-balance", "0.8", "--h-affiliation", "0.5")
    commands = {
        "--help (goal 0.3)": ("--help",),
        "schema guess (goal 1.5)": ("schema", "guess", path),
        "assess (goal 1.5)": ("assess", path, "--schema", toml),
        "anonymize (goal 1.5)": (
            *("anonymize", path, "--schema", toml, *promises, "--output", folder / "out.csv"),
        ),
    }
    print(f"\nseconds from cold, {COLD:,} records in a CSV file; best of {REPEATS}")
    for name, arguments in commands.items():
        (folder / "out.csv").unlink(missing_ok=True)
        print(f"  {name:<26}{best(sfumato(*arguments), REPEATS).wall:>6.2f}")


def report() -> None:
    """Print both tables."""
    with tempfile.TemporaryDirectory() as folder:
        assess_beside_duckdb(Path(folder))
        cold_starts(Path(folder))


if __name__ == "__main__":
    report()
