"""What brings a release below its limits: every change is tried, and its price is what it costs."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from release.random_files import SCHEMA as RANDOM
from release.random_files import people_and_records

import sfumato as sf
from sfumato.cli.app import main
from sfumato.core.errors import ConstraintsNotMetError, InputError
from sfumato.core.secret_keys import Secret
from sfumato.examples import generate_clinics, write_clinics
from sfumato.release import cures
from sfumato.release.cures import Plan, detail_lost
from sfumato.release.release_options import Options
from sfumato.risk.intruders import Findings, Found
from sfumato.risk.learned_values import Share
from sfumato.risk.verdict import Cure, Limits, State, judge

LIMITS = sf.Limits("contract")
KEYS = {
    "pid_k": sf.PidKAnonymity,
    "marketer": sf.MarketerRisk,
    "shared_counts": sf.SharedCounts,
    "known_events": sf.KnownEvents,
}


def visits(seed: int, persons: int = 120) -> pd.DataFrame:
    """Visits of people, with what was found and what it cost."""
    rng = np.random.default_rng(seed)
    of = np.repeat(np.arange(persons), rng.geometric(0.4, persons))
    return pd.DataFrame(
        {
            "person": of,
            "age": rng.integers(20, 90, persons)[of],
            "sex": rng.choice(["F", "M"], persons)[of],
            "code": rng.choice([f"C{n:02d}" for n in range(12)], len(of)),
            "charge": rng.integers(10, 10_000, len(of)),
        }
    )


SCHEMA = sf.Schema(
    person="person",
    quasi_identifiers={"age": "numeric", "sex": "categorical"},
    sensitive=["code"],
    insensitive=["charge"],
    accepted={"charge": "made up"},
)


def accepting(column: str) -> sf.Acceptance:
    everything = {"found": 1.0, "person": 1.0, "learned": 1.0}
    return sf.Acceptance("insider", "a name", "a reason", date(2999, 1, 1), everything, column)


def above(made: sf.Release) -> list[str]:
    return [each.name for each in made.verdict.rows if each.state is State.ABOVE]


@pytest.mark.parametrize(
    ("promise", "column"), [(sf.PidKAnonymity(3), "code"), (sf.KnownEvents(1, 0.2), "age")]
)
def test_known_columns_are_of_known_events(promise: Any, column: str) -> None:
    with pytest.raises(InputError):
        sf.anonymize(visits(5), SCHEMA, promise, known_columns=(column,))


def test_an_answer_that_covers_nothing_is_refused() -> None:
    """By a column that is not there, or beside no limits."""
    for promised in ((LIMITS, accepting("cod")), (sf.PidKAnonymity(3), accepting("code"))):
        with pytest.raises(InputError):
            sf.anonymize(visits(5), SCHEMA, *promised)
    made = sf.anonymize(visits(5), SCHEMA, sf.PidKAnonymity(3), effort=0, seed=1)
    assert made.judged(LIMITS, [accepting("code")]).verdict.row("insider").accepted
    with pytest.raises(InputError, match="charge, code"):
        made.judged(LIMITS, [accepting("cod")])


SECRET = Secret(b"0123456789abcdef")


@pytest.fixture(scope="module")
def limited() -> sf.Release:
    return sf.anonymize(visits(1), SCHEMA, LIMITS, seed=1, effort=0, secret=SECRET)


def test_nothing_is_above_limits_that_are_promised(limited: sf.Release) -> None:
    assert limited.limits == LIMITS
    assert not above(limited)
    # What is written with less detail beats what is left out, where it loses less.
    options = {**limited.manifest.options.to_dict(), "withhold": ("code", "charge")}
    options.pop("known_columns", None)
    plain = [each for each in limited.constraints if not isinstance(each, sf.KnownEvents)]
    everything_out = sf.anonymize(visits(1), SCHEMA, *plain, seed=1, **options)
    assert detail_lost(limited) <= detail_lost(everything_out) + 1e-9


def test_a_release_that_was_searched_repeats_from_its_manifest(limited: sf.Release) -> None:
    options = limited.manifest.options.to_dict()
    again = sf.anonymize(visits(1), SCHEMA, *limited.constraints, seed=1, secret=SECRET, **options)
    assert again.table.equals(limited.table)


def test_what_is_accepted_stays_as_it_is_and_other_promises_are_kept() -> None:
    data = visits(2)
    promised = sf.Limits("public"), sf.PidKAnonymity(20), accepting("code")
    made = sf.anonymize(data, SCHEMA, *promised, seed=1, effort=0)
    assert not above(made)
    assert made.verdict.row("insider").state is State.ACCEPTED
    assert made.table.column("code").to_pylist() == [
        data["code"][each] for each in made.source_rows.tolist()
    ]
    assert made.risk.pid_k >= 20
    assert sum(isinstance(each, sf.PidKAnonymity) for each in made.constraints) == 1


@pytest.mark.parametrize("persons", [5, 10, 12, 13])
def test_limits_are_impossible_only_where_people_are_fewer_than_a_class_must_have(
    persons: int,
) -> None:
    """In a file of one class without further columns everybody is one of so many."""
    few = visits(4, persons=persons)
    if persons < 11:
        with pytest.raises(ConstraintsNotMetError):
            sf.anonymize(few, SCHEMA, LIMITS, seed=1)
    else:
        made = sf.anonymize(few, SCHEMA, LIMITS, seed=1)
        assert not above(made)
        # What is left out for it is said.
        kept = made.manifest.options.cap_records
        assert any("record of each" in each for each in made.warnings) is (kept is not None)


@pytest.mark.parametrize(
    "seeds", [range(3), pytest.param(range(3, 30), marks=pytest.mark.slow)], ids=str
)
def test_limits_of_random_small_files_are_kept_wherever_they_can_be(seeds: range) -> None:
    """Of 8 to 19 people with any numbers of records, where one class of all of them keeps them."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        data = people_and_records(rng)
        some = data["person"].unique()[: int(rng.integers(8, 20))]
        data = data[data["person"].isin(some)].reset_index(drop=True)
        for name in ("contract", "public", "room"):
            limits = sf.Limits(name)
            needed = max(1 / limits.found, 1 / limits.person)
            try:
                made = sf.anonymize(data, RANDOM, limits, seed=1, effort=0)
            except ConstraintsNotMetError:
                assert len(some) <= needed * (1 + 1e-9)
            else:
                assert not above(made)
                assert len(some) >= needed * (1 - 1e-9)


