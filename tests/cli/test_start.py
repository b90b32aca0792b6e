"""What a command imports: Arrow's own import of pandas costs more than a small file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from sfumato.cli.app import _HOMES, Commands, _listed
from sfumato.examples import generate_clinics
from sfumato.schema import dump_schema

MODULES = {home.partition(":")[0] for home in _HOMES.values()}
HEAVY = ("pandas", "scipy", "scipy.linalg", "altair", "duckdb", "polars")
PROGRAM = """
import sys
from sfumato.cli.app import main
try:
    main()
except SystemExit as end:
    assert end.code in {None, 0, 2}  # 2: released, above a limit
print(*sys.modules, file=sys.stderr)
"""


def modules(*arguments: str | Path, **environment: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    return set(done.stderr.split())


def imported(*arguments: str | Path, **environment: str) -> set[str]:
    return modules(*arguments, **environment) & {*HEAVY, "numpy"}


def test_help_imports_no_library_of_arrays() -> None:
    assert imported("--help") == set()
    assert not modules("--help") & {f"sfumato.cli.{name}" for name in MODULES}


def test_a_command_imports_no_other() -> None:
    found = modules("presets")
    assert "sfumato.cli.presets_command" in found
    assert not found & {f"sfumato.cli.{name}" for name in MODULES - {"presets_command"}}


def test_every_command_is_imported_by_its_name() -> None:
    commands = Commands()
    assert {name: command.name for name, command in commands.items()} == {n: n for n in commands}


def test_the_help_says_of_each_command_what_its_own_help_says_first() -> None:
    for name, command in Commands().items():
        own = " ".join((command.help or "").split("\n\n")[0].split())
        assert own
        assert _listed(name).help == own


@pytest.mark.slow
def test_small_files_need_no_pandas(tmp_path: Path) -> None:
    clinics = generate_clinics(300, rng=1)
    schema = tmp_path / "schema.toml"
    schema.write_text(dump_schema(clinics.schema), encoding="utf-8")
    pa_csv.write_csv(clinics.visits, tmp_path / "v.csv")
    pq.write_table(clinics.visits, tmp_path / "v.parquet")
    for name in ("v.csv", "v.parquet"):
        assert imported("assess", tmp_path / name, "--schema", schema) <= {"numpy"}
    # Cures may try known events, whose cells Arrow fills with the help of pandas.
    made = ("anonymize", tmp_path / "v.csv", "--schema", schema, "--g-balance", "0.8", "--no-cures")
    assert imported(*made, "--output", tmp_path / "out.csv") <= {"numpy", "scipy"}
    # Where nobody names the person, texts are looked at that may.
    first = np.unique(clinics.visits["patient"].to_numpy(), return_index=True)[1]
    named = ("patient", *clinics.schema.direct_identifiers)
    alone = clinics.schema.model_copy(update={"person": None, "direct_identifiers": named})
    pa_csv.write_csv(clinics.visits.take(first), tmp_path / "w.csv")
    schema.write_text(dump_schema(alone), encoding="utf-8")
    (tmp_path / "w").mkdir()
    made = ("anonymize", tmp_path / "w.csv", "--schema", schema, "--pid-k", "3", "--no-cures")
    assert imported(*made, "--output", tmp_path / "w" / "out.csv") <= {"numpy", "scipy"}
