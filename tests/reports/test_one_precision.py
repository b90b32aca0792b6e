"""Each quantity of a page is written alike wherever it stands: table, sentence, chart, terminal."""

from __future__ import annotations

import re
from datetime import date
from html import unescape
from itertools import combinations

import pytest
from made_databases import made_database
from reports.told_numbers import rows_of, told_of_measures
from reports.wide_releases import wide_release

import sfumato as sf
from sfumato.core.number_text import percent, percentage, share_text
from sfumato.reports.release_report import draw_release
from sfumato.table.database_guess import guess_database

FIGURE = re.compile(r"(?<![\d.,])(\d[\d,]*(?:\.\d+)?)\s%")
MADE = date(2026, 3, 2)


def of_tables() -> sf.Release:
    """A release of a set of tables."""
    made = made_database(41, people=400)
    tables = sf.Tables(made.frames, guess_database(made.frames).schema)
    return sf.anonymize(tables, sf.KnownEvents(2, 0.09), sf.PidKAnonymity(5), effort=0, seed=1)


def figures_of(page: str) -> dict[str, set[str]]:
    """The percentages of a page by what they stand for: measures, and rows with their columns."""
    measures = "".join(rows_of(page, "measures"))
    told = {
        name: {*map(figure, values)}
        for name, values in told_of_measures(page).items()
        # A measure of each sensitive column stands in a row for each.
        if measures.count(f"<code>{name}</code>") < 2
    }
    for row in re.findall(r"<tr\b.*?</tr>", page, re.DOTALL):
        name = re.search(r'<th scope="row"[^>]*>(.*?)</th>', row, re.DOTALL)
        for label, cell in re.findall(r'data-label="([^"]+)"[^>]*>([^<]*)<', row):
            # Rows of measures are told above.
            if (
                name
                and "<code>" not in name[1]
                and (found := FIGURE.fullmatch(unescape(cell).strip()))
            ):
                told.setdefault(f"{bare(name[1])}: {label}", set()).add(found[1])
    return {name: values - {""} for name, values in told.items()}


def bare(markup: str) -> str:
    return unescape(re.sub(r"<[^>]+>", " ", markup)).strip()


def figure(text: str) -> str:
    found = FIGURE.match(unescape(text).strip())
    return found[1] if found else ""


def decimals(text: str) -> int:
    return len(text.partition(".")[2])


def disagree(first: str, second: str) -> bool:
    """Whether two figures of one quantity are different, though one has more digits."""
    places = min(decimals(first), decimals(second))
    return abs(float(first) - float(second)) > 0.5001 * 10.0**-places


@pytest.fixture(scope="module", params=["demo", "wide", "tables"])
def made(request, release: sf.Release) -> tuple[sf.Release, str]:
    kinds = {"demo": lambda: release, "wide": wide_release, "tables": of_tables}
    found = kinds[request.param]()
    return found, draw_release(found, "Release", MADE)


def test_no_quantity_of_a_page_is_written_in_two_ways(made) -> None:
    told = figures_of(made[1])
    assert sum(len(values) for values in told.values()) > 10
    for name, values in told.items():
        for pair in combinations(sorted(values), 2):
            assert not disagree(*pair), (name, pair)


def test_every_share_of_a_page_has_one_decimal(made) -> None:
    text = unescape(re.sub(r"<style.*?</style>|<[^>]+>", " ", made[1], flags=re.DOTALL))
    shares = [found for found in FIGURE.findall(text) if float(found) >= 1]
    assert len(shares) > 20
    # Only beside its limit has a share more.
    longer = {found for found in shares if decimals(found) > 1}
    assert longer <= {*FIGURE.findall(str(made[0].verdict))}


def test_the_rows_of_the_verdict_stand_in_its_sentence(made) -> None:
    verdict = made[0].verdict
    cells = {figure for row in verdict.rows for cell in verdict.cells(row)
             for figure in FIGURE.findall(cell)}  # fmt: skip
    said = FIGURE.findall(verdict.headline)
    assert {*said} <= cells | {*FIGURE.findall(str(verdict.limits))}


def test_one_rule_writes_shares_with_and_without_a_limit() -> None:
    for share in (0.0005, 0.00996, 0.01, 0.07, 0.1783, 0.29, 0.9049, 0.9994, 0.99964, 1.0):
        alike = {each.split()[-2] for each in (percent(share), percentage(share))}
        assert alike == {share_text(share).split()[-2], share_text(share, 0.5).split()[-2]}
    assert [share_text(each, 1 / 11) for each in (0.0906, 0.09088)] == ["9.06 %", "9.09 %"]
