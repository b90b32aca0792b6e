"""Presets: what they say, what measures they are held against, what a release promises for them."""

from __future__ import annotations

import re
from dataclasses import replace
from math import ceil

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.measure import Measure
from sfumato.risk.measure_table import MEANINGS
from sfumato.risk.risk_thresholds import KINDS, Bound, Held

LIMITS = {
    "ema-policy-0070": [("prosecutor", 0.09)],
    "health-canada-prci": [("prosecutor", 0.09)],
    "ontario-ipc-low": [("prosecutor", 0.09)],
    "ontario-ipc-medium": [("prosecutor", 0.075)],
    "ontario-ipc-high": [("prosecutor", 0.05)],
    "cms": [("pid_k", 11)],
    "cell-size-3": [("pid_k", 3)],
    "cell-size-5": [("pid_k", 5)],
    "cell-size-11": [("pid_k", 11)],
    "cell-size-20": [("pid_k", 20)],
    "cihi-public": [("prosecutor", 0.05)],
    "cihi-public-strict": [("prosecutor", 0.04)],
    "cancer-registry-public": [("records_at_risk", 0.05), ("marketer", 0.05)],
    "cancer-registry-research": [("records_at_risk", 0.2), ("marketer", 0.2)],
    "hipaa-expert": [],
    "ons": [("pid_k", 10)],
    "uk-llc": [("pid_k", 10)],
    "opensafely": [("pid_k", 8)],
    "stats-nz": [],
    "census-drb": [("pid_k", 15)],
    "arx": [("prosecutor", 0.2), ("records_at_risk", 0.05), ("marketer", 0.05)],
}
"""Numbers of the thresholds in use, typed a second time."""


def file_of(sizes, records=1):
    """A file with one class for each number of persons."""
    place = np.repeat(np.arange(len(sizes)), sizes)
    people = np.arange(len(place))
    rows = np.repeat(np.arange(len(place)), records)
    return pa.table({"id": people[rows], "place": place[rows], "ill": people[rows] % 3})


SCHEMA = sf.Schema(person="id", quasi_identifiers={"place": "categorical"}, sensitive=["ill"])


def held(sizes, *presets, **more):
    return sf.assess(file_of(sizes), SCHEMA, presets=presets, **more).held


def test_the_built_in_presets_have_the_numbers_of_practice():
    found = {p.name: [(t.measure, t.limit) for t in p.thresholds] for p in sf.thresholds()}
    assert found == LIMITS
    assert sf.thresholds("arx")[0].thresholds[1].above == 0.2
    for preset in sf.thresholds():
        assert preset.source
        assert preset.evidence
        assert preset.says


def test_every_measure_has_a_meaning():
    assert set(KINDS) <= set(MEANINGS)


@pytest.mark.parametrize(("smallest", "met"), [(10, False), (11, True), (12, True)])
def test_a_cell_size_counts_persons(smallest, met):
    [line] = held([smallest, 40], "cms")
    assert (line.measure, line.value, line.met) == ("pid_k", smallest, met)
    assert (line.low, line.high, line.met_over_interval) == (None, None, None)


@pytest.mark.parametrize(("smallest", "met"), [(11, False), (12, True)])
def test_a_highest_risk_of_9_percent_needs_12_persons(smallest, met):
    [line] = held([smallest, 40], "ema-policy-0070")
    assert line.value == pytest.approx(1 / smallest)
    assert line.met is met


def test_a_threshold_that_is_reached_exactly_is_met():
    assert [line.met for line in held([5, 5], "arx")] == [True, True, False]
    assert held([5, 5], "cell-size-5")[0].met


def test_records_at_risk_by_the_presets_own_risk_and_by_the_files():
    risk = sf.assess(file_of([1, 4, 5, 10]), SCHEMA, threshold=0.5)
    [_, at_risk, _] = sf.hold(risk, "arx").held
    assert (at_risk.value, at_risk.above) == (pytest.approx(5 / 20), 0.2)
    own = sf.hold(risk, "cancer-registry-public").held[0]
    assert (own.value, own.above) == (pytest.approx(1 / 20), 0.5)
    assert own.met


def test_a_known_population_brings_its_own_lines():
    lines = held([1, 2, 3], "arx", population=file_of([10, 20, 30]))
    assert [line.measure for line in lines] == [
        "prosecutor",
        "journalist",
        "records_at_risk",
        "population_records_at_risk",
        "marketer",
    ]
    by_name = {line.measure: line for line in lines}
    assert by_name["prosecutor"].value == 1
    assert by_name["journalist"].value == pytest.approx(0.1)
    assert by_name["journalist"].met
    assert by_name["marketer"].value == pytest.approx(0.3 / 6)
    assert by_name["marketer"].met_over_interval


