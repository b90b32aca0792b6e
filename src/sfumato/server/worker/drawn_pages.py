"""A worker's page: cells, marks and meters, as templates draw them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from sfumato.core.number_text import percentage, share_text
from sfumato.core.phrases import Figure, Listed, Phrase, gettext, ngettext, spoken
from sfumato.review.pair_view import PairView, Standing
from sfumato.review.review_decisions import Answer, Confidence
from sfumato.review.review_settings import (
    MEANING,
    MODES,
    Cell,
    CellKind,
    Mark,
    Mode,
    Rarity,
    RenderedAttribute,
)
from sfumato.review.worker_state import REFUSED, Charge, Cost, Opening, Refusal, kapr_text

_PATHS = {
    "tick": "M2.5 8.5l3.8 3.8L13.5 4",
    "plus": "M8 2.5v11M2.5 8h11",
    "minus": "M2.5 8h11",
    "unequal": "M2.5 6h11M2.5 10.5h11M11 2.5L5 14",
    "swap": "M2 5h11.5l-3-3M14 11H2.5l3 3",
}
_DRAWN: dict[Mark, tuple[str, str]] = {
    Mark.IDENTICAL: ("tick", ""),
    Mark.DIFFERENT: ("", Phrase("DIFF")),
    Mark.MISSING: ("", Phrase("missing")),
    Mark.INSERTED: ("plus", ""),
    Mark.DELETED: ("minus", ""),
    Mark.SUBSTITUTED: ("unequal", ""),
    Mark.TRANSPOSED: ("swap", ""),
    Mark.DAY_MONTH_SWAP: ("swap", Phrase("day/month")),
    Mark.DAY: ("unequal", Phrase("day")),
    Mark.MONTH: ("unequal", Phrase("month")),
    Mark.YEAR: ("unequal", Phrase("year")),
    Mark.NAME_SWAP: ("swap", Phrase("names")),
}
_BANDS = {
    Rarity.RARE: Phrase("rare"),
    Rarity.UNCOMMON: Phrase("uncommon"),
    Rarity.COMMON: Phrase("common"),
}
_SURE = {
    Confidence.LOW: Phrase("low"),
    Confidence.MEDIUM: Phrase("medium"),
    Confidence.HIGH: Phrase("high"),
}
_BARS = {Rarity.RARE: 1, Rarity.UNCOMMON: 2, Rarity.COMMON: 3}


def draw_mark(mark: Mark) -> SafeString:
    """A mark as it is drawn between the rows."""
    icon, word = _DRAWN[mark]
    return format_html(
        '<span class="mark {}">{}<span aria-hidden="true">{}</span>'
        '<span class="hidden">{}. </span></span>',
        mark.name.lower().replace("_", "-"),
        _svg(icon),
        word,
        MEANING[mark],
    )


def draw_rarity(rarity: Rarity) -> SafeString:
    """How rare a value is: one bar for rare, three for common."""
    bars = mark_safe(  # noqa: S308 - made of numbers
        "".join(
            f'<rect x="{1 + 5 * place}" y="{9 - 4 * place}" width="3.5" height="{5 + 4 * place}"'
            f' class="{"on" if place < _BARS[rarity] else "off"}"/>'
            for place in range(3)
        )
    )
    return format_html(
        '<span class="rarity {}"><svg viewBox="0 0 16 15" aria-hidden="true">{}</svg>'
        '<span class="hidden">{}. </span></span>',
        rarity.value,
        bars,
        Phrase("{band} value", band=_BANDS[rarity]),
    )


def _svg(icon: str) -> SafeString:
    if not icon:
        return SafeString()
    return format_html(
        '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="{}"/></svg>', _PATHS[icon]
    )


_SYMBOL = {CellKind.EQUAL: "*", CellKind.MASKED: "*", CellKind.MISSING: "?"}
_DIFFERING = ("@", "&")
LONG = 24
"""Cells that stand in one line; more may go on in the next."""
_SPOKEN = {
    CellKind.EQUAL: Phrase("equal, hidden"),
    CellKind.DIFFERING: Phrase("different, hidden"),
    CellKind.MASKED: Phrase("hidden"),
}


def draw_row(cells: Sequence[Cell], row: int) -> SafeString:
    """One row of an attribute: the characters and symbols that are seen, and what is read out.

    Parameters
    ----------
    row
        0 for row 1, 1 for row 2.
    """
    drawn, width = "", 0
    for style, symbols in _runs(cells, row):
        text = "".join(symbols)
        # What is hidden is cut, with its length: nothing of it can be compared.
        if len(text) > LONG and not style.startswith(("open", "separator")):
            text = f"{text[:LONG]}…{len(text)}"
        drawn, width = f'{drawn}<i class="{style}">{escape(text)}</i>', width + len(text)
    wide = "seen long" if width > LONG else "seen"
    html = f'<span class="{wide}" aria-hidden="true">{drawn}</span>'
    said = Phrase("Row {number}: {text}.", number=row + 1, text=read_out(cells))
    html += f'<span class="hidden">{escape(said)} </span>'
    return mark_safe(html)  # noqa: S308 - every character is escaped above


def read_out(cells: Sequence[Cell]) -> str:
    """What is read out of a row: characters as they are, the others counted."""
    parts = []
    text = (CellKind.CHARACTER, CellKind.SEPARATOR)
    for shown, run in groupby(cells, key=lambda cell: cell.kind in text or cell.kind):
        group = list(run)
        if shown is True:
            parts.append("".join(cell.text for cell in group))
        elif group[0].kind is CellKind.MISSING:
            parts.append(gettext("missing"))
        else:
            parts.append(f"{len(group)} {_SPOKEN[group[0].kind].said()}")
    return "; ".join(parts)


def _runs(cells: Sequence[Cell], row: int) -> list[tuple[str, list[str]]]:
    runs: list[tuple[str, list[str]]] = []
    for cell in cells:
        style = _style(cell)
        # Differing characters have another sign in either row, as MINDFIRL has them.
        symbol = cell.text or _SYMBOL.get(cell.kind, _DIFFERING[row])
        if runs and runs[-1][0] == style:
            runs[-1][1].append(symbol)
        else:
            runs.append((style, [symbol]))
    return runs


def _style(cell: Cell) -> str:
    if cell.kind is CellKind.CHARACTER:
        return "open edit" if cell.edit else "open"
    return cell.kind.name.lower()


@dataclass(frozen=True)
class Button:
    """Something that can be opened.

    Attributes
    ----------
    value
        What the form sends: places of the attributes, a colon, the mode.
    cost
        In a clerk's words; its KAPR is shown on request.
    number
        Its cost, for the meter's preview, and for the form as the one that was told.
    refused
        Why it would be refused, ``""`` where it would not.
    """

    value: str
    words: str
    cost: str
    kapr: str
    number: str
    refused: str


@dataclass(frozen=True)
class Column:
    """One attribute of a pair.

    Attributes
    ----------
    rows
        Row 1 and row 2.
    marks
        The marks between them, and what these say.
    """

    name: str
    rows: tuple[SafeString, SafeString]
    rarity: tuple[SafeString, SafeString]
    marks: tuple[SafeString, ...]
    meaning: str
    state: str
    buttons: tuple[Button, ...]
    hint: bool


@dataclass(frozen=True)
class Choice:
    """One of the six answers."""

    value: int
    key: int
    word: str
    words: str
    chosen: bool


@dataclass(frozen=True)
class Drawing:
    """A pair as the template draws it.

    Attributes
    ----------
    groups
        What opens several attributes: a name and its buttons.
    choices
        The six answers: those for different, those for same.
    state
        ``"decided"``, ``"skipped"``, ``"undecided"``, or ``"follows"`` from answers to others.
    refused
        Why it may not be shown, ``""`` where it may.
    """

    view: PairView
    columns: tuple[Column, ...]
    groups: tuple[tuple[str, tuple[Button, ...]], ...]
    choices: tuple[tuple[str, tuple[Choice, ...]], ...]
    state: str
    said: str
    refused: str


def draw_pair(view: PairView, standing: Standing, *, exact: bool) -> Drawing:
    """A pair as the template draws it.

    Parameters
    ----------
    exact
        Whether its costs are exact and no bounds.
    """
    buttons = [(cost.opening, _button(cost, standing, exact=exact)) for cost in view.costs]
    answer = Answer(view.answer) if view.answer else None
    state, said = _state(view, answer)
    return Drawing(
        view=view,
        columns=tuple(
            draw_column(attribute, place, buttons, view.hint)
            for place, attribute in enumerate(view.rendered or ())
        ),
        groups=_groups(buttons, len(view.rendered or ())),
        choices=_choices(view.answer),
        state=state,
        said=said,
        refused=REFUSED[view.refused.reason] if view.refused else "",
    )


def _state(view: PairView, answer: Answer | None) -> tuple[str, str]:
    if answer is not None:
        return "decided", answer.words
    if view.skipped:
        return "skipped", Phrase("Skipped")
    return (
        ("follows", Phrase("Follows from others"))
        if view.follows
        else ("undecided", Phrase("Not decided"))
    )


def opening_text(opening: Opening) -> str:
    """What a form sends of an opening: places of the attributes, a colon, the mode."""
    return f"{','.join(map(str, opening.attributes))}:{int(opening.mode)}"


def _button(cost: Cost, standing: Standing, *, exact: bool) -> Button:
    # Rounded up: a cost that is told must never be exceeded.
    text = kapr_text(cost.cost, standing.cells, up=True)
    told = Figure(text)
    return Button(
        value=opening_text(cost.opening),
        words=MODES[cost.opening.mode],
        cost=standing.price(cost.cost),
        kapr=told if exact or not float(text) else Phrase("at most {cost}", cost=told),
        number=text,
        refused="" if cost.refusal is None else REFUSED[cost.refusal.reason],
    )


def draw_column(
    attribute: RenderedAttribute,
    place: int,
    buttons: Sequence[tuple[Opening, Button]] = (),
    hint: Opening | None = None,
) -> Column:
    """An attribute of a pair, with the buttons that open it and nothing else."""
    first, second = (draw_row(cells, row) for row, cells in enumerate(attribute.rows))
    one, two = (draw_rarity(each) if each else SafeString() for each in attribute.rarity)
    return Column(
        name=attribute.name.replace("_", " "),
        rows=(first, second),
        rarity=(one, two),
        marks=tuple(draw_mark(mark) for mark in attribute.marks),
        meaning=Listed(MEANING[mark] for mark in attribute.marks),
        state=attribute.mode.name.lower(),
        # Openings of several attributes stand together below the pair.
        buttons=tuple(button for opening, button in buttons if opening.attributes == (place,)),
        hint=hint is not None and hint.attributes == (place,),
    )


def _groups(
    buttons: Sequence[tuple[Opening, Button]], attributes: int
) -> tuple[tuple[str, tuple[Button, ...]], ...]:
    """The openings of several attributes: of the names first, of everything last."""
    several = [(opening, button) for opening, button in buttons if len(opening.attributes) > 1]
    by_mode: dict[Mode, list[Button]] = {}
    for opening, button in several:
        by_mode.setdefault(opening.mode, []).append(button)
    names = tuple(each[0] for _, each in sorted(by_mode.items()) if len(each) > 1)
    everything = tuple(each[-1] for _, each in sorted(by_mode.items()))
    found = ((Phrase("Names"), names), (Phrase("Everything"), everything))
    return tuple((name, each) for name, each in found if each and attributes)


def _choices(chosen: int) -> tuple[tuple[str, tuple[Choice, ...]], ...]:
    each = [
        Choice(answer.value, key, _SURE[answer.confidence], answer.words, answer.value == chosen)
        for key, answer in enumerate(sorted(Answer), 1)
    ]
    return (Phrase("Different"), tuple(each[:3])), (Phrase("Same"), tuple(each[3:]))


_STEPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
WIDTH = 1000
"""Width of a meter in its own units."""


@dataclass(frozen=True)
class Meter:
    """A meter.

    Attributes
    ----------
    filled
        How far it is filled, of `WIDTH`.
    limit
        Where its limit is marked, ``None`` without one.
    kapr
        Its numbers, shown on request.
    """

    name: str
    text: str
    filled: int
    limit: int | None
    value: str
    top: str
    kapr: str = ""


def meters(standing: Standing) -> tuple[Meter, ...]:
    """The meters of a worker."""
    return (_disclosure(standing), _characters(standing), _progress(standing))


def _disclosure(standing: Standing) -> Meter:
    spent, budget = standing.spent, standing.budget
    told = Figure(kapr_text(spent, standing.cells))
    text: str = Phrase("no limit")
    if budget is None:
        # Without a limit the scale grows in steps: it must not move with every click.
        top = next((step for step in _STEPS if step >= 1.5 * spent), max(1.0, spent))
        kapr = Phrase("KAPR {spent}", spent=told)
    else:
        # A little beyond the limit, so that its mark is seen, and whatever a lowered budget left.
        top = max(1.15 * budget, spent) or 1.0
        text = share_text(spent / budget if budget else 1.0)
        kapr = Phrase(
            "KAPR {spent} of {budget}, {left} left",
            spent=told,
            budget=Figure(kapr_text(budget, standing.cells)),
            left=Figure(kapr_text(standing.left or 0.0, standing.cells)),
        )
    return Meter(
        name=Phrase("Budget spent"),
        text=text,
        filled=round(WIDTH * min(1.0, spent / top)),
        limit=None if budget is None else round(WIDTH * budget / top),
        value=str(told),
        top=repr(top),
        kapr=kapr,
    )


def _characters(standing: Standing) -> Meter:
    share = standing.characters
    return Meter(
        Phrase("Characters opened"),
        percentage(share),
        round(WIDTH * share),
        None,
        f"{share:.4f}",
        "1",
    )


def _progress(standing: Standing) -> Meter:
    done, pairs = standing.decided, standing.pairs
    parts = [Phrase("{done} of {pairs} decided", done=done, pairs=pairs)]
    if standing.skipped:
        parts.append(Phrase("{number} skipped", number=standing.skipped))
    if standing.flagged:
        parts.append(Phrase("{number} flagged", number=standing.flagged))
    filled = round(WIDTH * done / pairs) if pairs else 0
    return Meter(Phrase("Progress"), Listed(parts), filled, None, str(done), str(pairs))


_SCRIPT = {
    "notSaved": Phrase("not saved"),
    "saving": Phrase("saving"),
    "notSavedYet": Phrase("not saved yet"),
    "refused": Phrase("refused"),
    "leaving": Phrase("What was done on this page is being saved; then the page opens."),
    "noPage": Phrase("This did not work. Load the page again."),
    "skipped": Phrase("Skipped"),
    "undecided": Phrase("Not decided"),
    "loggedOut": Phrase("You are logged out"),
    "noAnswer": Phrase("The server cannot answer"),
    "noServer": Phrase("The server cannot be reached"),
    "opened": Phrase("opened. Budget spent"),
    "noted": Phrase("the note is saved"),
    "flagged": Phrase("flagged"),
    "unflagged": Phrase("the flag is removed"),
    "notOpened": Phrase("not opened"),
    "discard": Phrase("Discard"),
    "beingSaved": Phrase("It is being saved."),
    "pageDone": Phrase("All pairs of this page are done. n goes to the next page."),
    "allDone": Phrase("All pairs are done."),
    "notNow": Phrase("this cannot be done with it now."),
    "undo": Phrase("Undo"),
}
"""What the page's own script says, by its names there."""


