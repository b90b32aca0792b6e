"""The screen of a review in the terminal: bands, panel, meter and legend."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import chain, zip_longest

from sfumato.review.review_decisions import Answer, FlagReason
from sfumato.review.review_settings import MEANING, MODES, Mark, Mode, Rarity, RenderedPair
from sfumato.review.terminal_session import Message, Standing, Tone, View
from sfumato.review.terminal_text import (
    EMPTY,
    LEAST_HEIGHT,
    LEAST_WIDTH,
    Block,
    Line,
    Look,
    Span,
    Style,
    draw_block,
    fitted,
    flowed,
    padded,
    visible,
    width_of,
)
from sfumato.review.worker_state import REFUSED, Cost, Opening, kapr_text

GUTTER = 3
"""Columns before the blocks, where the number of the row stands."""
GAP = 3
"""Columns between two blocks."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a block stands.

    Attributes
    ----------
    band
        Its band, from 0.
    left
        Its first column.
    """

    band: int
    left: int
    block: Block


class Direction(Enum):
    """Where an arrow points."""

    LEFT = "left"
    RIGHT = "right"
    UP = "up"
    DOWN = "down"


def place_blocks(
    rendered: RenderedPair, look: Look, selected: int, hinted: int | None
) -> tuple[Placed, ...]:
    """Each attribute of a pair at its place.

    Parameters
    ----------
    rendered
        The pair as it may be shown.
    """
    room = look.width - GUTTER
    placed: list[Placed] = []
    band, left = 0, GUTTER
    for number, attribute in enumerate(rendered):
        block = draw_block(
            attribute, look, room, selected=number == selected, hinted=number == hinted
        )
        # The first block of a band stays even where it is too wide: a new band has no more room.
        if left > GUTTER and left + block.width > look.width:
            band, left = band + 1, GUTTER
        placed.append(Placed(band, left, block))
        left += block.width + GAP
    return tuple(placed)


def height_of(placed: Sequence[Placed]) -> int:
    """Lines that the blocks take, one empty one between two bands."""
    heights = [0] * (placed[-1].band + 1)
    for each in placed:
        heights[each.band] = max(heights[each.band], len(each.block.lines))
    return sum(heights) + len(heights) - 1


def draw_bands(placed: Sequence[Placed], height: int, selected: int, look: Look) -> list[Line]:
    """The lines of the bands that fit, the selected block's among them."""
    last = placed[-1].band
    bands = [_band([each for each in placed if each.band == n]) for n in range(last + 1)]
    loose = height_of(placed) <= height
    starts, lines = [], list[Line]()
    # A line below the meters is spent only where nothing else needs it.
    if height_of(placed) + 1 < height:
        lines.append(EMPTY)
    for number, band in enumerate(bands):
        starts.append(len(lines))
        lines += [*band, EMPTY] if loose and number < last else band
    if len(lines) <= height:
        return lines + [EMPTY] * (height - len(lines))
    of_selected = placed[selected].band
    # The least scrolling that shows the whole band of the selected block, or its beginning.
    first = min(starts[of_selected], max(0, starts[of_selected] + len(bands[of_selected]) - height))
    shown = lines[first : first + height]
    above, below = first > 0, first + height < len(lines)
    for place, more, sign in ((0, above, look.signs.up), (-1, below, look.signs.down)):
        if more:
            line = padded(fitted(shown[place], look.width - 1, more=""), look.width - 1)
            shown[place] = (*line, Span(sign, Style.HINT))
    return shown


def neighbour(placed: Sequence[Placed], selected: int, direction: Direction) -> int:
    """The attribute that an arrow leads to; the same one where there is none."""
    if direction is Direction.LEFT:
        return max(0, selected - 1)
    if direction is Direction.RIGHT:
        return min(len(placed) - 1, selected + 1)
    from_here = placed[selected]
    band = from_here.band + (1 if direction is Direction.DOWN else -1)
    on_band = [number for number, each in enumerate(placed) if each.band == band]
    # The nearest column, so that up and down lead back to where one came from.
    return min(
        on_band, key=lambda number: abs(placed[number].left - from_here.left), default=selected
    )


