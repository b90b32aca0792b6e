"""What is said of intruders: each number against its limit, the worst first."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pyarrow as pa
import pytest
from few_cases import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.core.number_text import share_text
from sfumato.risk.intruders import Findings, Found
from sfumato.risk.learned_values import Learned, Share
from sfumato.risk.verdict import (
    PRESETS,
    Acceptance,
    Cure,
    Held,
    Limits,
    Linkage,
    State,
    Verdict,
    judge,
    judged_again,
    unmeasured,
)

TODAY = date(2026, 11, 29)
ON_SPARK = "not measured on Spark"
LOW = Findings(Share.of(0.05), Share.of(0.05))
HIGH = Findings(Share.of(0.5), Share.of(1.0))


def found(**changes: object) -> Found:
    usual = {
        "people": 100,
        "fewest": 20,
        "has_several": True,
        "alone": 0,
        "sensitive": (),
        "stranger": LOW,
        "acquaintance": LOW,
        "insiders": {"icd9": LOW, "charge": LOW},
    }
    return Found(**(usual | changes))  # type: ignore[arg-type]


def accepted(intruder: str = "insider", column: str = "charge", **changes: object) -> Acceptance:
    usual = {
        "intruder": intruder,
        "column": column,
        "by": "the privacy officer",
        "because": "bills are not known outside",
        "until": TODAY,
        "at_most": {"found": 1.0, "person": 1.0, "learned": 0.25},
    }
    return Acceptance(**(usual | changes))  # type: ignore[arg-type]


def states(verdict: Verdict) -> dict[str, State]:
    return {each.intruder: each.state for each in verdict.rows}


def test_a_release_below_every_limit() -> None:
    verdict = judge(found(), Limits("contract"))
    assert states(verdict) == {
        "stranger": State.BELOW,
        "acquaintance": State.BELOW,
        "insider": State.BELOW,
        "recipient": State.DOES_NOT_APPLY,
    }
    assert (verdict.exit_code, verdict.ready, verdict.state) == (0, True, State.BELOW)


def test_many_columns_that_are_known_together_are_counted() -> None:
    names = [f"c{place}" for place in range(9)]
    why = judge(found(insiders={" + ".join(names): HIGH}), today=TODAY).row("insider").why
    assert "9 columns" in why
    assert not any(name in why for name in names)
    few = judge(found(insiders={"c0 + c1": HIGH}), today=TODAY).row("insider").why
    assert "c0 + c1" in few


@pytest.mark.parametrize("name", ["found", "person", "learned"])
@pytest.mark.parametrize("intruder", ["stranger", "acquaintance", "insider"])
def test_each_number_puts_each_row_above(intruder: str, name: str) -> None:
    """By its upper end where it was drawn; at the limit it is below."""
    limits = Limits("contract")
    most = getattr(limits, name)
    for high, state in ((most, State.BELOW), (most + 1e-6, State.ABOVE)):
        share = Share(most / 2, most / 4, high)
        learned = (Learned("icd9", share, Share.of(0.0), 0.5),)
        findings = replace(LOW, **{name: learned if name == "learned" else share})
        changed = (
            {"insiders": {"icd9": findings}} if intruder == "insider" else {intruder: findings}
        )
        verdict = judge(found(**changed), limits)
        assert states(verdict)[intruder] is state
        assert verdict.exit_code == (2 if state is State.ABOVE else 0)
        assert verdict.rows[0].intruder == intruder or state is State.BELOW


def test_what_is_certain_of_too_many_is_above() -> None:
    learned = (Learned("icd9", Share.of(0.0), Share.of(0.3), 0.5),)
    verdict = judge(found(stranger=replace(LOW, learned=learned)))
    assert states(verdict)["stranger"] is State.ABOVE


def test_the_worst_column_that_nobody_accepted_counts() -> None:
    insiders = {"icd9": HIGH, "charge": replace(HIGH, found=Share.of(1.0)), "sex": LOW}
    one = judge(found(insiders=insiders), accepted=[accepted()], today=TODAY)
    assert (one.row("insider").column, one.row("insider").state) == ("icd9", State.ABOVE)
    both = [accepted(), accepted(column="icd9")]
    verdict = judge(found(insiders=insiders), accepted=both, today=TODAY)
    row = verdict.row("insider")
    assert (row.state, row.column) == (State.ACCEPTED, "charge")
    assert {each.column for each in row.accepted} == {"icd9", "charge"}
    assert (verdict.exit_code, verdict.state) == (0, State.ACCEPTED)
    assert set(verdict.to_json()["found"]["insiders"]) == set(insiders)
    # What is accepted is the worst that is found, and comes first; the public is told no share.
    headline, outline = verdict.headline, verdict.to_json()["outline"]
    assert 0 < headline.index("100 % of people") < headline.index("below the limit")
    assert "accepted" in outline
    assert "%" not in outline


def test_a_headline_does_not_deny_what_people_answered_for() -> None:
    """Where every intruder is accepted none is below; all of them were measured."""
    own = [accepted("stranger", ""), accepted("acquaintance", ""), accepted()]
    finds = found(stranger=HIGH, acquaintance=HIGH, insiders={"charge": HIGH})
    verdict = judge(finds, accepted=own, today=TODAY)
    for said in (verdict.headline, verdict.to_json()["outline"]):
        assert "0 of 4 intruders are below the limit" in said
        assert "measured" not in said


def test_a_headline_about_one_intruder_is_in_the_singular() -> None:
    own = [accepted("stranger", ""), accepted("acquaintance", ""), accepted()]
    finds = found(stranger=HIGH, acquaintance=HIGH, insiders={"charge": HIGH})
    verdict = judge(finds, accepted=own, recipient=LOW, today=TODAY)
    states = [row.state for row in verdict.rows]
    assert states.count(State.BELOW) == 1
    assert "1 of 4 intruders is below" in verdict.headline


def test_reasons_are_printed_where_there_are_no_details() -> None:
    insiders = {f"c{place}": HIGH for place in range(9)}
    own = [accepted(column=name, because=f"why {name}", by=f"officer {name}") for name in insiders]
    verdict = judge(found(insiders=insiders), accepted=own, today=TODAY)
    for text in (str(verdict), verdict.text(details=True), "\n".join(verdict.lines())):
        assert all(f"why {name}" in text for name in insiders)
    short = verdict.text(details=False)
    assert "why c" not in short
    assert "6 more: --details" in short


def test_advice_is_told_where_there_is_some() -> None:
    for advice in ("", "look at some pairs"):
        told = Linkage(None, None, "no pair was checked", advice=advice).to_json()
        assert told.get("advice") == (advice or None)
        assert ("advice" in told) == bool(advice)


@pytest.mark.parametrize(
    "changes",
    [
        {"until": TODAY - timedelta(days=1)},
        {"at_most": {"found": 0.4, "person": 1.0, "learned": 1.0}},
        {"at_most": {"found": 1.0, "person": 0.9, "learned": 1.0}},
        {"intruder": "stranger"},
    ],
)
def test_what_an_acceptance_does_not_cover(changes: dict[str, object]) -> None:
    own = accepted(**({"intruder": "acquaintance", "column": ""} | changes))  # type: ignore[arg-type]
    verdict = judge(found(acquaintance=HIGH), accepted=[own], today=TODAY)
    assert states(verdict)["acquaintance"] is State.ABOVE


@pytest.mark.parametrize(
    "changes",
    [
        {"column": ""},
        {"intruder": "stranger"},
        {"intruder": "nobody", "column": ""},
        {"by": " "},
        {"because": ""},
        {"at_most": {"found": 1.0}},
    ],
)
def test_an_acceptance_that_is_not_whole(changes: dict[str, object]) -> None:
    with pytest.raises(InputError):
        accepted(**changes)  # type: ignore[arg-type]


def test_limits() -> None:
    """Presets, with a number of one's own in the place of another."""
    assert {name: Limits(name).found for name in PRESETS} == {
        "contract": 1 / 11,
        "room": 0.2,
        "public": 1 / 11,
        "public-strict": 0.05,
        "cms": 1 / 11,
    }
    assert Limits("contract", person=0.2).person == 0.2
    with pytest.raises(InputError):
        Limits("private")
    with pytest.raises(InputError):
        Limits(found=0.0)


