"""Files that break what they promise are caught, and honest ones beside them are not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from intruder.generated import persons, schema_of

from sfumato.examples.clinics import worked_example
from sfumato.intruder.attack import attack
from sfumato.intruder.attack_result import Attack
from sfumato.intruder.attacks import exact_matching
from sfumato.release.anonymize import anonymize
from sfumato.release.promises.k_anonymity import PidKAnonymity
from sfumato.release.promises.marketer_risk import MarketerRisk
from sfumato.release.release_result import Release, ReleasedTable

QUICK = ("exact", "multi_record", "inference", "row_order", "identifiers")


@pytest.fixture(autouse=True)
def _few_rounds() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact_matching, "ROUNDS", 20)
        yield


@pytest.fixture(scope="module")
def original() -> pa.Table:
    """Visits of 120 persons."""
    return persons(np.random.default_rng(4), 120, several=True, missing=0.0)


@pytest.fixture(scope="module")
def release(original: pa.Table) -> Release:
    """They, at least 6 in a class."""
    return anonymize(original, schema_of(several=True), PidKAnonymity(6), cut="median", seed=2)


def broken(found: Attack) -> set[str]:
    """The names of the attacks that exceeded a prediction."""
    return {outcome.attack for outcome in found.broken}


def test_the_honest_release_is_not_caught(release: Release) -> None:
    found = attack(release, seed=1, attacks=QUICK)
    assert broken(found) == set()
    assert found.verdict.evidence == found.evidence
    assert not any(each.raised for each in found.evidence)
    assert found.warnings == ()


@pytest.mark.parametrize("name", ["name", "label"])
def test_names_left_in(release: Release, original: pa.Table, name: str) -> None:
    left = original.column("name").take(pa.array(release.source_rows))
    bad = replace(
        release, content=ReleasedTable(release.table.append_column(name, left), release.original)
    )
    found = attack(bad, seed=1, attacks=QUICK)
    assert found.verdict.row("stranger").findings.found.value == 1
    assert "Defect in sfumato: identifiers found 100 %" in found.sentence
    assert broken(found) == {"identifiers"}
    (outcome,) = found.broken
    assert outcome.right == outcome.attempts == release.risk.persons


def test_person_ids_left_in(release: Release, original: pa.Table) -> None:
    place = release.table.column_names.index("patient")
    ids = original.column("patient").take(pa.array(release.source_rows))
    bad = replace(
        release,
        content=ReleasedTable(release.table.set_column(place, "patient", ids), release.original),
    )
    assert "identifiers" in broken(attack(bad, seed=1, attacks=QUICK))


def test_exact_values_where_classes_were_promised(release: Release, original: pa.Table) -> None:
    table = release.table
    for name in release.schema.quasi_identifiers:
        exact = original.column(name).take(pa.array(release.source_rows)).cast(pa.string())
        table = table.set_column(table.column_names.index(name), name, exact)
    found = attack(
        replace(release, content=ReleasedTable(table, release.original)), seed=1, attacks=QUICK
    )
    assert {"exact_free", "exact_one_to_one", "exact_surest"} <= broken(found)


def test_a_file_of_classes_of_one() -> None:
    one = persons(np.random.default_rng(1), 50, several=False, missing=0.0)
    one = one.drop(["name", "patient"])
    schema = schema_of(several=False)
    alone = attack(one, schema=schema, seed=1)
    assert alone.claims.get("prosecutor").value == 1  # type: ignore[union-attr]
    assert alone.verdict.row("stranger").findings.person.value == 1
    assert alone.exit_code == 2
    coarse = one.drop(["age", "area", "school"])
    assert attack(coarse, schema=schema, seed=1).verdict.row("stranger").findings.person.value < 0.1


def test_table_3b_of_the_paper_is_3_anonymous_and_gives_charlie_away() -> None:
    """Table 3b of paper 003: k = 3 records in a class, but the second class is one patient's."""
    original, schema = worked_example()
    groups = [1] * 3 + [2] * 5 + [3] * 4 + [4] * 7
    cells = {
        1: ("85-86", "*", "20375"),
        2: ("69-71", "Male", "20048"),
        3: ("84", "*", "20090"),
        4: ("74-78", "Male", "20400-20420"),
    }
    columns = zip(*(cells[group] for group in groups), strict=True)
    shown = pa.table(dict(zip(("age", "gender", "zip"), map(list, columns), strict=True)))
    shown = shown.append_column("disease", original.column("disease"))
    found = attack(
        shown, original=original, truth="same-order", schema=schema, seed=3, attacks=QUICK
    )
    assert found.claims.get("prosecutor").value == pytest.approx(1 / 3)  # type: ignore[union-attr]
    outcomes = {outcome.attack: outcome for outcome in found.outcomes}
    surest = outcomes["exact_surest"]
    assert (surest.right, surest.attempts, surest.above) == (5, 5, True)
    # Few guesses are right by chance among 19 records: the row shows what is found in truth.
    assert found.verdict.row("stranger").findings.person.value == 1
    assert found.exit_code == 2
    assert outcomes["exact_free"].broken
    assert outcomes["multi_record_surest"].broken