def _band(placed: Sequence[Placed]) -> list[Line]:
    height = max(len(each.block.lines) for each in placed)
    # Below its name a block has three lines for each part: row 1, the marks, row 2.
    numbers = {1: "1", 0: "2"}
    lines = []
    for number in range(height):
        row = numbers.get(number % 3, " ") if number else " "
        line: Line = (Span(f" {row} ", Style.QUIET),)
        for each in placed:
            cells = each.block.lines[number] if number < len(each.block.lines) else EMPTY
            line = tuple(chain(padded(line, each.left), cells))
        lines.append(line)
    return lines


def of_cell(view: View, place: int, mode: Mode) -> Cost | None:
    """The opening of one attribute in a mode, where there is one."""
    return next((cost for cost in view.costs if cost.opening == Opening((place,), mode)), None)


def next_of_cell(view: View, place: int) -> Cost | None:
    """The opening of one attribute that shows the least more, where there is one."""
    # Partly first: minimum disclosure opens no more than what may be needed.
    return of_cell(view, place, Mode.PARTIAL) or of_cell(view, place, Mode.FULL)


def of_names(view: View) -> Cost | None:
    """The opening of the name that shows the least more, where there is one."""
    if view.names is None:
        return None
    names = set(view.names)
    of_both = [cost for cost in view.costs if set(cost.opening.attributes) <= names]
    for mode in (Mode.PARTIAL, Mode.FULL):
        widest = _widest(each for each in of_both if each.opening.mode is mode)
        if widest is not None:
            return widest
    return None


def of_everything(view: View, mode: Mode) -> Cost | None:
    """The opening of all attributes in a mode, where there is one."""
    return _widest(cost for cost in view.costs if cost.opening.mode is mode)


def _widest(costs: Iterable[Cost]) -> Cost | None:
    return max(costs, key=lambda each: len(each.opening.attributes), default=None)


KEYS = (
    ("arrows, Tab", "select an attribute"),
    ("Enter", "open more of it"),
    ("p   o", "open it partly, in full"),
    ("N", "open more of the name"),
    ("a   A", "open all partly, in full"),
    ("1 2 3", "different: high, medium, low"),
    ("4 5 6", "same: low, medium, high"),
    ("s", "put the pair off"),
    ("f", "flag it, or take the flag off"),
    ("u", "take the last answer back"),
    ("n   b", "next, previous pair"),
    ("g", "next undecided pair"),
    ("h", "hint: what to open next"),
    ("q", "save and leave"),
)
"""The keys, and what each does."""
LEFT = 43
"""Columns of the keys."""
_EDITS = (Mark.INSERTED, Mark.DELETED, Mark.SUBSTITUTED, Mark.TRANSPOSED)
_TEXT = (
    "KAPR says how far what shows narrows down who the people are: 0 for nothing,",
    "1 for all. A cost is the most that an opening can add to it. What is opened",
    "stays open and paid for. Every key is saved before the next screen.",
)


def draw_legend(look: Look) -> tuple[Line, ...]:
    """The help, as many lines as the terminal has."""
    lines: list[Line] = [
        (Span(f" sfumato review {look.signs.dot} help".ljust(look.width), Style.TITLE),),
        EMPTY,
    ]
    keys = [(Span(f" {key:<12}", Style.KEY), Span(words)) for key, words in KEYS]
    for one, two in zip_longest(keys, _signs(look), fillvalue=EMPTY):
        lines.append((*padded(one, LEFT), *two))
    lines += [EMPTY, *((Span(f" {text}", Style.QUIET),) for text in _TEXT)]
    lines = [fitted(line, look.width, more=look.signs.more) for line in lines][: look.height - 1]
    lines += [EMPTY] * (look.height - 1 - len(lines))
    last: Line = (Span(" any key", Style.KEY), Span(" goes back", Style.QUIET))
    return (*lines, fitted(last, look.width, more=look.signs.more))


def short_legend(look: Look) -> tuple[Line, ...]:
    """What the signs mean, in a few lines."""
    signs = look.signs
    rows = [
        ("*", Style.MASKED, "masked"),
        ("@ &", Style.DIFFERING, "masked, only in row 1, 2"),
        ("?", Style.MASKED, "no value"),
        *((signs.marks[mark], Style.MARK, MEANING[mark]) for mark in (Mark.IDENTICAL, *_EDITS)),
        *((signs.rarity[band].strip(), Style.RARITY, band.value) for band in Rarity),
        *((signs.modes[mode], Style.QUIET, MODES[mode]) for mode in Mode),
    ]
    items = [(Span(sign, style), Span(f" {words}", Style.QUIET)) for sign, style, words in rows]
    return tuple((Span(" "), *line) for line in flowed(items, look.width - 2, "   "))


