"""Releases that other tools made are attacked from their CSV.

``data/anjana_persons.csv`` holds 160 made-up persons (uniform random ages, areas and so on, NumPy's
default_rng(20)); ``data/anjana.csv`` is what anjana 1.2.3 made of them:
``k_anonymity(frame, ["name"], ["age", "sex", "zip", "education"], 4, 15, hierarchies)`` (k, share)
with ``generate_intervals(age, 0, 100, w)`` for w = 5, 10, 50, areas as ``40**`` and ``*``, and
``*`` above sex and education. It suppressed nobody, keeps the order of the rows, and writes an age
of 50 as ``[0, 50)``, which reads as an age below 50: these persons cannot be found.

No ARX is to be had from the Python, Debian or JavaScript package indexes. Its test writes what its
documentation describes, made of the same persons by this file, not by ARX: semicolons, intervals
``[20, 40[``, redacted characters, and suppressed records with ``*`` in every quasi-identifier.
"""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from sfumato.intruder.attack import attack
from sfumato.intruder.attack_result import Attack
from sfumato.schema import Schema

DATA = Path(__file__).with_name("data")
PERSONS = DATA / "anjana_persons.csv"
SCHEMA = Schema(
    quasi_identifiers={
        "age": "numeric",
        "sex": "categorical",
        "zip": {"kind": "categorical"},
        "education": "categorical",
    },
    sensitive=("disease",),
    direct_identifiers=("name",),
)
QUICK = ("exact", "multi_record", "inference", "row_order", "identifiers")


def broken(found: Attack) -> set[str]:
    """The names of the attacks that exceeded a prediction."""
    return {outcome.attack for outcome in found.broken}


def mislabelled(found: Attack) -> bool:
    """Whether the one warning is about as many persons as are at an end that anjana mislabels."""
    with PERSONS.open(encoding="utf-8", newline="") as file:
        number = sum(row["age"] == "50" for row in csv.DictReader(file))
    (warning,) = found.warnings
    return number > 0 and f"The cells of {number} released people do not hold" in warning


def classes_of(rows: list[dict[str, str]]) -> Counter[tuple[str, ...]]:
    """How many rows show the same cells."""
    return Counter(tuple(row[name] for name in SCHEMA.quasi_identifiers) for row in rows)


def test_anjana_keeps_its_k_but_not_against_the_order_of_rows() -> None:
    shown = DATA / "anjana.csv"
    with shown.open(encoding="utf-8", newline="") as file:
        sizes = classes_of(list(csv.DictReader(file)))
    found = attack(
        shown, original=PERSONS, truth="same-order", schema=SCHEMA, seed=1, attacks=QUICK
    )
    assert mislabelled(found)
    assert found.claims.get("prosecutor").value == 1 / min(sizes.values())  # type: ignore[union-attr]
    assert found.claims.get("marketer").value == len(sizes) / sum(sizes.values())  # type: ignore[union-attr]
    assert broken(found) == {"row_order"}
    assert "row_order" in found.verdict.row("stranger").why
    assert "Defect in sfumato" not in found.sentence


def test_anjana_shuffled_is_not_caught(tmp_path: Path) -> None:
    lines = (DATA / "anjana.csv").read_text(encoding="utf-8").splitlines()
    names = [line.partition(",")[0] for line in PERSONS.read_text(encoding="utf-8").splitlines()]
    order = np.random.default_rng(1).permutation(len(lines) - 1) + 1
    shown = tmp_path / "shuffled.csv"
    shown.write_text("\n".join([lines[0], *(lines[row] for row in order)]), encoding="utf-8")
    schema = SCHEMA.model_copy(update={"person": "name", "direct_identifiers": ()})
    hidden = tmp_path / "hidden.csv"
    text = shown.read_text(encoding="utf-8").replace("name,", "masked,", 1)
    hidden.write_text(text, encoding="utf-8")
    truth = [names[row] for row in order]
    found = attack(hidden, original=PERSONS, truth=truth, schema=schema, seed=1, attacks=QUICK)
    assert broken(found) == set()
    assert mislabelled(found)


def as_arx_writes(rows: list[dict[str, str]], k: int) -> list[dict[str, str]]:
    """Ages in intervals of 20 years, areas of two digits, small classes suppressed."""
    shown = []
    for row in rows:
        low = 20 * (int(row["age"]) // 20)
        cells = {"age": f"[{low}, {low + 20}[", "sex": row["sex"], "zip": f"{row['zip'][:2]}**"}
        shown.append({**cells, "education": "*", "disease": row["disease"]})
    sizes = classes_of(shown)
    for row in shown:
        if sizes[tuple(row[name] for name in SCHEMA.quasi_identifiers)] < k:
            row.update(dict.fromkeys(SCHEMA.quasi_identifiers, "*"))
    return shown


@pytest.mark.parametrize("shuffled", [False, True])
def test_the_form_that_arx_writes(tmp_path: Path, shuffled: bool) -> None:
    with PERSONS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    order = np.random.default_rng(3).permutation(len(rows)) if shuffled else np.arange(len(rows))
    shown = as_arx_writes(rows, k=5)
    path, truth = tmp_path / "arx.csv", tmp_path / "truth.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(shown[0]), delimiter=";")
        writer.writeheader()
        writer.writerows(shown[row] for row in order)
    lines = [f"{place},{row + 1}" for place, row in enumerate(order, 1)]
    truth.write_text("\n".join(["row,person", *lines]), encoding="utf-8")
    sizes = classes_of(shown)
    suppressed = sizes[("*",) * 4]
    assert 0 < suppressed < 25
    found = attack(path, original=PERSONS, truth=truth, schema=SCHEMA, seed=2, attacks=QUICK)
    assert found.warnings == ()
    assert found.claims.get("prosecutor").value == 1 / min(sizes.values())  # type: ignore[union-attr]
    assert broken(found) == (set() if shuffled else {"row_order"})


def test_with_values_that_are_really_known_it_is_caught(tmp_path: Path) -> None:
    """The same tool with one class of one: its own k says so, and somebody is found."""
    with PERSONS.open(encoding="utf-8", newline="") as file:
        shown = as_arx_writes(list(csv.DictReader(file)), k=1)
    path = tmp_path / "arx.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(shown[0]), delimiter=";")
        writer.writeheader()
        writer.writerows(shown)
    alone = sum(size == 1 for size in classes_of(shown).values())
    assert alone > 0
    found = attack(path, schema=SCHEMA, seed=2)
    assert found.verdict.row("stranger").findings.person.value == 1
    assert found.exit_code == 2
