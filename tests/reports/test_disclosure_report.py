"""The disclosure report of a review: what it is given stands in it, and nothing else is loaded."""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime, timedelta
from xml.etree import ElementTree as ET

import pytest

from sfumato.core.measure import Measure
from sfumato.reports.disclosure_report import Agreement, Disclosure, Opened, Person, draw_disclosure
from sfumato.reports.review_plots import answers_figure, disclosure_figure, progress_figure

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
ACCURACY = Measure("accuracy", 0.75, 0.5, 0.9, estimator="share of a sample", why="gold pairs")
WORKER = Person(
    "w1", "worker", 40, 30, 20, 0.123456, 0.2, 0.01, 0.25, 12.0,
    {"the worker's budget does not hold it": 3}, 0, ACCURACY,
)  # fmt: skip
MANAGER = Person("m1", "manager", 0, 2, 1, 0.01, None, 0.0, None, None, {}, 2, None)


def disclosure(title: str = "Two clinics") -> Disclosure:
    """A report's numbers."""
    return Disclosure(
        title=title, project="1f0c", made=date(2026, 5, 4), created=date(2026, 4, 1), closed=None,
        custodian="Carol", manager="Mark", records=1_594, pairs=121, gold=12,
        settings=(("k", "5, refused below"),), k=5, people=(WORKER, MANAGER), combined=0.3,
        project_budget=0.4, opened=(Opened("surname", "variable-length string", 32, 4, 7, 9),),
        agreement=(Agreement("All workers", 11, ACCURACY, None),), conflicts=2, resolved=1,
        changed=8_765, answers={"Same, high confidence": 17},
        grants=(("2026-04-02", "k from 9 to 5"),), audit="12:ab",
        figures=(answers_figure({"Same, high confidence": 17}),),
    )  # fmt: skip


def test_every_number_stands_on_the_page() -> None:
    page = draw_disclosure(disclosure())
    for text in ("0.12346", "0.20000", "25", "no limit", "0.75 (0.50 to 0.90)", "k from 9 to 5"):
        assert text in page
    assert "8,765" in page
    assert "3 × the worker&#39;s budget does not hold it" in page
    assert re.search("2 openings .*5 records", page)
    assert "Two clinics" in page
    assert not re.findall(r'(?:src|href)="(?!#)', page)
    assert "<script" not in page


def test_nothing_that_is_given_becomes_markup() -> None:
    page = draw_disclosure(disclosure("<b>Clinics & more</b>"))
    assert "<b>Clinics" not in page
    assert "&lt;b&gt;Clinics &amp; more" in page


def test_json_holds_the_same_numbers() -> None:
    plain = json.loads(json.dumps(disclosure().to_json()))
    assert plain["people"][0]["kapr"] == 0.123456
    assert plain["people"][0]["accuracy"]["low"] == 0.5
    assert plain["people"][1]["budget"] is None
    assert plain["opened"][0]["full"] == 7
    assert plain["made"] == "2026-05-04"
    assert "figures" not in plain


@pytest.mark.parametrize("limit", [None, 0.02, 5.0])
def test_plots_are_pictures_that_name_their_workers(limit: float | None) -> None:
    names = ["<i>Ann", "Bob & co"]
    over_time = {name: [(NOON, 0), (NOON + timedelta(minutes=3), 4)] for name in names}
    spent = {name: [(0, 0.0), (4, 0.0123456789)] for name in names}
    for figure in (progress_figure(over_time), disclosure_figure(spent, limit)):
        picture = ET.fromstring(str(figure.svg))
        words = "".join(picture.itertext())
        assert all(name in words for name in names)
        assert ("budget" in words) is (limit == 0.02 and "KAPR" in words)
    assert not re.search(r' d="[^"]*\d\.\d{3}', str(disclosure_figure(spent, limit).svg))
