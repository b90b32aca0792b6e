"""The page of a linkage: one number a measure, and what is so after answers."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from html import unescape
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from reports.told_numbers import told_of_linkage
from server.browsers import browser

from sfumato.core.number_text import count, percent
from sfumato.examples import generate_clinics, generate_registrations
from sfumato.linkage.earlier_linkage import apply_decisions
from sfumato.linkage.link import link
from sfumato.linkage.link_spec import LinkSpec, SetThresholds
from sfumato.linkage.linkage_result import Links
from sfumato.reports.linkage_report import draw_linkage

DAY = date(2026, 3, 2)
SPEC = LinkSpec(
    id="patient",
    columns={"given_name": "given name", "surname": "surname", "date_of_birth": "date"},
    blocking=["surname:2", "date_of_birth:year"],
    thresholds=SetThresholds(lower=0.01, upper=0.999),
)


@pytest.fixture(scope="module")
def links() -> Links:
    """Two clinics' patients, linked."""
    made = generate_registrations(generate_clinics(200, rng=11))
    return link({"hospital": made.hospital, "practice": made.practice}, SPEC, seed=4)


@pytest.fixture(scope="module")
def answered(links: Links, tmp_path_factory: pytest.TempPathFactory) -> Links:
    """The same after answers to half of the possible matches."""
    folder = tmp_path_factory.mktemp("answered")
    links.write(folder / "out")
    asked = links.review["pair"].to_pylist()[::2]
    answers = {
        "pair": asked,
        "worker": ["w1"] * len(asked),
        "answer": pa.array([3] * len(asked), pa.int8()),
        "time": [datetime(2026, 3, 2, 9, tzinfo=UTC)] * len(asked),
        "withdrawn": [False] * len(asked),
    }
    pq.write_table(pa.table(answers), folder / "answers.parquet")
    return apply_decisions(folder / "out", folder / "answers.parquet")


@pytest.fixture(scope="module")
def pages(links: Links, answered: Links) -> dict[str, str]:
    """The pages of both."""
    return {name: draw_linkage(each, name, DAY) for name, each in both(links, answered).items()}


def both(links: Links, answered: Links) -> dict[str, Links]:
    """Both by name."""
    return {"before": links, "after": answered}


@pytest.mark.parametrize("name", ["before", "after"])
def test_no_two_numbers_of_a_measure_differ(
    name: str, links: Links, answered: Links, pages: dict[str, str]
) -> None:
    found, told = both(links, answered)[name], told_of_linkage(pages[name])
    assert all(len(values) == 1 for values in told.values()), told
    precision, recall = found.quality
    assert told["precision by score"] == {percent(precision.value, 2)}
    assert told["recall by score"] == {percent(recall.value, 2)}
    # What counts is how good the people are; that stands first.
    persons = found.to_json()["persons"]
    first = unescape(re.sub(r"<[^>]+>", " ", pages[name].partition("<main>")[0]))
    for measure in ("precision", "recall"):
        assert percent(persons[measure]["value"], 2) in first


def test_answered_pairs_are_not_to_be_looked_at(
    links: Links, answered: Links, pages: dict[str, str]
) -> None:
    verdicts = {
        name: re.findall(r"[\d,.]*\d", page.partition('id="verdict"')[2].partition("</section>")[0])
        for name, page in pages.items()
    }
    asked, found = links.settled.workload.possible_matches, answered.to_json()
    assert asked >= 4
    left = count(found["outcomes"]["possible_match"])
    assert count(asked) in verdicts["before"]
    assert count(asked) not in {count(found["decisions"]["decided_pairs"]), left}
    assert count(asked) not in verdicts["after"]
    assert {count(found["decisions"]["decided_pairs"]), left} <= {*verdicts["after"]}


def test_wide_tables_name_each_cell(pages: dict[str, str]) -> None:
    for table in re.findall(r"<table.*?</table>", pages["after"], re.DOTALL):
        heads = re.findall(r"<th scope=\"col\"[^>]*>(.*?)</th>", table)
        for row in re.findall(r"<tr[^>]*><th scope=\"row\">.*?</tr>", table, re.DOTALL):
            names = re.findall(r'data-label="([^"]*)"', row)
            assert names == heads[-len(names) :]
        assert len(heads) < 4 or "stacks" in table.partition(">")[0]


@pytest.mark.slow
def test_it_fits_a_telephone(pages: dict[str, str], chromium: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(pages["after"], encoding="utf-8")
    with browser(chromium, tmp_path / "profile") as context:
        page: Any = context.new_page()
        page.set_viewport_size({"width": 390, "height": 844})
        page.goto(file.as_uri())
        over, scales = page.evaluate(
            """() => [
              [document.documentElement, ...document.querySelectorAll("table")]
                .filter(e => e.scrollWidth > e.clientWidth + 1).length,
              [...document.querySelectorAll("figure svg")]
                .map(e => e.getBoundingClientRect().width / e.viewBox.baseVal.width)]"""
        )
    assert over == 0
    # Letters of 12 pixels stay larger than 9.
    assert min(scales) > 0.75