def legend() -> dict[str, Any]:
    """What the help of a page explains, marks and bands of rarity, and what its script says."""
    return {
        "legend": [(draw_mark(mark), MEANING[mark]) for mark in Mark],
        "bands": [(draw_rarity(band), words.said()) for band, words in _BANDS.items()],
        "words": json.dumps({name: words.said() for name, words in _SCRIPT.items()}),
    }


FRAGMENTS = Path(__file__).resolve().parent.parent / "pages" / "fragments"


def why_not(outcome: Charge | Refusal | None, *, repriced: bool = False) -> str:
    """Why nothing was opened, in a worker's words; ``""`` where something was.

    Parameters
    ----------
    repriced
        Whether it would cost more than was told.
    """
    if repriced:
        return Phrase("it costs more now; its cost is shown anew")
    return REFUSED[outcome.reason] if isinstance(outcome, Refusal) else ""


def draw_form(
    drawing: Drawing,
    address: str,
    csrf: str,
    page: int | None = None,
    reasons: Sequence[tuple[str, str]] = (),
) -> SafeString:
    """A pair with its buttons.

    Parameters
    ----------
    page
        Number of the page, for a browser that runs no script.
    reasons
        For which it can be flagged, by the names that the form sends; a note takes their place
        where there are none.
    """
    html = _template("pair.html").render(
        pair=drawing, address=address, csrf=csrf, page=page, reasons=reasons
    )
    return mark_safe(html)  # noqa: S308 - the template escapes


