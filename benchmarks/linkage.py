"""Linking the generated registrations of two clinics, beside bare Splink with the same rules.

Usage: linkage.py [RECORDS ...]    (100,000 and 1,000,000 where nothing is said)
"""

from __future__ import annotations

import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pyarrow.parquet as pq
from timing import Usage, usage

from sfumato.examples.clinics import generate_clinics
from sfumato.examples.registrations import generate_registrations
from sfumato.linkage.candidate_pairs import make_tables
from sfumato.linkage.link_engine import connect
from sfumato.linkage.link_sources import open_sources
from sfumato.linkage.link_spec import dump_link_spec
from sfumato.linkage.person_clusters import USUAL
from sfumato.linkage.spec_suggestion import suggest_links

RECORDS = (100_000, 1_000_000)
RECORDS_PER_PERSON = 1.586
HERE = Path(__file__).resolve().parent
SEED = 2020


def _tables(records: int, folder: Path) -> dict[str, Path]:
    """About as many registrations at two clinics, as Parquet files."""
    clinics = generate_clinics(round(records / RECORDS_PER_PERSON), rng=SEED)
    made = generate_registrations(clinics)
    paths = {}
    for name, table in (("hospital", made.hospital), ("practice", made.practice)):
        paths[name] = folder / f"{name}.parquet"
        pq.write_table(table, paths[name])
    return paths


def _prepare(paths: dict[str, Path], folder: Path) -> int:
    """Write the specification, and the standardised records for Splink; gives their number."""
    spec = suggest_links(paths).spec
    (folder / "spec.toml").write_text(dump_link_spec(spec), encoding="utf-8")
    with open_sources(paths, spec) as opened, closing(connect(folder)) as connection:
        for name, table in zip(paths, make_tables(connection, opened).tables, strict=True):
            target = folder / f"{name}_standardised.parquet"
            connection.execute(f"COPY {table} TO '{target}'")
        return opened.records.count


def _side_by_side(records: int, folder: Path) -> None:
    paths = _tables(records, folder)
    count = _prepare(paths, folder)
    threshold = str(USUAL.upper)
    own = usage([sys.executable, HERE / "linkage_own.py", folder, *paths.values()])
    bare = usage([sys.executable, HERE / "linkage_bare.py", folder, threshold, *paths])
    for name, each in (("sf.link", own), ("bare Splink", bare)):
        print(f"{count:>10,}  {name:<13}{_cells(each)}", flush=True)
    print(
        f"{'':>10}  {'x':<13}{own.wall / bare.wall:>8.2f}{own.cpu / bare.cpu:>8.2f}"
        f"{own.peak / bare.peak:>8.2f}",
        flush=True,
    )


def _cells(each: Usage) -> str:
    return f"{each.wall:>8.1f}{each.cpu:>8.1f}{each.peak / 2**30:>8.2f}"


def report(sizes: tuple[int, ...] = RECORDS) -> None:
    """Print three lines for each size."""
    print("whole processes: sf.link from two Parquet files to persons and the linked file, and")
    print("Splink from standardised records to clusters: same blocking rules, comparison levels,")
    print("random pairs and thresholds; Splink is trained by two of the rules.")
    print("Goal: at most 1.15 x the time.\n")
    print(f"{'records':>10}  {'':<13}{'s':>8}{'CPU s':>8}{'GiB':>8}")
    for records in sizes:
        with tempfile.TemporaryDirectory() as folder:
            _side_by_side(records, Path(folder))


if __name__ == "__main__":
    report(tuple(int(each) for each in sys.argv[1:]) or RECORDS)
