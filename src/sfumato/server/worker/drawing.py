"""A pair and its worker's standing, drawn for the templates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from django.utils.safestring import SafeString

from sfumato.review.review_decisions import Answer
from sfumato.review.review_settings import Mode, RenderedAttribute
from sfumato.review.worker_state import Cost, Opening, Reason
from sfumato.server.live.page import PairView, Standing
from sfumato.server.worker.cells import draw_row
from sfumato.server.worker.marks import MEANING, draw_mark, draw_rarity

WORDS = {Mode.PARTIAL: "partly", Mode.FULL: "in full"}
REFUSED = {
    Reason.BUDGET: "more than your budget holds",
    Reason.PROJECT_BUDGET: "more than the project's budget holds",
    Reason.FLOOR: "it could tell the person apart too well",
}
"""Why something is refused, in a worker's words."""


@dataclass(frozen=True)
class Button:
    """Something that can be opened.

    Attributes
    ----------
    value
        What the form sends: places of the attributes, a colon, the mode.
    words
        How much it opens.
    cost
        Its cost, as text.
    number
        Its cost, for the meter's preview, and for the form as the one that was told.
    refused
        Why it would be refused, ``""`` where it would not.
    """

    value: str
    words: str
    cost: str
    number: str
    refused: str


@dataclass(frozen=True)
class Column:
    """One attribute of a pair.

    Attributes
    ----------
    name
        The attribute.
    rows
        Row 1 and row 2.
    rarity
        How rare their values are.
    marks
        The marks between them, and what these say.
    meaning
        What the marks say.
    state
        How much shows.
    buttons
        What more can be opened.
    hint
        Whether it is the one to open next.
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
    """One of the six answers.

    Attributes
    ----------
    value, key
        The answer, and the key that gives it.
    word, words
        Its confidence, and all of it.
    chosen
        Whether it is the decision.
    """

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
    view
        The pair.
    columns
        Its attributes.
    groups
        What opens several attributes: a name and its buttons.
    choices
        The six answers: those for different, those for same.
    state
        ``"decided"``, ``"skipped"`` or ``"undecided"``.
    said
        The same in words.
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
    view
        The pair.
    standing
        How its worker stands.
    exact
        Whether its costs are exact and no bounds.
    """
    buttons = [(each.opening, _button(each, standing, exact=exact)) for each in view.costs]
    answer = Answer(view.answer) if view.answer else None
    return Drawing(
        view=view,
        columns=tuple(
            _column(attribute, place, buttons, view.hint)
            for place, attribute in enumerate(view.rendered or ())
        ),
        groups=_groups(buttons, len(view.rendered or ())),
        choices=_choices(view.answer),
        state="decided" if answer else "skipped" if view.skipped else "undecided",
        said=answer.words if answer else "Skipped" if view.skipped else "Not decided",
        refused=REFUSED[view.refused.reason] if view.refused else "",
    )


def kapr(value: float, standing: Standing, *, up: bool = False) -> str:
    """KAPR as text, with as many decimals as one cell needs.

    Parameters
    ----------
    value
        The KAPR.
    standing
        How the worker stands.
    up
        Whether it is rounded up, as a bound must be.
    """
    digits = max(4, len(str(standing.cells)) + 1)
    step = Decimal(1).scaleb(-digits)
    number = Decimal(repr(value))
    if up:
        # A cost that is a whole number of steps is not taken up by the last bit of its float.
        number = (number - Decimal("1e-15")).max(Decimal(0))
        return str(number.quantize(step, rounding=ROUND_CEILING))
    return str(number.quantize(step))


def _button(cost: Cost, standing: Standing, *, exact: bool) -> Button:
    text = kapr(cost.cost, standing, up=True)
    return Button(
        value=f"{','.join(map(str, cost.opening.attributes))}:{int(cost.opening.mode)}",
        words=WORDS[cost.opening.mode],
        cost=text if exact or not float(text) else f"at most {text}",
        number=text,
        refused="" if cost.refusal is None else REFUSED[cost.refusal.reason],
    )


def _column(
    attribute: RenderedAttribute,
    place: int,
    buttons: Sequence[tuple[Opening, Button]],
    hint: Opening | None,
) -> Column:
    first, second = (draw_row(cells, row) for row, cells in enumerate(attribute.rows))
    one, two = (draw_rarity(each) if each else SafeString() for each in attribute.rarity)
    return Column(
        name=attribute.name.replace("_", " "),
        rows=(first, second),
        rarity=(one, two),
        marks=tuple(draw_mark(mark) for mark in attribute.marks),
        meaning=", ".join(MEANING[mark] for mark in attribute.marks),
        state=attribute.mode.name.lower(),
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
    found = (("Names", names), ("Everything", everything))
    return tuple((name, each) for name, each in found if each and attributes)


def _choices(chosen: int) -> tuple[tuple[str, tuple[Choice, ...]], ...]:
    each = [
        Choice(
            answer.value, key, answer.confidence.name.lower(), answer.words, answer.value == chosen
        )
        for key, answer in enumerate(sorted(Answer), 1)
    ]
    return ("Different", tuple(each[:3])), ("Same", tuple(each[3:]))