@pytest.mark.parametrize("given", [{"population": 10_000}, {"engine": "spark"}])
def test_limits_are_refused_beside_what_is_not_tried(given: dict[str, object]) -> None:
    with pytest.raises(InputError):
        sf.anonymize(visits(5), SCHEMA, LIMITS, **given)


def test_a_cure_costs_and_helps_as_much_as_it_says() -> None:
    data = visits(7)
    made = sf.anonymize(data, SCHEMA, sf.PidKAnonymity(2), seed=1, effort=0)
    cured = made.judged("contract", cured=True)
    assert {each.row for each in cured.cures} == set(above(cured))
    before = detail_lost(made)
    for each in cured.cures[:4]:
        promises, options = _asked(each)
        again = sf.anonymize(data, SCHEMA, sf.PidKAnonymity(2), *promises, seed=1, **options)
        again = again.judged("contract")
        row = again.verdict.row(each.row.partition(".")[0])
        assert each.enough is not row.stops
        assert each.lost == pytest.approx((before, detail_lost(again)))
        if row.findings is not None:
            assert each.found[1] == pytest.approx(row.findings.found.value)


def test_what_is_above_by_its_interval_alone_is_promised_more_strictly() -> None:
    """The upper end comes to the limit where the promise is L times value over upper end."""

    def verdict(found: Share, person: Share) -> Any:
        low = Findings(Share.of(0.01), Share.of(0.1))
        by = {"code": Findings(found, person)}
        return judge(Found(100, 10, True, 0, (), low, low, by), sf.Limits(found=0.1, person=0.5))

    fine = Share(0.4, 0.3, 0.5)
    assert cures._stricter(verdict(Share(0.09, 0.08, 0.1), fine), 1.0) == 1
    assert cures._stricter(verdict(Share(0.09, 0.08, 0.12), fine), 1.0) == pytest.approx(0.75)
    # What is above its promise comes down by as much, too.
    assert cures._stricter(verdict(Share(0.2, 0.2, 0.2), fine), 0.8) == pytest.approx(0.4)
    strict = cures._stricter(verdict(fine, Share(0.6, 0.5, 0.8)), 0.9)
    assert strict == pytest.approx(min(0.09 / 0.5, 0.45 / 0.8))


