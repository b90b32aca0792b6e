"""The report on an attack: every number stands in it, nothing of the data does."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import date
from pathlib import Path
from xml.etree import ElementTree as ET

import pyarrow as pa
import pytest
from reports.told_numbers import told_of_measures

from sfumato.core.number_text import percent
from sfumato.examples import generate_clinics
from sfumato.intruder.attack import attack
from sfumato.intruder.attack_result import Attack
from sfumato.intruder.attacks import exact_matching
from sfumato.release.cures import detail_lost
from sfumato.release.release_result import Release, ReleasedTable
from sfumato.reports.adversaries import ATTACK_TITLES, attack_title
from sfumato.reports.attack_report import (
    _figures,
    calibration_figure,
    draw_attack,
    predicted_figure,
    success_figure,
)
from sfumato.reports.attack_tables import attack_lines, plain_outcome
from sfumato.reports.report_files import report, report_json

DAY = date(2026, 3, 2)
NAMES = ("exact", "multi_record", "inference", "row_order", "identifiers")


@pytest.fixture(scope="module")
def attacked(release: Release) -> Attack:
    """An honest release attacked."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact_matching, "ROUNDS", 20)
        return attack(release, seed=1, attacks=NAMES)


@pytest.fixture(scope="module")
def caught(release: Release) -> Attack:
    """The same release with the names left in."""
    names = generate_clinics(400, rng=7).visits.column("name").take(pa.array(release.source_rows))
    bad = replace(
        release,
        content=ReleasedTable(release.table.append_column("name", names), release.original),
    )
    return attack(bad, seed=1, attacks=["identifiers", "row_order"])


def test_no_two_numbers_of_a_measure_differ(attacked: Attack) -> None:
    told = told_of_measures(draw_attack(attacked, "Visits", DAY))
    several = {name: values for name, values in told.items() if len(values) > 1}
    assert several
    for name, values in several.items():
        assert len({*values}) == 1, name


def test_at_most_below_what_was_predicted_is_explained(attacked: Attack) -> None:
    outcome = next(each for each in attacked.outcomes if each.attempts and each.predicted)
    assert outcome.predicted is not None
    value = outcome.predicted.value

    def notes(allowed: float) -> int:
        lines, _ = attack_lines([plain_outcome(replace(outcome, allowed=allowed))])
        return len(lines[0]["notes"])

    assert notes(value / 2) == notes(value) + 1


def test_what_no_row_shows_is_marked(attacked: Attack) -> None:
    """An attack on people that the verdict measures in no row, and none of those that it does."""
    assert not [each for each in attacked.evidence if each.unshown]
    one = next(each for each in attacked.evidence if each.number == "found")
    assert replace(one, measured=None).unshown
    assert not replace(one, measured=None, number="learned").unshown
    outcome = attacked.outcomes[0]
    (plain,), _ = attack_lines([plain_outcome(outcome)])
    (marked,), _ = attack_lines([plain_outcome(outcome, unshown=True)])
    assert len(marked["notes"]) == len(plain["notes"]) + 1


def test_the_verdict_stands_first_and_every_number_follows(attacked: Attack) -> None:
    page = draw_attack(attacked, "Visits", DAY)
    assert page.index(attacked.sentence) < page.index("<main>")
    assert "2 March 2026" in page
    assert [each.attack for each in attacked.outcomes if not each.attempts] == ["identifiers"]
    assert "No such column" in page
    for outcome in attacked.outcomes[:-1]:
        assert attack_title(outcome.attack) in page
        assert percent(outcome.success.value) in page
        assert outcome.predicted is not None
        assert percent(outcome.predicted.value) in page
    assert "beaten</span>" not in page
    assert page.count('class="mark yes"') == len(attacked.outcomes) - 1
    for sentence in attacked.held:
        assert sentence in page


