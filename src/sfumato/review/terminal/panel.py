"""The lower part of the screen: the selected cell, what can be opened, the six answers."""

from __future__ import annotations

from sfumato.review.decisions.answers import Answer
from sfumato.review.decisions.events import FlagReason
from sfumato.review.modes import Mode
from sfumato.review.state.opening import Cost
from sfumato.review.terminal.choices import of_cell, of_everything, of_names
from sfumato.review.terminal.look import Look
from sfumato.review.terminal.numbers import kapr_text
from sfumato.review.terminal.signs import MEANING, MODES, REFUSED
from sfumato.review.terminal.styled import EMPTY, Line, Span, Style, flowed
from sfumato.review.terminal.view import Message, Tone, View
from sfumato.review.terminal.visible import visible

COST_LINES = 2
"""Lines for what can be opened."""
_TONES = {Tone.PLAIN: Style.PLAIN, Tone.GOOD: Style.STRONG, Tone.BAD: Style.REFUSED}


def draw_selected(view: View, selected: int, look: Look) -> Line:
    """What shows of the selected attribute, in words.

    Parameters
    ----------
    view
        The pair.
    selected
        Place of the attribute.
    look
        The terminal.
    """
    if view.rendered is None:
        return EMPTY
    attribute = view.rendered[selected]
    name = visible(attribute.name.replace("_", " "), look.encoding, look.signs.unknown)
    said = [MODES[attribute.mode], *(MEANING[mark] for mark in attribute.marks)]
    one, two = attribute.rarity
    if one is not None and one is two:
        said.append(f"both {one.value}")
    elif one is not None or two is not None:
        rows = [f"row {row} {band.value}" for row, band in ((1, one), (2, two)) if band is not None]
        said.append(", ".join(rows))
    if not attribute.more:
        said.append("no more to open")
    dot = f" {look.signs.dot} "
    refused = [
        f"{dot}{REFUSED[cost.refusal.reason]}"
        for cost in view.costs
        if cost.refusal is not None and cost.opening.attributes == (selected,)
    ]
    return (
        Span(f" {name}  ", Style.STRONG),
        Span(said[0], Style.QUIET),
        *(Span(why, Style.REFUSED) for why in refused[:1]),
        Span("".join(f"{dot}{words}" for words in said[1:]), Style.QUIET),
    )


def draw_costs(view: View, selected: int, look: Look) -> tuple[Line, ...]:
    """What each key would open, and what it would cost at most; two lines.

    Parameters
    ----------
    view
        The pair.
    selected
        Place of the selected attribute.
    look
        The terminal.
    """
    head = "KAPR" if view.standing.exact else "KAPR at most"
    offers: tuple[tuple[str, str, Cost | None], ...] = (
        ("p", "partly", of_cell(view, selected, Mode.PARTIAL)),
        ("o", "in full", of_cell(view, selected, Mode.FULL)),
        ("N", "name", of_names(view)),
        ("a", "all partly", of_everything(view, Mode.PARTIAL)),
        ("A", "all in full", of_everything(view, Mode.FULL)),
    )
    items = [_offer(key, words, cost, view) for key, words, cost in offers if cost is not None]
    if not items:
        return (EMPTY,) * COST_LINES
    first: Line = (Span(f" {head}: ", Style.QUIET), *items[0])
    lines = flowed([first, *items[1:]], look.width - 1, "  ")
    indented = [line if number == 0 else (Span("   "), *line) for number, line in enumerate(lines)]
    return (*indented, *(EMPTY,) * COST_LINES)[:COST_LINES]


def _offer(key: str, words: str, cost: Cost, view: View) -> Line:
    if key == "N":
        words = f"name {MODES[cost.opening.mode]}"
    text = kapr_text(cost.cost, view.standing.cells, up=True)
    if cost.refusal is not None:
        return (Span(f"{key} {words} ", Style.QUIET), Span(f"{text} refused", Style.REFUSED))
    return (Span(key, Style.KEY), Span(f" {words} "), Span(text, Style.STRONG))


def draw_answers(view: View) -> Line:
    """The six answers with their keys, the chosen one marked.

    Parameters
    ----------
    view
        The pair.
    """
    line: list[Span] = []
    for number, answer in enumerate(sorted(Answer), 1):
        if number in {1, 4}:
            side = "Same" if answer.same else "Different"
            line.append(Span(f"{'    ' if number == 4 else ' '}{side}:", Style.QUIET))
        word = answer.confidence.name.lower()
        if view.answer is answer:
            line += [Span(" "), Span(f" {number} {word} ", Style.CHOSEN)]
        else:
            line += [Span(" "), Span(f" {number}", Style.KEY), Span(f" {word} ")]
    return tuple(line)


def draw_said(view: View, message: Message, look: Look) -> Line:
    """What is said of the last key, or what holds of the pair.

    Parameters
    ----------
    view
        The pair.
    message
        What is said.
    look
        The terminal.
    """
    if message.text:
        return (Span(f" {message.text}", _TONES[message.tone]),)
    held = [view.answer.words] if view.answer is not None else []
    held += ["skipped"] if view.skipped else []
    held += [f"flagged: {view.flag.value}"] if view.flag is not None else []
    return (Span(f" {f' {look.signs.dot} '.join(held) or 'Not decided'}", Style.QUIET),)


def draw_reasons(look: Look) -> tuple[Line, Line]:
    """The reasons for which a pair is flagged, with their keys; two lines.

    Parameters
    ----------
    look
        The terminal.
    """
    reasons: list[Line] = [
        (Span(f"{number}", Style.KEY), Span(f" {reason.value}"))
        for number, reason in enumerate(FlagReason, 1)
    ]
    items = [(Span(" Why?", Style.STRONG),), *reasons, (Span("other keys: no flag", Style.QUIET),)]
    one, two, *_ = (*flowed(items, look.width - 2, "  "), EMPTY)
    return one, (Span(" "), *two)
