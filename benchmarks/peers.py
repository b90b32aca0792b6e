"""Other tools beside sfumato: CPU seconds of whole processes that read one CSV file.

One record per person, four numeric quasi-identifiers, k = 5. The tools live in an environment of
their own, because they pin older versions of what sfumato uses.

Usage: peers.py [SECONDS]    (a run that takes longer is ended; 120 where nothing is said)
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
from timing import Run, best, run, sfumato

HERE = Path(__file__).resolve().parent
ENVIRONMENT = HERE.parent / ".venv-peers"
PYTHON = ENVIRONMENT / "bin" / "python"
RECORDS = (30_000, 300_000)
TOOLS = {
    "anonypy": "Mondrian",
    "anjana": "full-domain recoding",
    "pycanon": "measures k and l only",
}
PATIENCE = 120.0
SCHEMA = """
sensitive = ["diagnosis"]
[quasi_identifiers]
age = { kind = "numeric" }
zip = { kind = "numeric" }
income = { kind = "numeric" }
year = { kind = "numeric" }
"""


def table(records: int) -> pa.Table:
    """Independent numbers, and a diagnosis out of 100."""
    rng = np.random.default_rng(2020)
    return pa.table(
        {
            "age": rng.integers(0, 95, records),
            "zip": 1000 + rng.zipf(1.3, records) % 800,
            "income": rng.integers(0, 100_000, records),
            "year": rng.integers(1990, 2020, records),
            "diagnosis": rng.integers(0, 100, records),
        }
    )


def report(patience: float = PATIENCE) -> None:
    """Print a line for each tool and size."""
    if not (ENVIRONMENT / ".stamp").exists():
        print("left out: the tools are not installed in .venv-peers ('make bench' does it)")
        return
    print("CPU seconds of a process, CSV in, k = 5, four numeric quasi-identifiers, one record")
    print("per person; x: as a multiple of sfumato's: --cut median, assess for what only measures.")
    print("Goal: 50 x at 300,000 records.\n")
    print(f"{'records':>9}  {'tool':<20}{'CPU s':>9}{'x':>8}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for records in RECORDS:
            path, toml = folder / f"{records}.csv", folder / "schema.toml"
            pa_csv.write_csv(table(records), path)
            toml.write_text(SCHEMA, encoding="utf-8")
            measured = best(sfumato("assess", path, "--schema", toml), 2)
            released = _anonymized(path, toml, folder / "out.csv", "median")
            sought = _anonymized(path, toml, folder / "out.csv", "search")
            print(f"{records:>9,}  {'sfumato --cut median':<21}{released.cpu:>8.2f}{1:>8}")
            print(f"{records:>9,}  {'sfumato --cut search':<21}{sought.cpu:>8.2f}")
            print(f"{records:>9,}  {'sfumato assess':<21}{measured.cpu:>8.2f}{1:>8}")
            for tool, what in TOOLS.items():
                own = measured if tool == "pycanon" else released
                print(f"{records:>9,}  {tool:<20}{_beside(tool, path, own, patience)}  {what}")


def _anonymized(path: Path, toml: Path, output: Path, cut: str) -> Run:
    options = ("--schema", toml, "--k", "5", "--cut", cut, "-o", output)
    runs = []
    for _ in range(2):
        for made in (output, output.with_name("release.toml")):
            made.unlink(missing_ok=True)
        runs.append(run(sfumato("anonymize", path, *options)))
    return min(runs, key=lambda each: each.cpu)


def _beside(tool: str, path: Path, own: Run, patience: float) -> str:
    try:
        other = run([PYTHON, HERE / "peer.py", tool, path], patience)
    except RuntimeError:
        return f"{'fails':>9}{'':>8}"
    sign = "" if other.ended else "> "
    return f"{sign + format(other.cpu, '.1f'):>9}{sign + format(other.cpu / own.cpu, '.0f'):>8}"


if __name__ == "__main__":
    report(float(sys.argv[1]) if len(sys.argv) > 1 else PATIENCE)
