"""What a pair is drawn as: symbols, what is read out, costs that are never rounded down."""

from __future__ import annotations

from html import unescape
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from server.clinic import Browser, body, review_project, stored

from sfumato.review.review_project import Project as ReviewProject
from sfumato.review.review_project import Weight
from sfumato.review.review_settings import Cell, CellKind, Mark, Mode, Rarity
from sfumato.review.worker_state import Cost, Opening

FULL = Cell(CellKind.CHARACTER, "x")


def standing(cells: int = 100, budget: float | None = 0.2, score: float = 0.05) -> Any:
    from sfumato.server.live.worker_actions import Standing

    left = None if budget is None else budget - score
    return Standing(score, 0.0, budget, left, 0.1, cells, 8, 2, 1, 0)


@pytest.mark.parametrize(
    ("cells", "drawn", "said"),
    [
        ([Cell(CellKind.EQUAL)] * 3, "***", "3 equal, hidden"),
        ([Cell(CellKind.MISSING)], "?", "missing"),
        (
            [Cell(CellKind.EQUAL), Cell(CellKind.DIFFERING), Cell(CellKind.DIFFERING)],
            "*@@",
            "1 equal, hidden; 2 different, hidden",
        ),
        (
            [Cell(CellKind.CHARACTER, "1"), Cell(CellKind.SEPARATOR, "/"), Cell(CellKind.MASKED)],
            "1/*",
            "1/; 1 hidden",
        ),
    ],
)
def test_a_row_is_drawn_and_read_out(cells: list[Cell], drawn: str, said: str) -> None:
    from sfumato.server.worker.drawn_pages import draw_row, read_out

    html = str(draw_row(cells, 0))
    seen, _, heard = html.partition('<span class="hidden">')
    text = "".join(part.split(">", 1)[-1] for part in seen.split("<"))
    assert text == drawn
    assert read_out(cells) == said
    assert heard == f"Row 1: {said}. </span>"


@given(st.lists(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1, max_size=8))
def test_characters_stand_in_text_only(characters: list[str]) -> None:
    from sfumato.server.worker.drawn_pages import draw_row

    html = str(draw_row([Cell(CellKind.CHARACTER, each) for each in characters], 1))
    seen = html.removeprefix('<span class="seen" aria-hidden="true"><i class="open">')
    assert unescape(seen.partition("</i>")[0]) == "".join(characters)
    assert "<" not in seen.partition("</i>")[0]


def test_values_and_notes_cannot_become_markup() -> None:
    rows = [("<b>&\"'", "x</textarea>", None, "f", "1"), ("<i>&\"'", "y", None, "f", "2")]
    project, worker = stored(review_project(rows, [(0, 1)]))
    browser = Browser(worker, project)
    browser.get()
    token = browser.tokens()[0]
    for place in (0, 1):
        body(browser.open(token, [place], 2))
    browser.post(token, "note", note="</textarea><script>alert(1)</script>")
    page = browser.get().content.decode()
    assert "&lt;b&gt;&amp;&quot;&#x27;" in page
    assert "<b>" not in page
    assert "<script>alert" not in page
    assert page.count("</textarea>") == page.count("<textarea")


@given(
    cost=st.floats(0, 1, allow_nan=False),
    cells=st.integers(1, 10**7),
    exact=st.booleans(),
)
def test_a_cost_is_never_rounded_down(cost: float, cells: int, exact: bool) -> None:
    from sfumato.server.worker.drawn_pages import _button

    now = standing(cells)
    button = _button(Cost(Opening((0, 2), Mode.FULL), cost, None), now, exact=exact)
    shown = float(button.number)
    assert cost - 1e-14 <= shown <= cost + 10.0 ** -max(4, len(str(cells)) + 1) + 1e-14
    assert button.value == "0,2:2"
    assert button.kapr.removeprefix("at most ") == button.number


@pytest.mark.parametrize(
    ("cost", "decided", "message", "share"),
    [
        # 0.12 is left: it pays for 0.02 in each of six pairs still to come, not for 0.021.
        (0.02, 2, "cheap, up to {share} of what is left", "17 %"),
        (0.021, 2, "dear, up to {share} of what is left", "18 %"),
        (0.021, 3, "cheap, up to {share} of what is left", "18 %"),
        (0.12, 7, "cheap, up to {share} of what is left", "100 %"),
        (0.12, 8, "cheap, up to {share} of what is left", "100 %"),
        (1e-9, 2, "cheap, up to {share} of what is left", "1 %"),
        (0.1201, 2, "more than is left", None),
        (0.0, 2, "nothing", None),
    ],
)
def test_a_cost_is_cheap_where_each_pair_to_come_could_have_one_like_it(
    cost: float, decided: int, message: str, share: str | None
) -> None:
    from dataclasses import replace

    from sfumato.server.worker.drawn_pages import _button

    now = replace(standing(), left=0.12, decided=decided)
    words = _button(Cost(Opening((0,), Mode.FULL), cost, None), now, exact=True).cost
    assert (words.message, words.filled.get("share")) == (message, share)