def _signs(look: Look) -> list[Line]:
    signs = look.signs
    rows: list[tuple[str, Style, str]] = [
        ("*", Style.MASKED, "masked character"),
        ("@ &", Style.DIFFERING, "masked, only in row 1, row 2"),
        ("?", Style.MASKED, "no value"),
    ]
    shown = (Mark.IDENTICAL, Mark.DIFFERENT, *_EDITS)
    rows += [(signs.marks[mark], Style.MARK, MEANING[mark]) for mark in shown]
    rows += [(signs.rarity[band], Style.RARITY, f"{band.value} value") for band in Rarity]
    modes = ", ".join(f"{signs.modes[mode]} {MODES[mode]}" for mode in Mode)
    lines: list[Line] = [(Span(f"{sign:<8}", style), Span(words)) for sign, style, words in rows]
    return [*lines, (Span(modes),), (Span(f"{signs.hint:<8}", Style.HINT), Span("the hint"))]


BAR, LABEL = 24, 13
"""Columns of a bar, and of what stands before it."""


def draw_meters(standing: Standing, following: float, look: Look) -> tuple[Line, Line, Line]:
    """Three lines: KAPR, characters, progress.

    Parameters
    ----------
    following
        What the next opening of the selected cell would add to KAPR at most.
    """
    limit, cells, dot = standing.limit, standing.cells, f" {look.signs.dot} "
    of = "no limit" if limit is None else f"limit {kapr_text(limit, cells)}"
    aside = [f"{standing.skipped:,} skipped"] if standing.skipped else []
    aside += [f"{standing.flagged:,} flagged"] if standing.flagged else []
    return (
        (
            # Without a limit the whole is 1, the KAPR of everything shown (001, Property 4.3).
            *_bar("KAPR", standing.score, following, 1.0 if limit is None else limit, look),
            Span(f" {kapr_text(standing.score, cells)}", Style.STRONG),
            Span(f"{dot}{of}", Style.QUIET),
        ),
        (
            *_bar("Characters", standing.characters, 0.0, 1.0, look),
            Span(f" {100 * standing.characters:.1f} %", Style.STRONG),
        ),
        (
            *_bar("Progress", standing.decided, 0.0, standing.pairs, look),
            Span(f" {standing.decided:,} of {standing.pairs:,}", Style.STRONG),
            Span(dot.join([" decided", *aside]), Style.QUIET),
        ),
    )


def _bar(label: str, share: float, more: float, whole: float, look: Look) -> Line:
    signs = look.signs
    spent = _columns(share, whole)
    # However small, a cost shows as a column, or it would look free.
    following = max(_columns(share + more, whole), spent + 1 if more > 0 else spent) - spent
    following = min(following, BAR - spent)
    return (
        Span(f" {label:<{LABEL - 1}}", Style.QUIET),
        Span(signs.spent * spent, Style.SPENT),
        Span(signs.next * following, Style.NEXT),
        Span(signs.left * (BAR - spent - following), Style.LEFT),
        Span(signs.limit, Style.QUIET),
    )


def _columns(share: float, whole: float) -> int:
    if share <= 0:
        return 0
    # Rounded down, so that a bar is full at the limit only; what was spent always shows.
    return BAR if share >= whole else max(1, int(BAR * share / whole))


# As many on every screen, so that nothing below them moves when another cell is selected.
COST_LINES = 2
"""Lines for what can be opened."""
_TONES = {Tone.PLAIN: Style.PLAIN, Tone.GOOD: Style.STRONG, Tone.BAD: Style.REFUSED}


def draw_selected(view: View, selected: int, look: Look) -> Line:
    """What shows of the selected attribute, in words."""
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
    """What each key would open, and what it would cost at most; two lines."""
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
    # Rounded up, since it is said to be the most that an opening costs.
    text = kapr_text(cost.cost, view.standing.cells, up=True)
    if cost.refusal is not None:
        return (Span(f"{key} {words} ", Style.QUIET), Span(f"{text} refused", Style.REFUSED))
    return (Span(key, Style.KEY), Span(f" {words} "), Span(text, Style.STRONG))


