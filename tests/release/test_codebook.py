"""The codebook: every released column, in words that need nothing of the original."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyreadstat
import pytest

import sfumato as sf

CANARY = "kanarienvogel"


def release(folder: Path, **options: Any) -> sf.Release:
    """A release of an SPSS file with labels, a recipe and columns that are left out."""
    frame = pd.DataFrame(
        {
            "pid": [f"p{n // 2}" for n in range(40)],
            "age": [f"{20 + n % 30},0" for n in range(40)],
            "sex": [1.0 + n % 2 for n in range(40)],
            "dx": [float(n % 3) for n in range(40)],
            "house": [f"{CANARY}{n % 7}" for n in range(40)],
        }
    )
    said = {"dx": {0: "flu", 1: "gout", 2: "a | b", 9: CANARY}}
    pyreadstat.write_sav(
        frame, folder / "in.sav", column_labels={"age": "Age in years", "house": CANARY},
        variable_value_labels=said,
    )  # fmt: skip
    schema = sf.Schema(
        person="pid",
        quasi_identifiers={"age": "numeric", "sex": "categorical"},
        sensitive="dx",
        household="house",
        accepted={"dx": CANARY},
        recipe={"age": {"decimal": ",", "missing": CANARY}},
    )
    return sf.anonymize(folder / "in.sav", schema, sf.PidKAnonymity(4), seed=1, **options)


def test_it_stands_beside_the_release(tmp_path: Path) -> None:
    made = release(tmp_path)
    made.write(tmp_path / "out.csv")
    text = (tmp_path / "out.codebook.md").read_text(encoding="utf-8")
    assert text == made.codebook("out.csv")
    lines = text.splitlines()
    assert lines[0] == "# Codebook of out.csv"
    assert lines[2] == "40 records of 20 people."
    assert "| `pid` |  | text | the person: a pseudonym" in text
    assert (
        "| `age` |  | text | 1 text taken as missing; read as numbers, decimal sign ,; "
        "generalised: each record shows the range from" in text
    )
    assert "| `dx` |  | number | unchanged |" in text
    assert "| 2 | a \\| b |" in text
    assert CANARY not in text
    assert "house" not in text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"values": "bounds"}, "| `age_low` |  | number |"),
        (
            {"values": "bounds", "ends": "tight"},
            "generalised: the highest value of the record’s class",
        ),
        (
            {"values": "bounds"},
            "generalised: a point of a grid around the highest value of the record’s class",
        ),
        ({"values": "set", "ends": "tight"}, "the set of the values of its class"),
        ({"values": "mean"}, "the mean of its class"),
        ({"keep_order": True}, "The order of the records is as in the original."),
        ({"pseudonym_key": b"0" * 32}, "a pseudonym made with a key"),
        ({"recoding": "full-domain"}, "level "),
    ],
)
def test_it_says_how_the_release_was_made(
    options: dict[str, Any], said: str, tmp_path: Path
) -> None:
    assert said in release(tmp_path, **options).codebook()
