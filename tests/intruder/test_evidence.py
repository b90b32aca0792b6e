"""What attacks are evidence for: rows that they raise, and rows that chance does not raise."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from few_cases import fast_first

import sfumato as sf
from sfumato.core.measure import Measure
from sfumato.intruder.attack import attack
from sfumato.intruder.attack_result import Attack
from sfumato.intruder.attacks import ACTS
from sfumato.intruder.referee.attack_odds import Outcome, clopper_pearson
from sfumato.intruder.referee.weighed_evidence import Speaks, Trial, weighed
from sfumato.release.release_result import ReleasedTable
from sfumato.risk.evidence import REVIEW, Evidence, raised
from sfumato.risk.intruders import Findings
from sfumato.risk.learned_values import Learned, Share
from sfumato.risk.verdict import EXIT_CODES, INTRUDERS, State, Verdict, judge, judged_again
from sfumato.schema import Schema

SCHEMA = Schema(
    quasi_identifiers={"age": "numeric", "sex": "categorical"},
    sensitive=["disease"],
    insensitive=["ward"],
    direct_identifiers=["name"],
)
ROWS = {
    "stranger": "exact probabilistic multi_record row_order identifiers method singling_out "
    "combinations inference model",
    "acquaintance": "targets counts household",
    "insider": "events columns",
    "recipient": "intersection trajectory associations downcoding minimality informed",
    REVIEW: "screen",
}


def people(seed: int, number: int = 400) -> pd.DataFrame:
    """People of whom a disease and a ward say little."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "name": [f"P{each}" for each in range(number)],
            "age": rng.integers(18, 90, number),
            "sex": rng.choice(["F", "M"], number),
            "disease": rng.choice(list("abc"), number),
            "ward": rng.choice(list("xy"), number),
        }
    )


def recoded(data: pd.DataFrame, years: int = 24) -> pd.DataFrame:
    """A release of another tool: ages by some years, in another order."""
    low = data["age"] // years * years
    shown = data.drop(columns=["name"]).assign(age=[f"[{each}, {each + years})" for each in low])
    return shown.sample(frac=1, random_state=1)


def attacked(data: pd.DataFrame, shown: pd.DataFrame, **options: object) -> Attack:
    """The shown file, whose rows are numbered as the data's, attacked."""
    truth = [str(each + 1) for each in shown.index]
    return attack(shown, original=data, truth=truth, schema=SCHEMA, seed=1, **options)  # type: ignore[arg-type]


def test_each_attack_is_evidence_for_one_row() -> None:
    declared = {name: act.row for name, act in ACTS.items()}
    listed = [(name, row) for row, names in ROWS.items() for name in names.split()]
    assert sorted(listed) == sorted(declared.items())
    assert set(declared.values()) == {*INTRUDERS, REVIEW}


@pytest.mark.parametrize("seed", fast_first(1, range(3)))
def test_a_foreign_file_is_judged_by_its_cells(seed: int) -> None:
    """The same rows as those of people counted by their cells, and no attack finds more."""
    data = people(seed)
    shown = recoded(data)
    found = attacked(data, shown, attacks=["exact", "targets", "row_order", "columns"])
    verdict = found.verdict
    assert verdict is not None
    sizes = shown.groupby(["age", "sex"])["ward"].transform("size")
    wards = shown.groupby(["age", "sex", "ward"])["age"].transform("size")
    stranger = verdict.row("stranger").findings
    assert stranger is not None
    assert stranger.found.value == pytest.approx(np.mean(1 / sizes))
    assert stranger.person.value == pytest.approx(1 / sizes.min())
    assert verdict.insiders["ward"].found.value == pytest.approx(np.mean(1 / wards))
    assert not any(each.beaten or each.raised for each in found.evidence)
    predicted = sum(each.predicted is not None for each in found.evidence)
    told = re.findall(r"\d+", found.sentence)
    assert [int(number) for number in told[-2:]] == [len(found.evidence), predicted]


