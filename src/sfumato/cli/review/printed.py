"""Lines of styled text on a terminal's alternate screen, which leaves nothing behind."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import FrameType

from rich.console import Console
from rich.control import Control
from rich.segment import ControlType
from rich.text import Text

from sfumato.review.terminal.look import Look
from sfumato.review.terminal.styled import Line, Style

STYLES: Mapping[Style, str] = {
    Style.PLAIN: "",
    Style.QUIET: "dim",
    Style.STRONG: "bold",
    Style.TITLE: "bold reverse",
    Style.RULE: "dim",
    Style.HEADING: "underline",
    Style.SELECTED: "bold reverse",
    Style.MASKED: "dim",
    Style.DIFFERING: "bold magenta",
    Style.DISCLOSED: "bold",
    Style.DISCLOSED_DIFFERING: "bold underline magenta",
    Style.MARK: "cyan",
    Style.RARITY: "yellow",
    Style.KEY: "bold cyan",
    Style.CHOSEN: "bold reverse green",
    Style.REFUSED: "red",
    Style.HINT: "bold yellow",
    Style.SPENT: "blue",
    Style.NEXT: "yellow",
    Style.LEFT: "dim",
}
"""How each style looks; by the terminal's own colours."""
_PASTE_ON, _PASTE_OFF = "\x1b[?2004h", "\x1b[?2004l"
_ENDS = ("SIGTERM", "SIGHUP")


def text_of(line: Line) -> Text:
    """A line as rich prints it.

    Parameters
    ----------
    line
        The line.
    """
    text = Text(no_wrap=True, overflow="crop", end="")
    for piece, style in line:
        text.append(piece, STYLES[style])
    return text


def look_of(console: Console) -> Look:
    """What a terminal is like now.

    Parameters
    ----------
    console
        The terminal.
    """
    return Look(console.width, console.height, console.encoding)


def draw(console: Console, lines: Sequence[Line]) -> None:
    """Draw a screen over the one before.

    Parameters
    ----------
    console
        The terminal.
    lines
        The lines, no more than it has.
    """
    parts: list[Control | Text] = []
    for number, line in enumerate(lines):
        parts += [
            Control.move_to(0, number),
            Control((ControlType.ERASE_IN_LINE, 2)),
            text_of(line),
        ]
    console.print(*parts, sep="", end="", soft_wrap=True)


@contextmanager
def own_screen(console: Console) -> Iterator[None]:
    """The alternate screen while the block runs, cleared before it is left, also by a signal.

    Parameters
    ----------
    console
        The terminal.
    """
    before = {name: signal.getsignal(getattr(signal, name)) for name in _ENDS}
    for name in _ENDS:
        signal.signal(getattr(signal, name), _leave)
    try:
        console.set_alt_screen(True)
        console.show_cursor(False)
        console.file.write(_PASTE_ON)
        console.clear()
        yield
    finally:
        with suppress(OSError):
            console.clear()
            console.file.write(_PASTE_OFF)
            console.show_cursor(True)
            console.set_alt_screen(False)
            console.file.flush()
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)


def _leave(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