def test_eleven_people_in_a_class_keep_the_public_limit() -> None:
    """1/11 is at the limit, however it was added up."""
    share = Share.of(float(np.mean(np.full(22, 1 / 11))))
    assert judge(found(stranger=Findings(share, share))).ready


def test_nothing_is_certified_that_was_not_measured() -> None:
    verdict = unmeasured(100, LOW, ON_SPARK, ("icd9", "charge"), Held())
    assert (verdict.exit_code, verdict.ready) == (4, False)
    blank = "the ledger is off"
    assert judge(found(), recipient=blank).exit_code == 4
    own = accepted("recipient", "", at_most=dict.fromkeys(("found", "person", "learned"), 0.0))
    assert judge(found(), accepted=[own], recipient=blank, today=TODAY).ready
    own = accepted("recipient", "")
    assert judge(found(), accepted=[own], recipient=blank, today=TODAY).exit_code == 4
    assert judge(found(), recipient=LOW).row("recipient").state is State.BELOW
    assert judge(found(), recipient=HIGH).row("recipient").state is State.ABOVE
    assert judge(found(stranger=HIGH), recipient=blank).exit_code == 2


def test_somebody_may_answer_for_what_was_not_measured() -> None:
    """Of the insider by each column that is released."""
    columns, nothing = ("icd9", "charge"), dict.fromkeys(("found", "person", "learned"), 0.0)
    for names in ((), ("charge",), columns):
        own = [accepted("acquaintance", "", at_most=nothing)]
        own += [accepted(column=each, at_most=nothing) for each in names]
        held = Held(accepted=own, today=TODAY)
        verdict = unmeasured(100, LOW, ON_SPARK, columns, held)
        assert states(verdict)["acquaintance"] is State.ACCEPTED
        assert (states(verdict)["insider"] is State.ACCEPTED) is (names == columns)
        assert verdict.ready is (names == columns)
        numbers = replace(own[0], at_most={"found": 0.5, "person": 1.0, "learned": 0.0})
        measured_before = replace(held, accepted=[numbers, *own[1:]])
        assert unmeasured(100, LOW, ON_SPARK, columns, measured_before).exit_code == 4
        late = replace(held, today=TODAY + timedelta(days=1))
        assert unmeasured(100, LOW, ON_SPARK, columns, late).exit_code == 4
    # It covers nothing that is measured later.
    assert judge(found(acquaintance=HIGH), accepted=own, today=TODAY).exit_code == 2
    held = Held(accepted=[accepted("stranger", "")], today=TODAY)
    above = unmeasured(100, HIGH, ON_SPARK, (), held)
    assert above.row("insider").state is State.DOES_NOT_APPLY
    assert above.row("stranger").state is State.ACCEPTED