@pytest.mark.parametrize(
    ("high", "limit", "met", "over"),
    [(0.04, 0.05, True, True), (0.07, 0.05, True, False), (0.07, 0.02, False, False)],
)
def test_an_estimate_is_held_by_its_value_and_by_its_interval(high, limit, met, over):
    marketer = Measure("marketer", 0.03, 0.01, high, "argus")
    risk = replace(sf.assess(file_of([2, 2]), SCHEMA), marketer=marketer)
    preset = sf.Preset("own", (sf.Threshold("marketer", limit),))
    [line] = sf.hold(risk, preset).held
    assert (line.met, line.met_over_interval) == (met, over)
    assert (line.low, line.high, line.estimator) == (0.01, high, "argus")
    assert line.to_json()["met_over_interval"] is over
    assert line.to_json()["promised"] is False
    assert line.row().value.startswith("estimated, not promised" if met else "broken")
    known = replace(marketer, estimator="register")
    [line] = sf.hold(replace(risk, marketer=known), preset).held
    assert line.promised
    assert ("not over the interval" in line.row().value) == (met and not over)


def test_a_least_value_is_held_by_the_lower_end():
    line = Held("p", "s", "e", "pid_k", "", "at least", "count", 5, None, 6, 4, 9, "argus")
    assert line.met
    assert line.met_over_interval is False


def test_measures_of_sensitive_attributes_have_a_line_each():
    preset = sf.Preset("own", (sf.Threshold("h_affiliation", 0.5), sf.Threshold("l_distinct", 2)))
    lines = held([3, 3], preset)
    assert [line.label for line in lines] == ["h_affiliation [ill]", "l_distinct [ill]"]
    assert all(line.met for line in lines)


def test_json_and_text_have_the_lines():
    risk = sf.assess(file_of([3, 3]), SCHEMA, presets=["cms"])
    [line] = risk.to_json()["thresholds"]
    assert line == {
        "preset": "cms",
        "measure": "pid_k",
        "bound": "at least",
        "limit": 11,
        "value": 3,
        "low": None,
        "high": None,
        "estimator": None,
        "promised": True,
        "met": False,
        "met_over_interval": None,
        "source": "CMS (US Medicare)",
        "evidence": "primary",
    }
    assert re.search(r"cms +broken +pid_k: 3, at least 11", str(risk))
    assert "Thresholds" in risk._repr_html_()
    assert "thresholds" not in sf.assess(file_of([3, 3]), SCHEMA).to_json()


@pytest.mark.parametrize(
    "measure", ["household", "presence", "population", "ordered", "no sensitive"]
)
def test_what_was_not_measured_is_refused(measure):
    names = {
        "household": "max_household_risk",
        "presence": "presence_high",
        "population": "expected_matches",
        "ordered": "t_closeness_ordered",
        "no sensitive": "h_affiliation",
    }
    schema = SCHEMA
    if measure == "no sensitive":
        schema = SCHEMA.model_copy(update={"sensitive": (), "insensitive": ("ill",)})
    preset = sf.Preset("own", (sf.Threshold(names[measure], 0.5),))
    with pytest.raises(sf.InputError, match=rf"a threshold of {names[measure]} needs"):
        sf.assess(file_of([3]), schema, presets=[preset])


def test_names_and_presets_without_a_number_are_refused():
    with pytest.raises(sf.InputError, match="ema-policy-0070"):
        sf.thresholds("ema")
    with pytest.raises(sf.InputError, match="hipaa-expert must state a number"):
        held([3], "hipaa-expert")
    with pytest.raises(sf.InputError, match="must be the name of a measure"):
        sf.Threshold("risk", 0.1)
    with pytest.raises(sf.InputError, match="in \\[0, 1\\]"):
        sf.Threshold("marketer", 5)
    with pytest.raises(sf.InputError, match="must not have 'above'"):
        sf.Threshold("marketer", 0.5, above=0.2)


OWN = """
[[preset]]
name = "ours"
source = "the committee"
thresholds = [{ measure = "pid_k", limit = 8 }, { measure = "g_balance", limit = 0.5 }]
"""


def test_a_file_of_the_custodian(tmp_path):
    file = tmp_path / "own.toml"
    file.write_text(OWN, encoding="utf-8")
    [ours] = sf.thresholds(file=file)
    assert ours == sf.Preset(
        "ours",
        (sf.Threshold("pid_k", 8), sf.Threshold("g_balance", 0.5)),
        source="the committee",
    )
    assert [each.name for each in sf.thresholds("cms", file=file)] == ["cms", "ours"]
    assert [line.met for line in held([8, 9], ours)] == [True, True]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "must hold presets"),
        ("x = 1", "must hold presets"),
        ("[[preset", "must be TOML"),
        ("[[preset]]\n", "must have a name"),
        ("[[preset]]\nname = 3", "must have text"),
        ("[[preset]]\nname = ' '", "must have text"),
        ("[[preset]]\nname = 'a'\nlimit = 3", "must have known fields"),
        ("[[preset]]\nname = 'a'\nthresholds = 3", "must have a list"),
        ("[[preset]]\nname = 'a'\nthresholds = [{ measure = 'k' }]", "a measure and a limit"),
        ("[[preset]]\nname = 'a'\nthresholds = [{ measure = ['k'], limit = 3 }]", "by text"),
        ("[[preset]]\nname = 'a'\nthresholds = [{ measure = 'k', limit = 'x' }]", "a number"),
        ("[[preset]]\nname = 'a'\nthresholds = [{ measure = 'kk', limit = 1 }]", "a measure"),
        ("[[preset]]\nname = 'a'\nthresholds = [{ measure = 'k', limit = inf }]", "a number"),
        ("[[preset]]\nname = 'a'\nthresholds = [{ measure = 'k', limit = true }]", "a number"),
        ("[[preset]]\nname = 'a'\n[[preset]]\nname = 'a'", "a name of its own"),
        ("[[preset]]\nname = 'cms'", "a name of its own"),
    ],
)
def test_files_that_break_a_rule_are_refused(tmp_path, text, said):
    file = tmp_path / "own.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(sf.InputError, match=said) as error:
        sf.thresholds(file=file)
    assert "own.toml" in str(error.value)
    assert str(tmp_path) not in str(error.value)


