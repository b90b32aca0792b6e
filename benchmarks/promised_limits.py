"""What releases cost that keep limits: the table of docs/EVIDENCE.md.

Usage: promised_limits.py [FILE ...]    (all of `FILES` where none is named)

Each file is released with `sf.Limits("contract")` and nothing else. Printed are NCP, of how many
records a column shows what it held before (mean over people; 0 where it is left out), the numbers
that the verdict has of the insider, and the time.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from release_series import adult, clinics, informs

import sfumato as sf

N, C = "numeric", "categorical"
LIMITS = sf.Limits("contract")
Asked = tuple[Callable[[], pd.DataFrame], dict[str, str], tuple[str, ...], tuple[str, ...]]
FILES: dict[str, Asked] = {
    "adult4": (
        lambda: adult(30_162),
        {"age": N, "sex": C, "race": C, "marital-status": C},
        ("occupation",),
        ("salary-class",),
    ),
    "adult7": (
        lambda: adult(30_162),
        {
            "age": N,
            "sex": C,
            "race": C,
            "marital-status": C,
            "education": C,
            "native-country": C,
            "workclass": C,
        },
        ("occupation",),
        ("salary-class",),
    ),
    "clinics": (
        lambda: clinics(20_000),
        {"age": N, "sex": C, "zip": N, "education": C},
        ("code", "department"),
        (),
    ),
    "informs": (
        informs,
        {"DOBYY": N, "SEX": C, "RACEX": C, "EDUCYEAR": N, "marry": C},
        ("code",),
        (),
    ),
}
"""Data, quasi-identifiers, and the other columns: sensitive, insensitive."""


def as_they_were(release: sf.Release, data: pd.DataFrame, column: str) -> float:
    """Of a person's records the share that shows what the file held, mean over people."""
    if column not in release.table.column_names:
        return 0.0
    rows = release.source_rows
    shown = np.array(release.table.column(column).to_pylist(), dtype=object)
    same = pd.Series(0.0, index=range(len(data)))
    same[rows] = (shown == data[column].to_numpy(dtype=object)[rows]).astype(float)
    return float(same.groupby(data["person"].to_numpy()).mean().mean())


def measured(name: str) -> dict[str, Any]:
    """A file released and looked at."""
    load, known, sensitive, others = FILES[name]
    data = load().reset_index(drop=True)[["person", *known, *sensitive, *others]]
    schema = sf.Schema(
        person="person",
        quasi_identifiers=known,
        sensitive=sensitive,
        insensitive=others,
        accepted=dict.fromkeys(others, "of a benchmark"),
    )
    began = time.process_time()
    release = sf.anonymize(data, schema, LIMITS, seed=1)
    seconds = time.process_time() - began
    insider = release.verdict.row("insider").findings
    return {
        "file": name,
        "state": release.verdict.state.value,
        "NCP": round(release.utility.ncp, 3),
        **{each: round(as_they_were(release, data, each), 3) for each in (*sensitive, *others)},
        "insider": None if insider is None else (insider.found.high, insider.person.high),
        "options": release.manifest.options.to_dict(),
        "promises": [*map(repr, release.constraints)],
        "CPU s": round(seconds),
    }


def main() -> None:
    """Print a line per file."""
    for name in sys.argv[1:] or FILES:
        for key, value in measured(name).items():
            print(f"{key}: {value}", flush=True)
        print()


if __name__ == "__main__":
    main()
