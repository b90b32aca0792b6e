"""What was asked of a release whose classes stayed on a cluster."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.engines.spark.spark_session import Ran
from sfumato.release.promises import PROMISES
from sfumato.release.utility_measures import Later
from sfumato.reports.promise_words import promise_lines
from sfumato.reports.report_files import report
from sfumato.risk.disclosure_risk import Risk
from sfumato.risk.measure_table import MEANINGS

RAN = Ran("spark", "4.3.0", "yarn", 3, 12, 48)


def without_classes(risk: Risk) -> Risk:
    """The same measures as a cluster gives them."""
    own = {name: replace(each, l_distinct_where=None) for name, each in risk.sensitive.items()}
    return replace(
        risk, summary=None, counted=risk.shape, ran=RAN, sensitive=own, k_where=None,
        pid_k_where=None, count_k_where=None,
    )  # fmt: skip


@pytest.fixture(scope="module")
def release() -> sf.Release:
    """A release with a promise of each kind that Spark keeps."""
    rng = np.random.default_rng(3)
    person = rng.integers(0, 200, 600)
    table = pa.table(
        {
            "patient": person,
            "age": rng.integers(20, 70, 200)[person],
            "sex": rng.choice(["f", "m"], 200)[person],
            "icd9": rng.choice([*"ABCDEFGH"], 600),
        }
    )
    schema = sf.Schema(
        person="patient",
        quasi_identifiers={"age": "numeric", "sex": "categorical"},
        sensitive=["icd9"],
    )
    promises = (sf.HAffiliation(0.8), sf.PidKAnonymity(5), sf.LDiversity(2), sf.TCloseness(0.6))
    return sf.anonymize(table, schema, sf.GBalance(0.8), *promises, seed=1)


@pytest.mark.usefixtures("no_plots")
def test_the_worst_class_tells_what_is_met(release: sf.Release, tmp_path: Path) -> None:
    there = replace(
        release,
        risk=without_classes(release.risk),
        assessed=Later(lambda: without_classes(release.risk_before)),
    )
    for here, other in zip(promise_lines(release), promise_lines(there), strict=True):
        assert other.met
        assert other.classes_met == here.classes_met == release.risk.classes
        assert other.classes_met_before is None
        assert (other.name, other.reached, other.before) == (here.name, here.reached, here.before)
    report(there, tmp_path / "report.html", made=date(2026, 1, 1))
    assert str(RAN) in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_promise_that_is_broken_is_not_met(release: sf.Release) -> None:
    risk = without_classes(release.risk)
    asked = (sf.PidKAnonymity(10**6), sf.GBalance(0.999), sf.HAffiliation(1.0))
    there = replace(
        release,
        constraints=asked,
        risk=risk,
        assessed=Later(lambda: without_classes(release.risk_before)),
    )
    met = {each.name: (each.met, each.classes_met) for each in promise_lines(there)}
    assert met["pid_k"] == met["g_balance"] == (False, None)
    assert met["h_affiliation"] == (True, risk.classes)


def test_a_constraint_of_ones_own_is_not_measured(release: sf.Release) -> None:
    @dataclass(frozen=True)
    class Own:
        name: str = "own"

        def parameters(self) -> dict[str, float]:
            return {}

    there = replace(
        release,
        constraints=(Own(),),
        risk=without_classes(release.risk),
    )
    assert [each.met for each in promise_lines(there)] == [False]


@pytest.mark.parametrize("name", PROMISES)
def test_every_promise_has_words_and_a_measure_that_is_known(name: str) -> None:
    kind = PROMISES[name]
    limit = 2 if name in ("k", "pid_k", "l", "shared_counts", "household_k", "k_map") else 0.5
    promise = kind(2, 0.5) if name == "known_events" else kind(limit)
    assert promise.measure in MEANINGS
    assert promise.bound in ("at least", "at most")
    assert promise.keeps(promise.threshold)
    assert promise.sentence("icd9").endswith(".")