def test_row_order_kept(original: pa.Table) -> None:
    by_age = original.sort_by("name")
    kept = anonymize(
        by_age, schema_of(several=True), PidKAnonymity(6), cut="median", keep_order=True, seed=2
    )
    found = attack(kept, seed=1, attacks=QUICK)
    assert broken(found) == {"row_order"}
    stranger = found.verdict.row("stranger")
    assert stranger.findings.found.value > kept.verdict.row("stranger").findings.found.value
    assert "row_order" in stranger.why


def test_ranges_narrower_than_what_their_persons_have(release: Release) -> None:
    """The persons whose values lie outside are told, by number."""
    place = release.table.column_names.index("age")
    ages = release.table.column("age").to_pylist()
    low = [text.split("-")[0] for text in ages]
    bad = replace(
        release,
        content=ReleasedTable(
            release.table.set_column(place, "age", pa.array(low)), release.original
        ),
    )
    found = attack(bad, seed=1, attacks=QUICK)
    assert any("do not hold what is known of them" in warning for warning in found.warnings)


def test_slivers_in_which_few_of_the_register_fall() -> None:
    """Classes counted by what lies between the cuts, but released as what the sample fills."""
    rng = np.random.default_rng(8)
    everybody = persons(rng, 3_000, several=False, missing=0.0)
    schema = schema_of(several=False).model_copy(
        update={"person": "patient", "direct_identifiers": ("name",)}
    )
    sample = everybody.slice(0, 150)
    honest = anonymize(sample, schema, MarketerRisk(0.05), register=everybody, cut="median", seed=1)
    held = attack(honest, original=sample, register=everybody, seed=1, attacks=["exact"])
    assert broken(held) == set()
    assert held.claims.get("marketer").value <= 0.05  # type: ignore[union-attr]
    slivers = replace(honest, content=ReleasedTable(_slivers(honest, sample), honest.original))
    found = attack(slivers, original=sample, register=everybody, seed=1, attacks=["exact"])
    assert {"exact_free", "exact_one_to_one"} <= broken(found)
    assert found.warnings == ()


def _slivers(release: Release, sample: pa.Table) -> pa.Table:
    """The release with each class's cells shrunk to the values of its own persons."""
    names = list(release.schema.quasi_identifiers)
    table = release.table
    shown = list(zip(*(table.column(name).to_pylist() for name in names), strict=True))
    number = {cells: place for place, cells in enumerate(dict.fromkeys(shown))}
    class_of = np.array([number[cells] for cells in shown])
    rows = pa.array(release.source_rows)
    for name in names:
        values = np.array([str(each) for each in sample.column(name).take(rows).to_pylist()])
        cells = {each: sorted(set(values[class_of == each])) for each in range(len(number))}
        texts = [_shrunk(name, cells[each]) for each in class_of]
        table = table.set_column(table.column_names.index(name), name, pa.array(texts))
    return table


def _shrunk(name: str, values: list[str]) -> str:
    if name == "age":
        return f"{min(values, key=int)}-{max(values, key=int)}"
    if name == "school":
        return values[0] if len(values) == 1 else f"{{{', '.join(values)}}}"
    return values[0] if len(values) == 1 else f"{{{', '.join(values)}}}"