def test_a_recipient_is_an_acquaintance_at_least() -> None:
    def learned(beyond: float, certain: float, without: float = 0.0) -> Findings:
        of = Learned("icd9", Share.of(beyond), Share.of(certain), without)
        return Findings(Share.of(0.02), Share.of(0.09), (of,))

    # Half is guessed rightly without the file: of .75 half is learned.
    own = found(acquaintance=learned(0.1, 0.05, 0.5))
    earlier = replace(learned(0.75, 0.01), found=Share.of(0.07), person=Share.of(0.07))
    row = judge(own, recipient=earlier).row("recipient")
    assert row.findings is not None
    assert row.findings.shares == pytest.approx({"found": 0.07, "person": 0.09, "learned": 0.5})
    assert row.state is State.ABOVE
    # Where people answer for it that there is no acquaintance, only the releases count.
    high = found(acquaintance=replace(learned(0.9, 0.9, 0.5), found=Share.of(0.5)))
    assert judge(high, recipient=LOW).row("recipient").state is State.ABOVE
    said = [accepted("acquaintance", "", at_most=dict.fromkeys(("found", "person", "learned"), 1))]
    assert judge(high, accepted=said, recipient=LOW, today=TODAY).row("recipient").state is (
        State.BELOW
    )


@pytest.mark.parametrize("population", [None, (Share(0.01, 0.0, 0.2), Share.of(0.05))])
def test_what_was_measured_once_is_judged_again(population: tuple[Share, Share] | None) -> None:
    """From JSON, under other limits and acceptances."""
    learned = (Learned("icd9", Share.of(0.1), Share.of(0.3), 0.5),)
    every = found(acquaintance=HIGH, stranger=replace(LOW, learned=learned))
    first = judge(every, population=population, today=TODAY)
    plain = json.loads(json.dumps(first.to_json()))
    assert judged_again(plain, first.limits) == first
    room = Limits("room", person=1.0, learned=1.0)
    assert judged_again(plain, room) == judge(every, room, population=population)
    own = [accepted(), accepted("acquaintance", "", until=date(2999, 12, 31))]
    blank = unmeasured(100, LOW, ON_SPARK, ("icd9", "charge"), Held(accepted=own))
    again = json.loads(json.dumps(blank.to_json()))
    assert judged_again(again, blank.limits, own) == blank


