"""How long a report is, and what it draws, where a file has many sensitive columns."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from html import unescape

import pytest
from reports.project_results import outcome, results
from reports.wide_releases import COLUMNS, wide_release

import sfumato as sf
from sfumato.reports.attack_tables import SHOWN, attack_lines
from sfumato.reports.release_report import draw_release
from sfumato.reports.risk_plots import MOST_DRAWN

MOST_WORDS = 3_000
MOST_WORDS_OF_A_DOSSIER = 2_500


@pytest.fixture(scope="module")
def wide():
    return wide_release()


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


KINDS = ("inference", "inference_surest", "inference_model", "column")


@pytest.fixture(scope="module")
def attacked(wide):
    """The same as a project, with attacks on each of its columns."""
    found = results(wide)
    found.stages["release"].measured["detail_lost"] = 0.42
    found.stages["attack"].measured["attacks"] += [
        outcome(f"{kind}:{name}", 400, 40 + place)
        for kind in KINDS
        for place, name in enumerate(wide.schema.sensitive)
    ]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("audience", ["internal", "public"])
def test_a_project_of_a_wide_release_has_few_words(attacked, audience, tmp_path):
    page = sf.report(attacked, tmp_path / "p.html", audience=audience).read_text()
    words, text = words_of(page)
    assert len(words) <= MOST_WORDS
    assert text.count("27 further columns") == len(KINDS)
    # Each column stands among the variables and among what classes tell, and nowhere in a list.
    assert all(len(re.findall(rf"\b{name}\b", text)) >= 2 for name in attacked.schema["sensitive"])
    drawn = re.search(r"<strong>Risk before and after.*?</svg>", page, re.DOTALL)
    assert (drawn is None) is (audience == "public")
    worst = set() if drawn is None else {*re.findall(r"\b(s\d\d): ", drawn[0])}
    table = re.search(r"<caption>28 sensitive columns.*?</table>", page, re.DOTALL)[0]
    first = re.findall(r'class="column">(s\d\d)<', table)
    assert len(first) == COLUMNS
    assert worst <= {*first[:MOST_DRAWN]}


def test_of_a_kind_of_attack_the_worst_columns_have_rows():
    tried = [
        outcome(f"inference:s{place:02}", 400, place, broken=place == 5)
        | {"row": "stranger", "title": f"s{place:02}", "predicted_by": "x", "tried": place != 9}
        for place in range(COLUMNS)
    ]
    lines, untried = attack_lines(tried)
    assert [each["title"] for each in lines[:-1]] == ["s05", "s27", "s26"]
    assert f"{COLUMNS - SHOWN - 1} further" in lines[-1]["title"]
    assert [each["what"] != "" for each in lines] == [True, False, False, False]
    assert [each["kept"] for each in lines] == [False, True, True, True]
    assert len(untried) == 1
    # Columns of which nothing was predicted are not kept, and untold ones not known to be less.
    (last,) = [each for each in tried if each["title"] == "s00"]
    last |= {"predicted": None, "success": None}
    rest = attack_lines(tried)[0][-1]
    assert rest["kept"] is None
    assert len(rest["notes"]) == 1


@pytest.mark.parametrize(
    ("low", "ends"),
    [({"about": 0.4}, "40 % to 46 %"), ({"below": 0.4}, ""), (0.402, "40.2 % to 46 %"), (None, "")],
)
def test_an_interval_is_as_coarse_as_it_is_told(low, ends):
    success = {"value": {"about": 0.43}, "low": low, "high": {"about": 0.46}}
    told = outcome("exact_free", 400, 100, broken=False) | {
        "row": "stranger", "title": "x", "predicted_by": "x", "tried": True, "success": success,
    }  # fmt: skip
    (line,), _ = attack_lines([told])
    assert line["ends"].replace("\u202f", " ").replace("\xa0", " ") == ends


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
