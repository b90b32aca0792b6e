"""``sfumato series plan``: what settings of a series cost, as a table and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
from cli.conftest import Run


def test_settings_are_tried_on_past_files_and_nothing_is_written(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for month in range(3):
        ids = np.arange(5 * month, 80 + 15 * month)
        born = 1940 + ids * 7 % 50
        data = {"id": ids, "born": born, "status": rng.choice(list("ab"), len(ids))}
        pd.DataFrame(data).to_csv(tmp_path / f"m{month}.csv", index=False)
    (tmp_path / "schema.toml").write_text(
        'person = "id"\nquasi_identifiers = { born = "numeric" }\nsensitive = ["status"]\n'
    )
    before = sorted(tmp_path.iterdir())
    months = ("m0.csv", "m1.csv", "m2.csv", "--schema", "schema.toml", "--effort", "0")
    words = ("series", "plan", *months, "--pid-k", "8", "--try-k", "5", "--try-admit-every", "1")
    fewer = json.loads(run(*words, "--try-newcomers-k", "6", "--json").out)
    assert {(each["k"], each["newcomers_k"]) for each in fewer} == {(5, None), (8, None), (8, 6)}
    found = json.loads(run(*words, "--json").out)
    assert {each["k"] for each in found} == {5, 8}
    assert all(each["fewest"] >= each["k"] and each["files"] == 3 for each in found)
    head, *rows = run(*words).out.splitlines()
    assert [row.split()[0] for row in rows] == [str(each["k"]) for each in found]
    assert len(head.split()) == 13
    assert run("series", "plan", "m0.csv", *months[3:], "--pid-k", "8").code == 1
    # Of a setting that releases no file nothing is measured: neither 0 % nor 100 %.
    none, *_ = json.loads(run(*words, "--try-k", "500", "--json").out)
    assert (none["files"], none["found"], none["fewest"], none["lost"]) == (0, {}, None, [])
    _, row, *_ = run(*words, "--try-k", "500").out.splitlines()
    assert row.split()[6:] == 8 * ["-"]
    assert sorted(tmp_path.iterdir()) == before