def test_the_page_begins_with_the_worst(attacked: Attack) -> None:
    """Its heading has the largest share of any row; the pictures are of the worst by rank."""
    assert attacked.verdict is not None
    rows = [each.findings for each in attacked.verdict.rows if each.findings is not None]
    most = percent(max(each.found.value for each in rows))
    page = draw_attack(attacked, "Visits", DAY)
    heading = page.partition('<h2 id="verdict">')[2].partition("</h2>")[0]
    assert most in heading
    tried = sum(each.attempts > 0 for each in attacked.outcomes)
    assert f"{tried} attacks" in re.search(r"<caption>Right guesses.*?</caption>", page)[0]
    heads = re.findall(r'<th scope="col"[^>]*>([^<]*)</th>', page.partition('class="attacks')[2])
    assert heads[:2] == ["Attack", "Share right"]
    # With one more, the last by rank is not drawn, wherever it stands.
    (kind, bins), *_ = attacked.calibration.items()
    one = next(each for each in attacked.outcomes if each.attack == kind)
    share = one.baseline.value
    success = [replace(one.success, value=share + 0.01 * place) for place in range(4)]
    outcomes = [
        replace(one, attack=f"inference:c{place}", success=each)
        for place, each in enumerate(success)
    ]
    calibration = {each.attack: bins for each in outcomes}
    more = replace(attacked, outcomes=(*outcomes,), calibration=calibration)
    *_, picture = _figures(more, [plain_outcome(each) for each in more.outcomes])
    assert "the worst 3 of 4" in picture.title
    assert [f"c{place}" in picture.svg for place in range(4)] == [False, True, True, True]


def test_the_promises_and_the_detail_lost_of_the_release_stand_beside(
    attacked: Attack, release: Release
) -> None:
    """What a file without its release says of neither."""
    page = draw_attack(attacked, "Visits", DAY)
    claims = attacked.claims
    assert len(claims.promises) == len(release.constraints) > 0
    assert claims.detail_lost == detail_lost(release)
    for told in (*claims.promises, percent(claims.detail_lost)):
        assert told in page
    assert set(claims.promises) <= set(attacked.to_json()["claims"]["promises"])
    bare = attack(
        release.table,
        schema=release.schema,
        original=release.original,
        truth=release.source_rows,
        seed=1,
        attacks=["row_order"],
    )
    assert (bare.claims.promises, bare.claims.detail_lost) == ((), None)
    assert percent(detail_lost(release)) not in draw_attack(bare, "Visits", DAY)


def test_a_broken_prediction_is_said_in_red(caught: Attack) -> None:
    page = draw_attack(caught, "Visits", DAY)
    assert '<section class="verdict failed"' in page
    assert re.search("Defect.*: identifiers .*99.2 %", page)
    assert page.count("beaten</span>") == 1
    assert caught.verdict is not None
    for row in caught.verdict.rows:
        for cell in caught.verdict.cells(row):
            assert f">{cell}<" in page


def test_nothing_is_loaded_and_nothing_of_the_data_told(attacked: Attack) -> None:
    page = draw_attack(attacked, "Visits", DAY)
    assert re.findall(r'(?:src|href)="(?!#)[^"]*"', page) == []
    assert "<script" not in page
    visits = generate_clinics(400, rng=7).visits
    for name in ("name", "phone", "patient", "education"):
        for value in set(visits.column(name).to_pylist()) - {None}:
            assert str(value) not in page, name


def test_the_json_is_the_attack(attacked: Attack, tmp_path: Path) -> None:
    path = report(attacked, tmp_path / "attack.html", title="Visits", made=DAY)
    assert path.is_file()
    read = json.loads((tmp_path / "attack.json").read_text(encoding="utf-8"))
    about = read.pop("report")
    assert read == json.loads(json.dumps(attacked.to_json()))
    assert (about["title"], about["about"], about["date"]) == ("Visits", "attack", "2026-03-02")
    assert report_json(attacked, made=DAY)["report"]["title"] == "A release under attack"


def test_the_pictures_are_pictures(attacked: Attack) -> None:
    with_words = [plain_outcome(each) for each in attacked.outcomes if each.attempts]
    for figure in (
        success_figure(with_words),
        predicted_figure(with_words),
        calibration_figure(attacked.calibration, len(attacked.calibration)),
    ):
        ET.fromstring(str(figure.svg))
        assert "aria-label" in figure.svg


def test_every_attack_has_a_title(attacked: Attack) -> None:
    for outcome in attacked.outcomes:
        assert outcome.attack.partition(":")[0] in ATTACK_TITLES
    assert attack_title("inference:icd9") == "Sensitive value: icd9"
    assert attack_title("some_thing:x") == "Some thing: x"