def test_a_title_keeps_its_text_and_no_direction_but_its_own() -> None:
    from sfumato.server.store.models import Project

    project, _ = stored(review_project())
    Project.objects.filter(pk=project.pk).update(title="<a>\u202eb")
    title = Project.objects.get(pk=project.pk).title
    assert (title, title.__html__()) == ("<a>\u202eb", "\u2068&lt;a&gt;b\u2069")


def test_what_is_hidden_is_cut_with_its_length_and_what_is_open_is_not() -> None:
    from sfumato.server.worker.drawn_pages import LONG, draw_row

    for kind, symbol in ((CellKind.EQUAL, "*"), (CellKind.MASKED, "*"), (CellKind.DIFFERING, "@")):
        for length, text in ((LONG, symbol * LONG), (300, f"{symbol * LONG}…300")):
            html = str(draw_row([*[Cell(kind)] * length, FULL], 0))
            assert f">{text}<" in html
    assert f">{'x' * 300}<" in str(draw_row([FULL] * 300, 0))


def test_without_a_limit_a_cost_is_its_number() -> None:
    from sfumato.server.worker.drawn_pages import _button

    button = _button(Cost(Opening((0,), Mode.FULL), 0.02, None), standing(budget=None), exact=True)
    assert (button.cost, button.kapr) == ("", "0.0200")


def test_every_mark_and_band_has_an_icon_and_a_text() -> None:
    from sfumato.server.worker.drawn_pages import MEANING, draw_mark, draw_rarity

    for mark in Mark:
        html = str(draw_mark(mark))
        assert MEANING[mark] in html
        assert "<svg" in html or mark in {Mark.DIFFERENT, Mark.MISSING}
    counts = [str(draw_rarity(band)).count('class="on"') for band in Rarity]
    assert counts == [1, 2, 3]


@pytest.mark.parametrize("budget", [None, 0.0, 0.001, 0.2, 1.0])
@pytest.mark.parametrize("score", [0.0, 0.0004, 0.15, 0.9])
def test_meters_stay_in_their_frame(budget: float | None, score: float) -> None:
    from sfumato.server.worker.drawn_pages import WIDTH, meters

    for meter in meters(standing(100, budget, score)):
        assert 0 <= meter.filled <= WIDTH
        assert meter.limit is None or 0 <= meter.limit <= WIDTH
        assert 0 <= float(meter.value) <= float(meter.top) + 1e-4


# ---------------------------------------------------------------------------------------- hints


def with_weights(project: ReviewProject) -> ReviewProject:
    from dataclasses import replace

    levels = [(0.8, 0.001), (0.1, 0.002), (0.05, 0.05), (0.05, 0.947)]
    weights = [
        Weight(name, 3 - place, "", m, u)
        for name in ("given", "family", "born")
        for place, (m, u) in enumerate(levels)
    ]
    return replace(project, weights=tuple(weights), prior=0.1)


def test_a_hint_marks_one_cell_where_the_manager_allows_it() -> None:
    for hints, found in ((True, 1), (False, 0)):
        project, worker = stored(with_weights(review_project(hints=hints)), people=people(hints))
        browser = Browser(worker, project)
        first = browser.get().content.decode().split('class="pair ')[1]
        assert first.count("open next") == found
        decided = body(browser.post(browser.tokens()[0], "decide", answer="1"))
        assert "open next" not in decided["pair"]


def people(number: int) -> tuple[object, object, object]:
    from server.clinic import account

    roles = ("custodian", "manager", "worker")
    one, two, three = (account(f"{role} {number}", role) for role in roles)
    return one, two, three


def test_a_stored_project_is_read_again_without_loss() -> None:
    from sfumato.server.live.live_projects import read_project

    project = with_weights(review_project(gold={"p1": True, "p3": False}, hints=True, k=2))
    made, _ = stored(project)
    read = read_project(made)
    assert (read.attributes, read.settings) == (project.attributes, project.settings)
    assert read.records.equals(project.records)
    assert read.pairs.equals(project.pairs)
    assert (dict(read.gold), read.weights, read.prior) == (
        dict(project.gold),
        project.weights,
        project.prior,
    )
