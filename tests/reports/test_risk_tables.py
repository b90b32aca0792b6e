"""The section about the population, the thresholds, and their twins in the JSON."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from html import unescape

import numpy as np
import pytest

import sfumato as sf
from sfumato.core.errors import SfumatoError
from sfumato.core.number_text import percent
from sfumato.core.phrases import Listed
from sfumato.examples import generate_clinics
from sfumato.release.preset_promises import held_against
from sfumato.reports import report_json
from sfumato.reports.adversaries import _points, measure_assumptions
from sfumato.reports.promise_words import promise_lines
from sfumato.reports.release_report import draw_release
from sfumato.reports.release_summary import assessment_summary, release_summary
from sfumato.reports.risk_plots import population_figures
from sfumato.reports.risk_tables import BANDS, match_bars, population_tables, risk_bands

HEADING = ("People", date(2026, 3, 2))
COLUMNS = ("age", "sex", "zip", "icd9")


@pytest.fixture(scope="module")
def people():
    visits = generate_clinics(3_000, rng=3).visits
    first = visits.group_by("patient", use_threads=False).aggregate([(c, "first") for c in COLUMNS])
    return first.rename_columns(["patient", *COLUMNS])


@pytest.fixture(scope="module")
def schema():
    quasi = {"age": "numeric", "sex": "categorical", "zip": "numeric"}
    return sf.Schema(person="patient", quasi_identifiers=quasi, sensitive=["icd9"])


@pytest.fixture(scope="module")
def sample(people):
    return people.take(np.arange(0, 3_000, 3))


@pytest.fixture(scope="module")
def estimated(sample, schema):
    return sf.assess(sample, schema, population=3_000, seed=1, presets=["arx", "cms"])


@pytest.fixture(scope="module")
def counted(sample, people, schema):
    return sf.assess(sample, schema, population=people)


def flat(text):
    return re.sub(r"\s+", " ", text)


def text_of(page):
    return flat(unescape(re.sub(r"<[^>]+>", " ", page)))


def assumed(result, release=None):
    """What is said first: what the file is taken for."""
    return measure_assumptions(result, release)[0]


def said_of_limits(risk):
    """How many of the limits that were asked for are kept, then those of which more is said."""
    [said] = (
        sentence.filled["begin"].parts
        for sentence in assessment_summary(risk).sentences
        if isinstance(getattr(sentence, "filled", {}).get("begin"), Listed)
    )
    return said[0].filled, [one.filled["limits"] for one in said[1:]]


def test_the_page_shows_the_population_and_its_intervals(estimated):
    page = draw_release(estimated, *HEADING)
    text = text_of(page)
    own = estimated.population
    said = population_tables(estimated).sentences
    assert said[0].filled == {"people": "1,000", "share": percent(1 / 3), "all": "3,000"}
    assert said[-1].filled == {"seed": own.seed}
    assert all(flat(sentence) in text for sentence in said)
    assert own.marketer.why[1:] in text
    for name in ("marketer", "population_average_risk", "population_records_at_risk"):
        measure = getattr(own, name)
        assert f"{percent(measure.low)} to {percent(measure.high)}" in unescape(page)
    for name, found in own.population_uniques_by_model.items():
        assert (found if isinstance(found, str) else f"{round(found):,}") in text, name
    figures = population_figures(estimated)
    assert [figure.svg in page for figure in figures] == [True, True]
    assert assumed(estimated) == _points("sample", people="3,000")[0]
    assert flat(assumed(estimated).text) in text


def test_a_register_is_counted_and_has_no_intervals(counted):
    text = text_of(draw_release(counted, *HEADING))
    tables = population_tables(counted)
    assert tables.counted
    assert not any(line.interval for line in (*tables.shares, *tables.counts))
    assert tables.bands[0].low == 1
    assert flat(tables.bands[0].label) in text
    assert not tables.models
    assert assumed(counted) == _points("register", people="3,000")[0]
    assert flat(assumed(counted).text) in text
    assert "Estimate Interval" not in text


def test_without_a_population_nothing_changes(sample, schema):
    risk = sf.assess(sample, schema)
    text = text_of(draw_release(risk, *HEADING))
    assert assumed(risk) == _points("own_population", people="1,000")[0]
    assert flat(assumed(risk).text) in text
    assert population_tables(risk) is None
    assert "population" not in report_json(risk)["report"]


def test_how_an_estimate_was_reached_is_shown(estimated):
    steps = ("3 strata of sampling weights",)
    risk = replace(estimated, population=replace(estimated.population, path=steps))
    assert f"<li>{steps[0]}</li>" in draw_release(risk, *HEADING)


def test_bands_hold_every_record_once(estimated, counted):
    for risk in (estimated, counted):
        found = risk_bands(risk.population)
        assert sum(each.records for each in found) == risk.records
        risks = risk.population.record_risks
        for each in found:
            own = (risks >= each.low - 1e-9) & (risks < each.high - 1e-9)
            if each.high == 1:
                own |= (risks > 1 - 1e-9) & (each.low < 1 if len(found) < len(BANDS) else False)
            if each.low == 1:
                own = risks > 1 - 1e-9
            assert each.records == own.sum(), each.label
    assert len(risk_bands(counted.population)) == len(BANDS)
    assert len(risk_bands(estimated.population)) == len(BANDS) - 1


def test_a_distribution_keeps_its_probability_and_mean(estimated):
    for of in (estimated.population.one_to_one, estimated.population.free):
        bars = match_bars(of)
        assert len(bars) <= 120
        assert sum(bar["probability"] for bar in bars) == pytest.approx(1, abs=2e-3)
        middle = sum((bar["low"] + bar["high"]) / 2 * bar["probability"] for bar in bars)
        assert middle == pytest.approx(of.mean, rel=5e-3)


def test_thresholds_that_were_asked_are_on_the_page_and_in_the_verdict(estimated):
    text = text_of(draw_release(estimated, *HEADING))
    held = estimated.held
    met, guessed = (sum(each.met and each.promised is sure for each in held) for sure in (1, 0))
    numbers, named = said_of_limits(estimated)
    assert numbers == {"kept": str(met), "all": str(len(held))}
    assert len(named) == (guessed > 0) + (met + guessed < len(held))
    assert "cms (pid_k)" in named[0]
    assert all(flat(sentence) in text for sentence in assessment_summary(estimated).sentences)
    [arx] = sf.thresholds("arx")
    assert text.count(f"{arx.source} arx evidence: {arx.evidence}") == 1


def test_a_limit_alone_is_one_limit(estimated):
    preset = sf.Preset("alone", (sf.Threshold("pid_k", 1),), source="ours")
    text = text_of(draw_release(sf.hold(estimated, preset), *HEADING))
    assert "1 of 1 limit that" in text
    assert "1 of 1 limits" not in text


def test_an_interval_that_reaches_beyond_is_said(estimated):
    marketer = estimated.population.marketer
    limit = (marketer.value + marketer.high) / 2
    preset = sf.Preset("between", (sf.Threshold("marketer", limit),), source="ours")
    risk = sf.hold(estimated, preset)
    text = text_of(draw_release(risk, *HEADING))
    # It is estimated, and it is broken by the end of the interval.
    assert said_of_limits(risk) == ({"kept": "0", "all": "1"}, ["between (marketer)"] * 2)
    assert all(flat(sentence) in text for sentence in assessment_summary(risk).sentences)
    assert report_json(risk)["thresholds"][0]["promised"] is False


def test_every_preset_is_shown_for_orientation(estimated):
    text = text_of(draw_release(estimated, *HEADING))
    practice = report_json(estimated)["report"]["practice"]
    assert len(practice) == len(sf.thresholds())
    for preset, twin in zip(sf.thresholds(), practice, strict=True):
        assert twin["preset"] == preset.name
        assert twin["says"] == preset.says
        assert twin["evidence"] == preset.evidence
        assert bool(twin["held"]) == bool(preset.thresholds)
        # One side of the table names it for each of its measures.
        table = text.partition("Limits in use elsewhere")[2]
        assert table.count(f"{preset.source} (") >= len(twin["held"])


def test_the_twin_holds_what_the_page_shows(estimated):
    content = report_json(estimated)
    assert [each["preset"] for each in content["thresholds"]].count("arx") == 5
    own = content["report"]["population"]
    assert own["estimator"] == estimated.population.marketer.estimator
    assert sum(each["records"] for each in own["records_by_risk"]) == estimated.records
    assert set(own["matches"]) == {"one_to_one", "free"}
    assert content["marketer"]["low"] <= content["marketer"]["high"]


@pytest.mark.usefixtures("no_plots")
def test_a_release_against_a_population_is_judged_by_it(sample, people, schema):
    promise = sf.MarketerRisk(0.1)
    release = sf.anonymize(sample, schema, promise, register=people, seed=1)
    [line] = promise_lines(release)
    assert line.met
    assert line.limit == 0.1
    assert "3,000" in line.words
    release = held_against(release, sf.thresholds("cancer-registry-research"))
    held = {each.measure: each for each in release.risk.held}
    assert held["marketer"].value == pytest.approx(release.population.marketer.value)
    text = text_of(draw_release(release, *HEADING))
    why = release.population.marketer.why or ""
    said = assumed(release.risk, release)
    assert said == _points("promised_population", people="3,000", why=why)[0]
    assert flat(said.text) in text
    marketer = replace(release.population.marketer, value=0.2, high=0.2)
    with pytest.raises(SfumatoError, match="marketer"):
        replace(release, population=replace(release.population, marketer=marketer))


@pytest.mark.slow
def test_what_rests_on_the_size_of_a_population_is_no_promise(sample, schema):
    promises = (sf.MarketerRisk(0.1), sf.KAnonymity(2))
    release = sf.anonymize(sample, schema, *promises, population=3_000, seed=1)
    release = held_against(release, sf.thresholds("cancer-registry-research"))
    assert [(each.met, each.promised) for each in promise_lines(release)] == [
        (True, False),
        (True, True),
    ]
    text = text_of(draw_release(release, *HEADING))
    said = release_summary(release, promise_lines(release)).sentences
    assert all(flat(sentence) in text for sentence in said)
    [kept] = (one.filled for one in said if {"first", "then"} == set(getattr(one, "filled", ())))
    assert kept["first"].filled == {"kept": 1, "all": 2}
    assert kept["then"].filled == {"n": 1}
    assert text.count("cancer-registry-research (marketer)") == 1
    said = report_json(release)["report"]["asked"]
    assert [each["promised"] for each in said] == [False, True]


@pytest.mark.slow
@pytest.mark.usefixtures("no_plots")
def test_presence_has_its_line(sample, people, schema):
    release = sf.anonymize(sample, schema, sf.DeltaPresence(0.0, 0.6), register=people, seed=1)
    [line] = promise_lines(release)
    assert line.met
    assert flat(line.words) in text_of(draw_release(release, *HEADING))