def test_files_that_cannot_be_read_are_refused(tmp_path):
    with pytest.raises(sf.InputError, match=r"none\.toml is not there"):
        sf.thresholds(file=tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b"name = '\xe9'")
    with pytest.raises(sf.InputError, match="UTF-8"):
        sf.thresholds(file=tmp_path / "latin.toml")


def test_promises_of_the_built_in_presets():
    persons = {
        "ema-policy-0070": 12,
        "ontario-ipc-medium": 14,
        "ontario-ipc-high": 20,
        "cihi-public-strict": 25,
        "cms": 11,
        "cell-size-5": 5,
        "opensafely": 8,
        "census-drb": 15,
    }
    for name, k in persons.items():
        assert sf.promises(name) == (sf.PidKAnonymity(k),)
    assert sf.promises("arx") == (sf.PidKAnonymity(5), sf.MarketerRisk(0.05))
    assert sf.promises("arx", "ons", "cell-size-3") == (sf.PidKAnonymity(10), sf.MarketerRisk(0.05))
    public = sf.promises("cancer-registry-public", threshold=0.1)
    assert public == (sf.PidKAnonymity(10), sf.MarketerRisk(0.05))
    with pytest.raises(sf.InputError, match="must state a number"):
        sf.promises("stats-nz")
    assert sf.promises() == ()


PROMISED = (
    "k", "pid_k", "prosecutor", "journalist", "average_risk", "marketer", "records_at_risk",
    "g_balance", "max_gidr", "h_affiliation", "max_gsar", "l_distinct", "t_closeness",
)  # fmt: skip


@given(
    measure=st.sampled_from(PROMISED),
    share=st.floats(0.05, 0.95),
    size=st.integers(1, 8),
    seed=st.integers(0, 1_000),
)
def test_a_release_that_keeps_its_promises_meets_the_thresholds(measure, share, size, seed):
    count = KINDS[measure].bound is Bound.AT_LEAST and measure != "g_balance"
    preset = sf.Preset("own", (sf.Threshold(measure, size if count else share),))
    rng = np.random.default_rng(seed)
    people = rng.integers(0, 30, 60)
    table = pa.table({"id": people, "place": people % 13, "ill": rng.integers(0, 6, 60)})
    schema = sf.Schema(person="id", quasi_identifiers={"place": "numeric"}, sensitive=["ill"])
    try:
        release = sf.anonymize(table, schema, *sf.promises(preset), seed=1)
    except sf.ConstraintsNotMetError:
        return
    assert all(line.met for line in sf.hold(release.risk, preset).held)


def test_a_measure_that_no_release_can_promise_is_refused():
    preset = sf.Preset("own", (sf.Threshold("l_entropy", 2.0),))
    with pytest.raises(sf.InputError, match="preset own must be about what a release can promise"):
        sf.promises(preset)
    for measure in ("prosecutor", "marketer", "records_at_risk"):
        above = {"above": 0.0} if measure == "records_at_risk" else {}
        with pytest.raises(sf.InputError, match="preset own must state a limit"):
            sf.promises(sf.Preset("own", (sf.Threshold(measure, 0.0, **above),)))


def test_the_strictest_of_one_kind_is_left():
    from sfumato.release.promises.promise import strictest

    several = (
        sf.PidKAnonymity(3),
        sf.HAffiliation(0.5),
        sf.MarketerRisk(0.2),
        sf.PidKAnonymity(7),
        sf.HAffiliation(0.4, attribute="ill"),
        sf.HAffiliation(0.3),
        sf.MarketerRisk(0.1),
        sf.DeltaPresence(0.0, 0.5),
        sf.PidKAnonymity(5),
    )
    assert strictest(several) == (
        sf.PidKAnonymity(7),
        sf.HAffiliation(0.3),
        sf.MarketerRisk(0.1),
        sf.HAffiliation(0.4, attribute="ill"),
        sf.DeltaPresence(0.0, 0.5),
    )
    assert ceil(1 / 0.09) == 12