def meters_fragment(meters: Sequence[Meter]) -> SafeString:
    """The meters on top of a page."""
    html = _template("meters.html").render(meters=meters)
    return mark_safe(html)  # noqa: S308 - the template escapes


def body_of(
    drawing: Drawing, pair: str, others: Mapping[str, str], standing: Standing, refused: str
) -> dict[str, Any]:
    """The answer to a page's own script: the pair, those that it changes, and the meters.

    Parameters
    ----------
    pair, others
        As they are drawn, the others by their tokens.
    refused
        Why nothing was opened; ``""`` where something was.
    """
    return {
        "ok": True,
        "token": drawing.view.token,
        "pair": pair,
        "others": others,
        "standing": meters_fragment(meters(standing)),
        "decided": drawing.state == "decided",
        "said": spoken(drawing.said),
        "refused": spoken(refused),
    }


@cache
def _template(name: str) -> Template:
    """A template, compiled once; Django's own are worked through node by node each time."""
    environment = Environment(
        loader=FileSystemLoader(FRAGMENTS),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        extensions=["jinja2.ext.i18n"],
    )
    environment.install_gettext_callables(  # type: ignore[attr-defined]  # of the extension
        gettext, ngettext, newstyle=True
    )
    environment.filters["begin"] = _begin
    return environment.get_template(name)


def _begin(text: str) -> str:
    """A text as a sentence begins."""
    text = str(spoken(text))
    return text[:1].upper() + text[1:]
