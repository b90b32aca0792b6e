"""How long a report is, and what it draws, where a file has many sensitive columns."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from html import unescape

import numpy as np
import pyarrow as pa
import pytest
from reports.project_results import results

import sfumato as sf
from sfumato.reports.release_report import draw_release
from sfumato.reports.risk_plots import MOST_DRAWN

COLUMNS = 28
MOST_WORDS = 3_000
MOST_WORDS_OF_A_DOSSIER = 2_500


@pytest.fixture(scope="module")
def wide():
    """A release of 28 sensitive columns, which are 2 to 10 values dealt unevenly."""
    draw = np.random.default_rng(7)
    people, records = 3_000, 1 + draw.poisson(0.6, 3_000)
    person = np.repeat(np.arange(people), records)
    data = {
        "person": [f"p{each}" for each in person],
        "born": draw.integers(1930, 2010, people)[person],
        "sex": draw.choice(["f", "m"], people)[person],
        "school": draw.integers(1, 9, people)[person],
    }
    for place in range(COLUMNS):
        chances = draw.dirichlet(np.full(2 + place % 9, 1.2))
        data[f"s{place:02}"] = [
            f"v{each}" for each in draw.choice(len(chances), len(person), p=chances)
        ]
    schema = sf.Schema(
        person="person",
        quasi_identifiers={"born": "numeric", "sex": "categorical", "school": "numeric"},
        sensitive=[name for name in data if name.startswith("s") and name[1:].isdigit()],
    )
    return sf.anonymize(pa.table(data), schema, sf.GBalance(0.9), seed=3)


def words_of(page):
    """The words that a reader of a page sees, and the text."""
    body = re.sub(r"<(style|svg)\b.*?</\1>", " ", page, flags=re.DOTALL)
    text = unescape(re.sub(r"<[^>]+>", " ", body))
    return [word for word in text.split() if re.search(r"\w", word)], text


@pytest.mark.slow
@pytest.mark.parametrize("audience", ["internal", "public"])
def test_a_dossier_of_a_wide_release_has_few_words(wide, audience, tmp_path):
    every = {"found": 1.0, "person": 1.0, "learned": 1.0}
    columns = wide.verdict.found.insiders
    accepted = tuple(
        sf.Acceptance("insider", "officer", "not known", date(2100, 1, 1), every, column=column)
        for column in columns
    )
    judged = replace(wide, accepted=accepted)
    asked = sf.report(
        results(judged), tmp_path / "d.html", recipient="a university", audience=audience
    )
    words, text = words_of(asked.read_text())
    assert len(columns) == COLUMNS
    assert len(words) <= MOST_WORDS_OF_A_DOSSIER
    assert all(name in text for name in columns)


@pytest.mark.slow
def test_a_wide_release_is_told_in_few_words(wide):
    page = draw_release(wide, "A wide release", date(2026, 3, 2))
    words, text = words_of(page)
    assert len(words) <= MOST_WORDS
    drawn = re.findall(r"<figcaption><strong>“(s\d\d)”: largest share", page)
    own = wide.risk.sensitive
    shares = sorted((own[name].h_affiliation.value for name in own), reverse=True)
    assert [own[name].h_affiliation.value for name in drawn] == shares[:MOST_DRAWN]
    table = re.search(r"<caption>28 sensitive columns.*?</table>", page, re.DOTALL)[0]
    assert sorted(re.findall(r'class="column">(s\d\d)<', table)) == sorted(own)
    # No sentence names them one after the other.
    assert not re.search(r"“s\d\d”, “s\d\d”", text)
