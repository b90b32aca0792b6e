"""One verdict in four forms: what is printed, its JSON, its page, and the exit code."""

from __future__ import annotations

import json
import re
from datetime import date
from html import unescape

import pytest
from release.random_files import random_release

from sfumato.reports.release_report import draw_release
from sfumato.risk.verdict import EXIT_CODES, State, judged_again


@pytest.mark.usefixtures("no_plots")
@pytest.mark.parametrize(
    "seeds", [range(1000, 1004), pytest.param(range(1004, 1060), marks=pytest.mark.slow)], ids=str
)
def test_the_same_rows_stand_everywhere(seeds: range) -> None:
    made = sum(map(agree, seeds))
    assert made >= len(seeds) // 2


def agree(seed: int) -> bool:
    """Whether there is a release; fails where one form of its verdict says something else."""
    release, _ = random_release(seed)
    if release is None:
        return False
    verdict = release.verdict
    plain = json.loads(json.dumps(release.to_json()["verdict"]))
    again = judged_again(plain, release.limits)
    printed = [re.split(r" {2,}", line.strip()) for line in str(verdict).splitlines()]
    source = draw_release(release, "Release", date(2026, 11, 29))
    drawn = [
        [unescape(re.sub(r"<small>.*?</small>|<[^>]+>", "", cell)).strip() for cell in cells]
        for cells in (
            re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)
            for row in re.findall(r"<tr.*?</tr>", source, re.DOTALL)
        )
    ]
    for row in verdict.rows:
        cells = [*verdict.cells(row)]
        assert cells in printed
        assert cells in drawn
        assert [*again.cells(again.row(row.intruder))] == cells
    assert [each["state"] for each in plain["rows"]] == [each.state for each in verdict.rows]
    assert verdict.headline in unescape(source)
    assert ('class="verdict failed"' in source) is not verdict.ready
    # The code is that of the worst state of any form.
    assert verdict.exit_code == EXIT_CODES.get(State(plain["state"]), 0)
    assert plain["headline"] == verdict.headline
    return True