def draw_answers(view: View) -> Line:
    """The six answers with their keys, the chosen one marked."""
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
    """What is said of the last key, or what holds of the pair."""
    if message.text:
        return (Span(f" {message.text}", _TONES[message.tone]),)
    held = [view.answer.words] if view.answer is not None else []
    held += ["skipped"] if view.skipped else []
    held += [f"flagged: {view.flag.value}"] if view.flag is not None else []
    return (Span(f" {f' {look.signs.dot} '.join(held) or 'Not decided'}", Style.QUIET),)


def draw_reasons(look: Look) -> tuple[Line, Line]:
    """The reasons for which a pair is flagged, with their keys; two lines."""
    reasons: list[Line] = [
        (Span(f"{number}", Style.KEY), Span(f" {reason.value}"))
        for number, reason in enumerate(FlagReason, 1)
    ]
    items = [(Span(" Why?", Style.STRONG),), *reasons, (Span("other keys: no flag", Style.QUIET),)]
    one, two, *_ = (*flowed(items, look.width - 2, "  "), EMPTY)
    return one, (Span(" "), *two)


_KEYS = (
    ("Enter", "more"),
    ("s", "skip"),
    ("f", "flag"),
    ("u", "undo"),
    ("n b", "pair"),
    ("g", "undecided"),
    ("?", "help"),
    ("q", "leave"),
)
"""The keys at the foot; the help has all."""


def draw_screen(
    view: View, look: Look, selected: int, message: Message, *, flagging: bool = False
) -> tuple[Line, ...]:
    """A pair with its costs, meters and keys.

    Parameters
    ----------
    message
        What is said of the last key.
    """
    if not look.large_enough:
        return draw_too_small(look)
    hinted = None if view.hint is None else view.hint.attributes[0]
    following = None if view.rendered is None else next_of_cell(view, selected)
    rule = (Span(look.signs.rule * look.width, Style.RULE),)
    head = (
        _title(view, look),
        *draw_meters(view.standing, 0.0 if following is None else following.cost, look),
        rule,
    )
    foot = (
        rule,
        draw_selected(view, selected, look),
        *draw_costs(view, selected, look),
        *(draw_reasons(look) if flagging else (draw_answers(view), draw_said(view, message, look))),
        _keys(look),
    )
    room = look.height - len(head) - len(foot)
    if view.rendered is None:
        body = _refused(view, room)
    else:
        placed = place_blocks(view.rendered, look, selected, hinted)
        legend = short_legend(look)
        # Only where there is room to spare: a pair that scrolls for a legend is read less well.
        explained = room >= height_of(placed) + len(legend) + 3
        lines = draw_bands(placed, room - (len(legend) if explained else 0), selected, look)
        body = [*lines, *legend] if explained else lines
    return tuple(fitted(line, look.width, more=look.signs.more) for line in (*head, *body, *foot))


def draw_too_small(look: Look) -> tuple[Line, ...]:
    """What a terminal shows that is too small for a pair; nothing of the data."""
    text = f"Make the window larger: {LEAST_WIDTH} columns and {LEAST_HEIGHT} lines at least."
    lines: list[Line] = [(Span(text[: look.width]),)]
    return tuple(lines + [EMPTY] * (look.height - 1))


def _title(view: View, look: Look) -> Line:
    left = f" sfumato review {look.signs.dot} {view.standing.worker}"
    right = f"pair {view.place} of {view.standing.pairs} "
    if view.in_cluster is not None:
        right = (
            f"cluster, pair {view.in_cluster[0]} of {view.in_cluster[1]} {look.signs.dot} {right}"
        )
    line = padded((Span(left, Style.TITLE),), look.width - len(right))
    spaces = look.width - len(right) - width_of(line[:1])
    return (line[0], Span(" " * max(spaces, 1), Style.TITLE), Span(right, Style.TITLE))


def _keys(look: Look) -> Line:
    line: list[Span] = []
    for key, words in _KEYS:
        item = (Span(" "), Span(key, Style.KEY), Span(f" {words} ", Style.QUIET))
        # A key that does not fit is left out whole, since the help has all.
        if width_of((*line, *item)) <= look.width:
            line += item
    return tuple(line)


def _refused(view: View, room: int) -> list[Line]:
    why = "" if view.refused is None else f": {REFUSED[view.refused.reason]}"
    said: list[Line] = [EMPTY, (Span(f"   This pair may not be shown{why}.", Style.REFUSED),)]
    return (said + [EMPTY] * room)[:room]