def test_in_a_sample_the_stranger_uses_the_estimate() -> None:
    estimate = Share(0.01, 0.005, 0.02), Share.of(0.05)
    verdict = judge(found(stranger=HIGH), population=estimate)
    assert verdict.row("stranger").findings.found.high == 0.02  # type: ignore[union-attr]
    assert verdict.ready
    above = judge(found(), population=(Share(0.01, 0.0, 0.2), Share.of(0.05)))
    assert above.exit_code == 2


@given(st.floats(0, 1), st.sampled_from([None, 0.05, 1 / 11, 0.33]))
@settings(max_examples=examples(300))
def test_a_share_shows_the_side_of_its_limit(share: float, limit: float | None) -> None:
    text = share_text(share, limit)
    if share in (0, 1):
        assert text == f"{100 * share:.0f} %"
    elif limit is not None and share <= 0.999:
        assert (float(text.removeprefix("below ")[:-2]) > 100 * limit) == (share > limit)
    if 0 < share < 1:
        assert text not in ("0 %", "100 %")


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("sensitive", [False, True])
def test_homogeneous_classes_and_undeclared_values(several: bool, sensitive: bool) -> None:
    """One illness in each class, and a value of one's own, which no measure of classes sees."""
    people, each = 60, 2 if several else 1
    owner = np.repeat(np.arange(people), each)
    visits = pa.table(
        {
            "patient": owner,
            "age": 20 + owner // 20,
            "icd9": [f"E{age}" for age in owner // 20],
            "bill": [f"{row}.5" for row in np.random.default_rng(0).permutation(len(owner))],
        }
    )
    roles = ("sensitive", "insensitive") if sensitive else ("insensitive", "sensitive")
    schema = sf.Schema(
        person="patient",
        quasi_identifiers=["age"],
        accepted=dict.fromkeys(("icd9", "bill"), "this is a test"),
        **{roles[0]: ["icd9"], roles[1]: ["bill"]},
    )
    release = sf.anonymize(visits, schema, sf.PidKAnonymity(11), seed=1)
    verdict = release.verdict
    assert states(verdict)["stranger"] is (State.ABOVE if sensitive else State.BELOW)
    insider = verdict.row("insider")
    assert (insider.column, insider.state) == ("bill", State.ABOVE)
    assert insider.findings.found.value == 1  # type: ignore[union-attr]
    assert release.to_json()["verdict"]["state"] == "above"
    every = Limits("room", 1.0, 1.0, 1.0)
    assert release.judged(every).verdict.ready
    assert release.judged("room").verdict.limits == Limits("room")
    own = sf.assess(release.data, schema, limits="public")
    assert own.verdict is not None
    assert states(own.verdict) == states(verdict)


UNKNOWN = Linkage(None, None, "no pair was checked")
KNOWN = Linkage(Share(0.95, 0.93, 0.97), Share(0.98, 0.97, 0.99), "after 7 answers")
BY_NAME = accepted("linkage", "", at_most={}, until=date(2999, 12, 31))


@pytest.mark.parametrize(
    ("linkage", "acceptances", "state", "code"),
    [
        (KNOWN, (), State.BELOW, 0),
        (UNKNOWN, (), State.NOT_MEASURED, 4),
        (UNKNOWN, (BY_NAME,), State.ACCEPTED, 0),
        (UNKNOWN, (replace(BY_NAME, until=TODAY - timedelta(1)),), State.NOT_MEASURED, 4),
        (UNKNOWN, (accepted("acquaintance", ""),), State.NOT_MEASURED, 4),
        (replace(KNOWN, recall=None), (), State.NOT_MEASURED, 4),
    ],
)
def test_a_linkage_of_unknown_quality_is_not_certified(
    linkage: Linkage, acceptances: tuple[Acceptance, ...], state: State, code: int
) -> None:
    verdict = judge(found(), Limits(), acceptances, linkage=linkage, recipient=LOW, today=TODAY)
    assert (verdict.state, verdict.exit_code, verdict.ready) == (state, code, code == 0)
    assert ("linkage" in verdict.headline) == (state is not State.BELOW)
    assert linkage.held_against(acceptances, TODAY).accepted == (
        acceptances[0] if state is State.ACCEPTED else None
    )
    # A row above its limit goes first, and the linkage stays.
    worse = judge(found(stranger=HIGH), Limits(), acceptances, linkage=linkage, today=TODAY)
    assert (worse.exit_code, worse.linkage) == (2, verdict.linkage)
    plain = json.loads(json.dumps(verdict.to_json()))
    assert judged_again(plain, Limits(), acceptances, LOW) == verdict
    assert judged_again(plain, Limits(), (), LOW, linkage=KNOWN).ready


def test_an_acceptance_of_the_linkage_covers_no_shares() -> None:
    with pytest.raises(InputError):
        accepted("linkage", "")
    with pytest.raises(InputError):
        accepted("linkage", "charge", at_most={})


def test_a_file_that_is_assessed_without_limits_is_not_judged() -> None:
    schema = sf.Schema(quasi_identifiers=["age"])
    risk = sf.assess(pa.table({"age": [1, 1, 2]}), schema)
    assert risk.verdict is None
    assert "verdict" not in risk.to_json()


def test_a_change_that_does_the_same_for_several_rows_is_said_once_and_names_them() -> None:
    made = judge(found(stranger=HIGH, acquaintance=HIGH))
    cures = [
        Cure(row, "Divide pseudonyms", "k = 9", (0.5, 0.1), (0.1, 0.2), enough=True)
        for row in ("stranger", "acquaintance", "insider.icd9", "insider.charge")
    ]
    said = replace(made, cures=(*cures, replace(cures[0], how="k = 8"))).nexts
    (first,) = [each for each in said if "k = 9" in each]
    assert [first.count(who) for who in ("stranger", "acquaintance", "insider")] == [1, 1, 1]
    (second,) = [each for each in said if "k = 8" in each]
    assert "stranger" in second
    assert "acquaintance" not in second