def test_a_plan_names_what_it_asks_for_beyond_another_one_and_what_no_more() -> None:
    usual = Options()
    plan = Plan((sf.PidKAnonymity(3), sf.SharedCounts(2)), usual)
    more = sf.KnownEvents(2, 0.09, p95=0.33), sf.HAffiliation(0.4, attribute="code")
    other = Plan((sf.PidKAnonymity(11), *more), usual).promising(withhold=("charge",))
    asked, _, dropped = other.beyond(plan).partition("; without ")
    assert asked.split(", ") == [
        "pid_k = 11",
        'known_events = "2:0.09"',
        "known_events_p95 = 0.33",
        "h_affiliation of code = 0.4",
        'withhold = ["charge"]',
    ]
    assert dropped == "shared_counts"
    assert plan.beyond(plan) == ""


def test_every_choice_of_three_columns_is_tried_and_each_alone_of_more() -> None:
    assert len(cures._choices("abc", "abc")) == 8
    alone = [(each,) for each in "abcd"]
    assert cures._choices("abcd", "abcd") == [tuple("abcd"), *alone, ()]
    assert cures._choices("abc", "a") == [("a",), ()]


def test_a_trial_that_takes_longer_than_there_is_time_is_not_begun(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = sf.anonymize(visits(7), SCHEMA, sf.PidKAnonymity(2), seed=1, effort=0)
    assert made.cured is not None
    took = made.cured.keywords["seconds"]
    monkeypatch.setattr(cures, "SECONDS", took / 2)
    assert not made.judged("contract", cured=True).verdict.cures


def test_what_is_waited_for_is_a_minute_and_what_is_corrected_converges_in_three_rounds() -> None:
    assert (cures.SECONDS, cures.ROUNDS, cures.TOGETHER) == (60, 3, 3)


def test_the_command_line_names_options() -> None:
    plan = cures.Plan((sf.PidKAnonymity(2),), Options())
    more = cures.without(cures.wider(plan, Limits()), ("icd 9", "ward"))
    assert more.typed_beyond(plan) == "--pid-k 11 --withhold 'icd 9,ward'"
    of_column = plan.promising(sf.HAffiliation(0.5, attribute="icd9"))
    assert of_column.beyond(plan)
    assert not of_column.typed_beyond(plan)
    made = sf.anonymize(visits(7), SCHEMA, sf.PidKAnonymity(2), seed=1, effort=0)
    verdict = made.judged("public", cured=True).verdict
    keys, options = verdict.text(), verdict.text(options=True)
    assert re.search(r"pid_k = \d", keys)
    assert not re.search(r"\w = \d", options)
    assert verdict.cures
    assert all(each.options.startswith("--") for each in verdict.cures)
    assert verdict.text(advice=("nothing",)) == keys
    assert made.judged("public").verdict.text(advice=("this",)).endswith("  this")


def _asked(cure: Cure) -> tuple[list[object], dict[str, object]]:
    """Promises and options of a cure, read as a project file is."""
    asked, _, dropped = cure.how.partition("; without ")
    assert not dropped
    keys = tomllib.loads(f"x = {{ {asked} }}")["x"]
    promises = [KEYS[name](keys.pop(name)) for name in list(keys) if name in KEYS]
    return promises, {"effort": 0} | keys


def test_the_command_line_promises_limits_and_tries_cures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    visits(8).to_csv("visits.csv", index=False)
    for each in "abc":
        Path(each).mkdir()
    Path("schema.toml").write_text(
        'person = "person"\nsensitive = ["code"]\ninsensitive = ["charge"]\n'
        '[quasi_identifiers]\nage = "numeric"\nsex = "categorical"\n'
        '[accepted]\ncharge = "made up"\n',
        encoding="utf-8",
    )

    def run(*words: str) -> tuple[int, dict[str, Any]]:
        asked = ["visits.csv", "--schema", "schema.toml", "--json", "--limits", "contract", *words]
        monkeypatch.setattr(sys, "argv", ["sfumato", "anonymize", *asked, "--effort", "0"])
        capfd.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code or 0, json.loads(capfd.readouterr().out)["verdict"]

    code, verdict = run("--pid-k", "2", "-o", "a/released.csv")
    assert code == 2
    assert {each["row"].partition(".")[0] for each in verdict["cures"]} >= {"acquaintance"}
    code, verdict = run("--pid-k", "2", "-o", "b/released.csv", "--no-cures")
    assert code == 2
    assert not verdict["cures"]
    code, verdict = run("--promise-limits", "-o", "c/released.csv")
    assert code == 0
    assert not verdict["cures"]


def test_what_is_asked_about_numbers_of_records_beside_limits_is_kept() -> None:
    made = sf.anonymize(visits(2), SCHEMA, LIMITS, seed=1, effort=0, cap_records=1)
    assert made.manifest.options.cap_records == 1
    assert max(made.records_per_person()) == 1
    assert not above(made)


@pytest.mark.parametrize("until", [date(2999, 1, 1), date(2020, 1, 1)])
def test_an_accepted_stranger_leaves_nothing_to_promise(until: date) -> None:
    """Of one record each; an acceptance that has ended counts for nothing."""
    data = visits(3).drop_duplicates("person")
    everything = {"found": 1.0, "person": 1.0, "learned": 1.0}
    taken = (
        sf.Acceptance(each, "a name", "a reason", until, everything)
        for each in ("stranger", "acquaintance")
    )
    beside = accepting("code"), accepting("charge")
    made = sf.anonymize(data, SCHEMA, LIMITS, *taken, *beside, seed=1, effort=0)
    widest = max(each.k for each in made.constraints if isinstance(each, sf.PidKAnonymity))
    assert (widest > 1) is (until < date(2026, 1, 1))


def test_known_events_that_are_promised_beside_limits_are_kept() -> None:
    told = SCHEMA.model_copy(update={"events": {"code": sf.Event(kind="code")}})
    mine = sf.KnownEvents(2, 0.05)
    made = sf.anonymize(visits(9), told, LIMITS, mine, accepting("charge"), seed=1, effort=0)
    (kept,) = (each for each in made.constraints if isinstance(each, sf.KnownEvents))
    assert kept.risk <= mine.risk
    assert "code" in (made.manifest.options.known_columns or made.schema.events)
    assert not above(made)


def test_a_change_that_promises_do_not_go_with_is_not_advised(tmp_path: Path) -> None:
    """Bands do not go with t-closeness: the release stands, the change is not advised."""
    write_clinics(generate_clinics(150, rng=1), tmp_path)
    schema = sf.load_schema(tmp_path / "schema.toml")
    promises = sf.PidKAnonymity(5), sf.TCloseness(0.5)
    made = sf.anonymize(tmp_path / "visits.csv", schema, *promises, effort=0, seed=1)
    judged = made.judged(Limits(), cured=True)
    assert judged.verdict.state is State.ABOVE
