"""Screens: exactly as large as the terminal, and nothing on them that a terminal acts on."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

import pytest
from few_cases import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from sfumato.review.anonymity_database import Database
from sfumato.review.anonymity_index import Index
from sfumato.review.disclosure_account import Review
from sfumato.review.review_settings import (
    Attribute,
    AttributeKind,
    MaskWidth,
    Mode,
    NamePart,
    Settings,
)
from sfumato.review.terminal_screen import (
    Direction,
    draw_legend,
    draw_screen,
    neighbour,
    next_of_cell,
    of_cell,
    of_everything,
    of_names,
    place_blocks,
)
from sfumato.review.terminal_session import Message, Standing, View
from sfumato.review.terminal_text import (
    Line,
    Look,
    Span,
    Style,
    fitted,
    flowed,
    padded,
    visible,
    width_of,
)
from sfumato.review.worker_state import (
    REFUSED,
    Cost,
    Opening,
    Reason,
    Refusal,
    WorkerState,
    kapr_text,
)

KINDS = (
    ("given_name", AttributeKind.VARIABLE, NamePart.GIVEN),
    ("surname", AttributeKind.VARIABLE, NamePart.FAMILY),
    ("date_of_birth", AttributeKind.DATE, None),
    ("sex", AttributeKind.CATEGORY, None),
    ("address", AttributeKind.VARIABLE, None),
)
ATTRIBUTES = tuple(
    Attribute(name=name, kind=kind, name_part=part, rarity=part is not None)
    for name, kind, part in KINDS
)
STANDING = Standing("reviewer", 0.02, 0.3, 0.1, 40, 4, 1, 0, 0, exact=False)
few = settings(max_examples=examples(60))


def view_of(
    records: list[tuple[str | None, ...]], mode: Mode | None, rules: Settings | None = None
) -> View:
    """The first two of some records as a pair, opened in a mode."""
    index = Index.build(Database.of(ATTRIBUTES, list(zip(*records, strict=True))))
    worker = WorkerState(Review(ATTRIBUTES, rules or Settings(budget=None), index, [0], [1]), [0])
    worker.show(0)
    if mode is not None:
        worker.open(0, Opening(tuple(range(len(ATTRIBUTES))), mode))
    return View(
        STANDING, 1, worker.render(0), None, worker.costs(0), worker.review.names, None, None,
        skipped=False, flag=None,
    )  # fmt: skip


def text_of(lines: tuple[Line, ...]) -> list[str]:
    return ["".join(span.text for span in line) for line in lines]


RECORDS: list[tuple[str | None, ...]] = [
    ("Anna", "Meier", "1980-02-03", "f", "12 Long Street, Little Village under the Hill"),
    ("Ana", "Meyer", "1980-03-02", "f", None),
    ("Bert", "Meier", "1990-01-01", "m", "1 Road"),
]
TEXT = st.text(min_size=1, max_size=90).filter(lambda text: bool(text.strip()))
ROW = st.tuples(
    *(st.none() | TEXT for _ in range(2)), st.sampled_from(["1980-02-03", "1981-02-03", None]),
    *(st.none() | TEXT for _ in range(2)),
)  # fmt: skip
LOOKS = st.builds(
    Look, st.integers(10, 200), st.integers(3, 60), st.sampled_from(["utf-8", "ascii", "latin-1"])
)


@few
@given(st.lists(ROW, min_size=2, max_size=4), st.sampled_from([None, *Mode]), LOOKS, st.data())
def test_a_screen_is_as_large_as_the_terminal(
    records: list, mode: Mode | None, look: Look, data: st.DataObject
) -> None:
    """Whatever the values: lines and columns as there are, nothing that cannot be encoded."""
    view = view_of(records, mode)
    selected = data.draw(st.integers(0, len(ATTRIBUTES) - 1))
    lines = draw_screen(view, look, selected, Message("Said."), flagging=data.draw(st.booleans()))
    assert len(lines) == look.height
    for line in text_of(lines):
        assert cell_len(line) <= look.width
        line.encode(look.encoding)
        assert not any(unicodedata.category(each)[0] == "C" for each in line)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (76, 20), (10, 3)])
def test_the_help_fits(size: tuple[int, int], encoding: str) -> None:
    look = Look(*size, encoding)
    lines = draw_legend(look)
    assert len(lines) == look.height
    for line in text_of(lines):
        assert cell_len(line) <= look.width
        line.encode(encoding)


def test_a_small_terminal_shows_no_value() -> None:
    lines = text_of(draw_screen(view_of(RECORDS, Mode.FULL), Look(75, 24), 0, Message()))
    assert lines[0].startswith("Make the window larger")
    assert not any(lines[1:])


def test_a_pair_at_80_by_24() -> None:
    """The rows below each other, the marks between, costs and answers at the foot."""
    view = view_of(RECORDS, Mode.PARTIAL)
    lines = text_of(draw_screen(view, Look(), 1, Message()))
    top = next(number for number, line in enumerate(lines) if line.startswith("   given name"))
    assert lines[top].split("   ")[1:3] == ["given name ◐", "surname ◐"]
    assert lines[top + 1].startswith(" 1 **n* ") or lines[top + 1].startswith(" 1 *n** ")
    assert lines[top + 3].startswith(" 2 ***")
    assert "**i**" in lines[top + 1]
    assert "**y**" in lines[top + 3]
    assert "≠" in lines[top + 2]
    foot = "\n".join(lines)
    assert "KAPR at most: o in full" in foot
    assert "A all in full" in foot
    assert "Different:  1 high" in foot
    assert "1 of 4 decided" in foot
    assert "0.0200 · limit 0.3000" in foot


def test_masked_rows_of_a_fixed_width_are_alike() -> None:
    view = view_of(RECORDS, None, Settings(budget=None, mask_width=MaskWidth.FIXED))
    other = [("Theodora", "Schmid", "1980-02-03", "f", "x"), *RECORDS[1:]]
    lines = text_of(draw_screen(view, Look(), 4, Message()))
    assert any("********" in line for line in lines)
    assert not any("Anna" in line or "Hill" in line for line in lines)
    assert (
        view_of(other, None, Settings(budget=None, mask_width=MaskWidth.FIXED)).rendered is not None
    )


def test_a_value_wider_than_the_terminal_goes_on_below() -> None:
    long = "abcdefghij" * 20
    records = [(long, "b", None, None, None), (long, "b", None, None, None)]
    lines = text_of(draw_screen(view_of(records, Mode.FULL), Look(80, 30), 0, Message()))
    rows = [line[3:].strip("▂▄▆ ") for line in lines if line.startswith(" 1 ")]
    assert "".join(rows).startswith(long)


def test_a_refused_pair_says_why_and_no_more() -> None:
    view = replace(
        view_of(RECORDS, Mode.FULL), rendered=None, costs=(), refused=Refusal(Reason.BUDGET, 0.1)
    )
    lines = text_of(draw_screen(view, Look(), 0, Message()))
    assert any("may not be shown: more than your budget holds" in line for line in lines)
    assert not any("Meier" in line for line in lines)


def test_what_is_refused_is_said_before_it_is_asked_for() -> None:
    view = view_of(RECORDS, None)
    refused = tuple(
        Cost(each.opening, each.cost, Refusal(Reason.FLOOR, each.cost)) for each in view.costs
    )
    lines = "\n".join(text_of(draw_screen(replace(view, costs=refused), Look(), 0, Message())))
    assert REFUSED[Reason.FLOOR] in lines
    assert "refused" in lines


def test_which_key_asks_for_what() -> None:
    view = view_of(RECORDS, None)
    everything = tuple(range(len(ATTRIBUTES)))
    partly, fully = (of_everything(view, mode) for mode in (Mode.PARTIAL, Mode.FULL))
    assert partly is not None
    assert fully is not None
    assert partly.opening == Opening((0, 1, 2), Mode.PARTIAL)
    assert fully.opening == Opening(everything, Mode.FULL)
    names, cell = of_names(view), next_of_cell(view, 3)
    assert names is not None
    assert cell is not None
    assert names.opening == Opening((0, 1), Mode.PARTIAL)
    assert cell.opening == Opening((3,), Mode.FULL)
    assert of_cell(view, 3, Mode.PARTIAL) is None
    assert of_names(replace(view, names=None)) is None


def test_arrows_go_where_they_point() -> None:
    rendered = view_of(RECORDS, Mode.FULL).rendered
    assert rendered is not None
    placed = place_blocks(rendered, Look(), 0, None)
    assert [each.band for each in placed] == [0, 0, 0, 0, 1]
    assert neighbour(placed, 0, Direction.LEFT) == 0
    assert neighbour(placed, 0, Direction.RIGHT) == 1
    assert neighbour(placed, 3, Direction.DOWN) == 4
    assert neighbour(placed, 4, Direction.UP) == 0
    assert neighbour(placed, 4, Direction.RIGHT) == 4


@given(st.text(), st.sampled_from(["utf-8", "ascii", "latin-1"]))
def test_visible_text_does_nothing(text: str, encoding: str) -> None:
    shown = visible(text, encoding, "#")
    shown.encode(encoding)
    assert cell_len(shown) > 0
    assert not any(unicodedata.category(each) in {"Cc", "Cf", "Zl", "Zp"} for each in shown)


def test_visible_text_of_a_terminals_own() -> None:
    assert visible("\x1b]0;x\x07", "utf-8", "#") == "#]0;x#"
    assert visible("\u202eabc", "utf-8", "#") == "abc"
    assert visible("é", "ascii", "#") == "\\xe9"
    assert visible("\u200d", "utf-8", "#") == "#"


@given(st.lists(st.text("ab界", max_size=9), max_size=5), st.integers(1, 20))
def test_lines_are_cut_padded_and_flowed(pieces: list[str], width: int) -> None:
    line = tuple(Span(piece, Style.PLAIN) for piece in pieces)
    assert width_of(fitted(line, width)) <= width
    assert width_of(padded(line, width)) >= width
    joined = "".join("".join(s.text for s in each) for each in flowed([(s,) for s in line], 9, ""))
    assert joined == "".join(pieces)


def test_costs_are_rounded_up_and_scores_are_not() -> None:
    assert kapr_text(0.00001, 40, up=True) == "0.0001"
    assert kapr_text(0.00001, 40) == "0.0000"
    assert kapr_text(0.1, 40, up=True) == "0.1000"
    assert kapr_text(0.00001, 123456) == "0.0000100"
