"""``sf.attack``: what it takes, what it says, what it refuses."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pytest
from intruder.generated import persons, schema_of

from sfumato.core.errors import InputError
from sfumato.intruder.attack import attack
from sfumato.intruder.attack_subject import by_source_rows, people_of
from sfumato.intruder.attacks import ACTS, exact_matching
from sfumato.intruder.knowledge import hold
from sfumato.release.anonymize import anonymize
from sfumato.release.promises.k_anonymity import PidKAnonymity
from sfumato.release.release_result import Release, ReleasedTable
from sfumato.schema import Schema
from sfumato.semantics.linkage_anonymity import LinkageAnonymity

SCHEMA = schema_of(several=True)
PATIENTS = [f"P{number}" for number in range(100)]
QUICK = ("exact", "multi_record", "inference", "row_order", "identifiers")


@pytest.fixture(autouse=True)
def _few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_matching, "ROUNDS", 20)


@pytest.fixture(scope="module")
def original() -> pa.Table:
    """Visits of 100 persons."""
    return persons(np.random.default_rng(6), 100, several=True, missing=0.05)


@pytest.fixture(scope="module")
def release(original: pa.Table) -> Release:
    """They, at least 5 in a class."""
    return anonymize(original, SCHEMA, PidKAnonymity(5), cut="median", seed=2)


@pytest.fixture
def paths(release: Release, original: pa.Table, tmp_path: Path) -> tuple[Path, Path, Path]:
    """The release, the original and whose each record is, as files."""
    shown, before, truth = (tmp_path / name for name in ("out.csv", "in.csv", "truth.csv"))
    release.write(shown)
    pa_csv.write_csv(original, before)
    ids = original.column("patient").take(pa.array(release.source_rows))
    rows = pa.array(range(1, len(ids) + 1))
    pa_csv.write_csv(pa.table({"row": rows, "person": ids}), truth)
    return shown, before, truth


def plain(**given: Any) -> dict[str, Any]:
    """The attacks as plain values, without what they were held against."""
    found = attack(seed=3, attacks=QUICK, **given).to_json()
    return {each["attack"]: (each["right"], each["attempts"]) for each in found["attacks"]}


def test_source_rows_say_where_each_record_came_from(release: Release, original: pa.Table) -> None:
    rows = pa.array(release.source_rows)
    assert original.column("illness").take(rows).equals(release.table.column("illness"))
    assert "source_rows" not in json.dumps(release.to_json())


def test_the_truth_may_be_had_in_several_ways(
    release: Release, original: pa.Table, paths: tuple[Path, Path, Path]
) -> None:
    """The same guesses are right whether the release, a file or a list says whose they are."""
    shown, before, truth = paths
    found = plain(release=release)
    assert plain(release=shown, original=before, truth=truth, schema=SCHEMA) == found
    ids = original.column("patient").take(pa.array(release.source_rows)).to_pylist()
    assert plain(release=release.table, original=original, truth=ids, schema=SCHEMA) == found
    frames = {"release": release.table.to_pandas(), "original": original.to_pandas()}
    frames["original"]["age"] = frames["original"]["age"].astype("Int64")
    assert isinstance(frames["release"], pd.DataFrame)
    assert plain(**frames, truth=ids, schema=SCHEMA) == found


def test_ids_that_were_kept_tell_the_truth_too(release: Release, original: pa.Table) -> None:
    place = release.table.column_names.index("patient")
    ids = original.column("patient").take(pa.array(release.source_rows))
    shown = release.table.set_column(place, "patient", ids)
    found = attack(shown, original=original, schema=SCHEMA, seed=1, attacks=["identifiers"])
    assert found.outcomes[0].right == found.persons


def test_what_is_measured_on_the_file_is_what_the_release_says(
    release: Release, paths: tuple[Path, Path, Path]
) -> None:
    shown, before, truth = paths
    said = attack(release, seed=1, attacks=["exact"]).claims
    measured = attack(
        shown, original=before, truth=truth, schema=SCHEMA, seed=1, attacks=["exact"]
    ).claims
    assert (said.own, measured.own) == (True, False)
    assert measured.measures == said.measures
    assert float(said.measures["marketer"]) == release.risk.marketer.value


def test_its_own_original(release: Release) -> None:
    """Everybody is known by the class they are in, which is what the measures assume."""
    found = attack(release.table, schema=SCHEMA, counts=True, seed=5)
    assert found.register_persons == found.persons == release.risk.persons
    names = {outcome.attack for outcome in found.outcomes}
    assert {"exact_free", "exact_counts", "multi_record_counts", "inference:illness"} <= names
    assert not names & {"row_order", "probabilistic"}
    assert found.held[0].startswith("Nothing but")


def test_another_register_and_its_control_group(release: Release, original: pa.Table) -> None:
    more = persons(np.random.default_rng(7), 100, several=True, missing=0.0)
    renamed = more.set_column(
        0, "patient", pa.array([f"Q{each}" for each in more.column("patient").to_pylist()])
    )
    register = pa.concat_tables([original, renamed])
    found = attack(
        release,
        original=original,
        register=register,
        seed=1,
        attacks=["exact", "targets", "inference"],
    )
    outcomes = {outcome.attack: outcome for outcome in found.outcomes}
    assert found.register_persons == 200
    free = outcomes["exact_free"]
    assert free.control is not None
    assert 0.2 < free.control.value < 0.8
    assert free.baseline.value == pytest.approx(1 / 200)
    targeted = outcomes["exact_targeted"]
    assert targeted.control is None
    assert targeted.baseline.value == pytest.approx(1 / 100)
    assert outcomes["exact_surest"].predicted is not None
    assert outcomes["exact_surest"].predicted.name == "journalist"
    assert not found.broken


def test_what_the_intruder_knows_less_makes_less_right(release: Release) -> None:
    full = plain(release=release)["exact_free"]
    half = plain(release=release, knows=["sex", "school"])["exact_free"]
    wrong = attack(release, noise=0.6, missing={"age": 0.5, "sex": 0.0}, seed=3, attacks=["exact"])
    assert half[0] < full[0]
    assert wrong.outcomes[0].right < full[0]
    assert wrong.warnings == ()
    assert any("60 %" in said for said in wrong.held)
    assert any("column age, 50 %" in said for said in wrong.held)


def test_another_release_gives_more_away(original: pa.Table, release: Release) -> None:
    alike = {"ends": "tight", "pseudonym_key": b"k" * 16}
    other = anonymize(original, SCHEMA, PidKAnonymity(5), split="range", seed=9, **alike)
    first = anonymize(original, SCHEMA, PidKAnonymity(5), cut="median", seed=2, **alike)
    found = attack(first, priors=[other], seed=1, attacks=["intersection", "associations"])
    above = {outcome.attack for outcome in found.outcomes if outcome.above}
    assert "intersection_surest" in above <= {"intersection", "intersection_surest"}
    alone = attack(release, seed=1, attacks=["exact"]).outcomes[0].right
    assert found.outcomes[0].right > alone


def test_probabilistic_matching_finds_more_where_values_are_wrong(release: Release) -> None:
    pytest.importorskip("splink")
    found = attack(release, noise=0.3, seed=3, attacks=["exact", "probabilistic"])
    names = [outcome.attack for outcome in found.outcomes]
    assert "probabilistic_one_to_one" in names
    assert found.calibration.keys() >= {"exact_free", "probabilistic"}


def test_without_splink_it_is_left_out_and_said(
    release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sfumato.intruder.attacks import near_matching as registry

    monkeypatch.setattr(registry, "find_spec", lambda name: None if name == "splink" else name)
    found = attack(release, seed=3)
    assert not any(outcome.attack.startswith("prob") for outcome in found.outcomes)
    assert any("[link]" in warning for warning in found.warnings)
    with pytest.raises(InputError, match="needs Splink"):
        attack(release, seed=3, attacks=["probabilistic"])


def test_the_same_seed_gives_the_same_and_each_attack_stands_alone(release: Release) -> None:
    one = attack(release, seed=8, attacks=QUICK, noise=0.1)
    other = attack(release, seed=8, attacks=QUICK, noise=0.1)
    assert one.to_json() == other.to_json()
    alone = attack(release, seed=8, attacks=["inference"], noise=0.1)
    assert list(alone.outcomes) == [o for o in one.outcomes if o.attack.startswith("inference")]


def test_it_is_told_as_text_html_and_json(release: Release) -> None:
    found = attack(release, seed=1, attacks=QUICK)
    text = str(found)
    assert " ".join(text.split("\n")).startswith(found.sentence)
    assert "exact_one_to_one" in text
    assert "<table>" in found._repr_html_()
    values = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert values["seed"] == 1
    assert values["attacks"][0]["attack"] == "exact_free"
    assert repr(found).startswith("Attack(")


def test_an_acquaintance_knows_what_identifies_and_a_register_all_that_it_has(
    release: Release, original: pa.Table
) -> None:
    given = {"original": original, "seed": 1, "attacks": ["exact"]}
    assert sum(said.endswith(": name, patient.") for said in attack(release, **given).held) == 1
    more = attack(release, register=original, **given).held
    assert sum(said.endswith(": name, illness, patient.") for said in more) == 1


def test_of_the_released_counts_what_the_release_says_of_them() -> None:
    """The second record of the first person was left out."""
    schema = Schema(person="id", quasi_identifiers=["age"], sensitive=["illness"])
    data = pa.table({"id": ["a", "a", "b"], "age": [1, 1, 2], "illness": ["flu", "gout", "cold"]})
    people = people_of(data, schema)
    truth = by_source_rows(np.array([0]), people, people, hold(data, schema))
    assert truth.released.tolist() == [True, False]
    assert truth.values["illness"].person.tolist() == [1]


def test_an_original_with_a_row_of_nobody_is_refused(release: Release, original: pa.Table) -> None:
    """As a register is; a missing id is not the id of somebody."""
    ids = original.column("patient").to_pylist()
    nobody = original.set_column(0, "patient", pa.array([None, *ids[1:]]))
    with pytest.raises(InputError, match=r"must name the person of every row; .* row 1"):
        attack(release, original=nobody, register=original)


def test_each_attack_is_held_against_its_measure(original: pa.Table, release: Release) -> None:
    """And numbers of records help those attacks alone that say so."""
    other = anonymize(original, SCHEMA, PidKAnonymity(5), split="range", seed=9).table
    left_out = {"probabilistic", "screen", "associations", "household", "informed"}
    names = [name for name in ACTS if name not in left_out]
    found, without = (
        attack(release, priors=[other], counts=counts, seed=1, attacks=chosen)
        for counts, chosen in ((True, names), (False, ["exact"]))
    )
    outcomes = {outcome.attack: outcome for outcome in found.outcomes}
    predicted = {name: each.predicted and each.predicted.name for name, each in outcomes.items()}
    assert predicted == {
        "exact_free": "marketer",
        "exact_one_to_one": "marketer",
        "exact_surest": "prosecutor",
        "exact_targeted": "prosecutor",
        "method": None,
        "exact_counts": "avg_count_risk",
        "exact_counts_surest": "max_count_risk",
        "multi_record": "avg_gidr",
        "multi_record_surest": "max_gidr",
        "multi_record_counts": "avg_gidr",
        "multi_record_counts_surest": "max_gidr",
        "events_1": "found_1",
        "events_2": "found_2",
        "events_3": "found_3",
        "events_scored_2": "found_2",
        "events_scored_3": "found_3",
        "inference:illness": "avg_gsar",
        "inference_surest:illness": "max_gsar",
        "inference_model:illness": None,
        "inference_minimality:illness": None,
        "intersection": "marketer",
        "intersection_surest": "prosecutor",
        "inference_intersection:illness": "avg_gsar",
        "trajectory": "marketer",
        "row_order": "free_guessing",
        "identifiers": None,
        "column:illness": None,
        # Of the others fewer than 100 persons are known.
        **dict.fromkeys(
            f"combinations:{name}" for name in set(SCHEMA.quasi_identifiers) - {"age", "school"}
        ),
        "singling_out": None,
        "singling_out_members": None,
        "downcoding": None,
    }
    for outcome in without.outcomes:
        assert outcomes[outcome.attack] == outcome
    assert outcomes["intersection"].baseline.why == "a person of the file, drawn at random"


def test_known_numbers_of_records_are_those_of_the_release(original: pa.Table) -> None:
    made = anonymize(original, SCHEMA, PidKAnonymity(5), cut="median", cap_records=1, seed=2)
    found = attack(made, counts=True, seed=1, attacks=["counts"])
    assert found.outcomes[0].attempts == found.persons == found.records


def test_persons_whom_the_register_lacks_are_said(release: Release, original: pa.Table) -> None:
    few = original.filter(pc.is_in(original["patient"], pa.array(PATIENTS[:60])))
    found = attack(release, original=original, register=few, seed=1, attacks=["exact"])
    assert found.register_persons == 60
    assert re.search(r"register: 40 people", found.warnings[0])


def test_nothing_of_the_data_is_told(release: Release, original: pa.Table) -> None:
    found = attack(release, seed=1, attacks=QUICK, counts=True)
    told = json.dumps(found.to_json()) + str(found) + found._repr_html_()
    for name in ("patient", "name", "school", "illness"):
        for value in set(original.column(name).to_pylist()) - {None}:
            assert value not in told, name


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"schema": None}, "parameter schema must say"),
        ({"original": 1}, "parameter truth must say whose"),
        ({"truth": ["P1"]}, "must name people of an original"),
        ({"knows": ["age"]}, "only where there is an original"),
        ({"attacks": ["guess"]}, "must name attacks"),
        ({"attacks": ["row_order"]}, "attack 'row_order' needs a register"),
        ({"attacks": ["counts"]}, "needs an intruder who knows numbers"),
        ({"attacks": ["intersection"]}, "needs another release"),
        ({"limits": "tolerable"}, "limits must name a preset"),
        ({"seed": -1}, "parameter seed"),
        ({"population": 3}, "parameter population must stand beside a register"),
    ],
)
def test_what_is_refused(
    release: Release, original: pa.Table, given: dict[str, Any], said: str
) -> None:
    if "original" in given:
        given = {**given, "original": original}
    with pytest.raises(InputError, match=said):
        attack(release.table, **{"schema": SCHEMA, **given})


def test_a_release_of_a_path_needs_its_original(
    release: Release, paths: tuple[Path, Path, Path]
) -> None:
    made = replace(release, content=ReleasedTable(release.table))
    with pytest.raises(InputError, match="parameter original must be given"):
        attack(made)
    register = {"register": paths[1], "truth": "same-order", "schema": SCHEMA}
    with pytest.raises(InputError, match="parameter population must be at least"):
        attack(release.table, **register, population=3)
    with pytest.raises(InputError, match="parameter population must be left out"):
        attack(release, population=500)
    found = attack(made, original=paths[1], seed=3, attacks=["exact"])
    assert found.outcomes[0].predicted is not None


def test_truth_files_that_do_not_fit(
    release: Release, paths: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    bad = tmp_path / "bad.csv"
    given = {"original": paths[1], "truth": bad, "schema": SCHEMA}
    for text, said in (
        ("row,who\n1,P1\n", "must have columns 'row' and 'person'"),
        ("row,person\n0,P1\n", "must number the released records"),
        ("row,person\nx,P1\n", "must number the released records"),
    ):
        bad.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=said):
            attack(release.table, **given)
    with pytest.raises(InputError, match="a person for each released record"):
        attack(release.table, original=paths[1], truth=["P1"], schema=SCHEMA)


def test_a_population_makes_the_claim_smaller(release: Release) -> None:
    given = {"register": release.original, "truth": "same-order", "schema": SCHEMA, "seed": 1}
    alone = attack(release.table, **given, attacks=["exact"])
    known = attack(release.table, **given, attacks=["exact"], population=5_000)
    assert float(known.claims.measures["marketer"]) < float(alone.claims.measures["marketer"])


@pytest.mark.slow
def test_a_release_with_a_population_claims_the_risk_against_it(original: pa.Table) -> None:
    made = anonymize(original, SCHEMA, PidKAnonymity(5), cut="median", seed=2, population=5_000)
    assert made.population is not None
    known = attack(made, seed=1, attacks=["exact"])
    assert known.claims.measures["marketer"].value == made.risk.marketer.value
    assert not known.broken
    rng = np.random.default_rng(3)
    others = persons(rng, 4_900, several=True, missing=0.0)
    ids = pa.array([f"Q{each}" for each in others.column("patient").to_pylist()])
    register = pa.concat_tables([original, others.set_column(0, "patient", ids)])
    found = attack(made, register=register, seed=1, attacks=["exact"])
    assert found.register_persons == 5_000
    assert found.claims.measures["marketer"] == made.population.marketer
    assert float(found.claims.measures["marketer"]) < float(made.risk.marketer) / 10
    assert "exact_free" not in [outcome.attack for outcome in found.broken]
    few = attack(made, register=register.slice(0, 5_000), seed=1, attacks=["exact"])
    assert few.claims.measures["marketer"].value == made.risk.marketer.value


def test_linked_data_for_somebody_who_holds_part_of_it() -> None:
    """Linkage anonymity is held against the local data; its mean risk is that of free guesses."""
    rng = np.random.default_rng(1)
    local = persons(rng, 400, several=False, missing=0.0)
    linked = local.take(pa.array(rng.choice(400, 120, replace=False)))
    known = ("age", "sex", "area", "school")
    asked = LinkageAnonymity(local=local, k=4, quasi_identifiers=known)
    made = asked.apply(linked, schema_of(several=True, ordered=False), seed=3)
    found = attack(made, register=local, seed=2, attacks=["exact"])
    outcomes = {outcome.attack: outcome for outcome in found.outcomes}
    free, surest = outcomes["exact_free"], outcomes["exact_surest"]
    assert free.predicted is not None
    assert (free.predicted.name, free.predicted.value) == (
        "linkage_risk",
        made.measured.risk.value,
    )
    assert surest.predicted is not None
    assert (surest.predicted.name, surest.predicted.value) == ("linkage_k", 0.25)
    assert not free.broken
    assert not surest.broken
    assert found.warnings == ()
    acquainted = attack(made, seed=2, attacks=["exact"])
    assert [outcome.predicted for outcome in acquainted.outcomes] == [None] * 3
    expected = found.calibration["exact_free"]
    mean = sum(each.chance * each.attempts for each in expected) / 120
    assert mean == pytest.approx(made.measured.risk.value)


def test_a_release_on_request_brings_its_register_and_its_claim(tmp_path: Path) -> None:
    pytest.importorskip("clingo")
    from semantics.requests import release as requested
    from semantics.requests import write_example

    made = requested(write_example(tmp_path), "one.toml")
    found = attack(made, seed=2, attacks=["exact"])
    assert found.register_persons == 8
    assert found.claims.own
    assert float(found.claims.measures["marketer"]) == made.figures["SLA"].risk
    assert found.warnings == ()
