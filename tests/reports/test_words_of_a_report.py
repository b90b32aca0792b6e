"""How long a report is, and what it draws, where a file has many sensitive columns."""

from __future__ import annotations

import re
from datetime import date
from html import unescape

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.reports.release_report import draw_release
from sfumato.reports.risk_plots import MOST_DRAWN

COLUMNS = 28
MOST_WORDS = 3_000


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


@pytest.mark.slow
def test_a_wide_release_is_told_in_few_words(wide):
    page = draw_release(wide, "A wide release", date(2026, 3, 2))
    body = re.sub(r"<(style|svg)\b.*?</\1>", " ", page, flags=re.DOTALL)
    text = unescape(re.sub(r"<[^>]+>", " ", body))
    words = [word for word in text.split() if re.search(r"\w", word)]
    assert len(words) <= MOST_WORDS
    drawn = re.findall(r"<figcaption><strong>“(s\d\d)”: largest share", page)
    own = wide.risk.sensitive
    shares = sorted((own[name].h_affiliation.value for name in own), reverse=True)
    assert [own[name].h_affiliation.value for name in drawn] == shares[:MOST_DRAWN]
    table = re.search(r"<caption>28 sensitive columns.*?</table>", page, re.DOTALL)[0]
    assert sorted(re.findall(r'class="column">(s\d\d)<', table)) == sorted(own)
    # No sentence names them one after the other.
    assert not re.search(r"“s\d\d”, “s\d\d”", text)