def test_classes_of_one_disease_are_learned() -> None:
    data = people(7)
    data["disease"] = [list("abcd")[age // 24] for age in data["age"]]
    shown = recoded(data)
    data["age"] = np.random.default_rng(1).permutation(data["age"])  # what is known foretells none
    learned = attacked(data, shown, attacks=["inference"]).verdict
    assert learned is not None
    worst = learned.row("stranger").learned
    assert worst is not None
    assert worst.value == 1
    assert learned.exit_code == 2


def prediction_of(right: int, attempts: int, rate: float, name: str = "made") -> Outcome:
    """An outcome of which something was predicted."""
    from sfumato.intruder.referee.attack_odds import binomial_hits

    success = Measure("success", right / attempts, *clopper_pearson(right, attempts))
    return Outcome(
        name,
        "",
        attempts,
        right,
        success,
        success,
        predicted=Measure("marketer", rate),
        p_value=binomial_hits(attempts, rate).at_least(right),
    )


@pytest.fixture(scope="module")
def release() -> sf.Release:
    """All four rows below the limits of a secure room, whatever is attacked."""
    data = people(3, 300)[["age", "sex"]]
    schema = sf.Schema(quasi_identifiers={"age": "numeric", "sex": "categorical"})
    made = sf.anonymize(data, schema, sf.PidKAnonymity(12), seed=1)
    return made.judged("room")


def test_a_wrong_prediction_is_a_defect_and_raises_its_row(release: sf.Release) -> None:
    """Claimed is a third of what is found, and the places of rows tell who is who."""
    assert release.verdict.ready
    original = release.original
    rows = pd.Series(release.source_rows)
    table = pa.table(
        {name: pa.array(original[name].iloc[rows]).cast(pa.string()) for name in ("age", "sex")}
    )
    bad = replace(release, content=ReleasedTable(table, original))
    found = attack(bad, seed=1, attacks=["exact", "row_order"])
    verdict = found.verdict
    assert verdict is not None
    free = next(each for each in found.evidence if each.attack == "exact_free")
    assert free.beaten
    assert free.raised
    assert free.own
    stranger, before = verdict.row("stranger"), release.verdict.row("stranger")
    assert stranger.findings is not None
    assert before.findings is not None
    assert stranger.findings.found.value > 2 * before.findings.found.value
    assert stranger.state is State.ABOVE
    assert (verdict.exit_code, found.exit_code) == (2, 2)
    assert "Defect in sfumato: exact_free found" in found.sentence
    # The other rows stay what they were.
    assert verdict.row("insider") == release.verdict.row("insider")
    # And what is written is raised when it is judged again.
    again = judged_again(json.loads(json.dumps(verdict.to_json())), verdict.limits)
    assert again == verdict


def test_chance_raises_nothing(release: sf.Release) -> None:
    """Of 100 honest runs of 20 tests at most a few are called beyond; alone many would be."""
    rng = np.random.default_rng(1)
    rate = release.verdict.row("stranger").findings.found.value  # type: ignore[union-attr]
    speaks = Speaks("found")
    runs = rng.binomial(300, rate, (100, 10))
    table = {right: prediction_of(right, 300, rate) for right in np.unique(runs).tolist()}
    beyond = alone = 0
    for run in runs.tolist():
        tested = [Trial(table[right], "stranger", speaks) for right in run]
        evidence = weighed(tested, release.verdict, own=True)[1]
        assert all(each.tests == 20 for each in evidence)
        beyond += any(each.beaten or each.raised for each in evidence)
        alone += any(table[right].p_value <= 0.025 for right in run)  # type: ignore[operator]
    assert beyond <= 4
    assert alone > 10


def test_what_beats_the_row_without_a_prediction_raises_it(release: sf.Release) -> None:
    outcome = replace(prediction_of(90, 300, 0.5), predicted=None, p_value=None)
    (one,) = weighed([Trial(outcome, "stranger", Speaks("found"))], release.verdict, own=False)[1]
    assert (one.beaten, one.raised, one.people.value) == (False, True, 0.3)
    # Guesses about a few are no share of people; who knows more than the row is not held to it.
    for speaks in (Speaks("found", people=3000), Speaks("found", knows_more=True), None):
        (one,) = weighed([Trial(outcome, "stranger", speaks)], release.verdict, own=False)[1]
        assert not one.raised


def share_of(value: float) -> Share:
    return Share(value, value, value)


def evidence(intruder: str, number: str, value: float, column: str = "") -> Evidence:
    return Evidence(
        "a", intruder, share_of(value), share_of(value), number, column, raised=True, beaten=True
    )


def test_the_larger_number_stands_and_no_other_changes() -> None:
    learned = Learned("ill", share_of(0.1), share_of(0.0), 0.5)
    own = Findings(share_of(0.05), share_of(0.2), (learned,))
    assert raised(own, [evidence("stranger", "found", 0.04)], "stranger") == own
    assert raised(own, [evidence("insider", "found", 0.4)], "stranger") == own
    found = raised(own, [evidence("stranger", "found", 0.4)], "stranger")
    assert (found.found.value, found.person.value) == (0.4, 0.4)
    found = raised(own, [evidence("stranger", "person", 0.5)], "stranger")
    assert (found.found.value, found.person.value) == (0.05, 0.5)
    found = raised(own, [evidence("stranger", "learned", 0.8, "ill")], "stranger")
    assert found.learned[0].beyond.value == pytest.approx(0.6)
    assert raised(own, [evidence("insider", "found", 0.4, "b")], "insider", "a") == own


def test_what_two_releases_tell_is_no_defect_and_makes_the_recipient_a_row() -> None:
    data = people(5, 300)[["age", "sex", "disease"]]
    schema = sf.Schema(
        quasi_identifiers={"age": "numeric", "sex": "categorical"}, sensitive=["disease"]
    )
    made = sf.anonymize(data, schema, sf.PidKAnonymity(12), seed=1)
    outcome = prediction_of(150, 300, 0.05, "intersection")
    tested = Trial(outcome, "recipient", Speaks("found"))
    (one,) = weighed([tested], made.verdict, own=True)[1]
    assert (one.beaten, one.raised, one.own) == (True, True, False)
    assert made.verdict.found is not None
    verdict = judge(made.verdict.found, evidence=[one])
    row = verdict.row("recipient")
    assert row.findings is not None
    assert (row.state, row.findings.found.value) == (State.ABOVE, 0.5)
    assert made.verdict.row("recipient").state is State.DOES_NOT_APPLY


@pytest.mark.parametrize("seed", fast_first(3, range(12)))
def test_table_json_and_exit_code_agree(seed: int) -> None:
    """On small files of people and records at random, in rows that were shuffled."""
    rng = np.random.default_rng(seed)
    data = people(seed, int(rng.integers(20, 120)))
    shown = recoded(data, int(rng.choice([6, 24, 80])))
    if rng.random() < 0.5:
        shown = shown.drop(columns="ward")
    limits = str(rng.choice(["public", "contract", "room", "public-strict"]))
    found = attacked(data, shown, limits=limits, attacks=["exact", "targets", "columns"])
    verdict = found.verdict
    assert verdict is not None
    plain = json.loads(json.dumps(found.to_json(), allow_nan=False))
    states = {row["intruder"]: row["state"] for row in plain["verdict"]["rows"]}
    text = str(found)
    for row in verdict.rows:
        assert "   ".join(verdict.cells(row)[:1]) in text
        assert states[row.intruder] == row.state.value
        assert [*verdict.cells(row)][-1] in text
    worst = State(plain["verdict"]["state"])
    assert found.exit_code == EXIT_CODES.get(worst, 0)
    assert plain["verdict"]["limits"]["preset"] == limits
    assert isinstance(verdict, Verdict)
    assert text.replace("\n", " ").startswith(found.sentence)


def test_three_events_are_more_than_the_insider_knows() -> None:
    rng = np.random.default_rng(2)
    data = people(2, 120)[["age", "sex"]].assign(id=[f"p{each}" for each in range(120)])
    visits = data.loc[np.repeat(np.arange(120), 4)].assign(ward=rng.choice(list("abcdef"), 480))
    schema = sf.Schema(
        person="id",
        quasi_identifiers={"age": "numeric", "sex": "categorical"},
        sensitive=["ward"],
        events={"ward": {}},
    )
    release = sf.anonymize(visits, schema, sf.PidKAnonymity(5), seed=1)
    found = attack(release, seed=1, attacks=["events"])
    tested = {each.attack: each.luck is not None for each in found.evidence}
    assert tested == {name: not name.endswith("_3") for name in tested}
    assert {each.column for each in found.evidence} == {"ward"}
    assert not any(each.raised for each in found.evidence)
